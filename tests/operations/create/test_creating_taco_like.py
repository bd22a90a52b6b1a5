"""A TACO dataset that was extracted, packed again: what its tables say of places still holds, or that is said."""

from __future__ import annotations

import shutil
import struct
import zlib
from pathlib import Path

import pytest
import tacozip

from inspector.core.program.progress import Progress
from inspector.formats.taco.write import end_of_archive, header, slots
from inspector.operations.create.creating_taco import create_taco
from inspector.operations.open.listing import load
from tests.conftest import ROOT
from tests.operations.create.creations import plant
from tests.operations.extract.extracting import extract

OLD = ROOT / "tests" / "samples" / "tacotoolbox.tacozip"


def places(path: Path) -> list[tuple[bytes, tuple[tuple[int, int], ...]]]:
    (archive,) = load(str(path), Progress())
    assert [each.code for each in archive.findings if each.code != "taco-entry-elsewhere"] == []
    return [(member.path, member.spans) for member in archive.members]


@pytest.fixture
def extracted(tmp_path: Path) -> Path:
    extract(OLD, tmp_path / "dataset")
    return tmp_path / "dataset"


@pytest.mark.parametrize("like", [str(OLD), ""])
def test_it_is_the_same_archive_again(extracted: Path, tmp_path: Path, like: str) -> None:
    new = tmp_path / "new.tacozip"
    made = create_taco(Progress(), str(new), [str(extracted)], like=like)

    assert places(new) == places(OLD)
    assert tacozip.read_header(str(new)) == tacozip.read_header(str(OLD))
    differing = [at for at, (a, b) in enumerate(zip(new.read_bytes(), OLD.read_bytes(), strict=True)) if a != b]
    assert len(differing) == 2 * len(places(OLD))  # "version needed" of each local and each central header
    said = [each for each in made.warnings if "give the old archive with --like" in each]
    assert len(said) == len(made.warnings) == (0 if like else 1)


def test_places_that_the_tables_no_longer_say_are_named(extracted: Path, tmp_path: Path) -> None:
    (extracted / "DATA" / "place_03" / "mask").write_bytes(b"shorter")
    (extracted / "DATA" / "new").write_bytes(b"1")
    (extracted / "DATA" / "place_00" / "mask").unlink()
    new = tmp_path / "new.tacozip"

    moved, other = create_taco(Progress(), str(new), [str(extracted)], like=str(OLD)).warnings

    assert "no longer fit" in moved
    assert "such as DATA/place_01/image" in moved
    assert other.startswith("2 members are in one of the two archives only")
    names = [name for name, _ in places(new)]
    assert names[-4:] == [b"DATA/new", b"METADATA/level0.parquet", b"METADATA/level1.parquet", b"COLLECTION.json"]
    by_name = {name: (span.start, span.size) for name, (span,) in places(new)}
    assert tacozip.read_header(str(new)) == [by_name[name] for name in names[-3:]]


def aligned(path: Path, entries: dict[str, bytes]) -> None:
    """An archive whose data begin at multiples of 64, as extra fields see to."""

    def extra(name: bytes, head: int) -> bytes:
        room = -(head + 30 + len(name)) % 64
        room += 64 * (0 < room < 6)
        return struct.pack("<3H", 0xD935, room - 4, 64) + bytes(room - 6) if room else b""

    placed = slots(((name.encode(), len(data), None) for name, data in entries.items()), extra)
    head, crc = header(placed[0], [(placed[1].data, placed[1].size), (157, 9)])
    with path.open("wb") as out:
        out.write(head)
        crcs = [crc]
        for slot, data in zip(placed[1:], entries.values(), strict=True):
            crcs.append(zlib.crc32(data))
            out.write(slot.local(crcs[-1]) + data)
        out.write(b"".join(end_of_archive(placed, crcs)))


def test_data_stay_aligned_when_sizes_change(tmp_path: Path) -> None:
    entries = {"z": b"1" * 10, "a": b"2" * 70, "m/n": b"3" * 5}
    aligned(tmp_path / "old.taco", entries)
    assert all(spans[0].start % 64 == 0 for _, spans in places(tmp_path / "old.taco")[1:])
    for sizes in ({}, {"z": b"1" * 33}, {"z": b"", "a": b"5" * 1000}):
        tree = plant(tmp_path / "tree", {**entries, **sizes})
        new = tmp_path / "new.taco"
        create_taco(Progress(), str(new), [str(tree)], like=str(tmp_path / "old.taco"), overwrite=True)
        now = places(new)
        assert [name for name, _ in now] == [b"TACO_HEADER", b"z", b"a", b"m/n"]
        assert all(spans[0].start % 64 == 0 for _, spans in now[1:])
        assert (now == places(tmp_path / "old.taco")) == (not sizes)
        first = now[1][1][0]
        assert tacozip.read_header(str(new)) == [(first.start, first.size), (157, 9)]
        shutil.rmtree(tree)


def test_only_a_sound_taco_is_a_pattern(extracted: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.tacozip"
    damaged.write_bytes(OLD.read_bytes()[:-30])
    for like, why in ((tmp_path / "none.zip", "does not exist"), (damaged, "is damaged")):
        with pytest.raises(Exception, match=why):
            create_taco(Progress(), str(tmp_path / "new.taco"), [str(extracted)], like=str(like))
    assert not (tmp_path / "new.taco").exists()
