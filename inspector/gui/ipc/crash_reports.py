"""Crash reports of workers as a signal. A module of its own, to keep the first paint from importing workers."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class WorkerReports(QObject):
    """Crash reports of all workers.

    Signals:
        received(str): the text of a report; emitted from any thread.
    """

    received = Signal(str)


REPORTS = WorkerReports()
