"""Why reading from S3 failed, with buttons for what may help."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy

from inspector.core.names import visible
from inspector.gui.document.request_watch import RequestWatch
from inspector.gui.kit.text import escaped
from inspector.gui.kit.widgets import sentence_label
from inspector.operations.protocol.browse_views import ErrorAction, S3Problem
from inspector.operations.protocol.views import Stage

WORDS = {
    ErrorAction.UNSIGNED: (
        "Retry Without &Signing",
        "Retry without credentials; works for public data",
    ),
    ErrorAction.CONNECTION: (
        "Choose &Profile…",
        "Choose a profile, region or endpoint and reopen",
    ),
    ErrorAction.REGION: ("Use Its &Region", "Retry in the region that the server names"),
    ErrorAction.RELOAD: ("&Reload", "Read the new object (F5)"),
    ErrorAction.RETRY: ("Re&try", "Retry (F5)"),
    ErrorAction.BROWSE: ("&Browse", "List the contents"),
}
INDENT = 38


class ErrorActions(QFrame):
    """A line beneath the state of a document; hidden while nothing is wrong.

    Signals:
        wanted(object): a ErrorAction was chosen.
        told(): it is said here what is wrong.
    """

    wanted = Signal(object)
    told = Signal()

    def __init__(self, watch: RequestWatch) -> None:
        super().__init__()
        self._watch = watch
        self._trouble: S3Problem | None = None
        self.sentence = sentence_label()
        self.sentence.setAccessibleName("Why reading from S3 failed")
        self.sentence.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.buttons: dict[ErrorAction, QPushButton] = {}
        layout = QHBoxLayout(self)
        layout.setContentsMargins(INDENT, 2, 8, 6)
        layout.setSpacing(8)
        layout.addWidget(self.sentence, 1)
        for remedy, (text, tip) in WORDS.items():
            button = QPushButton(text)
            button.setToolTip(tip)
            button.clicked.connect(lambda _=False, remedy=remedy: self.wanted.emit(remedy))
            layout.addWidget(button)
            self.buttons[remedy] = button
        self.hide()
        watch.changed.connect(self._refresh)
        watch.document.statusChanged.connect(self._refresh)

    @property
    def region(self) -> str:
        """The region that the server names."""
        return self._trouble.region if self._trouble is not None else ""

    def _refresh(self) -> None:
        state = self._watch.state
        trouble = self._trouble = state.trouble if state is not None else None
        self.setVisible(trouble is not None)
        if trouble is None:
            return
        # What could not be opened is said above already.
        failed = self._watch.document.status.stage is Stage.FAILED
        self.sentence.setText("This may help:" if failed else trouble.sentence)
        for remedy, button in self.buttons.items():
            button.setVisible(remedy in trouble.actions)
        if trouble.region:
            region = escaped(visible(trouble.region))
            self.buttons[ErrorAction.REGION].setText(f"Use &Region {region}")
        self.told.emit()
