import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.field import Field
from inspector.core.format import MemberError, ProbeResult
from inspector.core.kinds import Kind
from inspector.core.member import FOLDER
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.formats import recognise, tar
from inspector.formats._kinds import TAR_END, TAR_EXTENSION, TAR_HEADER
from inspector.formats._tar import walk
from tests.formats.archives import assert_covered, codes, leaves
from tests.formats.tar.tar_building import (
    LONG,
    build,
    content,
    decoded,
    extended,
    listing,
    reference,
    reheaded,
    special,
)
from tests.sweeping import every, places

SOUND = build([("a.txt", b"alpha"), ("empty", b""), ("b.bin", bytes(range(256)) * 3), ("full", b"x" * 512)])
TINY = build([("a", b"alpha"), (LONG, b"b")], tarfile.PAX_FORMAT)


def child(field: Field, *names: str) -> Field:
    for name in names:
        field = next(each for each in field.children if each.name == name)
    return field


FORMS = pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])


@FORMS
def test_members_are_those_of_another_reader(form: int) -> None:
    names = ["a.txt", "docs/報告書.txt", "d" * 60 + "/" + "e" * 90, "f" * 100]
    data = build([(name, name.encode() * 40) for name in names], form)
    archive = decoded(data)
    assert listing(archive) == reference(data)
    assert archive.findings == []
    assert_covered(archive)


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_come_from_extended_headers(form: int) -> None:
    data = build([("short", b"1"), (LONG, b"2"), ("short again", b"3")], form)
    archive = decoded(data)
    assert listing(archive) == reference(data)
    member = archive.fields[0].children[1]
    assert [field.kind for field in member.children[:3]] == [TAR_EXTENSION, TAR_HEADER, Kind.DATA]
    assert LONG in [leaf.value for leaf in leaves([member.children[0]])]
    assert member.member == 1


@given(
    st.lists(
        st.tuples(
            st.text("abc/é.", min_size=1, max_size=120).map(lambda name: "n" + name + "n"), st.binary(max_size=1500)
        ),
        max_size=6,
    ),
    st.sampled_from([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]),
)
def test_any_sound_tar_reads_as_written(members: list[tuple[str, bytes]], form: int) -> None:
    archive = decoded(build(members, form))
    assert listing(archive) == [(name, len(data), data) for name, data in members]
    assert [code for code in codes(archive) if code != "tar-name-hazard"] == []
    assert_covered(archive)


def test_a_header_is_shown_part_by_part() -> None:
    info = tarfile.TarInfo("a.txt")
    info.mode, info.uid, info.mtime, info.uname = 0o755, 1000, 1735689600, "ann"
    archive = decoded(build([(info, b"x" * 1505)]))
    header = child(archive.fields[0].children[0], "header")
    assert [part.name for part in header.children] == [
        "name", "mode", "uid", "gid", "size", "mtime", "chksum", "typeflag", "linkname",
        "magic", "version", "uname", "gname", "devmajor", "devminor", "prefix", "padding",
    ]  # fmt: skip
    size = child(header, "size")
    assert (size.spans[0], size.value, size.shown, size.note) == ((124, 136), 1505, "00000002741", "1,505 bytes")
    assert child(header, "mode").note == "rwxr-xr-x"
    assert child(header, "mtime").note == "2025-01-01 00:00:00 UTC"
    assert child(header, "uname").value == "ann"
    assert child(header, "chksum").note == "Matches."
    data, padding = archive.fields[0].children[0].children[1:]
    assert (data.kind, data.spans[0], data.member) == (Kind.DATA, (512, 2017), 0)
    assert (padding.kind, padding.spans[0]) == (Kind.PADDING, (2017, 2048))
    assert (archive.fields[-1].kind, archive.fields[-1].spans[0]) == (TAR_END, (2048, 3072))


def test_links_folders_and_devices_are_listed_and_not_read() -> None:
    members = [
        (special("folder", tarfile.DIRTYPE), b""),
        (special("soft", tarfile.SYMTYPE, "/etc/passwd"), b""),
        (special("hard", tarfile.LNKTYPE, "soft"), b""),
        (special("null", tarfile.CHRTYPE), b""),
        ("file", b"data"),
    ]
    archive = decoded(build(members))
    assert [member.path for member in archive.members] == [b"folder/", b"soft", b"hard", b"null", b"file"]
    assert archive.members[0].marks == FOLDER
    assert content(archive, 0) == b""
    for index in (1, 2, 3):
        with pytest.raises(MemberError):
            content(archive, index)
    assert content(archive, 4) == b"data"
    assert codes(archive) == []
    assert any("/etc/passwd" in finding.message and finding.member == 1 for finding in archive.findings)


