"""Whole segments anywhere in the file, whatever the chunks say (RCA: "Reset blocks (block type 0)").

Bytes that were lost or inserted before a chunk header, or in front of the archive, leave segments where the chain of
chunks does not lead, and what is left of an older archive behind a new one has none. A segment begins with a blob that
opens a zstd frame, perhaps after a reset block, and is proved by the hash in the reset block that follows it. Time is
linear in the bytes searched: all that is followed is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2s

from msgspec import Struct

from inspector.core.program.progress import Progress
from inspector.core.source import Source, blocks
from inspector.core.span import Span, total
from inspector.formats._signatures import found_outside
from inspector.formats._zstd import MAGIC, Stream, ZstdError
from inspector.formats.rca.blocks import BLOB, HASH_SIZE, MAX_VARINT_BYTES, RESET, kind_and_size, varint
from inspector.formats.rca.search import MAX_EXTRA_BYTES

MAX_READS_OF_FILE = 6
"""Segments are followed for so many times the bytes searched together."""
MAX_STRAYS = 10_000
"""Segments that are kept."""
MAX_SEARCHED_BYTES = 64 << 20
"""Bytes that are searched."""
MAX_SCANS = 4
"""Times that the file is searched for the hash of its last segment."""
MAX_BLOCK_STEPS = 100_000
"""Blocks and frames that are looked at, however small."""
_WINDOW_BYTES = 1 << 20
_HEAD_BYTES = 32


class Stray(Struct, frozen=True):
    """A proved segment: its first blob begins at ``start``, and it ends at ``stop``; the names of its blobs."""

    start: int
    stop: int
    names: tuple[bytes, ...]


def find_strays(
    source: Source, taken: Sequence[Span], known: frozenset[bytes], progress: Progress
) -> tuple[tuple[Stray, ...], bool]:
    """The proved segments outside the spans ``taken`` with a name that is not ``known``, and whether all was searched.

    Raises SourceError and Cancelled.
    """
    found: list[Stray] = []
    search = _Search(source, progress)
    names = set(known)
    free = 0
    progress.begin("Looking for whole segments", min(source.size, MAX_SEARCHED_BYTES))
    for frame in found_outside(source, MAGIC, taken, MAX_SEARCHED_BYTES, progress):
        if frame < free:
            continue
        if not search.left or len(found) == MAX_STRAYS:
            break
        stray = search.segment(frame)
        if stray is not None and not names.issuperset(stray.names):
            found.append(stray)
            names.update(stray.names)
            free = stray.stop
    complete = search.left and len(found) < MAX_STRAYS and source.size - total(taken) <= MAX_SEARCHED_BYTES
    return tuple(found), complete and search.scanned


class _Search:
    """Follows segments from their frames, within a budget."""

    def __init__(self, source: Source, progress: Progress) -> None:
        self._source = source
        self._progress = progress
        self._bytes = MAX_READS_OF_FILE * min(source.size, MAX_SEARCHED_BYTES)
        self._steps = MAX_BLOCK_STEPS
        self._scans = MAX_SCANS

    @property
    def left(self) -> bool:
        return self._bytes > 0 and self._steps > 0

    @property
    def scanned(self) -> bool:
        """Whether every hash was looked for that had to be."""
        return self._scans >= 0

    def segment(self, frame: int) -> Stray | None:
        """The segment whose first zstd frame is at ``frame``, if the hash behind it proves it."""
        self._steps -= 1
        low = max(0, frame - MAX_EXTRA_BYTES)
        data = self._source.read(low, frame - low)
        for length in range(1, min(MAX_VARINT_BYTES, len(data)) + 1):
            value, stop = varint(data, len(data) - length)
            if stop != len(data) or kind_and_size(value)[0] != BLOB:
                continue
            begin = len(data) - length
            hashes = [blake2s(digest_size=HASH_SIZE)]
            for head, payload in _resets(data, begin):
                hashes.append(blake2s(data[head:payload] + data[payload + HASH_SIZE : begin], digest_size=HASH_SIZE))
                hashes.append(blake2s(data[head:begin], digest_size=HASH_SIZE))
            found = self._follow(low + begin, hashes)
            if found is not None:
                return found
        return None

    def _follow(self, start: int, hashes: Sequence[blake2s]) -> Stray | None:
        at, stream = start, Stream()
        names: list[bytes] = []
        while self.left:
            self._steps -= 1
            if at == self._source.size:
                return Stray(start, at, tuple(names)) if names and self._is_recorded(hashes) else None
            head = self._source.read(at, _HEAD_BYTES)
            value, length = varint(head, 0)
            kind, size = kind_and_size(value)
            stop = at + length + size
            if not length or stop > self._source.size or (kind == BLOB and not size):
                return None
            if kind == RESET and at > start:
                stored = self._source.read(at + length, HASH_SIZE)
                right = size >= HASH_SIZE and any(each.digest() == stored for each in hashes)
                return Stray(start, at, tuple(names)) if right and names else None
            name = self._name(stream, at + length, stop) if kind == BLOB else b""
            if name is None:
                return None
            names += [name] if kind == BLOB else []
            self._hash(hashes, at, stop)
            at = stop
        return None

    def _hash(self, hashes: Sequence[blake2s], start: int, stop: int) -> None:
        self._bytes -= stop - start
        for piece in blocks(self._source, start, stop):
            for each in hashes:
                each.update(piece)
            self._progress.advance(0)

    def _is_recorded(self, hashes: Sequence[blake2s]) -> bool:
        """Whether one of the hashes stands in the file: that of the last segment stands in a chunk header."""
        self._scans -= 1
        if self._scans < 0:
            return False
        digests = [each.digest() for each in hashes]
        for at in range(0, self._source.size, _WINDOW_BYTES):
            data = self._source.read(at, _WINDOW_BYTES + HASH_SIZE)
            self._progress.advance(0)
            if any(each in data for each in digests):
                return True
        return False

    def _name(self, stream: Stream, start: int, stop: int) -> bytes | None:
        """The name that a blob begins with; None where it does not decode."""
        name, ended = b"", False
        try:
            for piece in blocks(self._source, start, stop):
                for out in stream.feed(piece):
                    self._progress.advance(0)
                    if not ended:
                        name += out
                        name, zero, _ = name.partition(b"\0")
                        ended = bool(zero)
        except ZstdError:
            return None
        return name if ended else None


def _resets(data: bytes, stop: int) -> Iterator[tuple[int, int]]:
    """Reset blocks that may end at ``stop`` of some bytes: where each begins, and its payload."""
    for at in range(stop - 1 - HASH_SIZE, -1, -1):
        if data[at] & 0x3F == 1:
            value, payload = varint(data, at)
            kind, size = kind_and_size(value)
            if payload and kind == RESET and size >= HASH_SIZE and payload + size == stop:
                yield at, payload
