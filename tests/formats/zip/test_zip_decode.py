"""ZIP archives that zipfile writes, and what is left of them when they are broken."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.core.archive import Archive, Emitter
from inspector.core.field import Field, leaves, locate
from inspector.core.finding import Severity
from inspector.core.format import Likeness, MemberError
from inspector.core.kinds import Kind
from inspector.core.progress import Progress
from inspector.core.source import BytesSource
from inspector.formats import zip as plain_zip
from inspector.formats._zip import directory as zip_directory


def opened(data: bytes) -> Archive:
    archive = Archive(BytesSource(data), "zip", "", ())
    plain_zip.FORMAT.decode(archive.source, Emitter(archive), Progress())
    return archive


def content(archive: Archive, index: int) -> bytes:
    return b"".join(plain_zip.FORMAT.read(archive, index, Progress()))


def codes(archive: Archive) -> set[str]:
    return {finding.code for finding in archive.findings}


def doubts(archive: Archive) -> set[str]:
    return {finding.code for finding in archive.findings if finding.severity is not Severity.INFO}


def covered(archive: Archive) -> None:
    """The leaves own every byte exactly once."""
    spans = sorted(span for leaf in leaves(archive.fields) for span in leaf.spans if span.size)
    at = 0
    for start, stop in spans:
        assert start == at
        at = stop
    assert at == archive.source.size


def every(fields: object) -> Iterator[Field]:
    for field in fields:  # type: ignore[attr-defined]
        yield field
        yield from every(field.children)


def named(archive: Archive, name: str) -> list[Field]:
    return [field for field in every(archive.fields) if field.name == name]


class Unseekable(io.RawIOBase):
    """A target that zipfile cannot go back in, so that it writes data descriptors."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        self.data += bytes(data)  # type: ignore[call-overload]
        return len(memoryview(data))  # type: ignore[arg-type]


FILES = {
    "a.txt": b"first, " * 40,
    "empty": b"",
    "folder/": b"",
    "folder/b.bin": bytes(range(256)),
    "d/zażółć.txt": "gęślą jaźń".encode(),
}


def written(
    files: dict[str, bytes] | None = None, *, streamed: bool = False, comment: bytes = b"", **how: int
) -> bytes:
    target = Unseekable() if streamed else io.BytesIO()
    with zipfile.ZipFile(target, "w", how.get("method", zipfile.ZIP_DEFLATED)) as archive:  # type: ignore[arg-type]
        archive.comment = comment
        for name, data in (FILES if files is None else files).items():
            archive.writestr(zipfile.ZipInfo(name, (2024, 5, 1, 12, 30, 10)), data, how.get("method", 8))
    return bytes(target.data) if isinstance(target, Unseekable) else target.getvalue()


PLAIN = written({"a.txt": b"content of a", "b.txt": b"content of b"}, method=zipfile.ZIP_STORED)
"""Two stored members of 12 bytes: local headers at 0 and 47, the directory at 94, the end record at 196."""


