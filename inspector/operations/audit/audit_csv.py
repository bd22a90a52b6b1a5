"""The results of an audit as CSV, for spreadsheets: nothing in it is taken for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from inspector.core.names import visible
from inspector.operations.audit.audit_results import Results
from inspector.operations.protocol.audit_views import NO_ARCHIVE, Result
from inspector.sources.local.atomic import AtomicFile

HEADINGS = (
    *("location", "state", "format", "bytes", "members", "errors", "warnings", "infos"),
    *("code", "sentence", "quick", "seconds", "finished"),
)
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def cell(text: str) -> str:
    """Text as a cell that is shown, never computed: what begins like a formula gets an apostrophe before it."""
    shown = visible(text)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown


def write_csv(results: Results, path: Path) -> None:
    """Write the chosen archives to ``path``, in the place of what is there, in the order of their locations.

    Raises SourceError where it cannot be written, and OperationError where the results cannot be read.
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
    # All text is quoted: a program that separates by other characters must not find cells inside of it.
    csv.writer(text, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC).writerow(cells)
    return text.getvalue().encode("utf-8")
