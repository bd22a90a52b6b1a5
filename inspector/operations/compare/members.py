"""The members of one side of a comparison, and comparing those of two by names and contents.

Datasets are compared range by range. Records decide only in a quick look.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple, TypeVar

from inspector.core.collection import Orphan, Range
from inspector.core.edit import OverlaySource
from inspector.core.field import Field
from inspector.core.format import MemberError
from inspector.core.kinds import Kind
from inspector.core.member import FOLDER, SPECIAL, Codec, Member, Members
from inspector.core.names import decoded as decoded_name
from inspector.core.names import visible
from inspector.core.numbers import grouped, in_bytes
from inspector.core.program.progress import Progress, cancelling
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.core.verdict import Verdict
from inspector.operations.check.checking import state_of
from inspector.operations.compare.alignment import ascending, common_start, mismatches
from inspector.operations.create.inputs import Input, gather
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.collection import collection_in
from inspector.operations.open.listing import content, learn_all
from inspector.operations.open.location import Location, open_location
from inspector.operations.open.opening import Opened, decoded
from inspector.operations.protocol.compare_views import (
    AS_IT_IS,
    A,
    Alignment,
    B,
    Change,
    Difference,
    Level,
    Side,
    Version,
)
from inspector.sources.local.file import LocalFolder
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.prefix import S3Prefix
from inspector.sources.s3.source import S3Source

Place = Source | LocalFolder | S3Prefix


class Listing:
    """Files with their content, numbered in their order; ``ordered`` is False for a folder, which has none.

    ``opened`` is what has archives, none of a folder of ``files``.
    """

    def __init__(self, location: str, opened: Location, files: Sequence[Input] = ()) -> None:
        self.location = location
        self.opened = opened
        self.archives = opened.archives
        self._files = files
        self.ranges = opened.collection.ranges if opened.collection is not None else ()
        self.orphans = opened.collection.orphans if opened.collection is not None else ()
        self._stops = list(accumulate(len(each.members) for each in self.archives))
        self.ordered = not files

    def __len__(self) -> int:
        return self._stops[-1] if self._stops else len(self._files)

    def place(self, at: int) -> tuple[int, int]:
        """The number of a member's archive, and its index there; -1 for a file of a folder."""
        if not self._stops:
            return -1, at
        part = bisect_right(self._stops, at)
        return part, at - (self._stops[part - 1] if part else 0)

    def path(self, at: int) -> bytes:
        """The name of a member, without the slash that ends a folder's."""
        part, index = self.place(at)
        return self._files[at].name if part < 0 else self.opened.folder(part) + self.archives[part].members.path(index)

    def seen(self, at: int) -> Member:
        """A member as its own archive names it; a file of a folder has no stored bytes."""
        part, index = self.place(at)
        if part < 0:
            size = self._files[at].size
            return Member(at, self._files[at].name, size, size, ())
        return self.archives[part].members.seen(index)

    def is_file(self, at: int) -> bool:
        """Whether a member is a file, whose content can be compared."""
        part, index = self.place(at)
        return part < 0 or not self.archives[part].members.marks_of(index) & (FOLDER | SPECIAL)

    def size(self, at: int) -> int:
        """The size of the content in bytes."""
        part, index = self.place(at)
        return self._files[at].size if part < 0 else self.archives[part].members.size(index)

    def verdict(self, at: int) -> Verdict:
        """What the check found of a member."""
        part, index = self.place(at)
        return Verdict.NOT_CHECKED if part < 0 else self.archives[part].verdict(index)

    def pieces(self, at: int, progress: Progress) -> Iterator[bytes]:
        """The content. Raises MemberError, SourceError and Cancelled."""
        part, index = self.place(at)
        return self._files[at].pieces() if part < 0 else content(self.archives[part], index, progress)


def unread(source: Source) -> Opened:
    """A source as plain bytes, none of which are read."""
    fields = (Field("bytes", Kind.BYTES, (Span(0, source.size),)),)
    made = Opened(source, "bytes", "plain bytes", fields)
    made.complete = True
    return made


