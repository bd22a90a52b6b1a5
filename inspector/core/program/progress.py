"""Progress of long work: the worker advances it, others poll it, pause it, cancel it and show it as text.

A job's progress also cancels or pauses the requests made for it, however deep in the call stack (``cancelling``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event
from typing import Protocol

from inspector.core.numbers import grouped, rounded

CANCELLED = "Cancelled."
"""The message for work that was cancelled."""


class Cancelled(Exception):  # noqa: N818 - not an error: the user asked for it
    """Raised in work that was cancelled."""


class Progress:
    """Counters without a lock: one writer; readers may see values a moment late."""

    def __init__(self, label: str = "", total: int = 0, unit: str = "bytes") -> None:
        self.label = label
        self.unit = unit
        self.total = total
        self.done = 0
        self._interrupted = False
        self._cancelled = False
        self._running = Event()
        self._running.set()

    @property
    def paused(self) -> bool:
        """Whether the work is paused."""
        return not self._running.is_set()

    def begin(self, label: str, total: int, unit: str = "bytes") -> None:
        """Start a stage of ``total`` units. Raises Cancelled."""
        self.label, self.total, self.unit, self.done = label, total, unit, 0
        self.advance(0)

    def advance(self, count: int) -> None:
        """Add ``count`` units; wait while paused. Raises Cancelled."""
        self.done += count
        if self._interrupted:  # one test, because advance is called very often
            self.wait()
            if self._cancelled:
                raise Cancelled

    def wait(self) -> None:
        """Wait while paused, without advancing: for helper threads."""
        self._running.wait()

    def pause(self) -> None:
        """Pause the work at its next step; has no effect after ``cancel``."""
        self._interrupted = True
        self._running.clear()
        if self._cancelled:
            self._running.set()

    def resume(self) -> None:
        """Continue paused work."""
        self._running.set()

    def cancel(self) -> None:
        """Stop the work at its next step, even if it is paused."""
        self._cancelled = self._interrupted = True
        self._running.set()


class Quiet(Progress):
    """The progress of a part of some work: it only asks whether that goes on, and counts nothing."""

    def __init__(self, advance: Callable[[int], None]) -> None:
        super().__init__()
        self._whole = advance

    def begin(self, label: str, total: int, unit: str = "bytes") -> None:
        """See Progress."""

    def advance(self, count: int) -> None:  # noqa: ARG002 - see the class
        self._whole(0)


ETA_AFTER_S = 3.0
"""Seconds after which the time left is estimated."""
_RATE_AFTER_S = 1.0
"""Seconds after which the rate is shown."""


class Stage(Protocol):
    """What is known of a job at one moment: a ``Progress``, or the copy of one that the window is sent."""

    @property
    def label(self) -> str:
        """What is being done."""

    @property
    def done(self) -> int:
        """Units done."""

    @property
    def total(self) -> int:
        """Units of the whole stage; 0 where that is unknown."""

    @property
    def unit(self) -> str:
        """``bytes``, or what is counted."""

    @property
    def paused(self) -> bool:
        """Whether the job is paused."""


class Eta:
    """Follows one job from stage to stage; paused time does not count."""

    def __init__(self, now: float) -> None:
        self._stage = ("", 0, "")
        self._last = now
        self._seconds = 0.0

    def text(self, state: Stage, now: float, judged: str = "") -> str:
        """The progress text at ``now`` (seconds); ``judged`` is inserted after the label done."""
        return " · ".join(part for part in (_done(state), judged, *self.pace(state, now)) if part)

    def pace(self, state: Stage, now: float) -> list[str]:
        """The rate and the time left at ``now`` (seconds), as far as they are known; or that the job is paused."""
        stage = (state.label, state.total, state.unit)
        if stage != self._stage:
            self._stage, self._seconds = stage, 0.0
        elif not state.paused:
            self._seconds += now - self._last
        self._last = now
        parts = ["paused"] if state.paused else [_rate(state, self._seconds), _left(state, self._seconds)]
        return [part for part in parts if part]


def _done(state: Stage) -> str:
    number_text = rounded if state.unit == "bytes" else grouped
    done = number_text(state.done)
    done = f"{done} of {number_text(state.total)}" if state.total else done
    unit = "" if state.unit == "bytes" else f" {state.unit}"
    return f"{state.label or 'Working'}: {done}{unit}"


def _rate(state: Stage, seconds: float) -> str:
    if state.unit != "bytes" or seconds < _RATE_AFTER_S or not state.done:
        return ""
    return f"{rounded(int(state.done / seconds))}/s"


def _left(state: Stage, seconds: float) -> str:
    if seconds < ETA_AFTER_S or not state.done or state.total <= state.done:
        return ""
    return f"{duration(seconds * (state.total - state.done) / state.done)} left"


def duration(seconds: float) -> str:
    """``12 s``, ``3 min 20 s``, ``2 h 5 min``."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, seconds_left = divmod(whole, 60)
    return f"{minutes} min {seconds_left} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


# ---- requests made for a job -----------------------------------------------------------------------------------------

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
    if (progress := _pending.get()) is not None:
        progress.advance(0)
