"""The session that compares two locations and shows what it found. It only writes new archives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from inspector.core.edit import Edit
from inspector.core.field import Run
from inspector.core.program.progress import Progress
from inspector.operations.compare.combining import Combination, combine, combine_by_hand, taken, write_combination
from inspector.operations.compare.comparing import Comparison, compare, side_state
from inspector.operations.compare.members import Listing
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.compare_views import (
    AS_IT_IS,
    A,
    CombinePlan,
    Compared,
    Difference,
    DifferenceQuery,
    Level,
    Order,
    Side,
    Version,
)
from inspector.operations.protocol.views import Explanation, Page, Target
from inspector.operations.session.navigation import Navigation
from inspector.sources.s3.connection import DEFAULT, Connection

_NEITHER = "-"


class Comparer:
    """Answers CompareRequests about the comparison made last."""

    def __init__(self) -> None:
        self._found: Comparison | None = None
        self._sorted: tuple[DifferenceQuery, list[Difference]] | None = None
        self._ways: tuple[Connection, Connection] = (DEFAULT, DEFAULT)
        self._more: dict[str, Comparison] = {}
        self._sides: dict[str, Navigation] = {}
        self._planned: Combination | None = None

    def compare(
        self,
        progress: Progress,
        a: str,
        b: str,
        connection: Connection,
        other: Connection,
        versions: tuple[Version, Version] = (AS_IT_IS, AS_IT_IS),
    ) -> Compared:
        """Compare two locations."""
        self._found = self._sorted = self._planned = None
        self._more, self._sides = {}, {}
        found = compare(a, b, progress, connection, other, versions=versions)
        self._found, self._ways = found, (connection, other)
        runs = [each.right or _NEITHER for each in found.differences if each.level is Level.BYTES]
        known = len(found.alignment) if found.alignment is not None else 0
        states = (_state(found.a), _state(found.b))
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
            if query.order is not Order.FOUND:
                rows.sort(key=_KEYS[query.order], reverse=query.descending)
            elif query.descending:
                rows.reverse()
            self._sorted = query, rows
        rows = self._sorted[1]
        return Page(len(rows), first, tuple(rows[first : first + count]))

    def side_bytes(self, side: str, offset: int, length: int) -> bytes:
        """Bytes of one side."""
        return self._side(side).read(0, offset, length)

    def side_place(self, side: str, expression: str) -> Target:
        """The bytes that an expression leads to. Raises OperationError for none."""
        return self._side(side).goto(expression, 0, 0)

    def side_runs(self, side: str, start: int, stop: int) -> list[Run]:
        """The runs of leaves on one side."""
        return self._side(side).runs(0, start, stop)

    def side_byte(self, side: str, offset: int) -> Explanation:
        """What explains a byte of one side."""
        return self._side(side).explain(0, offset)

    def find(
        self, progress: Progress, side: str, pattern: bytes, start: int, backwards: bool, ignore_case: bool
    ) -> int | None:
        """The next match on one side."""
        return self._side(side).search(progress, 0, pattern, start, backwards, ignore_case)

    def _side(self, side: str) -> Navigation:
        if side not in self._sides:
            found = self._compared()
            listing = found.a if side == A else found.b
            self._sides[side] = Navigation(listing.location, opened=listing.opened)
        return self._sides[side]

    # ---- combining ---------------------------------------------------------------------------------------------

    def plan_combination(
        self, progress: Progress, more: Sequence[str], connections: Sequence[Connection]
    ) -> CombinePlan:
        """Plan the best archive out of all copies."""
        found = self._compared()
        for location, connection in zip(more, connections, strict=True):
            if location not in self._more:
                self._more[location] = compare(found.a.location, location, progress, self._ways[0], connection)
        every = [found, *(self._more[location] for location in more)]
        self._planned = None
        self._planned = combine(every, progress)
        return self._planned.plan

    def taken(self, side: str, difference: Difference) -> Edit | None:
        """The change that takes a difference from the other side."""
        return taken(self._compared(), side, difference)

    def plan_taking(self, progress: Progress, side: str, difference: Difference) -> CombinePlan:
        """Plan a new archive with a difference from the other side. Raises as ``plan_combination`` does."""
        self._planned = None
        self._planned = combine_by_hand(self._compared(), side, difference, progress)
        return self._planned.plan

    def write_combination(self, progress: Progress, plan: CombinePlan, target: str, accept: bool) -> str:
        """Write what was planned last."""
        if self._planned is None or self._planned.plan != plan:
            raise OperationError("Nothing was written: this is not the plan that was shown. Plan again.")
        return write_combination(self._planned, target, progress, accept=accept)

    def _compared(self) -> Comparison:
        if self._found is None:
            raise OperationError("Nothing has been compared yet.")
        return self._found


def _state(side: Listing) -> str:
    """The state that the check found; empty if it was not checked, or is no archive."""
    state = side_state(side) if all(each.checked for each in side.archives) else None
    return state.value if state is not None else ""


def _place(side: Side | None) -> int:
    return side.spans[0].start if side is not None and side.spans else -1


_KEYS: dict[Order, Callable[[Difference], Any]] = {
    Order.WHAT: lambda each: each.message,
    Order.A: lambda each: _place(each.a),
    Order.B: lambda each: _place(each.b),
    Order.RIGHT: lambda each: each.right or "",
}
