"""Which results are shown: those that hold a text, of one state, of one format."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QWidget

from inspector.gui.tabs.audit_model import state_words
from inspector.operations.protocol.audit_views import NO_ARCHIVE, STATES

_LATER = 200
"""Milliseconds after the last key that the text counts."""


class Filters(QWidget):
    """The fields over the table.

    Signals:
        changed(): another choice was made: see ``choice``.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.text = QLineEdit()
        self.text.setPlaceholderText("Filter by location, sentence or code")
        self.text.setAccessibleName("Filter results")
        self.text.setClearButtonEnabled(True)
        self.states = QComboBox()
        self.states.setAccessibleName("Filter by state")
        self.formats = QComboBox()
        self.formats.setAccessibleName("Filter by format")
        self.states.addItem("All states", ())
        self.states.addItem("Anything wrong", STATES[2:])
        for state in (*STATES, NO_ARCHIVE):
            self.states.addItem(state_words(state).capitalize(), (state,))
        self.formats.addItem("All formats", ())
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.text, 1)
        layout.addWidget(self.states)
        layout.addWidget(self.formats)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_LATER)
        self._soon.timeout.connect(self.changed)
        self.text.textChanged.connect(lambda _: self._soon.start())
        self.states.currentIndexChanged.connect(lambda _: self.changed.emit())
        self.formats.currentIndexChanged.connect(lambda _: self.changed.emit())

    def offer(self, formats: Iterable[str]) -> None:
        """Let these formats be chosen, beside those that can be already."""
        known = {self.formats.itemText(at) for at in range(self.formats.count())}
        for name in formats:
            if name not in known:
                self.formats.addItem(name, (name,))

    @property
    def any(self) -> bool:
        """Whether some results may be left out."""
        return bool(self.text.text() or self.states.currentIndex() or self.formats.currentIndex())

    def choice(self) -> dict[str, object]:
        """What a Query says of it."""
        return {
            "text": self.text.text().strip(),
            "states": self.states.currentData(),
            "formats": self.formats.currentData(),
        }
