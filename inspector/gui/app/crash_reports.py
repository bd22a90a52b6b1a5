"""Mistakes in the program: caught wherever they come up in the window's process, and told once in a while."""

from __future__ import annotations

import sys
import threading
import traceback
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, qVersion
from PySide6.QtWidgets import QWidget

from inspector.core import crash_report
from inspector.gui.ipc.crash_reports import REPORTS

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.dialogs.crash_report import CrashReportDialog

QUIET = 60_000
"""Milliseconds after a dialog in which no other one comes up by itself."""
MOST = 5
"""Different mistakes that are kept to be told."""


class CrashReports(QObject):
    """Takes mistakes from any thread and shows them beside a window.

    Signals:
        noted(str report): a mistake came up. Whatever thread it came up in, it is shown in the window's.
        saveRequested(): the user wants what is unfinished kept.
    """

    noted = Signal(str)
    saveRequested = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._showing = False
        self.reports: list[str] = []
        self.happened = 0
        self.dialog: CrashReportDialog | None = None
        self.quiet = QTimer(self)
        self.quiet.setSingleShot(True)
        self.quiet.setInterval(QUIET)
        self.quiet.timeout.connect(self._speak_up)
        self.noted.connect(self._take)

    # ---- where mistakes come from ------------------------------------------------------------------------------

    def install(self) -> None:
        """Take the exceptions that nothing catches: in slots, in painting, in threads, in workers."""
        sys.excepthook = self._caught
        threading.excepthook = self._caught_in_thread
        sys.unraisablehook = self._caught_unraisable
        REPORTS.came.connect(self.noted)

    def _caught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        traceback.print_exception(kind, error, trace)
        self.note(error.with_traceback(trace), "window")

    def _caught_in_thread(self, caught: threading.ExceptHookArgs) -> None:
        if caught.exc_value is not None and not isinstance(caught.exc_value, SystemExit):
            traceback.print_exception(caught.exc_value)
            self.note(caught.exc_value, "window, in a thread")

    def _caught_unraisable(self, caught: sys.UnraisableHookArgs) -> None:
        sys.__unraisablehook__(caught)
        if caught.exc_value is not None:
            self.note(caught.exc_value, "window, where none can be raised")

    def note(self, error: BaseException, where: str) -> None:
        """Have a mistake told; from any thread."""
        self.noted.emit(crash_report.report(error, where, {"Qt": qVersion()}))

    def worker_died(self, exit_code: int | None, work: tuple[str, ...]) -> None:
        """Have it told that a worker ended by itself, and which methods it was running."""
        self.noted.emit(crash_report.exit_report(exit_code, work, {"Qt": qVersion()}))

    # ---- telling -----------------------------------------------------------------------------------------------

    def _take(self, report: str) -> None:
        self.happened += 1
        if report not in self.reports and len(self.reports) < MOST:
            self.reports.append(report)
        is_open = self.dialog is not None and self.dialog.isVisible()
        if is_open or not self.quiet.isActive():
            self._tell()

    def _speak_up(self) -> None:
        if self.reports:
            self._tell()

    def _tell(self) -> None:
        if self._showing:  # a mistake in telling of a mistake
            return
        self._showing = True
        try:
            if self.dialog is None:
                self.dialog = self._made()
            self.dialog.show_reports(self.reports, self.happened)
            self.quiet.start()
        finally:
            self._showing = False

    def _made(self) -> CrashReportDialog:
        from inspector.gui.dialogs.crash_report import CrashReportDialog

        dialog = CrashReportDialog(self._window)
        dialog.saveRequested.connect(self.saveRequested)
        dialog.finished.connect(self._told)
        return dialog

    def _told(self) -> None:
        """What was read is not told again; what comes up from now on is."""
        self.reports, self.happened = [], 0
