"""Progress of a job as text: label done, rate and estimated time left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.core.numbers import grouped, rounded

if TYPE_CHECKING:  # imported only for types, to speed up the first paint
    from inspector.operations.protocol.views import JobState

ETA_AFTER_S = 3.0
"""Seconds after which the time left is estimated."""
_RATE_AFTER_S = 1.0
"""Seconds after which the rate is shown."""


class Eta:
    """Follows one job from stage to stage; paused time does not count."""

    def __init__(self, now: float) -> None:
        self._stage = ("", 0, "")
        self._last = now
        self._seconds = 0.0

    def text(self, state: JobState, now: float, judged: str = "") -> str:
        """The progress text at ``now`` (seconds); ``judged`` is inserted after the label done."""
        stage = (state.label, state.total, state.unit)
        if stage != self._stage:
            self._stage, self._seconds = stage, 0.0
        elif not state.paused:
            self._seconds += now - self._last
        self._last = now
        parts = [_done(state), judged]
        parts += ["paused"] if state.paused else [_rate(state, self._seconds), _left(state, self._seconds)]
        return " · ".join(part for part in parts if part)


def _done(state: JobState) -> str:
    number_text = rounded if state.unit == "bytes" else grouped
    done = number_text(state.done)
    done = f"{done} of {number_text(state.total)}" if state.total else done
    unit = "" if state.unit == "bytes" else f" {state.unit}"
    label = state.label or "Working"
    return f"{label}: {done}{unit}"


def _rate(state: JobState, seconds: float) -> str:
    if state.unit != "bytes" or seconds < _RATE_AFTER_S or not state.done:
        return ""
    return f"{rounded(int(state.done / seconds))}/s"


def _left(state: JobState, seconds: float) -> str:
    if seconds < ETA_AFTER_S or not state.done or state.total <= state.done:
        return ""
    return f"{duration(seconds * (state.total - state.done) / state.done)} left"


def duration(seconds: float) -> str:
    """``12 s``, ``3 min 20 s``, ``2 h 5 min``."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
