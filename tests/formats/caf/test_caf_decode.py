from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.archive import Archive
from inspector.core.field import locate
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.kinds import Kind
from inspector.core.program.progress import Progress
from inspector.formats.caf import FORMAT
from tests.formats.caf.building import build_archive, decode_archive, find_field


def files(**entries: object) -> str:
    return json.dumps({"format_version": "1.0", "files": entries})


def written_files(inside: str) -> str:
    return '{"format_version":"1.0","files":{' + inside + "}}"


def entry(start: object, stop: object) -> dict[str, object]:
    return {"start_byte": start, "end_byte": stop}


def content(archive: Archive, member: int) -> bytes:
    return b"".join(FORMAT.read(archive, member, Progress()))


def listing(archive: Archive) -> list[tuple[bytes, int]]:
    return [(member.path, member.size) for member in archive.members]


def severities(archive: Archive) -> set[Severity]:
    return {finding.severity for finding in archive.findings}


def messages(archive: Archive) -> str:
    return "\n".join(finding.message for finding in archive.findings)


def test_a_sound_archive_has_no_findings() -> None:
    archive = decode_archive(build_archive())
    assert listing(archive) == [(b"one", 3), (b"two", 7)]
    assert [content(archive, 0), content(archive, 1)] == [b"one", b"two-two"]
    assert not archive.findings


def test_members_stand_in_the_order_of_their_data() -> None:
    archive = decode_archive(build_archive(files(z=entry(0, 3), b=entry(3, 3), a=entry(3, 10), empty=entry(10, 10))))
    assert listing(archive) == [(b"z", 3), (b"b", 0), (b"a", 7), (b"empty", 0)]
    assert not archive.findings
    assert content(archive, 1) == b""


@pytest.mark.parametrize("name", ["journey.caf", "pretty.caf", "no-members.caf", "only-empty.caf"])
def test_sound_samples(name: str, sample: Callable[[str], Path]) -> None:
    assert not decode_archive(sample(name).read_bytes()).findings


def test_index_and_footer_are_fields_with_exact_spans() -> None:
    data = build_archive()
    fields = decode_archive(data).fields
    index, footer = find_field(fields, "index"), find_field(fields, "footer")
    assert index.spans == ((10, len(data) - 4),)
    assert footer.spans == ((len(data) - 4, len(data)),)
    assert (footer.value, footer.text) == (len(data) - 14, f"0x{len(data) - 14:x}")
    assert "begins at byte 10." in footer.note


def test_every_number_of_an_entry_is_a_field() -> None:
    data = build_archive()
    archive = decode_archive(data)
    at = data.rindex(b"10}")
    chain = [field for _, field in locate(archive.fields, at)]
    assert [field.name for field in chain] == ["index", "files", "entry", "end_byte"]
    assert chain[-1].spans == ((at, at + 2),)
    assert (chain[-1].value, chain[-1].note) == (10, "exclusive: 7 bytes")
    assert (chain[-2].member, chain[-2].value) == (1, "two")
    assert locate(archive.fields, at + 2)[-1][1].kind is Kind.SYNTAX


def test_each_data_byte_belongs_to_its_member() -> None:
    archive = decode_archive(build_archive())
    assert [locate(archive.fields, at)[-1][1].member for at in range(10)] == [0] * 3 + [1] * 7


@pytest.mark.parametrize(
    ("start", "stop", "code", "word"),
    [
        (3.5, 10, "caf-number-not-integer", "integer"),
        ("3", 10, "caf-number-not-integer", "integer"),
        (True, 10, "caf-number-not-integer", "integer"),
        (None, 10, "caf-number-not-integer", "integer"),
        ([], 10, "caf-number-not-integer", "integer"),
        (float("nan"), 10, "caf-number-not-integer", "NaN"),
        (float("inf"), 10, "caf-number-not-integer", "Infinity"),
        (1e300, 10, "caf-number-not-integer", "integer"),
        (-3, 10, "caf-number-negative", "negative"),
        (3, 2**80, "caf-number-out-of-range", "range"),
        (3, 10**4000, "caf-number-out-of-range", "range"),
    ],
)
def test_a_number_that_is_none(start: object, stop: object, code: str, word: str) -> None:
    archive = decode_archive(build_archive(files(one=entry(0, 3), two=entry(start, stop))))
    finding = next(finding for finding in archive.findings if finding.code == code)
    assert finding.severity is Severity.ERROR
    assert word in finding.message
    assert finding.member is not None
    assert archive.members.path(finding.member) == b"two"
    assert not archive.members[finding.member].readable
    with pytest.raises(MemberError, match="cannot be read"):
        content(archive, finding.member)


