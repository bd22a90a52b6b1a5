"""Any call to the system may fail, take half, or be the last one: the file is then the old one or the new one."""

from __future__ import annotations

import errno
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.core.edit import Edit, EditError
from inspector.sources.local.changes import in_place
from inspector.sources.local.changes.in_place import write
from inspector.sources.local.changes.recovery import finish, forget, pending, roll_back
from inspector.sources.local.disk_calls import Disk
from tests.sources.disks import CONTENT, EDITS, Memory, Stingy, Stopped, Watched, after, failing, stopping
from tests.sweeping import every, in_the_sweep

PATH = Path("/archives/a.tacozip")
CODES = [errno.EIO, errno.ENOSPC, errno.EINTR]
CUTS, SWEPT_CUTS = 120, 375
"""How often the power is cut; the seed makes them the same ones every time."""

each_edit = pytest.mark.parametrize("name", EDITS)
each_kept = pytest.mark.usefixtures("_kept")


@pytest.fixture(params=["kept", "not kept"])
def _kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether what is cut off is little enough to be put back."""
    if request.param == "not kept":
        monkeypatch.setattr(in_place, "MAX_DROPPED_BYTES", 10)


def fresh() -> Memory:
    return Memory({PATH: CONTENT})


def content(disk: Memory) -> bytes:
    return disk.files()[PATH]


def calls(edit: Edit) -> int:
    """How many calls a writing without faults makes."""
    disk = Watched(beneath=fresh())
    write(PATH, edit, None, disk)
    return len(disk.log)


def recovered(disk: Memory, edit: Edit, chance: random.Random | None = None) -> bytes:
    """The content after the way out that a user may choose; there is nothing left to do then."""
    found = pending(PATH, disk)
    if found is not None:
        ways = {finish: found.finish, roll_back: found.roll_back, forget: found.forget}
        possible = [way for way, sentence in ways.items() if sentence]
        (chance.choice(possible) if chance else possible[0])(PATH, disk)
    assert pending(PATH, disk) is None
    beside = disk.files().keys() - {PATH}
    assert content(disk) in ((CONTENT,) if beside else (CONTENT, after(edit)))
    assert all(".aij.kept" in each.name for each in beside)  # a journal that the power cut has torn
    return content(disk)


def attempt(edit: Edit, disk: Disk) -> bool | None:
    """Whether the change was made; None where the program came to its end."""
    try:
        write(PATH, edit, None, disk)
    except EditError:
        return False
    except Stopped:
        return None
    return True


@each_edit
@each_kept
@pytest.mark.parametrize("code", CODES)
def test_one_failure_leaves_the_old_file_or_the_new_one(name: str, code: int) -> None:
    edit = EDITS[name]
    outcomes = set()
    for at in range(calls(edit)):
        disk = fresh()
        done = attempt(edit, Watched(failing(at, code), disk))
        if pending(PATH, disk) is None:
            assert content(disk) == (after(edit) if done else CONTENT)
        recovered(disk, edit)
        outcomes.add(done)
    assert outcomes == {True, False}


@each_edit
@each_kept
def test_a_disk_that_fails_for_good_leaves_a_journal_that_leads_out(name: str) -> None:
    edit = EDITS[name]
    torn = 0
    for at in range(calls(edit)):
        disk = fresh()
        done = attempt(edit, Watched(failing(at, errno.EIO, from_then_on=True), disk))
        torn += content(disk) not in (CONTENT, after(edit))
        assert content(disk) == after(edit) or not done
        recovered(disk, edit, random.Random(at))
    assert torn or len(edit.patches) < 2


@each_edit
def test_a_short_write_is_gone_on_with(name: str) -> None:
    edit = EDITS[name]
    for at in range(calls(edit)):
        disk = fresh()
        stingy = Stingy(at, disk)
        assert attempt(edit, stingy) is True
        assert disk.files() == {PATH: after(edit)}


def stopped(edit: Edit, at: int, chance: random.Random) -> Memory:
    """The disk after the power was cut before a call, or, from the last one on, after the end."""
    disk = fresh()
    attempt(edit, Watched(stopping(at), disk))
    return disk.cut(chance)


@each_edit
@each_kept
@pytest.mark.parametrize("cuts", [CUTS, in_the_sweep(SWEPT_CUTS)])
def test_a_power_cut_at_any_moment_loses_nothing(name: str, cuts: int) -> None:
    edit = EDITS[name]
    chance = random.Random(f"{name}")
    count = calls(edit)
    found = [recovered(stopped(edit, each % (count + 1), chance), edit, chance) for each in range(cuts)]
    assert {CONTENT, after(edit)} == set(found)


@each_edit
@each_kept
def test_a_power_cut_in_the_recovery_loses_nothing(name: str) -> None:
    """Every cut in writing, and then every call of the recovery cut too, until one is let through."""
    edit = EDITS[name]
    chance = random.Random(f"{name} again")
    for at in range(calls(edit) + 1):
        disk = stopped(edit, at, chance)
        for again in range(100):
            try:
                recovered_through(disk, stopping(again), chance)
            except Stopped:
                disk = disk.cut(chance)
            else:
                break
        recovered(disk, edit, chance)


@each_edit
@each_kept
@every(7)
def test_a_failure_in_the_recovery_can_be_tried_again(name: str, step: int) -> None:
    edit = EDITS[name]
    chance = random.Random(name)
    failures = 0
    for at in range(0, calls(edit) + 1, step):
        for again in range(40):
            disk = stopped(edit, at, chance)
            try:
                recovered_through(disk, failing(again, chance.choice(CODES)), chance)
            except EditError:
                failures += 1
            recovered(disk, edit, chance)
    assert failures


def recovered_through(disk: Memory, act: Callable[[int, str, tuple[Any, ...]], None], chance: random.Random) -> None:
    found = pending(PATH, disk)
    if found is None:
        return
    ways = {finish: found.finish, roll_back: found.roll_back, forget: found.forget}
    chance.choice([way for way, sentence in ways.items() if sentence])(PATH, Watched(act, disk))


def test_the_naive_way_does_tear() -> None:
    """The cuts are rough enough: three writes without a journal nearly always leave neither state."""
    edit, chance = EDITS["three"], random.Random(7)
    torn = 0
    for _ in range(200):
        disk = fresh()
        descriptor = disk.open(PATH, 0)
        for patch in edit.patches:
            disk.write(descriptor, patch.new, patch.offset)
        torn += content(disk.cut(chance)) not in (CONTENT, after(edit))
    assert torn > 150


@pytest.mark.parametrize("offset", [patch.offset for patch in EDITS["three"].patches])
def test_stopping_in_between_puts_the_old_bytes_back(offset: int) -> None:
    """Ctrl+C: the program is told to end, and the disk still works."""

    def act(_: int, name: str, arguments: tuple[Any, ...]) -> None:
        if name == "write" and arguments[2] == offset:
            watched.act = None
            raise Stopped

    disk = fresh()
    watched = Watched(act, disk)
    assert attempt(EDITS["three"], watched) is None
    assert disk.files() == {PATH: CONTENT}


def test_an_end_that_is_off_for_good_is_not_made_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot go back is left as it is: all new, and to be finished."""
    monkeypatch.setattr(in_place, "MAX_DROPPED_BYTES", 10)
    disk = fresh()

    def act(_: int, name: str, *__: Any) -> None:
        if name == "sync" and watched.named("truncate"):
            raise OSError(errno.EIO, "Input/output error")

    watched = Watched(act, disk)
    with pytest.raises(EditError, match="its end is already cut off"):
        write(PATH, EDITS["shrinking"], None, watched)
    assert content(disk) == after(EDITS["shrinking"])
    finish(PATH, disk)
    assert disk.files() == {PATH: after(EDITS["shrinking"])}