def test_gnu_sparse_members_are_listed_with_their_whole_size() -> None:
    more = (b"00000010000\0" + b"00000001000\0").ljust(512, b"\0")
    header = build([("sparse", b"d" * 512)], tarfile.GNU_FORMAT)[:512]
    header = reheaded(header, (156, b"S"), (482, b"\1" + b"00000100000\0"))
    archive = decoded(header + more + b"d" * 512 + build([("next", b"n")]))
    assert [(member.path, member.size, member.stored) for member in archive.members] == [
        (b"sparse", 32768, 512),
        (b"next", 1, 1),
    ]
    assert content(archive, 0) == bytes(4096) + b"d" * 512 + bytes(32768 - 4096 - 512)
    assert codes(archive) == []
    assert_covered(archive)


def test_pax_headers_change_size_and_hold_for_all_when_global() -> None:
    data = extended(b"g", b"18 comment=global\n") + extended(b"x", b"9 size=3\n14 path=early\n")
    data += build([("late", b"")])[:512] + b"abc".ljust(512, b"\0") + build([("last", b"z")])
    archive = decoded(data)
    assert listing(archive) == [("early", 3, b"abc"), ("last", 1, b"z")]
    assert codes(archive) == []
    assert_covered(archive)
    records = [leaf for leaf in leaves([archive.fields[0].children[0]]) if leaf.name in ("comment", "size", "path")]
    assert ("comment", "global") in [(leaf.name, leaf.value) for leaf in records]


def test_base_256_sizes_are_read_and_after_negative_ones_a_header_is_searched_for() -> None:
    archive = decoded(reheaded(SOUND, (124, b"\x80" + (5).to_bytes(11, "big"))))
    assert listing(archive) == reference(SOUND)
    size = child(archive.fields[0].children[0], "header", "size")
    assert (size.value, size.text, size.note) == (5, "0x80" + "00" * 10 + "05", "5 bytes")
    archive = decoded(reheaded(SOUND, (124, (-5).to_bytes(12, "big", signed=True))))
    assert codes(archive) == ["tar-size"]
    assert "negative" in archive.findings[0].message
    assert [member.path for member in archive.members] == [b"a.txt", b"empty", b"b.bin", b"full"]
    assert not archive.members[0].readable
    assert_covered(archive)


def test_a_signed_checksum_fits_too() -> None:
    block = bytearray(build([("\xe9" * 10, b"data")])[:512])
    signed = sum(byte - 256 * (byte > 127) for byte in block[:148] + block[156:]) + 8 * 0x20
    block[148:156] = b"%06o\0 " % signed
    archive = decoded(bytes(block) + b"data".ljust(512, b"\0") + bytes(1024))
    assert codes(archive) == []
    assert len(archive.members) == 1


def test_a_wrong_checksum_that_leads_on_is_listed_all_the_same() -> None:
    archive = decoded(b"`" + SOUND[1:])
    assert codes(archive) == ["tar-checksum"]
    assert archive.findings[0].spans == ((0, 512),)
    assert [member.path for member in archive.members] == [b"`.txt", b"empty", b"b.bin", b"full"]
    alone = build([("a", b"x" * 600)])
    assert not decoded(alone[:124] + b"%011o" % (len(alone) + 1) + alone[135:]).members


def test_a_destroyed_header_is_stepped_over() -> None:
    archive = decoded(SOUND[:1536] + b"\xff" * 512 + SOUND[2048:])
    assert codes(archive) == ["tar-checksum"]
    assert [member.path for member in archive.members] == [b"a.txt", b"empty", b"full"]
    assert [(field.kind, field.spans) for field in archive.fields if field.kind is Kind.GARBAGE] == [
        (Kind.GARBAGE, ((1536, 3072),))
    ]
    assert_covered(archive)


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        (b"", ["tar-end-missing"]),
        (bytes(512), ["tar-end-short"]),
        (bytes(700), ["tar-end-short"]),
        (bytes(100), ["tar-truncated-header"]),
        (bytes(1024), []),
        (bytes(10240), []),
        (bytes(1024) + b"junk", ["tar-data-after-end"]),
        (bytes(512) + SOUND, ["tar-lone-zero-block"]),
        (bytes(1024) + SOUND, ["tar-data-after-end"]),
        (b"junk" * 128, ["tar-checksum", "tar-end-missing"]),
    ],
)
def test_how_an_archive_ends(tail: bytes, expected: list[str]) -> None:
    archive = decoded(SOUND[:-1024] + tail)
    assert codes(archive) == expected
    assert [member.path for member in archive.members][:4] == [b"a.txt", b"empty", b"b.bin", b"full"]
    assert_covered(archive)


def test_cut_off_content_is_given_as_far_as_it_goes() -> None:
    archive = decoded(SOUND[: 2048 + 100])
    assert codes(archive) == ["tar-truncated-data"]
    reading = tar.FORMAT.read(archive, 2, Progress())
    assert next(reading) == SOUND[2048:2148]
    with pytest.raises(MemberError, match="100 of 768"):
        next(reading)


@every(5)
def test_truncated_at_every_byte_it_is_covered_and_keeps_what_was_whole(step: int) -> None:
    whole = listing(decoded(TINY))
    for size in places(0, len(TINY), step, range(0, len(TINY), 512)):
        archive = decoded(TINY[:size])
        assert_covered(archive)
        assert archive.findings
        assert [member.path.decode() for member in archive.members] == [
            name for name, _, _ in whole[: len(archive.members)]
        ]


