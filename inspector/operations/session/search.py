"""Finding bytes in a layer: windows that overlap by one byte less than what is looked for."""

from __future__ import annotations

import re
from collections.abc import Callable

from inspector.core.progress import Progress
from inspector.core.source import Source

WINDOW = 4 << 20
"""Bytes looked at between two chances to cancel."""
_LONG = 10
"""Bytes from which on ``bytes.find``, which can skip, is faster than ``re``, which looks at every byte."""

Look = Callable[[bytes], int]


def search(
    source: Source, pattern: bytes, start: int, backwards: bool, ignore_case: bool, progress: Progress
) -> int | None:
    """The first match at or after ``start``; backwards the last one that begins before ``start``. None without one.

    ``ignore_case`` is about the letters of ASCII. Raises SourceError and Cancelled.
    """
    if not pattern:
        return None
    start = max(0, min(start, source.size))
    look = _looking(pattern.lower() if ignore_case else pattern, backwards)
    if ignore_case and pattern.lower() != pattern.upper():
        exact = look

        def look(window: bytes) -> int:
            return exact(window.lower())

    return (_last if backwards else _first)(source, look, len(pattern), start, progress)


def _looking(pattern: bytes, backwards: bool) -> Look:
    """What finds the pattern in a window: the position, or -1."""
    if backwards:
        return lambda window: window.rfind(pattern)
    if len(pattern) >= _LONG:
        return lambda window: window.find(pattern)
    match = re.compile(re.escape(pattern)).search
    return lambda window: found.start() if (found := match(window)) else -1


def _first(source: Source, look: Look, size: int, start: int, progress: Progress) -> int | None:
    progress.begin("Searching", source.size - start)
    while start + size <= source.size:
        window = source.read(start, WINDOW + size - 1)
        at = look(window)
        if at >= 0:
            return start + at
        if len(window) < size:
            return None  # the file has become shorter
        start += WINDOW
        progress.advance(WINDOW)
    return None


def _last(source: Source, look: Look, size: int, stop: int, progress: Progress) -> int | None:
    progress.begin("Searching", stop)
    while stop > 0:
        start = max(0, stop - WINDOW)
        at = look(source.read(start, stop - start + size - 1))
        if at >= 0:
            return start + at
        progress.advance(stop - start)
        stop = start
    return None
