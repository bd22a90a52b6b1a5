"""The results of audits in SQLite files: stored, resumed, split into shards, and read page by page."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from inspector.core.names import visible
from inspector.operations.audit.audit_places import Found
from inspector.operations.jobs.operation_error import Refused
from inspector.operations.protocol.audit_views import NO_ARCHIVE, STATES, Amount, Query, Result
from inspector.operations.protocol.views import Page

_APPLICATION = 0x41494155
"""What SQLite's header says such a file is: ``AIAU``."""
_VERSION = 1
_LOCK_SECONDS = 60.0
"""Seconds to wait for another audit that writes into the same file."""
_ROWS_PER_QUERY = 1000
"""Rows that are held at a time."""

ENDINGS = ("", "-wal", "-shm", "-journal")
"""What follows the name of a results file in those that SQLite writes."""

COLUMNS = tuple(field.name for field in fields(Result))
"""The columns of the table ``results``. A location that is no UTF-8 is a BLOB of its bytes, any other text."""

_NAMES = ", ".join(COLUMNS)
_CREATE_RESULTS = (
    f"CREATE TABLE IF NOT EXISTS results ({_NAMES.replace('location', 'location PRIMARY KEY NOT NULL', 1)})"
)
_CREATE_REQUESTED = """
CREATE TEMP TABLE wanted (
    number INTEGER PRIMARY KEY, location UNIQUE NOT NULL, name, size INTEGER, stamp, listed INTEGER,
    done INTEGER NOT NULL DEFAULT 0
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
_MERGE_SHARD = f"""
INSERT OR REPLACE INTO main.results ({_NAMES})
SELECT {", ".join(f"theirs.{name}" for name in COLUMNS)}
FROM shard.results AS theirs LEFT JOIN main.results AS ours USING (location)
WHERE ours.location IS NULL OR theirs.finished > ours.finished AND NOT (
    theirs.quick > ours.quick AND theirs.size = ours.size AND theirs.stamp = ours.stamp
)"""  # noqa: S608 - own names


class Results:
    """Results by location; a context manager. Without a path they are kept until it ends, in a file without a name.

    Every result is a transaction of its own, so that another thread may read meanwhile: SQLite lets in one at a time.
    What is read of it (``chosen``, a view with COLUMNS) are all results, or once ``want`` was called those of the
    archives wanted. Every method raises Refused where SQLite cannot go on.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        with self._sqlite_errors():
            self.connection = _opened(path)
            self._choose("SELECT * FROM main.results")

    def want(self, found: Iterable[Found], *, quick: bool) -> None:
        """From now on be about these archives; those that are finished, and have not changed since, are done."""
        with self._sqlite_errors():
            execute = self.connection.execute
            execute("DROP TABLE IF EXISTS wanted")
            execute(_CREATE_REQUESTED)
            execute("BEGIN")
            try:
                self.connection.executemany(
                    "INSERT OR IGNORE INTO wanted (location, name, size, stamp, listed) VALUES (?, ?, ?, ?, ?)",
                    ((stored(each.location), stored(each.name), each.size, each.stamp, each.listed) for each in found),
                )
                execute(_MARK_DONE, (quick,))
            except BaseException:
                execute("ROLLBACK")
                raise
            execute("COMMIT")
            self._choose("SELECT * FROM main.results WHERE location IN (SELECT location FROM wanted WHERE done)")

    def _choose(self, query: str) -> None:
        self.connection.execute("DROP VIEW IF EXISTS chosen")
        self.connection.execute(f"CREATE TEMP VIEW chosen AS {query}")

    def amount(self, *, done: bool) -> Amount:
        """How much of what is wanted is done, or is not."""
        query = "SELECT count(*), coalesce(sum(size), 0) FROM wanted WHERE done = ?"
        return Amount(*next(self.rows(query, (done,))))

    def missing(self) -> Iterator[Found]:
        """What is wanted and not done, in the order it was given; results may be kept meanwhile."""
        last = -1
        query = (
            "SELECT number, location, name, size, stamp, listed FROM wanted "
            "WHERE number > ? AND NOT done ORDER BY number LIMIT ?"
        )
        while rows := list(self.rows(query, (last, _ROWS_PER_QUERY))):
            last = rows[-1][0]
            for _, location, name, size, stamp, listed in rows:
                yield Found(restored(location), restored(name), size, stamp, bool(listed))

    def keep(self, result: Result) -> None:
        """Keep a result, in the place of an earlier one of the same location."""
        key, *values, _ = (getattr(result, name) for name in COLUMNS)
        key = stored(key)
        with self._sqlite_errors():
            self.connection.execute(_STORE, (key, *values, key))
            if self.wants:
                self.connection.execute("UPDATE wanted SET done = 1 WHERE location = ?", (key,))

    @property
    def wants(self) -> bool:
        """Whether it is about archives that are wanted, rather than all it knows."""
        return any(self.rows("SELECT 1 FROM temp.sqlite_master WHERE name = 'wanted'"))

    def take_over(self, path: Path) -> None:
        """Take over the results in another results file, where they are newer; raises Refused where it is none."""
        with _sqlite_errors(path), closing(_connection(path, "ro")) as theirs:
            _require_results_file(theirs, path)
        with self._sqlite_errors():
            self.connection.execute("ATTACH ? AS shard", (str(path),))
            try:
                self.connection.execute(_MERGE_SHARD)
            finally:
                self.connection.execute("DETACH shard")

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows that a query gives; it may read ``chosen``."""
        with self._sqlite_errors():
            yield from self.connection.execute(query, values)

    def results(self, rest: str = "", values: tuple[Any, ...] = ()) -> Iterator[Result]:
        """The chosen results; ``rest`` is what follows in the query, such as an ORDER BY."""
        return (result(row) for row in self.rows(f"SELECT {_NAMES} FROM chosen {rest}", values))  # noqa: S608 - own names

    def files(self) -> frozenset[str]:
        """The paths of the files that results are written to."""
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


def result(row: tuple[Any, ...]) -> Result:
    """The result in a row of COLUMNS."""
    values = dict(zip(COLUMNS, row, strict=True))
    values["location"] = restored(values["location"])
    values["quick"], values["again"] = bool(values["quick"]), bool(values["again"])
    return Result(**values)


def stored(text: str) -> str | bytes:
    """A path as SQLite can keep it: text that is no Unicode as its bytes."""
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
        raise Refused(f"The results cannot be written to {visible(str(path))}: its folder does not exist.")
    connection = _private() if path is None else _connection(path, "rwc")
    try:
        if path is not None and path.stat().st_size:  # an empty file is an empty database
            _require_results_file(connection, path)
        # A journal ahead of the file: a result costs no wait for the disk, and a killed program leaves whole ones.
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
    return sqlite3.connect(uri, timeout=_LOCK_SECONDS, isolation_level=None, uri=True, check_same_thread=False)


def _require_results_file(connection: sqlite3.Connection, path: Path) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != _APPLICATION:
        raise Refused(f"{visible(str(path))} is not an audit results file, so it is left unchanged.")
    if version != _VERSION:
        raise Refused(
            f"{visible(str(path))} was written by another version of this program, which keeps other results."
        )


@contextmanager
def _sqlite_errors(path: Path | None) -> Iterator[None]:
    """Make a sentence of what SQLite says."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        what = "The results of the audit" if path is None else f"The results in {visible(str(path))}"
        raise Refused(f"{what} cannot be read or written: {error}.") from error


