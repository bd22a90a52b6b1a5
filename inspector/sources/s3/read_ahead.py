"""Forward passes over an object: what comes next is asked for before it is read, in several requests at once.

A reader that moves forward either *hops*, with a request for each place it reads, or *streams* over what it does not
need. Hopping costs a wait for each place, streaming the bytes between them; ``Pace`` has seen what either takes. A pass
that streams asks for ranges that grow to ``MAX_REQUEST_BYTES``, several at a time and in order. It asks for no more
than was read already, up to half of what memory may keep, so little is fetched in vain and nothing is pushed out before
it is read. What arrives goes to the cache. An error ends the pass, and is raised where a reader reaches it; what a
reader does not reach was never read.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from threading import BoundedSemaphore, Condition, Lock, Thread
from typing import NamedTuple

from inspector.core.program.progress import Cancelled, Progress, cancelling, check_cancelled

BLOCK_BYTES = 64 << 10
MAX_REQUEST_BYTES = 8 << 20
MAX_IN_FLIGHT = 8
"""Requests of the passes over one object at a time."""
MAX_IN_FLIGHT_IN_ALL = 16
"""Requests of all passes of a process at a time."""
IDLE_SECONDS = 5.0
"""A response that goes on to the end of its object is given up when nothing was read of it for so long."""
_FIRST_BLOCKS = 4
_MAX_BLOCKS = MAX_REQUEST_BYTES // BLOCK_BYTES
_MAX_PASSES = 8
_STEPS_BEFORE_PASS = 2
"""Steps forward over small gaps after which a reader is taken to go on."""
_POLL_SECONDS = 0.1

_slots = BoundedSemaphore(MAX_IN_FLIGHT_IN_ALL)

Take = Callable[[bytes], None]
Fetch = Callable[[int, int], bytes]
"""Returns the bytes ``[start, stop)``; a short result means the end. Raises SourceError and Cancelled."""
Pour = Callable[[int, int, Take], None]
"""Gives the bytes ``[start, stop)`` in pieces as they come. Raises SourceError and Cancelled."""


class Pace:
    """How long a server takes to answer, and how fast bytes come then: what hopping and streaming cost. Thread-safe."""

    _MIN_MEASURED_BYTES = 128 << 10
    _ASSUMED_BYTES_PER_SECOND = 25e6
    _MAX_HOP_BYTES = MAX_REQUEST_BYTES

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
        return int(min(max(2 * self._latency * rate, BLOCK_BYTES), self._MAX_HOP_BYTES))


class Flight:
    """A request for the blocks ``[first, stop)``; the blocks before ``next`` have arrived."""

    def __init__(self, first: int, stop: int) -> None:
        self.first = self.next = first
        self.stop = stop
        self.progress = Progress()
        self.error: BaseException | None = None
        self.ended = False
        self.short = b""
        """The last bytes, if they are not a whole block."""
        self.take: Take
        """Gives it bytes that have come. Raises Cancelled if no more are wanted."""


class _Pass:
    """A pass that has read the blocks ``[start, at)`` and asked for those before ``end``, never past ``limit``.

    ``wanted`` is where the current read ends; ``announced``: all up to ``limit`` will be read.
    """

    def __init__(self, start: int, limit: int, *, announced: bool) -> None:
        self.start = self.at = self.end = self.wanted = start
        self.limit = limit
        self.announced = announced
        self.step = _MAX_BLOCKS if announced else _FIRST_BLOCKS
        self.flights: deque[Flight] = deque()
        self.is_stream = False
        self.ended = False

    def flight_of(self, number: int) -> Flight | None:
        """The request for a block."""
        return next((each for each in self.flights if each.first <= number < each.stop), None)

    @property
    def running(self) -> int:
        """Requests that have not ended."""
        return sum(not each.ended for each in self.flights)


class BlockStore(NamedTuple):
    """What a pass needs of the cache."""

    keep: Callable[[int, bytes], None]
    get: Callable[[int], bytes | None]
    has: Callable[[int], bool]


class ReadAhead:
    """All passes over ``size`` bytes of which ``max_bytes`` may be kept in memory. Thread-safe.

    ``fetch`` asks for what a reader waits for, ``pour`` for what it will.
    """

    def __init__(self, size: int, fetch: Fetch, pour: Pour, store: BlockStore, pace: Pace, max_bytes: int) -> None:
        self._size = size
        self._blocks = -(-size // BLOCK_BYTES)
        self._fetch = fetch
        self._pour = pour
        self._store = store
        self._pace = pace
        self._window = max(_FIRST_BLOCKS, max_bytes // 2 // BLOCK_BYTES)
        self._passes: list[_Pass] = []
        self._readers: OrderedDict[int, int] = OrderedDict()
        """Where direct requests ended, as block numbers, and how many steps led there."""
        self._changed = Condition()

    def read(self, run: range, expected: int) -> dict[int, bytes]:
        """The blocks of ``run``, which are not kept yet, as far as the object goes.

        They are expected to be followed by those up to ``expected``. Raises SourceError and Cancelled.
        """
        with self._changed:
            found = self._pass_for(run, expected)
        got = {} if found is None else self._await(found, run)
        while len(got) < len(run):
            first = run.start + len(got)
            if got and len(got[first - 1]) < BLOCK_BYTES:
                break  # it ends there
            more = self._direct(range(first, run.stop), expected)
            if not more:
                break
            got |= more
        return {number: got[number] for number in run if number in got}

    def follow(self) -> Flight:
        """Begin a pass over everything whose one request the caller makes: the bytes go to ``take`` of the result."""
        with self._changed:
            made = _Pass(0, self._blocks, announced=False)
            made.is_stream = True
            flight = self._flight(made, 0, self._blocks)
            made.end = self._blocks
            self._add(made)
        return flight

    def close(self, flight: Flight, error: BaseException | None) -> None:
        """End a request: with the error that ended it, or because all of it has come."""
        with self._changed:
            flight.ended = True
            flight.error = error
            self._changed.notify_all()

    # ---- which pass, if any --------------------------------------------------------------------------------------

    def _pass_for(self, run: range, expected: int) -> _Pass | None:
        """The pass that gives ``run``, planned to its end; None to ask for it directly."""
        hop = self._pace.hop_bytes // BLOCK_BYTES
        known = self._pass_near(run.start, hop)
        if known is not None:
            return self._forward(known, run)
        if expected - run.start > _MAX_BLOCKS:
            return self._forward(self._begin(run.start, min(expected, self._blocks), announced=True), run)
        before = next((end for end in self._readers if end <= run.start <= end + hop), None)
        if before is None:
            return None
        steps = self._readers.pop(before) + 1
        if before != run.start and not self._all_kept(before, run.start) and steps < _STEPS_BEFORE_PASS:
            self._note_reader(run.stop, steps)
            return None
        return self._forward(self._begin(run.start, self._blocks, announced=False), run)

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

    def _all_kept(self, start: int, stop: int) -> bool:
        return stop - start <= _FIRST_BLOCKS and all(map(self._store.has, range(start, stop)))

    def _begin(self, start: int, limit: int, *, announced: bool) -> _Pass:
        made = _Pass(start, limit, announced=announced)
        self._add(made)
        return made

    def _add(self, made: _Pass) -> None:
        self._passes.append(made)
        while len(self._passes) > _MAX_PASSES:
            self._end(self._passes[0])

    def _note_reader(self, stop: int, steps: int) -> None:
        self._readers[stop] = steps
        while len(self._readers) > _MAX_PASSES:
            self._readers.popitem(last=False)

    def _end(self, ended: _Pass) -> None:
        """Give up a pass, and its requests."""
        ended.ended = True
        if ended in self._passes:
            self._passes.remove(ended)
        for each in ended.flights:
            each.progress.cancel()
        self._changed.notify_all()

    # ---- asking --------------------------------------------------------------------------------------------------

    def _forward(self, moved: _Pass, run: range) -> _Pass:
        """The pass, moved to ``run`` and planned."""
        moved.wanted = max(moved.wanted, min(run.stop, moved.limit))
        self._move(moved, run.start)
        self._plan(moved)  # not while a read goes on: nobody knows whether another follows
        return moved

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
            first = self._first_missing(planned.end, reach)
            planned.end = first
            wanted = planned.wanted - first
            if first >= reach or planned.running >= MAX_IN_FLIGHT or not _slots.acquire(blocking=False):
                return
            stop = min(first + max(planned.step, min(wanted, _MAX_BLOCKS)), planned.limit)
            stop = self._without_kept(stop, first + max(wanted, 1))
            planned.step = min(2 * planned.step, _MAX_BLOCKS)
            planned.end = stop
            flight = self._flight(planned, first, stop)
            # A daemon thread: the program must be able to exit while a server is silent.
            Thread(target=self._run, args=(flight,), daemon=True).start()

    def _first_missing(self, start: int, stop: int) -> int:
        return next((number for number in range(start, stop) if not self._store.has(number)), stop)

    def _without_kept(self, stop: int, least: int) -> int:
        """``stop`` without the kept blocks before it, but not before ``least``."""
        while stop > least and self._store.has(stop - 1):
            stop -= 1
        return stop

    def _flight(self, owner: _Pass, first: int, stop: int) -> Flight:
        flight = Flight(first, stop)
        rest = bytearray()

        def take(piece: bytes) -> None:
            rest.extend(piece)
            while len(rest) >= min(BLOCK_BYTES, self._size - flight.next * BLOCK_BYTES) > 0:
                self._arrived(owner, flight, bytes(rest[:BLOCK_BYTES]))
                del rest[:BLOCK_BYTES]
            flight.short = bytes(rest) if len(rest) < BLOCK_BYTES and flight.stop == self._blocks else b""

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
        self._store.keep(flight.next, block)
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
                if block is None:
                    break
                got[number] = block
                if len(block) < min(BLOCK_BYTES, self._size - number * BLOCK_BYTES):
                    break
        except BaseException:
            with self._changed:
                self._end(found)
            raise
        return got

    def _wait_for(self, found: _Pass, number: int) -> bytes | None:
        """A block once it has arrived; None if the pass does not give it."""
        while True:
            with self._changed:
                block = self._store.get(number)
                if block is not None:
                    self._move(found, number + 1)
                    return block
                flight = found.flight_of(number)
                if flight is None or found.ended or flight.next > number:
                    return None  # not asked for, or not kept
                if flight.ended:
                    return self._rest_of(found, flight, number)
                self._changed.wait(_POLL_SECONDS)
            check_cancelled()

    def _rest_of(self, found: _Pass, flight: Flight, number: int) -> bytes | None:
        """What there is of a block whose request has ended without it. Raises what ended it."""
        if flight.error is not None and not isinstance(flight.error, Cancelled):
            raise flight.error
        if flight.error is None and flight.next == number and flight.short:
            return flight.short
        self._end(found)
        return None

    def _direct(self, run: range, expected: int) -> dict[int, bytes]:
        """Ask for ``run`` and wait for it, up to ``expected`` if that is near."""
        near = min(expected, run.start + _MAX_BLOCKS, self._blocks)
        stop = self._without_kept(max(run.stop, near), run.stop)
        data = self._fetch(run.start * BLOCK_BYTES, min(stop * BLOCK_BYTES, self._size))
        got = dict(zip(range(run.start, stop), _cut(data), strict=False))
        for number, block in got.items():
            if len(block) == min(BLOCK_BYTES, self._size - number * BLOCK_BYTES):
                self._store.keep(number, block)
        with self._changed:
            steps = [self._readers.pop(end) for end in list(self._readers) if run.start < end <= stop]
            self._note_reader(stop, max(steps, default=0))
        return got


def _cut(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), BLOCK_BYTES):
        yield data[start : start + BLOCK_BYTES]
