"""ZIP archives that are broken, cut off or contradict themselves."""

from __future__ import annotations

import re
import struct
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.kinds import Kind
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.formats import zip as plain_zip
from inspector.formats._kinds import END_OF_DIRECTORY
from tests.formats.archives import assert_covered
from tests.formats.zip.zip_building import (
    PLAIN,
    SMALL,
    content,
    doubts,
    drained,
    handmade,
    opened,
    patched,
    written,
    zip64_archive,
)

DESCRIBED = written({"a": b"abc"}, streamed=True, method=zipfile.ZIP_STORED)
DESCRIPTOR = DESCRIBED.index(b"PK\7\x08")
WIDE = zip64_archive()[0]
HIDING = patched(PLAIN[:94] + b"hidden" + PLAIN[94:], 202 + 16, struct.pack("<I", 100))
WRONG = {
    "a descriptor with other numbers": (patched(DESCRIBED, DESCRIPTOR + 4, b"\1\2\3\4"), ["zip-descriptor-differs"]),
    "no descriptor": (patched(DESCRIBED, DESCRIPTOR, b"\1\2\3\4"), ["zip-descriptor-missing", "zip-gap"]),
    "a locator that leads elsewhere": (zip64_archive(record_at=4)[0], ["zip-zip64-locator"]),
    "two numbers of entries": (zip64_archive(entries=5)[0], ["zip-entry-count", "zip-zip64-disagrees"]),
    "fewer here than in all": (patched(WIDE, WIDE.rindex(b"PK\5\6") + 8, b"\3\0"), ["zip-entry-count"]),
    "ZIP64 information without an offset": (
        zip64_archive(extra_size=8)[0],
        ["zip-no-local-header", "zip-orphan", "zip-stored-size", "zip-zip64-short"],
    ),
    "no ZIP64 record": (
        patched(WIDE, WIDE.index(b"PK\6\6"), b"...."),
        ["zip-directory-missing", "zip-no-central-directory", "zip-zip64-missing"],
    ),
    "data after the archive": (PLAIN + b"more", ["zip-end-not-at-end"]),
    **{
        f"a count of {count}": (patched(PLAIN, 196 + 10, struct.pack("<H", count)), ["zip-entry-count"])
        for count in (0, 1, 3, 0xFFFF)
    },
    "a gap": (HIDING, ["zip-gap"]),
    "two entries for the same bytes": (
        patched(PLAIN, 145 + 42, struct.pack("<I", 0)),
        ["zip-local-crc", "zip-local-name", "zip-orphan", "zip-overlap"],
    ),
    "a member that runs into the directory": (
        patched(PLAIN, 145 + 20, struct.pack("<I", 60)),
        ["zip-local-size", "zip-overlap", "zip-stored-size"],
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_named(what: str) -> None:
    data, expected = WRONG[what]
    archive = opened(data)
    assert sorted(doubts(archive)) == expected
    assert len(archive.members) == (2 if data[:60] == PLAIN[:60] else 1)
    assert_covered(archive)


def test_an_end_record_in_the_comment_does_not_hide_the_real_one() -> None:
    inner = b"PK\5\6" + bytes(18)
    both = opened(written({"a": b"abc"}, comment=b"look: " + inner))
    assert "zip-several-ends" in doubts(both)
    assert [member.path for member in opened(written({"a": b"abc"}, comment=inner + b" no end")).members] == [b"a"]


def test_without_central_directory_local_headers_are_listed() -> None:
    archive = opened(PLAIN[:150])
    assert [member.path for member in archive.members] == [b"a.txt", b"b.txt"]
    assert content(archive, 1) == b"content of b"
    (finding,) = archive.findings
    assert "central directory" in finding.message
    assert finding.severity is Severity.ERROR
    assert_covered(archive)
    cut = opened(PLAIN[:90])
    assert [member.size for member in cut.members] == [12, 12]
    with pytest.raises(MemberError, match="ends after 8 bytes"):
        content(cut, 1)


def test_stored_archives_are_not_searched_for_headers() -> None:
    archive = opened(written({"inner.zip": PLAIN, "z": b"z"}, method=zipfile.ZIP_STORED)[:-60])
    assert [member.path for member in archive.members] == [b"inner.zip", b"z"]
    # An end record of the archive inside, in what is left, is not the end of this one.
    last = opened(written({"a": b"", "inner.zip": PLAIN}, method=zipfile.ZIP_STORED)[:-60])
    assert [member.path for member in last.members] == [b"a", b"inner.zip"]


@pytest.mark.parametrize(
    ("at", "new", "code"),
    [
        (30, b"X", "zip-local-name"),
        (8, b"\x08", "zip-local-method"),
        (6, b"\x01", "zip-local-flags"),
        (14, b"\0\0\0\0", "zip-local-crc"),
        (18, b"\x0b", "zip-local-size"),
        (22, b"\x0d", "zip-local-size"),
        (0, b"XX", "zip-local-signature"),
    ],
)
def test_local_header_against_central_directory(at: int, new: bytes, code: str) -> None:
    archive = opened(patched(PLAIN, at, new))
    assert doubts(archive) == {code}
    (central, local) = next(finding.spans for finding in archive.findings if finding.code == code)
    assert (local.start, local.size) == (at, central.size), "only the fields that differ"
    data = archive.source.read(0, archive.source.size)
    if at:
        assert data[local.start : local.stop] != data[central.start : central.stop]
    assert content(archive, 0) == b"content of a"
    assert_covered(archive)


@pytest.mark.parametrize(
    ("at", "new", "code"),
    [(4, b"\x0b", "zip-local-needed"), (7, b"\x08", "zip-local-flags"), (10, b"\x01", "zip-local-time")],
)
def test_headers_that_differ_in_what_no_reader_needs_are_a_warning(at: int, new: bytes, code: str) -> None:
    archive = opened(patched(PLAIN, at, new))
    assert {(each.code, each.severity) for each in archive.findings} == {(code, Severity.WARNING)}
    assert content(archive, 0) == b"content of a"


@pytest.mark.parametrize(("needed", "extra"), [((10, 20), b""), ((45, 10), struct.pack("<HHQQ", 1, 16, 7, 7))])
def test_versions_that_known_writers_leave_different_are_no_warning(needed: tuple[int, int], extra: bytes) -> None:
    local, central = needed
    data = handmade(local_extra=extra)
    at = data.index(b"PK\1\2") + 6
    data = patched(patched(data, 4, struct.pack("<H", local)), at, struct.pack("<H", central))
    assert {(each.code, each.severity) for each in opened(data).findings} == {("zip-local-needed", Severity.INFO)}
    if extra:
        without = patched(data, 30 + len(b"a.txt"), b"\xff\xff")
        assert Severity.WARNING in {each.severity for each in opened(without).findings}


def test_encryption_in_one_header_is_damage() -> None:
    archive = opened(patched(PLAIN, 6, b"\x01"))
    assert {each.severity for each in archive.findings if each.code == "zip-local-flags"} == {Severity.ERROR}


def test_a_local_header_that_is_not_there() -> None:
    archive = opened(patched(PLAIN, 94 + 42, struct.pack("<I", 20)))
    assert "zip-no-local-header" in doubts(archive)
    with pytest.raises(MemberError, match="no local header"):
        content(archive, 0)
    assert content(archive, 1) == b"content of b"
    assert_covered(archive)


def test_a_member_that_the_directory_does_not_know_is_an_orphan() -> None:
    short = PLAIN[:94] + PLAIN[145:196] + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, 51, 94, 0)
    archive = opened(short)
    assert [member.path for member in archive.members] == [b"b.txt"]
    assert doubts(archive) == {"zip-orphan"}
    orphan = archive.fields[0].children[0]
    assert (orphan.value, orphan.member, orphan.spans) == ("a.txt", None, ((0, 47),))
    assert_covered(archive)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"x" + PLAIN, "1 byte precedes"),
        (PLAIN[:40] + PLAIN[41:], "shrunk by 1 byte"),
        (PLAIN[1:], "1 byte before the central directory is missing"),
        (PLAIN + b"x", "belongs to nothing"),
        (PLAIN[:93], "1 byte of 12 bytes is missing"),
        (patched(PLAIN[:94] + b"x" + PLAIN[94:], 197 + 16, struct.pack("<I", 95)), "belongs to no member"),
        (patched(PLAIN, 196 + 12, struct.pack("<I", 101)), "there are 102"),
    ],
)
def test_of_one_byte_is_spoken_as_of_one(data: bytes, words: str) -> None:
    messages = [each.message for each in opened(data).findings]
    assert any(words in each for each in messages)
    assert not [each for each in messages if re.search(r"\b1 byte\b[^.;:]* (are|were|belong|stand|follow)\b", each)]


