"""Ends programs while they make archives, in a process of its own, because it forks.

``killed KIND FOLDER STEP`` ends a program at each STEPth call to the system, as the signal that cannot be caught does;
``interrupted KIND FOLDER STEP`` lets each of them be where Ctrl+C is noticed. Prints the number of the last one, and
fails where an archive is there that is not whole, or where an interrupted one leaves anything.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.create.catalogue import find
from inspector.operations.create.creating import create_caf, create_taco
from inspector.operations.jobs.operation_error import OperationError
from tests.operations.create.creations import held, plant

FILES = {"a": b"1" * 100, "b/c": b"2" * 100, "d": b"3" * 100}
NAMES = {"caf": {"new.caf", "new-0001.caf", "new-0002.caf"}, "taco": {"new.caf"}}
ENDED = 9
"""The exit status of a program that was killed."""
INTERRUPTED = 130
_NO_CALLS = {"fspath", "_path_normpath"}
"""Functions of the module that ask the system nothing."""


def ending(at: int, end: Callable[[], None]) -> Callable[[FrameType, str, Any], None]:
    """A profile function that ends the program before a call to the system, the one of that number."""
    calls = 0

    def profile(_: FrameType, event: str, what: Any) -> None:
        nonlocal calls
        module = getattr(getattr(what, "__self__", None), "__name__", "")
        if event == "c_call" and module == "posix" and what.__name__ not in _NO_CALLS:
            calls += 1
            if calls == at:
                sys.setprofile(None)
                end()

    return profile


def interrupt() -> None:
    raise KeyboardInterrupt


def make(kind: str, folder: Path) -> None:
    target, tree = str(folder / "new.caf"), [str(folder / "tree")]
    if kind == "caf":
        create_caf(Progress(), target, tree, max_size=200, catalog=str(folder / "cat.sqlite"), overwrite=True)
    else:
        create_taco(Progress(), target, tree, entries=["b/c"], overwrite=True)


def run(kind: str, folder: Path, at: int, end: Callable[[], None]) -> int:
    """The exit status of a program of its own that makes archives in ``folder`` and is ended in time."""
    number = os.fork()
    if not number:
        status = 1
        try:
            sys.setprofile(ending(at, end))
            make(kind, folder)
            status = 0
        except KeyboardInterrupt:
            status = INTERRUPTED
        finally:
            sys.setprofile(None)
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def archives(folder: Path) -> set[str]:
    """The names of the archives in a folder, which have to be whole."""
    found = {path.name for path in folder.iterdir() if not path.name.startswith((".", "cat.sqlite"))} - {"tree"}
    for name in found:
        members = held(folder / name)
        members.pop("TACO_HEADER", None)
        assert members.items() <= FILES.items(), name
    return found


def catalogued(folder: Path) -> set[str]:
    """The names of the archives that the catalogue knows; it need not have come into being."""
    try:
        return {Path(place.archive).name for place in find(folder / "cat.sqlite", "*")}
    except (SourceError, OperationError):
        return set()


def clear(folder: Path, *, catalogue: bool) -> None:
    for path in folder.iterdir():
        if path.name != "tree" and (catalogue or not path.name.startswith("cat.sqlite")):
            path.unlink()


def drive(how: str, kind: str, folder: Path, step: int) -> int:
    """End programs at these calls, one after the other, until one is through; the number of the last call."""
    plant(folder / "tree", FILES)
    make(kind, folder)  # loads every module, so that the calls that are counted are those of the work
    at, status = 1 - step, -1
    while status != 0:
        at += step
        clear(folder, catalogue=at % 3 == 0)  # else what a program that was ended has left is what the next one finds
        status = run(kind, folder, at, interrupt if how == "interrupted" else lambda: os._exit(ENDED))
        found, hidden = archives(folder), [path.name for path in folder.iterdir() if path.name.startswith(".")]
        assert status in (0, INTERRUPTED if how == "interrupted" else ENDED), status
        assert found <= NAMES[kind], found
        assert all(name.endswith(".part") for name in hidden), hidden
        if how == "interrupted":
            assert not hidden, hidden
            assert found in (set(), NAMES[kind]), found
        assert catalogued(folder) in (set(), NAMES[kind])
    assert archives(folder) == NAMES[kind]
    assert kind != "caf" or catalogued(folder) == NAMES[kind]
    return at - step


if __name__ == "__main__":
    print(drive(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])))
