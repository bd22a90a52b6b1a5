"""An audit beneath a prefix: objects are told apart by their ETags, and nothing is asked twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.__main__ import main
from inspector.core.program.progress import Progress
from inspector.operations.audit.audit import Plan, prepare, run
from inspector.operations.audit.results import Results
from inspector.operations.audit.targets import archives_in
from tests.s3.conftest import Store

Sample = Callable[[str], Path]
NAMES = ("journey.caf", "gap.caf", "plain.zip")


@pytest.fixture
def place(store: Store, sample: Sample, request: pytest.FixtureRequest) -> str:
    prefix = f"audited/{request.node.name}/"
    for name in NAMES:
        store.put(prefix + name, sample(name).read_bytes())
    store.put(f"{prefix}notes.txt", b"no archive")
    return store.put_all(sample("weather"), f"{prefix}weather").removesuffix("weather")


def audited(store: Store, place: str, results: Results) -> dict[str, str]:
    """What was done now, by name."""
    plan = Plan((place,), connection=store.connection)
    prepare(plan, results, Progress())
    came = run(plan, results, Progress(), 2)
    return {each.location.removeprefix(place): each.state for each in came}


@pytest.mark.usefixtures("in_this_process")
def test_a_prefix_is_audited_like_a_folder(store: Store, place: str, sample: Sample, tmp_path: Path) -> None:
    tars = {path.relative_to(sample("weather")).as_posix() for path in sample("weather").rglob("*.tar")}
    store.proxy.reset()
    with Results(tmp_path / "results.sqlite") as results:
        assert audited(store, place, results) == {
            "journey.caf": "sound",
            "gap.caf": "warning",
            "plain.zip": "sound",
            "notes.txt": "no archive",
            **{f"weather/{name}": "sound" for name in tars},
        }
        assert sum(seen.listing for seen in store.proxy.log) == 1, "what stands beside an archive is in the listing"
        assert audited(store, place, results) == {}
        store.put(place.removeprefix("s3://archives/") + "gap.caf", sample("journey.caf").read_bytes())
        assert audited(store, place, results) == {"gap.caf": "sound"}
        metadata = next(sample("weather").rglob("*.metadata"))
        key = f"weather/{metadata.relative_to(sample('weather')).as_posix()}"
        store.put(place.removeprefix("s3://archives/") + key, metadata.read_bytes() + b"more")
        assert list(audited(store, place, results)) == [key.removesuffix(".metadata")]


def test_listing_asks_for_nothing_but_the_listing(store: Store, place: str) -> None:
    store.proxy.reset()
    found = list(archives_in(place, store.connection))
    assert store.proxy.log
    assert all(seen.listing for seen in store.proxy.log), store.proxy.asked
    assert len(found) == 6
    assert all(each.size and each.stamp.startswith('"') for each in found)


@pytest.mark.usefixtures("in_this_process")
def test_one_object_is_a_place_too(store: Store, place: str, capfd: pytest.CaptureFixture[str]) -> None:
    status = main(["audit", "--json", *store.options, f"{place}journey.caf"])
    first, last = map(json.loads, capfd.readouterr().out.splitlines())
    assert (status, first["source"], first["state"]) == (0, f"{place}journey.caf", "sound")
    assert last["summary"]["archives"] == 1