@pytest.mark.parametrize("written", ["-0", "007", "+3", "0x3", "3."])
def test_numbers_as_json_does_not_write_them(written: str) -> None:
    archive = decode_archive(build_archive(written_files(f'"two":{{"start_byte":{written},"end_byte":10}}')))
    assert Severity.ERROR in severities(archive)
    assert not archive.members[0].readable


@pytest.mark.parametrize(
    ("index", "code"),
    [
        (files(one=entry(0, 3), two={"start_byte": 3}), "caf-entry-missing-key"),
        (files(one=entry(0, 3), two={}), "caf-entry-missing-key"),
        (files(one=entry(0, 3), two=[3, 10]), "caf-entry-wrong-type"),
        (files(one=entry(0, 3), two=None), "caf-entry-wrong-type"),
        (files(one=entry(0, 3), two=entry(3, 11)), "caf-shifted"),
        (files(one=entry(0, 3), two=entry(3, 9)), "caf-shifted"),
        (files(one=entry(0, 12), two=entry(3, 10)), "caf-entry-out-of-range"),
        (files(one=entry(0, 3), two=entry(10, 3)), "caf-entry-reversed"),
        (files(one=entry(0, 5), two=entry(3, 10)), "caf-overlap"),
        ('{"format_version":"1.0","files":[]}', "caf-index-wrong-type"),
        ('{"format_version":"1.0"}', "caf-index-no-files"),
        ('{"format_version":"1.0","files":{},"files":{}}', "caf-index-duplicate-key"),
        ('{"format_version":"1.0","files":{}}{}', "caf-index-malformed"),
        (written_files('"a":{"start_byte":0,"start_byte":1,"end_byte":3}'), "caf-entry-duplicate-key"),
        (written_files('"a":' + "[" * 100_000 + "]" * 100_000), "caf-index-malformed"),
        ('{"format_version":"1.0","files":{"a":{"start_byte":0 "end_byte":3}}}', "caf-index-malformed"),
        ('{"format_version":"1.0","files":{"a":', "caf-index-malformed"),
    ],
)  # fmt: skip
def test_errors_of_the_index(index: str, code: str) -> None:
    found = {finding.code: finding.severity for finding in decode_archive(build_archive(index)).findings}
    assert found[code] is Severity.ERROR


@pytest.mark.parametrize(
    ("index", "code", "word"),
    [
        ('{"files":{"a":{"start_byte":0,"end_byte":10}}}', "caf-version-missing", "version"),
        ('{"format_version":"9.7","files":{"a":{"start_byte":0,"end_byte":10}}}', "caf-version-unknown", "version"),
        ('{"format_version":1.0,"files":{"a":{"start_byte":0,"end_byte":10}}}', "caf-version-unknown", "version"),
        (
            '{"format_version":"1.0","files":{"a":{"start_byte":0,"end_byte":10,},},}',
            "caf-index-not-strict-json",
            "index is not strict JSON",
        ),
        (
            '\ufeff{"format_version":"1.0","files":{"a":{"start_byte":0,"end_byte":10}}}',
            "caf-index-not-strict-json",
            "byte order mark",
        ),
        ('{"format_version":"1.0","files":{"a":{"start_byte":0,"end_byte":10}},"x":[1]}', "caf-index-extra-key", "'x'"),
        ('{"format_version":"1.0","files":{"a":{"start_byte":0,"end_byte":10,"x":{}}}}', "caf-entry-extra-key", "'x'"),
        (files(a=entry(0, 4), b=entry(5, 10)), "caf-gap", "gap: 1 byte at byte 4"),
        (files(**{"../a": entry(0, 10)}), "caf-name-hazard", "name"),
        (files(**{"": entry(0, 10)}), "caf-name-hazard", "name"),
        (files(**{"a\nb": entry(0, 10)}), "caf-name-hazard", "name"),
    ],
)
def test_warnings(index: str, code: str, word: str) -> None:
    archive = decode_archive(build_archive(index))
    assert severities(archive) == {Severity.WARNING}
    assert any(finding.code == code and word in finding.message for finding in archive.findings)
    assert content(archive, 0)