def open_listing(
    location: str, progress: Progress, connection: Connection, version: Version, *, place: Place
) -> Listing:
    """Decode a location, of which ``place`` is open; any folder that is no dataset is a folder of files.

    Raises SourceError and Cancelled, and OperationError where only a file can be read as ``version`` says.
    """
    with cancelling(progress):
        if version != AS_IT_IS:
            return Listing(location, Location([_version_of(place, version, progress)]))
        is_folder = isinstance(place, (LocalFolder, S3Prefix)) and collection_in(place) is None
    if is_folder:
        return Listing(location, Location([]), gather([location], progress, connection=connection))
    with cancelling(progress):
        opened = open_location(location, connection, place=place)
    opened.read_ahead = True
    for _ in opened.read_all(progress):
        pass
    learn_all(opened.archives, progress)
    return Listing(location, opened)


def _version_of(place: Place, version: Version, progress: Progress) -> Opened:
    if isinstance(place, (LocalFolder, S3Prefix)):
        raise OperationError("Only a file can be compared with another version of itself.")
    for edit in version.edits:
        if edit.old_size != place.size:
            raise OperationError("The file has another size than the change was made for. Reload it.")
        place = OverlaySource(place, edit)
    return decoded(place, progress)


# ---- comparing -------------------------------------------------------------------------------------------------------


SAME = "same"
NOT_COMPARED = "not compared"
ONLY_RANGES = "Of both folders only what belongs to datasets was compared."
MAX_LISTED = 100_000
"""Differing members, and ranges, listed; the rest are counted."""
_NAMES = {"crc32": "CRC-32", "xxh64": "xxHash64"}
_BY_THEMSELVES = frozenset(Codec) - {Codec.ZSTD, Codec.UNKNOWN}
"""Codecs whose stored bytes alone determine the content."""

Key = TypeVar("Key", bound=Hashable)


class Pairs(NamedTuple):
    """Rows of both sides by their numbers: row ``a[n]`` of A and row ``b[n]`` of B have the same key."""

    a: array[int]
    b: array[int]
    only_a: list[int]
    only_b: list[int]


def paired(a: Iterable[tuple[int, Key]], b: Iterable[tuple[int, Key]]) -> Pairs:
    """The rows of A and of B with the same key, the first with the first, and those that are left of either."""
    waiting: dict[Key, list[int]] = {}
    for j, key in b:
        waiting.setdefault(key, []).append(j)
    found = Pairs(array("q"), array("q"), [], [])
    for i, key in a:
        if partners := waiting.get(key):
            found.a.append(i)
            found.b.append(partners.pop(0))
        else:
            found.only_a.append(i)
    found.only_b.extend(sorted(chain.from_iterable(waiting.values())))
    return found


class Rows:
    """What one level of a comparison found: rows of both sides counted by kind, and their differences.

    ``quick``: no content is read. ``check`` checks both sides, and is called if rows differ.
    """

    level: Level

    def __init__(self, a: Listing, b: Listing, progress: Progress, quick: bool, check: Callable[[], None]) -> None:
        self._a = a
        self._b = b
        self._progress = progress
        self._quick = quick
        self._check = check
        self.counts: Counter[str] = Counter()
        self.differences: list[Difference] = []
        self.left_out = 0

    def _add(self, change: Change, a: Side | None, b: Side | None, message: str, right: str | None = None) -> None:
        self.counts[change] += 1
        if len(self.differences) < MAX_LISTED:
            self.differences.append(Difference(self.level, change, a, b, right, message))
        else:
            self.left_out += 1

    def _add_only(self, name: str, own: Side, words: str) -> None:
        a, b = (own, None) if name == "A" else (None, own)
        self._add(Change.ADDED if a is None else Change.REMOVED, a, b, f"{words} is only in {name}.")


