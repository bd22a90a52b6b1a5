"""Members listed many at a time are those listed one at a time, with the same findings."""

from __future__ import annotations

import io
import random
import zipfile

import pytest

from inspector.core.archive import Archive
from inspector.formats._zip import bulk, decode, directory
from tests.formats.zip.zip_building import Unseekable, opened
from tests.sweeping import each_third

COLUMNS = ("paths", "path_stops", "starts", "stops", "sizes", "codecs", "digests", "heads", "marks")
NAMES = (
    "a",
    "folder/",
    "folder/a.txt",
    "../up",
    "//",
    "a//b",
    "a.b-c d",
    ".hidden",
    "é",
    "x" * 201,
    "PK\x01\x02",
    "a\\b",
)
EXTRAS = (
    b"",
    b"\x55\x54\x05\x00\x01abcd",
    b"\x55\x54\x01\x00\x01",
    b"\x01\x00\x00\x00",
    b"\0\0\0",
    b"ux\x60\x00" + bytes(96),
)


def archive_bytes(chance: random.Random, members: int) -> bytes:
    """An archive with members of all kinds, most of them ordinary."""
    target = Unseekable() if chance.random() < 0.3 else io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:  # type: ignore[arg-type]
        for number in range(members):
            name = chance.choice(NAMES) if chance.random() < 0.2 else f"d{number // 7}/{number:05}.txt"
            info = zipfile.ZipInfo(name if name.endswith("/") else name + str(number))
            info.compress_type = chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
            info.extra = chance.choice(EXTRAS) if chance.random() < 0.3 else b""
            info.external_attr = chance.choice((0, 0o644 << 16, 0o100644 << 16, 0o120777 << 16, 0o104755 << 16, 0x10))
            info.comment = b"PK\x01\x02" if chance.random() < 0.1 else b""
            archive.writestr(info, chance.randbytes(chance.choice((0, 1, 40, 5000))) if chance.random() < 0.9 else b"")
    return bytes(target.data) if isinstance(target, Unseekable) else target.getvalue()


def damaged(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    start = data.find(b"PK\x01\x02") if chance.random() < 0.6 else 0
    for _ in range(chance.choice((0, 1, 3, 20))):
        changed[chance.randrange(start, len(data))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def facts(archive: Archive) -> list[object]:
    columns = [getattr(archive.members, column) for column in COLUMNS]
    detail = archive.detail
    rows = [detail.central, detail.descriptors, detail.with_descriptor, detail.stop, detail.span]
    return [*columns, *rows, archive.findings, archive.findings_dropped]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("seed", each_third(range(6)))
def test_any_archive_is_listed_alike_in_bulk(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(12):
        data = damaged(archive_bytes(chance, chance.choice((1, 5, 60))), chance)
        monkeypatch.setattr(decode, "MIN_BULK_BYTES", 1 << 60)
        expected = facts(opened(data))
        monkeypatch.setattr(decode, "MIN_BULK_BYTES", 0)
        for window, stride in ((1 << 20, 2048), (300, 2048), (1000, 0)):
            monkeypatch.setattr(bulk, "WINDOW_BYTES", window)
            monkeypatch.setattr(bulk, "MAX_STRIDE_BYTES", stride)
            assert facts(opened(data)) == expected


def test_ordinary_members_are_all_listed_in_bulk(monkeypatch: pytest.MonkeyPatch) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for number in range(300):
            archive.writestr(zipfile.ZipInfo(f"folder/{number}.txt"), b"x" * number)
    monkeypatch.setattr(decode, "MIN_BULK_BYTES", 0)
    monkeypatch.setattr(directory.DirectoryWalk, "entry", None)
    monkeypatch.setattr(bulk, "WINDOW_BYTES", 1000)
    found = opened(target.getvalue())
    assert [member.size for member in found.members] == list(range(300))
    assert not found.findings


def test_no_more_members_are_listed_in_bulk_than_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for number in range(30):
            archive.writestr(zipfile.ZipInfo(f"{number}.txt"), b"x")
    monkeypatch.setattr(decode, "MIN_BULK_BYTES", 0)
    for module in (directory, decode):
        monkeypatch.setattr(module, "MAX_MEMBERS", 13)
    monkeypatch.setattr(bulk, "WINDOW_BYTES", 300)
    found = opened(target.getvalue())
    assert len(found.members) == 13
    assert found.detail.capped