class ShardFiles:
    """The files of ``count`` shards beside ``path``, which is not written itself; a context manager.

    Those of ``all.sqlite`` are ``all.1-of-4.sqlite`` and so on. Every method raises Refused where SQLite cannot go on.
    """

    def __init__(self, path: Path, count: int) -> None:
        self.count = count
        self.paths = tuple(path.with_name(f"{path.stem}.{at}-of-{count}{path.suffix}") for at in range(1, count + 1))
        self._path = path
        self._open = ExitStack()
        self._files: dict[int, Results] = {}

    def known(self) -> list[Path]:
        """The files there are, also those of an audit with another number of shards."""
        pattern = f"{_plain(self._path.stem)}.*-of-*{_plain(self._path.suffix)}"
        found = self._path.parent.glob(pattern)
        return sorted(each for each in found if _is_shard(each.name, self._path))

    def keep(self, shard: int, results: Iterable[Result]) -> None:
        """Keep results in the file of the shard with this number, from 1."""
        kept = self._files.get(shard)
        if kept is None:
            kept = self._files[shard] = self._open.enter_context(Results(self.paths[shard - 1]))
        for each in results:
            kept.keep(each)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._open.close()


def _plain(text: str) -> str:
    """Text in which nothing stands for something else."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)


def _is_shard(name: str, path: Path) -> bool:
    number, of, count = name.removeprefix(f"{path.stem}.").removesuffix(path.suffix).partition("-of-")
    return bool(of) and number.isdecimal() and count.isdecimal()


_RANKS = " ".join(f"WHEN '{state}' THEN {rank}" for rank, state in enumerate(STATES))
RANK = f"CASE state {_RANKS} ELSE -1 END"
"""How bad a state is, in SQL: 0 for the best, -1 for what is no archive."""


def page(results: Results, query: Query, first: int, count: int) -> Page[Result]:
    """Up to ``count`` results from number ``first`` on; raises Refused where they cannot be read."""
    where, values = _where(query)
    ((total,),) = results.rows(f"SELECT count(*) FROM chosen {where}", values)  # noqa: S608 - own names
    assert query.sort in COLUMNS, query.sort
    direction = "DESC" if query.descending else "ASC"
    by = RANK if query.sort == "state" else query.sort
    order = f"{where} ORDER BY {by} {direction}, location LIMIT ? OFFSET ?"
    return Page(total, first, tuple(results.results(order, (*values, count, first))))


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