def patched(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_agrees_with_zipfile(method: int, streamed: bool) -> None:
    data = written(streamed=streamed, method=method, comment=b"a comment")
    archive = opened(data)
    reference = zipfile.ZipFile(io.BytesIO(data))
    assert [member.path.decode() for member in archive.members] == reference.namelist()
    for member, info in zip(archive.members, reference.infolist(), strict=True):
        assert (member.size, member.stored, member.head) == (info.file_size, info.compress_size, info.header_offset)
        assert member.digest == f"crc32:{info.CRC:08x}"
        assert content(archive, member.index) == reference.read(info)
    assert [member.marks & 1 for member in archive.members] == [0, 0, 1, 0, 0]
    assert doubts(archive) == set()
    covered(archive)


def test_every_byte_of_a_header_is_told_in_the_words_of_the_specification() -> None:
    archive = opened(PLAIN)
    header = named(archive, "local file header")[0]
    assert [field.name for field in header.children][:4] == [
        "local file header signature",
        "version needed to extract",
        "general purpose bit flag",
        "compression method",
    ]
    assert header.spans == ((0, 35),)
    crc = header.children[6]
    assert (crc.name, crc.kind, crc.shown) == ("crc-32", Kind.DIGEST, f"0x{zlib.crc32(b'content of a'):08X}")
    chain = [field.name for _, field in locate(archive.fields, 40)]
    assert chain == ["local files", "local file", "file data"]
    directory = next(field for field in archive.fields if field.kind is Kind.CENTRAL_DIRECTORY)
    assert directory.spans == ((94, 196),)
    assert [row.value for row in directory.children] == ["a.txt", "b.txt"]
    assert archive.fields[-1].spans == ((196, 218),)


def test_dates_are_told_or_called_invalid() -> None:
    archive = opened(patched(PLAIN, 12, b"\x00\x00"))
    assert [field.note for field in named(archive, "last mod file date")][:2] == ["invalid date", "2024-05-01"]
    assert named(archive, "last mod file time")[0].note == "12:30:10"
    assert doubts(archive) == set()


@pytest.mark.parametrize("form", [16, 12, 24, 20])
@pytest.mark.parametrize("data", [b"some content", b""])
def test_every_form_of_data_descriptor(form: int, data: bytes) -> None:
    crc, size = zlib.crc32(data), len(data)
    numbers = struct.pack("<IQQ" if form >= 20 else "<III", crc, size, size)
    descriptor = (b"PK\7\x08" if form in (16, 24) else b"") + numbers
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 8, 0, 0, 33, 0, 0, 0, 1, 0) + b"x" + data + descriptor
    central = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 8, 0, 0, 33, crc, size, size, 1, 0, 0, 0, 0, 0, 0) + b"x"
    archive = opened(local + central + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(central), len(local), 0))
    (field,) = named(archive, "data descriptor")
    assert field.spans == ((len(local) - form, len(local)),)
    assert ("no signature" in field.note) == (form in (12, 20))
    assert ("64-bit" in field.note) == (form >= 20)
    assert doubts(archive) == set()
    assert content(archive, 0) == data
    covered(archive)


def test_a_descriptor_with_other_numbers_is_an_error() -> None:
    data = written({"a": b"abc"}, streamed=True, method=zipfile.ZIP_STORED)
    at = data.index(b"PK\7\x08")
    assert "zip-descriptor-differs" in doubts(opened(patched(data, at + 4, b"\1\2\3\4")))
    assert "zip-descriptor-missing" in doubts(opened(patched(data, at, b"\1\2\3\4")))


def test_zip64_members_and_records() -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive, archive.open("big", "w", force_zip64=True) as member:
        member.write(b"not really big")
    assert doubts(opened(target.getvalue())) == set()

    data, size, count = zip64_archive()
    found = opened(data)
    assert doubts(found) == set()
    assert [(member.path, member.size) for member in found.members] == [(b"x", 3)]
    assert content(found, 0) == b"abc"
    kinds = [field.kind for field in found.fields]
    assert kinds == [
        Kind.DATA_SECTION,
        Kind.CENTRAL_DIRECTORY,
        Kind.ZIP64_END,
        Kind.ZIP64_LOCATOR,
        Kind.END_OF_DIRECTORY,
    ]
    values = {field.name: field.value for field in named(found, "ZIP64 extended information")[-1].children}
    assert values == {
        "Header ID": 1,
        "Data Size": 24,
        "Original Size": 3,
        "Compressed Size": 3,
        "Relative Header Offset": 0,
    }
    assert named(found, "total number of entries in the central directory")[0].value == count
    assert named(found, "size of the central directory")[0].value == size
    covered(found)


