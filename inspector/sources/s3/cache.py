"""What was read of remote objects, block by block, and reading ahead: what comes next is asked for before it is read.

A reader that moves forward either *hops*, with a request for each place it reads, or *streams* over what it does not
need. Hopping costs a wait for each place, streaming the bytes between them; ``Pace`` has seen what either takes. A pass
that streams asks for ranges that grow to ``MAX_REQUEST_BYTES``, several at a time and in order. It asks for no more
than was read already, up to half of what memory may keep, so little is fetched in vain and nothing is pushed out before
it is read. An error ends the pass, and is raised where a reader reaches it; what a reader does not reach was never
read.

Blocks that memory has no room for are in a file without a name, so that a second pass over an object asks for nothing.
"""

from __future__ import annotations

import contextlib
import gc
import io
import shutil
import tempfile
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from threading import BoundedSemaphore, Condition, Lock, Thread
from typing import IO

import platformdirs

from inspector.core.limits import CACHE
from inspector.core.program.progress import Cancelled, Progress, cancelling, check_cancelled
from inspector.core.span import Span, Spans

BLOCK_BYTES = 64 << 10
MAX_REQUEST_BYTES = 8 << 20
_MAX_BLOCKS = MAX_REQUEST_BYTES // BLOCK_BYTES

# ---- blocks ----------------------------------------------------------------------------------------------------------

MAX_DISK_BYTES = 1 << 30
MIN_FREE_SHARE = 4
"""One part of so many of the free space is used at most."""
_on_disk: weakref.WeakSet[Blocks] = weakref.WeakSet()
"""Those of this process that are in a file: the next gets a smaller share."""


