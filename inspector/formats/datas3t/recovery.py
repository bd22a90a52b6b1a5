"""Recover datapoints whose tar header is lost: the metadata says where they are, and its hashes prove their bytes.

S3 Storage Layout, Metadata Files. The metadata gives no exact size, because an end offset may include the padding. So
every size is tried that leaves less than a block. Bytes that were lost or inserted before move a datapoint; it
is tried at the distance by which its neighbours have moved, too.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice

from inspector.core.archive import MAX_FINDINGS_PER_KIND, Emitter
from inspector.core.names import brief
from inspector.core.numbers import count
from inspector.core.program.progress import Progress
from inspector.core.source import Source, blocks
from inspector.formats._tar.header import BLOCK, SEARCH_WINDOW_BYTES, aligned, parse
from inspector.formats._tar.resync import Proved, Recover
from inspector.formats.datas3t import DIGITS, codes
from inspector.formats.datas3t.datapoints import RangeRecords

_HEADER_WITHOUT_ZEROS = re.compile(rb"(?P<name>\d{20}\.\D{1,60}?|\d{20})\d{21}(?P<size>[0-7]{11})\d{11}[0-7]{6} 0ustar")
"""What is left of a header: mode, uid, gid, size, mtime, checksum and type flag stand in a row."""
MAX_NAMES_COUNTED = 100
"""Names from which the extension of a lost name is taken."""


class Recovery(Recover):
    """Finds datapoints of the tar that is being decoded."""

    def __init__(self, emitter: Emitter, records: RangeRecords) -> None:
        self._emitter = emitter
        self._records = records

    @cached_property
    def _begins(self) -> tuple[list[int], list[int]]:
        """The begin offsets of all rows, ascending, and the rows."""
        order = sorted((self._records.rows.begins[row], row) for row in self._records.row_by_key.values())
        return [begin for begin, _ in order], [row for _, row in order]

    def recorded(self) -> Sequence[int]:
        """The offsets of headers that the metadata or the index has."""
        size, index = self._emitter.archive.source.size, self._records.index
        heads = {index[row][0] for row in range(len(index))} if index is not None else set[int]()
        return sorted(head for head in heads.union(self._records.rows.begins) if head < size)

    def between(self, start: int, stop: int, progress: Progress) -> Sequence[Proved]:
        """The datapoints that lie in the bytes ``[start, stop)``, in order and disjoint."""
        places = {place for moved in self._distances(stop) for place in self._places(start, stop, moved)}
        found: list[Proved] = []
        free = start
        members, begins = self._emitter.members, self._records.rows.begins
        last = self._records.row_named(members.path(len(members) - 1)) if len(members) else None
        for head, row in sorted(places):
            # Only what follows the last member: an empty datapoint would be found anywhere.
            if head + BLOCK < free or (last is not None and begins[row] <= begins[last]):
                continue
            if (proved := self._proved(row, head, stop, stop, progress)) is not None:
                found.append(proved._replace(head=max(free, head)))
                free = proved.start + aligned(proved.stop - proved.start)
        return found or self._without_zeros(start, stop, progress)

    def _without_zeros(self, start: int, stop: int, progress: Progress) -> list[Proved]:
        """The datapoints of a copy that dropped all zero bytes, as far as they had none themselves.

        Their headers are shorter then: a name, numbers in a row, and the magic. Each ends where the next begins.
        """
        source = self._emitter.archive.source
        if stop - start < BLOCK or b"\0" in source.read(start, BLOCK):
            return []
        places: list[tuple[int, bytes, int]] = []
        for at in range(start, stop, SEARCH_WINDOW_BYTES):
            data = source.read(at, min(SEARCH_WINDOW_BYTES + BLOCK, stop - at))
            found = _HEADER_WITHOUT_ZEROS.finditer(data)
            here = (each for each in found if each.start() < SEARCH_WINDOW_BYTES)
            places += ((at + each.start(), each["name"], int(each["size"], 8)) for each in here)
            progress.advance(0)
        ends = [place for place, _, _ in places[1:]] + [stop]
        pairs = zip(places, ends, strict=False)
        tried = (self._ending_at(end, place, name, size, progress) for (place, name, size), end in pairs)
        return [each for each in tried if each is not None]

    def _ending_at(self, end: int, place: int, name: bytes, size: int, progress: Progress) -> Proved | None:
        """The datapoint of a name whose data of ``size`` bytes ends at ``end``, if its hash proves that."""
        row, rows = self._records.row_named(name), self._records.rows
        if row is None or end - size <= place:
            return None
        # One size is tried: it is recorded, so that a shorter one is no datapoint.
        proved = _proved_size(self._emitter.archive.source, end - size, end, end, rows.hashes[row], progress)
        return Proved(name, place, end - size, end) if proved == size else None

    def at(self, head: int, stop: int, progress: Progress) -> Proved | None:
        """The datapoint whose header belongs at ``head``, if the next one's is at ``stop``."""
        size = self._emitter.archive.source.size
        for moved in self._distances(stop):
            for place, row in self._places(head, head + BLOCK + 1, moved):
                if place == head and (proved := self._proved(row, head, size, stop, progress)) is not None:
                    return proved
        return None

    def _places(self, start: int, stop: int, moved: int) -> Iterator[tuple[int, int]]:
        """Where the headers of rows would begin, moved by some bytes, if their data begins in the bytes."""
        begins, rows = self._begins
        low, high = bisect_left(begins, start - BLOCK - moved), bisect_right(begins, stop - BLOCK - moved)
        return ((begins[at] + moved, rows[at]) for at in range(low, high))

    def _distances(self, stop: int) -> set[int]:
        """By how many bytes datapoints have moved: the one before, and the one whose header is at ``stop``."""
        members, near = self._emitter.members, list[tuple[bytes, int]]()
        if len(members) and members.heads is not None:
            near.append((members.path(len(members) - 1), members.heads[-1]))
        block = self._emitter.archive.source.read(stop, BLOCK)
        if len(block) == BLOCK and (after := parse(block)).fits:
            near.append((after.name, stop))
        rows = ((self._records.row_named(name), head) for name, head in near)
        return {0} | {head - self._records.rows.begins[row] for row, head in rows if row is not None}

    def _proved(self, row: int, head: int, limit: int, after: int, progress: Progress) -> Proved | None:
        """The datapoint of a row, if its data ends by ``limit``; the next header is at ``after``."""
        rows = self._records.rows
        start = head + BLOCK
        stop = head + rows.ends[row] - rows.begins[row]
        if not start <= stop:
            return None
        size = _proved_size(self._emitter.archive.source, start, stop, limit, rows.hashes[row], progress)
        name = b"%0*d" % (DIGITS, rows.ids[row]) + self._extension(after)
        return None if size is None else Proved(name, head, start, start + size)

    def _extension(self, stop: int) -> bytes:
        """The extension of most names so far, or of the header at ``stop``: that of a lost name is not recorded."""
        members = self._emitter.members
        names = [members.path(index) for index in range(min(len(members), MAX_NAMES_COUNTED))]
        if not names:
            names.append(parse(self._emitter.archive.source.read(stop, BLOCK).ljust(BLOCK, b"\0")).name)
        extensions = Counter(dot + rest for _, dot, rest in (name.partition(b".") for name in names))
        return extensions.most_common(1)[0][0]


