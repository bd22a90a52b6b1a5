"""The catalogue that creating keeps up, and finding members with it."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.create.catalogue import find, record
from inspector.operations.create.creating import Created, create_caf
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.create_views import Place
from tests.operations.create.creations import plant, visible_names


def made(
    folder: Path, name: str, files: dict[str, bytes], *, max_size: int = 10_000, overwrite: bool = False
) -> Created:
    """An archive of these files, recorded in cat.sqlite."""
    shutil.rmtree(folder / "tree", ignore_errors=True)
    tree = plant(folder / "tree", files)
    catalog = str(folder / "cat.sqlite")
    return create_caf(
        Progress(), str(folder / name), [str(tree)], max_size=max_size, catalog=catalog, overwrite=overwrite
    )


def found(folder: Path, name: str) -> list[tuple[str, str, int, int]]:
    """What the catalogue says."""
    return [
        (each.path, Path(each.archive).name, each.offset, each.length) for each in find(folder / "cat.sqlite", name)
    ]


def test_it_says_where_members_of_a_series_are(tmp_path: Path) -> None:
    result = made(tmp_path, "new.caf", {"a": b"1" * 100, "b/é": b"2" * 100, "c": b"3" * 100}, max_size=330)

    assert len(result.archives) == 2
    assert found(tmp_path, "*") == [
        ("a", "new.caf", 0, 100),
        ("b/é", "new.caf", 100, 100),
        ("c", "new-0001.caf", 0, 100),
    ]
    for each in find(tmp_path / "cat.sqlite", "*"):
        data = Path(each.archive).read_bytes()[each.offset : each.offset + each.length]
        assert data == (tmp_path / "tree" / each.path).read_bytes()


def test_the_table_is_the_specifications_with_the_place_added(tmp_path: Path) -> None:
    made(tmp_path, "new.caf", {"a": b"1"})

    with closing(sqlite3.connect(tmp_path / "cat.sqlite")) as connection:
        assert connection.execute("SELECT file_path, caf_file_id FROM file_locations").fetchall() == [("a", "new.caf")]
        columns = connection.execute("PRAGMA table_info(file_locations)").fetchall()
    assert [(name, kind, needed, key) for _, name, kind, needed, _, key in columns] == [
        ("file_path", "VARCHAR(512)", 0, 1),
        ("caf_file_id", "VARCHAR(50)", 1, 0),
        ("offset", "INTEGER", 1, 0),
        ("length", "INTEGER", 1, 0),
    ]


def test_later_runs_add_and_newer_places_win(tmp_path: Path) -> None:
    made(tmp_path, "one.caf", {"a": b"1", "b": b"2"})
    made(tmp_path, "two.caf", {"b": b"33", "c": b"4"})

    assert found(tmp_path, "*") == [("a", "one.caf", 0, 1), ("b", "two.caf", 0, 2), ("c", "two.caf", 2, 1)]


def test_an_archive_that_is_overwritten_is_forgotten(tmp_path: Path) -> None:
    made(tmp_path, "one.caf", {"a": b"1"})
    made(tmp_path, "two.caf", {"b": b"2"})
    made(tmp_path, "one.caf", {}, overwrite=True)

    assert found(tmp_path, "*") == [("b", "two.caf", 0, 1)]


def test_a_catalogue_moves_with_its_archives(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    made(tmp_path / "old", "one.caf", {"a": b"1"})
    record(tmp_path / "old" / "cat.sqlite", ["/elsewhere/x.caf"], [Place("x", "/elsewhere/x.caf", 0, 1)])
    (tmp_path / "old").rename(tmp_path / "new")

    places = list(find(tmp_path / "new" / "cat.sqlite", "*"))

    assert [each.archive for each in places] == [str(tmp_path / "new" / "one.caf"), "/elsewhere/x.caf"]


def test_names_are_found_exactly_and_by_their_beginning(tmp_path: Path) -> None:
    made(tmp_path, "one.caf", dict.fromkeys(("a", "a b", "A", "a%", "a_b", "ab*", "é/1", "é/2"), b"1"))

    assert [each[0] for each in found(tmp_path, "a")] == ["a"]
    assert [each[0] for each in found(tmp_path, "a*")] == ["a", "a b", "a%", "a_b", "ab*"]
    assert [each[0] for each in found(tmp_path, "é/*")] == ["é/1", "é/2"]
    assert [each[0] for each in found(tmp_path, "a_*")] == ["a_b"]
    assert [each[0] for each in found(tmp_path, "ab**")] == ["ab*"]
    assert found(tmp_path, "b") == found(tmp_path, "b*") == []


# ---- what is no catalogue ------------------------------------------------------------------------------------------


def database(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE other (a)"],
        ["CREATE TABLE file_locations (file_path PRIMARY KEY, caf_file_id)"],
        ["CREATE VIEW file_locations AS SELECT 1 AS file_path, 2 AS caf_file_id, 3 AS offset, 4 AS length"],
        [],
    ],
)
def test_a_database_of_another_kind_is_refused_and_left_alone(tmp_path: Path, statements: list[str]) -> None:
    path = database(tmp_path / "cat.sqlite", *statements)
    if not statements:
        path.write_bytes(b"no database at all, but some text" * 100)
    before = path.read_bytes()

    with pytest.raises(OperationError, match=r"cat\.sqlite"):
        made(tmp_path, "new.caf", {"a": b"1"})
    with pytest.raises(OperationError, match=r"cat\.sqlite"):
        found(tmp_path, "a")

    assert path.read_bytes() == before
    assert visible_names(tmp_path) == ["cat.sqlite", "tree"]


@pytest.mark.parametrize("row", ["x'61', 'x', 0, 1", "'a', x'00', 0, 1", "'a', 'x', 'y', 1", "'a', 'x', 0, 1.5"])
def test_rows_that_are_no_places_are_a_sentence(tmp_path: Path, row: str) -> None:
    table = "CREATE TABLE file_locations (file_path, caf_file_id, offset, length)"
    database(tmp_path / "cat.sqlite", table, f"INSERT INTO file_locations VALUES ({row})")

    with pytest.raises(OperationError, match="damaged"):
        list(find(tmp_path / "cat.sqlite", "a" if row.startswith("'a") else "*"))


def test_what_is_not_there_cannot_be_searched(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="not a file"):
        list(find(tmp_path / "cat.sqlite", "a"))

    assert visible_names(tmp_path) == []


def test_a_catalogue_that_cannot_be_made_is_said_before_anything_is_written(tmp_path: Path) -> None:
    tree = str(plant(tmp_path / "tree", {"a": b"1"}))

    with pytest.raises(OperationError, match="its folder does not exist"):
        create_caf(Progress(), str(tmp_path / "new.caf"), [tree], catalog=str(tmp_path / "none" / "cat.sqlite"))
    with pytest.raises(OperationError, match="cannot be both an archive and the catalogue"):
        create_caf(Progress(), str(tmp_path / "new.caf"), [tree], catalog=str(tmp_path / "new.caf"))

    assert visible_names(tmp_path) == ["tree"]


def test_a_catalogue_that_fails_in_the_end_stays_as_it_was_and_the_archives_are_named(tmp_path: Path) -> None:
    made(tmp_path, "one.caf", {"a": b"1"})
    forbidden = "CREATE TRIGGER no BEFORE INSERT ON file_locations BEGIN SELECT RAISE(ABORT, 'not today'); END"
    database(tmp_path / "cat.sqlite", forbidden)

    with pytest.raises(OperationError, match=r"archives were created, but the catalogue was not updated.*not today"):
        made(tmp_path, "two.caf", {"a": b"2", "b": b"3"})

    assert found(tmp_path, "*") == [("a", "one.caf", 0, 1)]
    assert (tmp_path / "two.caf").exists()
