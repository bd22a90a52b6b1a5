"""The status bar: caret, selection and field of the current document, and the running job."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QMetaObject, QObject
from PySide6.QtWidgets import QLabel, QProgressBar, QStatusBar, QToolButton, QWidget

from inspector.core.numbers import count, grouped, hexadecimal, in_bytes
from inspector.core.program.progress import Eta
from inspector.gui.kit.building import dressed, in_row, page_of
from inspector.gui.kit.icons import icon
from inspector.gui.kit.style import GRID, bold
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
        tip = "Typing in the hex view overwrites bytes; nothing is saved until it is written"
        self.mode = dressed(QLabel("EDIT"), toolTip=tip)
        self.mode.setFont(bold(self.mode.font()))
        self.offset = QLabel()
        self.selection = QLabel()
        self.path = ElidedLabel()
        self.work = QLabel()
        self.bar = QProgressBar(textVisible=False)
        self.bar.setFixedWidth(140)
        tip = "Cancel this job (Esc)"
        self.stop = dressed(QToolButton(autoRaise=True), "Cancel this job", toolTip=tip, icon=icon("close"))
        self.running = page_of(in_row(self.work, self.bar, self.stop))
        for label in (self.mode, self.offset, self.selection):
            label.setContentsMargins(0, 0, 3 * GRID, 0)
            self.addWidget(label)
        self.addWidget(self.path, 1)
        self.addPermanentWidget(self.running)
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
        self._document, self._job = document, None
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
                label.clear()
            return
        caret, explanation = document.selection.caret, document.explanation
        self.offset.setText(f"{hexadecimal(caret, 8)} ({grouped(caret)})")
        self.path.setText(path_text(explanation.fields) if explanation is not None else "")

    def _hovered(self, explanation: Explanation | None) -> None:
        if explanation is None:
            self.refresh()
            return
        value = next((f" = {leaf.value}" for leaf in explanation.fields[-1:] if leaf.value), "")
        place = f"under the pointer {hexadecimal(explanation.offset)}"
        self.path.setText(f"{place}: {path_text(explanation.fields)}{value}")

    # ---- jobs --------------------------------------------------------------------------------------------------

    def _jobs_changed(self) -> None:
        job = next(iter(self._document.client.jobs), None) if self._document is not None else None
        if job is self._job:
            return
        self._job = job
        if job is None:
            self._hide_job()
            return
        self._eta = Eta(monotonic())
        job.progressed.connect(self._progressed)
        if self.running.isHidden():
            self._show_timer.start()

    def _show_job(self) -> None:
        self.running.show()
        if self._job is not None and self._job.state is not None:
            self._progressed(self._job.state)

    def _hide_job(self) -> None:
        self._show_timer.stop()
        self.work.clear()
        self.bar.setRange(0, 0)
        self.running.hide()

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
