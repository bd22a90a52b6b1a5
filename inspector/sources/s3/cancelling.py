"""How a job's progress reaches the requests made for it, however deep below: cancelling ends them, pausing holds them.

No module of this room that makes requests is imported here, so all of them can ask.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from inspector.core.progress import Progress

_waiting: ContextVar[Progress | None] = ContextVar("waiting", default=None)


@contextmanager
def cancelling(progress: Progress) -> Iterator[None]:
    """Let ``progress`` end the requests that this thread makes meanwhile: their bodies are closed."""
    token = _waiting.set(progress)
    try:
        yield
    finally:
        _waiting.reset(token)


def look() -> None:
    """Raise Cancelled where the work that this thread does was cancelled, wait where it is paused."""
    progress = _waiting.get()
    if progress is not None:
        progress.advance(0)
