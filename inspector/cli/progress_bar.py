"""A line on standard error that says how far long work is, when that is a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import TracebackType

from inspector.core.names import visible
from inspector.core.numbers import grouped, rounded
from inspector.core.progress import Progress

_PATIENCE = 0.4
"""Seconds before anything is shown."""
_EVERY = 0.1
"""Seconds between two looks at the progress."""
_WIDTH = 24


def bar(progress: Progress) -> str:
    """The line for one state of progress, without its line end."""
    show = rounded if progress.unit == "bytes" else grouped
    done, total = progress.done, progress.total
    if total <= 0:
        return f"{visible(progress.label)}  {show(done)}"
    filled = min(_WIDTH, done * _WIDTH // total)
    return f"{visible(progress.label)}  [{'#' * filled:<{_WIDTH}}] {show(done)} of {show(total)}"


class ProgressBar:
    """A context manager that shows a Progress while work goes on, and leaves the line empty after it.

    ``line`` makes the line, without its end. Where there is no terminal nothing is shown, or with ``logged`` a line
    of its own every so many seconds.
    """

    def __init__(self, progress: Progress, line: Callable[[Progress], str] = bar, logged: float = 0.0) -> None:
        self._progress = progress
        self._line = line
        self._logged = logged
        self._ended = threading.Event()
        show = self._show if sys.stderr.isatty() else self._log if logged else None
        self._thread = threading.Thread(target=show, daemon=True) if show else None

    def _log(self) -> None:
        while not self._ended.wait(self._logged):
            print(self._line(self._progress), file=sys.stderr, flush=True)

    def _show(self) -> None:
        if self._ended.wait(_PATIENCE):
            return
        while not self._ended.wait(_EVERY):
            sys.stderr.write(f"\r\x1b[K{self._line(self._progress)}")
            sys.stderr.flush()
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()

    def __enter__(self) -> Progress:
        if self._thread:
            self._thread.start()
        return self._progress

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread:
            self._thread.join()
