"""What bytes that were inserted in the data section are: a copy of the bytes before them, or carriage returns.

Both are found in one pass over the data, in time linear in its size, whatever the bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from inspector.core.progress import Progress
from inspector.core.source import Source, blocks

MIN_DOUBLED_BYTES = 64
"""Fewer bytes are often equal to those before them by chance."""
MIN_LINE_FEEDS = 16
"""With fewer of them it may be chance that each follows a carriage return."""
_WINDOW_BYTES = 1 << 20
_MAX_COMPARED_BYTES = 64 << 20
"""Of longer doubled bytes, only the first are searched for a repeated piece."""


@dataclass(frozen=True, slots=True)
class Doubled:
    """The bytes ``[start, start + size)`` follow once more, and removing either copy leaves the same bytes."""

    start: int
    size: int


def find_doubled(source: Source, size: int, stop: int, progress: Progress) -> Doubled | None:
    """The only ``size`` bytes before ``stop`` that stand twice in a row; None if there are none, or several.

    Copies that touch are one place: all of them leave the same bytes. Bytes that repeat a shorter piece, such as zeros,
    are no evidence, because they occur in whole files. Raises SourceError and Cancelled.
    """
    if size < MIN_DOUBLED_BYTES or 2 * size > stop:
        return None
    progress.begin("Searching for doubled bytes", stop - size)
    places = (Doubled(start, size) for start in _equal_runs(source, size, stop, progress))
    found = list(islice((each for each in places if not _repeats(source, each)), 2))
    return found[0] if len(found) == 1 else None


def _equal_runs(source: Source, size: int, stop: int, progress: Progress) -> Iterator[int]:
    """Where each run of at least ``size`` bytes begins that equal those ``size`` later."""
    import numpy as np

    end, begun = stop - size, 0
    for at in range(0, end, _WINDOW_BYTES):
        length = min(_WINDOW_BYTES, end - at)
        near, far = (np.frombuffer(source.read(place, length), np.uint8) for place in (at, at + size))
        if len(near) != length or len(far) != length:
            return  # the file has become shorter
        differing = np.flatnonzero(near != far) + at
        edges = np.concatenate(([begun - 1], differing, [end] if at + length == end else []))
        long = np.flatnonzero(np.diff(edges) > size)
        yield from (int(edges[each]) + 1 for each in long)
        begun = int(differing[-1]) + 1 if len(differing) else begun
        progress.advance(length)


def _repeats(source: Source, doubled: Doubled) -> bool:
    """Whether the bytes, or the first of them, consist of a shorter piece that is repeated."""
    data = source.read(doubled.start, min(doubled.size, _MAX_COMPARED_BYTES))
    if len(data) < doubled.size:
        return data.find(data[: len(data) // 2], 1) >= 0
    return (data + data).find(data, 1) < len(data)


def is_text_mode(source: Source, size: int, stop: int, progress: Progress) -> bool:
    """Whether the ``size`` inserted bytes are a carriage return before every line feed before ``stop``.

    A copy in text mode makes CR LF of each LF. Reading ends at the first that shows otherwise. Raises SourceError and
    Cancelled.
    """
    progress.begin("Looking at line feeds", stop)
    found, last = 0, b""
    for piece in blocks(source, 0, stop):
        feeds = piece.count(b"\n")
        pairs = piece.count(b"\r\n") + (last == b"\r" and piece[:1] == b"\n")
        found += feeds
        if feeds != pairs or found > size:
            return False
        last = piece[-1:]
        progress.advance(len(piece))
    return found == size
