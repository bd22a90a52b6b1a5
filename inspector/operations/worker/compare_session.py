"""The session that compares two locations and shows what it found. It only reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inspector.core.progress import Progress
from inspector.operations.compare.comparing import Comparison, compare, side_state
from inspector.operations.protocol.compare_views import (
    A,
    Compared,
    Difference,
    DifferenceQuery,
    Level,
    Order,
    Side,
)
from inspector.operations.protocol.views import Page
from inspector.sources.s3.connection import Connection

MAX_READ_BYTES = 1 << 20
"""Bytes in one answer."""
_NEITHER = "-"


class Comparer:
    """Answers CompareRequests about the comparison made last."""

    def __init__(self) -> None:
        self._found: Comparison | None = None
        self._sorted: tuple[DifferenceQuery, list[Difference]] | None = None

    def compare(self, progress: Progress, a: str, b: str, connection: Connection, other: Connection) -> Compared:
        """Compare two locations. Raises SourceError and Cancelled."""
        found = compare(a, b, progress, connection, other)
        self._found, self._sorted = found, None
        runs = [each.right or _NEITHER for each in found.differences if each.level is Level.BYTES]
        known = len(found.alignment) if found.alignment is not None else 0
        states = (_state(found, 0), _state(found, 1))
        return Compared(found.summary, found.alignment, "".join(runs).ljust(known, _NEITHER), states)

    def differences(self, query: DifferenceQuery, first: int, count: int) -> Page[Difference]:
        """A page of the differences that match."""
        found = self._found
        if found is None:
            return Page(0, first, ())
        if self._sorted is None or self._sorted[0] != query:
            text = query.text.casefold()
            rows = [
                each for each in found.differences if each.level in query.levels and text in each.message.casefold()
            ]
            key = _KEYS[query.order]
            if key is not None:
                rows.sort(key=key, reverse=query.descending)
            elif query.descending:
                rows.reverse()
            self._sorted = query, rows
        rows = self._sorted[1]
        return Page(len(rows), first, tuple(rows[first : first + count]))

    def side_bytes(self, side: str, offset: int, length: int) -> bytes:
        """Bytes of one side; raises SourceError."""
        if self._found is None:
            return b""
        listing = self._found.a if side == A else self._found.b
        return listing.archives[0].source.read(offset, min(length, MAX_READ_BYTES)) if listing.archives else b""


def _state(found: Comparison, side: int) -> str:
    """The state that the check found; empty if it was not checked, or is no archive."""
    listing = (found.a, found.b)[side]
    checked = bool(listing.archives) and all(each.checked for each in listing.archives)
    state = side_state(listing) if checked else None
    return state.value if state is not None else ""


def _place(side: Side | None) -> int:
    return side.spans[0].start if side is not None and side.spans else -1


_KEYS: dict[Order, Callable[[Difference], Any] | None] = {
    Order.FOUND: None,
    Order.WHAT: lambda each: each.message,
    Order.A: lambda each: _place(each.a),
    Order.B: lambda each: _place(each.b),
    Order.RIGHT: lambda each: each.right or "",
}
