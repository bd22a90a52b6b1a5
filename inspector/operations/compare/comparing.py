"""Comparing two locations: one result for window and terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from msgspec import Struct

from inspector.core.numbers import count, in_bytes, verb
from inspector.core.program.progress import Progress, cancelling
from inspector.core.program.redaction import strip_credentials
from inspector.core.source import Source, SourceError
from inspector.core.verdict import State
from inspector.operations.check.checking import check_archive, state_from
from inspector.operations.compare.alignment import align
from inspector.operations.compare.members import (
    NOT_COMPARED,
    ONLY_RANGES,
    SAME,
    ComparedMembers,
    ComparedRanges,
    Listing,
    open_listing,
    unread,
)
from inspector.operations.compare.structure import (
    MAX_FIELDS,
    MAX_RUNS_EXPLAINED,
    Digests,
    Judge,
    changed_fields,
    describe,
    slide_to_structures,
)
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.location import Location
from inspector.operations.open.nested import open_nested
from inspector.operations.open.opening import Opened, not_read
from inspector.operations.protocol.compare_views import (
    AS_IT_IS,
    LEVELS,
    NEITHER,
    A,
    Alignment,
    B,
    Change,
    Difference,
    Level,
    Summary,
    Version,
)
from inspector.sources.local.file import FileSource
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.source import S3Source

EQUAL = "equal"
_EQUAL = "Equal."
_EQUAL_OBJECTS = "Their ETags are equal, so they were not read."
QUICK = "Recorded digests equal; contents not read."
_MAX_NAMES_CHECKED = 100_000
"""Members up to which names are checked too; they tell nothing about which side is right, and take longer than that."""
OTHER_FORMATS = "The formats differ, so members were compared and bytes were not."


class Comparison(Struct):
    """Two compared locations: what was found, and what is needed to show it.

    ``alignment`` is of the two files, None where bytes were not compared; ``judge`` is None where they do not differ.
    """

    summary: Summary
    differences: Sequence[Difference]
    a: Listing
    b: Listing
    alignment: Alignment | None = None
    judge: Judge | None = None


def compare(
    a: str,
    b: str,
    progress: Progress,
    connection: Connection = DEFAULT,
    other: Connection | None = None,
    *,
    levels: frozenset[Level] = LEVELS,
    quick: bool = False,
    versions: tuple[Version, Version] = (AS_IT_IS, AS_IT_IS),
) -> Comparison:
    """Compare two locations; ``connection`` is for A on S3, ``other`` for B if it is not the same.

    ``levels`` are what is compared and decides whether they are equal; fields and bytes need two files of one format.
    ``quick``: read no content, compare what is recorded. ``versions`` say how each is read. Raises SourceError where
    one cannot be read, OperationError where they have nothing to compare, and Cancelled.
    """
    with cancelling(progress):
        place, beside = open_nested(a, connection), open_nested(b, other or connection)
    is_plain = versions == (AS_IT_IS, AS_IT_IS)
    if is_plain and isinstance(place, S3Source) and isinstance(beside, S3Source) and place.is_known_equal(beside):
        some, others = Listing(a, Location([unread(place)])), Listing(b, Location([unread(beside)]))
    else:
        some = open_listing(a, progress, connection, versions[0], place=place)
        others = open_listing(b, progress, other or connection, versions[1], place=beside)
    return _Comparing(some, others, progress, levels, quick).run()


def _known_equal(a: Source, b: Source) -> str:
    """Why two sources are known to be equal though they were not read; empty where that is not known."""
    if isinstance(a, FileSource) and isinstance(b, FileSource) and a.identity == b.identity:
        return "Both are the same file."
    return _EQUAL_OBJECTS if isinstance(a, S3Source) and a.is_known_equal(b) else ""


class _Comparing:
    def __init__(self, a: Listing, b: Listing, progress: Progress, levels: frozenset[Level], quick: bool) -> None:
        self._a = a
        self._b = b
        self._progress = progress
        self._levels = levels
        self._quick = quick
        self._checked = quick
        self._runs: Alignment | None = None
        self._judge: Judge | None = None
        self._ranges: ComparedRanges | None = None
        self._members: ComparedMembers | None = None
        self._differences: list[Difference] = []
        self._notes: list[str] = []

    def run(self) -> Comparison:
        sides = self._a, self._b
        for each in (*self._a.archives, *self._b.archives):
            _raise_unread(each)
        has_members = all(not side.ordered or any(each.decoder for each in side.archives) for side in sides)
        pair = self._pair()
        equal = _known_equal(pair[0].source, pair[1].source) if pair is not None else ""
        if equal != _EQUAL_OBJECTS:
            self._raise_incomparable(pair, has_members=has_members)
        with cancelling(self._progress):
            if equal and pair is not None:
                self._runs = Alignment(pair[0].source.size, pair[1].source.size)
                self._notes.append(equal)
            elif pair is not None and not self._quick:
                self._runs = align(pair[0].source, pair[1].source, self._progress)
                slide_to_structures(self._runs, *pair, self._progress)
            self._compare_rows(pair, has_members=has_members)
            if pair is not None and self._runs and self._levels != {Level.MEMBER}:
                self._describe(self._runs, pair)
        return Comparison(self._summary(), self._differences, *sides, self._runs, self._judge)

    def _raise_incomparable(self, pair: tuple[Opened, Opened] | None, *, has_members: bool) -> None:
        """Raise OperationError where what is asked for cannot be compared: nothing would then look like equality."""
        if pair is None and self._levels == {Level.FIELD}:
            raise OperationError("Fields can only be compared between two files of one format.")
        if pair is None and self._levels == {Level.BYTES}:
            raise OperationError("Bytes can only be compared between two files.")
        if not has_members and (pair is None or self._quick or self._levels == {Level.MEMBER}):
            raise OperationError(
                "Members cannot be compared: one of the two is neither a known archive nor a folder with files."
            )

    def _pair(self) -> tuple[Opened, Opened] | None:
        """The two archives whose bytes can be compared; None for folders, and for different formats."""
        if len(self._a.archives) != 1 or len(self._b.archives) != 1:
            return None
        a, b = self._a.archives[0], self._b.archives[0]
        # What is no archive has no members to compare.
        known = a.decoder is not None and b.decoder is not None
        return (a, b) if _family(a) == _family(b) or not known or self._levels == {Level.BYTES} else None

    def _compare_rows(self, pair: tuple[Opened, Opened] | None, *, has_members: bool) -> None:
        both = self._a, self._b, self._progress, self._quick, self._check_all
        if (pair is None or self._quick) and self._a.ranges and self._b.ranges:
            self._ranges = ComparedRanges(*both)
            self._ranges.run()
            if Level.RANGE in self._levels:
                self._notes.append(ONLY_RANGES)
                self._differences += self._ranges.differences
        elif pair is None and not self._quick and self._levels == LEVELS and self._a.archives and self._b.archives:
            self._notes.append(OTHER_FORMATS)
        if has_members and (self._quick or Level.MEMBER in self._levels):
            self._members = ComparedMembers(*both)
            self._members.run(self._runs, self._ranges)
            self._differences += self._members.differences

    def _check_all(self) -> None:
        """Check the archives that are not checked yet, so that their digests tell who is right."""
        if self._checked:
            return
        label, total, done = self._progress.label, self._progress.total, self._progress.done
        for archive in (*self._a.archives, *self._b.archives):
            if archive.decoder is not None and not archive.checked:
                check_archive(archive, self._progress, names=len(archive.members) <= _MAX_NAMES_CHECKED)
                _raise_unread(archive)
                archive.checked = True
        self._checked = True
        self._progress.begin(label, total)
        self._progress.advance(done)

    def _describe(self, runs: Alignment, pair: tuple[Opened, Opened]) -> None:
        self._check_all()
        judge = self._judge = Judge(Digests(pair[0]), Digests(pair[1]), related=self._related())
        if Level.FIELD in self._levels:
            self._progress.begin("Comparing fields", 0, "fields")
            for each in islice(changed_fields(runs, *pair, judge, self._progress), MAX_FIELDS):
                self._differences.append(each)
                self._progress.advance(1)
        if Level.BYTES in self._levels:
            self._progress.begin("Describing differences", len(runs), "differences")
            for at, run in enumerate(runs):
                self._differences.append(describe(run, *pair, judge, explained=at < MAX_RUNS_EXPLAINED))
                self._progress.advance(1)
        if runs.gap:
            self._notes.append(
                f"There are very many differences: those with at most {in_bytes(runs.gap)} between them are one."
            )

    def _related(self) -> bool:
        """Whether both sides seem to be copies of one archive, by what is equal."""
        runs, members = self._runs, self._members
        if runs is not None:
            return 2 * (runs.a_size - runs.changed - runs.removed) >= min(runs.a_size, runs.b_size)
        return members is not None and 2 * members.counts[SAME] >= min(len(self._a), len(self._b))

    # ---- the summary -------------------------------------------------------------------------------------------

    def _summary(self) -> Summary:
        members, runs = self._members, self._runs
        rows = {
            "ranges": _by_kind(self._ranges.counts) if self._ranges is not None and Level.RANGE in self._levels else {},
            "members": _by_kind(members.counts) if members is not None else {},
        }
        byte_counts: dict[str, int] = {}
        if runs is not None and self._levels != {Level.MEMBER}:
            same = runs.a_size - runs.changed - runs.removed
            byte_counts = {EQUAL: same, "changed": runs.changed, "added": runs.added, "removed": runs.removed}
        equal = self._equal()
        if equal is None:
            self._notes.insert(0, QUICK)
        better = None if self._quick or equal else self._better()
        sentence = _EQUAL if equal else "No difference is recorded."
        if equal is False:
            sentence = _sentence(rows, byte_counts, self._described(), better)
        return Summary(
            strip_credentials(self._a.location),
            strip_credentials(self._b.location),
            equal,
            rows["members"],
            byte_counts,
            better,
            sentence,
            tuple(self._notes),
            members.left_out if members is not None else 0,
            rows["ranges"],
        )

    def _described(self) -> int:
        return len(self._runs) if self._runs is not None and Level.BYTES in self._levels else 0

    def _equal(self) -> bool | None:
        if self._differences:
            return False
        if self._quick and self._runs is None:
            return None
        return not self._described()

    def _better(self) -> str | None:
        right = Counter(each.right for each in self._differences if each.right is not None)
        if right[A] and right[B]:
            return NEITHER
        if right:
            return next(iter(right))
        if not self._related():
            return None
        a, b = side_state(self._a), side_state(self._b)
        if a is None or b is None or a.fine is b.fine:
            return NEITHER if a is not None and b is not None and not a.fine else None
        return A if a.fine else B


def _family(archive: Opened) -> str:
    """What tells whether the bytes of two archives can be compared: a TACO archive is a ZIP too."""
    return "bytes" if archive.decoder is None else archive.decoder.general or archive.decoder.name


def _raise_unread(archive: Opened) -> None:
    """Raise SourceError for what could not be read: nothing is known about the rest."""
    if not_read((archive,)):
        raise SourceError(next(each.message for each in archive.findings if each.code == "unreadable"))


def _by_kind(counts: Counter[str]) -> dict[str, int]:
    kinds = (SAME, *Change, *((NOT_COMPARED,) if counts[NOT_COMPARED] else ()))
    return {str(kind): counts[kind] for kind in kinds}


def side_state(side: Listing) -> State | None:
    """The worst state of the archives of a side; None where there is none."""
    states = [state_from(each.decoder.torn, each.findings) for each in side.archives if each.decoder is not None]
    return max(states, key=lambda each: each.rank) if states else None


def _sentence(rows: dict[str, dict[str, int]], byte_counts: dict[str, int], described: int, better: str | None) -> str:
    words = []
    for name, counts in rows.items():
        parts = [f"{number:,} {kind}" for kind, number in counts.items() if number]
        words += [f"{name}: {', '.join(parts)}"] if parts else []
    if byte_counts and described:
        size = in_bytes(sum(number for kind, number in byte_counts.items() if kind != EQUAL))
        words.append(f"{count(described, 'run')} of bytes {verb(described, 'differs', 'differ')} ({size})")
    judged = {A: "A is right", B: "B is right", NEITHER: "neither side is whole"}
    if better is not None:
        words.append(judged[better])
    return f"Different: {'; '.join(words)}." if words else "Different."