def _proved_size(source: Source, start: int, stop: int, limit: int, digest: int, progress: Progress) -> int | None:
    """The size of the data at ``start`` for which the hash matches, None for none.

    With its padding it ends at ``stop``, of which what follows ``limit`` may be missing.
    """
    # Imported here because start-up must not wait for it.
    import xxhash

    state = xxhash.xxh64()
    sure = max(start, stop - BLOCK + 1)
    if sure > limit:
        return None
    for piece in blocks(source, start, sure):
        state.update(piece)
        progress.advance(0)
    rest = source.read(sure, min(stop, limit) - sure)
    for size in range(len(rest) + 1):
        if state.intdigest() == digest:
            return sure + size - start
        state.update(rest[size : size + 1])
    return None


def report_recovered(emitter: Emitter, records: RangeRecords) -> None:
    """Report the datapoints that were recovered."""
    found, members = records.layout.recovered, emitter.members
    if found:
        name = brief(members.path(found[0]))
        more = f" and {count(len(found) - 1, 'more datapoint')}" if len(found) > 1 else ""
        emitter.report(
            codes.RECOVERED,
            f"{name}{more} {'is' if len(found) == 1 else 'are'} recovered without a readable tar header. The hashes in "
            "the metadata prove their bytes; the extensions in their names are taken from the other datapoints.",
            *((members.starts[index], members.stops[index]) for index in islice(found, MAX_FINDINGS_PER_KIND)),
        )