class ComparedRanges(Rows):
    """The ranges of two folders of datasets. ``named``: the names of datasets tell their ranges and members apart.

    ``pairs`` are the numbers of ranges with the same keys, and ``same`` those in A whose archives have the same bytes.
    """

    level = Level.RANGE

    def run(self) -> None:
        """Compare the ranges. Raises SourceError and Cancelled."""
        a, b = self._a, self._b
        # Two single datasets are compared whatever they are called.
        sets = ({each.dataset for each in side.ranges} | {each.dataset for each in side.orphans} for side in (a, b))
        self.named = any(len(each) > 1 for each in sets)
        pairs = paired(*([(at, self._key(each)) for at, each in enumerate(side.ranges)] for side in (a, b)))
        self.pairs = dict(zip(pairs.a, pairs.b, strict=True))
        self.same: set[int] = set()
        self._progress.begin("Comparing ranges", sum(each.size for each in a.ranges))
        for i in pairs.only_a:
            self._add_only("A", _range_side(a.ranges[i]), f"The range {_range_name(a.ranges[i])}")
        for i, j in self.pairs.items():
            if why := self._difference(i, j):
                right = self._right(i, j)
                proof = (
                    f" {right.upper()} is right: no error was found in its range; the other has some." if right else ""
                )
                words = f"The range {_range_name(a.ranges[i])} changed: {why}.{proof}"
                self._add(Change.CHANGED, _range_side(a.ranges[i]), _range_side(b.ranges[j]), words, right)
            else:
                self.counts[SAME if why is None else NOT_COMPARED] += 1
        for j in pairs.only_b:
            self._add_only("B", _range_side(b.ranges[j]), f"The range {_range_name(b.ranges[j])}")
        sides = a.orphans, b.orphans
        left = paired(*([(at, (self._key(each), each.name)) for at, each in enumerate(side)] for side in sides))
        for name, side, numbers in zip("AB", sides, (left.only_a, left.only_b), strict=True):
            for own in map(side.__getitem__, numbers):
                self._add_only(name, Side(_range_name(own), ()), f"{visible(own.name)}, metadata without its range,")

    def _key(self, each: Range | Orphan) -> tuple[str, int, int]:
        return each.dataset if self.named else "", each.first, each.last

    def _difference(self, i: int, j: int) -> str | None:
        """How two ranges differ, None if they do not; empty where a quick look cannot tell."""
        why = self._files_differ(self._a.archives[i].source, self._b.archives[j].source)
        if why is None:
            self.same.add(i)
        in_a, in_b = bool(self._a.ranges[i].beside), bool(self._b.ranges[j].beside)
        if in_a is not in_b:
            words = f"only {'A' if in_a else 'B'} has metadata beside it"
            return f"{why}, and {words}" if why else words
        beside = self._files_differ(self._a.opened.beside(i), self._b.opened.beside(j)) if in_a else None
        if beside:
            return f"{why}; of its metadata, {beside}" if why else f"of its metadata, {beside}"
        return beside if why is None else why

    def _files_differ(self, some: Source, other: Source) -> str | None:
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
        self._check()
        a, b = (state_of((side.archives[at],)).fine for side, at in ((self._a, i), (self._b, j)))
        return None if self._quick or a is b else A if a else B


def _range_name(each: Range | Orphan) -> str:
    return visible(f"{each.dataset}/{each.name}")


def _range_side(each: Range) -> Side:
    return Side(_range_name(each), (), location=each.location)


