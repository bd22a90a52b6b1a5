"""Many small spans of an object: neighbours are one request, and several requests are made at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import islice

from inspector.core.progress import Progress
from inspector.core.span import Span
from inspector.sources.cache import LARGEST

APART = 64 << 10
"""Bytes between two spans that are read along, because a request of its own takes longer than they do."""
AT_ONCE = 8
"""Requests at a time, which is as many as connections are kept."""
_LOOK = 0.1
"""Seconds between two looks at whether to go on waiting."""

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
    coming: deque[tuple[Span, list[Span], Future[bytes]]] = deque()
    ending = [Progress() for _ in whole]
    left = iter(zip(whole, ending, strict=True))
    threads = ThreadPoolExecutor(AT_ONCE)
    try:
        while True:
            for (span, run), end in islice(left, 2 * AT_ONCE - len(coming)):
                coming.append((span, run, threads.submit(read, span, end)))
            if not coming:
                return
            span, run, future = coming.popleft()
            yield from _cut(span, run, _waited(future, look))
    finally:
        for end in ending:
            end.cancel()
        threads.shutdown(wait=False, cancel_futures=True)


def _waited(future: Future[bytes], look: Callable[[], None]) -> bytes:
    while not wait((future,), _LOOK).done:
        look()
    return future.result()


def _cut(span: Span, run: list[Span], data: bytes) -> Iterator[bytes]:
    for each in run:
        yield data[each.start - span.start : each.stop - span.start]
