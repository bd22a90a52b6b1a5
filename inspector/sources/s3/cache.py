"""Cache blocks of a remote source, and read many spans with few requests: neighbours are fetched together.

Blocks that memory has no room for are in a file without a name, so that a second pass over an object asks for nothing.
That is a convenience: where it cannot be written or read, a block is simply not there.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Lock
from typing import IO

import platformdirs

from inspector.core.limits import CACHE
from inspector.core.program.map_ordered import map_ordered
from inspector.core.program.progress import Progress
from inspector.core.span import Span, Spans
from inspector.sources.s3.read_ahead import (
    BLOCK_BYTES,
    MAX_REQUEST_BYTES,
    BlockStore,
    Fetch,
    Pace,
    Pour,
    ReadAhead,
    Take,
)

# ---- blocks on disk --------------------------------------------------------------------------------------------------

MAX_DISK_BYTES = 1 << 30
"""Bytes on disk, of all archives of a process together."""
MIN_FREE_SHARE = 4
"""One part of so many of the free space is used at most."""


class DiskBlocks:
    """Blocks by key, of all archives of a process; the one that was unused for longest makes room. Thread-safe.

    The file is made with the first block, and gone with the process.
    """

    def __init__(self, max_bytes: int = MAX_DISK_BYTES) -> None:
        self._limit = max_bytes // BLOCK_BYTES
        self._slots: OrderedDict[tuple[object, int], tuple[int, int]] = OrderedDict()
        """The place of each block in the file, and its size."""
        self._file: IO[bytes] | None = None
        self._lock = Lock()

    def __contains__(self, key: tuple[object, int]) -> bool:
        return key in self._slots

    def keys(self) -> list[tuple[object, int]]:
        """The keys of all blocks."""
        with self._lock:
            return list(self._slots)

    def put(self, key: tuple[object, int], block: bytes) -> None:
        """Keep a block."""
        with self._lock:
            try:
                if self._limit and self._file is None:
                    folder = platformdirs.user_cache_path("archive-inspector", appauthor=False, ensure_exists=True)
                    self._file = _nameless(folder)
                    weakref.finalize(self, self._file.close)
                    self._limit = min(self._limit, shutil.disk_usage(folder).free // MIN_FREE_SHARE // BLOCK_BYTES)
                if self._file is None or not self._limit or key in self._slots:
                    return
                is_full = len(self._slots) >= self._limit
                slot = self._slots.popitem(last=False)[1][0] if is_full else len(self._slots)
                self._file.seek(slot * BLOCK_BYTES)
                if self._file.write(block) == len(block):
                    self._slots[key] = slot, len(block)
                else:
                    self._limit = 0
            except OSError:
                self._limit = 0  # a full or failing disk: what is there can still be read

    def get(self, key: tuple[object, int]) -> bytes | None:
        """The block, if it is there."""
        with self._lock:
            if key not in self._slots or self._file is None:
                return None
            self._slots.move_to_end(key)
            slot, size = self._slots[key]
            with contextlib.suppress(OSError):
                self._file.seek(slot * BLOCK_BYTES)
                data = self._file.read(size)
                if len(data) == size:
                    return data
            self._limit = 0
            self._slots.clear()
            return None


def _nameless(folder: Path) -> IO[bytes]:
    """A file that is gone once it is closed, whatever ends the process. Raises OSError."""
    made: IO[bytes] = tempfile.TemporaryFile(buffering=0, dir=folder)  # noqa: SIM115 - closed with what holds it
    return made


_DISK = DiskBlocks()


# ---- blocks of a source ----------------------------------------------------------------------------------------------

_SKIPPED = 4
"""Cached blocks that are fetched again if that merges two requests."""


class Blocks:
    """An LRU store of at most ``max_bytes`` of blocks (0: limits.CACHE), shared by any number of caches.

    What is pushed out goes to ``disk``.
    """

    def __init__(self, max_bytes: int = 0, disk: DiskBlocks = _DISK) -> None:
        self.max_bytes = max_bytes or CACHE.value
        self._max_blocks = self.max_bytes // BLOCK_BYTES
        self._kept: OrderedDict[tuple[object, int], bytes] = OrderedDict()
        self._disk = disk
        self._lock = Lock()

    def keep(self, owner: object, number: int, block: bytes) -> None:
        """Add a block."""
        with self._lock:
            self._kept[owner, number] = block
            self._kept.move_to_end((owner, number))
            while len(self._kept) > self._max_blocks:
                self._disk.put(*self._kept.popitem(last=False))

    def get(self, owner: object, number: int) -> bytes | None:
        """The block, if it is still stored."""
        with self._lock:
            block = self._kept.get((owner, number))
            if block is not None:
                self._kept.move_to_end((owner, number))
                return block
        block = self._disk.get((owner, number))
        if block is not None:
            self.keep(owner, number, block)
        return block

    def has(self, owner: object, number: int) -> bool:
        """Whether the block is stored."""
        return (owner, number) in self._kept or (owner, number) in self._disk

    def numbers(self, owner: object) -> list[int]:
        """The numbers of one owner's blocks, in order."""
        with self._lock:
            return sorted({number for whose, number in (*self._kept, *self._disk.keys()) if whose is owner})


