"""The options that ask about rows of any kind, and what they print."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from inspector.cli.output import emit, json_text, quoted
from inspector.core.names import visible
from inspector.operations.open.ask import Question, Rows, Table


class Asked:
    """The options of ASK on a command line. Raises AskError for what is no expression."""

    def __init__(self, options: argparse.Namespace, names: Iterable[str]) -> None:
        known = tuple(names)
        key = (getattr(options, "sort", None) or "").strip()
        self._descending = key.startswith("-")
        self.where = Question(options.where, known) if options.where is not None else None
        self._sort = Question(key.removeprefix("-"), known) if key else None
        group, total = (getattr(options, name, None) for name in ("count_by", "sum"))
        self._group = Question(group, known) if group else None
        self._sum = Question(total, known) if total else None
        self.csv = bool(getattr(options, "csv", False))
        chosen = getattr(options, "columns", None)
        defaults = [each for each in known if each != "verdict"]  # which a check would be made for
        self._columns = [
            Question(each, known) for each in (chosen.split(",") if chosen else defaults if self.csv else ())
        ]
        self._json = options.json
        every = (self.where, self._sort, self._group, self._sum, *self._columns)
        self.names = {name for each in every if each is not None for name in each.names}

    @property
    def prints_rows(self) -> bool:
        """Whether rows are printed as usual, and neither columns nor sums."""
        return not (self._group or self._sum or self._columns)

    def print(self, tables: Sequence[tuple[str, Table]], write: Callable[[int, int], object]) -> int:
        """Print what is asked of tables with their labels; ``write`` prints a row, by its table, as usual.

        Returns how many rows the condition is true of.
        """
        found = [(table, self._rows(table)) for _, table in tables]
        if self._group or self._sum:
            self._print_sums(found)
            return sum(len(rows) for _, rows in found)
        order = [(at, row) for at, (_, rows) in enumerate(found) for row in rows.tolist()]
        if self._sort:
            keys = [key for table, rows in found for key in self._sort.values(table, rows)]
            places = sorted(range(len(keys)), key=lambda at: _rank(keys[at]), reverse=self._descending)
            places = [at for at in places if keys[at] is not None] + [at for at in places if keys[at] is None]
            order = [order[at] for at in places]
        if not self._columns:
            for at, row in order:
                write(at, row)
            return len(order)
        cells = [
            dict(
                zip(rows.tolist(), zip(*(each.values(table, rows) for each in self._columns), strict=True), strict=True)
            )
            for table, rows in found
        ]
        names = [each.text.strip() for each in self._columns]
        if self.csv:
            _print_csv(["source", *names], ([tables[at][0], *cells[at][row]] for at, row in order))
        elif self._json:
            for at, row in order:
                held = dict(zip(names, cells[at][row], strict=True))
                emit(f'{{"source": {quoted(tables[at][0])}, "row": {_object(held)}}}\n')
        else:
            emit("\t".join(names) + "\n")
            for at, row in order:
                emit("\t".join(map(_shown, cells[at][row])) + "\n")
        return len(order)

    def _rows(self, table: Table) -> Rows:
        return np.arange(table.rows) if self.where is None else self.where.rows(table)

    def _print_sums(self, found: Sequence[tuple[Table, Rows]]) -> None:
        counts: dict[Any, int] = {}
        sums: dict[Any, Any] = {}
        for table, rows in found:
            keys = self._group.values(table, rows) if self._group else [None] * len(rows)
            amounts = self._sum.values(table, rows) if self._sum else [0] * len(rows)
            for key, amount in zip(keys, amounts, strict=True):
                kept = key if isinstance(key, (int, float, str, type(None))) else json_text(key)
                counts[kept] = counts.get(kept, 0) + 1
                sums[kept] = sums.get(kept, 0) + (amount if isinstance(amount, (int, float)) else 0)
        if not self._group:
            counts, sums = {None: sum(counts.values())}, {None: sum(sums.values())}
        heads = [each.text.strip() for each in (self._group,) if each] + ["count"] + (["sum"] if self._sum else [])
        order = sorted(counts, key=lambda key: (-counts[key], _rank(key)))
        lines = [([key] if self._group else []) + [counts[key]] + ([sums[key]] if self._sum else []) for key in order]
        if self.csv:
            _print_csv(heads, lines)
        elif self._json:
            for key in order:
                emit(f"{_object({'key': key, 'count': counts[key]} | ({'sum': sums[key]} if self._sum else {}))}\n")
        else:
            for key in order:
                more = f"  {sums[key]:>20,}" if self._sum else ""
                emit(f"{counts[key]:>14,}{more}" + (f"  {_shown(key)}\n" if self._group else "\n"))


def _rank(value: Any) -> tuple[int, Any]:
    """What values of different kinds are sorted by: numbers, then texts, then the others."""
    if isinstance(value, (int, float)):
        return 0, value
    return (1, value) if isinstance(value, str) else (2, str(value))


def _shown(value: Any) -> str:
    return "-" if value is None else visible(str(value))


def _object(row: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{quoted(key)}: {json_text(value)}" for key, value in row.items()) + "}"


def _print_csv(heads: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    """RFC 4180, with the names made visible; what is not there is empty."""
    text = io.StringIO()
    writer = csv.writer(text)
    for line in (heads, *lines):
        writer.writerow(["" if cell is None else visible(cell) if isinstance(cell, str) else cell for cell in line])
        emit(text.getvalue())
        text.seek(0)
        text.truncate()
