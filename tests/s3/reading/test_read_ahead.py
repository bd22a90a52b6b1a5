"""Passes over an object: several requests in flight, in order, and what went wrong with one of them in its place."""

from __future__ import annotations

import errno
import io
import os
import stat
from random import Random
from threading import Event, Lock, Thread
from typing import Any
from weakref import WeakSet

import pytest

from inspector.core.program.progress import Cancelled, Progress, cancelling, check_cancelled
from inspector.core.source import SourceError, expect
from inspector.sources.s3 import cache as block_cache
from inspector.sources.s3.cache import (
    BLOCK_BYTES,
    MAX_IN_FLIGHT,
    MAX_REQUEST_BYTES,
    BlockCache,
    Blocks,
    Pace,
    Take,
)
from inspector.sources.s3.request_log import Phase
from tests.patience import PATIENCE
from tests.s3.conftest import Store
from tests.s3.proxy import Fault, Forward, Reply, Seen, answering, cut, rangeless, refuse, silence, web_page
from tests.sweeping import in_the_sweep

MEBI = 1 << 20
SIZE = 40 * MEBI + 77
DATA = Random(8).randbytes(SIZE)


class Server:
    """Gives DATA. Requests for ranges behind ``gate_at`` wait for the gate."""

    def __init__(self, gate_at: int = SIZE) -> None:
        self.asked: list[tuple[int, int]] = []
        self.gate_at = gate_at
        self.gate = Event()
        self.running = self.most = 0
        self.stopped = 0
        self.all_running = Event()
        self.enough = 1
        self._lock = Lock()

    def pour(self, start: int, stop: int, take: Take) -> None:
        self.asked.append((start, stop))
        with self._lock:
            self.running += 1
            self.most = max(self.most, self.running)
            if self.running >= self.enough:
                self.all_running.set()
        try:
            while start >= self.gate_at and not self.gate.wait(0.01):
                check_cancelled()
            for at in range(start, stop, 100_000):
                take(DATA[at : min(stop, at + 100_000)])
        except Cancelled:
            self.stopped += 1
            raise
        finally:
            with self._lock:
                self.running -= 1

    def cache(self, max_bytes: int = 64 * MEBI) -> BlockCache:
        return BlockCache(SIZE, self.pour, Blocks(max_bytes, 0))


def test_what_is_announced_is_asked_for_in_ranges_of_full_size() -> None:
    server = Server()
    cache = server.cache()
    cache.expect(0, SIZE)
    assert b"".join(cache.read(at, 50_000) for at in range(0, SIZE, 50_000)) == DATA
    assert sorted(server.asked) == [(at, min(SIZE, at + MAX_REQUEST_BYTES)) for at in range(0, SIZE, MAX_REQUEST_BYTES)]


def test_no_more_is_in_flight_than_memory_may_hold() -> None:
    server = Server()
    cache = server.cache(16 * MEBI)
    cache.expect(0, SIZE)
    assert cache.read(0, SIZE) == DATA
    assert server.most <= min(MAX_IN_FLIGHT, 2)
    assert sum(span.size for span in cache.spans()) <= 16 * MEBI
    assert len(server.asked) == 6


def test_several_requests_are_in_flight_while_the_first_is_waited_for() -> None:
    server = Server()
    server.enough = 2
    cache = server.cache()
    cache.expect(0, SIZE)
    assert cache.read(0, 20 * MEBI) == DATA[: 20 * MEBI]
    server.gate_at = 16 * MEBI
    cache.read(20 * MEBI, 1)
    assert server.all_running.wait(PATIENCE)
    server.gate.set()
    assert cache.read(20 * MEBI, SIZE) == DATA[20 * MEBI :]


def test_reading_once_asks_for_no_more_than_that() -> None:
    server = Server()
    cache = server.cache()
    cache.read(0, 5 * MEBI)
    assert server.asked == [(0, 5 * MEBI)]


