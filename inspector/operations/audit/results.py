"""The results of audits in SQLite files: stored, resumed, split into shards, and read page by page."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from inspector.core.names import visible
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.audit_views import NO_ARCHIVE, STATES, WAITING, Amount, Query, Result
from inspector.operations.protocol.check_views import CheckTarget
from inspector.operations.protocol.views import Page
from inspector.sources.s3.connection import DEFAULT, Connection

_APPLICATION = 0x41494155
"""SQLite's application id of results files: ``AIAU``."""
_VERSION = 1
_LOCK_SECONDS = 60.0
"""Seconds to wait for another audit that writes to the same file."""
_ROWS_PER_QUERY = 1000
"""Rows fetched at a time."""

MAX_LISTED_WAITING = 20_000
"""Requested archives up to which those without a result are listed too: every page sorts them all."""

ENDINGS = ("", "-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite writes for a results file."""

COLUMNS = Result.__struct_fields__
"""The columns of the table ``results``. A location is text, or a BLOB of its bytes if it is not UTF-8."""

_NAMES = ", ".join(COLUMNS)
_CREATE_RESULTS = (
    f"CREATE TABLE IF NOT EXISTS results ({_NAMES.replace('location', 'location PRIMARY KEY NOT NULL', 1)})"
)
_CREATE_REQUESTED = """
CREATE TEMP TABLE wanted (
    number INTEGER PRIMARY KEY, location UNIQUE NOT NULL, name, size INTEGER, stamp, listed INTEGER, overlaps,
    names_only INTEGER, why, done INTEGER NOT NULL DEFAULT 0
)"""
_STORE = (
    f"INSERT OR REPLACE INTO main.results ({_NAMES}) VALUES ({', '.join('?' * (len(COLUMNS) - 1))}, "  # noqa: S608 - own names
    "1 + coalesce((SELECT attempts FROM main.results WHERE location = ?), 0))"
)
_MARK_DONE = """
UPDATE wanted SET done = 1 WHERE EXISTS (
    SELECT 1 FROM main.results AS known
    WHERE known.location = wanted.location AND known.size = wanted.size AND known.stamp = wanted.stamp
    AND known.quick <= ? AND NOT known.again
)"""
_EMPTY_RESULT = {"state": f"'{WAITING}'", "format": "NULL", "code": "''", "sentence": "''", "findings": "'[]'"}
_WAITING_VALUES = ", ".join(
    name if name in ("location", "size", "stamp") else _EMPTY_RESULT.get(name, "0") for name in COLUMNS
)
_WITH_WAITING = f"SELECT {_NAMES} FROM chosen UNION ALL SELECT {_WAITING_VALUES} FROM wanted WHERE NOT done"  # noqa: S608 - own names
_MERGE_SHARD = f"""
INSERT OR REPLACE INTO main.results ({_NAMES})
SELECT {", ".join(f"theirs.{name}" for name in COLUMNS)}
FROM shard.results AS theirs LEFT JOIN main.results AS ours USING (location)
WHERE ours.location IS NULL OR theirs.finished > ours.finished AND NOT (
    theirs.quick > ours.quick AND theirs.size = ours.size AND theirs.stamp = ours.stamp
)"""  # noqa: S608 - own names


class Results:
    """Results by location; a context manager. Without a path they are in an unnamed temporary file.

    Each result is its own transaction, so that other threads can read at the same time. The view ``chosen`` has all
    results, or after ``request`` those of the requested archives; the view ``listed`` also has archives without a
    result, unless they are too many. Every method raises OperationError on SQLite errors.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        with self._sqlite_errors():
            self.connection = _opened(path)
            self._choose("SELECT * FROM main.results")

    def request(self, found: Iterable[CheckTarget], *, quick: bool) -> None:
        """Restrict to these archives; those that are finished and unchanged are done."""
        with self._sqlite_errors():
            execute = self.connection.execute
            execute("DROP TABLE IF EXISTS wanted")
            execute(_CREATE_REQUESTED)
            execute("BEGIN")
            try:
                self.connection.executemany(
                    "INSERT OR IGNORE INTO wanted (location, name, size, stamp, listed, overlaps, names_only, why) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    map(_wanted_row, found),
                )
                execute(_MARK_DONE, (quick,))
            except BaseException:
                execute("ROLLBACK")
                raise
            execute("COMMIT")
            self._choose("SELECT * FROM main.results WHERE location IN (SELECT location FROM wanted WHERE done)")
            if next(self.rows("SELECT count(*) FROM wanted"))[0] <= MAX_LISTED_WAITING:
                self._view(_WITH_WAITING, "listed")

    def _choose(self, query: str) -> None:
        self._view(query, "chosen")
        self._view("SELECT * FROM chosen", "listed")

    def _view(self, query: str, name: str) -> None:
        self.connection.execute(f"DROP VIEW IF EXISTS {name}")
        self.connection.execute(f"CREATE TEMP VIEW {name} AS {query}")

    def amount(self, *, done: bool) -> Amount:
        """The amount of requested archives that are done, or are not."""
        query = "SELECT count(*), coalesce(sum(size), 0) FROM wanted WHERE done = ?"
        return Amount(*next(self.rows(query, (done,))))

    def pending(self, connection: Connection = DEFAULT) -> Iterator[CheckTarget]:
        """The requested archives that are not done, in order; results may be stored meanwhile."""
        last = -1
        query = (
            "SELECT number, location, name, size, stamp, listed, overlaps, names_only, why FROM wanted "
            "WHERE number > ? AND NOT done ORDER BY number LIMIT ?"
        )
        while rows := list(self.rows(query, (last, _ROWS_PER_QUERY))):
            last = rows[-1][0]
            for _, location, name, size, stamp, listed, overlaps, names_only, why in rows:
                yield CheckTarget(
                    restored(location),
                    bool(listed),
                    connection=connection,
                    why=why,
                    name=restored(name),
                    size=size,
                    stamp=stamp,
                    overlaps=overlaps,
                    names_only=bool(names_only),
                )

    def keep(self, result: Result) -> None:
        """Store a result, replacing an earlier one of the same location."""
        key, *values, _ = (getattr(result, name) for name in COLUMNS)
        key = stored(key)
        with self._sqlite_errors():
            self.connection.execute(_STORE, (key, *values, key))
            if self.has_request:
                self.connection.execute("UPDATE wanted SET done = 1 WHERE location = ?", (key,))

    @property
    def has_request(self) -> bool:
        """Whether ``request`` was called."""
        return any(self.rows("SELECT 1 FROM temp.sqlite_master WHERE name = 'wanted'"))

    def import_shard(self, path: Path) -> None:
        """Import newer results from another results file; raises OperationError if it is none."""
        with _sqlite_errors(path), closing(_connection(path, "ro")) as theirs:
            _require_results_file(theirs, path)
        with self._sqlite_errors():
            self.connection.execute("ATTACH ? AS shard", (str(path),))
            try:
                self.connection.execute(_MERGE_SHARD)
            finally:
                self.connection.execute("DETACH shard")

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, which may read ``chosen``."""
        with self._sqlite_errors():
            yield from self.connection.execute(query, values)

    def results(self, rest: str = "", values: tuple[Any, ...] = (), view: str = "chosen") -> Iterator[Result]:
        """Results in a view; ``rest`` is appended to the query, such as an ORDER BY."""
        return (result(row) for row in self.rows(f"SELECT {_NAMES} FROM {view} {rest}", values))  # noqa: S608 - own names

    def files(self) -> frozenset[str]:
        """The paths of all files that SQLite writes."""
        if self.path is None:
            return frozenset()
        path = os.path.abspath(self.path)  # noqa: PTH100 - a link stays what it is called
        return frozenset(path + ending for ending in ENDINGS)

    @contextmanager
    def _sqlite_errors(self) -> Iterator[None]:
        with _sqlite_errors(self.path):
            yield

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.connection.close()


def _wanted_row(target: CheckTarget) -> tuple[Any, ...]:
    names = (stored(target.location), stored(target.name))
    known = (target.size or 0, target.stamp, target.found, target.overlaps)
    return (*names, *known, target.names_only, visible(target.why))


def result(row: tuple[Any, ...]) -> Result:
    """The result in a row of COLUMNS."""
    values = dict(zip(COLUMNS, row, strict=True))
    values["location"] = restored(values["location"])
    values["quick"], values["again"] = bool(values["quick"]), bool(values["again"])
    return Result(**values)


def stored(text: str) -> str | bytes:
    """A path as an SQLite value: bytes if it is not Unicode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return os.fsencode(text)
    return text


def restored(value: str | bytes) -> str:
    """The path that ``stored`` was given."""
    return os.fsdecode(value) if isinstance(value, bytes) else value


def _opened(path: Path | None) -> sqlite3.Connection:
    if path is not None and not path.parent.is_dir():
        raise OperationError(f"The results cannot be written to {visible(str(path))}: its folder does not exist.")
    connection = _private() if path is None else _connection(path, "rwc")
    try:
        if path is not None and path.stat().st_size:  # an empty file is an empty database
            _require_results_file(connection, path)
        # A write-ahead log: storing a result does not wait for the disk, and a killed program leaves complete results.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_VERSION}")
        connection.execute(_CREATE_RESULTS)
    except BaseException:
        connection.close()
        raise
    return connection


def _private() -> sqlite3.Connection:
    return sqlite3.connect("", isolation_level=None, check_same_thread=False)


def _connection(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{Path(os.path.abspath(path)).as_uri()}?mode={mode}"  # noqa: PTH100 - a link stays what it is called
    made = sqlite3.connect(uri, timeout=_LOCK_SECONDS, isolation_level=None, uri=True, check_same_thread=False)
    made.execute("PRAGMA trusted_schema = OFF")
    return made


def _require_results_file(connection: sqlite3.Connection, path: Path) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != _APPLICATION:
        raise OperationError(f"{visible(str(path))} is not an audit results file, so it is left unchanged.")
    if version != _VERSION:
        raise OperationError(f"{visible(str(path))} was written by another version of this program with other columns.")
    # A view or a trigger of that name could run any query, without end: only the very table may be there.
    schema = connection.execute("SELECT sql FROM main.sqlite_master WHERE sql IS NOT NULL LIMIT 2").fetchall()
    if schema != [(_CREATE_RESULTS.replace(" IF NOT EXISTS", ""),)]:
        raise OperationError(
            f"{visible(str(path))} is not an audit results file: it has other tables, views or triggers than one. "
            "It is left unchanged."
        )


@contextmanager
def _sqlite_errors(path: Path | None) -> Iterator[None]:
    """Turn SQLite errors into sentences."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        what = "The results of the audit" if path is None else f"The results in {visible(str(path))}"
        raise OperationError(f"{what} cannot be read or written: {error}.") from error


_RANKS = " ".join(f"WHEN '{state}' THEN {rank}" for rank, state in enumerate(STATES))
RANK = f"CASE state {_RANKS} ELSE -1 END"
"""The rank of a state as an SQL expression: 0 for the best, -1 for files that are no archives."""


def page(results: Results, query: Query, first: int, count: int) -> Page[Result]:
    """Results ``[first, first + count)``; raises OperationError if they cannot be read."""
    where, values = _where(query)
    ((total,),) = results.rows(f"SELECT count(*) FROM listed {where}", values)  # noqa: S608 - own names
    assert query.sort in COLUMNS, query.sort
    direction = "DESC" if query.descending else "ASC"
    by = RANK if query.sort == "state" else query.sort
    order = f"{where} ORDER BY {by} {direction}, location LIMIT ? OFFSET ?"
    return Page(total, first, tuple(results.results(order, (*values, count, first), "listed")))


def _where(query: Query) -> tuple[str, tuple[str, ...]]:
    conditions, values = [], list[str]()
    if not query.states:
        conditions.append("state <> ?")
        values.append(NO_ARCHIVE)
    for column, wanted in (("state", query.states), ("format", query.formats)):
        if wanted:
            conditions.append(f"{column} IN ({', '.join('?' * len(wanted))})")
            values += wanted
    if query.text:
        columns = ("CAST(location AS TEXT)", "sentence", "findings")
        conditions.append(f"({' OR '.join(f'{column} LIKE ? ESCAPE ?' for column in columns)})")
        escaped = "".join(f"\\{character}" if character in "\\%_" else character for character in query.text)
        values += [f"%{escaped}%", "\\"] * len(columns)
    return (f"WHERE {' AND '.join(conditions)}" if conditions else ""), tuple(values)
