"""What an audit found: text for people, an object for programs, CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from inspector.core.names import visible
from inspector.core.numbers import count, rounded
from inspector.operations.audit.results import RANK, Results
from inspector.operations.protocol.audit_views import NO_ARCHIVE, STATES, UNCHECKED, Amount, Result
from inspector.sources.local.atomic import AtomicFile

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


class FindingKind(Struct, frozen=True):
    """A kind of finding and the number of archives that have it."""

    severity: str
    code: str
    archives: int


class Summary(Struct, frozen=True):
    """Archives by state (the best first) and by format; ``None`` is one that could not be told.

    ``others`` are no archives.
    ``kinds`` are the most frequent errors and warnings, ``worst`` the worst archives (at most MAX_WORST),
    ``wrong`` how many have anything wrong.
    """

    states: dict[str, Amount]
    formats: dict[str | None, Amount]
    others: Amount
    kinds: tuple[FindingKind, ...]
    worst: tuple[Result, ...]
    wrong: int
    run: Run

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
        tuple(FindingKind(*row) for row in kinds),
        tuple(worst),
        sum(amount.files for state, amount in states.items() if state not in _FINE),
        run,
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
    lines.append(f"  {_speed(summed.run)}")
    lines += [f"  {kind.severity} in {count(kind.archives, 'archive')}: {kind.code}" for kind in summed.kinds]
    for each in summed.worst:
        code = f" [{each.code}]" if each.code else ""
        lines.append(f"{visible(each.location)}: {each.sentence}{code}")
    if more := summed.wrong - len(summed.worst):
        lines.append(f"... and {count(more, 'more archive')} with something wrong")
    return "\n".join(lines) + "\n"


def _speed(run: Run) -> str:
    done = f"{count(run.done.files, 'file')}, {rounded(run.done.size)} read in {run.seconds:,.1f} s"
    if not run.done.files or run.seconds <= 0:
        return done
    return f"{done}: {run.done.files / run.seconds:,.1f} files and {rounded(int(run.done.size / run.seconds))} a second"


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
            "kinds": [
                {"severity": kind.severity, "code": kind.code, "archives": kind.archives} for kind in summed.kinds
            ],
            "worst": [each.location for each in summed.worst],
            "earlier": _object(run.earlier),
            "done": {**_object(run.done), "seconds": round(run.seconds, 3)},
        }
    }


def _object(amount: Amount) -> dict[str, int]:
    return {"archives": amount.files, "bytes": amount.size}


HEADINGS = (
    *("location", "state", "format", "bytes", "members", "errors", "warnings", "infos"),
    *("code", "sentence", "quick", "seconds", "finished"),
)
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def cell(text: str) -> str:
    """Text as a cell that a spreadsheet shows and never computes: text like a formula gets an apostrophe in front."""
    shown = visible(text)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown


def write_csv(results: Results, path: Path) -> None:
    """Write the requested results to ``path``, sorted by location, replacing an existing file.

    Raises SourceError if it cannot be written, and OperationError if the results cannot be read.
    """
    with AtomicFile(path, replace=True) as target:
        target.write(_line(HEADINGS))
        for each in results.results(f"WHERE state <> '{NO_ARCHIVE}' ORDER BY location"):
            target.write(_line(tuple(_cells(each))))


def _cells(each: Result) -> Iterator[str | int | float]:
    yield from map(cell, (each.location, each.state, each.format or ""))
    yield from (each.size, each.members, each.errors, each.warnings, each.infos)
    yield from map(cell, (each.code, each.sentence))
    yield "yes" if each.quick else "no"
    yield round(each.seconds, 3)
    yield datetime.fromtimestamp(each.finished, UTC).isoformat(timespec="seconds")


def _line(cells: tuple[str | int | float, ...]) -> bytes:
    text = io.StringIO()
    # Quote all text: a program with another separator must not split it.
    csv.writer(text, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC).writerow(cells)
    return text.getvalue().encode("utf-8")