def test_a_waiting_reader_can_be_cancelled_and_its_requests_end() -> None:
    server = Server(gate_at=0)
    cache, progress = server.cache(), Progress()
    cache.expect(0, SIZE)
    progress.cancel()
    with cancelling(progress), pytest.raises(Cancelled):
        cache.read(0, 10)
    server.gate_at = SIZE
    assert cache.read(0, 10) == DATA[:10]


def test_gaps_are_streamed_over_where_that_costs_less_than_an_answer() -> None:
    pace = Pace()
    pace.note_answer(0.1)
    pace.note_bytes(10_000_000, 1)
    assert pace.hop_bytes == pytest.approx(2_000_000, rel=0.01)
    for _ in range(20):
        pace.note_bytes(1_000_000, 10)
    assert pace.hop_bytes == BLOCK_BYTES
    for _ in range(20):
        pace.note_bytes(1_000_000_000, 1)
    assert pace.hop_bytes == MAX_REQUEST_BYTES


class _AtOnce(Thread):
    """Runs where it is started: each request has ended before the next read."""

    def start(self) -> None:
        self.run()


@pytest.mark.parametrize("stride", range(2, 6))
def test_what_lies_between_hops_is_asked_for_with_them_where_a_pass_ended_between(
    monkeypatch: pytest.MonkeyPatch, stride: int
) -> None:
    monkeypatch.setattr(block_cache, "Thread", _AtOnce)
    server, pace = Server(), Pace()
    pace.note_answer(0.1)
    cache = BlockCache(SIZE, server.pour, Blocks(64 * MEBI, 0), pace)
    for at in range(0, SIZE, stride * BLOCK_BYTES):
        cache.read(at, 100)
    hops = sorted(server.asked)
    assert [stop for _, stop in hops[3:-1]] == [start for start, _ in hops[4:]]
    assert cache.read(0, SIZE) == DATA
    assert len(server.asked) <= len(hops) + 3  # what lies between the steps that made it a pass


def test_a_block_that_memory_has_no_room_for_is_kept_on_disk() -> None:
    server = Server()
    cache = BlockCache(SIZE, server.pour, Blocks(8 * MEBI))
    for _ in range(2):
        assert b"".join(cache.read(at, MEBI) for at in range(0, SIZE, MEBI)) == DATA
    assert sum(stop - start for start, stop in server.asked) == SIZE


def test_what_was_unused_for_longest_makes_room_on_disk() -> None:
    kept, blocks = Blocks(2 * BLOCK_BYTES, 4 * BLOCK_BYTES), [bytes([number]) * BLOCK_BYTES for number in range(6)]
    for number in range(4):
        kept.keep("one", number, blocks[number])
    assert kept.get("one", 0) == blocks[0]
    for number in range(4, 6):
        kept.keep("two", number, blocks[number])
    assert [kept.get("two", number) for number in (4, 5)] == blocks[4:]
    assert [kept.get("one", number) for number in range(4)] == [blocks[0], None, None, blocks[3]]


def test_objects_share_the_room_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_cache, "_on_disk", WeakSet())
    several = [Blocks(BLOCK_BYTES, 8 * BLOCK_BYTES) for _ in range(3)]
    for blocks in several:
        for number in range(9):
            blocks.keep("one", number, bytes(BLOCK_BYTES))
    assert [len(each.numbers("one")) for each in several] == [8, 4, 2]
    for each in several:
        each.in_a_circle = each  # type: ignore[attr-defined] # as what reads an object and what it was read for hold each other
    del several, blocks, each
    alone = Blocks(BLOCK_BYTES, 8 * BLOCK_BYTES)
    for number in range(9):
        alone.keep("one", number, bytes(BLOCK_BYTES))
    assert len(alone.numbers("one")) == 8, "what nobody holds any more has no share"


