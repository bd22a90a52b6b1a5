"""Extra fields that are not as specified, in either header, and second names in them."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.finding import Finding, Severity
from inspector.formats._zip.extra import extra_faults, is_harmless
from tests.formats.archives import assert_covered
from tests.formats.zip.zip_building import content, doubts, every, handmade, opened, written


def record(identifier: int, data: bytes = b"") -> bytes:
    return struct.pack("<HH", identifier, len(data)) + data


def second(name: bytes, first: bytes = b"a.txt") -> bytes:
    return record(0x7075, b"\1" + struct.pack("<I", zlib.crc32(first)) + name)


def placed(where: str, extra: bytes, **how: bytes) -> bytes:
    return handmade(**{where: extra}, **how)  # type: ignore[arg-type]


def marked(data: bytes, finding: Finding) -> bytes:
    (span,) = finding.spans
    return data[span.start : span.stop]


UNIX = record(0x7875, b"\1\4\0\0\0\0\4\0\0\0\0")
TIMES = record(0x5455, b"\3" + bytes(8))
ONE_TIME = record(0x5455, b"\3" + bytes(4))

WHERE = pytest.mark.parametrize("where", ["local_extra", "extra"])


@WHERE
@pytest.mark.parametrize(
    ("code", "odd", "words"),
    [
        ("zip-extra-malformed", b"\1\2\3", "last 3 bytes are not a complete record"),
        (
            "zip-extra-malformed",
            struct.pack("<HH", 0x9999, 60_000) + b"1234",
            "should have 60,000 bytes of data and has 4",
        ),
        ("zip-extra-malformed", record(0x5455), "has 0 bytes and announces 1"),
        ("zip-extra-malformed", record(0x5855, b"\0" * 9), "has 9 bytes, not 8 or 12"),
        ("zip-extra-malformed", record(0x7855, b"\0" * 3), "has 3 bytes, not "),
        ("zip-extra-malformed", record(0x000D, b"\0" * 11), "has 11 bytes and needs 12"),
        ("zip-extra-malformed", record(0x5455, b"\1\0\0\0"), "has 4 bytes and announces 5"),
        ("zip-extra-malformed", record(0x5455, b"\1" + bytes(6)), "not whole timestamps"),
        ("zip-extra-malformed", record(0x9901, b"\2\0AE\3\x08"), "has 6 bytes, not 7"),
        ("zip-extra-malformed", record(0x000A, b"\0" * 4 + b"\1\0\x18\0" + b"\0" * 20), "its attributes need 32"),
        ("zip-extra-malformed", record(0x9901, b"\0\0AE\3\x08\0"), "is of version 0"),
        ("zip-extra-malformed", record(0x9901, b"\2\0AF\3\x08\0"), "is of version 2 by AF"),
        ("zip-extra-malformed", record(0x9901, b"\1\0AE\4\x08\0"), "has the key strength 4"),
        ("zip-extra-malformed", record(0x7075, b"\1\0"), "has 2 bytes and needs 5"),
        ("zip-extra-malformed", record(0x6375), "has 0 bytes and needs 5"),
        ("zip-extra-repeated", UNIX, "repeats the record Info-ZIP UNIX (new)"),
    ],
)
def test_a_bad_extra_field_is_a_warning_on_its_bytes(where: str, code: str, odd: bytes, words: str) -> None:
    data = placed(where, UNIX + odd)
    archive = opened(data)
    assert doubts(archive) == {code}
    (finding,) = [each for each in archive.findings if each.code == code]
    assert words in finding.message
    assert "a.txt" in finding.message
    assert ("local header" in finding.message) == (where == "local_extra")
    assert (finding.member, finding.severity, marked(data, finding)) == (0, Severity.WARNING, odd)
    assert content(archive, 0) == b"content"
    assert f"malformed ({len(odd)} bytes)" in [field.note for field in every(archive.fields)]
    assert_covered(archive)


def test_the_same_fault_in_both_headers_is_reported_of_both() -> None:
    archive = opened(handmade(local_extra=UNIX * 2, extra=UNIX * 2))
    assert [finding.code for finding in archive.findings] == ["zip-extra-repeated"] * 2
    assert len({finding.spans for finding in archive.findings}) == 2


def test_without_a_central_directory_the_local_field_is_looked_at() -> None:
    data = handmade(local_extra=b"\1\2\3" + second(b"../x"))
    archive = opened(data[: data.index(b"PK\1\2")])
    assert "zip-extra-malformed" in doubts(archive)
    archive = opened(handmade(local_extra=second(b"../x"))[:60])
    assert "zip-name-hazard" in doubts(archive)


@pytest.mark.parametrize(
    ("local", "central"),
    [(TIMES + UNIX, ONE_TIME + UNIX), (TIMES, TIMES), (b"\xfe\xca\0\0", b""), (bytes(9), bytes(3)), (UNIX, b"")],
)
def test_what_writers_write_is_no_finding(local: bytes, central: bytes) -> None:
    assert opened(handmade(local_extra=local, extra=central)).findings == []


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=6),
            st.builds(record, st.sampled_from((0, 0x5455, 0x7875, 0x7075)), st.binary(max_size=14)),
        ),
        max_size=4,
    ),
    st.booleans(),
)
def test_a_field_called_harmless_has_no_faults(pieces: list[bytes], local: bool) -> None:
    data = b"".join(pieces)
    if is_harmless(data, local=local):
        assert extra_faults(data, local=local) == []


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_any_extra_fields_can_be_shown(local: bytes, central: bytes) -> None:
    archive = opened(handmade(local_extra=local, extra=central))
    assert len(archive.members) == 1
    assert_covered(archive)


@WHERE
def test_a_second_name_for_another_first_one_is_stale(where: str) -> None:
    data = placed(where, second("größe".encode(), b"old.txt"))
    archive = opened(data)
    (finding,) = [each for each in archive.findings if each.severity is not Severity.INFO]
    assert (finding.code, finding.member) == ("zip-second-name-stale", 0)
    assert marked(data, finding) == "größe".encode()


@WHERE
def test_a_second_name_is_expected_where_the_first_is_not_ascii(where: str) -> None:
    name = "größe".encode("cp437")
    archive = opened(placed(where, second("größe".encode(), name), name=name))
    assert doubts(archive) == set()
    assert "zip-second-name" in [finding.code for finding in archive.findings]


@WHERE
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (b"b.exe", {"zip-second-name"}),
        (b"../b", {"zip-second-name", "zip-name-hazard"}),
        ("/größe".encode(), {"zip-name-hazard"}),
        (b"\xff", {"zip-name-hazard"}),
        (b"", {"zip-second-name", "zip-name-hazard"}),
        (b"a.txt", set()),
    ],
)
def test_a_second_name_is_judged_as_the_first_is(where: str, name: bytes, expected: set[str]) -> None:
    data = placed(where, second(name))
    archive = opened(data)
    assert doubts(archive) == expected
    assert {marked(data, finding) for finding in archive.findings} <= {name}


def test_a_second_name_that_both_headers_have_is_reported_once() -> None:
    archive = opened(handmade(local_extra=second(b"b"), extra=second(b"b")))
    assert [finding.code for finding in archive.findings] == ["zip-second-name"]
    archive = opened(handmade(local_extra=second(b"c"), extra=second(b"b")))
    assert [finding.code for finding in archive.findings] == ["zip-second-name"] * 2


def test_archives_of_another_writer_have_nothing_against_them() -> None:
    assert doubts(opened(written())) == set()


@pytest.mark.parametrize("where", ["local_extra", "extra"])
@pytest.mark.parametrize(
    ("ids", "needed"),
    [
        (b"\1\4\0\0\0\0\4\0\0", 11),
        (b"\1\2\0\0\2\0\0\0", 7),
        (b"\1\x09", 12),
        (b"", 3),
        (b"\1\4\1\0\0\0\4\1\0\0\0", 0),
        (b"\1\2\1\0\2\1\0", 0),
        (b"\2anything", 0),
    ],
)
def test_the_lengths_in_unix_ids_add_up(where: str, ids: bytes, needed: int) -> None:
    archive = opened(placed(where, record(0x7875, ids)))
    assert doubts(archive) == ({"zip-extra-malformed"} if needed else set())
    assert not needed or f"its lengths add up to {needed}." in archive.findings[0].message
