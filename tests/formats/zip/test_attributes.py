"""Members whose attributes make them links, devices or programs with the rights of others."""

from __future__ import annotations

import io
import stat
import zipfile

import pytest

from inspector.core.finding import Severity
from inspector.core.member import SPECIAL
from tests.formats.zip.zip_building import content, handmade, opened

UNIX, DOS, OS_X = 3 << 8 | 20, 20, 19 << 8 | 20


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (stat.S_IFLNK, "symbolic link to ../../etc"),
        (stat.S_IFIFO, "FIFO"),
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
    possible = kind in (stat.S_IFLNK, stat.S_IFIFO)  # Info-ZIP records its standard input as a FIFO
    severity = Severity.INFO if possible else Severity.WARNING
    assert (finding.code, finding.severity, finding.member) == ("zip-special", severity, 0)
    assert words in finding.message
    (span,) = finding.spans
    assert int.from_bytes(data[span.start : span.stop], "little") == (kind | 0o644) << 16
    assert content(archive, 0) == b"../../etc"


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
    archive = opened(handmade(data=data, made_by=UNIX, external=mode << 16))
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
