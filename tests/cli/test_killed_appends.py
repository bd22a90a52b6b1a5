"""An append that was killed at any call: ``repair`` and the next ``append`` settle it by what it recorded."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from inspector.sources.local.changes.journal_paths import intent_path
from tests.cli.running import Run
from tests.formats.rca import build
from tests.formats.rca.checking import FULL, ONE, THREE, full_chunk, noisy
from tests.operations.create.rca_appends import append, held
from tests.sources.disks import Stopped, Watched, killing
from tests.sweeping import every, in_the_sweep

ADDED = noisy(700_000, 3)
BEFORE = {
    "inside a chunk": build.archive(ONE),
    "behind a full chunk": full_chunk(),
    "in an empty file": b"",
    "in the second chunk": build.archive(ONE, [(b"large", noisy(FULL, 1)[0][1])], convention=build.RCARCH),
}
each_archive = pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "archives").mkdir()
    return tmp_path / "archives" / "a.rca"


def kill(path: Path, before: bytes, at: int) -> bool:
    """Append to an archive and kill the program at a call; whether that call was made."""
    path.write_bytes(before)
    intent_path(path).unlink(missing_ok=True)
    try:
        append(path, ADDED, Watched(killing(lambda number, *_: number >= at)))
    except Stopped:
        return True
    return False


def kills(path: Path, before: bytes, step: int = 1) -> Iterator[int]:
    """Each kill before which a byte of the archive was written."""
    at = 0
    while kill(path, before, at):
        if path.read_bytes() != before:
            yield at
        at += step


def blobs(data: bytes) -> list[build.Blob]:
    return held(data) if data else []


@each_archive
@every(3)
def test_repair_settles_an_append_that_was_killed_anywhere(path: Path, run: Run, before: bytes, step: int) -> None:
    first, found = blobs(before), set()
    for at in kills(path, before, step):
        torn = path.read_bytes()
        status, _, err = run("repair", path)
        now = path.read_bytes()
        assert (status, now == before or blobs(now) == [*first, *ADDED]) == (0, True), (at, err)
        if torn not in (before, now) and now == before:
            run("repair", path, "--take-back")
            assert path.read_bytes() == torn, "what was taken back is in the store of old bytes"
        found.add(now == before)
    assert True in found


@each_archive
def test_the_next_append_settles_it_too(path: Path, before: bytes) -> None:
    for _ in kills(path, before, 5):
        append(path, THREE)
        assert blobs(path.read_bytes()) in ([*blobs(before), *THREE], [*blobs(before), *ADDED, *THREE])


def _foreign_behind(path: Path, chance: Random) -> None:
    path.write_bytes(path.read_bytes() + chance.randbytes(chance.choice([1, 700])))


def _foreign_inside(path: Path, chance: Random) -> None:
    data = bytearray(path.read_bytes())
    data[-chance.randint(1, 5_000)] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def _cut(path: Path, chance: Random) -> None:
    path.write_bytes(path.read_bytes()[: -chance.randint(1, 5_000)])


def _intent_damaged(path: Path, chance: Random) -> None:
    place = intent_path(path)
    data = bytearray(place.read_bytes())
    data[chance.randrange(len(data))] ^= 1
    place.write_bytes(data)


def _intent_gone(path: Path, _: Random) -> None:
    intent_path(path).unlink()


def _replaced(path: Path, _: Random) -> None:
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


@pytest.mark.parametrize("step", [pytest.param(23, id="every 23"), in_the_sweep(3, name="every 3")])
@pytest.mark.parametrize(
    "change",
    [_foreign_behind, _foreign_inside, _cut, _intent_damaged, _intent_gone, _replaced],
    ids=lambda e: e.__name__,
)
@pytest.mark.parametrize("before", [BEFORE["inside a chunk"], BEFORE["behind a full chunk"]], ids=["inside", "full"])
def test_what_the_intent_does_not_prove_needs_consent_as_before(
    path: Path, run: Run, before: bytes, change: Callable[[Path, Random], None], step: int
) -> None:
    """Nothing that is foreign is cut or counted: the archive stays, or is what a hash proves, and 1 says so."""
    chance = Random(7)
    for at in kills(path, before, step):
        if not intent_path(path).exists() or len(path.read_bytes()) - len(before) < 6_000:
            continue
        change(path, chance)
        torn = path.read_bytes()
        status = run("repair", path)[0]
        now = path.read_bytes()
        if now != torn:
            assert now[len(before) : len(torn)] == torn[len(before) : len(now)] or change is _intent_damaged, at
            assert blobs(now) in (blobs(before), [*blobs(before), *ADDED]), at
        assert run("check", path)[0] == status, at


def test_another_machine_proves_nothing(path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    before = BEFORE["inside a chunk"]
    kill(path, before, next(kills(path, before)))
    torn = path.read_bytes()
    monkeypatch.setattr(platform, "node", lambda: "elsewhere")
    status = run("repair", path)[0]
    assert (status, path.read_bytes()) == (1, torn)


def test_an_append_that_counts_is_never_taken_back(path: Path, run: Run) -> None:
    """The program was killed before it removed its intent, and then the intent or the archive was damaged."""
    before = BEFORE["inside a chunk"]
    last = [at for at in kills(path, before) if intent_path(path).exists()][-1]
    kill(path, before, last)
    whole, place = path.read_bytes(), intent_path(path)
    assert blobs(whole) == [*blobs(before), *ADDED]
    recorded = place.read_bytes()
    for at in range(0, len(recorded), len(recorded) // 20):
        place.write_bytes(recorded[:at] + bytes([recorded[at] ^ 1]) + recorded[at + 1 :])
        assert run("repair", path)[0] == 0
        assert path.read_bytes() == whole
    place.write_bytes(recorded)
    for size in (FULL, FULL + 4096, len(whole) - 1):
        path.write_bytes(whole[:size])
        run("repair", path)
        assert path.read_bytes()[:size] == whole[:size]


def test_a_running_append_is_left_alone(path: Path, run: Run) -> None:
    path.write_bytes(BEFORE["inside a chunk"])
    said: list[tuple[tuple[int, str, str], tuple[int, str, str]]] = []

    def act(_: int, name: str, arguments: tuple[Any, ...]) -> None:
        if name == "write" and arguments[2] > FULL and not said:
            said.append((run("repair", path), run("check", path)))

    append(path, ADDED, Watched(act))
    assert [(repaired[0], "at this moment" in checked[1]) for repaired, checked in said] == [(2, True)]
    assert blobs(path.read_bytes()) == [*ONE, *ADDED]
    assert not intent_path(path).exists()
