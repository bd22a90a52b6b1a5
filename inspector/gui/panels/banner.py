"""The banner above a document: its state as text, and messages."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QIcon, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout

from inspector.core.finding import Severity
from inspector.core.numbers import count, in_bytes, rounded
from inspector.core.verdict import State
from inspector.gui.document.document import Document
from inspector.gui.kit.icons import Picture, icon, severity_icon, state_icon
from inspector.gui.kit.widgets import MessageBar, SelectableLabel
from inspector.operations.protocol.views import Stage, Status

_SEPARATOR = "  ·  "
ICON_PX = 20
"""Pixels: the size of the state icon."""
SPACING_PX = 8
REPAIRABLE = (State.WARNING, State.TORN, State.DAMAGED)
"""States in which the Repair button is shown."""


def state_text(status: Status) -> str:
    """Title, size, members and counts of findings, as one line."""
    if status.stage is Stage.OPENING:
        return "Opening…"
    if status.stage is Stage.FAILED:
        return status.sentence
    size = f"{rounded(status.size)}" + (f" ({in_bytes(status.size)})" if status.size >= 1024 else "")
    parts = [status.title, size]
    if status.format != "bytes":
        parts.append(count(status.members, "member"))
    if not status.judgement:
        parts += _counts(status)
    if status.stage is Stage.DECODING:
        parts.append("still reading")
    if status.stage is Stage.CANCELLED:
        parts.append("reading was cancelled; the rest is unknown")
    return _SEPARATOR.join(part for part in parts if part)


def _counts(status: Status) -> list[str]:
    counted = dict(status.counts)
    errors, warnings = counted.get(Severity.ERROR, 0), counted.get(Severity.WARNING, 0)
    texts = [count(errors, "error")] if errors else []
    return [*texts, count(warnings, "warning")] if warnings else texts


class Banner(QFrame):
    """The state as text, and below it a message that can be closed.

    Signals:
        reopen(): read the location again.
        repairRequested(): plan repairs.
    """

    reopen = Signal()
    repairRequested = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._pending = False
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        self.mark = Picture(icon("reload"), ICON_PX)
        self.state = SelectableLabel()
        self.sentence = SelectableLabel()
        self.sentence.setContentsMargins(ICON_PX + SPACING_PX, 0, 0, 0)
        self.message = MessageBar(ICON_PX + SPACING_PX)
        self.message.acted.connect(self._run_action)
        self._on_action: Callable[[], object] = self.reopen.emit
        first = QHBoxLayout()
        first.setSpacing(SPACING_PX)
        first.addWidget(self.mark)
        first.addWidget(self.state, 1)
        self.repair = QPushButton("Repair…")
        self.repair.setToolTip("Plan repairs; nothing is written yet (Ctrl+M)")
        self.repair.clicked.connect(self.repairRequested)
        first.addWidget(self.repair)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 6, 8, 6)
        layout.setSpacing(3)
        layout.addLayout(first)
        layout.addWidget(self.sentence)
        layout.addWidget(self.message)
        document.statusChanged.connect(self.refresh)
        document.lost.connect(self._lost)
        self.refresh()

    def set_pending(self, pending: bool) -> None:
        """Say whether the status describes the archive with its pending changes."""
        self._pending = pending
        self.refresh()

    def refresh(self) -> None:
        """Show the current status."""
        status = self._document.status
        self.mark.show_icon(self._icon(status))
        self.state.setText(state_text(status))
        # The first line shows what was decoded; this sentence adds the judgement.
        is_plain = status.stage is Stage.READY and status.format == "bytes"
        judgement = status.sentence if is_plain else status.judgement
        if self._pending:
            judgement = f"With the pending changes (not written yet): {judgement}"
        repairable = status.stage is Stage.READY and not status.collection and not self._pending
        self.repair.setVisible(repairable and status.state in REPAIRABLE)
        self.sentence.setText(judgement)
        self.sentence.setVisible(bool(judgement))

    def _icon(self, status: Status) -> QIcon:
        if status.stage is Stage.FAILED:
            return severity_icon(Severity.ERROR)
        if status.stage in (Stage.OPENING, Stage.DECODING):
            return icon("reload")
        if status.format == "bytes" or status.state is None:
            # No tick: the contents have not been verified.
            return severity_icon(Severity.INFO)
        return state_icon(status.state)

    def _lost(self, sentence: str) -> None:
        if self._document.status.stage is Stage.FAILED:
            self.ask(sentence, "Retry", self.reopen.emit)
        else:
            self.ask(f"{sentence} Everything read so far is still shown.", "Reopen", self.reopen.emit)

    def ask(self, sentence: str, action: str, then: Callable[[], object]) -> None:
        """Show a sentence with a button that calls ``then``."""
        self._on_action = then
        self.message.say(sentence, action)

    def _run_action(self) -> None:
        self.message.hide()
        self._on_action()
