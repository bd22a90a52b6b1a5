"""Many archives on S3, and the ranges of a dataset: several at a time, told in order, over when nobody wants them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from threading import Barrier, Event, Thread

import pytest

from inspector.core.program.progress import Cancelled, Progress, cancelling
from inspector.core.verdict import State
from inspector.operations.audit import audit
from inspector.operations.audit.audit import JobOutcome, check_many
from inspector.operations.audit.targets import expanded
from inspector.operations.protocol.audit_views import NO_ARCHIVE
from inspector.operations.protocol.check_views import CheckTarget, ReportKind
from inspector.operations.session.archive_session import ArchiveSession
from tests.patience import PATIENCE
from tests.s3.archives import dataset
from tests.s3.conftest import Store
from tests.s3.proxy import Fault, Forward, Reply, Seen, silence, stalling

Sample = Callable[[str], Path]
NAMES = ("journey.caf", "flipped-member-byte.tacozip", "two-chunks.rca", "truncated.rca")
STATES = [State.SOUND, State.DAMAGED, State.SOUND, State.DAMAGED]


class Watched(Progress):
    """Remembers how far it was, and of how much."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []
        super().__init__()

    @property
    def done(self) -> int:
        """See Progress."""
        return self.seen[-1][0]

    @done.setter
    def done(self, done: int) -> None:
        self.seen.append((done, self.total))

    def never_goes_back(self) -> bool:
        """Whether it had one total, but for the beginning, and only went on."""
        far = [done for done, total in self.seen if total]
        return len({total for _, total in self.seen if total}) == 1 and all(a <= b for a, b in pairwise(far))


@pytest.fixture
def place(store: Store, sample: Sample) -> str:
    for name in NAMES:
        store.put(f"many/{name}", sample(name).read_bytes())
    return "s3://archives/many/"


def checked(store: Store, *locations: str, progress: Progress | None = None, workers: int = 0) -> list[JobOutcome]:
    wanted = expanded(locations, store.connection)
    return list(check_many(wanted, ReportKind.TEXT, progress or Progress(), workers))


def meeting(parties: int, suffix: str) -> Fault:
    """Requests for what ends so are answered when so many have come; they all must, so they have to be at a time."""
    barrier = Barrier(parties)

    def fault(seen: Seen, forward: Forward) -> Reply:
        if seen.path.partition("?")[0].endswith(suffix) and "bytes" in seen.range:
            barrier.wait(PATIENCE)
        return forward()

    return fault


def test_outcomes_come_in_the_order_of_the_locations(store: Store, place: str) -> None:
    named = [f"{place}{name}" for name in NAMES]
    progress = Watched()
    outcomes = checked(store, *named, f"{place}nothing.caf", progress=progress)
    assert [each.result.location for each in outcomes] == [*named, f"{place}nothing.caf"]
    assert [each.result.state for each in outcomes] == [*STATES, State.UNREADABLE]
    assert progress.never_goes_back()
    assert (progress.done, progress.total, progress.unit) == (5, 5, "archives")


def test_of_a_prefix_the_listing_tells_how_much_there_is(store: Store, place: str, sample: Sample) -> None:
    progress = Watched()
    outcomes = checked(store, place, progress=progress)
    assert {each.result.location: each.result.state for each in outcomes} == {
        f"{place}{name}": state for name, state in zip(NAMES, STATES, strict=True)
    }
    assert progress.never_goes_back()
    assert progress.total == progress.done == sum(sample(name).stat().st_size for name in NAMES)


def test_locations_are_read_at_the_same_time(store: Store, sample: Sample) -> None:
    location = [store.put(f"same/{number}.caf", sample("journey.caf").read_bytes()) for number in range(4)]
    with store.proxy.failing(meeting(4, ".caf")):
        assert [each.result.state for each in checked(store, *location)] == [State.SOUND] * 4


