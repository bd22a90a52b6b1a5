"""What bytes that were inserted in the data section are: a copy of the bytes before them, or carriage returns.

Both are found in one pass over the data, in time linear in its size, whatever the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    runs = _equal_runs(source, size, stop, progress)
    found = Doubled(runs[0][0], size) if len(runs) == 1 else None
    return found if found is not None and not _repeats(source, found) else None


def _equal_runs(source: Source, size: int, stop: int, progress: Progress) -> list[tuple[int, int]]:
    """The runs of at least ``size`` bytes that equal those ``size`` later: their starts and lengths, the first two."""
    import numpy as np

    runs: list[tuple[int, int]] = []
    end, begun = stop - size, 0
    for at in range(0, end, _WINDOW_BYTES):
        length = min(_WINDOW_BYTES, end - at)
        near, far = (np.frombuffer(source.read(place, length), np.uint8) for place in (at, at + size))
        if len(near) != length or len(far) != length:
            return []  # the file has become shorter
        differing = np.flatnonzero(near != far) + at
        edges = np.concatenate(([begun - 1], differing, [end] if at + length == end else []))
        long = np.flatnonzero(np.diff(edges) > size)
        runs += [(int(edges[each]) + 1, int(edges[each + 1] - edges[each]) - 1) for each in long]
        if len(runs) > 1:
            break
        begun = int(differing[-1]) + 1 if len(differing) else begun
        progress.advance(length)
    return runs


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