@pytest.mark.parametrize(
    ("index", "where"),
    [
        (b'{"format_version":"1.0","files":{"a\\x":{"start_byte":0,"end_byte":10}}}', [b'"a\\x"']),
        (b'{"format_version":"1.0","files":{"a\x01":{"start_byte":0,"end_byte":10}}}', [b'"a\x01"']),
        (b'{"format_version":"1.0","files":{"a":{"start_byte":0,"end_byte":10}},"x":NaN}', [b"NaN"]),
        (b'{"format_version":"1.0","files":{"\xff\xc3":{"start_byte":0,"end_byte":10}}}', [b"\xff", b"\xc3"]),
        (b'{"format_version":"1.0","files":{"' + b"\xc3\xa9" * 2**20 + b'":{"start_byte":0,"end_byte":10}}}', []),
    ],
)
def test_what_no_strict_reader_takes_is_damage(index: bytes, where: list[bytes]) -> None:
    data = build_archive(index)
    found = [each for each in decode_archive(data).findings if each.code == "caf-index-not-strict-json"]
    assert [data[start:stop] for each in found for start, stop in each.spans] == where
    assert {each.severity for each in found} <= {Severity.ERROR}


def test_trailing_commas_are_pointed_at() -> None:
    data = build_archive('{"format_version":"1.0","files":{"a":{"start_byte":0,"end_byte":10,},},}')
    finding = decode_archive(data).findings[0]
    commas = [at for at in range(len(data)) if data[at : at + 2] == b",}"]
    assert [span.start for span in finding.spans] == commas


def test_a_name_that_stands_twice_is_listed_twice() -> None:
    same = (
        '{"format_version":"1.0","files":{"a":{"start_byte":0,"end_byte":3},"\\u0061":{"start_byte":3,"end_byte":10}}}'
    )
    archive = decode_archive(build_archive(same))
    assert listing(archive) == [(b"a", 3), (b"a", 7)]
    assert "duplicate" in messages(archive)
    assert severities(archive) == {Severity.ERROR}


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (b"\\u00e9", "é".encode()),
        (b"\\ud83d\\ude00", "😀".encode()),
        (b"\\ud800", b"\xed\xa0\x80"),
        (b'\\"\\\\\\/\\n', b'"\\/\n'),
        ("é".encode(), "é".encode()),
        (b"\xff\xfe", b"\xff\xfe"),
    ],
)
def test_names_mean_what_their_escapes_say(written: bytes, name: bytes) -> None:
    archive = decode_archive(
        build_archive(b'{"format_version":"1.0","files":{"%s":{"start_byte":0,"end_byte":10}}}' % written)
    )
    assert listing(archive) == [(name, 10)]
    assert ("UTF-8" in messages(archive)) == (b"\xff" in name or b"\xed" in name)


def test_damage_in_one_entry_leaves_the_others() -> None:
    index = '{"format_version":"1.0","files":{"a":{"start_byte":0,"end_byte":2},"b":{"start_byte"#2,"end_byte":5},"c":{"start_byte":5,"end_byte":10}}}'  # noqa: E501 - one line as writers write it
    archive = decode_archive(build_archive(index))
    assert [member.path for member in archive.members if member.readable] == [b"a", b"c"]
    assert b"b" in [member.path for member in archive.members]
    assert severities(archive) >= {Severity.ERROR}