def test_deflate_streams_of_another_length_than_declared() -> None:
    data = written({"a": b"abc" * 100})
    at = data.index(b"PK\1\2")
    for size, words in ((299, "is longer than"), (301, "ends after")):
        new = struct.pack("<I", size)
        archive = opened(patched(patched(data, 22, new), at + 24, new))
        pieces = []
        with pytest.raises(MemberError, match=words):
            pieces.extend(plain_zip.FORMAT.read(archive, 0, Progress()))
        assert b"".join(pieces) == (b"abc" * 100)[:size]


def test_a_damaged_deflate_stream_gives_what_it_can() -> None:
    # The first byte of the stream now begins a block of type 3, which deflate does not have.
    archive = opened(patched(written({"a": b"abc" * 100}), 31, b"\x07"))
    assert doubts(archive) == set()
    with pytest.raises(MemberError, match="deflate"):
        content(archive, 0)
    whole = written({"a": b"abc" * 100})
    at = whole.index(b"PK\1\2")
    less = struct.pack("<I", struct.unpack_from("<I", whole, 18)[0] - 1)
    with pytest.raises(MemberError, match="does not end within"):
        content(opened(patched(patched(whole, 18, less), at + 20, less)), 0)


@pytest.mark.parametrize("data", [SMALL, zip64_archive()[0]], ids=["streamed", "zip64"])
def test_truncation_at_every_byte(data: bytes) -> None:
    for stop in range(len(data)):
        archive = opened(data[:stop])
        assert_covered(archive)
        assert any(finding.severity is Severity.ERROR for finding in archive.findings)
        drained(archive)


