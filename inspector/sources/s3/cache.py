"""Cache blocks of a remote source, and read many spans with few requests: neighbours are fetched together."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from threading import Lock

from inspector.core.limits import CACHE
from inspector.core.map_ordered import map_ordered
from inspector.core.progress import Progress
from inspector.core.span import Span, Spans
from inspector.sources.s3.disk_cache import MAX_DISK_BYTES, DiskCache
from inspector.sources.s3.read_ahead import (
    BLOCK_BYTES,
    MAX_REQUEST_BYTES,
    BlockStore,
    Fetch,
    Flight,
    Pace,
    Pour,
    ReadAhead,
    Take,
)

_SKIPPED = 4
"""Cached blocks that are fetched again if that merges two requests."""


class Blocks:
    """An LRU store of at most ``max_bytes`` of blocks (0: limits.CACHE), shared by any number of caches.

    What is pushed out goes to a file of at most ``max_disk_bytes``.
    """

    def __init__(self, max_bytes: int = 0, max_disk_bytes: int = MAX_DISK_BYTES) -> None:
        self.max_bytes = max_bytes or CACHE.value
        self._max_blocks = self.max_bytes // BLOCK_BYTES
        self._kept: OrderedDict[tuple[object, int], bytes] = OrderedDict()
        self._disk = DiskCache(BLOCK_BYTES, max_disk_bytes)
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

        store = BlockStore(self._keep, self._get, self._has)
        self._ahead = ReadAhead(size, fetch, pour or pour_fetched, store, pace or Pace(), self._blocks.max_bytes)

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
                self._blocks.keep(self._owner, number, data[number * BLOCK_BYTES - start : end - start])

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
        return all(map(self._has, range(start // BLOCK_BYTES, -(-min(stop, self._size) // BLOCK_BYTES))))

    def follow(self) -> Flight:
        """See ReadAhead.follow."""
        return self._ahead.follow()

    def close(self, flight: Flight, error: BaseException | None) -> None:
        """See ReadAhead.close."""
        self._ahead.close(flight, error)

    def _keep(self, number: int, block: bytes) -> None:
        self._blocks.keep(self._owner, number, block)

    def _get(self, number: int) -> bytes | None:
        return self._blocks.get(self._owner, number)

    def _has(self, number: int) -> bool:
        return self._blocks.has(self._owner, number)

    def _step(self, start: int, stop: int) -> bytes:
        first, last = start // BLOCK_BYTES, -(-stop // BLOCK_BYTES)
        found = self._kept(first, last)
        missing = [number for number in range(first, last) if number not in found]
        for run in _runs(missing, _SKIPPED):
            found |= self._ask(run)
        data = b"".join(_until_short(found, first, last, self._size))
        return data[start - first * BLOCK_BYTES : stop - first * BLOCK_BYTES]

    def _kept(self, first: int, last: int) -> dict[int, bytes]:
        kept = ((number, self._blocks.get(self._owner, number)) for number in range(first, last))
        return {number: block for number, block in kept if block is not None}

    def _ask(self, run: range) -> dict[int, bytes]:
        """Fetch the blocks of ``run``, and read ahead."""
        start, stop, expected = run.start * BLOCK_BYTES, run.stop * BLOCK_BYTES, run.stop
        for span in list(self._expected):
            if span.start < stop and start < span.stop:
                expected = max(expected, -(-span.stop // BLOCK_BYTES))
                if span.stop - start > MAX_REQUEST_BYTES and span in self._expected:
                    self._expected.remove(span)  # a pass begins, once
        return self._ahead.read(run, expected)


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