def zip64_archive(record_at: int = 0, entries: int = 0xFFFF, extra_size: int = 24) -> tuple[bytes, int, int]:
    """One member whose numbers are all in ZIP64 records; the archive, its directory's size and its count."""
    data, full = b"abc", 0xFFFFFFFF
    wide = struct.pack("<HHQQ", 1, 16, 3, 3)
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 45, 0, 0, 0, 33, zlib.crc32(data), full, full, 1, len(wide))
    local += b"x" + wide + data
    wide = struct.pack("<HHQQQ", 1, extra_size, 3, 3, 0)[: 4 + extra_size]
    central = struct.pack(
        "<4s6H3I5H2I", b"PK\1\2", 45, 45, 0, 0, 0, 33, zlib.crc32(data), full, full, 1, len(wide), 0, 0, 0, 0, full
    )
    central += b"x" + wide
    at = len(local) + len(central)
    record = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, len(central), len(local))
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, at + record_at, 1)
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, entries, entries, full, full, 0)
    return local + central + record + locator + end, len(central), 1


def test_zip64_contradictions() -> None:
    assert "zip-zip64-locator" in doubts(opened(zip64_archive(record_at=4)[0]))
    assert "zip-zip64-disagrees" in doubts(opened(zip64_archive(entries=5)[0]))
    assert "zip-zip64-short" in doubts(opened(zip64_archive(extra_size=8)[0]))
    data = zip64_archive()[0]
    assert "zip-zip64-missing" in doubts(opened(patched(data, data.index(b"PK\6\6"), b"....")))


def test_data_before_the_archive() -> None:
    moved = opened(b"#!/bin/sh\n" + PLAIN)
    assert [member.head for member in moved.members] == [10, 57]
    assert content(moved, 1) == b"content of b"
    assert doubts(moved) == {"zip-prepended"}
    covered(moved)
    target = io.BytesIO(b"#!/bin/sh\n")
    target.seek(0, io.SEEK_END)
    with zipfile.ZipFile(target, "a") as archive:
        archive.writestr("a", b"abc")
    adjusted = opened(target.getvalue())
    assert codes(adjusted) == {"zip-leading-bytes"}
    assert adjusted.fields[0].children[0].kind is Kind.GAP


def test_an_end_record_in_the_comment_does_not_hide_the_real_one() -> None:
    inner = b"PK\5\6" + bytes(18)
    both = opened(written({"a": b"abc"}, comment=b"look: " + inner))
    assert "zip-several-ends" in doubts(both)
    assert [member.path for member in opened(written({"a": b"abc"}, comment=inner + b" no end")).members] == [b"a"]


def test_data_after_the_archive() -> None:
    archive = opened(PLAIN + b"more")
    assert len(archive.members) == 2
    assert doubts(archive) == {"zip-end-not-at-end"}
    assert archive.fields[-1].kind is Kind.GARBAGE
    covered(archive)


@pytest.mark.parametrize("count", [0, 1, 3, 0xFFFF])
def test_counts_that_lie(count: int) -> None:
    archive = opened(patched(PLAIN, 196 + 10, struct.pack("<H", count)))
    assert len(archive.members) == 2
    assert doubts(archive) == {"zip-entry-count"}


def test_more_entries_than_the_count_can_say() -> None:
    files = {f"{number:05}": b"" for number in range(0x10001)}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in files:
            archive.writestr(name, b"")
    data = target.getvalue()
    assert doubts(opened(data)) == set()
    # The same without ZIP64 records, as programs write that do not know them.
    size, offset = struct.unpack_from("<QQ", data, data.index(b"PK\6\6") + 40)
    old = data[: offset + size] + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, size, offset, 0)
    found = opened(old)
    assert len(found.members) == 0x10001
    assert doubts(found) == {"zip-entry-count-modulo"}


@pytest.mark.parametrize("offset", [0, 95, 10_000, 0xFFFFFFFF])
def test_a_directory_that_is_not_where_it_should_be(offset: int) -> None:
    archive = opened(patched(PLAIN, 196 + 16, struct.pack("<I", offset)))
    assert doubts(archive)
    covered(archive)


