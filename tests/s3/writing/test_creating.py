"""Objects on S3 as what is put into new archives."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.__main__ import main
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.operations.create.creating import create_caf
from inspector.operations.create.inputs import MAX_PIECE_BYTES, check_names, gather
from inspector.operations.jobs.operation_error import OperationError
from tests.operations.create.creations import Stopping, held, plant, visible_names
from tests.s3.conftest import BUCKET, Store

LARGE = bytes(range(256)) * (9 << 12)
"""More than one request of a stretch."""


@pytest.fixture
def prefix(store: Store) -> str:
    """A prefix with objects, one of them large."""
    for name, data in {"b": b"1", "a/z": b"22", "a-b": LARGE, "a/é/deep": b"", "a/": b""}.items():
        store.put(f"creating/{name}", data)
    return f"s3://{BUCKET}/creating"


def test_a_prefix_is_walked_as_a_folder_is(store: Store, prefix: str) -> None:
    inputs = gather([prefix], Progress(), connection=store.connection)

    assert [each.name.decode() for each in inputs] == ["a/z", "a/é/deep", "a-b", "b"]
    assert [each.size for each in inputs] == [2, 0, len(LARGE), 1]
    assert [b"".join(each.pieces()) for each in inputs] == [b"22", b"", LARGE, b"1"]
    assert all(len(piece) <= MAX_PIECE_BYTES for each in inputs for piece in each.pieces())
    assert all(each.modified for each in inputs)


def test_an_object_has_the_last_part_of_its_key_and_locations_may_be_mixed(
    store: Store, prefix: str, tmp_path: Path
) -> None:
    plant(tmp_path / "tree", {"here": b"1"})

    inputs = gather([f"{prefix}/a-b", str(tmp_path / "tree"), f"{prefix}/a/"], Progress(), connection=store.connection)

    assert [each.name.decode() for each in inputs] == ["a-b", "here", "z", "é/deep"]
    assert b"".join(inputs[0].pieces()) == LARGE


@pytest.mark.parametrize("kind", ["caf", "rca", "taco"])
def test_archives_are_made_of_objects(store: Store, prefix: str, tmp_path: Path, kind: str) -> None:
    assert main(["create", kind, str(tmp_path / "new"), prefix, *store.options]) == 0

    members = held(tmp_path / "new")
    members.pop("TACO_HEADER", None)
    assert members == {"a/z": b"22", "a/é/deep": b"", "a-b": LARGE, "b": b"1"}


def test_an_archive_grows_by_objects(store: Store, prefix: str, tmp_path: Path) -> None:
    assert main(["create", "rca", str(tmp_path / "new.rca"), f"{prefix}/b", *store.options]) == 0
    assert main(["append", str(tmp_path / "new.rca"), f"{prefix}/a", *store.options]) == 0

    assert held(tmp_path / "new.rca") == {"b": b"1", "z": b"22", "é/deep": b""}


def test_ranges_are_made_of_objects(store: Store, tmp_path: Path) -> None:
    for number in range(3):
        store.put(f"numbered/{number}.bin", b"%d" % number)
    location = f"s3://{BUCKET}/numbered"

    made = main(["create", "datas3t", str(tmp_path), "--dataset", "weather", location, *store.options])

    assert made == 0
    assert len(list(tmp_path.rglob("*.tar"))) == 1


def test_keys_that_are_no_names_are_refused(store: Store) -> None:
    store.put("odd/../x", b"1")

    with pytest.raises(OperationError, match="leads out of its folder"):
        check_names(gather([f"s3://{BUCKET}/odd"], Progress(), connection=store.connection))


def test_an_object_that_is_replaced_meanwhile_is_a_sentence_and_leaves_nothing(
    store: Store, prefix: str, tmp_path: Path
) -> None:
    class AtomicFile(Progress):
        def begin(self, label: str, total: int, unit: str = "bytes") -> None:
            super().begin(label, total, unit)
            if unit == "bytes":
                store.put("creating/b", b"2")

    with pytest.raises(SourceError, match=r"replaced|changed"):
        create_caf(AtomicFile(), str(tmp_path / "new.caf"), [prefix], connection=store.connection)
    assert visible_names(tmp_path) == []


def test_what_is_not_there_is_a_sentence(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["create", "caf", str(tmp_path / "new.caf"), f"s3://{BUCKET}/none", *store.options]) == 2
    assert "does not exist" in capsys.readouterr().err
    assert visible_names(tmp_path) == []


def test_it_can_be_cancelled(store: Store, prefix: str, tmp_path: Path) -> None:
    with pytest.raises(Cancelled):
        create_caf(Stopping(MAX_PIECE_BYTES), str(tmp_path / "new.caf"), [prefix], connection=store.connection)
    assert visible_names(tmp_path) == []
