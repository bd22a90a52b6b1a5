"""Let a job's progress cancel or pause the requests made for it, however deep in the call stack.

This module imports none that makes requests, so that all of them can import it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from inspector.core.progress import Progress

_pending: ContextVar[Progress | None] = ContextVar("waiting", default=None)


@contextmanager
def cancelling(progress: Progress) -> Iterator[None]:
    """Let ``progress`` cancel the requests that this thread makes in the block."""
    token = _pending.set(progress)
    try:
        yield
    finally:
        _pending.reset(token)


def check_cancelled() -> None:
    """Raise Cancelled if this thread's job was cancelled; wait while it is paused."""
    progress = _pending.get()
    if progress is not None:
        progress.advance(0)