def test_an_extended_header_too_large_to_be_read() -> None:
    body = b"a" * (1024 * 1024 + 1)
    archive = decoded(extended(b"x", body) + SOUND)
    assert codes(archive) == ["tar-extension"]
    assert "too large" in archive.findings[0].message
    assert listing(archive) == reference(SOUND)
    assert_covered(archive)


def test_extended_headers_without_a_member() -> None:
    archive = decoded(extended(b"L", b"name\0") + bytes(1024))
    assert codes(archive) == ["tar-extension-alone"]
    archive = decoded(SOUND[:-1024] + extended(b"g", b"11 a=bcdef\n") + bytes(1024))
    assert codes(archive) == []
    archive = decoded(extended(b"x", b"11 a=bcdef\n") * 70 + SOUND)
    assert codes(archive) == ["tar-extension-alone", "tar-extension-repeated"]
    assert listing(archive) == reference(SOUND)
    assert_covered(archive)


def test_long_link_targets_and_pax_sparse_files() -> None:
    link = special("link", tarfile.SYMTYPE, "t" * 150)
    body = b"22 GNU.sparse.major=1\n29 GNU.sparse.realsize=40000\n24 GNU.sparse.name=real\n"
    held = b"1\n0\n5\n".ljust(512, b"\0") + b"alpha"
    data = build([(link, b"")], tarfile.GNU_FORMAT)[:-1024] + extended(b"x", body) + build([("file", held)])
    archive = decoded(data)
    assert "t" * 60 + "…" + "t" * 60 in archive.findings[0].message
    assert (archive.members[1].path, archive.members[1].size, archive.members[1].stored) == (b"real", 40000, 517)
    assert content(archive, 1) == b"alpha" + bytes(39_995)
    assert codes(archive) == []


def test_very_many_findings_of_one_kind_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.core.archive.MAX_FINDINGS_PER_KIND", 100)
    links = [(special(f"{number}", tarfile.SYMTYPE, "t"), b"") for number in range(150)]
    archive = decoded(build(links))
    assert len(archive.findings) == 101
    assert "50 more links" in archive.findings[-1].message
    archive = decoded(build([(f"../{number}", b"") for number in range(150)]))
    assert len(archive.findings) == 101
    assert "50 more hazards" in archive.findings[-1].message


def test_the_walk_stops_where_nothing_makes_sense(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "MAX_STRAYS", 50)
    archive = decoded((bytes(512) + SOUND[:1024]) * 60)
    assert "tar-too-damaged" in codes(archive)
    assert_covered(archive)


def test_very_many_places_between_members_are_one_finding_and_all_members_are_listed() -> None:
    archive = decoded((bytes(512) + SOUND[:1024]) * 1100)
    assert codes(archive) == ["tar-end-missing", "tar-lone-zero-block"]
    assert len(archive.members) == 1100
    assert_covered(archive)


def test_times_that_no_calendar_has() -> None:
    archive = decoded(reheaded(SOUND, (136, b"\x80" + b"\xff" * 11)))
    assert child(archive.fields[0].children[0], "header", "mtime").note == "A time that is no date."


def test_an_empty_name_is_hazardous_and_a_dot_that_becomes_one_is_not() -> None:
    (found,) = decoded(reheaded(SOUND, (0, bytes(100)))).findings
    assert found.code == "tar-name-hazard"
    assert "is empty" in found.message
    assert decoded(reheaded(SOUND, (0, b"./".ljust(100, b"\0")))).findings == []


def test_hazardous_names_are_warned_of_and_a_leading_dot_is_plain() -> None:
    names = ["./plain", "../up", "/root", "a/../../b", "new\nline", "\u202etxt.exe", "c:\\x"]
    archive = decoded(build([(name, b"") for name in names]))
    assert {finding.member for finding in archive.findings} == {1, 2, 3, 4, 5, 6}
    assert set(codes(archive)) == {"tar-name-hazard"}


def test_what_is_probed_as_a_tar() -> None:
    for data, name, result in (
        (SOUND, "", ProbeResult.CERTAIN),
        (bytes(1024), "empty.tar", ProbeResult.POSSIBLE),
        (bytes(1024), "empty", ProbeResult.NO),
        (b"x" * 2000, "", ProbeResult.NO),
        (b"", "", ProbeResult.NO),
    ):
        assert tar.FORMAT.probe(BytesSource(data, name)) is result, (data[:9], name)
    assert recognise(BytesSource(SOUND, "some.name")) is tar.FORMAT
    assert recognise(BytesSource(b"rubbish", "x.tar")) is tar.FORMAT


def test_a_compressed_tar_says_so() -> None:
    archive = decoded(b"\x1f\x8b" + bytes(600))
    assert codes(archive) == ["tar-compressed"]
    assert_covered(archive)
