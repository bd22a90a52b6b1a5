"""The results of audits in SQLite files: stored, resumed, read page by page and summed up."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from msgspec import Struct

from inspector.core.names import visible
from inspector.core.numbers import count, rounded
from inspector.formats.datas3t.codes import RANGE_GAP
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.audit_views import NO_ARCHIVE, STATES, UNCHECKED, WAITING, Amount, Query, Result
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


class Results:
    """Results by location; a context manager. Without a path they are in an unnamed temporary file.

    Each result is its own transaction, so that other threads can read at the same time. The view ``chosen`` has all
    results, or after ``request`` those of the requested archives; the view ``listed`` also has archives without a
    result, unless they are too many. Every method raises OperationError on SQLite errors.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.requested = False
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
            self.requested = True
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
            if self.requested:
                self.connection.execute("UPDATE wanted SET done = 1 WHERE location = ?", (key,))

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
        """Turn SQLite errors into sentences."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            what = "The results of the audit" if self.path is None else f"The results in {visible(str(self.path))}"
            raise OperationError(f"{what} cannot be read or written: {error}.") from error

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
    made = "" if path is None else f"{Path(os.path.abspath(path)).as_uri()}?mode=rwc"  # noqa: PTH100 - a link stays what it is called
    connection = sqlite3.connect(
        made, timeout=_LOCK_SECONDS, isolation_level=None, uri=path is not None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
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


def _require_results_file(connection: sqlite3.Connection, path: Path) -> None:
    execute = connection.execute
    known = execute("PRAGMA application_id").fetchone() + execute("PRAGMA user_version").fetchone()
    # A view or a trigger of that name could run any query, without end: only the very table may be there.
    schema = execute("SELECT sql FROM main.sqlite_master WHERE sql IS NOT NULL LIMIT 2").fetchall()
    if known != (_APPLICATION, _VERSION) or schema != [(_CREATE_RESULTS.replace(" IF NOT EXISTS", ""),)]:
        raise OperationError(
            f"{visible(str(path))} is not an audit results file of this version of the program, with one table and no "
            "views or triggers. It is left unchanged."
        )


_RANKS = " ".join(f"WHEN '{state}' THEN {rank}" for rank, state in enumerate(STATES))
RANK = f"CASE state {_RANKS} ELSE -1 END"
"""The rank of a state as an SQL expression: 0 for the best, -1 for files that are no archives."""


def page(results: Results, query: Query, first: int, most: int) -> Page[Result]:
    """Results ``[first, first + most)``; raises OperationError if they cannot be read."""
    where, values = _where(query)
    ((total,),) = results.rows(f"SELECT count(*) FROM listed {where}", values)  # noqa: S608 - own names
    assert query.sort in COLUMNS, query.sort
    direction = "DESC" if query.descending else "ASC"
    by = RANK if query.sort == "state" else query.sort
    order = f"{where} ORDER BY {by} {direction}, location LIMIT ? OFFSET ?"
    return Page(total, first, tuple(results.results(order, (*values, most, first), "listed")))


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


# ---- what they sum up to ---------------------------------------------------------------------------------------------

MAX_WORST = 20
"""Damaged archives that are listed; the rest is counted."""
_MAX_CODES = 10
"""Kinds of findings in a summary, the most frequent first."""
_FINE = ("sound", UNCHECKED)


class Run(Struct, frozen=True):
    """What this run did, and what was finished ``earlier``."""

    done: Amount
    seconds: float
    earlier: Amount = Amount()


class Summary(Struct, frozen=True):
    """Archives by state (the best first) and by format; ``None`` is one that could not be told.

    ``others`` are no archives. ``kinds`` are the most frequent errors and warnings, each with its severity, its code
    and the number of archives that have it, ``worst`` the worst archives (at most MAX_WORST),
    ``wrong`` how many have anything wrong, ``gaps`` are datasets where nothing but keys is missing.
    """

    states: dict[str, Amount]
    formats: dict[str | None, Amount]
    others: Amount
    kinds: tuple[tuple[str, str, int], ...]
    worst: tuple[Result, ...]
    wrong: int
    run: Run
    gaps: tuple[Result, ...] = ()

    @property
    def all(self) -> Amount:
        """The number and size of all archives."""
        amounts = self.states.values()
        return Amount(sum(each.files for each in amounts), sum(each.size for each in amounts))


def summary(results: Results, run: Run) -> Summary:
    """Summarize the requested results; raises OperationError if they cannot be read."""
    states = _amounts(results, "state")
    others = states.pop(NO_ARCHIVE, Amount())
    kinds = results.rows(
        "SELECT json_extract(value, '$.severity') AS severity, json_extract(value, '$.code') AS code, "
        "count(DISTINCT location) AS archives FROM chosen, json_each(chosen.findings) "
        "WHERE severity <> 'info' GROUP BY code, severity ORDER BY archives DESC, severity, code LIMIT ?",
        (_MAX_CODES,),
    )
    order = f"WHERE {RANK} > 1 ORDER BY {RANK} DESC, errors DESC, warnings DESC, location LIMIT ?"
    worst = results.results(order, (MAX_WORST,))
    return Summary(
        {state: states[state] for state in STATES if state in states},
        _amounts(results, "format", f"WHERE state <> '{NO_ARCHIVE}'"),
        others,
        tuple(kinds),
        tuple(worst),
        sum(amount.files for state, amount in states.items() if state not in _FINE),
        run,
        tuple(
            results.results(f"WHERE code = '{RANGE_GAP.code}' AND {RANK} < 2 ORDER BY location LIMIT ?", (MAX_WORST,))
        ),
    )


def _amounts(results: Results, column: str, where: str = "") -> dict[Any, Amount]:
    query = f"SELECT {column}, count(*), sum(size) FROM chosen {where} GROUP BY {column} ORDER BY 2 DESC, {column}"  # noqa: S608 - own names
    return {value: Amount(files, size) for value, files, size in results.rows(query)}


def as_text(summed: Summary) -> str:
    """The summary as lines of text with visible names."""
    everything = summed.all
    states = ", ".join(f"{amount.files:,} {state}" for state, amount in summed.states.items())
    lines = [f"{count(everything.files, 'archive')}, {rounded(everything.size)}: {states or 'nothing was audited'}"]
    lines += [
        f"  {name or 'unreadable, or of no known format'}: {amount.files:,}, {rounded(amount.size)}"
        for name, amount in summed.formats.items()
    ]
    if summed.others.files:
        lines.append(f"  {count(summed.others.files, 'file')} of no known format left out")
    if summed.run.earlier.files:
        lines.append(f"  {count(summed.run.earlier.files, 'file')} finished earlier, and unchanged since")
    run = summed.run
    speed = ""
    if run.done.files and run.seconds > 0:
        speed = f": {run.done.files / run.seconds:,.1f} files and {rounded(int(run.done.size / run.seconds))} a second"
    lines.append(f"  {count(run.done.files, 'file')}, {rounded(run.done.size)} read in {run.seconds:,.1f} s{speed}")
    lines += [f"{visible(each.location)}: {each.sentence}" for each in summed.gaps]
    lines += [f"  {severity} in {count(archives, 'archive')}: {code}" for severity, code, archives in summed.kinds]
    for each in summed.worst:
        code = f" [{each.code}]" if each.code else ""
        lines.append(f"{visible(each.location)}: {each.sentence}{code}")
    if more := summed.wrong - len(summed.worst):
        lines.append(f"... and {count(more, 'more archive')} with something wrong")
    return "\n".join(lines) + "\n"


def as_object(summed: Summary) -> dict[str, Any]:
    """The last object of the JSON output."""
    run = summed.run
    return {
        "summary": {
            "archives": summed.all.files,
            "bytes": summed.all.size,
            "states": {state: _object(amount) for state, amount in summed.states.items()},
            "formats": [{"format": name, **_object(amount)} for name, amount in summed.formats.items()],
            "left_out": summed.others.files,
            "kinds": [dict(zip(("severity", "code", "archives"), kind, strict=True)) for kind in summed.kinds],
            "worst": [each.location for each in summed.worst],
            "earlier": _object(run.earlier),
            "done": {**_object(run.done), "seconds": round(run.seconds, 3)},
        }
    }


def _object(amount: Amount) -> dict[str, int]:
    return {"archives": amount.files, "bytes": amount.size}
