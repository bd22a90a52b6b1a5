"""An append that any call to the system ends, or a kill, or a power cut, or a full disk: no blob of before is lost."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from inspector.core.edit import EditError
from inspector.operations.create.creating_rca import RcaOptions
from inspector.operations.create.rca_writing import DISCARD
from tests.formats.rca import build
from tests.formats.rca.checking import FULL, ONE, THREE, full_chunk, noisy
from tests.operations.create.rca_appends import append, held, repaired
from tests.sources.disks import Act, Stingy, Stopped, Watched, failing
from tests.sweeping import every, in_the_sweep

KILLS, SWEPT_KILLS = 10, 30
"""How many programs are killed at random moments."""
CUTS, SWEPT_CUTS = 5, 12
"""How often the power is cut before each call; the seed makes them the same ones every time."""
SECTOR = 512
"""Bytes that a disk writes whole or not at all."""

GARBAGE = "rca-trailing-garbage"
ADDED = noisy(9_000, 5)
BEFORE = {
    "inside a chunk": build.archive(ONE),
    "behind a full chunk": full_chunk(),
    "in the second chunk": build.archive(ONE, [(b"large", noisy(FULL, 1)[0][1])], convention=build.RCARCH),
    "behind garbage": full_chunk() + bytes(4) + b"deadhash" + b"x" * 900,
    "in an empty file": b"",
}
AT_EVERY_CHANGE = "behind a full chunk"
"""The archive whose append begins a chunk, and so writes to two places."""
each_archive = pytest.mark.parametrize(
    "before",
    [
        pytest.param(data, marks=() if name == AT_EVERY_CHANGE else pytest.mark.sweep, id=name)
        for name, data in BEFORE.items()
    ],
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.rca"


def closing(act: Act) -> Act:
    """A descriptor is given back whatever the system says of it, and its lock."""
    return lambda number, name, arguments: None if name == "close" else act(number, name, arguments)


def calls(path: Path, before: bytes) -> Watched:
    """The calls of an append without faults."""
    path.write_bytes(before)
    disk = Watched()
    append(path, ADDED, disk)
    return disk


def of_the_archive(disk: Watched) -> list[tuple[str, tuple[Any, ...]]]:
    """The calls that concern the archive itself, and not the store of old bytes."""
    descriptor = disk.named("lock")[0][0]
    return [each for each in disk.log if each[1][0] == descriptor]


def goes_on(path: Path, before: bytes) -> bool:
    """Whether the archive holds what was added; it holds what it held, and the next append goes on."""
    first = held(before, [GARBAGE])
    found = held(path.read_bytes(), [GARBAGE])
    assert found in (first, [*first, *ADDED])
    repaired(path)  # where the header that makes it all count is the one thing that was not written
    whole = held(path.read_bytes(), [GARBAGE])
    assert whole in (found, [*first, *ADDED])
    append(path, THREE, options=RcaOptions(accept=frozenset({DISCARD})))  # what only decodes is not wanted
    now = held(path.read_bytes())
    assert now in ([*whole, *THREE], [*first, *ADDED, *THREE])  # what it recorded proves that it could be finished
    return found != first


@each_archive
@every(3)
@pytest.mark.parametrize("code", [errno.ENOSPC, in_the_sweep(errno.EIO)])
@pytest.mark.parametrize("for_good", [False, True], ids=["once", "from then on"])
def test_any_call_may_fail(path: Path, before: bytes, code: int, for_good: bool, step: int) -> None:
    outcomes = set()
    for at in range(0, len(calls(path, before).log), step):
        path.write_bytes(before)
        try:
            append(path, ADDED, Watched(closing(failing(at, code, from_then_on=for_good))))
        except EditError as error:
            said = str(error)
            outcomes.add(False)
            assert not ("Nothing was added" in said and "may or may not be in it" in said)
            assert not ("unchanged" in said and ("may or may not be in it" in said or "may be left" in said))
            if not for_good:
                assert path.read_bytes() in (before, before[: len(before) - 912])
                assert "Nothing was added" in said or "was not changed" in said
            elif "may or may not be in it" not in said:
                assert not goes_on(path, before)
        else:
            outcomes.add(True)
            assert goes_on(path, before)
    assert False in outcomes
    assert step > 1 or True in outcomes, "one of all calls may fail without harm"


@each_archive
@every(3)
def test_a_short_write_is_gone_on_with(path: Path, before: bytes, step: int) -> None:
    for at in range(0, len(calls(path, before).log), step):
        path.write_bytes(before)
        append(path, ADDED, Stingy(at))
        assert goes_on(path, before)


def test_a_full_disk_is_said_and_leaves_the_archive_as_it_was(path: Path) -> None:
    path.write_bytes(BEFORE["inside a chunk"])

    def full(_: int, name: str, arguments: tuple[Any, ...]) -> None:
        if name == "write" and arguments[2] > FULL:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(EditError, match=r"Nothing was added to a\.rca: writing failed \(no space left on device\)"):
        append(path, noisy(700_000, 5), Watched(full))
    assert path.read_bytes() == BEFORE["inside a chunk"]


@pytest.mark.parametrize("name", ["write", "sync"])
def test_stopping_in_between_takes_back_what_was_added(path: Path, name: str) -> None:
    """Ctrl+C: the program is told to end, and the disk still works."""
    path.write_bytes(before := BEFORE["inside a chunk"])

    def act(_: int, called: str, __: tuple[Any, ...]) -> None:
        if called == name:
            watched.act = None
            raise Stopped

    watched = Watched(act)
    with pytest.raises(Stopped):
        append(path, ADDED, watched)
    assert path.read_bytes() == before


# ---- the power is cut --------------------------------------------------------------------------------------------


def replayed(before: bytes, log: list[tuple[str, tuple[Any, ...]]]) -> Iterator[tuple[bytes, bytes]]:
    """What is safe on the disk and what a program reads, before each call that changes the file and after the last."""
    safe, now = before, bytearray(before)
    for name, arguments in log:
        if name in ("write", "truncate", "sync"):
            yield safe, bytes(now)
        if name == "write":
            data, offset = arguments[1], arguments[2]
            now.extend(bytes(max(0, offset - len(now))))
            now[offset : offset + len(data)] = data
        elif name == "truncate":
            del now[arguments[1] :]
        elif name == "sync":
            safe = bytes(now)
    yield safe, bytes(now)


def torn(safe: bytes, now: bytes, chance: Random) -> bytes:
    """Of what is not yet safe any sectors are there, with zeros where the file has grown; and so is its size."""
    size = chance.choice([len(safe), len(now), chance.randint(*sorted((len(safe), len(now))))])
    share, found = chance.random(), bytearray()
    for at in range(0, size, SECTOR):
        new, old = (data[at : at + SECTOR].ljust(SECTOR, b"\0") for data in (now, safe))
        found += new if chance.random() < share else old
    return bytes(found[:size])


@each_archive
@pytest.mark.parametrize("cuts", [CUTS, in_the_sweep(SWEPT_CUTS)])
def test_a_power_cut_at_any_moment_loses_nothing_that_was_there(path: Path, before: bytes, cuts: int) -> None:
    chance, outcomes = Random(5), set()
    for safe, now in replayed(before, of_the_archive(calls(path, before))):
        for _ in range(cuts):
            path.write_bytes(torn(safe, now, chance))
            # Where the first sector of a first append is zero, the same bytes may be an archive whose header was lost.
            if before or held(path.read_bytes(), [GARBAGE, "rca-chunk-size-small"]):
                outcomes.add(goes_on(path, before))
    assert outcomes == ({False, True} if before else {True})


def test_without_the_order_of_the_writes_a_power_cut_does_damage(path: Path) -> None:
    """The cuts are rough enough to tell: without the flush before the header most archives are lost."""
    before, chance, broken = BEFORE["inside a chunk"], Random(5), 0
    log = [each for each in of_the_archive(calls(path, before)) if each[0] != "sync"]
    *_, (safe, now) = replayed(before, log)
    for _ in range(40):
        path.write_bytes(torn(safe, now, chance))
        try:
            goes_on(path, before)
        except (AssertionError, EditError):
            broken += 1
    assert broken > 12


# ---- programs that end -------------------------------------------------------------------------------------------


def driven(root: Path, *arguments: str) -> list[int]:
    command = [sys.executable, "-m", "tests.operations.create.append_driver", *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [int(number) for number in done.stdout.split()]


@every(7)
def test_a_program_may_end_at_any_call(tmp_path: Path, root: Path, step: int) -> None:
    ends, garbage = driven(root, "every", str(tmp_path), str(step))
    assert ends > 30 // step
    assert garbage > 5 // step


@pytest.mark.parametrize("times", [KILLS, in_the_sweep(int(os.environ.get("INSPECTOR_KILLS", SWEPT_KILLS)))])
def test_a_program_may_be_killed_at_any_moment(tmp_path: Path, root: Path, times: int) -> None:
    kills, _ = driven(root, "random", str(tmp_path), str(times), "11")
    assert kills == times