class BlockCache:
    """Caches ``size`` bytes that ``fetch`` returns, in ``blocks``; what comes next is read ahead by ``pour``.

    Thread-safe; two threads that miss the same block at once may both fetch it.
    """

    def __init__(
        self,
        size: int,
        fetch: Fetch,
        blocks: Blocks | None = None,
        pour: Pour | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._size = size
        self._blocks = Blocks() if blocks is None else blocks
        self._owner = object()
        self._expected: list[Span] = []

        def pour_fetched(start: int, stop: int, take: Take) -> None:
            take(fetch(start, stop))

        own, kept = self._owner, self._blocks
        self._store = BlockStore(partial(kept.keep, own), partial(kept.get, own), partial(kept.has, own))
        self.ahead = ReadAhead(size, fetch, pour or pour_fetched, self._store, pace or Pace(), self._blocks.max_bytes)

    def read(self, offset: int, length: int) -> bytes:
        """Up to ``length`` bytes from ``offset``; raises what ``fetch`` raises."""
        stop = min(offset + length, self._size)
        if offset < 0 or offset >= stop:
            return b""
        pieces = []
        while offset < stop:  # in steps, to bound memory
            step = min(stop, offset + MAX_REQUEST_BYTES)
            piece = self._step(offset, step)
            pieces.append(piece)
            if len(piece) < step - offset:
                break
            offset = step
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def put(self, start: int, data: bytes) -> None:
        """Add bytes that are already available; partial blocks are dropped."""
        stop = start + len(data)
        first = -(-start // BLOCK_BYTES)
        for number in range(first, -(-stop // BLOCK_BYTES)):
            end = min((number + 1) * BLOCK_BYTES, self._size)
            if end <= stop:
                self._store.keep(number, data[number * BLOCK_BYTES - start : end - start])

    def expect(self, start: int, stop: int) -> None:
        """Announce that ``[start, stop)`` will be read soon: the first miss in it fetches the rest of it."""
        if stop > start:
            self._expected = [*self._expected[-3:], Span(start, min(stop, self._size))]

    def spans(self) -> Spans:
        """The cached spans, in order."""
        numbers = self._blocks.numbers(self._owner)
        return tuple(
            Span(run.start * BLOCK_BYTES, min(run.stop * BLOCK_BYTES, self._size))
            for run in _runs(numbers, max_blocks=len(numbers))
        )

    def holds(self, start: int, stop: int) -> bool:
        """Whether the bytes ``[start, stop)`` can be read without a request."""
        return all(map(self._store.has, range(start // BLOCK_BYTES, -(-min(stop, self._size) // BLOCK_BYTES))))

    def _step(self, start: int, stop: int) -> bytes:
        first, last = start // BLOCK_BYTES, -(-stop // BLOCK_BYTES)
        kept = ((number, self._store.get(number)) for number in range(first, last))
        found = {number: block for number, block in kept if block is not None}
        missing = [number for number in range(first, last) if number not in found]
        for run in _runs(missing, _SKIPPED):
            found |= self._ask(run)
        data = b"".join(_until_short(found, first, last, self._size))
        return data[start - first * BLOCK_BYTES : stop - first * BLOCK_BYTES]

    def _ask(self, run: range) -> dict[int, bytes]:
        """Fetch the blocks of ``run``, and read ahead."""
        start, stop, expected = run.start * BLOCK_BYTES, run.stop * BLOCK_BYTES, run.stop
        for span in list(self._expected):
            if span.start < stop and start < span.stop:
                expected = max(expected, -(-span.stop // BLOCK_BYTES))
                if span.stop - start > MAX_REQUEST_BYTES and span in self._expected:
                    self._expected.remove(span)  # a pass begins, once
        return self.ahead.read(run, expected)


def _runs(numbers: list[int], skipped: int = 0, max_blocks: int = MAX_REQUEST_BYTES // BLOCK_BYTES) -> Iterator[range]:
    """Runs of consecutive numbers, with gaps of at most ``skipped``."""
    at = 0
    while at < len(numbers):
        end = at + 1
        while (
            end < len(numbers)
            and numbers[end] - numbers[end - 1] - 1 <= skipped
            and numbers[end] - numbers[at] < max_blocks
        ):
            end += 1
        yield range(numbers[at], numbers[end - 1] + 1)
        at = end


def _until_short(found: dict[int, bytes], first: int, last: int, size: int) -> Iterator[bytes]:
    """The blocks in order, up to the first incomplete one."""
    for number in range(first, last):
        block = found.get(number, b"")
        yield block
        if len(block) < min(BLOCK_BYTES, size - number * BLOCK_BYTES):
            return


MAX_READ_ALONG_BYTES = 64 << 10
"""The largest gap that is read along, because a second request takes longer."""
MAX_REQUESTS = 8
"""Concurrent requests, as many as pooled connections."""
Read = Callable[[Span, Progress], bytes]
"""Returns the bytes of a span; the progress cancels the request."""


def runs(spans: Sequence[Span]) -> Iterator[tuple[Span, list[Span]]]:
    """Requests, and the spans that each covers; spans that are not in order get requests of their own."""
    run: list[Span] = []
    for span in spans:
        if run and not (
            run[-1].start <= span.start <= run[-1].stop + MAX_READ_ALONG_BYTES
            and span.stop - run[0].start <= MAX_REQUEST_BYTES
        ):
            yield _whole(run), run
            run = []
        run.append(span)
    if run:
        yield _whole(run), run


def _whole(run: list[Span]) -> Span:
    return Span(run[0].start, max(span.stop for span in run))


def read_spans(spans: Sequence[Span], read: Read, check_cancelled: Callable[[], None]) -> Iterator[bytes]:
    """The bytes of the spans, one after another.

    ``check_cancelled`` is called while waiting; an exception from it ends the requests, as closing the iterator does.
    Raises what ``read`` raises.
    """
    whole = list(runs(spans))
    came = map_ordered((span for span, _ in whole), read, MAX_REQUESTS, lambda _: check_cancelled())
    with closing(came):
        for (span, run), data in zip(whole, came, strict=True):
            for each in run:
                yield data[each.start - span.start : each.stop - span.start]