@given(
    st.sampled_from([SMALL, PLAIN, zip64_archive()[0]]),
    st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=6),
)
def test_changed_bytes_raise_nothing(data: bytes, changes: list[tuple[int, int]]) -> None:
    broken = bytearray(data)
    for at, value in changes:
        broken[at % len(broken)] = value
    archive = opened(bytes(broken))
    assert_covered(archive)
    drained(archive)


@given(
    st.lists(
        st.sampled_from(
            [b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\6", b"PK\6\7", b"PK\7\x08", bytes(16), b"\xff" * 8, b"ab"]
        ),
        max_size=40,
    )
)
def test_heaps_of_signatures_raise_nothing(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    plain_zip.FORMAT.probe(BytesSource(data))
    archive = opened(data)
    assert_covered(archive)
    drained(archive)


@pytest.mark.parametrize("data", [PLAIN, written({}), zip64_archive()[0]], ids=["plain", "empty", "zip64"])
@pytest.mark.parametrize("size", [70_000, 3 << 20])
def test_an_end_too_far_from_the_end_of_the_file_is_found_after_the_members(data: bytes, size: int) -> None:
    before, archive = opened(data), opened(data + bytes(size))
    assert [member.path for member in archive.members] == [member.path for member in before.members]
    assert doubts(archive) == {"zip-end-not-at-end"}
    assert f"{size:,} bytes after the one at" in archive.findings[-1].message
    assert archive.fields[-1].spans == ((len(data), len(data) + size),)
    assert archive.fields[-1].kind is Kind.GARBAGE
    assert_covered(archive)


def test_an_end_record_of_another_directory_is_not_the_end() -> None:
    data = written({"a": b"abc"})
    moved = patched(data, data.rindex(b"PK\5\6") + 16, b"\1\0\0\0")
    archive = opened(moved + bytes(100_000))
    assert "zip-no-central-directory" in doubts(archive)
    assert archive.fields[-2].kind is END_OF_DIRECTORY
    assert archive.fields[-1].spans == ((len(data), len(data) + 100_000),)
    assert_covered(archive)
