"""Kills programs while they append to an RCA archive, in a process of its own, because it forks.

``every FOLDER STEP`` ends a program at each STEPth call to the system; ``random FOLDER COUNT SEED`` kills, with the
signal that cannot be caught, COUNT programs that append over and over. Prints what was counted, and fails where a blob
of before is not readable or the next append does not go on.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from inspector.operations.create.creating_rca import RcaOptions
from inspector.operations.create.rca_writing import DISCARD
from inspector.sources.local.changes.recovery import settle_append
from inspector.sources.local.disk_calls import Disk
from tests.formats.rca import build
from tests.formats.rca.checking import FULL, noisy, opened
from tests.operations.create.rca_appends import append, held, repaired
from tests.sources.disks import Watched
from tests.sources.kill_driver import KILLED, child, ended, ending, killed

GARBAGE = "rca-trailing-garbage"
DISCARDING = RcaOptions(accept=frozenset({DISCARD}))
"""What an interrupted append left that only decodes is not wanted."""


def added(number: int) -> list[build.Blob]:
    """What the append of that number adds: some bytes, now and then several chunks of them."""
    size = 400 if number % 4 else 2 * FULL
    return [(b"%d-%s" % (number, name), stored) for name, stored in noisy(size, 3, number)]


def _ends_with_garbage(data: bytes) -> bool:
    return any(finding.code == GARBAGE for finding in opened(data).findings)


def every(folder: Path, step: int) -> None:
    """End a program at each of these calls, behind an archive within a chunk, a full one and an empty file."""
    path = folder / "a.rca"
    ends = garbage = 0
    filler = [(b"filler", random.Random(3).randbytes(FULL - 40))]
    full = [(b"filler", random.Random(3).randbytes(FULL - 40 + FULL - 10 - len(build.segment(filler))))]
    for before in ([], [(b"one", b"first " * 30)], full):
        status, at = KILLED, 0
        while status == KILLED:
            path.write_bytes(build.archive(before) if before else b"")
            status = ended(child(lambda at=at: append(path, added(0), Watched(ending(at)))))
            assert status in (0, KILLED), status
            found = held(path.read_bytes(), [GARBAGE])
            assert found in (before, [*before, *added(0)])
            garbage += _ends_with_garbage(path.read_bytes())
            if repaired(path):
                found = held(path.read_bytes())
                assert found == [*before, *added(0)]
            if settle_append(path, Disk()):
                found = held(path.read_bytes())
                assert found in (before, [*before, *added(0)])
            append(path, added(1), options=DISCARDING)
            assert held(path.read_bytes()) == [*found, *added(1)]
            at += step
            ends += status == KILLED
    print(ends, garbage)


def at_random(folder: Path, count: int, seed: int) -> None:
    """Kill programs at any moment; what was said to be done has to be there."""
    path, chance = folder / "a.rca", random.Random(seed)
    number = garbage = 0
    for _ in range(count):
        if number > 12:
            number = 0
        if not number:
            path.write_bytes(b"")
        number += killed(lambda at: append(path, added(at), options=DISCARDING), number, chance, 2)
        settle_append(path, Disk())
        repaired(path)
        data = path.read_bytes()
        found = held(data, [GARBAGE])
        expected = [blob for each in range(number + 1) for blob in added(each)]
        assert found in (expected, expected[: 3 * number])
        number = len(found) // 3
        garbage += _ends_with_garbage(data)
    print(count, garbage)


if __name__ == "__main__":
    if sys.argv[1] == "every":
        every(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        at_random(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