def test_without_central_directory_local_headers_are_listed() -> None:
    archive = opened(PLAIN[:150])
    assert [member.path for member in archive.members] == [b"a.txt", b"b.txt"]
    assert content(archive, 1) == b"content of b"
    (finding,) = archive.findings
    assert "central directory" in finding.message
    assert finding.severity is Severity.ERROR
    covered(archive)
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
    assert content(archive, 0) == b"content of a"
    covered(archive)


def test_a_local_header_that_is_not_there() -> None:
    archive = opened(patched(PLAIN, 94 + 42, struct.pack("<I", 20)))
    assert "zip-no-local-header" in doubts(archive)
    with pytest.raises(MemberError, match="no local header"):
        content(archive, 0)
    assert content(archive, 1) == b"content of b"
    covered(archive)


def test_a_member_that_the_directory_does_not_know_is_an_orphan() -> None:
    short = PLAIN[:94] + PLAIN[145:196] + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, 51, 94, 0)
    archive = opened(short)
    assert [member.path for member in archive.members] == [b"b.txt"]
    assert doubts(archive) == {"zip-orphan"}
    orphan = archive.fields[0].children[0]
    assert (orphan.value, orphan.member, orphan.spans) == ("a.txt", None, ((0, 47),))
    covered(archive)


def test_gaps_are_shown() -> None:
    data = PLAIN[:94] + b"hidden" + PLAIN[94:]
    archive = opened(patched(data, 202 + 16, struct.pack("<I", 100)))
    assert doubts(archive) == {"zip-gap"}
    assert [field.kind for field in archive.fields[0].children] == [Kind.MEMBER, Kind.MEMBER, Kind.GAP]
    covered(archive)


def test_two_entries_for_the_same_bytes() -> None:
    archive = opened(patched(PLAIN, 145 + 42, struct.pack("<I", 0)))
    assert {"zip-overlap", "zip-local-name"} <= doubts(archive)
    covered(archive)


def test_a_member_that_runs_into_the_directory() -> None:
    archive = opened(patched(PLAIN, 145 + 20, struct.pack("<I", 60)))
    assert "zip-overlap" in doubts(archive)
    covered(archive)


def test_names_that_are_no_utf_8_are_read_as_code_page_437() -> None:
    name = "Müller"
    data = written({"Mxller": b"x"}).replace(b"Mxller", b"M\x81ller")
    archive = opened(data)
    assert archive.members.path(0) == name.encode()
    assert codes(archive) == {"zip-name-cp437"}
    assert named(archive, "file name")[0].value == "M\\x81ller"
    assert name in named(archive, "file name")[0].note


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a\\b", "a//b", "a\nb", "C:x", "a\u202eb"])
def test_dangerous_names_are_warned_of(name: str) -> None:
    # zipfile makes some of these harmless, so the bytes are put in afterwards.
    raw = name.encode()
    data = written({"n" * len(raw): b"x"}).replace(b"n" * len(raw), raw)
    assert "zip-name-hazard" in doubts(opened(data))


def test_encrypted_and_strange_members_are_listed_and_not_read() -> None:
    encrypted = opened(patched(patched(PLAIN, 6, b"\x01"), 94 + 8, b"\x01"))
    with pytest.raises(MemberError, match="encrypted"):
        content(encrypted, 0)
    assert "zip-encrypted" in doubts(encrypted)
    strange = opened(written({"a": b"abc" * 100}, method=zipfile.ZIP_BZIP2))
    with pytest.raises(MemberError, match="BZIP2"):
        content(strange, 0)
    assert codes(strange) == {"zip-method-not-read"}


