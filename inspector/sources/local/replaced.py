"""Whole files that a repair has replaced, kept as they were: metadata may be the only witness of what an archive held.

They stand in the user's state folder under names of their own, whether the file was one of this machine or an object.
The oldest go when there are too many.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

import platformdirs

from inspector.core.names import visible
from inspector.core.source import SourceError
from inspector.sources.local.atomic import Replacing
from inspector.sources.local.disk_calls import reason

TOTAL = 512 << 20
"""Bytes of all that is kept."""
FILES = 200
"""The most files that are kept."""
_NAME = 200
"""Bytes of a file's own name in that of what is kept of it."""


def folder() -> Path:
    """Where they are."""
    return platformdirs.user_state_path("archive-inspector", appauthor=False) / "old-bytes" / "replaced"


def keep(name: str, pieces: Iterable[bytes]) -> Path:
    """Keep a file called ``name`` for good, and say where. Raises SourceError where it cannot be kept.

    Raises what ``pieces`` raises; then nothing is kept.
    """
    try:
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        number = max((int(each.name.partition("-")[0]) for each in _kept()), default=0) + 1
    except OSError as error:
        raise SourceError(
            f"{visible(name)} is left as it is: its old bytes cannot be kept in {visible(str(folder()))} "
            f"({reason(error)})."
        ) from error
    own = visible(name).replace("/", "_").encode("utf-8", "replace")[-_NAME:].decode("utf-8", "ignore")
    place = folder() / f"{number:012d}-{own}"
    with Replacing(place) as out:
        for piece in pieces:
            out.write(piece)
    _thin_out()
    return place


def _kept() -> list[Path]:
    """All files, the newest first. Raises OSError."""
    return sorted((each for each in folder().iterdir() if each.name.partition("-")[0].isdecimal()), reverse=True)


def _thin_out() -> None:
    with contextlib.suppress(OSError):
        total = 0
        for position, each in enumerate(_kept()):
            total += each.stat().st_size
            if position and (position >= FILES or total > TOTAL):
                each.unlink()
