"""Making archives as a window asks for it: what would be in them, and what stands against it."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.core.program.progress import Progress
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.create_views import ArchiveKind, Draft
from inspector.operations.session.archive_session import ArchiveSession
from inspector.operations.worker.create_session import CreateSession


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_bytes(b"alpha")
    (folder / "sub" / "b.bin").write_bytes(b"beta" * 100)
    return folder


def names(path: Path) -> set[str]:
    session = ArchiveSession(str(path))
    session.decode(Progress())
    return {row.name for row in session.member_rows(0, 100).rows}


@pytest.mark.parametrize("kind", [ArchiveKind.CAF, ArchiveKind.RCA, ArchiveKind.TACO])
def test_what_is_looked_at_is_what_is_made(kind: ArchiveKind, tree: Path, tmp_path: Path) -> None:
    draft = Draft(kind, str(tmp_path / f"new.{kind}"), (str(tree),))
    contents = CreateSession().look(Progress(), draft)
    assert contents.obstacle == ""
    assert (contents.count, contents.size) == (2, 405)
    made = CreateSession().create(Progress(), draft)
    assert {row.name for row in contents.rows} <= names(Path(made.path))


def test_a_dataset_is_packed_into_ranges(tree: Path, tmp_path: Path) -> None:
    root = tmp_path / "bucket"
    root.mkdir()
    unnumbered = Draft(ArchiveKind.DATAS3T, str(root), (str(tree),), dataset="d", per_range=1)
    assert "does not have a number as its name" in CreateSession().look(Progress(), unnumbered).obstacle
    draft = Draft(ArchiveKind.DATAS3T, str(root), (str(tree),), dataset="d", first_key=7, per_range=1)
    assert "in 2 ranges, keys 7 to 8" in CreateSession().look(Progress(), draft).sentence
    assert CreateSession().create(Progress(), draft).path == str(root)
    assert len(list(root.rglob("*.tar"))) == 2


def test_what_cannot_be_put_in_is_marked_in_its_row(tree: Path, tmp_path: Path) -> None:
    (tree / "link").symlink_to(tree / "a.txt")
    (tree / "A.TXT").write_bytes(b"")
    locations = (str(tree / "link"), str(tree / "a.txt"), str(tree / "a.txt"), str(tree / "A.TXT"), str(tree / "no"))
    contents = CreateSession().look(Progress(), Draft(ArchiveKind.CAF, str(tmp_path / "new.caf"), locations))
    troubles = {row.where.rpartition("/")[2]: row for row in contents.rows}
    assert "is a link" in troubles["link"].trouble == contents.obstacle
    assert "does not exist" in troubles["no"].trouble
    assert "more than once" in troubles["a.txt"].trouble
    assert troubles["A.TXT"].trouble == ""
    assert "equals another" in troubles["A.TXT"].doubt
    assert contents.count == 5


def test_nothing_is_made_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(OperationError, match="would be empty"):
        CreateSession().create(Progress(), Draft(ArchiveKind.CAF, str(tmp_path / "new.caf")))
    with pytest.raises(OperationError, match="where to write"):
        CreateSession().create(Progress(), Draft(ArchiveKind.CAF, "", ("x",)))
    assert not any(tmp_path.iterdir())


def test_an_rca_archive_grows_and_is_read_again(tree: Path, tmp_path: Path) -> None:
    target = tmp_path / "grows.rca"
    CreateSession().create(Progress(), Draft(ArchiveKind.RCA, str(target), (str(tree / "a.txt"),)))
    bench = ArchiveSession(str(target))
    bench.decode(Progress())
    grown = bench.append(Progress(), [str(tree / "sub" / "b.bin")], 0, "")
    assert "1 blob more" in grown.sentence
    assert {row.name for row in bench.member_rows(0, 9).rows} == {"a.txt", "b.bin"}


def test_names_that_a_growing_archive_has_are_marked(tree: Path, tmp_path: Path) -> None:
    target = tmp_path / "grows.rca"
    workshop = CreateSession()
    workshop.create(Progress(), Draft(ArchiveKind.RCA, str(target), (str(tree / "a.txt"),)))
    more = Draft(ArchiveKind.RCA, str(target), (str(tree / "a.txt"), str(tree / "sub" / "b.bin")), grows=True)
    contents = workshop.look(Progress(), more)
    assert [bool(row.trouble) for row in contents.rows] == [True, False]
    assert contents.obstacle
    bench = ArchiveSession(str(target))
    bench.decode(Progress())
    bench.append(Progress(), [str(tree / "sub" / "b.bin")], 0, "")
    assert all(row.trouble for row in workshop.look(Progress(), more).rows)
