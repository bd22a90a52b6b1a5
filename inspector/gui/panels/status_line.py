"""The status bar: caret, selection and field of the current document, and the running job."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QMetaObject, QObject
from PySide6.QtWidgets import QLabel, QProgressBar, QStatusBar, QToolButton, QWidget

from inspector.core.numbers import count, grouped, hexadecimal, in_bytes
from inspector.core.program.progress import Eta
from inspector.gui.kit.icons import icon
from inspector.gui.kit.style import GRID
from inspector.gui.kit.text import path_text
from inspector.gui.kit.widgets import ElidedLabel, debounce

if TYPE_CHECKING:  # keeps the first paint fast
    from inspector.gui.document.document import Document
    from inspector.gui.ipc.client import Job
    from inspector.operations.protocol.views import Explanation, JobState

SHOW_AFTER_MS = 400
"""Milliseconds that a job may run before it is shown."""
PROGRESS_STEPS = 1_000


def show_progress(bar: QProgressBar, state: JobState) -> None:
    """Show the progress of a job; without a total the bar only shows that it is busy."""
    bar.setRange(0, PROGRESS_STEPS if state.total else 0)
    if state.total:
        bar.setValue(min(PROGRESS_STEPS, state.done * PROGRESS_STEPS // state.total))


class StatusLine(QStatusBar):
    """The status bar. It follows one document at a time."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeGripEnabled(False)
        self.setContentsMargins(2 * GRID, 0, 2 * GRID, 0)
        self.mode = QLabel("EDIT")
        self.mode.setToolTip("Typing in the hex view overwrites bytes; nothing is saved until it is written")
        font = self.mode.font()
        font.setBold(True)
        self.mode.setFont(font)
        self.offset = QLabel()
        self.selection = QLabel()
        self.path = ElidedLabel()
        self.work = QLabel()
        self.bar = QProgressBar(textVisible=False)
        self.bar.setFixedWidth(140)
        self.stop = QToolButton(autoRaise=True)
        self.stop.setIcon(icon("close"))
        self.stop.setToolTip("Cancel this job (Esc)")
        self.stop.setAccessibleName("Cancel this job")
        for label in (self.mode, self.offset, self.selection):
            label.setContentsMargins(0, 0, 3 * GRID, 0)
            self.addWidget(label)
        self.addWidget(self.path, 1)
        for widget in (self.work, self.bar, self.stop):
            self.addPermanentWidget(widget)
        self._document: Document | None = None
        self._followed: list[QMetaObject.Connection] = []
        self._job: Job[Any] | None = None
        self._eta = Eta(0.0)
        self._show_timer = debounce(self, SHOW_AFTER_MS, self._show_job)
        self.stop.clicked.connect(self._cancel)
        self._hide_job()
        self.show_mode(False)

    def show_mode(self, editing: bool) -> None:
        """Show whether typing overwrites bytes."""
        self.mode.setVisible(editing)

    def set_document(self, document: Document | None) -> None:
        """Follow another document, or none."""
        for connection in self._followed:
            QObject.disconnect(connection)
        self._followed = []
        self._document = document
        self._job = None
        self._hide_job()
        if document is not None:
            self._followed = [
                document.selected.connect(self.refresh),
                document.explained.connect(self.refresh),
                document.hovered.connect(self._hovered),
                document.jobsChanged.connect(self._jobs_changed),
            ]
            self._jobs_changed()
        self.refresh()

    def show_selection(self, start: int, stop: int) -> None:
        """Show how many bytes are selected in the hex view."""
        self.selection.setText(f"selection {in_bytes(stop - start)}" if stop > start else "")
        self.selection.setVisible(stop > start)

    def refresh(self, *_: object) -> None:
        """Show the caret and its field."""
        document = self._document
        if document is None or not document.size:
            for label in (self.offset, self.selection, self.path):
                label.setText("")
            return
        caret = document.selection.caret
        self.offset.setText(f"{hexadecimal(caret, 8)} ({grouped(caret)})")
        explanation = document.explanation
        self.path.setText(path_text(explanation.fields) if explanation is not None else "")

    def _hovered(self, explanation: Explanation | None) -> None:
        if explanation is None:
            self.refresh()
            return
        leaf = explanation.fields[-1] if explanation.fields else None
        value = f" = {leaf.value}" if leaf is not None and leaf.value else ""
        field = f"{path_text(explanation.fields)}{value}"
        offset = hexadecimal(explanation.offset)
        self.path.setText(f"under the pointer {offset}: {field}")

    # ---- jobs --------------------------------------------------------------------------------------------------

    def _jobs_changed(self) -> None:
        jobs = self._document.client.jobs if self._document is not None else []
        job = jobs[0] if jobs else None
        if job is self._job:
            return
        self._job = job
        if job is None:
            self._hide_job()
            return
        self._eta = Eta(monotonic())
        job.progressed.connect(self._progressed)
        if not self.bar.isVisible():
            self._show_timer.start()

    def _show_job(self) -> None:
        for widget in (self.work, self.bar, self.stop):
            widget.show()
        if self._job is not None and self._job.state is not None:
            self._progressed(self._job.state)

    def _hide_job(self) -> None:
        self._show_timer.stop()
        self.work.setText("")
        self.bar.setRange(0, 0)
        for widget in (self.work, self.bar, self.stop):
            widget.hide()

    def _progressed(self, state: JobState) -> None:
        if self.sender() not in (None, self._job):
            return
        self.work.setText(self._eta.text(state, monotonic(), self._checked_text()))
        show_progress(self.bar, state)

    def _checked_text(self) -> str:
        """How many members the running check has finished, "" if no check is running."""
        from inspector.operations.protocol.requests import ArchiveRequests  # keeps the first paint fast

        if self._document is None or self._job is None or self._job.request is not ArchiveRequests.check:
            return ""
        status = self._document.status
        return f"{grouped(status.judged)} of {count(status.members, 'member')}" if status.judged else ""

    def _cancel(self) -> None:
        if self._document is not None:
            self._document.cancel_jobs()
