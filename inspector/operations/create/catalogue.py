"""A catalogue of members in an SQLite file: which archive each is in, and where (CAF.md, "Database Integration").

The table is the specification's ``file_locations`` plus offset and length, so that one range request reads a member.
Archives below the catalogue's folder are recorded with relative paths, so that both can be moved together.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from inspector.core.names import visible
from inspector.core.source import SourceError
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.create_views import Place
from inspector.sources.s3.address import is_s3

_TABLE = """
CREATE TABLE IF NOT EXISTS file_locations (
    file_path VARCHAR(512) PRIMARY KEY,
    caf_file_id VARCHAR(50) NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL
)"""
_ROW = "file_path, caf_file_id, offset, length"
_COLUMNS = set(_ROW.split(", "))
_LOCK_TIMEOUT_S = 10.0
"""Seconds to wait while another program writes to the catalogue."""


def check_usable(catalogue: Path) -> None:
    """Raise OperationError, before the work, for a catalogue that could not be updated after it."""
    if not catalogue.parent.is_dir():
        raise OperationError(f"The catalogue {visible(str(catalogue))} cannot be written: its folder does not exist.")
    if not os.path.lexists(catalogue):
        return
    with _opened(catalogue, "rw") as connection:
        connection.execute("BEGIN IMMEDIATE")  # also rolls back what a killed run had begun
        if connection.execute("SELECT count(*) FROM main.sqlite_master").fetchone() != (0,):
            _check_table(connection, catalogue)
        connection.rollback()


def record(catalogue: Path, archives: Sequence[str], places: Iterable[Place]) -> None:
    """Record archives that were created, in one transaction.

    ``places`` are those of all their members. Earlier records of these archives are removed. Raises
    OperationError if the catalogue cannot be updated; it stays as it was.
    """
    new = not os.path.lexists(catalogue)
    try:
        with _opened(catalogue, "rwc") as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_TABLE)
            _check_table(connection, catalogue)
            forgotten = [(_identifier(catalogue, each),) for each in archives]
            connection.executemany("DELETE FROM main.file_locations WHERE caf_file_id = ?", forgotten)
            rows = [(each.path, _identifier(catalogue, each.archive), each.offset, each.length) for each in places]
            insert = f"INSERT OR REPLACE INTO main.file_locations ({_ROW}) VALUES (?, ?, ?, ?)"  # noqa: S608 - own names
            connection.executemany(insert, rows)
            connection.commit()
    except BaseException:
        if new:
            with suppress(OSError):  # why there is no catalogue says more than why its file stays
                catalogue.unlink(missing_ok=True)
        raise


def find(catalogue: Path, name: str) -> Iterator[Place]:
    """The member with that name or, if it ends with ``*``, all whose names begin so, in the order of names.

    Raises SourceError if there is no such file, and OperationError if it is not a catalogue.
    """
    if not catalogue.is_file():
        raise SourceError(f"{visible(str(catalogue))} is not a file, so it cannot be a catalogue.")
    # Not read-only: after a killed run, SQLite must recover the file before it can read.
    with _opened(catalogue, "rw") as connection:
        connection.execute("PRAGMA query_only = ON")
        _check_table(connection, catalogue)
        prefix = name[:-1] if name.endswith("*") else None
        condition, asked = ("=", name) if prefix is None else (">=", prefix)
        query = f"SELECT {_ROW} FROM main.file_locations WHERE file_path {condition} ? ORDER BY file_path"  # noqa: S608
        for row in connection.execute(query, (asked,)):
            if prefix and isinstance(row[0], str) and not row[0].startswith(prefix):
                return
            yield _place(catalogue, row)


def _identifier(catalogue: Path, archive: str) -> str:
    """An archive's identifier in the catalogue: its path relative to the catalogue's folder, or absolute outside it."""
    if is_s3(archive):
        return archive
    path = Path(archive).resolve()
    folder = catalogue.parent.resolve()
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()


def _place(catalogue: Path, row: tuple[Any, ...]) -> Place:
    if list(map(type, row)) != [str, str, int, int]:
        raise OperationError(
            f"The catalogue {visible(str(catalogue))} is damaged: {row!r:.200} is not the location of a member."
        )
    path, identifier, offset, length = row
    archive = identifier if is_s3(identifier) else str(catalogue.parent / identifier)
    return Place(path, archive, offset, length)


def _check_table(connection: sqlite3.Connection, catalogue: Path) -> None:
    kind = connection.execute("SELECT type FROM main.sqlite_master WHERE name = 'file_locations'").fetchone()
    columns = {row[1] for row in connection.execute("PRAGMA main.table_info(file_locations)")}
    if kind != ("table",) or not columns >= _COLUMNS:
        raise OperationError(
            f"{visible(str(catalogue))} is a database but not a catalogue: it has no table file_locations with the "
            f"columns {', '.join(sorted(_COLUMNS))}."
        )


@contextmanager
def _opened(catalogue: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """A connection in autocommit mode; SQLite errors become OperationError."""
    name = visible(str(catalogue))
    try:
        with closing(
            sqlite3.connect(f"{catalogue.absolute().as_uri()}?mode={mode}", _LOCK_TIMEOUT_S, uri=True)
        ) as connection:
            connection.isolation_level = None
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA synchronous = FULL")
            yield connection
    except sqlite3.Error as error:
        raise OperationError(f"The catalogue {name} cannot be used: {error}.") from error