class ComparedMembers(Rows):
    """The members of two sides. ``alignment`` is of their bytes if those were compared.

    ``ranges`` are those of datasets, whose members have one name wherever they stand.
    ``quick``: only recorded digests are compared, and members without are not.
    """

    level = Level.MEMBER

    def run(self, alignment: Alignment | None, ranges: ComparedRanges | None) -> None:
        """Compare the members. Raises SourceError and Cancelled."""
        self._alignment = alignment
        self._ranges = ranges
        self._across: set[int] = set()
        pairs = self._paired()
        known = self._known_same(pairs)
        left = (self._a.size(i) for i, same in zip(pairs.a, known, strict=True) if not same)
        self._progress.begin("Comparing members", sum(left))
        same_a, same_b = array("q"), array("q")
        for i, j, alike in zip(pairs.a, pairs.b, known, strict=True):
            why = None if alike else self._difference(i, j)
            if why is None:
                same_a.append(i)
                same_b.append(j)
            elif why:
                right, proof = self._right(i, j)
                words = f"{visible(self._a.path(i))} changed: {why}".rstrip(".")
                self._add(Change.CHANGED, _side(self._a, i), _side(self._b, j), f"{words}.{proof}", right)
            else:
                self.counts[NOT_COMPARED] += 1
        self.counts[SAME] += len(same_a)
        self._report_moved(same_a, same_b)
        self._report_unpaired(pairs.only_a, pairs.only_b)

    # ---- by name -----------------------------------------------------------------------------------------------

    def _paired(self) -> Pairs:
        """The members with the same name on both sides, the first with the first, and those on one side only."""
        a, b = self._a, self._b
        if self._ranges is not None:
            return self._paired_in_ranges(self._ranges)
        if (both := self._columns()) is not None and _same_names(*both):
            return Pairs(array("q", range(len(a))), array("q", range(len(b))), [], [])
        folders = a.ordered and b.ordered  # a folder on disk lists no folders of its own

        def named(side: Listing) -> Iterator[tuple[int, bytes]]:
            numbers = range(len(side))
            return ((at, side.path(at)) for at in (numbers if folders else filter(side.is_file, numbers)))

        return paired(named(a), named(b))

    def _paired_in_ranges(self, ranges: ComparedRanges) -> Pairs:
        """Members of the same name in ranges with the same keys, then those of the same name in any two ranges."""

        def anywhere(side: Listing, numbers: Iterable[int]) -> Iterator[tuple[int, tuple[str, bytes]]]:
            for at in numbers:
                part = side.place(at)[0]
                yield at, (side.ranges[part].dataset if ranges.named else "", side.seen(at).path)

        def keyed(side: Listing, part_of: Callable[[int], int]) -> Iterator[tuple[int, tuple[int, bytes]]]:
            for at in range(len(side)):
                part, index = side.place(at)
                yield at, (part_of(part), side.archives[part].members.path(index))

        here = paired(keyed(self._a, lambda part: ranges.pairs.get(part, -1)), keyed(self._b, lambda part: part))
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

    def _known_same(self, pairs: Pairs) -> bytes:
        """A 1 for each pair of members whose stored bytes, compared already, show that they are the same."""
        alignment, both = self._alignment, self._columns()
        if alignment is not None and not len(alignment) and alignment.a_size == alignment.b_size:
            return b"\x01" * len(pairs.a)
        if self._ranges is not None:
            same = self._ranges.same
            return bytes(i not in self._across and self._a.place(i)[0] in same for i in pairs.a)
        if both is None or alignment is None or not all(map(_plain, both)) or not pairs.a:
            return bytes(len(pairs.a))
        return _aligned_alike(both, pairs, alignment)

    def _difference(self, i: int, j: int) -> str | None:
        """How two members of the same name differ, None if they do not; empty where a quick look cannot tell."""
        own, other = self._a.seen(i), self._b.seen(j)
        if not (self._a.is_file(i) or self._b.is_file(j)):
            return None
        if own.size != other.size:
            return f"it has {in_bytes(own.size)} in A and {in_bytes(other.size)} in B"
        if self._quick:
            return _records_differ(own.digest or "", other.digest or "")
        if self._stored_alike(own, other):
            self._progress.advance(own.size)
            return None
        try:
            a, b = _pieces(self._a, i, "A", self._progress), _pieces(self._b, j, "B", Progress())
            at = _first_difference(a, b, self._progress)
        except MemberError as error:
            return str(error)
        return None if at is None else f"its content differs from byte {grouped(at)} of {grouped(own.size)} on"

    def _stored_alike(self, own: Member, other: Member) -> bool:
        """Whether the stored bytes were compared already, and say all."""
        alignment = self._alignment
        return (
            alignment is not None
            and own.codec is other.codec
            and own.codec in _BY_THEMSELVES
            and len(own.spans) == len(other.spans)
            and all(alignment.equal(Span(*x), Span(*y)) for x, y in zip(own.spans, other.spans, strict=True))
        )

    def _right(self, i: int, j: int) -> tuple[str | None, str]:
        """The side whose own digest fits, and the sentence that says so."""
        self._check()
        if self._a.seen(i).digest == self._b.seen(j).digest:  # otherwise each records its own content
            a, b = self._a.verdict(i), self._b.verdict(j)
            for side, own, other, wrong in ((A, a, b, "B"), (B, b, a, "A")):
                if own is Verdict.VERIFIED and other in (Verdict.MISMATCH, Verdict.DOUBTFUL):
                    return side, f" {side.upper()} is right: its digest fits; that of {wrong} does not."
        return None, ""

    # ---- what has no partner -----------------------------------------------------------------------------------

    def _report_moved(self, same_a: array[int], same_b: array[int]) -> None:
        """Members of datasets have no order but their keys: what moves there stands in a range with other keys."""
        a, b = self._a, self._b
        if not (a.ordered and b.ordered):
            return
        if self._ranges is not None:
            moved = [at for at, i in enumerate(same_a) if i in self._across]
        elif all(x < y for x, y in pairwise(same_b)):
            return
        else:
            moved = sorted(set(range(len(same_b))).difference(ascending(same_b)))
        for i, j in ((same_a[at], same_b[at]) for at in moved):
            name, words = a.path(i), f"it is member {grouped(i)} of A and {grouped(j)} of B"
            if self._ranges is not None:
                here, there = (visible(side.ranges[side.place(at)[0]].name) for side, at in ((a, i), (b, j)))
                name, words = a.seen(i).path, f"it is in the range {here} of A and {there} of B"
            self.counts[SAME] -= 1
            self._add(Change.MOVED, _side(a, i), _side(b, j), f"{visible(name)} moved: {words}.")

    def _report_unpaired(self, only_a: Sequence[int], only_b: Sequence[int]) -> None:
        a, b = self._a, self._b
        sizes = ({b.size(j) for j in only_b} & {a.size(i) for i in only_a}) - {0}

        def contents(side: Listing, numbers: Sequence[int]) -> list[tuple[int, tuple[int, str]]]:
            keys = ((at, self._identity(side, at)) for at in numbers if side.size(at) in sizes)
            return [(at, (side.size(at), key)) for at, key in keys if key]

        others = contents(b, only_b)
        found = paired(contents(a, only_a) if others else (), others)
        partner, renamed = dict(zip(found.a, found.b, strict=True)), set(found.b)
        for i in only_a:
            if (j := partner.get(i)) is None:
                self._add_only("A", _side(a, i), visible(a.path(i)))
            else:
                words = f"{visible(a.path(i))} is called {visible(b.path(j))} in B."
                self._add(Change.RENAMED, _side(a, i), _side(b, j), words)
        for j in only_b:
            if j not in renamed:
                self._add_only("B", _side(b, j), visible(b.path(j)))

    def _identity(self, side: Listing, at: int) -> str | None:
        """What identifies a content; None where that is not recorded, or cannot be read."""
        if self._quick:
            return side.seen(at).digest
        if not side.is_file(at):
            return None
        digest = hashlib.blake2b()
        try:
            for piece in side.pieces(at, self._progress):
                digest.update(piece)
                self._progress.advance(0)
        except MemberError:
            return None
        return digest.hexdigest()


