"""Show reports of unhandled exceptions in the window's process and of crashed workers."""

from __future__ import annotations

import sys
import threading
import traceback
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, qVersion
from PySide6.QtWidgets import QWidget

from inspector.core.program import crash_report
from inspector.gui.ipc.crash_reports import REPORTS
from inspector.gui.kit.widgets import debounce

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.dialogs.crash_report import CrashReportDialog

QUIET_MS = 60_000
"""After a dialog, further crashes open no new one for this time."""
MAX_REPORTS = 5
"""The most different reports kept for the dialog."""


class CrashReports(QObject):
    """Collects crash reports from any thread and shows them in a dialog of the window.

    Signals:
        noted(str report): there is a new report; emitted in any thread, handled in the window's.
        saveRequested(): the user wants to save unfinished work.
    """

    noted = Signal(str)
    saveRequested = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._showing = False
        self.reports: list[str] = []
        self.count = 0
        self.dialog: CrashReportDialog | None = None
        self.quiet = debounce(self, QUIET_MS, self._show_waiting)
        self.noted.connect(self._take)

    # ---- where reports come from -------------------------------------------------------------------------------

    def install(self) -> None:
        """Hook unhandled exceptions in slots, painting, threads and workers."""
        sys.excepthook = self._caught
        threading.excepthook = self._caught_in_thread
        sys.unraisablehook = self._caught_unraisable
        REPORTS.received.connect(self.noted)

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
        """Report an exception; callable from any thread."""
        self.noted.emit(crash_report.report(error, where, {"Qt": qVersion()}))

    def worker_died(self, exit_code: int | None, work: tuple[str, ...]) -> None:
        """Report that a worker died, and the requests that it was running."""
        self.noted.emit(crash_report.exit_report(exit_code, work, {"Qt": qVersion()}))

    # ---- the dialog --------------------------------------------------------------------------------------------

    def _take(self, report: str) -> None:
        self.count += 1
        if report not in self.reports and len(self.reports) < MAX_REPORTS:
            self.reports.append(report)
        is_open = self.dialog is not None and self.dialog.isVisible()
        if is_open or not self.quiet.isActive():
            self._show()

    def _show_waiting(self) -> None:
        if self.reports:
            self._show()

    def _show(self) -> None:
        if self._showing:  # an exception in the dialog itself
            return
        self._showing = True
        try:
            if self.dialog is None:
                self.dialog = self._new_dialog()
            self.dialog.show_reports(self.reports, self.count)
            self.quiet.start()
        finally:
            self._showing = False

    def _new_dialog(self) -> CrashReportDialog:
        from inspector.gui.dialogs.crash_report import CrashReportDialog

        dialog = CrashReportDialog(self._window)
        dialog.saveRequested.connect(self.saveRequested)
        dialog.finished.connect(self._clear)
        return dialog

    def _clear(self) -> None:
        """Drop the reports that the user has read."""
        self.reports, self.count = [], 0
