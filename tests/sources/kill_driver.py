"""Kills programs while they change a file, in a process of its own, because it forks.

``every FOLDER STEP`` ends a program at each STEPth call to the system, and one that recovers at some other; ``random
FOLDER COUNT SEED`` kills, with the signal that cannot be caught, COUNT programs that change a file over and over.
Prints what was counted, and fails where a file is neither the old nor the new one.
"""

from __future__ import annotations

import os
import random
import select
import signal
import sys
import zlib
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from inspector.core.edit import Edit, Patch
from inspector.sources.local.changes.in_place import write
from inspector.sources.local.changes.recovery import finish, forget, pending, roll_back
from tests.sources.disks import CONTENT, EDITS, Act, Watched, after, names

KILLED = 9


def child(work: Callable[[], object]) -> int:
    """Start a program that does this, and give its number."""
    number = os.fork()
    if not number:
        try:
            work()
        except BaseException:  # noqa: BLE001 - whatever it is, this program must not go on as the other one
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    return number


def ended(number: int) -> int:
    """How a program ended: 0, KILLED or a fault."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def ending(at: int) -> Act:
    """End the program at that call, without any tidying."""

    def act(number: int, *_: Any) -> None:
        if number == at:
            os._exit(KILLED)

    return act


def killed(work: Callable[[int], object], number: int, chance: random.Random, waits: int) -> int:
    """How many times a program has done its work, ``number`` and on, before it is killed at any moment.

    It is let to finish fewer than ``waits`` times before.
    """
    said, pipe = os.pipe()

    def go_on() -> None:
        for each in count(number):
            work(each)
            os.write(pipe, b".")

    program = child(go_on)
    os.close(pipe)
    times = 0
    for _ in range(chance.randrange(waits)):
        select.select([said], [], [])
        times += len(os.read(said, 1))
    kill(program, chance.random() * 0.02)
    while done := os.read(said, 100):
        times += len(done)
    os.close(said)
    return times


def kill(program: int, seconds: float) -> None:
    """Kill a program after a while, if it has not ended by then."""
    select.select([], [], [], seconds)
    os.kill(program, signal.SIGKILL)
    assert ended(program) in (0, -signal.SIGKILL)


def recover(path: Path, seed: int, act: Act | None = None) -> None:
    """Take one of the ways out."""
    found = pending(path)
    if found is None:
        return
    ways = {finish: found.finish, roll_back: found.roll_back, forget: found.forget}
    random.Random(seed).choice([way for way, sentence in ways.items() if sentence])(path, Watched(act))


def every(folder: Path, step: int) -> None:
    """End a program at each of these calls of every kind of edit, and then the recovery at some call."""
    path, chance = folder / "archive.tacozip", random.Random(3)
    ends = waiting = 0
    for edit in EDITS.values():
        status, at = KILLED, 0
        while status == KILLED:
            path.write_bytes(CONTENT)
            status = ended(child(lambda edit=edit, at=at: write(path, edit, None, Watched(ending(at)))))
            assert status in (0, KILLED), status
            waiting += pending(path) is not None
            again = chance.randrange(20)
            assert ended(child(lambda again=again, at=at: recover(path, at, ending(again)))) in (0, KILLED)
            recover(path, again)
            assert pending(path) is None
            assert names(path) == [path.name]
            assert path.read_bytes() in (CONTENT, after(edit))
            at += step
            ends += status == KILLED
        assert status == 0
    print(ends, waiting)


def state(number: int) -> bytes:
    """What the file holds after that many changes: nothing of it is as it was, and its size changes."""
    payload = number.to_bytes(4, "big") * 29
    digest = zlib.crc32(payload).to_bytes(4, "big")
    head = b"PK".ljust(14, b"\3") + digest + bytes(23) + payload
    return head + bytes(5000) + digest + bytes(22) + payload[:4] * (number % 4 * 25)


def change(number: int) -> Edit:
    """The edit from a state to the next: a payload, two digests of it, and the end."""
    old, new = state(number), state(number + 1)
    fixed = len(state(0))
    spans = [(41, 157), (14, 18), (157 + 5000, 157 + 5004)]
    patches = [Patch(start, old[start:stop], new[start:stop]) for start, stop in spans]
    end = max(fixed, min(len(old), len(new)))
    patches.append(Patch(fixed, old[fixed : end if len(new) < len(old) else len(old)], new[fixed:]))
    return Edit(f"Change {number}", tuple(patches), len(old), len(new))


def at_random(folder: Path, times: int, seed: int) -> None:
    """Kill programs at any moment; what was said to be done has to be there."""
    path, chance = folder / "archive.tacozip", random.Random(seed)
    path.write_bytes(state(0))
    number = waiting = 0
    for each in range(times):
        number += killed(lambda at: write(path, change(at), None), number, chance, 3)
        waiting += pending(path) is not None
        kill(child(lambda each=each: recover(path, each)), chance.random() * 0.01)
        recover(path, each)
        assert pending(path) is None
        assert names(path) == [path.name]
        assert path.read_bytes() in (state(number), state(number + 1))
        number += path.read_bytes() == state(number + 1)
    print(times, waiting)


if __name__ == "__main__":
    if sys.argv[1] == "every":
        every(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        at_random(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
