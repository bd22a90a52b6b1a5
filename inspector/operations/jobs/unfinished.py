"""What programs that were killed have left where files are written: to be said, and removed on the user's word."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from inspector.core.hints import Hint, hint
from inspector.core.names import listed, visible
from inspector.core.numbers import count, rounded
from inspector.sources.local.unfinished import Unfinished, remove, unfinished

_NAMED = 3
"""The most files that are named."""


def told(found: Iterable[Unfinished], folder: Path) -> str:
    """A sentence on what was found in a folder or beneath it; empty where that is nothing."""
    every = list(found)
    if not every:
        return ""
    names = listed((os.fsencode(each.name) for each in every), len(every), _NAMED)
    are, them = ("is", "it") if len(every) == 1 else ("are", "them")
    files, size = count(len(every), "unfinished file"), rounded(sum(each.size for each in every))
    return (
        f"{files} of a run that was killed {are} in {visible(str(folder))}: {names}, {size}. Nothing uses {them} any "
        f"more; remove {them}{hint(Hint.REMOVE_UNFINISHED)} or leave {them}."
    )


def said_of(folders: Iterable[Path]) -> Iterator[str]:
    """A sentence on each of the folders in which something is unfinished."""
    return filter(None, (told(unfinished(folder), folder) for folder in dict.fromkeys(folders)))


def removed(folders: Iterable[Path]) -> Iterator[str]:
    """Remove what is unfinished in these folders, and say of each how much that was."""
    for folder in dict.fromkeys(folders):
        gone = [each for each in unfinished(folder) if remove(folder, each)]
        yield from [told_removed(gone, folder)] if gone else []


def told_removed(gone: list[Unfinished], folder: Path) -> str:
    """A sentence on what was removed in a folder or beneath it."""
    files, size = count(len(gone), "unfinished file"), rounded(sum(each.size for each in gone))
    verb = "was" if len(gone) == 1 else "were"
    return f"{files} of a run that was killed {verb} removed in {visible(str(folder))}: {size}."