def _side(side: Listing, at: int) -> Side:
    location = side.ranges[side.place(at)[0]].location if side.ranges else ""
    return Side(decoded_name(side.path(at))[0], side.seen(at).spans, location=location)


def _records_differ(some: str, other: str) -> str | None:
    (name, _, own), (other_name, _, others) = some.partition(":"), other.partition(":")
    if not some or not other or name != other_name:
        return ""
    if some == other:
        return None
    return f"its recorded {_NAMES.get(name, name)} is {own} in A and {others} in B; the contents were not read"


def _pieces(side: Listing, at: int, name: str, progress: Progress) -> Iterator[bytes]:
    try:
        yield from side.pieces(at, progress)
    except MemberError as error:
        raise MemberError(f"it cannot be read in {name}: {error}") from error


def _same_names(a: Members, b: Members) -> bool:
    appended = a.as_appended and b.as_appended
    return appended and a.path_stops == b.path_stops and a.paths == b.paths


def _plain(members: Members) -> bool:
    """Whether the columns say where the stored bytes are, and those alone determine each content."""
    return members.placed_as_is and members.codecs is None and members.codec in _BY_THEMSELVES


def _aligned_alike(both: tuple[Members, Members], pairs: Pairs, alignment: Alignment) -> bytes:
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
    ends = np.array([2**64 - 1, 0, 2**64 - 1, 0], dtype=np.uint64)  # one before all runs and behind them
    a_starts, a_stops, _, b_stops = np.concatenate((np.asarray(alignment.places), ends)).reshape(-1, 4).T
    run = np.searchsorted(a_starts[:-1], starts, side="right")
    a_since, b_since, behind = a_stops[run - 1], b_stops[run - 1], a_starts[run]
    same &= (a_since <= starts) & (b_since <= others) & (stops <= behind) & (starts - a_since == others - b_since)
    found: bytes = same.astype(np.uint8).tobytes()
    return found


def _first_difference(a: Iterator[bytes], b: Iterator[bytes], progress: Progress) -> int | None:
    """Where two contents begin to differ, None where they are equal."""
    at, some, other = 0, b"", b""
    while True:
        some, other = some or next(filter(None, a), b""), other or next(filter(None, b), b"")
        size = min(len(some), len(other))
        if not size:
            return None if len(some) == len(other) else at
        if some[:size] != other[:size]:
            return at + int(mismatches(some[:size], other[:size])[0])
        some, other = some[size:], other[size:]
        at += size
        progress.advance(size)
