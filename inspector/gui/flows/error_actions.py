"""The reason why reading from S3 failed, with buttons for actions that may help."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QSizePolicy

from inspector.core.names import visible
from inspector.gui.document.request_watch import RequestWatch
from inspector.gui.kit.building import dressed, in_row
from inspector.gui.kit.style import GRID
from inspector.gui.kit.text import escaped
from inspector.gui.kit.widgets import push_button, sentence_label
from inspector.operations.protocol.browse_views import ErrorAction, S3Problem
from inspector.operations.protocol.views import Stage

LABELS = {
    ErrorAction.UNSIGNED: (
        "Retry Without &Signing",
        "Retry without credentials; works for public data",
    ),
    ErrorAction.CONNECTION: (
        "Choose &Profile…",
        "Choose a profile, region or endpoint and reopen",
    ),
    ErrorAction.REGION: ("Use Its &Region", "Retry in the region that the server named"),
    ErrorAction.RELOAD: ("&Reload", "Read the new object (F5)"),
    ErrorAction.RETRY: ("Re&try", "Retry (F5)"),
    ErrorAction.BROWSE: ("&Browse", "List the contents"),
}
INDENT_PX = 10 * GRID


class ErrorActions(QFrame):
    """A bar below the banner of a document; hidden while there is no error.

    Signals:
        chosen(object): the user chose this ErrorAction.
        shown(): the bar shows an error.
    """

    chosen = Signal(object)
    shown = Signal()

    def __init__(self, watch: RequestWatch) -> None:
        super().__init__()
        self._watch = watch
        self._problem: S3Problem | None = None
        self.sentence = dressed(sentence_label(), "Why reading from S3 failed")
        self.sentence.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.buttons = {action: push_button(*words, partial(self._choose, action)) for action, words in LABELS.items()}
        in_row((self.sentence, 1), *self.buttons.values(), on=self, edge=(INDENT_PX, GRID, 2 * GRID, GRID))
        self.hide()
        watch.changed.connect(self._refresh)
        watch.document.statusChanged.connect(self._refresh)

    def _choose(self, action: ErrorAction, _: bool = False) -> None:
        self.chosen.emit(action)

    @property
    def region(self) -> str:
        """The region that the server named; empty for none."""
        return self._problem.region if self._problem is not None else ""

    def _refresh(self) -> None:
        state = self._watch.state
        problem = self._problem = state.trouble if state is not None else None
        self.setVisible(problem is not None)
        if problem is None:
            return
        # The banner above shows the error already if the archive could not be opened.
        failed = self._watch.document.status.stage is Stage.FAILED
        self.sentence.setText("This may help:" if failed else problem.sentence)
        for action, button in self.buttons.items():
            button.setVisible(action in problem.actions)
        if problem.region:
            region = escaped(visible(problem.region))
            self.buttons[ErrorAction.REGION].setText(f"Use &Region {region}")
        self.shown.emit()
