"""Where zeros end and begin in a source. Zeros are passed quickly: sparse files have them by the terabyte."""

from __future__ import annotations

from inspector.core.progress import Progress
from inspector.core.source import Source

MAX_WINDOW_BYTES = 1 << 20
"""Bytes read at a time where zeros go on."""
_FIRST_WINDOW_BYTES = 4096
"""Bytes read first: what is searched for is often near."""
_GROWTH = 8
_ZERO_WINDOW = bytes(MAX_WINDOW_BYTES + 511)


def any_byte(data: bytes) -> bool:
    """Whether one of at most ``MAX_WINDOW_BYTES + 511`` bytes is not zero; compares whole memory, which is fast."""
    return data != _ZERO_WINDOW[: len(data)]


def zeros_stop(source: Source, at: int, limit: int, progress: Progress) -> int:
    """The offset of the first byte in ``[at, limit)`` that is not zero; ``limit`` if there is none.

    Raises SourceError and Cancelled.
    """
    window = _FIRST_WINDOW_BYTES
    while at < limit:
        data = source.read(at, min(window, limit - at))
        if not data:
            return limit
        if any_byte(data):
            return at + len(data) - len(data.lstrip(b"\0"))
        at += len(data)
        window = min(_GROWTH * window, MAX_WINDOW_BYTES)
        progress.advance(0)
    return limit


def zeros_start(source: Source, stop: int, progress: Progress) -> int:
    """Where the zeros begin that end at ``stop``; ``stop`` if the byte before it is none.

    Raises SourceError and Cancelled.
    """
    window = _FIRST_WINDOW_BYTES
    while stop > 0:
        low = max(0, stop - window)
        data = source.read(low, stop - low)
        if any_byte(data):
            return low + len(data.rstrip(b"\0"))
        stop = low
        window = min(_GROWTH * window, MAX_WINDOW_BYTES)
        progress.advance(0)
    return 0