def test_an_entry_that_is_not_closed_leaves_the_next() -> None:
    index = '{"format_version":"1.0","files":{"a":{"start_byte":0,"end_byte":2,"b":{"start_byte":2,"end_byte":10}}}'
    archive = decode_archive(build_archive(index))
    assert listing(archive) == [(b"a", 2), (b"b", 8)]
    assert "before the entry of 'a' is closed" in messages(archive)


def test_gaps_are_rows() -> None:
    archive = decode_archive(build_archive(files(a=entry(2, 4), b=entry(6, 8))))
    rows = archive.fields[0].children
    assert [(row.kind, row.spans[0]) for row in rows] == [
        (Kind.GAP, (0, 2)),
        (Kind.DATA, (2, 4)),
        (Kind.GAP, (4, 6)),
        (Kind.DATA, (6, 8)),
        (Kind.GAP, (8, 10)),
    ]


@pytest.mark.parametrize("at", [0, 3, 10])
def test_a_writer_that_took_end_byte_as_inclusive_may_leave_empty_members_as_they_are(at: int) -> None:
    archive = decode_archive(build_archive(files(none=entry(at, at), one=entry(0, 2), two=entry(3, 9))))
    assert [finding.code for finding in archive.findings] == ["caf-end-byte-inclusive"]
    assert "2 members (the other 1 member is empty)" in messages(archive)


def test_what_leaves_the_data_section_is_not_read() -> None:
    archive = decode_archive(build_archive(files(one=entry(0, 3), two=entry(3, 40))))
    pieces = FORMAT.read(archive, 1, Progress())
    assert next(pieces) == b"two-two"
    with pytest.raises(MemberError, match="30 bytes of it"):
        next(pieces)


@pytest.mark.parametrize("footer", [0, 1, 7, 30, 1_000_000, 2**32 - 1])
def test_a_wrong_footer_does_not_hide_the_index(footer: int) -> None:
    data = build_archive(footer=footer)
    archive = decode_archive(data)
    assert listing(archive) == [(b"one", 3), (b"two", 7)]
    assert find_field(archive.fields, "index").spans == ((10, len(data) - 4),)
    assert find_field(archive.fields, "footer").spans == ((len(data) - 4, len(data)),)
    finding = next(finding for finding in archive.findings if finding.code == "caf-footer")
    assert finding.severity is Severity.ERROR
    assert f"the index size is {footer:,} byte" in finding.message
    assert f"should say {len(data) - 14}" in finding.message


def test_a_file_named_files_does_not_confuse_the_search() -> None:
    archive = decode_archive(build_archive(files(files=entry(0, 10)), footer=0))
    assert listing(archive) == [(b"files", 10)]


@pytest.mark.parametrize("missing", [1, 2, 3, 4])
def test_a_footer_that_is_cut_off(missing: int) -> None:
    archive = decode_archive(build_archive()[:-missing])
    assert len(archive.members) == 2
    assert "footer is cut off" in messages(archive)


def test_bytes_after_the_footer() -> None:
    data = build_archive()
    archive = decode_archive(data + b"\0" * 9)
    assert len(archive.members) == 2
    assert find_field(archive.fields, "footer").spans == ((len(data) - 4, len(data)),)
    assert find_field(archive.fields, "gap").spans == ((len(data), len(data) + 9),)
    assert "9 bytes follow the footer" in messages(archive)


def test_an_index_that_is_cut_off_still_lists_its_beginning() -> None:
    archive = decode_archive(build_archive()[:-30])
    assert listing(archive)[0] == (b"one", 3)
    assert "inside its index" in messages(archive)


def test_an_archive_inside_an_archive_is_only_data() -> None:
    inner = build_archive()
    archive = decode_archive(build_archive(files(inner=entry(0, len(inner))), data=inner))
    assert listing(archive) == [(b"inner", len(inner))]
    assert not archive.findings
