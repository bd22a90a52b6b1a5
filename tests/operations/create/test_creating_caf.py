"""Chunk Archives made of files: what goes in comes out, limits are kept, and nothing half made is left."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given

from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.operations.create import creating
from inspector.operations.create.creating import NewArchive, create_caf, volume_path
from inspector.operations.create.inputs import MAX_PIECE_BYTES
from inspector.operations.jobs.operation_error import OperationError
from tests.operations.create.creations import TREES, Stopping, held, plant, visible_names

OVERHEAD = len('{"format_version":"1.0","files":{"a":{"start_byte":0,"end_byte":100}}}') + 4
"""What an archive of one member "a" of 100 bytes has beside those."""


@given(TREES)
def test_what_goes_in_comes_out(files: dict[str, bytes]) -> None:
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


# ---- what is there already -----------------------------------------------------------------------------------------


def test_what_is_there_already_stays(tmp_path: Path) -> None:
    tree = tree_of_three(tmp_path)
    for name, limit in (("new.caf", 10_000), ("new-0001.caf", OVERHEAD + 100)):
        (tmp_path / name).write_bytes(b"old")
        with pytest.raises(OperationError, match=f"{name} is there already"):
            create_caf(Progress(), str(tmp_path / "new.caf"), [tree], max_size=limit)
        assert visible_names(tmp_path) == [name, "tree"]
        (tmp_path / name).unlink()


def test_it_is_overwritten_on_a_word_and_never_put_into_itself(tmp_path: Path) -> None:
    plant(tmp_path, {"new.caf": b"old", "new-0001.caf": b"older", "a": b"1"})

    made = create_caf(Progress(), str(tmp_path / "new.caf"), [str(tmp_path)], overwrite=True)

    assert held(tmp_path / "new.caf") == {"a": b"1"}
    assert made.warnings == (
        "'new-0001.caf', 'new.caf' lie in folders of inputs and were left out.",
        "These files have names of this series but do not belong to it, and were left alone: new-0001.caf.",
    )


@pytest.mark.parametrize(("target", "words"), [("tree", "is a folder"), ("none/new.caf", "folder does not exist")])
def test_targets_that_cannot_be_are_refused(tmp_path: Path, target: str, words: str) -> None:
    with pytest.raises(OperationError, match=words):
        create_caf(Progress(), str(tmp_path / target), [tree_of_three(tmp_path)], overwrite=True)


# ---- failure -------------------------------------------------------------------------------------------------------


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
    os.truncate(tmp_path / "large", 20 << 30)
    with pytest.raises(Cancelled):
        create_caf(Stopping(1), str(tmp_path / "new.caf"), [str(tmp_path / "large")])

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


@pytest.mark.parametrize("size", [0, 3 * MAX_PIECE_BYTES, 5 * MAX_PIECE_BYTES])
def test_an_input_that_changes_meanwhile_is_a_sentence(tmp_path: Path, size: int) -> None:
    plant(tmp_path / "tree", {"a": b"1", "b": bytes(4 * MAX_PIECE_BYTES)})

    with pytest.raises(SourceError, match=r"tree/b (has become|ends)"):
        create_caf(Changing(tmp_path / "tree" / "b", size), str(tmp_path / "new.caf"), [str(tmp_path / "tree")])

    assert visible_names(tmp_path) == ["tree"]


def test_an_input_that_cannot_be_read_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tree_of_three(tmp_path)

    def gone(*arguments: object) -> object:
        (tmp_path / "tree" / "c").unlink(missing_ok=True)
        return plan(*arguments)  # type: ignore[arg-type]

    plan = creating.plan
    monkeypatch.setattr(creating, "plan", gone)
    with pytest.raises(SourceError, match="c cannot be read: no such file"):
        create_caf(Progress(), str(tmp_path / "new.caf"), [tree])

    assert visible_names(tmp_path) == ["tree"]