@pytest.mark.parametrize("step", ["made", "copied", "written", "read"])
def test_a_disk_that_fails_is_no_error(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    class Failing(io.BytesIO):
        def write(self, data: Any) -> int:
            if step == "copied" or (step == "written" and self.tell() >= 2 * BLOCK_BYTES):
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(data)

        def read(self, size: int | None = -1) -> bytes:
            return super().read(0 if step == "read" else size)

    def made(**_: object) -> Failing:
        if step == "made":
            raise OSError(errno.EROFS, "Read-only file system")
        return Failing()

    monkeypatch.setattr("inspector.sources.s3.cache.tempfile.TemporaryFile", made)
    kept, blocks = Blocks(2 * BLOCK_BYTES), [bytes([number]) * BLOCK_BYTES for number in range(8)]
    for _ in range(2):
        for number in range(8):
            kept.keep("one", number, blocks[number])
            if step != "read":
                assert kept.get("one", number) == blocks[number]
    assert all(kept.get("one", number) in (None, blocks[number]) for number in range(8))
    assert len(kept.numbers("one")) <= (8 if step == "read" else 2)


# ---- what goes wrong with one of several ---------------------------------------------------------------------------


def on_ranges_from(start: int, fault: Fault) -> Fault:
    """A server that fails for what begins at ``start`` or behind it."""

    def some(seen: Seen, forward: Forward) -> Reply:
        first = seen.range.removeprefix("bytes=").partition("-")[0]
        return fault(seen, forward) if first and int(first) >= start else forward()

    return some


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (refuse(503, "SlowDown"), "asks to slow down"),
        in_the_sweep(refuse(403, "AccessDenied"), "is not allowed"),
        (answering(ETag='"another"'), "was replaced while it was open"),
        in_the_sweep(answering(Content_Range="bytes 7-9/9000000"), "was replaced while it was open"),
        in_the_sweep(rangeless, "does not say which bytes"),
        (cut(1_000), "broke off"),
        in_the_sweep(web_page, "answered with a web page"),
    ],
)
def test_what_goes_wrong_with_a_request_is_said_where_its_bytes_are_read(store: Store, fault: Fault, said: str) -> None:
    source = store.open(store.put("flight.caf", DATA))
    expect(source, 0, source.size)
    with store.proxy.failing(on_ranges_from(2 * MAX_REQUEST_BYTES, fault)):
        assert source.read(0, 2 * MAX_REQUEST_BYTES) == DATA[: 2 * MAX_REQUEST_BYTES]
        with pytest.raises(SourceError, match=said):
            source.read(2 * MAX_REQUEST_BYTES, 10)
    if "replaced" not in said:
        assert source.read(0, SIZE) == DATA


def test_a_response_that_breaks_off_goes_on_where_it_broke(store: Store) -> None:
    store.proxy.fail(cut(9 * MEBI))
    source = store.open(store.put("broken.tar", DATA))
    assert b"".join(source.read(at, 100_000) for at in range(0, SIZE, 100_000)) == DATA
    ranges = [seen.range for seen in store.proxy.log]
    assert ranges[0] == "bytes=0-"
    assert ranges[1] == f"bytes={9 * MEBI}-{SIZE - 1}"
    assert store.proxy.log[1].if_match == source.etag


def test_the_ledger_shows_requests_in_flight(store: Store) -> None:
    source = store.open(store.put("log.caf", DATA))
    asked, gate = Event(), Event()
    read: list[bytes] = []
    with store.proxy.failing(silence(asked, gate)):
        reader = Thread(target=lambda: read.append(source.read(0, 10)))
        reader.start()
        assert asked.wait(PATIENCE)
        (request,) = source.log.in_flight()
        assert (request.phase, request.status, request.stop) == (Phase.WAITING, 0, BLOCK_BYTES)
        gate.set()
        reader.join(PATIENCE)
    assert read == [DATA[:10]]
    assert source.log.in_flight() == ()
    assert source.log.requests()[-1].phase is Phase.DONE


def test_what_is_kept_on_disk_has_no_name_and_no_other_reader() -> None:
    kept = Blocks(BLOCK_BYTES)
    for number in range(2):
        kept.keep("a", number, b"abcd")

    status = os.fstat(kept._file.fileno())

    assert (status.st_nlink, stat.S_IMODE(status.st_mode)) == (0, 0o600), "gone whatever ends the process"
    assert kept.get("a", 1) == b"abcd"
