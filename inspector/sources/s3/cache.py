"""Blocks of a source that is far away: what was read once stays, and misses that lie together are one request."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from threading import Lock

from inspector.core.limits import CACHE
from inspector.core.map_ordered import map_ordered
from inspector.core.progress import Progress
from inspector.core.span import Span, Spans

BLOCK = 64 << 10
"""The size of a block, in bytes."""
LARGEST = 8 << 20
"""The most bytes asked for at once."""
_FIRST_AHEAD = 256 << 10
"""Bytes read ahead when the second of two stretches follows the first; it doubles with each that follows."""
_SKIPPED = 4
"""Blocks that are read again where that makes one request of two."""
_READERS = 8
"""Readers that go through the source one after another and are told apart."""

Fetch = Callable[[int, int], bytes]
"""Gives the bytes ``[start, stop)``; what is short ends there."""


class Blocks:
    """At most so many bytes of blocks (0: as limits.CACHE says), of any number of caches; the oldest go first."""

    def __init__(self, most: int = 0) -> None:
        self._most = (most or CACHE.value) // BLOCK
        self._kept: OrderedDict[tuple[object, int], bytes] = OrderedDict()
        self._lock = Lock()

    def keep(self, owner: object, number: int, block: bytes) -> None:
        """Keep a block for a while."""
        with self._lock:
            self._kept[owner, number] = block
            self._kept.move_to_end((owner, number))
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def get(self, owner: object, number: int) -> bytes | None:
        """The block where it is still kept."""
        with self._lock:
            block = self._kept.get((owner, number))
            if block is not None:
                self._kept.move_to_end((owner, number))
            return block

    def numbers(self, owner: object) -> list[int]:
        """The blocks of one owner that are kept, in order."""
        with self._lock:
            return sorted(number for whose, number in self._kept if whose is owner)


class BlockCache:
    """The blocks of ``size`` bytes that ``fetch`` gives; ``blocks`` keeps them.

    Any number of threads may read; two that miss the same block at once may both ask for it.
    """

    def __init__(self, size: int, fetch: Fetch, blocks: Blocks | None = None) -> None:
        self._size = size
        self._fetch = fetch
        self._blocks = Blocks() if blocks is None else blocks
        self._owner = object()
        self._ahead: OrderedDict[int, int] = OrderedDict()
        self._expected: list[Span] = []
        self._lock = Lock()

    def read(self, offset: int, length: int) -> bytes:
        """Up to ``length`` bytes from ``offset``; whatever ``fetch`` raises is raised."""
        stop = min(offset + length, self._size)
        if offset < 0 or offset >= stop:
            return b""
        pieces = []
        while offset < stop:  # in steps, so that what is kept at one time stays bounded
            step = min(stop, offset + LARGEST)
            piece = self._step(offset, step)
            pieces.append(piece)
            if len(piece) < step - offset:
                break
            offset = step
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def put(self, start: int, data: bytes) -> None:
        """Keep bytes that are there already; a block of which only a part is given is left out."""
        stop = start + len(data)
        first = -(-start // BLOCK)
        for number in range(first, -(-stop // BLOCK)):
            end = min((number + 1) * BLOCK, self._size)
            if end <= stop:
                self._blocks.keep(self._owner, number, data[number * BLOCK - start : end - start])

    def expect(self, start: int, stop: int) -> None:
        """The bytes ``[start, stop)`` will all be read soon: the first miss among them asks for the rest of them."""
        if stop > start:
            self._expected = [*self._expected[-3:], Span(start, min(stop, self._size))]

    def spans(self) -> Spans:
        """What is kept, in order."""
        numbers = self._blocks.numbers(self._owner)
        return tuple(
            Span(run.start * BLOCK, min(run.stop * BLOCK, self._size)) for run in _runs(numbers, most=len(numbers))
        )

    def _step(self, start: int, stop: int) -> bytes:
        first, last = start // BLOCK, -(-stop // BLOCK)
        found = self._kept(first, last)
        missing = [number for number in range(first, last) if number not in found]
        for run in _runs(missing, _SKIPPED):
            found |= self._ask(run)
        data = b"".join(_until_short(found, first, last, self._size))
        return data[start - first * BLOCK : stop - first * BLOCK]

    def _kept(self, first: int, last: int) -> dict[int, bytes]:
        kept = ((number, self._blocks.get(self._owner, number)) for number in range(first, last))
        return {number: block for number, block in kept if block is not None}

    def _ask(self, run: range) -> dict[int, bytes]:
        """Fetch the blocks of ``run`` and those that are worth it behind them."""
        with self._lock:
            stop, ahead = self._reach(run)
        begin = run.start * BLOCK
        data = self._fetch(begin, min(stop * BLOCK, self._size))
        got = dict(zip(range(run.start, stop), _cut(data), strict=False))
        for number, block in got.items():
            if len(block) == min(BLOCK, self._size - number * BLOCK):
                self._blocks.keep(self._owner, number, block)
        with self._lock:
            self._ahead[stop] = min(max(2 * ahead, _FIRST_AHEAD), LARGEST)
            while len(self._ahead) > _READERS:
                self._ahead.popitem(last=False)
        return got

    def _reach(self, run: range) -> tuple[int, int]:
        """Where the request for ``run`` should end, as a block number, and how many bytes of that are ahead."""
        ahead = self._ahead.pop(self._followed(run.start), 0)
        stop = run.stop + ahead // BLOCK
        for span in self._expected:
            if span.start < run.stop * BLOCK and run.start * BLOCK < span.stop:
                stop = max(stop, -(-span.stop // BLOCK))
        stop = min(stop, run.start + LARGEST // BLOCK, -(-self._size // BLOCK))
        stop = max(stop, run.stop)
        while stop > run.stop and self._blocks.get(self._owner, stop - 1) is not None:
            stop -= 1
        return stop, ahead

    def _followed(self, number: int) -> int:
        """The block from which on a reader went on to this one: blocks between them that are kept cost it nothing."""
        for before in range(number, number - _SKIPPED, -1):
            if before in self._ahead or self._blocks.get(self._owner, before - 1) is None:
                return before
        return number


def _runs(numbers: list[int], skipped: int = 0, most: int = LARGEST // BLOCK) -> Iterator[range]:
    """The runs of numbers that follow each other, with at most ``skipped`` left out between two of them."""
    at = 0
    while at < len(numbers):
        end = at + 1
        while (
            end < len(numbers) and numbers[end] - numbers[end - 1] - 1 <= skipped and numbers[end] - numbers[at] < most
        ):
            end += 1
        yield range(numbers[at], numbers[end - 1] + 1)
        at = end


def _cut(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), BLOCK):
        yield data[start : start + BLOCK]


def _until_short(found: dict[int, bytes], first: int, last: int, size: int) -> Iterator[bytes]:
    """The blocks in order, up to the first that is not whole."""
    for number in range(first, last):
        block = found.get(number, b"")
        yield block
        if len(block) < min(BLOCK, size - number * BLOCK):
            return


APART = 64 << 10
"""Bytes between two spans that are read along, because a request of its own takes longer than they do."""
AT_ONCE = 8
"""Requests at a time, which is as many as connections are kept."""
Read = Callable[[Span, Progress], bytes]
"""Gives the bytes of a span; the progress ends the request."""


def runs(spans: Sequence[Span]) -> Iterator[tuple[Span, list[Span]]]:
    """What to ask for, and the spans that each request brings; spans that are not in order are asked for apart."""
    run: list[Span] = []
    for span in spans:
        if run and not (run[-1].start <= span.start <= run[-1].stop + APART and span.stop - run[0].start <= LARGEST):
            yield _whole(run), run
            run = []
        run.append(span)
    if run:
        yield _whole(run), run


def _whole(run: list[Span]) -> Span:
    return Span(run[0].start, max(span.stop for span in run))


def gathered(spans: Sequence[Span], read: Read, look: Callable[[], None]) -> Iterator[bytes]:
    """The bytes of the spans, one after another.

    ``look`` is called while they are waited for; what it raises ends the requests, as closing the iterator does.
    Raises what ``read`` raises.
    """
    whole = list(runs(spans))
    came = map_ordered((span for span, _ in whole), read, AT_ONCE, lambda _: look())
    with closing(came):
        for (span, run), data in zip(whole, came, strict=True):
            for each in run:
                yield data[each.start - span.start : each.stop - span.start]
