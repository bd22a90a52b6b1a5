"""The state of a document in words, above everything else about it."""

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
MARK = 20
"""Pixels of the mark before the state."""
GAP = 8
WRONG = (State.WARNING, State.TORN, State.DAMAGED)
"""States in which there may be something to repair."""


def state_text(status: Status) -> str:
    """What it is, in words."""
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
    told = [count(errors, "error")] if errors else []
    return [*told, count(warnings, "warning")] if warnings else told


class Banner(QFrame):
    """The state in words, and beneath it, when there is one, a message that can be closed.

    Signals:
        reopen(): the user wants the location read again.
        repairWanted(): the user wants to know how the archive can be repaired.
    """

    reopen = Signal()
    repairWanted = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._pending = False
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        self.mark = Picture(icon("reload"), MARK)
        self.state = SelectableLabel()
        self.sentence = SelectableLabel()
        self.sentence.setContentsMargins(MARK + GAP, 0, 0, 0)
        self.message = MessageBar(MARK + GAP)
        self.message.acted.connect(self._act)
        self._then: Callable[[], object] = self.reopen.emit
        first = QHBoxLayout()
        first.setSpacing(GAP)
        first.addWidget(self.mark)
        first.addWidget(self.state, 1)
        self.repair = QPushButton("Repair…")
        self.repair.setToolTip("Plan repairs; nothing is written yet (Ctrl+M)")
        self.repair.clicked.connect(self.repairWanted)
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
        """What is said is of the archive as it would be with changes that are not on disk, or not."""
        self._pending = pending
        self.refresh()

    def refresh(self) -> None:
        """Say how it stands now."""
        status = self._document.status
        self.mark.show_icon(self._icon(status))
        self.state.setText(state_text(status))
        # What was decoded is said above; the sentence adds to it what is known of whether it is right.
        is_plain = status.stage is Stage.READY and status.format == "bytes"
        more = status.sentence if is_plain else status.judgement
        if self._pending:
            more = f"With the pending changes, which are not written: {more}"
        can = status.stage is Stage.READY and not status.collection and not self._pending
        self.repair.setVisible(can and status.state in WRONG)
        self.sentence.setText(more)
        self.sentence.setVisible(bool(more))

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
        """Show a sentence with a button, which does ``then`` when it is pressed."""
        self._then = then
        self.message.say(sentence, action)

    def _act(self) -> None:
        self.message.hide()
        self._then()
