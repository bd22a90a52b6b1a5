"""Where workers' reports of mistakes come out; light, since the first paint waits for it and not for workers."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class Reports(QObject):
    """Where reports of mistakes in any worker come out.

    Signals:
        came(str): such a report; in whatever thread.
    """

    came = Signal(str)


REPORTS = Reports()
