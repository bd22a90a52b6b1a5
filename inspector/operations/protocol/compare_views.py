"""Values about comparing two locations: what differs, on which side, and which side is right."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from operator import add
from typing import NamedTuple

from msgspec import Struct, field

from inspector.core.edit import Edit
from inspector.core.field import Value
from inspector.core.span import Span, Spans

A, B, NEITHER = "a", "b", "neither"
"""The sides, as JSON names them."""


class Level(StrEnum):
    """What differs; a range is an archive of a dataset."""

    RANGE = "range"
    MEMBER = "member"
    FIELD = "field"
    BYTES = "bytes"


class Change(StrEnum):
    """How it differs, seen from A: ``added`` is only in B, ``removed`` only in A.

    Renamed: the same content under another name. Moved: the same name and content at another place in the order.
    """

    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"
    RENAMED = "renamed"


LEVELS = frozenset(Level)


class Version(Struct, frozen=True):
    """How a location is read: as it would be with ``edits``, one after another.

    ``label`` says so in a few words; without any it is empty and the location is read as it is.
    """

    label: str = ""
    edits: tuple[Edit, ...] = ()


AS_IT_IS = Version()


class Side(Struct, frozen=True):
    """One side of a difference: a member's or field's path, its bytes in the file, a field's value.

    ``location`` is that of the file where the side has several: the range of a dataset.
    """

    path: str | None
    spans: Spans
    value: Value = None
    location: str = ""


class Difference(NamedTuple):
    """One difference. ``right`` is the side whose digest fits, None where nothing tells."""

    level: Level
    change: Change
    a: Side | None
    b: Side | None
    right: str | None
    message: str


class Summary(Struct, frozen=True):
    """What a comparison found. ``equal`` is None where not everything was read.

    ``members``, ``byte_counts`` and ``ranges`` count those by kind, empty where they were not compared. ``better`` is
    the side that is right wherever one is, NEITHER where both are right somewhere or both are damaged. ``left_out``
    are differences that are counted but not listed.
    """

    a: str
    b: str
    equal: bool | None
    members: dict[str, int]
    byte_counts: dict[str, int]
    better: str | None
    sentence: str
    notes: tuple[str, ...] = ()
    left_out: int = 0
    ranges: dict[str, int] = field(default_factory=dict)


class AlignedPiece(Struct, frozen=True):
    """Aligned positions ``[start, stop)`` and each side's first byte there, None for a gap.

    ``change`` is None where both sides are equal.
    """

    start: int
    stop: int
    a: int | None
    b: int | None
    change: Change | None

    def at(self, side: str) -> int | None:
        """The first byte of a side, None for a gap."""
        return self.a if side == A else self.b

    def clipped(self, start: int, stop: int) -> AlignedPiece:
        """The part at aligned positions ``[start, stop)``, some of which it has."""
        ahead = max(0, start - self.start)
        a, b = (None if first is None else first + ahead for first in (self.a, self.b))
        return AlignedPiece(self.start + ahead, min(self.stop, stop), a, b, self.change)


MAX_RUNS = 100_000
"""Runs listed; where there are more, neighbours are listed as one."""
_FIRST_GAP_BYTES = 16
"""Neighbours this near are listed as one before others are."""


class Run(NamedTuple):
    """Bytes ``a`` of one side stand where the other has ``b``; one of them may be empty."""

    a: Span
    b: Span


class Alignment(Struct, dict=True):
    """Two byte sequences side by side: where one has bytes that the other lacks, the other has a gap.

    ``places`` has four numbers for each run that differs, where it starts and stops in A and in B. Runs are in the
    order of both sides, neither touching nor overlapping: as many bytes on both sides (changed), or none in B (removed)
    or none in A (added). ``changed``, ``added`` and ``removed`` count bytes; a few equal ones among many that changed
    count as changed. ``gap`` is 0, or the largest equal stretch in bytes that a listed run may contain because there
    were too many runs.
    """

    a_size: int = 0
    b_size: int = 0
    places: array[int] = field(default_factory=lambda: array("Q"))
    changed: int = 0
    added: int = 0
    removed: int = 0
    gap: int = 0

    def __len__(self) -> int:
        return len(self.places) // 4

    def __getitem__(self, at: int) -> Run:
        a_start, a_stop, b_start, b_stop = self.places[4 * at : 4 * at + 4]
        return Run(Span(a_start, a_stop), Span(b_start, b_stop))

    def __iter__(self) -> Iterator[Run]:
        return map(self.__getitem__, range(len(self)))

    # ---- while it is made --------------------------------------------------------------------------------------

    def add(self, a: Span, b: Span, most: int = MAX_RUNS) -> None:
        """Append a run behind all others. One with different sizes becomes a changed and an added or removed one."""
        same = min(a.size, b.size)
        self.changed += same
        self.added += b.size - same
        self.removed += a.size - same
        self._append(Run(a, b))
        if len(self) > most:
            self._merge(most // 2)

    def _append(self, run: Run) -> None:
        (a_start, a_stop), (b_start, b_stop) = run
        same = min(run.a.size, run.b.size)
        for part in (
            (a_start, a_start + same, b_start, b_start + same),
            (a_start + same, a_stop, b_start + same, b_stop),
        ):
            has = part[0] < part[1], part[2] < part[3]
            last = self[len(self) - 1] if len(self) else None
            touches = self.end(len(self)) == (part[0], part[2])
            if last is not None and touches and has == (last.a.size > 0, last.b.size > 0):
                self.places[-3], self.places[-1] = part[1], part[3]
            elif any(has):
                self.places.extend(part)

    def _merge(self, most: int) -> None:
        """List neighbours as one, the nearest first, until there are ``most``."""
        runs, gap = list(self), max(self.gap, _FIRST_GAP_BYTES)
        while len(runs) > most:
            joined = runs[:1]
            for run in runs[1:]:
                a, b = joined[-1]
                if run.a.start - a.stop <= gap:
                    joined[-1] = Run(Span(a.start, run.a.stop), Span(b.start, run.b.stop))
                else:
                    joined.append(run)
            runs, self.gap, gap = joined, gap, gap * 2
        del self.places[:]
        for run in runs:
            self._append(run)

    # ---- side by side ------------------------------------------------------------------------------------------

    @cached_property
    def starts(self) -> array[int]:
        """Where each run begins among aligned positions, which count the bytes and gaps of either side."""
        gaps = accumulate((max(0, run.b.size - run.a.size) for run in self), initial=0)
        return array("Q", map(add, self.places[::4], gaps))

    @property
    def size(self) -> int:
        """The number of aligned positions."""
        return self._stop(len(self)) + self.a_size - self.end(len(self))[0]

    def end(self, at: int) -> tuple[int, int]:
        """Where the run before ``at`` ends on both sides; the beginning for the first."""
        return (self.places[4 * at - 3], self.places[4 * at - 1]) if at else (0, 0)

    def _stop(self, at: int) -> int:
        """The aligned position behind the run before ``at``."""
        return self.starts[at - 1] + max(each.size for each in self[at - 1]) if at else 0

    def run(self, at: int) -> AlignedPiece:
        """Differing run ``at``."""
        a, b = self[at]
        change = Change.CHANGED if a.size and b.size else Change.REMOVED if a.size else Change.ADDED
        places = a.start if a.size else None, b.start if b.size else None
        return AlignedPiece(self.starts[at], self._stop(at + 1), *places, change)

    def pieces(self, start: int, stop: int) -> list[AlignedPiece]:
        """The pieces of aligned positions ``[start, stop)``, clipped to them, in order."""
        start, stop, found = max(0, start), min(stop, self.size), list[AlignedPiece]()
        for at in range(max(0, self.before(start) - 1), len(self) + 1):
            end = self.starts[at] if at < len(self) else self.size
            found.append(AlignedPiece(self._stop(at), end, *self.end(at), None))
            if end >= stop:
                break
            found.append(self.run(at))
        return [each.clipped(start, stop) for each in found if max(start, each.start) < min(stop, each.stop)]

    def aligned(self, side: str, offset: int) -> int:
        """The aligned position of a byte of one side."""
        at = bisect_right(self, offset, key=lambda run: getattr(run, side).start)
        span = getattr(self[at - 1], side) if at else Span(0, 0)
        return self.starts[at - 1] + offset - span.start if offset < span.stop else self._stop(at) + offset - span.stop

    def before(self, position: int) -> int:
        """The number of runs that begin before an aligned position."""
        return bisect_left(self.starts, position)

    def equal(self, a: Span, b: Span) -> bool:
        """Whether these bytes of both sides are aligned with each other, and equal."""
        at = bisect_right(self, a.start, key=lambda run: run.a.start)
        while at and self[at - 1].a == (a.start, a.start) and self[at - 1].b.start >= b.start:
            at -= 1  # bytes that only B has stand before it
        a_end, b_end = self.end(at)
        clear = a_end <= a.start and (at == len(self) or a.stop <= self[at].a.start)
        return clear and a.size == b.size and a.start - a_end == b.start - b_end


# ---- combining -------------------------------------------------------------------------------------------------------


class Ground(StrEnum):
    """Why bytes are taken from a copy.

    Proved: a digest fits them. Majority, structure, signature: chosen, not proved. Undecided: nothing tells, so those
    of the first copy stay. Hand: the user took them.
    """

    PROVED = "proved"
    MAJORITY = "majority"
    STRUCTURE = "structure"
    SIGNATURE = "signature"
    UNDECIDED = "undecided"
    HAND = "hand"


class Step(Struct, frozen=True):
    """Bytes of a combined archive that differ between copies: ``copy`` is the letter of the one they come from.

    ``span`` is where they stand in the combined archive, empty where that copy has none.
    """

    copy: str
    ground: Ground
    span: Span
    message: str


class CombinePlan(Struct, frozen=True):
    """What a combined archive is made of, shown before it is written.

    ``lost`` says what is still wrong with it, ``left_out`` how many more sentences that would take. ``steps`` are the
    first, ``all_steps`` counts them by ground. ``needs_consent``: not everything is proved, or it is not whole.
    """

    copies: tuple[str, ...]
    size: int
    state: str
    steps: tuple[Step, ...]
    all_steps: dict[Ground, int]
    lost: tuple[str, ...]
    left_out: int
    needs_consent: bool
    sentence: str


# ---- what the window asks for ----------------------------------------------------------------------------------------


class Order(StrEnum):
    """What differences are sorted by."""

    FOUND = "found"
    WHAT = "what"
    A = "a"
    B = "b"
    RIGHT = "right"


class DifferenceQuery(Struct, frozen=True):
    """The differences of these levels whose messages contain a text, whatever its case, sorted."""

    levels: frozenset[Level] = LEVELS
    text: str = ""
    order: Order = Order.FOUND
    descending: bool = False


class Compared(Struct, frozen=True):
    """A comparison as the window shows it.

    ``alignment`` is None where bytes were not compared; ``rights`` has a letter for each of its runs: ``a`` or ``b``
    for the side that is right, ``-`` for neither. ``states`` are those of the sides, empty where unknown.
    """

    summary: Summary
    alignment: Alignment | None
    rights: str
    states: tuple[str, str]
