"""Members whose attributes make them links, devices or programs with the rights of others."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib

import pytest

from inspector.core.finding import Severity
from inspector.core.member import SPECIAL
from inspector.formats import zip as plain_zip
from tests.formats.zip.zip_building import content, handmade, opened

UNIX, DOS, OS_X = 3 << 8 | 20, 20, 19 << 8 | 20


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (stat.S_IFLNK, "symbolic link to ../../etc"),
        (stat.S_IFCHR, "character device"),
        (stat.S_IFBLK, "block device"),
        (stat.S_IFSOCK, "socket"),
    ],
)
@pytest.mark.parametrize("made_by", [UNIX, OS_X])
def test_what_is_no_plain_file_is_marked_and_reported(kind: int, words: str, made_by: int) -> None:
    data = handmade(data=b"../../etc", made_by=made_by, external=(kind | 0o644) << 16)
    archive = opened(data)
    assert archive.members[0].marks & SPECIAL
    (finding,) = archive.findings
    severity = Severity.INFO if kind == stat.S_IFLNK else Severity.WARNING
    assert (finding.code, finding.severity, finding.member) == ("zip-special", severity, 0)
    assert words in finding.message
    (span,) = finding.spans
    assert int.from_bytes(data[span.start : span.stop], "little") == (kind | 0o644) << 16
    assert content(archive, 0) == b"../../etc"


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK])
def test_only_the_content_of_a_link_is_its_target(kind: int) -> None:
    archive = opened(handmade(data=b"../../etc", made_by=UNIX, external=(kind | 0o644) << 16))
    found = plain_zip.FORMAT.member_metadata(archive, 0)

    assert found.target == (b"../../etc" if kind == stat.S_IFLNK else None)


@pytest.mark.parametrize("bit", [stat.S_ISUID, stat.S_ISGID])
def test_rights_of_others_are_reported(bit: int) -> None:
    archive = opened(handmade(made_by=UNIX, external=(stat.S_IFREG | bit | 0o755) << 16))
    (finding,) = archive.findings
    assert finding.code == "zip-set-id"
    assert f"{bit | 0o755:o}" in finding.message
    assert not archive.members[0].marks & SPECIAL


def test_attributes_of_other_systems_are_no_mode() -> None:
    link = stat.S_IFLNK << 16
    assert opened(handmade(made_by=DOS, external=link)).findings == []
    assert opened(handmade(made_by=DOS, external=link | 0x8000)).findings[0].code == "zip-special"


@pytest.mark.parametrize("kind", [stat.S_IFCHR, stat.S_IFSOCK])
def test_a_device_without_content_is_possible(kind: int) -> None:
    archive = opened(handmade(data=b"", made_by=UNIX, external=kind << 16))
    assert [finding.severity for finding in archive.findings] == [Severity.INFO]


@pytest.mark.parametrize(("mode", "words"), [(stat.S_IFDIR | 0o755, "is a folder"), (0x9000, "the file type 9")])
def test_attributes_that_contradict_the_entry_are_a_warning(mode: int, words: str) -> None:
    archive = opened(handmade(made_by=UNIX, external=mode << 16))
    (finding,) = archive.findings
    assert (finding.code, finding.severity) == ("zip-attributes", Severity.WARNING)
    assert words in finding.message
    assert content(archive, 0) == b"content"


@pytest.mark.parametrize(
    ("mode", "data"),
    [(0, b"x"), (0o644, b"x"), (stat.S_IFREG | 0o755, b"x"), (stat.S_IFDIR | 0o1777, b"")],
)
def test_ordinary_modes_are_no_finding(mode: int, data: bytes) -> None:
    name = b"folder/" if stat.S_ISDIR(mode) else b"a.txt"
    archive = opened(handmade(name, data=data, made_by=UNIX, external=mode << 16))
    assert (archive.findings, archive.members[0].marks & SPECIAL) == ([], 0)


def test_a_mode_with_all_bits_set_says_nothing_of_the_type() -> None:
    """The archiver of Maven writes it where it knows no mode."""
    archive = opened(handmade(made_by=UNIX, external=0xFFFF << 16))
    assert [finding.code for finding in archive.findings] == ["zip-set-id"]


@pytest.mark.parametrize(("data", "words"), [(b"target", "link to target,"), (b"t" * 5000, "link, not a regular file")])
def test_a_link_that_is_compressed_or_long(data: bytes, words: str) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as other:
        info = zipfile.ZipInfo("link")
        info.create_system, info.external_attr = 3, stat.S_IFLNK << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        other.writestr(info, data)
    assert words in opened(made.getvalue()).findings[0].message


def test_a_link_whose_content_is_damaged_has_no_target() -> None:
    data = bytearray(handmade(data=b"\xff\xff", made_by=UNIX, external=stat.S_IFLNK << 16))
    data[8] = data[data.index(b"PK\1\2") + 10] = 8
    archive = opened(bytes(data))
    assert "symbolic link, not a regular file" in archive.findings[-1].message


def test_what_a_pipe_gave_is_a_file_and_an_empty_pipe_is_none() -> None:
    """Info-ZIP records its standard input as the FIFO that it is, with the content read from it."""
    archive = opened(handmade(data=b"piped", made_by=UNIX, external=(stat.S_IFIFO | 0o600) << 16))
    assert (archive.findings, archive.members[0].marks & SPECIAL, content(archive, 0)) == ([], 0, b"piped")

    empty = opened(handmade(data=b"", made_by=UNIX, external=(stat.S_IFIFO | 0o600) << 16))
    assert (empty.findings[0].code, empty.members[0].marks & SPECIAL) == ("zip-special", SPECIAL)


@pytest.mark.parametrize(
    ("made_by", "external", "data", "words"),
    [
        (DOS, 0x10, b"", "has no slash at the end"),
        (UNIX, stat.S_IFDIR << 16 | 0x10, b"", "has no slash at the end"),
        (UNIX, stat.S_IFDIR << 16, b"", "has no slash at the end"),
        (DOS, 0x10, b"content", "has 7 bytes"),
    ],
)
def test_a_folder_by_its_attributes_has_a_slash(made_by: int, external: int, data: bytes, words: str) -> None:
    (finding,) = opened(handmade(b"folder", data=data, made_by=made_by, external=external)).findings
    assert (finding.code, finding.severity, finding.member) == ("zip-attributes", Severity.WARNING, 0)
    assert words in finding.message
    assert opened(handmade(b"folder/", data=b"", made_by=made_by, external=external)).findings == []


@pytest.mark.parametrize(
    ("date", "time", "words"),
    [
        (0x0021, 0, ""),
        (0, 0, ""),
        (0x0001, 0, "the month 0"),
        (15 << 5 | 1, 0, "the month 15"),
        (2 << 5 | 31, 0, "the day 31 in month 2 of 1980"),
        (2 << 5 | 29, 0, ""),
        (1 << 9 | 2 << 5 | 29, 0, "the day 29 in month 2 of 1981"),
        (0x0020, 0, "the day 0"),
        (0x0021, 24 << 11, "the time 24:00:00"),
        (0x0021, 60 << 5, "the time 0:60:00"),
        (0x0021, 30, "the time 0:00:60"),
        (0x0021, 29, ""),
    ],
)
def test_a_time_that_no_clock_shows(date: int, time: int, words: str) -> None:
    stamp = struct.pack("<2H", 0, 33)
    data = handmade().replace(stamp, struct.pack("<2H", time, date))
    archive = opened(data)
    assert [finding.code for finding in archive.findings] == (["zip-time"] if words else [])
    if words:
        assert words in archive.findings[0].message
        (span,) = archive.findings[0].spans
        assert data[span.start : span.stop] == struct.pack("<2H", time, date)


@pytest.mark.parametrize("zip64", [False, True])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("data", [b"content", b""])
def test_a_data_descriptor_is_as_wide_as_zip64_demands(zip64: bool, wide: bool, data: bytes) -> None:
    extra = struct.pack("<2H2Q", 1, 16, 0, 0) if zip64 else b""
    sizes = struct.pack("<2Q" if wide else "<2I", len(data), len(data))
    descriptor = b"PK\7\x08" + struct.pack("<I", zlib.crc32(data)) + sizes
    built = handmade(data=data, local_extra=extra)
    end = built.index(b"PK\1\2")
    directory = bytearray(built[end:])
    directory[8] |= 8
    at = directory.index(b"PK\5\6")
    directory[at + 16 : at + 20] = struct.pack("<I", end + len(descriptor))
    local = bytearray(built[:end])
    local[6] |= 8
    archive = opened(bytes(local) + descriptor + bytes(directory))
    found = [finding.code for finding in archive.findings if finding.code != "zip-zip64-not-needed"]
    assert found == (["zip-descriptor-width"] if data and zip64 != wide else [])


def test_where_a_damaged_link_leads_is_unknown_and_keeps_nothing_from_being_read() -> None:
    data = bytearray(handmade(data=b"../../etc", made_by=UNIX, external=(stat.S_IFLNK | 0o777) << 16))
    assert plain_zip.FORMAT.member_metadata(opened(bytes(data)), 0).target == b"../../etc"
    data[data.find(b"PK\1\2") + 24] -= 1
    assert plain_zip.FORMAT.member_metadata(opened(bytes(data)), 0).target is None
