"""TACO archives made of files: what goes in comes out, for us, for zipfile and for tacozip."""

from __future__ import annotations

import os
import tempfile
import zipfile
from pathlib import Path

import pytest
import tacozip
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.operations.create.creating import NewArchive, create_taco
from inspector.operations.create.inputs import MAX_PIECE_BYTES
from inspector.operations.jobs.operation_error import OperationError
from tests.operations.create.creations import TREES, Stopping, held, opened, plant, visible_names

NUMBERS = st.integers(0, 2**64 - 1)


@given(TREES, st.lists(st.tuples(NUMBERS, NUMBERS), max_size=7))
def test_what_goes_in_comes_out(files: dict[str, bytes], entries: list[tuple[int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = plant(Path(folder, "tree"), files)
        target = Path(folder, "new.taco")

        made = create_taco(Progress(), str(target), [str(root)], entries=entries)

        assert made.archives == (NewArchive(str(target), len(files), target.stat().st_size),)
        members = held(target)
        header = members.pop("TACO_HEADER")
        assert (header[0], members) == (len(entries), files)
        assert tacozip.read_header(str(target)) == entries
        with zipfile.ZipFile(target) as archive:
            assert archive.testzip() is None
            assert {name: archive.read(name) for name in archive.namelist()[1:]} == files
            assert {each.compress_type for each in archive.infolist()} == {zipfile.ZIP_STORED}
        assert archive.namelist()[0].encode() == b"TACO_HEADER"
        assert visible_names(Path(folder)) == ["new.taco", "tree"]


def test_an_entry_is_taken_from_a_member_by_name(tmp_path: Path) -> None:
    tree = plant(tmp_path / "tree", {"METADATA/level0.parquet": b"PAR1", "é": b"12345", "z": b""})

    create_taco(
        Progress(), str(tmp_path / "new.taco"), [str(tree)], entries=["é", (7, 8), "METADATA/level0.parquet", "z"]
    )

    data = (tmp_path / "new.taco").read_bytes()
    entries = tacozip.read_header(str(tmp_path / "new.taco"))
    assert entries[1] == (7, 8)
    assert [data[at : at + length] for at, length in (entries[0], entries[2], entries[3])] == [b"12345", b"PAR1", b""]
    with pytest.raises(OperationError, match="No member is named 'q'"):
        create_taco(Progress(), str(tmp_path / "other.taco"), [str(tree)], entries=["q"])


def test_it_is_what_tacozip_makes_but_for_the_version_and_the_headers_time(tmp_path: Path) -> None:
    files = {"a.txt": b"hello", "x/é.bin": b"0123" * 100, "empty": b""}
    tree = plant(tmp_path / "tree", files)
    for at, name in enumerate(files):
        os.utime(tree / name, (10**9 + at * 100, 10**9 + at * 100))
    theirs, ours = tmp_path / "theirs.taco", tmp_path / "ours.taco"
    paths = [str(tree / name) for name in sorted(files)]
    tacozip.create(str(theirs), paths, sorted(files), entries=[(1, 2), (3, 4)])

    create_taco(Progress(), str(ours), [str(tree)], entries=[(1, 2), (3, 4)])

    wanted, made = bytearray(theirs.read_bytes()), ours.read_bytes()
    for signature, needed in ((b"PK\3\4", 4), (b"PK\1\2", 6)):
        at = -1
        while (at := wanted.find(signature, at + 1)) >= 0:
            assert wanted[at + needed] == 10
            wanted[at + needed] = 20
    central = wanted.index(b"PK\1\2")
    wanted[10:14] = made[10:14]
    wanted[central + 12 : central + 16] = made[central + 12 : central + 16]
    assert made == bytes(wanted)


def test_too_much_for_an_archive_without_zip64_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    tree = plant(tmp_path / "tree", {"a": b"", "b": b""})
    os.truncate(tree / "a", 1 << 31)
    os.truncate(tree / "b", 1 << 31)

    with pytest.raises(OperationError, match=r"at most 4,294,967,295 bytes \(4 GiB\)\. Nothing was written\."):
        create_taco(Progress(), str(tmp_path / "new.taco"), [str(tree)])

    assert visible_names(tmp_path) == ["tree"]


def test_a_member_called_as_the_header_is_refused(tmp_path: Path) -> None:
    tree = plant(tmp_path / "tree", {"TACO_HEADER": b"1"})

    with pytest.raises(OperationError, match="name of the header"):
        create_taco(Progress(), str(tmp_path / "new.taco"), [str(tree)])


def test_too_many_entries_are_refused(tmp_path: Path) -> None:
    tree = plant(tmp_path / "tree", {"a": b"1"})

    with pytest.raises(OperationError, match="room for 7"):
        create_taco(Progress(), str(tmp_path / "new.taco"), [str(tree)], entries=["a"] * 8)


def test_what_is_there_already_stays_without_a_word(tmp_path: Path) -> None:
    plant(tmp_path, {"new.taco": b"old", "a": b"1"})

    with pytest.raises(OperationError, match="there already"):
        create_taco(Progress(), str(tmp_path / "new.taco"), [str(tmp_path)])
    assert (tmp_path / "new.taco").read_bytes() == b"old"
    create_taco(Progress(), str(tmp_path / "new.taco"), [str(tmp_path)], overwrite=True)

    assert list(held(tmp_path / "new.taco")) == ["TACO_HEADER", "a"]
    assert opened(tmp_path / "new.taco").format == "taco"


def test_an_input_that_changes_and_a_cancel_leave_nothing(tmp_path: Path) -> None:
    tree = plant(tmp_path / "tree", {"a": bytes(3 * MAX_PIECE_BYTES)})

    class Changing(Progress):
        def advance(self, count: int) -> None:
            super().advance(count)
            if self.unit == "bytes" and count:
                os.truncate(tree / "a", MAX_PIECE_BYTES)

    with pytest.raises(SourceError, match="shorter"):
        create_taco(Changing(), str(tmp_path / "new.taco"), [str(tree)])

    with pytest.raises(Cancelled):
        create_taco(Stopping(1), str(tmp_path / "new.taco"), [str(tree)])
    assert visible_names(tmp_path) == ["tree"]
