"""How many requests each piece of work takes on a server that answers after 100 ms, and that no byte comes twice."""

from __future__ import annotations

from pathlib import Path
from random import Random
from threading import Event, Lock

import pytest

from inspector.__main__ import main
from inspector.core import limits
from inspector.core.program.progress import Progress
from inspector.operations.audit.audit import MAX_REMOTE_WORKERS, Plan, prepare, run
from inspector.operations.audit.results import Results
from inspector.sources.s3.cache import MAX_IN_FLIGHT_IN_ALL, MAX_REQUEST_BYTES, Pace
from tests.formats.tar.tar_building import build
from tests.patience import PATIENCE
from tests.s3.archives import dataset
from tests.s3.bucket import BUCKET
from tests.s3.conftest import Store
from tests.s3.objects import Held, serving
from tests.s3.proxy import Fault, Forward, Reply, Seen

LATENCY = 0.1
"""Seconds that answers seem to take: requests are planned by it, and no test has to wait."""
GROWING = 8
"""Requests until ranges have grown to their full size, those of opening included."""
MEMBER = 200_000


@pytest.fixture(autouse=True)
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = Pace.note_answer
    monkeypatch.setattr(Pace, "note_answer", lambda self, seconds: measured(self, seconds + LATENCY))


def tar(folder: Path, count: int, size: int = MEMBER) -> Path:
    path = folder / "made.tar"
    path.write_bytes(build([(f"{number:05d}.bin", Random(number).randbytes(size)) for number in range(count)]))
    return path


def packed(kind: str, folder: Path, count: int) -> Path:
    """An archive of so many members of MEMBER bytes that do not compress."""
    inputs = folder / "inputs"
    inputs.mkdir()
    for number in range(count):
        (inputs / f"{number:05d}.bin").write_bytes(Random(number).randbytes(MEMBER))
    path = folder / f"made.{kind}"
    assert main(["create", {"tacozip": "taco"}.get(kind, kind), str(path), str(inputs)]) == 0
    return path


def gets(store: Store) -> list[str]:
    return [seen.range for seen in store.proxy.log if not seen.listing]


def work(store: Store, path: Path, *command: str) -> int:
    """The exit status of a command about the object."""
    store.proxy.reset()
    name, *more = command
    with store.proxy.failing(serving({path.name: path})):
        return main([name, *store.options, f"s3://{BUCKET}/{path.name}", *more])


# ---- one archive ---------------------------------------------------------------------------------------------------


SIZES = [
    pytest.param(60, id="small"),
    pytest.param(500, id="100 MB", marks=pytest.mark.sweep),
    pytest.param(5_000, id="1 GB", marks=pytest.mark.sweep),
]


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("command", [("list",), ("cat", "00000.bin"), ("check",)], ids=" ".join)
def test_a_tar_takes_one_request(store: Store, tmp_path: Path, count: int, command: tuple[str, ...]) -> None:
    """One, which goes on from opening, and the listing that shows what stands beside it."""
    path = tar(tmp_path, count)
    assert work(store, path, *command) == 0
    assert gets(store) == ["bytes=0-"]
    assert len(store.proxy.log) == 2


@pytest.mark.parametrize(
    "count", [pytest.param(100, id="small"), pytest.param(1_000, id="200 MB", marks=pytest.mark.sweep)]
)
@pytest.mark.parametrize("command", [("list",), ("cat", "00000.bin"), ("check",)], ids=" ".join)
def test_an_rca_is_read_once_though_memory_cannot_hold_it(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv(limits.CACHE.variable, str(limits.CACHE.least))
    path = packed("rca", tmp_path, count)
    assert path.stat().st_size > 2 * limits.CACHE.value
    assert work(store, path, *command) == 0
    assert gets(store) == ["bytes=0-"]


@pytest.mark.parametrize(
    "count", [pytest.param(150, id="small"), pytest.param(5_000, id="1 GB", marks=pytest.mark.sweep)]
)
def test_a_check_of_a_taco_archive_takes_few_requests_more_than_its_bytes(
    store: Store, tmp_path: Path, count: int
) -> None:
    path = packed("tacozip", tmp_path, count)
    assert work(store, path, "check") == 0
    assert len(store.proxy.log) <= path.stat().st_size // MAX_REQUEST_BYTES + GROWING + 3
    assert store.proxy.moved < path.stat().st_size * 1.1


def test_members_of_tens_of_megabytes_are_hopped_over(store: Store, tmp_path: Path) -> None:
    path = tar(tmp_path, 4, 20_000_000)
    assert work(store, path, "list") == 0
    first, *hops = gets(store)
    assert first == "bytes=0-"
    assert len(hops) == 4
    for hop in hops:
        start, stop = map(int, hop.removeprefix("bytes=").split("-"))
        assert stop + 1 - start <= 512 << 10


# ---- many ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [pytest.param(20, id="small"), pytest.param(2_000, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("command", ["list", "check"])
def test_a_dataset_takes_two_requests_a_range(store: Store, count: int, command: str) -> None:
    """Its metadata, and its tar: for the names that a list prints, or for what a check compares."""
    held = Held(store.proxy.url)
    location = dataset(held, "root", count)
    with store.proxy.failing(serving(held.objects)):
        assert main([command, *store.options, location]) == 0
    assert len(store.proxy.log) <= 2 * count + 10


class Crowd:
    """Holds all requests for objects back until so many of them wait at once."""

    def __init__(self, size: int, healthy: Fault) -> None:
        self._left = size
        self._healthy = healthy
        self._lock = Lock()
        self._complete = Event()

    def __call__(self, seen: Seen, forward: Forward) -> Reply:
        if not seen.listing:
            with self._lock:
                self._left -= 1
                if not self._left:
                    self._complete.set()
            if not self._complete.wait(PATIENCE):
                return Reply(0)
        return self._healthy(seen, forward)


@pytest.mark.parametrize(("command", "many"), [("list", "dataset"), ("check", "dataset"), ("check", "prefix")], ids=str)
def test_sixteen_requests_are_in_flight_for_many_archives(store: Store, command: str, many: str) -> None:
    held = Held(store.proxy.url)
    location = dataset(held, "crowd", MAX_IN_FLIGHT_IN_ALL + 4)
    if many == "prefix":
        held.objects = {f"many/{number}.tar": build([("a", b"x" * 700)]) for number in range(MAX_IN_FLIGHT_IN_ALL + 4)}
        location = f"s3://{BUCKET}/many/"
    with store.proxy.failing(Crowd(MAX_IN_FLIGHT_IN_ALL, serving(held.objects))):
        assert main([command, *store.options, location]) == 0


@pytest.mark.parametrize("count", [pytest.param(20, id="small"), pytest.param(300, marks=pytest.mark.sweep)])
def test_an_audit_takes_a_request_an_archive(
    store: Store, tmp_path: Path, count: int, request: pytest.FixtureRequest
) -> None:
    if count < 100:  # processes that do more than to start are for many
        request.getfixturevalue("in_this_process")
    objects: dict[str, bytes | Path] = {f"many/{number:03d}.tar": build([("a", b"x" * 700)]) for number in range(count)}
    plan = Plan((f"s3://{BUCKET}/many/",), connection=store.connection)
    with store.proxy.failing(serving(objects)), Results(tmp_path / "results.sqlite") as results:
        prepare(plan, results, Progress())
        found = [each.state for each in run(plan, results, Progress())]
    assert found == ["sound"] * count
    assert len(store.proxy.log) == count + 1
    assert MAX_REMOTE_WORKERS == 16