def test_large_ones_are_checked_in_processes(store: Store, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MIN_BYTES_FOR_PROCESSES", 1)
    progress = Watched()
    assert sorted(each.result.state for each in checked(store, place, progress=progress, workers=2)) == sorted(STATES)
    assert progress.never_goes_back()


def test_ranges_are_read_at_the_same_time(store: Store) -> None:
    location = dataset(store, "ranges", 8)
    progress = Watched()
    with store.proxy.failing(meeting(8, ".tar")):
        (outcome,) = checked(store, location, progress=progress)
    assert outcome.result.state == State.SOUND
    assert progress.never_goes_back()
    assert progress.done == progress.total


def test_each_range_has_a_result_in_order(store: Store) -> None:
    location = dataset(store, "results", 12)
    key = f"results/dataset/weather/datapoints/{41:020d}-{50:020d}.tar"
    body = bytearray(store.client.get_object(Bucket="archives", Key=key)["Body"].read())
    body[512] ^= 1
    store.put(key, bytes(body))
    (outcome,) = check_many([CheckTarget(location, connection=store.connection)], ReportKind.TEXT, Progress())
    damaged = f"  damaged: datapoints/{41:020d}-{50:020d}.tar"
    assert outcome.report.splitlines()[2:4] == ["  12 ranges: 11 sound, 1 damaged", damaged]


def test_cancelling_does_not_wait_for_a_server(store: Store) -> None:
    """Every body stops in its middle until the gate opens, which it only does when all is over."""
    location = dataset(store, "stalled", 8, size=40_000)
    session = ArchiveSession(location, store.connection)
    session.decode(Progress())
    gate, begun, progress = Event(), Event(), Progress()

    def fault(seen: Seen, forward: Forward) -> Reply:
        begun.set()
        return stalling(gate)(seen, forward)

    try:
        with store.proxy.failing(fault):
            results = []
            thread = Thread(target=lambda: results.append(session.check(progress)))
            thread.start()
            assert begun.wait(PATIENCE)
            progress.cancel()
            thread.join(PATIENCE)
            assert not thread.is_alive()
            assert not results[0].checked
    finally:
        gate.set()


def stalling_once_asked(asked: Event, gate: Event) -> Fault:
    def fault(seen: Seen, forward: Forward) -> Reply:
        asked.set()
        return stalling(gate)(seen, forward)

    return fault


@pytest.mark.parametrize("silent", [silence, stalling_once_asked], ids=["all", "body"])
def test_reading_is_given_up_while_a_server_is_silent(store: Store, silent: Callable[[Event, Event], Fault]) -> None:
    """Also in the middle of a body; the connection after that is another one."""
    source = store.open(store.put("silent.bin", bytes(3 << 20)))
    asked, gate, progress, ended = Event(), Event(), Progress(), []

    def read() -> None:
        with cancelling(progress), pytest.raises(Cancelled) as raised:
            source.read(0, 1)
        ended.append(raised.type)

    try:
        with store.proxy.failing(silent(asked, gate)):
            thread = Thread(target=read)
            thread.start()
            assert asked.wait(PATIENCE)
            progress.cancel()
            thread.join(PATIENCE)
            assert ended == [Cancelled]
    finally:
        gate.set()
    assert source.read(0, 1) == b"\0"


def test_closing_does_not_wait_for_a_server(store: Store) -> None:
    locations = [store.put(f"closed/{number}.caf", bytes(200_000)) for number in range(6)]
    gate = Event()

    def fault(seen: Seen, forward: Forward) -> Reply:
        return forward() if "/0.caf" in seen.path else stalling(gate)(seen, forward)

    try:
        with store.proxy.failing(fault):
            outcomes = check_many(expanded(locations, store.connection), ReportKind.TEXT, Progress())
            assert next(outcomes).result.state == State.DAMAGED
            closing = Thread(target=outcomes.close)
            closing.start()
            closing.join(PATIENCE)
            assert not closing.is_alive()
    finally:
        gate.set()


def test_what_was_cancelled_before_it_began_begins_nothing(store: Store, place: str) -> None:
    progress = Progress()
    progress.cancel()
    wanted = list(expanded([place], store.connection))
    store.proxy.reset()
    with pytest.raises(Cancelled):
        list(check_many(wanted, ReportKind.TEXT, progress))
    assert not store.proxy.log


# ---- what a listing has told ---------------------------------------------------------------------------------------


def test_what_was_listed_is_not_asked_for_again(store: Store, sample: Sample) -> None:
    """Neither for each archive, whether something stands beside it, nor for a dataset, whose folders one page tells."""
    for name in NAMES:
        store.put(f"told/archives/{name}", sample(name).read_bytes())
    store.put("told/archives/journey.caf.sha256", b"0" * 64 + b"  readme.txt\n")
    dataset(store, "told", 3)
    store.proxy.reset()

    outcomes = checked(store, "s3://archives/told/archives")
    asked = [str(seen).partition(" ")[0] for seen in store.proxy.log]
    assert sorted(asked) == ["GET"] * (6 + 3) + ["LIST"], (
        "the archives, their manifest, what is in place of a prefix, and second looks at the three that are wrong"
    )
    assert any("readme.txt" in each.report for each in outcomes), "what stands beside is known"
    store.proxy.reset()
    (outcome,) = checked(store, "s3://archives/told/dataset/")
    assert (outcome.result.state, [seen.listing for seen in store.proxy.log].count(True)) == (State.SOUND, 1)


def test_what_else_is_beneath_a_prefix_with_ranges_is_checked_too(store: Store, sample: Sample) -> None:
    """Also beneath one whose name looks like that of a file."""
    store.put("v1.0/other/torn.caf", sample("gap.caf").read_bytes())
    location = dataset(store, "v1.0", 2)
    store.client.delete_object(Bucket="archives", Key=f"v1.0/dataset/weather/datapoints/{11:020d}-{20:020d}.tar")
    store.proxy.reset()

    found = {each.result.location: each.result.state for each in checked(store, "s3://archives/v1.0")}

    assert found == {"s3://archives/v1.0": State.DAMAGED, "s3://archives/v1.0/other/torn.caf": State.WARNING}
    assert [seen.listing for seen in store.proxy.log].count(True) == 1
    store.proxy.reset()
    assert [each.result.location for each in checked(store, location)] == [location]
    assert [seen.listing for seen in store.proxy.log].count(True) == 1


def test_what_the_listing_of_a_dataset_tells_beside_its_ranges_is_checked_too(store: Store, sample: Sample) -> None:
    location = dataset(store, "told-beside", 2)
    there = f"{location.removeprefix('s3://archives/')}/datapoints"
    for name in ("a.caf", "deep/b.caf", "notes.txt"):
        store.put(f"{there}/{name}", sample("gap.caf").read_bytes() if name.endswith(".caf") else b"no archive")
    store.proxy.reset()

    outcomes = checked(store, location)

    found = [
        (each.result.location.removeprefix(location), each.result.state)
        for each in outcomes
        if each.result.state != NO_ARCHIVE
    ]
    assert found == [("", State.SOUND), ("/datapoints/a.caf", State.WARNING), ("/datapoints/deep/b.caf", State.WARNING)]
    assert [seen.listing for seen in store.proxy.log].count(True) == 1


def test_one_that_was_replaced_since_it_was_listed_is_read_as_it_is(store: Store, sample: Sample) -> None:
    store.put("since/a.caf", sample("gap.caf").read_bytes())
    store.put("since/b.caf", sample("gap.caf").read_bytes())
    wanted = list(expanded(["s3://archives/since/"], store.connection))
    store.put("since/a.caf", sample("journey.caf").read_bytes())
    store.client.delete_object(Bucket="archives", Key="since/b.caf")

    replaced, gone = check_many(wanted, ReportKind.TEXT, Progress())

    assert replaced.result.state == State.SOUND
    assert (gone.result.state, "does not exist" in gone.result.sentence) == (State.UNREADABLE, True)
