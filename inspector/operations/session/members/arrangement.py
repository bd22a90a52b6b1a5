"""Members as numpy arrays: which are shown, in which order, and where those are that a check has judged."""

from __future__ import annotations

import re
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.core.archive import Archive
from inspector.core.member import HAS_DIGEST, UNREADABLE, Codec, Members
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.verdict import VERDICTS, Verdict
from inspector.operations.open.location import Location
from inspector.operations.protocol.views import Judged, SortKey

NAMES_PER_STEP = 1 << 16
"""Names looked through between two chances to cancel."""
_PLAIN = bytes(range(0x20, 0x7F))


class Arrangement:
    """Rows of the flat table: ``order`` are the members shown; ``rows`` the row of every member, -1 where hidden."""

    def __init__(self, order: Numbers, members: int) -> None:
        self.order: Numbers = order.astype(np.uint32)
        self.rows: Numbers = np.full(members, -1, np.int32)
        self.rows[order] = np.arange(len(order), dtype=np.int32)

    def row(self, member: int) -> int | None:
        """The row of a member; None where it is not shown."""
        found = int(self.rows[member]) if member < len(self.rows) else -1
        return found if found >= 0 else None


class Arranger:
    """Filters and sorts the members of a location, and remembers the order of the names."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._whole: NameOrder | None = None
        self._plain: dict[tuple[int, int, int], bool] = {}

    def arrange(self, filter_text: str, key: SortKey, descending: bool, progress: Progress) -> Arrangement:
        """What to show: members whose visible path holds the text, whatever its case."""
        count = self._location.members
        shown = self._matching(filter_text.lower(), count, progress) if filter_text else None
        if key is SortKey.NAME:
            whole = self.name_order(names_of(self._location, count), progress)
            order = whole.order if shown is None else kept(whole, shown).order
        else:
            order = np.arange(count) if shown is None else np.flatnonzero(shown)
            if key is not SortKey.ARCHIVE:
                order = order[np.argsort(column_of(self._location, key, count)[order], kind="stable")]
        return Arrangement(order[::-1] if descending else order, count)

    def name_order(self, names: Names, progress: Progress) -> NameOrder:
        """The members in the order of their paths, which are ``names``."""
        if self._whole is None or len(self._whole.order) != len(names):
            self._whole = sort_names(names, progress)
        return self._whole

    def _matching(self, needle: str, count: int, progress: Progress) -> Numbers:
        progress.begin("Filtering", count, "members")
        shown = np.zeros(count, bool)
        base = 0
        for at, here in enumerate(_counts(self._location, count)):
            for first in range(0, here, NAMES_PER_STEP):
                stop = min(here, first + NAMES_PER_STEP)
                blob, stops = names_between(self._location, at, first, stop)
                matches = _plain_matches if self._is_plain((at, first, stop), blob) else _matches
                shown[base + first : base + stop] = matches(blob, stops, needle)
                progress.advance(stop - first)
            base += here
        return shown

    def _is_plain(self, window: tuple[int, int, int], blob: bytes | bytearray) -> bool:
        """Whether names are shown as they are and every character is a byte; remembered, for names do not change."""
        if window not in self._plain:
            self._plain[window] = not blob.translate(None, _PLAIN)
        return self._plain[window]


def _matches(blob: bytes | bytearray, stops: Numbers, needle: str) -> Numbers:
    """Which of these names hold the needle, as they are shown and in lower case."""
    starts = [0, *stops[:-1].tolist()]
    names = (bytes(blob[start:stop]) for start, stop in zip(starts, stops.tolist(), strict=True))
    return np.array([needle in visible(name).lower() for name in names], bool)


def _plain_matches(blob: bytes | bytearray, stops: Numbers, needle: str) -> Numbers:
    """Which of these names, all of plain ASCII, hold the needle: looked for in all of them at once."""
    shown = np.zeros(len(stops), bool)
    if not needle.isascii():
        return shown
    wanted = needle.encode()
    if wanted.upper() != wanted:
        blob = blob.lower()
    hits = np.array([match.start() for match in re.finditer(re.escape(wanted), blob)], np.int64)
    if not len(hits):
        return shown
    owners = np.searchsorted(stops, hits, "right")
    inside = hits + len(wanted) <= stops[owners]
    shown[owners[inside]] = True
    # A hit across the border of two names may hide one that begins inside it: those names are looked at one by one.
    for hit, owner in zip(hits[~inside].tolist(), owners[~inside].tolist(), strict=True):
        at = owner + 1
        while at < len(stops) and stops[at - 1] < hit + len(wanted):
            shown[at] |= wanted in blob[int(stops[at - 1]) : int(stops[at])]
            at += 1
    return shown


def _counts(location: Location, count: int) -> list[int]:
    """How many of the first ``count`` members are in each archive."""
    stops = accumulate((len(archive.members) for archive in location.archives), initial=0)
    return [max(0, min(count, stop) - start) for start, stop in pairwise(stops)]


def names_of(location: Location, count: int) -> Names:
    """The whole paths of the first ``count`` members."""
    blobs: list[bytes | bytearray] = []
    lengths: list[Numbers] = []
    for at, here in enumerate(_counts(location, count)):
        blob, stops = names_between(location, at, 0, here)
        blobs.append(blob)
        lengths.append(np.diff(stops, prepend=0))
    if not lengths:
        return Names(b"", np.zeros(0, np.int64))
    return Names(blobs[0] if len(blobs) == 1 else b"".join(blobs), np.cumsum(np.concatenate(lengths)))


def names_between(location: Location, at: int, first: int, stop: int) -> tuple[bytes | bytearray, Numbers]:
    """The whole paths of members ``[first, stop)`` of an archive: one after another, and where each ends."""
    members, folder = location.archives[at].members, location.folder(at)
    if folder or not members.as_appended:
        names = [folder + members.path(index) for index in range(first, stop)]
        return b"".join(names), np.cumsum([len(name) for name in names], dtype=np.int64)
    start = members.path_stops[first - 1] if first else 0
    stops = np.array(members.path_stops[first:stop], np.int64) - start
    # A copy, as all columns are: while a view of one exists, the decoder could not append to it.
    return members.paths[start : start + int(stops[-1])] if stop > first else b"", stops


def column_of(location: Location, key: SortKey, count: int) -> Numbers:
    """What the first ``count`` members are sorted by, as numbers (there are none for names)."""
    found = enumerate(_counts(location, count))
    parts = [_column(location.archives[at].members, key, here) for at, here in found]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _column(members: Members, key: SortKey, count: int) -> Numbers:
    if key is SortKey.CODEC:
        if members.codecs is None:
            return np.full(count, list(Codec).index(members.codec), np.uint8)
        return np.array(members.codecs[:count], np.uint8)
    if key is SortKey.DIGEST:  # those without one come first
        if members.digests is None:
            return np.zeros(count, np.uint64)
        digests = np.array(members.digests[:count], np.uint64)
        marks = members.marks
        return digests if marks is None else np.where(np.array(marks[:count]) & HAS_DIGEST, digests, 0)
    starts = np.array(members.starts[:count], np.int64)
    if key is SortKey.OFFSET:
        return starts
    if key is SortKey.SIZE and members.sizes is not None:
        return np.array(members.sizes[:count], np.int64)
    stored: Numbers = np.maximum(0, np.array(members.stops[:count], np.int64) - starts)
    return stored


Numbers = NDArray[Any]
WORD = 8
_KEEP = np.array([0] + [(2**64 - 1) << (8 * (WORD - count)) & (2**64 - 1) for count in range(1, WORD + 1)], np.uint64)
"""What to keep of a word of which ``count`` bytes belong to the name."""


class Names:
    """Names one after another in ``blob``; name ``i`` is ``blob[stops[i - 1]:stops[i]]``. A snapshot: nothing grows."""

    def __init__(self, blob: bytes | bytearray, stops: Numbers) -> None:
        self.blob = b"".join((blob, bytes(WORD)))  # so that a word can be read at every byte of a name
        self.stops = stops
        self.starts: Numbers = np.zeros_like(stops)
        self.starts[1:] = stops[:-1]
        self._words: Numbers = np.ndarray((len(blob) + 1,), ">u8", self.blob, strides=(1,))

    def __len__(self) -> int:
        return len(self.stops)

    def words(self, rows: Numbers, depth: int) -> Numbers:
        """Bytes ``[depth, depth + 8)`` of each name as a number that sorts like them; zero past the end."""
        at = self.starts[rows] + depth
        left = np.clip(self.stops[rows] - at, 0, WORD)
        words: Numbers = self._words[np.minimum(at, len(self._words) - 1)].astype(np.uint64)
        words &= _KEEP[left]
        return words


class NameOrder(Struct, frozen=True):
    """Names in order: ``order[row]`` is the name, ``common[row]`` how many bytes it shares with the row before."""

    order: Numbers
    common: Numbers


def sort_names(names: Names, progress: Progress) -> NameOrder:
    """Sort by bytes, equal names in their own order; raises Cancelled.

    A most-significant-word-first sort: each round orders by eight bytes more what was equal so far.
    """
    count = len(names)
    progress.begin("Sorting names", count, "members")
    order = np.arange(count)
    common = np.zeros(count, np.int64)
    lengths = names.stops - names.starts
    # Rows that are equal so far, and the group of equal rows that each belongs to.
    tied, group, depth = np.arange(count), np.zeros(count, np.int64), 0
    while len(tied):
        progress.advance(0)
        rows = order[tied]
        key = names.words(rows, depth)
        # A name that ends here and one that goes on with NULs have the same word: the shorter one comes first.
        left = np.minimum(lengths[rows] - depth, WORD)
        rank = _ranked(group, key, left)
        order[tied], key, left = rows[rank], key[rank], left[rank]
        same_group = np.zeros(len(tied), bool)
        same_group[1:] = group[1:] == group[:-1]
        equal = same_group.copy()
        equal[1:] &= (key[1:] == key[:-1]) & (left[1:] == left[:-1])
        split = np.flatnonzero(same_group & ~equal)
        common[tied[split]] = depth + _shared(key[split - 1], key[split], left[split - 1], left[split])
        common[tied[equal]] = depth + left[equal]
        more = left == WORD
        keep = equal & more
        keep[:-1] |= equal[1:] & more[:-1]
        group = np.cumsum(~equal)[keep]
        tied = tied[keep]
        progress.done = count - len(tied)
        depth += WORD
    return NameOrder(order.astype(np.uint32), common.astype(np.uint32))


def _ranked(group: Numbers, key: Numbers, left: Numbers) -> Numbers:
    """The stable order by group, word and length; cheap where it is in order already."""
    later = (group[1:] == group[:-1]) & ((key[1:] < key[:-1]) | ((key[1:] == key[:-1]) & (left[1:] < left[:-1])))
    return np.lexsort((left, key, group)) if later.any() else np.arange(len(key))


def _shared(some: Numbers, others: Numbers, some_left: Numbers, others_left: Numbers) -> Numbers:
    """How many leading bytes two words have in common."""
    differing = some ^ others
    shared = np.full(len(some), WORD)
    for count in range(WORD):
        byte = (differing >> np.uint64(8 * (WORD - 1 - count))) & np.uint64(0xFF)
        shared = np.where((shared == WORD) & (byte != 0), count, shared)
    least: Numbers = np.minimum(shared, np.minimum(some_left, others_left))
    return least


def kept(whole: NameOrder, shown: Numbers) -> NameOrder:
    """The order of some of the names; ``shown`` says of each name whether it is one of them."""
    rows = np.flatnonzero(shown[whole.order])
    if not len(rows):
        return NameOrder(whole.order[:0], whole.common[:0])
    # What two rows share that have others between them is the least that the neighbours in between share.
    least = np.minimum.reduceat(whole.common[: rows[-1] + 1], np.concatenate(([0], rows[:-1] + 1)))
    least[0] = 0
    return NameOrder(whole.order[rows], least)


# ---- which stretches hold members that were verified, that are damaged, or that nothing is known of ------------------


MEMBERS_PER_STEP = 1 << 16
"""Members painted between two chances to cancel."""

BITS = {
    Verdict.NOT_CHECKED: Judged.UNCHECKED,
    Verdict.NOT_CHECKABLE: Judged.UNCHECKED,
    Verdict.DOUBTFUL: Judged.UNCHECKED,
    Verdict.VERIFIED: Judged.VERIFIED,
    Verdict.MISMATCH: Judged.DAMAGED,
}
_MAP = np.array([BITS[verdict] for verdict in VERDICTS], np.uint8)


def verdict_overview(archive: Archive, inner: bool, rows: int, progress: Progress) -> list[int]:
    """The set (see ``Judged``) of each of ``rows`` equal stretches of an archive's file or of its inner stream.

    Stretch ``i`` is that of ``overview``. Only the stored bytes of members count.
    """
    size = archive.inner.size if inner and archive.inner is not None else archive.source.size
    if size <= 0 or rows <= 0:
        return [0] * max(0, rows)
    # In Python's numbers: a product of two sizes may be more than 64 bits hold.
    edges = np.array([row * size // rows for row in range(rows)], np.int64)
    # For every stretch, how many members of a kind begin in it less how many end before it.
    changes = {bit: np.zeros(rows + 1, np.int64) for bit in Judged}
    members = archive.members
    progress.begin("Mapping verdicts", len(members), "members")
    limit = archive.inner.size if archive.inner is not None else size
    chunks = None if inner or archive.inner is None else np.array(archive.inner.outer(0, limit), np.int64)
    for first in range(0, len(members), MEMBERS_PER_STEP):
        stop = min(len(members), first + MEMBERS_PER_STEP)
        starts = np.minimum(np.array(members.starts[first:stop], np.uint64), limit).astype(np.int64)
        stops = np.minimum(np.array(members.stops[first:stop], np.uint64), limit).astype(np.int64)
        judged = np.frombuffer(bytes(archive.verdicts[first:stop]), np.uint8)
        bits = _MAP[np.pad(judged, (0, stop - first - len(judged)))]
        there = stops > starts
        if members.marks is not None:
            there &= (np.array(members.marks[first:stop], np.uint8) & UNREADABLE) == 0
        starts, stops, bits = starts[there], stops[there], bits[there]
        if chunks is not None:
            starts, stops, bits = _in_chunks(chunks.reshape(-1, 2), starts, stops, bits)
        # Where the file is smaller than the map, one byte is in several stretches: the first of them that it is in.
        begun = np.searchsorted(edges, starts, "left")
        begun = np.where((begun < rows) & (edges[np.minimum(begun, rows - 1)] == starts), begun, begun - 1)
        ended = np.searchsorted(edges, stops, "left")
        for bit in Judged:
            chosen = bits == bit
            changes[bit] += np.bincount(begun[chosen], minlength=rows + 1) - np.bincount(
                ended[chosen], minlength=rows + 1
            )
        progress.advance(stop - first)
    found = np.zeros(rows, np.int64)
    for bit, change in changes.items():
        found |= np.where(np.cumsum(change)[:-1] > 0, int(bit), 0)
    return found.tolist()


def _in_chunks(chunks: Numbers, starts: Numbers, stops: Numbers, bits: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Stretches of an inner stream as stretches of the file, each in as many pieces as it has there."""
    sizes = chunks[:, 1] - chunks[:, 0]
    chunk_stops = np.cumsum(sizes)
    chunk_starts = chunk_stops - sizes
    first = np.searchsorted(chunk_stops, starts, "right")
    pieces = np.searchsorted(chunk_stops, stops, "left") - first + 1
    which = np.repeat(np.arange(len(starts)), pieces)
    chunk = first[which] + np.arange(len(which)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    moved = chunks[chunk, 0] - chunk_starts[chunk]
    begun, ended = np.maximum(starts[which], chunk_starts[chunk]), np.minimum(stops[which], chunk_stops[chunk])
    return begun + moved, ended + moved, bits[which]
