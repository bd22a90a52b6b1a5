"""Members that claim the same bytes: all that are involved are named and marked, and each can still be read."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import pytest

from inspector.core.archive import Archive
from inspector.core.member import SHARED
from tests.formats.zip.zip_building import content, opened

NAME = b"n%05d"


def local(name: bytes, data: bytes) -> bytes:
    size = len(data)
    return (
        struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 0, 0, 33, zlib.crc32(data), size, size, len(name), 0) + name + data
    )


def central(name: bytes, data: bytes, head: int) -> bytes:
    sizes = (zlib.crc32(data), len(data), len(data), len(name))
    return struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 0, 0, 33, *sizes, 0, 0, 0, 0, 0, head) + name


def archived(files: bytes, entries: Sequence[tuple[bytes, int]]) -> bytes:
    """Local files and a directory with an entry for each content, which begins so far into them."""
    directory = b"".join(central(NAME % at, data, head) for at, (data, head) in enumerate(entries))
    many = len(entries)
    return files + directory + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, many, many, len(directory), len(files), 0)


def quoting(inner: int) -> bytes:
    """A member whose content is the local files of the others, between two that have nothing to do with it."""
    alone = local(NAME % 0, b"alone")
    quoted = [local(NAME % (2 + at), b"%d" % at) for at in range(inner)]
    head = len(alone) + 30 + 6
    entries = [(b"alone", 0), (b"".join(quoted), len(alone))]
    for at, each in enumerate(quoted):
        entries.append((b"%d" % at, head))
        head += len(each)
    files = alone + local(NAME % 1, b"".join(quoted)) + local(NAME % len(entries), b"last")
    return archived(files, [*entries, (b"last", head)])


def named(archive: Archive) -> list[int | None]:
    return [each.member for each in archive.findings if each.code == "zip-overlap"]


def marked(archive: Archive) -> list[int]:
    return [member.index for member in archive.members if member.marks & SHARED]


def test_the_one_that_quotes_others_is_named_and_marked_as_they_are() -> None:
    archive = opened(quoting(3))
    assert named(archive) == [1, 2, 3, 4]
    assert marked(archive) == [1, 2, 3, 4]
    assert [content(archive, index) for index in range(6)] == [
        b"alone",
        archive.source.read(77, 3 * 37),
        b"0",
        b"1",
        b"2",
        b"last",
    ]


def test_entries_for_one_local_file_are_all_marked() -> None:
    archive = opened(archived(local(NAME % 0, b"data"), [(b"data", 0)] * 3))
    assert sorted(filter(None, named(archive))) == [1, 2]
    assert 0 in named(archive)
    assert marked(archive) == [0, 1, 2]


@pytest.mark.parametrize("more", [1, 1 << 30])
def test_one_that_runs_into_the_directory_is_marked_alone(more: int) -> None:
    data = archived(local(NAME % 0, b"data") + local(NAME % 1, b"last"), [(b"data", 0), (b"last", 40)])
    size = 80 + 52 + 20
    archive = opened(data[:size] + struct.pack("<I", 4 + more) + data[size + 4 :])
    assert set(named(archive)) == {1}
    assert marked(archive) == [1]


def test_those_that_overlap_beneath_an_impossible_claim_are_named_too() -> None:
    data = bytearray(quoting(1))
    size = data.index(b"PK\1\2") + 20
    data[size : size + 4] = struct.pack("<I", 1 << 30)
    archive = opened(bytes(data))
    assert set(named(archive)) == {0, 1, 2}
    assert marked(archive) == [0, 1, 2]


def test_thousands_that_claim_each_other_are_all_marked_though_not_all_are_named() -> None:
    many = 20_000
    archive = opened(quoting(many))
    assert len(named(archive)) == 1_001
    assert marked(archive) == list(range(1, many + 2))
    assert [each.message for each in archive.findings if each.code == "zip-overlaps"] == [
        "20,000 members overlap others. The first 1,000 are reported."
    ]
