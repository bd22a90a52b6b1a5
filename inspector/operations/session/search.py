"""Finding bytes in a layer: windows that overlap by one byte less than what is looked for."""

from __future__ import annotations

import re
from collections.abc import Callable

from inspector.core.progress import Progress
from inspector.core.source import Source

WINDOW_BYTES = 4 << 20
"""Bytes looked at between two chances to cancel."""
_LONG_PATTERN_BYTES = 10
"""Bytes from which on ``bytes.find``, which can skip, is faster than ``re``, which looks at every byte."""

Find = Callable[[bytes], int]


def search(
    source: Source, pattern: bytes, start: int, backwards: bool, ignore_case: bool, progress: Progress
) -> int | None:
    """The first match at or after ``start``; backwards the last one that begins before ``start``. None without one.

    ``ignore_case`` is about the letters of ASCII. Raises SourceError and Cancelled.
    """
    if not pattern:
        return None
    start = max(0, min(start, source.size))
    find = _finder(pattern.lower() if ignore_case else pattern, backwards)
    if ignore_case and pattern.lower() != pattern.upper():
        exact = find

        def find(window: bytes) -> int:
            return exact(window.lower())

    return (_last_match if backwards else _first_match)(source, find, len(pattern), start, progress)


def _finder(pattern: bytes, backwards: bool) -> Find:
    """What finds the pattern in a window: the position, or -1."""
    if backwards:
        return lambda window: window.rfind(pattern)
    if len(pattern) >= _LONG_PATTERN_BYTES:
        return lambda window: window.find(pattern)
    match = re.compile(re.escape(pattern)).search
    return lambda window: found.start() if (found := match(window)) else -1


def _first_match(source: Source, find: Find, size: int, start: int, progress: Progress) -> int | None:
    progress.begin("Searching", source.size - start)
    while start + size <= source.size:
        window = source.read(start, WINDOW_BYTES + size - 1)
        at = find(window)
        if at >= 0:
            return start + at
        if len(window) < size:
            return None  # the file has become shorter
        start += WINDOW_BYTES
        progress.advance(WINDOW_BYTES)
    return None


def _last_match(source: Source, find: Find, size: int, stop: int, progress: Progress) -> int | None:
    progress.begin("Searching", stop)
    while stop > 0:
        start = max(0, stop - WINDOW_BYTES)
        at = find(source.read(start, stop - start + size - 1))
        if at >= 0:
            return start + at
        progress.advance(stop - start)
        stop = start
    return None
