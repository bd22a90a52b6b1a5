"""Extended headers and sparse maps that contradict themselves: said of the bytes concerned, and never an exception."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.archive import Archive
from inspector.core.finding import Finding, Severity
from inspector.core.format import MemberError
from inspector.core.member import HOLES, UNREADABLE
from inspector.formats._tar.extension import Extension, Overrides
from inspector.formats._tar.repair import repair_end
from tests.formats.archives import assert_covered, codes
from tests.formats.tar.tar_building import (
    build,
    content,
    decoded,
    extended,
    listing,
    record,
    reheaded,
    special,
    with_checksum,
)

NEXT = build([("next", b"n")])

Extents = list[tuple[int, int]]
Form = Callable[[Extents, int, bytes], bytes]


def of(archive: Archive, code: str) -> list[Finding]:
    return [finding for finding in archive.findings if finding.code == code]


def spanned(data: bytes, finding: Finding) -> bytes:
    return b"".join(data[span.start : span.stop] for span in finding.spans)


def with_pax(body: bytes, kind: bytes = b"x") -> bytes:
    return extended(kind, body) + build([("name", b"data")])


@pytest.mark.parametrize(
    ("code", "odd"),
    [
        ("tar-pax-key", record(b"a\0b", b"1")),
        ("tar-pax-empty", record(b"path", b"")),
        ("tar-pax-empty", record(b"size", b"")),
        ("tar-pax-number", record(b"uid", b"-1")),
        ("tar-pax-time", record(b"mtime", b"1e400")),
        ("tar-pax-time", record(b"mtime", b"NaN")),
        ("tar-pax-time", record(b"atime", b"9" * 400)),
        ("tar-pax-time", record(b"mtime", b"-" + b"9" * 5000)),
    ],
)
def test_an_odd_record_is_a_warning_on_its_bytes(code: str, odd: bytes) -> None:
    data = with_pax(record(b"comment", b"fine") + odd + record(b"ctime", b"1.5"))
    archive = decoded(data)
    assert codes(archive) == [code]
    assert spanned(data, of(archive, code)[0]) == odd
    assert listing(archive) == [("name", 4, b"data")]
    assert_covered(archive)


@pytest.mark.parametrize(("digits", "expected"), [(b"4".rjust(40, b"0"), []), (b"0" * 30 + b"+4", ["tar-extension"])])
def test_zeros_may_lead_a_number(digits: bytes, expected: list[str]) -> None:
    archive = decoded(with_pax(record(b"size", digits)))
    assert (codes(archive), listing(archive)) == (expected, [("name", 4, b"data")])


@pytest.mark.parametrize("kind", [tarfile.LNKTYPE, tarfile.SYMTYPE])
@pytest.mark.parametrize(
    ("target", "size", "expected"),
    [
        ("a", 0, set()),
        ("", 0, {"tar-link-target"}),
        ("a", 5, {"tar-link-size"}),
        ("", 1, {"tar-link-target", "tar-link-size"}),
    ],
)
def test_a_link_has_a_target_and_no_size(kind: bytes, target: str, size: int, expected: set[str]) -> None:
    archive = decoded(build([("a", b"data")])[:1024] + stating(size, kind, target) + build([("b", b"more")]))
    found = [each for each in archive.findings if each.severity is not Severity.INFO]
    assert ({each.code for each in found}, {each.severity for each in found} - {Severity.WARNING}) == (expected, set())
    assert {each.member for each in found} <= {1}
    assert [member.path for member in archive.members] == [b"a", b"odd", b"b"]
    assert content(archive, 2) == b"more"
    assert_covered(archive)


def stating(size: int, kind: bytes, target: str = "") -> bytes:
    """A member without data whose header states a size."""
    return reheaded(build([(special("odd", kind, target), b"")])[:512], (124, b"%011o\0" % size))


def test_a_device_may_state_a_size() -> None:
    assert codes(decoded(stating(5, tarfile.FIFOTYPE) + bytes(1024))) == []


def test_a_time_before_1970_is_only_reported() -> None:
    archive = decoded(with_pax(record(b"mtime", b"-1.25")))
    assert codes(archive) == []
    assert [finding.code for finding in archive.findings] == ["tar-pax-time"]


def test_ordinary_records_raise_no_questions() -> None:
    body = record(b"mtime", b"1700000000.5") + record(b"uid", b"70000") + record(b"path", b"name")
    body += record(b"SCHILY.xattr.user.a", b"\0binary\0") + record(b"comment", b"")
    assert decoded(with_pax(body)).findings == []


@pytest.mark.parametrize(
    "broken",
    [
        *(b"99 path=x\n", b"9 path=x_", b"7 path\n", b"-5 a=b\n", b"1 a=b\n", b"0 a=b\n", b"path=x\n"),
        *(b"12 size=abc\n", b"9 path=\0\n"),
    ],
)
def test_a_malformed_record_is_marked_from_where_it_begins(broken: bytes) -> None:
    data = with_pax(record(b"comment", b"fine") + broken)
    archive = decoded(data)
    assert codes(archive)[0] == "tar-extension"
    assert content(archive, 0) == b"data"
    assert spanned(data, of(archive, "tar-extension")[0]) == broken


@pytest.mark.parametrize("body", [bytes(134), b"n" * 100 + b"\0" + b"m" * 32 + b"\0"])
@pytest.mark.parametrize("kind", [b"L", b"K"])
def test_a_long_name_that_ends_before_its_size_says_is_malformed(kind: bytes, body: bytes) -> None:
    assert of(decoded(extended(kind, body) + build([("name", b"data")])), "tar-extension")


def test_a_place_reported_twice_is_a_warning_and_the_last_counts() -> None:
    archive = decoded(with_pax(record(b"path", b"one") + record(b"path", b"two")))
    assert codes(archive) == ["tar-pax-repeated"]
    assert archive.members.path(0) == b"two"
    assert decoded(with_pax(record(b"path", b"one") * 2)).findings == []


def test_several_extended_headers_of_one_kind_are_a_warning() -> None:
    first, second = (extended(b"x", record(b"path", name)) for name in (b"one", b"two"))
    archive = decoded(first + second + build([("name", b"data")]))
    assert codes(archive) == ["tar-extension-repeated"]
    assert [span.start for span in of(archive, "tar-extension-repeated")[0].spans] == [0, len(first)]
    assert archive.members.path(0) == b"two"
    other = extended(b"L", b"long\0") + extended(b"K", b"target\0") + extended(b"g", record(b"comment", b"c")) * 2
    assert codes(decoded(other + build([("name", b"data")]))) == []


@pytest.mark.parametrize("odd", [record(b"path", b"all"), record(b"size", b"4"), record(b"GNU.sparse.name", b"x")])
def test_what_only_one_member_can_be_is_not_reported_of_all(odd: bytes) -> None:
    data = extended(b"g", odd) + build([("name", b"data")])
    archive = decoded(data)
    assert "tar-pax-global" in codes(archive)
    assert spanned(data, of(archive, "tar-pax-global")[0]) == odd


def test_the_odd_records_of_one_header_are_told_up_to_a_hundred() -> None:
    archive = decoded(with_pax(record(b"uid", b"x") * 500 + b"broken"))
    assert len(of(archive, "tar-pax-number")) == 100
    assert codes(archive)[-1] == "tar-extension"


def test_global_records_that_do_not_matter_are_not_carried_from_member_to_member() -> None:
    overrides = Overrides()
    others = b"".join(record(b"key%d" % number, b"value") for number in range(2000))
    overrides.apply(Extension(b"g", others + record(b"size", b"3")))
    assert overrides.for_next_member().pax == {b"size": b"3"}
    overrides.apply(Extension(b"g", record(b"GNU.sparse.offset", b"1") * 500))
    assert (overrides.for_next_member().sparse, overrides.for_next_member().extents) == (True, [])


def old_gnu(extents: Extents, expanded: int, data: bytes) -> bytes:
    """A sparse member as old GNU tar writes it: four extents in the header, up to 21 in each block after it."""

    def number(value: int) -> bytes:
        return b"%011o\0" % value if value < 8**11 else b"\x80" + value.to_bytes(11, "big")

    entries = [number(offset) + number(size) for offset, size in extents]
    block = bytearray(build([("holes", data)], tarfile.GNU_FORMAT)[:512])
    block[156:157] = b"S"
    block[386:482] = b"".join(entries[:4]).ljust(96, b"\0")
    more = [entries[at : at + 21] for at in range(4, len(entries), 21)]
    block[482], block[483:495] = bool(more), number(expanded)
    blocks = [b"".join(each).ljust(504, b"\0") + bytes([at + 1 < len(more)]) + bytes(7) for at, each in enumerate(more)]
    return with_checksum(bytes(block)) + b"".join(blocks) + data + bytes(-len(data) % 512)


def pax_sparse(records: Iterable[tuple[bytes, bytes]], data: bytes) -> bytes:
    body = b"".join(record(b"GNU.sparse." + key, value) for key, value in records)
    return extended(b"x", body) + build([("holes", data)])[:-1024]


def form_0_0(extents: Extents, expanded: int, data: bytes) -> bytes:
    numbers = [
        (key, b"%d" % value) for each in extents for key, value in zip((b"offset", b"numbytes"), each, strict=True)
    ]
    return pax_sparse([(b"size", b"%d" % expanded), (b"numblocks", b"%d" % len(extents)), *numbers], data)


def form_0_1(extents: Extents, expanded: int, data: bytes) -> bytes:
    numbers = b",".join(b"%d,%d" % each for each in extents)
    return pax_sparse(
        [(b"size", b"%d" % expanded), (b"numblocks", b"%d" % len(extents)), (b"map", numbers), (b"name", b"holes")],
        data,
    )


def form_1_0(extents: Extents, expanded: int, data: bytes) -> bytes:
    held = b"%d\n" % len(extents) + b"".join(b"%d\n%d\n" % each for each in extents)
    held += bytes(-len(held) % 512)
    records = [(b"major", b"1"), (b"minor", b"0"), (b"name", b"holes"), (b"realsize", b"%d" % expanded)]
    return pax_sparse(records, held + data)


STORED = bytes(range(1, 251)) * 2
FORMS = [old_gnu, form_0_0, form_0_1, form_1_0]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("extents", "expanded", "size"),
    [
        ([(0, 3), (1000, 5)], 2000, 8),
        ([(512, 5)], 517, 5),
        ([(2000, 0)], 2000, 0),
        ([(1000 * at, 1) for at in range(300)], 300_000, 300),
    ],
)
def test_a_sound_map_is_no_finding(form: Form, extents: Extents, expanded: int, size: int) -> None:
    archive = decoded(form(extents, expanded, STORED[:size]) + NEXT)
    assert codes(archive) == []
    assert (archive.members.path(0), archive.members.size(0)) == (b"holes", expanded)
    assert archive.members[0].marks == HOLES
    data, at = bytearray(expanded), 0
    for offset, length in extents:
        data[offset : offset + length] = STORED[at : at + length]
        at += length
    assert content(archive, 0) == bytes(data)
    assert content(archive, 1) == b"n"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("extents", "expanded", "size", "words"),
    [
        ([(1000, 5), (0, 3)], 2000, 8, "not sorted"),
        ([(0, 600), (512, 5)], 2000, 605, "overlaps itself"),
        ([(0, 3), (1999, 5)], 2000, 8, "ends at byte 2,004"),
        ([(0, 3), (2**63 - 2, 5)], 2**63 + 2, 8, "exceeds 2^63"),
        ([(0, 3)], 2000, 8, "describes 3 bytes of data, but 8 are stored"),
        ([(0, 3), (1000, 50)], 2000, 8, "describes 53 bytes"),
    ],
)
def test_a_map_that_contradicts_itself(form: Form, extents: Extents, expanded: int, size: int, words: str) -> None:
    data = form(extents, expanded, b"d" * size) + NEXT
    archive = decoded(data)
    assert codes(archive) == ["tar-sparse-map"]
    (finding,) = of(archive, "tar-sparse-map")
    assert words in finding.message
    assert finding.member == 0
    # The number of the last extent stands in the bytes that are marked.
    offset = extents[-1][0]
    written = {b"%d" % offset, b"%011o" % offset, offset.to_bytes(8, "big")}
    assert any(each in spanned(data, finding) for each in written)
    assert archive.members[0].marks == HOLES | UNREADABLE
    with pytest.raises(MemberError):
        content(archive, 0)
    assert (archive.members.path(1), content(archive, 1)) == (b"next", b"n")
    assert_covered(archive)


@pytest.mark.parametrize(
    ("records", "data", "words"),
    [
        ([(b"size", b"5")], b"", "is missing"),
        ([(b"numblocks", b"2"), (b"map", b"0,3")], b"ddd", "should have 2 extents and has 1"),
        ([(b"map", b"0,3,7")], b"ddd", "no number in its extent 1"),
        ([(b"map", b"0,x")], b"ddd", "no number in its extent 0"),
        ([(b"numbytes", b"3"), (b"offset", b"0")], b"ddd", "not pairs"),
        ([(b"offset", b"0"), (b"offset", b"1")], b"ddd", "not pairs"),
        ([(b"major", b"1")], b"ddd", "number of its extents"),
        ([(b"major", b"1")], b"9" * 30 + b"\n", "number of its extents"),
        ([(b"major", b"1")], b"7\n1\n2\n".ljust(512, b"\0"), "ends before its last extent"),
    ],
)
def test_maps_in_records_that_are_none(records: list[tuple[bytes, bytes]], data: bytes, words: str) -> None:
    archive = decoded(pax_sparse(records, data) + NEXT)
    assert codes(archive) == ["tar-sparse-map"]
    assert words in of(archive, "tar-sparse-map")[0].message
    assert_covered(archive)


@given(
    st.sampled_from(FORMS),
    st.lists(st.tuples(st.integers(0, 2**64), st.integers(0, 2**64)), max_size=12),
    st.integers(0, 2**64),
    st.integers(0, 2000),
    st.data(),
)
def test_no_map_whatever_is_in_it_stops_the_walk(
    form: Form, extents: Extents, expanded: int, size: int, draw: st.DataObject
) -> None:
    data = bytearray(form(extents, expanded, b"5" * size) + NEXT)
    at = draw.draw(st.integers(0, len(data) - 1))
    data[at] ^= draw.draw(st.integers(0, 255))
    assert_covered(decoded(bytes(data)))


@pytest.mark.parametrize("bit", [0o4000, 0o2000, 0o6000])
@pytest.mark.parametrize("others", [0, 300])
def test_rights_of_others_are_reported_among_few_and_among_many(bit: int, others: int) -> None:
    ordinary = [(f"{number}", bytes(600)) for number in range(others)]
    program = tarfile.TarInfo("program")
    program.mode = bit | 0o755
    data = build([*ordinary, (program, b"#!"), *ordinary])
    archive = decoded(data)
    (finding,) = archive.findings
    assert (finding.code, finding.member) == ("tar-set-id", others)
    assert spanned(data, finding) == b"%07o\0" % (bit | 0o755)
    assert len(archive.members) == 2 * others + 1


def test_ordinary_permissions_are_no_finding() -> None:
    members = []
    for mode in (0, 0o644, 0o1777, 0o100755):
        info = tarfile.TarInfo(f"{mode:o}")
        info.mode = mode
        members.append((info, b""))
    assert decoded(build(members)).findings == []


@pytest.mark.parametrize("form", FORMS)
def test_a_sparse_file_that_is_cut_off_gives_what_is_there(form: Form) -> None:
    whole = form([(10, 600), (2000, 600)], 4000, b"d" * 1200)
    archive = decoded(whole[: len(whole) - 1000])
    with pytest.raises(MemberError, match="cut off"):
        content(archive, 0)


@pytest.mark.parametrize("form", FORMS)
def test_a_sparse_file_without_end_is_not_read(form: Form) -> None:
    archive = decoded(form([(0, 3)], 2**62, b"ddd") + NEXT)
    assert codes(archive) == []
    with pytest.raises(MemberError, match="more than 1 TiB"):
        content(archive, 0)


@pytest.mark.parametrize("form", FORMS)
def test_a_map_of_too_many_extents_is_not_read(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.formats._tar.extension.MAX_EXTENTS", 50)
    archive = decoded(form([(1000 * at, 1) for at in range(300)], 300_000, b"d" * 300) + NEXT)
    assert codes(archive) == ["tar-sparse-map"]
    assert "extents, and is not read" in of(archive, "tar-sparse-map")[0].message
    with pytest.raises(MemberError, match="where its bytes belong"):
        content(archive, 0)


def test_a_map_for_all_members_is_not_read() -> None:
    archive = decoded(extended(b"g", record(b"GNU.sparse.major", b"1")) + form_0_1([(0, 3)], 9, b"ddd") + NEXT)
    assert "tar-sparse-map" in codes(archive)
    assert archive.members[0].marks & UNREADABLE


def test_zeros_at_the_end_may_end_with_a_line_feed() -> None:
    whole = build([("name", b"data")])
    for zeros in (1023, 10239):
        archive = decoded(whole[:1024] + bytes(zeros) + b"\n")
        assert [(each.code, each.severity) for each in archive.findings] == [("tar-end-short", Severity.WARNING)]
        assert [member.path for member in archive.members] == [b"name"]
        (repair,) = repair_end(archive, whole=False)
        assert repair.loses == ("The line feed after the zeros that end the archive.",)
    assert "tar-lone-zero-block" in codes(decoded(whole[:1024] + bytes(1022) + b"x\n"))
