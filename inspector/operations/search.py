"""Finding bytes in a layer: windows that overlap by one byte less than what is looked for."""

from __future__ import annotations

from inspector.core.progress import Progress
from inspector.core.source import Source

WINDOW = 4 << 20
"""Bytes looked at between two chances to cancel."""


def search(
    source: Source, pattern: bytes, start: int, backwards: bool, ignore_case: bool, progress: Progress
) -> int | None:
    """The first match at or after ``start``; backwards the last one that begins before ``start``. None without one.

    ``ignore_case`` is about the letters of ASCII. Raises SourceError and Cancelled.
    """
    if not pattern:
        return None
    if ignore_case:
        pattern = pattern.lower()
    start = max(0, min(start, source.size))
    return (_last if backwards else _first)(source, pattern, start, ignore_case, progress)


def _first(source: Source, pattern: bytes, start: int, ignore_case: bool, progress: Progress) -> int | None:
    progress.begin("Searching", source.size - start)
    while start + len(pattern) <= source.size:
        window = source.read(start, WINDOW + len(pattern) - 1)
        at = (window.lower() if ignore_case else window).find(pattern)
        if at >= 0:
            return start + at
        if len(window) < len(pattern):
            return None  # the file has become shorter
        start += WINDOW
        progress.advance(WINDOW)
    return None


def _last(source: Source, pattern: bytes, stop: int, ignore_case: bool, progress: Progress) -> int | None:
    progress.begin("Searching", stop)
    while stop > 0:
        start = max(0, stop - WINDOW)
        window = source.read(start, stop - start + len(pattern) - 1)
        at = (window.lower() if ignore_case else window).rfind(pattern)
        if at >= 0:
            return start + at
        progress.advance(stop - start)
        stop = start
    return None
