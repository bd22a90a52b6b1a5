"""Looking for the next sound header, block by block, where none stands where it should."""

from __future__ import annotations

from typing import NamedTuple

from inspector.core.progress import Progress
from inspector.core.source import Source, is_sparing
from inspector.formats._tar.header import BLOCK, parse

_WINDOW = 1 << 20
"""Bytes that are read together, and scanned between two looks at whether to stop."""
_BLANK = bytes(_WINDOW)
_DIGITS = b" 01234567\0"
_SUM = slice(148, 154)
_MAGIC = slice(257, 262)

FAR = 64 << 20
"""Bytes that are searched of a source that is far away; a check of it searches all."""


class Next(NamedTuple):
    """Where the archive goes on: at a sound header, at the zeros that end it, or nowhere.

    ``stop`` is the first byte of that, the end of the file where there is nothing, and where the search was given up if
    it did not come so far.
    """

    stop: int
    all_searched: bool = True


def next_header(source: Source, at: int, progress: Progress) -> Next:
    """Search from ``at`` on, which is at a block. Raises SourceError and Cancelled."""
    label, done = progress.label, progress.done
    progress.label = "Searching for where the tar goes on"
    found = _search(source, at, progress)
    progress.label, progress.done = label, done
    return found


def _search(source: Source, at: int, progress: Progress) -> Next:
    limit = min(source.size, at + FAR) if is_sparing(source) else source.size
    blank = -1
    while at < limit and (data := source.read(at, min(_WINDOW, limit - at))):
        if data == _BLANK[: len(data)]:
            blank = at if blank < 0 else blank
        else:
            inner = _header_in(data)
            if inner >= 0:
                return Next(at + inner)
            blank = _blank_end(data, at, blank)
        at += len(data)
        progress.advance(len(data))
    if limit < source.size:
        return Next(limit, all_searched=False)
    whole = (at - blank) % BLOCK == 0 and at - blank >= 2 * BLOCK
    return Next(blank if blank >= 0 and whole else source.size)


def _header_in(data: bytes) -> int:
    """Where the first sound header begins, -1 where there is none."""
    # Imported here because it brings numpy along, which sound archives do well without.
    import numpy as np

    rows = np.frombuffer(data, np.uint8, len(data) // BLOCK * BLOCK).reshape(-1, BLOCK)
    magic = (rows[:, _MAGIC] == np.frombuffer(b"ustar", np.uint8)).all(axis=1)
    summed = np.isin(rows[:, _SUM], np.frombuffer(_DIGITS, np.uint8)).all(axis=1)
    filled = rows.any(axis=1)
    for row in np.flatnonzero((magic | summed) & filled).tolist():
        if parse(data[row * BLOCK : (row + 1) * BLOCK]).fits:
            return int(row) * BLOCK
    return -1


def _blank_end(data: bytes, at: int, blank: int) -> int:
    """Where the blocks of zeros begin that the data ends with, -1 where it does not end so."""
    used = len(data.rstrip(b"\0"))
    begin = -(-used // BLOCK) * BLOCK
    if begin >= len(data):
        return -1
    return at + begin if used else blank
