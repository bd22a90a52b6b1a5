"""What was read of remote objects, block by block, and reading ahead: what comes next is asked for before it is read.

A reader that moves forward either *hops*, with a request for each place it reads, or *streams* over what it does not
need. Hopping costs a wait for each place, streaming the bytes between them; ``Pace`` has seen what either takes. A pass
that streams asks for ranges that grow to ``MAX_REQUEST_BYTES``, several at a time and in order. It asks for no more
than was read already, up to half of what memory may keep, so little is fetched in vain and nothing is pushed out before
it is read. An error ends the pass, and is raised where a reader reaches it; what a reader does not reach was never
read.

Blocks that memory has no room for are in a file without a name, so that a second pass over an object asks for nothing.
That is a convenience: where it cannot be written or read, a block is simply not there.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import BoundedSemaphore, Condition, Lock, Thread
from typing import IO

import platformdirs

from inspector.core.limits import CACHE
from inspector.core.program.progress import Cancelled, Progress, cancelling, check_cancelled
from inspector.core.span import Span, Spans

BLOCK_BYTES = 64 << 10
MAX_REQUEST_BYTES = 8 << 20
_MAX_BLOCKS = MAX_REQUEST_BYTES // BLOCK_BYTES

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


# ---- reading ahead ---------------------------------------------------------------------------------------------------

MAX_IN_FLIGHT = 8
"""Requests of the passes over one object at a time."""
MAX_IN_FLIGHT_IN_ALL = 16
"""Requests of all passes of a process at a time."""
IDLE_SECONDS = 5.0
"""A response that goes on to the end of its object is given up when nothing was read of it for so long."""
_SKIPPED = 4
"""Cached blocks that are fetched again if that merges two requests."""
_FIRST_BLOCKS = 4
_MAX_PASSES = 8
_STEPS_BEFORE_PASS = 2
"""Steps forward over small gaps after which a reader is taken to go on."""
_POLL_SECONDS = 0.1

_slots = BoundedSemaphore(MAX_IN_FLIGHT_IN_ALL)

Take = Callable[[bytes], None]
Pour = Callable[[int, int, Take], None]
"""Gives the bytes ``[start, stop)`` in pieces as they come; fewer mean the end. Raises SourceError and Cancelled."""


class Pace:
    """How long a server takes to answer, and how fast bytes come then: what hopping and streaming cost. Thread-safe."""

    _MIN_MEASURED_BYTES = 128 << 10
    _ASSUMED_BYTES_PER_SECOND = 25e6

    def __init__(self) -> None:
        self._latency = 0.0
        self._bytes = 0.0
        self._seconds = 0.0
        self._lock = Lock()

    def note_answer(self, seconds: float) -> None:
        """Note how long a response took to begin."""
        with self._lock:
            self._latency = (3 * self._latency + seconds) / 4 if self._latency else seconds

    def note_bytes(self, size: int, seconds: float) -> None:
        """Note how long ``size`` bytes of a body took; small bodies tell nothing."""
        if size >= self._MIN_MEASURED_BYTES:
            with self._lock:  # older measurements fade
                self._bytes, self._seconds = self._bytes / 2 + size, self._seconds / 2 + seconds

    @property
    def hop_bytes(self) -> int:
        """Gaps of more bytes are hopped over: a hop costs a wait there and, in a stream that is given up, another."""
        rate = self._bytes / max(self._seconds, 1e-6) if self._bytes else self._ASSUMED_BYTES_PER_SECOND
        return int(min(max(2 * self._latency * rate, BLOCK_BYTES), MAX_REQUEST_BYTES))


class Flight:
    """A request for the blocks ``[first, stop)``; the blocks before ``next`` have arrived. ``progress`` cancels it."""

    def __init__(self, first: int, stop: int, progress: Progress) -> None:
        self.first = self.next = first
        self.stop = stop
        self.progress = progress
        self.error: BaseException | None = None
        self.ended = False
        self.rest = bytearray()
        """What has arrived of the block ``next``."""
        self.take: Take
        """Gives it bytes that have come. Raises Cancelled if no more are wanted."""


class _Pass:
    """A pass that has read the blocks ``[start, at)`` and asked for those before ``end``, never past ``limit``.

    ``wanted`` is where the current read ends; ``announced``: all up to ``limit`` will be read. ``is_stream``: it is one
    request without an end.
    """

    def __init__(self, start: int, limit: int, *, announced: bool = False, is_stream: bool = False) -> None:
        self.start = self.at = self.end = self.wanted = start
        self.limit = limit
        self.announced = announced
        self.step = _MAX_BLOCKS if announced else _FIRST_BLOCKS
        self.flights: deque[Flight] = deque()
        self.is_stream = is_stream
        self.ended = False

    @property
    def running(self) -> int:
        """Requests that have not ended."""
        return sum(not each.ended for each in self.flights)


class BlockCache:
    """``size`` bytes that ``pour`` gives, kept in ``blocks``, and all passes over them.

    Thread-safe; two threads that miss the same block at once may both ask for it.
    """

    def __init__(self, size: int, pour: Pour, blocks: Blocks | None = None, pace: Pace | None = None) -> None:
        self._size = size
        self._count = -(-size // BLOCK_BYTES)
        self._pour = pour
        self._blocks = blocks or Blocks()
        self._pace = pace or Pace()
        self._owner = object()
        self._expected: list[Span] = []
        self._window = max(_FIRST_BLOCKS, self._blocks.max_bytes // 2 // BLOCK_BYTES)
        self._passes: list[_Pass] = []
        self._readers: dict[int, int] = {}
        """Where direct requests ended, as block numbers, and how many steps led there."""
        self._changed = Condition()

    def read(self, offset: int, length: int) -> bytes:
        """Up to ``length`` bytes from ``offset``. Raises SourceError and Cancelled."""
        stop = min(offset + length, self._size)
        pieces: list[bytes] = []
        while 0 <= offset < stop:  # in steps, to bound memory
            step = min(stop, offset + MAX_REQUEST_BYTES)
            pieces.append(self._step(offset, step))
            offset = step if len(pieces[-1]) == step - offset else stop
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def fetch(self, start: int, stop: int) -> bytes:
        """The bytes ``[start, stop)`` by a request of their own."""
        data = bytearray()
        self._pour(start, stop, data.extend)
        return bytes(data)

    def put(self, start: int, data: bytes) -> None:
        """Add bytes that are already available; partial blocks are dropped."""
        for number in range(-(-start // BLOCK_BYTES), -(-(start + len(data)) // BLOCK_BYTES)):
            begin = number * BLOCK_BYTES - start
            block = data[begin : begin + BLOCK_BYTES]
            if len(block) == self._length(number):
                self._blocks.keep(self._owner, number, block)

    def expect(self, start: int, stop: int) -> None:
        """Announce that ``[start, stop)`` will be read soon: the first miss in it fetches the rest of it."""
        if stop > start:
            self._expected = [*self._expected[-3:], Span(start, min(stop, self._size))]

    def spans(self) -> Spans:
        """The cached spans, in order."""
        runs = _runs(self._blocks.numbers(self._owner), 0, self._count)
        return tuple(Span(run.start * BLOCK_BYTES, min(run.stop * BLOCK_BYTES, self._size)) for run in runs)

    def holds(self, start: int, stop: int) -> bool:
        """Whether the bytes ``[start, stop)`` can be read without a request."""
        return all(map(self._has, range(start // BLOCK_BYTES, -(-min(stop, self._size) // BLOCK_BYTES))))

    def follow(self, progress: Progress) -> Flight:
        """Begin a pass over everything whose one request the caller makes: the bytes go to ``take`` of the result."""
        with self._changed:
            made = self._add(_Pass(0, self._count, is_stream=True))
            made.end = self._count
            return self._flight(made, 0, self._count, progress)

    def close(self, flight: Flight, error: BaseException | None) -> None:
        """End a request: with the error that ended it, or because all of it has come."""
        with self._changed:
            flight.ended, flight.error = True, error
            self._changed.notify_all()

    def _has(self, number: int) -> bool:
        return self._blocks.has(self._owner, number)

    def _length(self, number: int) -> int:
        """The size of a block: that of the last is what is left."""
        return min(BLOCK_BYTES, self._size - number * BLOCK_BYTES)

    def _step(self, start: int, stop: int) -> bytes:
        first, last = start // BLOCK_BYTES, -(-stop // BLOCK_BYTES)
        kept = ((number, self._blocks.get(self._owner, number)) for number in range(first, last))
        found = {number: block for number, block in kept if block is not None}
        for run in _runs([number for number in range(first, last) if number not in found], _SKIPPED, _MAX_BLOCKS):
            found |= self._ask(run)
        blocks: list[bytes] = []
        for number in range(first, last):
            blocks.append(found.get(number, b""))
            if len(blocks[-1]) < self._length(number):
                break  # it ends there
        return b"".join(blocks)[start - first * BLOCK_BYTES : stop - first * BLOCK_BYTES]

    def _ask(self, run: range) -> dict[int, bytes]:
        """The blocks of ``run``, which are not kept yet, as far as the object goes, and perhaps some behind them."""
        start, stop, expected = run.start * BLOCK_BYTES, run.stop * BLOCK_BYTES, run.stop
        for span in list(self._expected):
            if span.start < stop and start < span.stop:
                expected = max(expected, -(-span.stop // BLOCK_BYTES))
                if span.stop - start > MAX_REQUEST_BYTES and span in self._expected:
                    self._expected.remove(span)  # a pass begins, once
        with self._changed:
            found = self._pass_for(run, expected)
        got = {} if found is None else self._await(found, run)
        while len(got) < len(run) and not (got and len(got[run.start + len(got) - 1]) < BLOCK_BYTES):
            more = self._direct(range(run.start + len(got), run.stop), expected)
            if not more:
                break
            got |= more
        return got

    # ---- which pass, if any --------------------------------------------------------------------------------------

    def _pass_for(self, run: range, expected: int) -> _Pass | None:
        """The pass that gives ``run``, planned to its end; None to ask for it directly."""
        hop = self._pace.hop_bytes // BLOCK_BYTES
        found = self._pass_near(run.start, hop)
        if found is None and expected - run.start > _MAX_BLOCKS:
            found = self._add(_Pass(run.start, min(expected, self._count), announced=True))
        if found is None:
            before = next((end for end in self._readers if end <= run.start <= end + hop), None)
            if before is None:
                return None
            steps, gap = self._readers.pop(before) + 1, range(before, run.start)
            if steps < _STEPS_BEFORE_PASS and not (len(gap) <= _FIRST_BLOCKS and all(map(self._has, gap))):
                self._note_reader(run.stop, steps)
                return None
            found = self._add(_Pass(run.start, self._count))
        found.wanted = max(found.wanted, min(run.stop, found.limit))
        self._move(found, run.start)
        self._plan(found)  # not while a read goes on: nobody knows whether another follows
        return found

    def _pass_near(self, start: int, hop: int) -> _Pass | None:
        """The pass that asks for the block ``start``, or ends at most ``hop`` blocks before it."""
        for each in reversed(self._passes):
            if each.at <= start < each.end:
                if not each.is_stream or start - each.flights[0].next <= hop:
                    return each
                self._end(each)
            elif each.end <= start <= each.end + hop and each.end < each.limit:
                if start - each.end > _FIRST_BLOCKS:
                    each.end = start  # what lies between is not asked for any more
                return each
        return None

    def _add(self, made: _Pass) -> _Pass:
        self._passes.append(made)
        if len(self._passes) > _MAX_PASSES:
            self._end(self._passes[0])
        return made

    def _note_reader(self, stop: int, steps: int) -> None:
        self._readers[stop] = steps
        if len(self._readers) > _MAX_PASSES:
            del self._readers[next(iter(self._readers))]

    def _end(self, ended: _Pass) -> None:
        """Give up a pass, and its requests."""
        ended.ended = True
        if ended in self._passes:
            self._passes.remove(ended)
        for each in ended.flights:
            each.progress.cancel()
        self._changed.notify_all()

    # ---- asking --------------------------------------------------------------------------------------------------

    def _move(self, moved: _Pass, at: int) -> None:
        moved.at = max(moved.at, at)
        while moved.flights and moved.flights[0].ended and moved.flights[0].stop <= moved.at:
            moved.flights.popleft()
        if moved.is_stream:
            self._changed.notify_all()  # it may go on
        if moved.at >= moved.limit and not moved.running and moved in self._passes:
            self._passes.remove(moved)

    def _reach(self, planned: _Pass) -> int:
        """The block up to which a pass may ask."""
        least = _MAX_BLOCKS if planned.announced else _FIRST_BLOCKS
        ahead = min(self._window, max(least, planned.at - planned.start))
        return min(planned.limit, max(planned.wanted, planned.at + ahead))

    def _plan(self, planned: _Pass) -> None:
        """Ask for what comes next, as far as it may."""
        reach = self._reach(planned)
        while not planned.ended and planned.end < reach:
            first = next((number for number in range(planned.end, reach) if not self._has(number)), reach)
            planned.end = first
            wanted = planned.wanted - first
            if first >= reach or planned.running >= MAX_IN_FLIGHT or not _slots.acquire(blocking=False):
                return
            stop = min(first + max(planned.step, min(wanted, _MAX_BLOCKS)), planned.limit)
            planned.end = stop = self._without_kept(stop, first + max(wanted, 1))
            planned.step = min(2 * planned.step, _MAX_BLOCKS)
            # A daemon thread: the program must be able to exit while a server is silent.
            Thread(target=self._run, args=(self._flight(planned, first, stop, Progress()),), daemon=True).start()

    def _without_kept(self, stop: int, least: int) -> int:
        """``stop`` without the kept blocks before it, but not before ``least``."""
        while stop > least and self._has(stop - 1):
            stop -= 1
        return stop

    def _flight(self, owner: _Pass, first: int, stop: int, progress: Progress) -> Flight:
        flight = Flight(first, stop, progress)

        def take(piece: bytes) -> None:
            rest = flight.rest
            rest.extend(piece)
            while len(rest) >= self._length(flight.next) > 0:
                self._arrived(owner, flight, bytes(rest[:BLOCK_BYTES]))
                del rest[:BLOCK_BYTES]

        flight.take = take
        owner.flights.append(flight)
        return flight

    def _arrived(self, owner: _Pass, flight: Flight, block: bytes) -> None:
        """Keep a block. A response without an end waits until more is wanted; raises Cancelled if nothing is."""
        with self._changed:
            while owner.is_stream and not owner.ended and flight.next >= self._reach(owner):
                if not self._changed.wait(IDLE_SECONDS):
                    self._end(owner)
            if owner.ended:
                raise Cancelled
        self._blocks.keep(self._owner, flight.next, block)
        with self._changed:
            flight.next += 1
            self._changed.notify_all()

    def _run(self, flight: Flight) -> None:
        error: BaseException | None = None
        try:
            with cancelling(flight.progress):
                start, stop = flight.first * BLOCK_BYTES, min(flight.stop * BLOCK_BYTES, self._size)
                self._pour(start, stop, flight.take)
        except BaseException as reason:  # noqa: BLE001 - raised where a reader reaches it
            error = reason
        finally:
            _slots.release()
            self.close(flight, error)

    # ---- waiting -------------------------------------------------------------------------------------------------

    def _await(self, found: _Pass, run: range) -> dict[int, bytes]:
        """The leading blocks of ``run``, as far as the pass gives them."""
        got: dict[int, bytes] = {}
        try:
            for number in run:
                block = self._wait_for(found, number)
                if block is not None:
                    got[number] = block
                if block is None or len(block) < self._length(number):
                    break
        except BaseException:
            with self._changed:
                self._end(found)
            raise
        return got

    def _wait_for(self, found: _Pass, number: int) -> bytes | None:
        """A block once it has arrived; None if the pass does not give it. Raises what ended its request."""
        while True:
            with self._changed:
                block = self._blocks.get(self._owner, number)
                if block is not None:
                    self._move(found, number + 1)
                    return block
                flight = next((each for each in found.flights if each.first <= number < each.stop), None)
                if flight is None or found.ended or flight.next > number:
                    return None  # not asked for, or not kept
                if flight.error is not None and not isinstance(flight.error, Cancelled):
                    raise flight.error
                if flight.ended:
                    if flight.error is None and flight.next == number and flight.stop == self._count and flight.rest:
                        return bytes(flight.rest)
                    self._end(found)
                    return None
                self._changed.wait(_POLL_SECONDS)
            check_cancelled()

    def _direct(self, run: range, expected: int) -> dict[int, bytes]:
        """Ask for ``run`` and wait for it, up to ``expected`` if that is near."""
        near = min(expected, run.start + _MAX_BLOCKS, self._count)
        stop = self._without_kept(max(run.stop, near), run.stop)
        data = self.fetch(run.start * BLOCK_BYTES, min(stop * BLOCK_BYTES, self._size))
        self.put(run.start * BLOCK_BYTES, data)
        with self._changed:
            steps = [self._readers.pop(end) for end in list(self._readers) if run.start < end <= stop]
            self._note_reader(stop, max(steps, default=0))
        starts = range(0, len(data), BLOCK_BYTES)
        return {run.start + at // BLOCK_BYTES: data[at : at + BLOCK_BYTES] for at in starts}


def _runs(numbers: list[int], skipped: int, max_blocks: int) -> Iterator[range]:
    """Runs of consecutive numbers, with gaps of at most ``skipped``."""
    run: list[int] = []
    for number in numbers:
        if run and (number - run[-1] - 1 > skipped or number - run[0] >= max_blocks):
            yield range(run[0], run[-1] + 1)
            run = []
        run.append(number)
    if run:
        yield range(run[0], run[-1] + 1)
