"""ZIP archives that zipfile writes, and rarer ones made by hand."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from inspector.core.archive import Archive, Emitter
from inspector.core.field import locate
from inspector.core.format import MemberError, ProbeResult
from inspector.core.kinds import Kind
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.span import Span
from inspector.formats import zip as plain_zip
from inspector.formats._kinds import CENTRAL_DIRECTORY, DATA_SECTION, END_OF_DIRECTORY, ZIP64_END, ZIP64_LOCATOR
from inspector.formats._zip import directory as zip_directory
from inspector.formats._zip.records import date_text, descriptor_parts, time_text
from inspector.sources.local.file import FileSource
from tests.formats.archives import assert_covered
from tests.formats.zip.zip_building import (
    PLAIN,
    codes,
    content,
    doubts,
    many_empty,
    named,
    opened,
    patched,
    written,
    zip64_archive,
)


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
    assert_covered(archive)


def test_every_byte_of_a_header_is_shown_in_the_words_of_the_specification() -> None:
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
    assert (crc.name, crc.kind, crc.shown) == ("crc-32", Kind.DIGEST, f"0x{zlib.crc32(b'content of a'):08x}")
    chain = [field.name for _, field in locate(archive.fields, 40)]
    assert chain == ["local files", "local file", "file data"]
    directory = next(field for field in archive.fields if field.kind is CENTRAL_DIRECTORY)
    assert directory.spans == ((94, 196),)
    assert [row.value for row in directory.children] == ["a.txt", "b.txt"]
    assert archive.fields[-1].spans == ((196, 218),)


def test_dates_are_shown_or_called_invalid() -> None:
    archive = opened(patched(PLAIN, 12, b"\x00\x00"))
    assert [field.note for field in named(archive, "last mod file date")][:2] == ["invalid date", "2024-05-01"]
    assert named(archive, "last mod file time")[0].note == "12:30:10"
    assert doubts(archive) == {"zip-local-time"}


@pytest.mark.parametrize(
    ("year", "month", "day", "words"),
    [
        (1980, 1, 1, "1980-01-01"),
        (2107, 12, 31, "2107-12-31"),
        (2096, 2, 29, "2096-02-29"),
        (2100, 2, 29, "invalid date"),
        (2001, 13, 1, "invalid date"),
        (2001, 4, 31, "invalid date"),
    ],
)
def test_a_date_is_one_of_the_calendar(year: int, month: int, day: int, words: str) -> None:
    assert date_text((year - 1980) << 9 | month << 5 | day) == words


def test_a_time_is_one_of_a_day() -> None:
    assert time_text(23 << 11 | 59 << 5 | 29) == "23:59:58"
    for beyond in (24 << 11, 60 << 5, 30):
        assert time_text(beyond) == "invalid time"


def test_the_parts_of_a_descriptor_are_as_long_as_it_is() -> None:
    for size in (12, 16, 20, 24):
        assert sum(part.size for part in descriptor_parts(size)) == size


def test_a_comment_may_be_as_long_as_its_size_can_say() -> None:
    archive = opened(written({"a": b"abc"}, comment=b"c" * 0xFFFF))
    assert ([member.path for member in archive.members], doubts(archive)) == ([b"a"], set())


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
    assert doubts(archive) == ({"zip-descriptor-width"} if data and form >= 20 else set())
    assert content(archive, 0) == data
    assert_covered(archive)


@pytest.mark.parametrize("form", [16, 24])
@pytest.mark.parametrize("placeholders", [(True, True), (True, False), (False, False)])
def test_a_descriptor_may_be_wide_where_the_central_header_has_zip64_sizes(
    form: int, placeholders: tuple[bool, bool]
) -> None:
    data, crc = b"content", zlib.crc32(b"content")
    descriptor = b"PK\7\x08" + struct.pack("<IQQ" if form == 24 else "<III", crc, 7, 7)
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 8, 0, 0, 33, 0, 0, 0, 1, 0) + b"x" + data + descriptor
    stored, size = (0xFFFFFFFF if wide else 7 for wide in placeholders)
    extra = struct.pack(f"<HH{sum(placeholders)}Q", 1, 8 * sum(placeholders), *[7] * sum(placeholders))
    extra = extra if any(placeholders) else b""
    central = struct.pack(
        "<4s6H3I5H2I", b"PK\1\2", 45, 45, 8, 0, 0, 33, crc, stored, size, 1, len(extra), 0, 0, 0, 0, 0
    )
    central += b"x" + extra
    archive = opened(local + central + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(central), len(local), 0))

    odd = {"zip-descriptor-width"} if form == 24 and not any(placeholders) else set()
    # A local header that says 2.0 needs no more: only the central one has ZIP64 numbers.
    assert doubts(archive) == odd | (set() if any(placeholders) else {"zip-local-needed"})
    assert content(archive, 0) == data


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
        DATA_SECTION,
        CENTRAL_DIRECTORY,
        ZIP64_END,
        ZIP64_LOCATOR,
        END_OF_DIRECTORY,
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
    assert_covered(found)


@pytest.mark.parametrize(("size", "whole"), [(0xFFFFFFFF, True), (0xFFFFFFFF, False), (0xFFFFFFFE, True)])
def test_the_largest_numbers_need_no_zip64(size: int, whole: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 0, 0, 33, 0, size, size, 1, 0) + b"x"
    central = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 0, 0, 33, 0, size, size, 1, 0, 0, 0, 0, 0, 0) + b"x"
    with path.open("wb") as file:
        file.write(local)
        at = len(local) + (size if whole else 1_000)
        file.seek(at)
        # The offset of the directory needs ZIP64 then, the member does not.
        file.write(central + struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, len(central), at))
        file.write(struct.pack("<4sIQI", b"PK\6\7", 0, at + len(central), 1))
        file.write(struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(central), 0xFFFFFFFF, 0))
    archive = Archive(FileSource(path), "zip", "", ())
    plain_zip.FORMAT.decode(archive.source, Emitter(archive), Progress())

    assert ("zip-zip64-short" in codes(archive)) is not whole
    assert not whole or (codes(archive) == set() and archive.members[0].spans == (Span(31, 31 + size),))


def test_data_before_the_archive() -> None:
    moved = opened(b"#!/bin/sh\n" + PLAIN)
    assert [member.head for member in moved.members] == [10, 57]
    assert content(moved, 1) == b"content of b"
    assert doubts(moved) == {"zip-prepended"}
    assert_covered(moved)
    target = io.BytesIO(b"#!/bin/sh\n")
    target.seek(0, io.SEEK_END)
    with zipfile.ZipFile(target, "a") as archive:
        archive.writestr("a", b"abc")
    adjusted = opened(target.getvalue())
    assert codes(adjusted) == {"zip-leading-bytes"}
    assert adjusted.fields[0].children[0].kind is Kind.GAP


def test_more_entries_than_the_count_can_say() -> None:
    data = many_empty(0x10001)
    assert doubts(opened(data)) == set()
    # The same without ZIP64 records, as programs write that do not know them.
    size, offset = struct.unpack_from("<QQ", data, data.index(b"PK\6\6") + 40)
    old = data[: offset + size] + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, size, offset, 0)
    found = opened(old)
    assert len(found.members) == 0x10001
    assert doubts(found) == {"zip-entry-count-modulo"}


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
    strange = opened(patched(patched(PLAIN, 8, b"\x09"), 94 + 10, b"\x09"))
    with pytest.raises(MemberError, match="Deflate64"):
        content(strange, 0)
    assert codes(strange) == {"zip-method-not-read"}


def test_content_comes_in_bounded_pieces() -> None:
    archive = opened(written({"a": bytes(5_000_000)}))
    sizes = [len(piece) for piece in plain_zip.FORMAT.read(archive, 0, Progress())]
    assert sum(sizes) == 5_000_000
    assert max(sizes) <= 512 * 1024


def test_no_more_members_are_listed_than_memory_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_directory, "MAX_MEMBERS", 3)
    archive = opened(written())
    assert len(archive.members) == 3
    assert "zip-too-many-members" in doubts(archive)
    assert_covered(archive)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (PLAIN, ProbeResult.CERTAIN),
        (b"PK\5\6" + bytes(18), ProbeResult.CERTAIN),
        (b"stub" + PLAIN, ProbeResult.CERTAIN),
        (PLAIN[:100], ProbeResult.POSSIBLE),
        (PLAIN + b"more", ProbeResult.POSSIBLE),
        (b"", ProbeResult.NO),
        (b"PK", ProbeResult.NO),
        (bytes(1000), ProbeResult.NO),
    ],
)
def test_recognised_by_content(data: bytes, expected: ProbeResult) -> None:
    assert plain_zip.FORMAT.probe(BytesSource(data)) is expected


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_streamed_archive_without_its_directory_is_listed_by_where_the_data_ends(
    method: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"{each}.txt": f"hello {each} ".encode() * 400 for each in range(8)}
    data = written(files, streamed=True, method=method)
    data = data[: data.index(b"PK\1\2")]
    archive = opened(data)
    assert {each.path.decode(): content(archive, each.index) for each in archive.members} == files
    cut = opened(data[:-30])
    assert (len(cut.members), codes(cut)) == (7, {"zip-size-unknown", "zip-no-central-directory"})
    assert not any("stopped" in each.message for each in cut.findings)
    for limit in ("MAX_UNPACKED_BYTES", "MAX_RATIO"):
        monkeypatch.setattr(f"inspector.formats._zip.decode.{limit}", 0)
    assert "The search for its end stopped after 0 bytes of members were read." in opened(data).findings[0].message
