"""Comparing datasets range by range: the archives by their keys, with what describes them beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from msgspec import Struct, field

from inspector.core.collection import Orphan, Range
from inspector.core.names import visible
from inspector.core.numbers import grouped, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.operations.check.checking import state_of
from inspector.operations.compare.alignment import common_start
from inspector.operations.compare.listing import Listing, paired
from inspector.operations.compare.members import NOT_COMPARED, SAME
from inspector.operations.protocol.compare_views import A, B, Change, Difference, Level, Side
from inspector.sources.s3.source import S3Source

ONLY_RANGES = "Of both folders only what belongs to datasets was compared."


class RangeResult(Struct):
    """The ranges by kind and the differences; ``pairs`` are numbers of ranges with the same keys on both sides.

    ``same`` are the numbers in A of those whose archives have the same bytes.
    """

    counts: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    pairs: dict[int, int] = field(default_factory=dict)
    same: set[int] = field(default_factory=set)


def compare_ranges(
    a: Listing, b: Listing, progress: Progress, *, quick: bool = False, check: Callable[[], None] = lambda: None
) -> RangeResult:
    """Compare the ranges of two folders of datasets. The names of two single datasets do not matter.

    ``quick``: no content is read. ``check`` checks both sides, and is called if a range differs. Raises SourceError
    and Cancelled.
    """
    return _RangeComparison(a, b, progress, quick, check).run()


class _RangeComparison:
    def __init__(self, a: Listing, b: Listing, progress: Progress, quick: bool, check: Callable[[], None]) -> None:
        self._a = a
        self._b = b
        self._progress = progress
        self._quick = quick
        self._check = check
        self._named = named_datasets(a, b)
        self._result = RangeResult()

    def run(self) -> RangeResult:
        result = self._result
        pairs = paired(*([(at, self._key(each)) for at, each in enumerate(side.ranges)] for side in (self._a, self._b)))
        self._progress.begin("Comparing ranges", sum(each.size for each in self._a.ranges))
        differing: list[tuple[int, int, str]] = []
        result.pairs = dict(zip(pairs.a, pairs.b, strict=True))
        for i, each in enumerate(self._a.ranges):
            j = result.pairs.get(i)
            if j is None:
                words = f"The range {_name(each)} is only in A."
                self._add(Change.REMOVED, _side(each), None, None, words)
            elif (why := self._compare(i, j)) is None:
                result.counts[SAME] += 1
            elif why:
                differing.append((i, j, why))
            else:
                result.counts[NOT_COMPARED] += 1
        self._report_changed(differing)
        for j in pairs.only_b:
            other = self._b.ranges[j]
            self._add(Change.ADDED, None, _side(other), None, f"The range {_name(other)} is only in B.")
        self._compare_orphans()
        return result

    def _report_changed(self, differing: Sequence[tuple[int, int, str]]) -> None:
        if differing and not self._quick:
            self._check()
        for i, j, why in differing:
            right = self._right(i, j)
            proof = f" {right.upper()} is right: no error was found in its range; the other has some." if right else ""
            words = f"The range {_name(self._a.ranges[i])} changed: {why}.{proof}"
            self._add(Change.CHANGED, _side(self._a.ranges[i]), _side(self._b.ranges[j]), right, words)

    def _key(self, each: Range | Orphan) -> tuple[str, int, int]:
        return each.dataset if self._named else "", each.first, each.last

    def _add(self, change: Change, a: Side | None, b: Side | None, right: str | None, message: str) -> None:
        self._result.counts[change] += 1
        self._result.differences.append(Difference(Level.RANGE, change, a, b, right, message))

    # ---- two ranges with the same keys -------------------------------------------------------------------------

    def _compare(self, i: int, j: int) -> str | None:
        """How two ranges differ, None if they do not; empty where a quick look cannot tell."""
        own, other = self._a.ranges[i], self._b.ranges[j]
        some, others = self._a.archives[i].source, self._b.archives[j].source
        why = self._differing(some, others)
        if why is None:
            self._result.same.add(i)
        if bool(own.beside) != bool(other.beside):
            words = f"only {'A' if own.beside else 'B'} has metadata beside it"
            return f"{why}, and {words}" if why else words
        if own.beside:
            beside = self._differing(self._a.beside(i), self._b.beside(j))
            if beside:
                return f"{why}; of its metadata, {beside}" if why else f"of its metadata, {beside}"
            why = beside if why is None else why
        return why

    def _differing(self, some: Source, other: Source) -> str | None:
        """How two files differ, None if they do not; empty where a quick look cannot tell."""
        if some.size != other.size:
            return f"there are {in_bytes(some.size)} in A and {in_bytes(other.size)} in B"
        if isinstance(some, S3Source) and some.is_known_equal(other):
            self._progress.advance(some.size)
            return None
        if self._quick:
            return ""
        at = common_start(some, 0, other, 0, some.size, self._progress)
        return None if at == some.size else f"bytes differ from {grouped(at)} of {grouped(some.size)} on"

    def _right(self, i: int, j: int) -> str | None:
        if self._quick:
            return None
        a, b = (state_of((side.archives[at],)).fine for side, at in ((self._a, i), (self._b, j)))
        return None if a is b else A if a else B

    # ---- metadata without a range ------------------------------------------------------------------------------

    def _compare_orphans(self) -> None:
        sides = (self._a.orphans, self._b.orphans)
        found = paired(*([(at, (self._key(each), each.name)) for at, each in enumerate(side)] for side in sides))
        for side, numbers, name in zip(sides, (found.only_a, found.only_b), "AB", strict=True):
            for at in numbers:
                own = Side(_name(side[at]), ())
                words = f"{visible(side[at].name)}, metadata without its range, is only in {name}."
                if name == "A":
                    self._add(Change.REMOVED, own, None, None, words)
                else:
                    self._add(Change.ADDED, None, own, None, words)


def named_datasets(a: Listing, b: Listing) -> bool:
    """Whether the names of datasets tell ranges apart; two single ones are compared whatever they are called."""
    sides = [{*(each.dataset for each in side.ranges), *(each.dataset for each in side.orphans)} for side in (a, b)]
    return any(len(each) > 1 for each in sides)


def _name(each: Range | Orphan) -> str:
    return visible(f"{each.dataset}/{each.name}")


def _side(each: Range) -> Side:
    return Side(_name(each), (), location=each.location)
