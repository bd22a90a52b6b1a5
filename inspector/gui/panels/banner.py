"""The banner above a document: its state as text, and messages."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QToolButton

from inspector.core.finding import Severity, first_sentence
from inspector.core.numbers import count, in_bytes, rounded
from inspector.core.verdict import State
from inspector.drawing.palette import Mark
from inspector.gui.document.document import Document
from inspector.gui.kit.building import dressed, in_column, in_row
from inspector.gui.kit.icons import Picture, icon, icon_of, mark_of
from inspector.gui.kit.style import GRID, PAGE_PX, TextSize, card, font_of, paint_stripe, secondary
from inspector.gui.kit.widgets import MessageBar, SelectableLabel, push_button
from inspector.operations.protocol.views import Stage, Status

_SEPARATOR = "  ·  "
ICON_PX = 20
"""Pixels: the size of the state icon."""
SPACING_PX = 2 * GRID
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
        counted = dict(status.counts)
        wrong = (Severity.ERROR, Severity.WARNING)
        parts += [count(counted[severity], severity.value) for severity in wrong if counted.get(severity)]
    if status.stage is Stage.DECODING:
        parts.append("still reading")
    if status.stage is Stage.CANCELLED:
        parts.append("reading was cancelled; the rest is unknown")
    return _SEPARATOR.join(filter(None, parts))


def _answer(status: Status) -> tuple[str, str]:
    """The first sentence of the main finding, and the judgement; without a finding the judgement is the answer."""
    if status.stage is Stage.READY and status.format == "bytes" and status.main is None:
        return status.sentence, ""
    if status.main is None:
        return status.judgement, ""
    answer = first_sentence(status.main.message)
    return answer, status.judgement.removesuffix(f" Cause: {answer}")


class Banner(QFrame):
    """The answer first: what was found in one sentence with what can be done, and below it the facts and a message.

    Signals:
        reopen(): read the location again.
        repairRequested(): plan repairs.
        checkRequested(): check the contents.
        showRequested(object): show this FindingRow and its bytes.
        readersRequested(): say what every reader makes of the archive.
    """

    reopen = Signal()
    repairRequested = Signal()
    checkRequested = Signal()
    showRequested = Signal(object)
    readersRequested = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._pending = False
        self._is_checking = False
        card(self)
        self.mark = Picture(icon("reload"), ICON_PX)
        self.sentence = SelectableLabel()
        self.sentence.setFont(font_of(self.sentence, TextSize.TITLE))
        self.state = secondary(SelectableLabel())
        self._stripe: Mark | None = None
        self.message = MessageBar(ICON_PX + SPACING_PX)
        self.message.acted.connect(self._run_action)
        self._on_action: Callable[[], object] = self.reopen.emit
        tip = "Show the bytes of this finding, and all that was found"
        self.show_ = push_button("Show Bytes", tip, self._show_main)
        self.repair = push_button("Repair…", "Plan repairs; nothing is written yet (Ctrl+M)", self.repairRequested)
        tip = "Compare the contents with every recorded checksum (Ctrl+K)"
        self.check = push_button("Check Contents", tip, self.checkRequested)
        tip = "What every program that reads this format makes of the archive"
        self.readers = dressed(QToolButton(), text="Readers", toolTip=tip)
        self.readers.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.readers.clicked.connect(self.readersRequested)
        for label in (self.sentence, self.state):
            label.setMaximumWidth(PAGE_PX)
        words = in_column(self.sentence, self.state)
        first = in_row(self.mark, (words, 1), self.readers, self.show_, self.repair, self.check, 0)
        first.setAlignment(self.mark, Qt.AlignmentFlag.AlignTop)
        in_column(first, self.message, on=self, edge=(3 * GRID, GRID, 2 * GRID, GRID), gap=GRID)
        document.statusChanged.connect(self.refresh)
        document.lost.connect(self._lost)
        self.refresh()

    def set_pending(self, pending: bool) -> None:
        """Say whether the status describes the archive with its pending changes."""
        self._pending = pending
        self.refresh()

    def set_checking(self, checking: bool) -> None:
        """Say whether a check is running."""
        self._is_checking = checking
        self.refresh()

    def refresh(self) -> None:
        """Show the current status."""
        status = self._document.status
        self._show_mark(status)
        answer, judgement = _answer(status)
        if self._document.in_experiment and answer:
            answer = f"{'Replay' if self._document.in_replay else 'Experiment'}, not the file: {answer}"
        elif self._pending and answer:
            answer = f"With the pending changes (not written yet): {answer}"
        self.sentence.setText(answer)
        self.sentence.setVisible(bool(answer))
        self.state.setText(_SEPARATOR.join(filter(None, (state_text(status), judgement))))
        settled = status.stage is Stage.READY and not self._pending
        self.repair.setVisible(settled and not status.collection and status.state in REPAIRABLE)
        self.show_.setVisible(status.main is not None)
        if status.main is not None:
            self.show_.setText("Show Bytes" if status.main.spans else "Show Finding")
        known = settled and status.format != "bytes"
        self.readers.setVisible(known)
        self.check.setVisible(known and not status.checked and not self._is_checking)

    def _show_main(self) -> None:
        if (main := self._document.status.main) is not None:
            self.showRequested.emit(main)

    def _show_mark(self, status: Status) -> None:
        """Show the icon, and the stripe once something is known to be right or wrong."""
        self._stripe = None
        shown = icon_of(Severity.INFO)  # no tick: the contents have not been verified
        if status.stage is Stage.FAILED:
            shown, self._stripe = icon_of(Severity.ERROR), Mark.ERROR
        elif status.stage in (Stage.OPENING, Stage.DECODING):
            shown = icon("reload")
        elif status.format != "bytes" and status.state is not None:
            self._stripe = mark_of(status.state)
            if status.main is None or status.main.severity is not Severity.INFO:  # no tick beside what is missing
                shown = icon_of(status.state)
        self.mark.show_icon(shown)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._stripe is not None:
            with QPainter(self) as painter:
                paint_stripe(painter, self.rect(), self._stripe, self.palette())

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