class Blocks:
    """Blocks of any number of objects; of too many, the one unused for longest makes room. Thread-safe.

    They are in memory, and once there are more than ``max_bytes`` (0: limits.CACHE), in a file that is gone with this,
    if the disk has room. That is a convenience: where it cannot be written or read, a block is simply not there.
    """

    def __init__(self, max_bytes: int = 0, max_disk_bytes: int = MAX_DISK_BYTES) -> None:
        self.max_bytes = max_bytes or CACHE.value
        self._most = max_disk_bytes // BLOCK_BYTES
        self._lock = Lock()
        self._begin()

    def _begin(self) -> None:
        """Begin anew in memory."""
        self._limit = self.max_bytes // BLOCK_BYTES
        self._file: IO[bytes] = io.BytesIO()
        self._slots: OrderedDict[tuple[object, int], tuple[int, int]] = OrderedDict()
        """The place of each block in the file, and its size."""

    def keep(self, owner: object, number: int, block: bytes) -> None:
        key = owner, number
        with self._lock:
            if self._most and key not in self._slots and len(self._slots) >= self._limit:
                with contextlib.suppress(OSError):
                    self._go_to_disk()
            try:
                self._write(key, block)
            except OSError:
                self._begin()
                self._write(key, block)

    def _write(self, key: tuple[object, int], block: bytes) -> None:
        is_full = key not in self._slots and len(self._slots) >= self._limit
        slot, _ = self._slots.popitem(last=False)[1] if is_full else self._slots.pop(key, (len(self._slots), 0))
        self._file.seek(slot * BLOCK_BYTES)
        if self._file.write(block) < len(block):
            raise OSError
        self._slots[key] = slot, len(block)

    def _go_to_disk(self) -> None:
        """Move to a file without a name, once, if that may hold more than memory. Raises OSError."""
        if _on_disk:
            gc.collect()  # what is closed has no share, and a command seldom collects by itself
        folder = platformdirs.user_cache_path("archive-inspector", appauthor=False, ensure_exists=True)
        room = min(self._most, shutil.disk_usage(folder).free // MIN_FREE_SHARE // BLOCK_BYTES) // (len(_on_disk) + 1)
        self._most = 0
        if room > self._limit:
            file: IO[bytes] = tempfile.TemporaryFile(buffering=0, dir=folder)  # noqa: SIM115 - closed with this
            weakref.finalize(self, file.close)
            self._file.seek(0)
            shutil.copyfileobj(self._file, file, MAX_REQUEST_BYTES)
            self._file, self._limit = file, room
            _on_disk.add(self)

    def get(self, owner: object, number: int) -> bytes | None:
        with self._lock, contextlib.suppress(OSError, KeyError):
            slot, size = self._slots[owner, number]
            self._slots.move_to_end((owner, number))
            self._file.seek(slot * BLOCK_BYTES)
            data = self._file.read(size)
            return data if len(data) == size else None
        return None

    def has(self, owner: object, number: int) -> bool:
        """Whether the block is stored."""
        return (owner, number) in self._slots

    def numbers(self, owner: object) -> list[int]:
        """The numbers of one owner's blocks, in order."""
        with self._lock:
            return sorted(number for whose, number in self._slots if whose is owner)


# ---- reading ahead ---------------------------------------------------------------------------------------------------

MAX_IN_FLIGHT = 8
"""Requests of a pass at a time."""
MAX_IN_FLIGHT_IN_ALL = 16
"""Requests of all passes of a process at a time that are ahead of their readers."""
IDLE_SECONDS = 5.0
"""A response that goes on to the end of its object is given up when nothing was read of it for so long."""
_SKIPPED = 4
"""Cached blocks that are fetched again if that merges two requests."""
_FIRST_BLOCKS = 4
_MAX_PASSES = 8
_STEPS_BEFORE_AHEAD = 2
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


class _Pass:
    """A reader, which has read the blocks ``[start, at)`` and asked for those before ``end``, never past ``limit``.

    ``wanted`` is where the current read ends; ``step`` how many blocks are read ahead at least, none before the reader
    goes on or says so. ``is_stream``: it is one request without an end.
    """

    def __init__(self, start: int, limit: int, step: int = 0, *, is_stream: bool = False) -> None:
        self.start = self.at = self.end = self.wanted = start
        self.limit = limit
        self.step = step
        self.steps = 0
        self.flights: deque[Flight] = deque()
        self.is_stream = is_stream
        self.ended = False

    @property
    def running(self) -> int:
        """Requests that have not ended."""
        return sum(not each.ended for each in self.flights)


class Flight:
    """A request for the blocks ``[first, stop)``; the blocks before ``next`` have arrived. ``progress`` cancels it."""

    def __init__(self, owner: _Pass, first: int, stop: int, progress: Progress) -> None:
        self.owner = owner
        self.first = self.next = first
        self.stop = stop
        self.progress = progress
        self.error: BaseException | None = None
        self.ended = False
        self.rest = bytearray()
        """What has arrived of the block ``next``."""
        owner.flights.append(self)


def in_thread(progress: Progress, work: Callable[[], None], ended: Callable[[BaseException | None], None]) -> None:
    """Do some work that ``progress`` cancels, and tell what ended it.

    A daemon thread does: the program must be able to exit while a server is silent.
    """

    def run() -> None:
        error: BaseException | None = None
        try:
            with cancelling(progress):
                work()
        except BaseException as reason:  # noqa: BLE001 - raised where it is waited for
            error = reason
        ended(error)

    Thread(target=run, daemon=True).start()


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
        self._changed = Condition()

    def read(self, offset: int, length: int) -> bytes:
        """Up to ``length`` bytes from ``offset``. Raises SourceError and Cancelled."""
        stop = min(offset + length, self._size)
        pieces: list[bytes] = []
        while 0 <= offset < stop:  # in steps, to bound memory
            step = min(stop, offset - offset % BLOCK_BYTES + MAX_REQUEST_BYTES)
            pieces.append(self._step(offset, step))
            offset = step if len(pieces[-1]) == step - offset else stop
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def fetch(self, start: int, stop: int) -> bytes:
        """The bytes ``[start, stop)`` by a request of their own, whose whole blocks are kept."""
        data = bytearray()
        self._pour(start, stop, data.extend)
        self.put(start, data)
        return bytes(data)

    def put(self, start: int, data: bytes | bytearray) -> None:
        """Add bytes that are already available; partial blocks are dropped."""
        for number in range(-(-start // BLOCK_BYTES), -(-(start + len(data)) // BLOCK_BYTES)):
            begin = number * BLOCK_BYTES - start
            block = data[begin : begin + BLOCK_BYTES]
            if len(block) == self._length(number):
                self._blocks.keep(self._owner, number, bytes(block))

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
        return self._has_all(start // BLOCK_BYTES, -(-min(stop, self._size) // BLOCK_BYTES))

    def follow(self, progress: Progress) -> Flight:
        """Begin a pass over everything whose one request the caller makes: it gives the bytes to ``take``."""
        with self._changed:
            made = self._add(_Pass(0, self._count, _FIRST_BLOCKS, is_stream=True))
            made.end = self._count
            return Flight(made, 0, self._count, progress)

    def take(self, flight: Flight, piece: bytes) -> None:
        """Keep bytes that have come. A stream waits until more is wanted; raises Cancelled if nothing is."""
        flight.rest += piece
        while len(flight.rest) >= self._length(flight.next) > 0:
            owner = flight.owner
            with self._changed:
                while owner.is_stream and not owner.ended and flight.next >= self._reach(owner):
                    if not self._changed.wait(IDLE_SECONDS):
                        self._end(owner)
                if owner.ended:
                    raise Cancelled
            self._blocks.keep(self._owner, flight.next, bytes(flight.rest[:BLOCK_BYTES]))
            del flight.rest[:BLOCK_BYTES]
            with self._changed:
                flight.next += 1
                self._changed.notify_all()

    def close(self, flight: Flight, error: BaseException | None) -> None:
        """End a request: with the error that ended it, or because all of it has come."""
        with self._changed:
            flight.ended, flight.error = True, error
            self._changed.notify_all()

    def _missing(self, first: int, stop: int) -> Iterator[int]:
        return (number for number in range(first, stop) if not self._blocks.has(self._owner, number))

    def _has_all(self, first: int, stop: int) -> bool:
        return next(self._missing(first, stop), stop) == stop

    def _length(self, number: int) -> int:
        """The size of a block: that of the last is what is left."""
        return min(BLOCK_BYTES, self._size - number * BLOCK_BYTES)

    def _step(self, start: int, stop: int) -> bytes:
        first, last = start // BLOCK_BYTES, -(-stop // BLOCK_BYTES)
        found: _Pass | None = None
        blocks: list[bytes] = []
        try:
            for number in range(first, last):
                if (block := self._blocks.get(self._owner, number)) is None:
                    if found is None or number >= found.end:
                        with self._changed:
                            found = self._pass_for(number, last)
                    block = self._wait_for(found, number)
                if block is None:  # not kept, or nobody gives it: ask for the rest
                    block = self.fetch(number * BLOCK_BYTES, min(last * BLOCK_BYTES, self._size))
                blocks.append(block)
                if len(block) != self._length(number):
                    break  # it ends there, or the rest is there
        except BaseException:
            with self._changed:
                self._end(found)
            raise
        return b"".join(blocks)[start - first * BLOCK_BYTES : stop - first * BLOCK_BYTES]

    # ---- passes --------------------------------------------------------------------------------------------------

    def _pass_for(self, first: int, stop: int) -> _Pass:
        """The pass that gives the blocks ``[first, stop)``, the first of which is missing."""
        start, expected = first * BLOCK_BYTES, stop
        for span in list(self._expected):
            if span.start < stop * BLOCK_BYTES and start < span.stop:
                expected = max(expected, -(-span.stop // BLOCK_BYTES))
                if span.stop - start > MAX_REQUEST_BYTES and span in self._expected:
                    self._expected.remove(span)  # a pass begins, once
        found = self._pass_near(first) or self._add(_Pass(first, self._count))
        if expected > stop and not found.step:
            found.start, found.limit, found.step = first, expected, _MAX_BLOCKS
        found.wanted = max(found.wanted, min(stop, found.limit))
        self._move(found, first)
        self._plan(found)  # not while a read goes on: nobody knows whether another follows
        return found

    def _pass_near(self, start: int) -> _Pass | None:
        """The pass that asks for the block ``start``, or ended so little before it that it goes on there."""
        hop = self._pace.hop_bytes // BLOCK_BYTES
        for each in reversed(self._passes):
            if each.at <= start < each.end:
                if not each.is_stream or start - each.flights[0].next <= hop:
                    return each
                self._end(each)
            elif each.end <= start <= each.end + hop:
                each.steps += 1
                is_close = start - each.end <= _FIRST_BLOCKS
                if start >= each.limit:
                    each.limit = self._count
                if not each.step:
                    if each.steps >= _STEPS_BEFORE_AHEAD or (is_close and self._has_all(each.end, start)):
                        each.step = _FIRST_BLOCKS
                    each.start = each.end = start
                elif not is_close:
                    each.end = start  # what lies between is not asked for any more
                return each
        return None

    def _add(self, made: _Pass) -> _Pass:
        if len(self._passes) >= _MAX_PASSES:
            self._end(next((each for each in self._passes if not each.running), self._passes[0]))
        self._passes.append(made)
        return made

    def _end(self, ended: _Pass | None) -> None:
        """Give up a pass, and its requests."""
        if ended is None:
            return
        ended.ended = True
        if ended in self._passes:
            self._passes.remove(ended)
        for each in ended.flights:
            each.progress.cancel()
        self._changed.notify_all()

    def _move(self, moved: _Pass, at: int) -> None:
        moved.at = max(moved.at, at)
        while moved.flights and moved.flights[0].ended and moved.flights[0].stop <= moved.at:
            moved.flights.popleft()
        if moved.is_stream:
            self._changed.notify_all()  # it may go on

    def _reach(self, planned: _Pass) -> int:
        """The block up to which a pass may ask: ahead of its reader by no more than that has read."""
        ahead = min(self._window, max(planned.step, planned.at - planned.start)) if planned.step else 0
        return min(planned.limit, max(planned.wanted, planned.at + ahead))

    def _plan(self, planned: _Pass) -> None:
        """Ask for what comes next, as far as it may."""
        reach = self._reach(planned)
        while planned.end < reach:
            first = planned.end = next(self._missing(planned.end, reach), reach)
            is_wanted = first < planned.wanted
            if first == reach or (not is_wanted and planned.running >= MAX_IN_FLIGHT):
                return
            if not is_wanted and not _slots.acquire(blocking=False):
                return
            most = max(planned.step, min(planned.wanted - first, _MAX_BLOCKS))
            run = next(_runs(self._missing(first, min(first + most, planned.limit)), _SKIPPED, _MAX_BLOCKS))
            planned.end, planned.step = run.stop, min(2 * planned.step, _MAX_BLOCKS)
            flight = Flight(planned, first, run.stop, Progress())
            start, end = first * BLOCK_BYTES, min(run.stop * BLOCK_BYTES, self._size)
            pour = partial(self._pour, start, end, partial(self.take, flight))
            in_thread(flight.progress, pour, partial(self._ended, flight, has_slot=not is_wanted))

    def _ended(self, flight: Flight, error: BaseException | None, *, has_slot: bool) -> None:
        if has_slot:
            _slots.release()
        self.close(flight, error)

    def _wait_for(self, found: _Pass, number: int) -> bytes | None:
        """A block once it has arrived; None if the pass does not give it. Raises what ended its request."""
        while True:
            with self._changed:
                if (block := self._blocks.get(self._owner, number)) is not None:
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


def _runs(numbers: Iterable[int], skipped: int, max_blocks: int) -> Iterator[range]:
    """Runs of consecutive numbers, with gaps of at most ``skipped``."""
    run: list[int] = []
    for number in numbers:
        if run and (number - run[-1] - 1 > skipped or number - run[0] >= max_blocks):
            yield range(run[0], run[-1] + 1)
            run = []
        run.append(number)
    if run:
        yield range(run[0], run[-1] + 1)
