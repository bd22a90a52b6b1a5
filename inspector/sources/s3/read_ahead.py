"""Many small spans of an object: neighbours are one request, and several requests are made at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

from inspector.core.map_ordered import map_ordered
from inspector.core.progress import Progress
from inspector.core.span import Span
from inspector.sources.cache import LARGEST

APART = 64 << 10
"""Bytes between two spans that are read along, because a request of its own takes longer than they do."""
AT_ONCE = 8
"""Requests at a time, which is as many as connections are kept."""
Read = Callable[[Span, Progress], bytes]
"""Gives the bytes of a span; the progress ends the request."""


def runs(spans: Sequence[Span]) -> Iterator[tuple[Span, list[Span]]]:
    """What to ask for, and the spans that each request brings; spans that are not in order are asked for apart."""
    run: list[Span] = []
    for span in spans:
        if run and not (run[-1].start <= span.start <= run[-1].stop + APART and span.stop - run[0].start <= LARGEST):
            yield _whole(run), run
            run = []
        run.append(span)
    if run:
        yield _whole(run), run


def _whole(run: list[Span]) -> Span:
    return Span(run[0].start, max(span.stop for span in run))


def gathered(spans: Sequence[Span], read: Read, look: Callable[[], None]) -> Iterator[bytes]:
    """The bytes of the spans, one after another.

    ``look`` is called while they are waited for; what it raises ends the requests, as closing the iterator does.
    Raises what ``read`` raises.
    """
    whole = list(runs(spans))
    came = map_ordered((span for span, _ in whole), read, AT_ONCE, lambda _: look())
    with closing(came):
        for (span, run), data in zip(whole, came, strict=True):
            for each in run:
                yield data[each.start - span.start : each.stop - span.start]
