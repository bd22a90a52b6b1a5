"""The stall meter: what keeps the window from answering."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable
from types import FrameType
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt, QTimer

LIMIT_S = 0.05
"""A shorter turn of the event loop is not felt."""
_TICK_MS = 5


class Stall(NamedTuple):
    """A time without a turn of the event loop, in seconds, and how much of it this thread computed.

    ``stack`` is what the thread did when the limit had passed, the outermost call first; empty if that was not seen.
    """

    seconds: float
    computing: float
    stack: str

    def text(self) -> str:
        """The stall as lines."""
        heading = f"The window did not answer for {self.seconds * 1000:.0f} ms ({self.computing * 1000:.0f} computing)."
        return f"{heading}\n{self.stack}"


class StallMeter(QObject):
    """Calls ``report`` for each stall of the thread it is made in, until ``stop``.

    A timer shows that the event loop turns; another thread sees that it does not and looks at the stack meanwhile.
    """

    def __init__(self, report: Callable[[Stall], object], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._report = report
        self._thread = threading.get_ident()
        self._last = time.monotonic()
        self._computed = time.thread_time()
        self._stack = ""
        self._frame: FrameType | None = None
        self._looking = threading.Lock()
        self._over = threading.Event()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start(_TICK_MS)
        self._watcher = threading.Thread(target=self._watch, name="stall meter", daemon=True)
        self._watcher.start()

    def stop(self) -> None:
        """End it; what has stalled until now is reported."""
        self._tick()
        self._timer.stop()
        self._over.set()
        self._watcher.join()

    def _tick(self) -> None:
        with self._looking:
            now, computed = time.monotonic(), time.thread_time()
            seconds, computing, stack = now - self._last, computed - self._computed, self._stack
            self._last, self._computed, self._stack = now, computed, ""
            self._frame = None
        if seconds > LIMIT_S:
            self._report(Stall(seconds, computing, stack))

    def _watch(self) -> None:
        while not self._over.wait(_TICK_MS / 1000):
            with self._looking:
                if not self._stack and time.monotonic() - self._last > LIMIT_S:
                    self._look()

    def _look(self) -> None:
        # The frame is let go in its own thread: widgets that are its last variables must not be destroyed in another.
        self._frame = sys._current_frames()[self._thread]
        self._stack = "".join(traceback.format_stack(self._frame))
