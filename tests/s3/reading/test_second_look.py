"""Bytes that the connection changes are no damage: what a check finds wrong is read once more before it says so."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from inspector.__main__ import main
from inspector.core.finding import Severity
from inspector.core.program.progress import Progress
from inspector.core.verdict import State
from inspector.operations.check.checking import check_location
from tests.s3.conftest import Store
from tests.s3.proxy import Fault, Forward, Reply, Seen, flipping
from tests.s3.writing.writing import content

Sample = Callable[[str], Path]


def flipping_once(at: int) -> Fault:
    """Something on the way changes a bit of a byte the first time that it passes."""
    always, passed = flipping(at), count()

    def fault(seen: Seen, forward: Forward) -> Reply:
        plain = forward()
        reply = always(seen, lambda *_, **__: Reply(plain.status, plain.headers, plain.body))
        return plain if reply.body != plain.body and next(passed) else reply

    return fault


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("two-entries.tacozip", 210),
        ("two-entries.tacozip", 50),
        ("two-chunks.rca", 32_700),
        ("plain.tar", 10),
        ("plain.zip", 60),
    ],
)
def test_a_byte_that_is_another_one_when_it_is_read_again_is_no_damage(
    store: Store, sample: Sample, name: str, at: int
) -> None:
    location = store.put(f"second/{name}", sample(name).read_bytes())
    assert check_location(location, Progress(), store.connection).state is State.SOUND
    with store.proxy.failing(flipping_once(at)):
        report = check_location(location, Progress(), store.connection)
    said = [each.message for archive in report.archives for each in archive.findings]
    assert report.state is State.UNREADABLE, said
    assert f"The connection or this machine changes bytes: byte {at:,} was another one when it was read again." in said
    assert not any(each.repair for archive in report.archives for each in archive.findings)


def test_what_is_wrong_in_the_object_itself_costs_one_request_more(store: Store, sample: Sample) -> None:
    location = store.put("second/damaged", sample("flipped-member-byte.tacozip").read_bytes())
    store.proxy.log.clear()
    report = check_location(location, Progress(), store.connection)
    assert report.state is State.DAMAGED
    assert [each.severity for each in report.archives[0].findings if each.code == "unreadable"] == []
    assert Severity.ERROR in {each.severity for each in report.archives[0].findings}
    read = [each for each in store.proxy.log if each.method == "GET" and not each.listing]
    assert len(read) == 2


def test_nothing_is_repaired_for_a_byte_that_the_connection_changed(
    store: Store, sample: Sample, capfd: pytest.CaptureFixture[str]
) -> None:
    data = sample("two-entries.tacozip").read_bytes()
    location = store.put("second/repair.tacozip", data)
    with store.proxy.failing(flipping_once(210)):
        status = main(["repair", *store.options, location])
    said = capfd.readouterr()
    assert (status, content(store, "second/repair.tacozip")) == (2, data), said