def test_a_malformed_extra_field_is_shown_and_padding_is_not_a_fault() -> None:
    def with_extra(extra: bytes) -> Archive:
        info = zipfile.ZipInfo("a")
        info.extra = b"\xfe\xca\0\0" + b"\x34\x12" + struct.pack("<H", len(extra)) + extra
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as archive:
            archive.writestr(info, b"abc")
        return opened(target.getvalue().replace(b"\xfe\xca\0\0\x34\x12", b"\xfe\xca\0\0\x34\xf2", 2))

    def long(archive: Archive) -> Archive:
        data = archive.source.read(0, archive.source.size)
        return opened(data.replace(b"\x34\xf2\x05\0", b"\x34\xf2\x06\0"))

    whole = with_extra(b"hello")
    assert doubts(whole) == set()
    assert len(named(whole, "extra record 0xF234")) == 2
    broken = long(whole)
    assert doubts(broken) == {"zip-extra-malformed"}
    assert len(named(broken, "malformed")) == 2
    covered(broken)


def test_deflate_streams_of_another_length_than_declared() -> None:
    data = written({"a": b"abc" * 100})
    at = data.index(b"PK\1\2")
    for size, words in ((299, "goes on after"), (301, "ends after")):
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


def test_content_comes_in_bounded_pieces() -> None:
    archive = opened(written({"a": bytes(5_000_000)}))
    sizes = [len(piece) for piece in plain_zip.FORMAT.read(archive, 0, Progress())]
    assert sum(sizes) == 5_000_000
    assert max(sizes) <= 512 * 1024


def test_no_more_members_are_listed_than_memory_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_directory, "MOST_MEMBERS", 3)
    archive = opened(written())
    assert len(archive.members) == 3
    assert "zip-too-many-members" in doubts(archive)
    covered(archive)


def test_an_empty_archive_is_sound() -> None:
    archive = opened(b"PK\5\6" + bytes(18))
    assert (len(archive.members), archive.findings) == (0, [])
    covered(archive)


@pytest.mark.parametrize(
    ("data", "likeness"),
    [
        (PLAIN, Likeness.CERTAIN),
        (b"PK\5\6" + bytes(18), Likeness.CERTAIN),
        (b"stub" + PLAIN, Likeness.CERTAIN),
        (PLAIN[:100], Likeness.POSSIBLE),
        (PLAIN + b"more", Likeness.POSSIBLE),
        (b"", Likeness.NO),
        (b"PK", Likeness.NO),
        (bytes(1000), Likeness.NO),
    ],
)
def test_recognised_by_content(data: bytes, likeness: Likeness) -> None:
    assert plain_zip.FORMAT.probe(BytesSource(data)) is likeness


def test_the_samples(sample: Callable[[str], Path]) -> None:
    for name, expected in (("plain.zip", set()), ("streamed.zip", set()), ("prefixed.zip", {"zip-prepended"})):
        archive = opened(sample(name).read_bytes())
        assert doubts(archive) == expected
        covered(archive)


SMALL = written({"a": b"abcabcabc", "b/": b"", "c": b""}, streamed=True, comment=b"hi")


@pytest.mark.parametrize("data", [SMALL, zip64_archive()[0]], ids=["streamed", "zip64"])
def test_truncation_at_every_byte(data: bytes) -> None:
    for stop in range(len(data)):
        archive = opened(data[:stop])
        covered(archive)
        assert any(finding.severity is Severity.ERROR for finding in archive.findings)
        drained(archive)


def drained(archive: Archive) -> None:
    """Read every member: content or a MemberError, nothing else."""
    for member in archive.members:
        try:
            assert len(content(archive, member.index)) == member.size
        except MemberError as error:
            assert str(error)  # noqa: PT017 - either outcome is right, but an error has to say something


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from([SMALL, PLAIN, zip64_archive()[0]]),
    st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=6),
)
def test_changed_bytes_raise_nothing(data: bytes, changes: list[tuple[int, int]]) -> None:
    broken = bytearray(data)
    for at, value in changes:
        broken[at % len(broken)] = value
    archive = opened(bytes(broken))
    covered(archive)
    drained(archive)


@settings(max_examples=200, deadline=None)
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
    covered(archive)
    drained(archive)
