"""Comparing two locations: one result for window and terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct, field

from inspector.core.numbers import count, in_bytes
from inspector.core.program.progress import Progress, cancelling
from inspector.core.program.redaction import strip_credentials
from inspector.core.source import SourceError
from inspector.core.verdict import State
from inspector.operations.check.checking import check_archive, state_from
from inspector.operations.compare.alignment import Runs, align
from inspector.operations.compare.listing import Listing, open_listing, unread
from inspector.operations.compare.members import (
    NOT_COMPARED,
    ONLY_RANGES,
    SAME,
    MemberResult,
    RangeResult,
    compare_members,
    compare_ranges,
)
from inspector.operations.compare.structure import (
    MAX_RUNS_EXPLAINED,
    Digests,
    Judge,
    changed_fields,
    describe,
    is_text_copy,
    slide_to_structures,
)
from inspector.operations.jobs.operation_error import OperationError
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
    plain = versions == (AS_IT_IS, AS_IT_IS)
    if plain and isinstance(place, S3Source) and isinstance(beside, S3Source) and place.is_known_equal(beside):
        return _equal_objects((a, b), (place, beside), "Their ETags are equal, so they were not read.")
    some = open_listing(a, progress, connection, versions[0], place=place)
    others = open_listing(b, progress, other or connection, versions[1], place=beside)
    return _Comparing(some, others, progress, levels, quick).run()


def _equal_objects(locations: tuple[str, str], places: tuple[S3Source, S3Source], why: str) -> Comparison:
    """The comparison of two objects that are known to be equal: neither is read."""
    a, b = (Listing(location, (unread(place),), (b"",), ()) for location, place in zip(locations, places, strict=True))
    size = places[0].size
    names = strip_credentials(locations[0]), strip_credentials(locations[1])
    counts = {EQUAL: size, "changed": 0, "added": 0, "removed": 0}
    summary = Summary(*names, True, {}, counts, None, _sentence(True, {}, counts, None, 0), (why,))
    return Comparison(summary, [], a, b, Alignment(size, size))


class _Found(Struct):
    runs: Runs | None = None
    members: MemberResult | None = None
    ranges: RangeResult | None = None
    fields: list[Difference] = field(default_factory=list)
    bytes_: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class _Comparing:
    def __init__(self, a: Listing, b: Listing, progress: Progress, levels: frozenset[Level], quick: bool) -> None:
        self._a = a
        self._b = b
        self._progress = progress
        self._levels = levels
        self._quick = quick
        self._found = _Found()
        self._alignment: Alignment | None = None
        self._judge: Judge | None = None

    def run(self) -> Comparison:
        for each in (*self._a.archives, *self._b.archives):
            _raise_unread(each)
        pair = self._pair()
        self._raise_incomparable(pair)
        if self._quick:
            self._compare_quickly(pair)
        else:
            with cancelling(self._progress):
                self._compare(pair)
        found = self._found
        members = found.members
        ranges = found.ranges.differences if found.ranges is not None else ()
        differences = [*ranges, *(members.differences if members is not None else ()), *found.fields, *found.bytes_]
        return Comparison(self._summary(differences), differences, self._a, self._b, self._alignment, self._judge)

    def _raise_incomparable(self, pair: tuple[Opened, Opened] | None) -> None:
        """Raise OperationError where what is asked for cannot be compared: nothing would then look like equality."""
        if pair is None and self._levels == {Level.FIELD}:
            raise OperationError("Fields can only be compared between two files of one format.")
        if pair is None and self._levels == {Level.BYTES}:
            raise OperationError("Bytes can only be compared between two files.")
        needs_members = pair is None or self._quick or self._levels == {Level.MEMBER}
        if needs_members and not self._has_members():
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

    def _compare(self, pair: tuple[Opened, Opened] | None) -> None:
        if pair is not None:
            self._align(pair)
        elif not self._compare_ranges() and self._levels == LEVELS and self._a.archives and self._b.archives:
            self._found.notes.append(OTHER_FORMATS)
        if Level.MEMBER in self._levels and self._has_members():
            self._found.members = compare_members(
                self._a, self._b, self._alignment, self._progress, check=self._check_all, ranges=self._found.ranges
            )
        if pair is not None and self._found.runs and self._levels != {Level.MEMBER}:
            self._describe(self._found.runs, pair)

    def _compare_ranges(self, *, quick: bool = False) -> bool:
        """Compare ranges if both are datasets; returns whether they are."""
        if not self._a.ranges or not self._b.ranges:
            return False
        found = compare_ranges(self._a, self._b, self._progress, quick=quick, check=self._check_all)
        self._found.ranges = found
        if Level.RANGE not in self._levels:
            found.differences.clear()
        else:
            self._found.notes.append(ONLY_RANGES)
        return True

    def _align(self, pair: tuple[Opened, Opened]) -> None:
        if same := _same_file(*pair):
            self._found.runs = Runs()
            self._found.notes.append(same)
        else:
            self._found.runs = align(pair[0].source, pair[1].source, self._progress)
            slide_to_structures(self._found.runs, *pair, self._progress)
        self._alignment = _alignment(self._found.runs, *pair)

    def _has_members(self) -> bool:
        """Whether there is anything on both sides that has members."""
        known = [not side.ordered or any(each.decoder for each in side.archives) for side in (self._a, self._b)]
        return all(known)

    def _check_all(self) -> None:
        """Check the archives that are not checked yet, so that their digests tell who is right."""
        for archive in (*self._a.archives, *self._b.archives):
            if archive.decoder is not None and not archive.checked:
                names = len(archive.members) <= _MAX_NAMES_CHECKED
                check_archive(archive, self._progress, names=names)
                _raise_unread(archive)
                archive.checked = True

    def _describe(self, runs: Runs, pair: tuple[Opened, Opened]) -> None:
        self._check_all()
        judge = self._judge = Judge(Digests(pair[0]), Digests(pair[1]), related=self._related())
        if Level.FIELD in self._levels:
            self._progress.begin("Comparing fields", 0, "fields")
            for each in changed_fields(runs, *pair, judge, self._progress):
                self._found.fields.append(each)
                self._progress.advance(1)
        if Level.BYTES in self._levels:
            self._progress.begin("Describing differences", len(runs), "differences")
            for at, run in enumerate(runs):
                self._found.bytes_.append(describe(run, *pair, judge, explained=at < MAX_RUNS_EXPLAINED))
                self._progress.advance(1)
        for name, longer, shorter in (("B", 1, 0), ("A", 0, 1)):
            if is_text_copy(runs, pair[longer].source, longer, self._progress):
                self._found.notes.append(
                    f"{name} looks like a text-mode copy of {'AB'[shorter]}: {count(len(runs), 'line feed')} got a "
                    "carriage return."
                )
        if runs.gap:
            self._found.notes.append(
                f"There are very many differences: those with at most {in_bytes(runs.gap)} between them are one."
            )

    def _compare_quickly(self, pair: tuple[Opened, Opened] | None) -> None:
        if pair is not None and (same := _same_file(*pair)):
            self._found.runs = Runs()
            self._found.notes.append(same)
            self._alignment = _alignment(self._found.runs, *pair)
        self._compare_ranges(quick=True)
        self._found.members = compare_members(
            self._a, self._b, self._alignment, self._progress, quick=True, ranges=self._found.ranges
        )

    def _related(self) -> bool:
        """Whether both sides seem to be copies of one archive, by what is equal."""
        runs, members = self._found.runs, self._found.members
        if runs is not None:
            a, b = (each.archives[0].source.size for each in (self._a, self._b))
            return 2 * (a - runs.changed - runs.removed) >= min(a, b)
        return members is not None and 2 * members.counts[SAME] >= min(len(self._a), len(self._b))

    # ---- the summary -------------------------------------------------------------------------------------------

    def _summary(self, differences: Sequence[Difference]) -> Summary:
        found = self._found
        members, runs = found.members, found.runs
        counts: dict[str, int] = {}
        if members is not None:
            counts = _by_kind(members.counts)
        byte_counts: dict[str, int] = {}
        if runs is not None and self._levels != {Level.MEMBER}:
            same = self._a.archives[0].source.size - runs.changed - runs.removed
            byte_counts = {EQUAL: same, "changed": runs.changed, "added": runs.added, "removed": runs.removed}
        equal = self._equal(differences)
        if equal is None:
            found.notes.insert(0, QUICK)
        names = [strip_credentials(side.location) for side in (self._a, self._b)]
        left_out = members.left_out if members is not None else 0
        better = None if self._quick or equal else self._better(differences)
        ranges = _by_kind(found.ranges.counts) if found.ranges is not None and Level.RANGE in self._levels else {}
        sentence = _sentence(equal, counts, byte_counts, better, len(found.bytes_), ranges)
        notes = tuple(found.notes)
        return Summary(names[0], names[1], equal, counts, byte_counts, better, sentence, notes, left_out, ranges)

    def _equal(self, differences: Sequence[Difference]) -> bool | None:
        if differences:
            return False
        if self._quick and self._found.runs is None:
            return None
        runs = self._found.runs
        return runs is None or not len(runs) or Level.BYTES not in self._levels

    def _better(self, differences: Sequence[Difference]) -> str | None:
        right = Counter(each.right for each in differences if each.right is not None)
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


def _alignment(runs: Runs, a: Opened, b: Opened) -> Alignment:
    found = Alignment(a.source.size, b.source.size, runs.a_starts, runs.a_stops, runs.b_starts, runs.b_stops)
    gaps = 0  # positions that A lacks so far
    for run in runs:
        found.starts.append(run.a.start + gaps)
        gaps += max(0, run.b.size - run.a.size)
    return found


def _family(archive: Opened) -> str:
    """What tells whether the bytes of two archives can be compared: a TACO archive is a ZIP too."""
    return "bytes" if archive.decoder is None else archive.decoder.general or archive.decoder.name


def _same_file(a: Opened, b: Opened) -> str:
    """Why two files need not be compared byte by byte; empty if they do."""
    some, other = a.source, b.source
    same = isinstance(some, FileSource) and isinstance(other, FileSource) and some.identity == other.identity
    return "Both are the same file." if same else ""


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


def _sentence(
    equal: bool | None,
    members: dict[str, int],
    byte_counts: dict[str, int],
    better: str | None,
    runs: int,
    ranges: dict[str, int] | None = None,
) -> str:
    if equal:
        return "Equal."
    if equal is None:
        return "No difference is recorded."
    words = []
    for name, counts in (("ranges", ranges or {}), ("members", members)):
        parts = [f"{number:,} {kind}" for kind, number in counts.items() if number]
        words += [f"{name}: {', '.join(parts)}"] if parts else []
    if byte_counts and runs:
        differing = sum(number for kind, number in byte_counts.items() if kind != EQUAL)
        words.append(f"{count(runs, 'run')} of bytes {'differs' if runs == 1 else 'differ'} ({in_bytes(differing)})")
    judged = {A: "A is right", B: "B is right", NEITHER: "neither side is whole"}
    if better is not None:
        words.append(judged[better])
    return f"Different: {'; '.join(words)}." if words else "Different."
