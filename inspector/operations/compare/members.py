"""Comparing members by names and contents, and datasets range by range; records decide only in a quick look."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct, field

from inspector.core.collection import Orphan, Range
from inspector.core.format import MemberError
from inspector.core.member import Codec, Members
from inspector.core.names import decoded, visible
from inspector.core.numbers import grouped, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.core.verdict import Verdict
from inspector.operations.check.checking import state_of
from inspector.operations.compare.alignment import ascending, common_start, mismatches
from inspector.operations.compare.listing import Listing, Pairs, paired
from inspector.operations.protocol.compare_views import A, Alignment, B, Change, Difference, Level, Side
from inspector.sources.s3.source import S3Source

SAME = "same"
NOT_COMPARED = "not compared"
ONLY_RANGES = "Of both folders only what belongs to datasets was compared."
MAX_LISTED = 100_000
"""Differing members listed; the rest are counted."""
_NAMES = {"crc32": "CRC-32", "xxh64": "xxHash64"}
_BY_THEMSELVES = frozenset(Codec) - {Codec.ZSTD, Codec.UNKNOWN}
"""Codecs whose stored bytes alone determine the content."""


class RangeResult(Struct):
    """The ranges by kind and the differences; ``pairs`` are numbers of ranges with the same keys on both sides.

    ``same`` are the numbers in A of those whose archives have the same bytes. ``named``: the names of datasets tell
    their ranges and members apart.
    """

    named: bool
    counts: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    pairs: dict[int, int] = field(default_factory=dict)
    same: set[int] = field(default_factory=set)


class MemberResult(Struct):
    """The members by kind, and the differences."""

    counts: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    left_out: int = 0

    def add(self, change: Change, a: Side | None, b: Side | None, right: str | None, message: str) -> None:
        """Count a difference, and list it if there is room."""
        self.counts[change] += 1
        if len(self.differences) < MAX_LISTED:
            self.differences.append(Difference(Level.MEMBER, change, a, b, right, message))
        else:
            self.left_out += 1


def compare_members(
    a: Listing,
    b: Listing,
    alignment: Alignment | None,
    progress: Progress,
    *,
    quick: bool = False,
    check: Callable[[], None] = lambda: None,
    ranges: RangeResult | None = None,
) -> MemberResult:
    """Compare the members of two sides. ``alignment`` is of their bytes if those were compared.

    ``ranges`` are those of datasets, whose members have one name wherever they stand.
    ``quick``: only recorded digests are compared, and members without are not. ``check`` checks both sides, and is
    called once if a member differs. Raises SourceError and Cancelled.
    """
    return _MemberComparison(a, b, alignment, progress, quick, check, ranges).run()


class _MemberComparison:
    def __init__(
        self,
        a: Listing,
        b: Listing,
        alignment: Alignment | None,
        progress: Progress,
        quick: bool,
        check: Callable[[], None],
        ranges: RangeResult | None,
    ) -> None:
        self._ranges = ranges
        self._across: set[int] = set()
        self._a = a
        self._b = b
        self._alignment = alignment
        self._progress = progress
        self._quick = quick
        self._check = check
        self._checked = quick
        self._same_bytes = alignment is not None and not len(alignment) and alignment.a_size == alignment.b_size
        self.result = MemberResult()

    def run(self) -> MemberResult:
        pairs_a, pairs_b, only_a, only_b = self._paired()
        known = self._known_same(pairs_a, pairs_b)
        self.result.counts[SAME] += sum(known)
        left = (self._a.size(i) for i, same in zip(pairs_a, known, strict=True) if not same)
        self._progress.begin("Comparing members", sum(left))
        same_a, same_b = array("q"), array("q")
        for i, j, same in zip(pairs_a, pairs_b, known, strict=True):
            if same or self._compare(i, j):
                same_a.append(i)
                same_b.append(j)
        self._report_moved(same_a, same_b)
        self._report_unpaired(only_a, only_b)
        return self.result

    # ---- by name -----------------------------------------------------------------------------------------------

    def _paired(self) -> Pairs:
        """The members with the same name on both sides, the first with the first, and those on one side only."""
        a, b = self._a, self._b
        if self._ranges is not None:
            return self._paired_in_ranges(self._ranges)
        if (both := self._columns()) is not None and _same_names(*both):
            return Pairs(array("q", range(len(a))), array("q", range(len(b))), [], [])
        folders = a.ordered and b.ordered  # a folder on disk lists no folders of its own
        return paired(((i, a.path(i)) for i in _members(a, folders)), ((j, b.path(j)) for j in _members(b, folders)))

    def _paired_in_ranges(self, ranges: RangeResult) -> Pairs:
        """Members of the same name in ranges with the same keys, then those of the same name in any two ranges."""

        def anywhere(side: Listing, numbers: Iterable[int]) -> Iterator[tuple[int, tuple[str, bytes]]]:
            for at in numbers:
                dataset, name, _ = side.name(at)
                yield at, (dataset if ranges.named else "", name)

        some = ((i, self._a.name(i)) for i in range(len(self._a)))
        others = ((j, self._b.name(j)) for j in range(len(self._b)))
        here = paired(
            ((i, (ranges.pairs.get(part, -1), name)) for i, (_, name, part) in some),
            ((j, (part, name)) for j, (_, name, part) in others),
        )
        across = paired(anywhere(self._a, here.only_a), anywhere(self._b, here.only_b))
        self._across = set(across.a)
        both = sorted(zip([*here.a, *across.a], [*here.b, *across.b], strict=True))
        in_a, in_b = (array("q", [pair[side] for pair in both]) for side in (0, 1))
        return Pairs(in_a, in_b, across.only_a, across.only_b)

    def _columns(self) -> tuple[Members, Members] | None:
        """The columns of two single archives."""
        if len(self._a.archives) != 1 or len(self._b.archives) != 1:
            return None
        return self._a.archives[0].members, self._b.archives[0].members

    # ---- by content --------------------------------------------------------------------------------------------

    def _known_same(self, pairs_a: array[int], pairs_b: array[int]) -> bytes:
        """A 1 for each pair of members whose stored bytes, compared already, show that they are the same."""
        if self._same_bytes:
            return b"\x01" * len(pairs_a)
        if self._ranges is not None:
            same = self._ranges.same
            return bytes(i not in self._across and self._a.name(i)[2] in same for i in pairs_a)
        both = self._columns()
        if both is None or self._alignment is None or self._quick or not all(map(_plain, both)) or not pairs_a:
            return bytes(len(pairs_a))
        return _aligned_alike(both, (pairs_a, pairs_b), self._alignment)

    def _compare(self, i: int, j: int) -> bool:
        """Compare two members of the same name; returns whether they are the same."""
        if not (self._a.is_file(i) or self._b.is_file(j)):
            self.result.counts[SAME] += 1
            return True
        a_size, b_size = self._a.size(i), self._b.size(j)
        if a_size != b_size:
            self._changed(i, j, f"it has {in_bytes(a_size)} in A and {in_bytes(b_size)} in B")
            return False
        if self._quick:
            return self._compare_records(i, j)
        if self._stored_alike(i, j):
            self._progress.advance(a_size)
            self.result.counts[SAME] += 1
            return True
        try:
            at = _first_difference(self._pieces(self._a, i, A), self._pieces(self._b, j, B), self._progress)
        except _UnreadableError as error:
            self._changed(i, j, str(error))
            return False
        if at is None:
            self.result.counts[SAME] += 1
            return True
        self._changed(i, j, f"its content differs from byte {grouped(at)} of {grouped(a_size)} on")
        return False

    def _compare_records(self, i: int, j: int) -> bool:
        some, other = self._a.digest(i), self._b.digest(j)
        if not some or not other or some.partition(":")[0] != other.partition(":")[0]:
            self.result.counts[NOT_COMPARED] += 1
            return False
        if some == other:
            self.result.counts[SAME] += 1
            return True
        name, _, value = some.partition(":")
        words = f"its recorded {_NAMES.get(name, name)} is {value} in A and {other.partition(':')[2]} in B"
        self._changed(i, j, f"{words}; the contents were not read")
        return False

    def _stored_alike(self, i: int, j: int) -> bool:
        """Whether the stored bytes were compared already, and say all."""
        if self._alignment is None or self._a.codec(i) is not self._b.codec(j):
            return False
        some, others = self._a.spans(i), self._b.spans(j)
        return (
            self._a.codec(i) in _BY_THEMSELVES
            and len(some) == len(others)
            and all(self._alignment.equal(Span(*x), Span(*y)) for x, y in zip(some, others, strict=True))
        )

    def _pieces(self, side: Listing, at: int, name: str) -> Iterator[bytes]:
        try:
            yield from side.pieces(at, Progress() if name == B else self._progress)
        except MemberError as error:
            raise _UnreadableError(f"it cannot be read in {name.upper()}: {error}") from error

    def _changed(self, i: int, j: int, why: str) -> None:
        right, proof = self._right(i, j)
        sentence = f"{visible(self._a.path(i))} changed: {why}".rstrip(".")
        self.result.add(Change.CHANGED, _side(self._a, i), _side(self._b, j), right, f"{sentence}.{proof}")

    def _right(self, i: int, j: int) -> tuple[str | None, str]:
        """The side whose own digest fits, and the sentence that says so."""
        if not self._checked:
            label, total, done = self._progress.label, self._progress.total, self._progress.done
            self._check()
            self._checked = True
            self._progress.begin(label, total)
            self._progress.advance(done)
        a, b = _verdict(self._a, i), _verdict(self._b, j)
        wrong = (Verdict.MISMATCH, Verdict.DOUBTFUL)
        if self._a.digest(i) != self._b.digest(j):
            return None, ""  # each records its own content
        if a is Verdict.VERIFIED and b in wrong:
            return A, " A is right: its digest fits; that of B does not."
        if b is Verdict.VERIFIED and a in wrong:
            return B, " B is right: its digest fits; that of A does not."
        return None, ""

    # ---- what has no partner -----------------------------------------------------------------------------------

    def _report_moved(self, same_a: array[int], same_b: array[int]) -> None:
        """Members of datasets have no order but their keys: what moves there stands in a range with other keys."""
        pairs = list(zip(same_a, same_b, strict=True))
        if not (self._a.ordered and self._b.ordered):
            return
        if self._ranges is not None:
            moved = [(i, j) for i, j in pairs if i in self._across]
        elif all(x < y for x, y in pairwise(same_b)):
            return
        else:
            stay = set(ascending(same_b))
            moved = [pair for at, pair in enumerate(pairs) if at not in stay]
        for i, j in moved:
            words = f"moved: it is member {grouped(i)} of A and {grouped(j)} of B"
            name = self._a.path(i)
            if self._ranges is not None:
                name, part = self._a.name(i)[1:]
                other = self._b.ranges[self._b.name(j)[2]].name
                words = f"moved: it is in the range {visible(self._a.ranges[part].name)} of A and {visible(other)} of B"
            self.result.counts[SAME] -= 1
            self.result.add(Change.MOVED, _side(self._a, i), _side(self._b, j), None, f"{visible(name)} {words}.")

    def _report_unpaired(self, only_a: Sequence[int], only_b: Sequence[int]) -> None:
        sizes = {self._b.size(j) for j in only_b} & {self._a.size(i) for i in only_a}
        identity = self._recorded if self._quick else self._hashed

        def contents(side: Listing, numbers: Sequence[int]) -> list[tuple[int, tuple[int, str]]]:
            keys = ((at, identity(side, at)) for at in numbers if side.size(at) in sizes)
            return [(at, key) for at, key in keys if key is not None]

        others = contents(self._b, only_b)
        found = paired(contents(self._a, only_a) if others else (), others)
        partner = dict(zip(found.a, found.b, strict=True))
        for i in only_a:
            if (j := partner.get(i)) is not None:
                words = f"{visible(self._a.path(i))} is called {visible(self._b.path(j))} in B."
                self.result.add(Change.RENAMED, _side(self._a, i), _side(self._b, j), None, words)
            else:
                words = f"{visible(self._a.path(i))} is only in A."
                self.result.add(Change.REMOVED, _side(self._a, i), None, None, words)
        renamed = set(found.b)
        for j in only_b:
            if j not in renamed:
                words = f"{visible(self._b.path(j))} is only in B."
                self.result.add(Change.ADDED, None, _side(self._b, j), None, words)

    def _hashed(self, side: Listing, at: int) -> tuple[int, str] | None:
        """What identifies a content that is read; None for no content, or one that cannot be read."""
        if not side.is_file(at) or not side.size(at):
            return None
        digest = hashlib.blake2b()
        try:
            for piece in side.pieces(at, self._progress):
                digest.update(piece)
                self._progress.advance(0)
        except MemberError:
            return None
        return side.size(at), digest.hexdigest()

    def _recorded(self, side: Listing, at: int) -> tuple[int, str] | None:
        digest = side.digest(at)
        return None if digest is None or not side.size(at) else (side.size(at), digest)


class _UnreadableError(Exception):
    """The content of a member cannot be read; the message is the end of a sentence."""


def _members(side: Listing, folders: bool) -> Iterable[int]:
    return range(len(side)) if folders else filter(side.is_file, range(len(side)))


def _verdict(side: Listing, at: int) -> Verdict:
    place = side.part(at)
    return Verdict.NOT_CHECKED if place is None else place[0].verdict(place[1])


def _side(side: Listing, at: int) -> Side:
    location = side.ranges[side.name(at)[2]].location if side.ranges else ""
    return Side(decoded(side.path(at))[0], side.spans(at), location=location)


def _same_names(a: Members, b: Members) -> bool:
    appended = a.as_appended and b.as_appended
    return appended and a.path_stops == b.path_stops and a.paths == b.paths


def _plain(members: Members) -> bool:
    """Whether the columns say where the stored bytes are, and those alone determine each content."""
    return members.placed_as_is and members.codecs is None and members.codec in _BY_THEMSELVES


def _aligned_alike(both: tuple[Members, Members], pairs: tuple[array[int], array[int]], alignment: Alignment) -> bytes:
    """A 1 for each pair whose columns agree and whose stored bytes are aligned and equal; a 0 may be so too."""
    import numpy as np

    def column(values: array[int] | None, side: int) -> Any:
        found = np.zeros(len(both[side]), dtype=np.uint8) if values is None else np.asarray(values)
        return found[np.asarray(pairs[side])]

    a, b = both
    starts, stops = column(a.starts, 0), column(a.stops, 0)
    others = column(b.starts, 1)
    same = stops - starts == column(b.stops, 1) - others
    if a.sizes is not None and b.sizes is not None:
        same &= column(a.sizes, 0) == column(b.sizes, 1)
    elif a.sizes is not b.sizes:
        same[:] = False  # one side alone says how large a content is
    same &= column(a.marks, 0) == column(b.marks, 1)
    run = np.searchsorted(np.asarray(alignment.a_starts), starts, side="right")
    first = np.zeros(1, dtype=np.uint64)
    a_since = np.concatenate((first, np.asarray(alignment.a_stops)))[run]
    b_since = np.concatenate((first, np.asarray(alignment.b_stops)))[run]
    end = np.full(1, 2**64 - 1, dtype=np.uint64)
    behind = np.concatenate((np.asarray(alignment.a_starts), end))[run]
    same &= (a_since <= starts) & (b_since <= others) & (stops <= behind) & (starts - a_since == others - b_since)
    found: bytes = same.astype(np.uint8).tobytes()
    return found


def _first_difference(a: Iterator[bytes], b: Iterator[bytes], progress: Progress) -> int | None:
    """Where two contents begin to differ, None where they are equal."""
    at, some, other = 0, b"", b""
    while True:
        some, other = some or _next_piece(a), other or _next_piece(b)
        size = min(len(some), len(other))
        if not size:
            return None if len(some) == len(other) else at
        if some[:size] != other[:size]:
            return at + int(mismatches(some[:size], other[:size])[0])
        some, other = some[size:], other[size:]
        at += size
        progress.advance(size)


def _next_piece(pieces: Iterator[bytes]) -> bytes:
    return next(filter(None, pieces), b"")


# ---- the ranges of datasets -----------------------------------------------------------------------------------------


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
        sides = [{*(each.dataset for each in side.ranges), *(each.dataset for each in side.orphans)} for side in (a, b)]
        # Two single datasets are compared whatever they are called.
        self._result = RangeResult(any(len(each) > 1 for each in sides))

    def run(self) -> RangeResult:
        result = self._result
        pairs = paired(*([(at, self._key(each)) for at, each in enumerate(side.ranges)] for side in (self._a, self._b)))
        self._progress.begin("Comparing ranges", sum(each.size for each in self._a.ranges))
        differing: list[tuple[int, int, str]] = []
        result.pairs = dict(zip(pairs.a, pairs.b, strict=True))
        for i, each in enumerate(self._a.ranges):
            j = result.pairs.get(i)
            if j is None:
                words = f"The range {_range_name(each)} is only in A."
                self._add(Change.REMOVED, _range_side(each), None, None, words)
            elif (why := self._compare(i, j)) is None:
                result.counts[SAME] += 1
            elif why:
                differing.append((i, j, why))
            else:
                result.counts[NOT_COMPARED] += 1
        self._report_changed(differing)
        for j in pairs.only_b:
            other = self._b.ranges[j]
            self._add(Change.ADDED, None, _range_side(other), None, f"The range {_range_name(other)} is only in B.")
        self._compare_orphans()
        return result

    def _report_changed(self, differing: Sequence[tuple[int, int, str]]) -> None:
        if differing and not self._quick:
            self._check()
        for i, j, why in differing:
            right = self._right(i, j)
            proof = f" {right.upper()} is right: no error was found in its range; the other has some." if right else ""
            words = f"The range {_range_name(self._a.ranges[i])} changed: {why}.{proof}"
            self._add(Change.CHANGED, _range_side(self._a.ranges[i]), _range_side(self._b.ranges[j]), right, words)

    def _key(self, each: Range | Orphan) -> tuple[str, int, int]:
        return each.dataset if self._result.named else "", each.first, each.last

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
                own = Side(_range_name(side[at]), ())
                words = f"{visible(side[at].name)}, metadata without its range, is only in {name}."
                if name == "A":
                    self._add(Change.REMOVED, own, None, None, words)
                else:
                    self._add(Change.ADDED, None, own, None, words)


def _range_name(each: Range | Orphan) -> str:
    return visible(f"{each.dataset}/{each.name}")


def _range_side(each: Range) -> Side:
    return Side(_range_name(each), (), location=each.location)
