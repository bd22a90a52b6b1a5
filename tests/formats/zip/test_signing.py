"""What is no damage: signatures, fillers, a directory that is encrypted, and members on other disks of an archive."""

from __future__ import annotations

import struct

import pytest

from inspector.core.field import Field
from inspector.core.finding import Severity
from inspector.core.kinds import Kind
from inspector.core.program.progress import Progress
from inspector.formats import zip as plain_zip
from tests.formats.archives import assert_covered
from tests.formats.zip.zip_building import codes, content, doubts, named, opened, written

FILES = {"a.txt": b"alpha" * 40, "b.txt": b"beta"}
MAGIC = b"APK Sig Block 42"


def parts(data: bytes) -> tuple[bytes, bytes, list[int]]:
    """The members, the central directory, and the numbers of the end record."""
    end = list(struct.unpack("<4H2IH", data[-18:]))
    return data[: end[5]], data[end[5] : -22], end


def joined(members: bytes, directory: bytes, end: list[int], *, between: bytes = b"", tail: bytes = b"") -> bytes:
    end = [*end[:4], len(directory), len(members + between), 0]
    return members + between + directory + tail + b"PK\5\6" + struct.pack("<4H2IH", *end)


def children(field: Field) -> list[tuple[str, int]]:
    return [(each.name, each.spans[0].size) for each in field.children]


@pytest.mark.parametrize(("magic", "expected"), [(MAGIC, set()), (MAGIC[:-1] + b"x", {"zip-gap"})])
def test_an_apk_signing_block_is_a_gap_and_no_damage(magic: bytes, expected: set[str]) -> None:
    archive = opened(joined(*parts(written(FILES)), between=bytes(9) + b"signed" * 9 + magic))
    assert codes(archive) == expected
    assert [field.kind for field in named(archive, "gap")] == [Kind.GAP]
    assert [content(archive, index) for index in range(2)] == list(FILES.values())
    assert_covered(archive)


def test_a_digital_signature_ends_the_central_directory() -> None:
    members, directory, end = parts(written(FILES))
    archive = opened(joined(members, directory + b"PK\5\5" + struct.pack("<H", 20) + b"s" * 20, end))
    assert codes(archive) == set()
    (field,) = named(archive, "digital signature")
    assert children(field) == [("header signature", 4), ("size of data", 2), ("signature data", 20)]
    assert_covered(archive)
    wrong = opened(joined(members, directory + b"PK\5\5" + struct.pack("<H", 21) + b"s" * 20, end))
    assert "zip-directory-damaged" in doubts(wrong)


def encrypted(cipher: int, *, readable: bool = False) -> bytes:
    """An archive with the version 2 of the ZIP64 end record (APPNOTE 7.3.4); its directory is noise, or readable."""
    members, directory, _ = parts(written(FILES))
    directory = directory if readable else bytes(255 - byte for byte in directory)
    start = len(members)
    sector = struct.pack("<HQQ4H", 8, len(directory), 500, cipher, 256, 1, 0) + bytes(2)
    wide = struct.pack("<QHHIIQQQQ", 44 + len(sector), 62, 62, 0, 0, 2, 2, len(directory), start)
    record = b"PK\6\6" + wide + sector
    locator = b"PK\6\7" + struct.pack("<IQI", 0, start + len(directory), 1)
    end = b"PK\5\6" + struct.pack("<4H2IH", 0, 0, 0, 0xFFFF, len(directory), start, 0)
    return members + directory + record + locator + end


def test_an_encrypted_directory_is_not_read_and_no_damage() -> None:
    archive = opened(encrypted(0x6610))
    assert [(each.code, each.severity) for each in archive.findings if each.severity is not Severity.INFO] == [
        ("zip-directory-encrypted", Severity.WARNING)
    ]
    assert archive.findings[0].message.startswith("The central directory is encrypted, so it is not read.")
    (field,) = named(archive, "central directory")
    assert field.note == "Encrypted, not read."
    assert [member.path for member in archive.members] == [b"a.txt", b"b.txt"]
    assert plain_zip.FORMAT.repairs(archive, Progress()) == ()
    assert_covered(archive)


def test_only_a_directory_that_cannot_be_read_is_encrypted() -> None:
    archive = opened(encrypted(0x6610, readable=True))
    assert "zip-directory-encrypted" not in codes(archive)
    assert len(named(archive, "central directory header")) == 2
    assert "zip-directory-damaged" in doubts(opened(encrypted(1)))


def test_a_local_header_without_name_and_content_fills_a_gap() -> None:
    members, directory, end = parts(written(FILES))
    filler = struct.pack("<I5H3I2H", 0x04034B50, 0, 0, 0, 0, 33, 0, 0, 0, 0, 90) + bytes(90)
    archive = opened(joined(members, directory, end, between=filler))
    assert (codes(archive), doubts(archive)) == ({"zip-filler"}, set())
    hidden = struct.pack("<I5H3I2H", 0x04034B50, 0, 0, 0, 0, 33, 0, 5, 5, 0, 0) + b"bytes"
    assert doubts(opened(joined(members, directory, end, between=hidden))) == {"zip-orphan"}


def test_members_on_another_disk_of_the_archive_are_no_damage_of_this_one() -> None:
    members, directory, _ = parts(written(FILES))
    second = members.index(b"PK\3\4", 4)
    at = directory.index(b"PK\1\2", 4)
    on_this = bytearray(directory[at:])
    on_this[34:36], on_this[42:46] = struct.pack("<H", 1), struct.pack("<I", 5)
    last = joined(b"ending"[:5] + members[second:], directory[:at] + bytes(on_this), [1, 1, 1, 2, 0, 0, 0])
    archive = opened(last)
    assert (codes(archive), [member.readable for member in archive.members]) == ({"zip-several-disks"}, [False, True])
    assert content(archive, 1) == FILES["b.txt"]
    assert_covered(archive)
