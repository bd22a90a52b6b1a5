"""Searching a file for a signature, window by window, outside what is known already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspector.core.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span

_WINDOW_BYTES = 1 << 20


def found_outside(
    source: Source, signature: bytes, taken: Sequence[Span], most: int, progress: Progress
) -> Iterator[int]:
    """Where ``signature`` begins outside the spans ``taken``, sorted and apart, in the first ``most`` bytes there.

    Reads each byte once and advances ``progress`` by what it searches. Raises SourceError and Cancelled.
    """
    at = 0
    for span in (*taken, Span(source.size, source.size)):
        while at < span.start and most > 0:
            stop = min(span.start, at + _WINDOW_BYTES)
            data = source.read(at, stop - at + len(signature) - 1)
            if not data:
                return
            place = data.find(signature)
            while 0 <= place < stop - at:
                yield at + place
                place = data.find(signature, place + 1)
            progress.advance(stop - at)
            most -= stop - at
            at = stop
        at = max(at, span.stop)
