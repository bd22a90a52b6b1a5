"""Archives made of files: what goes in comes out, limits are kept, and nothing half made is left."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import tacozip
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.operations.create import creating
from inspector.operations.create.creating import Created, NewArchive, create_caf, create_taco, volume_path
from inspector.operations.create.inputs import MAX_PIECE_BYTES, check_names
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.listing import load
from tests.conftest import ROOT
from tests.operations.create.creations import TREES, Stopping, held, plant, visible_names
from tests.operations.extract.extracting import extract

Create = Callable[..., Created]
OVERHEAD = len('{"format_version":"1.0","files":{"a":{"start_byte":0,"end_byte":100}}}') + 4
"""What an archive of one member "a" of 100 bytes has beside those."""


@given(TREES)
def test_what_goes_into_a_caf_comes_out(files: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = plant(Path(folder, "tree"), files)
        target = Path(folder, "new.caf")

        made = create_caf(Progress(), str(target), [str(root)])

        assert held(target) == files
        assert list(held(target)) == [str(path.relative_to(root)) for path in sorted(root.rglob("*")) if path.is_file()]
        assert made.archives == (NewArchive(str(target), len(files), target.stat().st_size),)
        assert visible_names(Path(folder)) == ["new.caf", "tree"]


@given(TREES)
def test_a_series_holds_the_same(files: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = plant(Path(folder, "tree"), files)
        limit = max((len(data) for data in files.values()), default=0) + 2000

        made = create_caf(Progress(), str(Path(folder, "new.caf")), [str(root)], max_size=limit)

        together = {name: data for each in made.archives for name, data in held(Path(each.path)).items()}
        assert together == files
        assert all(each.size == Path(each.path).stat().st_size <= limit for each in made.archives)


def test_deep_and_many_files_go_in(tmp_path: Path) -> None:
    deep = "/".join("d" * 20 for _ in range(120)) + "/end"
    files = {f"many/{number:05}": b"%d" % number for number in range(3000)} | {deep: b"1"}
    root = plant(tmp_path / "tree", files)

    create_caf(Progress(), str(tmp_path / "new.caf"), [str(root)])

    assert held(tmp_path / "new.caf") == files


def test_the_index_is_the_published_writers_and_the_data_are_in_the_order_of_the_inputs(tmp_path: Path) -> None:
    plant(tmp_path, {"b": b"12345", "a<&>": b"67"})

    create_caf(Progress(), str(tmp_path / "new.caf"), [str(tmp_path / "b"), str(tmp_path / "a<&>")])

    index = (
        b'{"format_version":"1.0","files":{"a\\u003c\\u0026\\u003e":{"start_byte":5,"end_byte":7},'
        b'"b":{"start_byte":0,"end_byte":5}}}'
    )
    assert (tmp_path / "new.caf").read_bytes() == b"1234567" + index + len(index).to_bytes(4, "little")
    assert json.loads(index)["files"]["b"] == {"start_byte": 0, "end_byte": 5}


# ---- the limit -----------------------------------------------------------------------------------------------------


def tree_of_three(folder: Path) -> str:
    return str(plant(folder / "tree", {name: name.encode() * 100 for name in "abc"}))


@pytest.mark.parametrize(
    ("limit", "names"),
    [
        (OVERHEAD + 100, ["new-0001.caf", "new-0002.caf", "new.caf"]),
        (10_000, ["new.caf"]),
    ],
)
def test_the_next_archive_begins_where_the_limit_would_be_exceeded(
    tmp_path: Path, limit: int, names: list[str]
) -> None:
    made = create_caf(Progress(), str(tmp_path / "new.caf"), [tree_of_three(tmp_path)], max_size=limit)

    assert visible_names(tmp_path) == [*names, "tree"]
    assert [Path(each.path).name for each in made.archives] == sorted(names, key=lambda name: (len(name), name))


def test_an_archive_may_be_exactly_as_large_as_the_limit(tmp_path: Path) -> None:
    tree = tree_of_three(tmp_path)
    size = create_caf(Progress(), str(tmp_path / "all.caf"), [tree]).archives[0].size

    exactly = create_caf(Progress(), str(tmp_path / "fits.caf"), [tree], max_size=size)
    less = create_caf(Progress(), str(tmp_path / "less.caf"), [tree], max_size=size - 1)

    assert [each.members for each in exactly.archives] == [3]
    assert [each.members for each in less.archives] == [2, 1]
    assert less.sentence.startswith("Created 2 archives, ")


def test_a_member_that_no_archive_could_hold_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    tree = tree_of_three(tmp_path)
    with pytest.raises(OperationError, match=r"tree/a needs an archive of 174 bytes \(its 100 bytes and the index\)"):
        create_caf(Progress(), str(tmp_path / "new.caf"), [tree], max_size=OVERHEAD + 99)

    assert visible_names(tmp_path) == ["tree"]


@pytest.mark.parametrize("limit", [0, -1, (32 << 30) + 1])
def test_limits_that_are_none_are_refused(tmp_path: Path, limit: int) -> None:
    with pytest.raises(OperationError, match="at most"):
        create_caf(Progress(), str(tmp_path / "new.caf"), [tree_of_three(tmp_path)], max_size=limit)


@pytest.mark.parametrize(
    ("target", "number", "name"),
    [
        ("x.caf", 0, "x.caf"),
        ("x.caf", 1, "x-0001.caf"),
        ("x.CAF", 2, "x-0002.CAF"),
        ("x", 1, "x-0001.caf"),
        ("x.y", 12345, "x.y-12345.caf"),
    ],
)
def test_the_archives_of_a_series_are_numbered(target: str, number: int, name: str) -> None:
    assert volume_path(Path(target), number).name == name


# ---- both kinds ----------------------------------------------------------------------------------------------------

BOTH = pytest.mark.parametrize("create", [create_caf, create_taco], ids=["caf", "taco"])


@BOTH
def test_what_is_there_already_stays(tmp_path: Path, create: Create) -> None:
    tree = tree_of_three(tmp_path)
    (tmp_path / "new").write_bytes(b"old")
    with pytest.raises(OperationError, match="new is there already"):
        create(Progress(), str(tmp_path / "new"), [tree])
    assert (tmp_path / "new").read_bytes() == b"old"


@BOTH
@pytest.mark.parametrize(("target", "words"), [("tree", "is a folder"), ("none/new", "folder does not exist")])
def test_targets_that_cannot_be_are_refused(tmp_path: Path, target: str, words: str, create: Create) -> None:
    with pytest.raises(OperationError, match=words):
        create(Progress(), str(tmp_path / target), [tree_of_three(tmp_path)], overwrite=True)


def test_an_archive_of_a_series_that_is_there_already_stays(tmp_path: Path) -> None:
    (tmp_path / "new-0001.caf").write_bytes(b"old")
    with pytest.raises(OperationError, match=r"new-0001\.caf is there already"):
        create_caf(Progress(), str(tmp_path / "new.caf"), [tree_of_three(tmp_path)], max_size=OVERHEAD + 100)
    assert visible_names(tmp_path) == ["new-0001.caf", "tree"]


def test_it_is_overwritten_on_a_word_and_never_put_into_itself(tmp_path: Path) -> None:
    plant(tmp_path, {"new.caf": b"old", "new-0001.caf": b"older", "a": b"1"})

    made = create_caf(Progress(), str(tmp_path / "new.caf"), [str(tmp_path)], overwrite=True)

    assert held(tmp_path / "new.caf") == {"a": b"1"}
    assert made.warnings == (
        "'new-0001.caf', 'new.caf' lie in folders of inputs and were left out.",
        "These files have names of this series but do not belong to it, and were left alone: new-0001.caf.",
    )
    create_taco(Progress(), str(tmp_path / "new.caf"), [str(tmp_path)], overwrite=True)
    assert list(held(tmp_path / "new.caf")) == ["TACO_HEADER", "a", "new-0001.caf"]


@pytest.mark.parametrize("after", [0, 1, 150, 300])
def test_cancelling_leaves_nothing(tmp_path: Path, after: int) -> None:
    with pytest.raises(Cancelled):
        create_caf(Stopping(after), str(tmp_path / "new.caf"), [tree_of_three(tmp_path)], max_size=OVERHEAD + 100)

    assert visible_names(tmp_path) == ["tree"]


def test_cancelling_waits_for_no_large_file(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"")
    os.truncate(tmp_path / "large", 1 << 40)

    with pytest.raises(OperationError, match="limit"):
        create_caf(Progress(), str(tmp_path / "new.caf"), [str(tmp_path / "large")])
    for create, size in ((create_caf, 20 << 30), (create_taco, 2 << 30)):
        os.truncate(tmp_path / "large", size)
        with pytest.raises(Cancelled):
            create(Stopping(1), str(tmp_path / "new"), [str(tmp_path / "large")])

    assert visible_names(tmp_path) == ["large"]


class Changing(Progress):
    """A progress that lets a file become another when a byte has been written."""

    def __init__(self, path: Path, size: int) -> None:
        super().__init__()
        self.path = path
        self.size = size

    def advance(self, count: int) -> None:
        """Change the file."""
        super().advance(count)
        if self.unit == "bytes" and self.done:
            os.truncate(self.path, self.size)


@BOTH
@pytest.mark.parametrize("size", [0, 3 * MAX_PIECE_BYTES, 5 * MAX_PIECE_BYTES])
def test_an_input_that_changes_meanwhile_is_a_sentence(tmp_path: Path, size: int, create: Create) -> None:
    plant(tmp_path / "tree", {"a": b"1", "b": bytes(4 * MAX_PIECE_BYTES)})

    with pytest.raises(SourceError, match=r"tree/b (has become|ends)"):
        create(Changing(tmp_path / "tree" / "b", size), str(tmp_path / "new"), [str(tmp_path / "tree")])

    assert visible_names(tmp_path) == ["tree"]


@BOTH
def test_an_input_that_cannot_be_read_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, create: Create
) -> None:
    tree = tree_of_three(tmp_path)

    def gone(*arguments: object) -> object:
        (tmp_path / "tree" / "c").unlink(missing_ok=True)
        return check_names(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(creating, "check_names", gone)
    with pytest.raises(SourceError, match="c cannot be read: no such file"):
        create(Progress(), str(tmp_path / "new"), [tree])

    assert visible_names(tmp_path) == ["tree"]


# ---- TACO ----------------------------------------------------------------------------------------------------------

NUMBERS = st.integers(0, 2**64 - 1)


@given(TREES, st.lists(st.tuples(NUMBERS, NUMBERS), max_size=7))
def test_what_goes_into_a_taco_comes_out(files: dict[str, bytes], entries: list[tuple[int, int]]) -> None:
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


OLD = ROOT / "tests" / "samples" / "tacotoolbox.tacozip"


def places(path: Path) -> list[tuple[bytes, tuple[tuple[int, int], ...]]]:
    (archive,) = load(str(path), Progress())
    assert [each.code for each in archive.findings if each.code != "taco-entry-elsewhere"] == []
    return [(member.path, member.spans) for member in archive.members]


def test_a_dataset_that_was_extracted_is_the_same_archive_again(tmp_path: Path) -> None:
    extract(OLD, tmp_path / "dataset")
    new = tmp_path / "new.tacozip"
    made = create_taco(Progress(), str(new), [str(tmp_path / "dataset")])

    assert places(new) == places(OLD)
    assert tacozip.read_header(str(new)) == tacozip.read_header(str(OLD))
    differing = [at for at, (a, b) in enumerate(zip(new.read_bytes(), OLD.read_bytes(), strict=True)) if a != b]
    assert len(differing) == 2 * len(places(OLD))  # "version needed" of each local and each central header
    (said,) = made.warnings
    assert said.endswith("Whether the offsets inside METADATA/level0.parquet fit is not read.")
