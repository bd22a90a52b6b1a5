"""A sentence that stays until it is closed."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QToolButton

from inspector.gui.kit.icons import icon
from inspector.gui.kit.widgets import sentence_label


class Message(QFrame):
    """A line with a sentence and, where there is something to do about it, a button.

    Signals:
        acted(): the button was pressed.
    """

    acted = Signal()

    def __init__(self, indent: int = 8) -> None:
        super().__init__()
        self.text = sentence_label()
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.button = QPushButton()
        self.button.hide()
        self.button.clicked.connect(self.acted)
        self.dismiss = QToolButton()
        self.dismiss.setAutoRaise(True)
        self.dismiss.setIcon(icon("close"))
        self.dismiss.setToolTip("Close this message")
        self.dismiss.setAccessibleName("Close this message")
        self.dismiss.clicked.connect(self.hide)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(indent, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self.text, 1)
        layout.addWidget(self.button)
        layout.addWidget(self.dismiss)
        self.hide()

    def say(self, sentence: str, action: str = "") -> None:
        """Show a sentence, and a button for ``action`` where there is one."""
        self.text.setText(sentence)
        self.button.setText(action)
        self.button.setVisible(bool(action))
        self.show()

    @property
    def asks(self) -> bool:
        """Whether a button waits to be pressed."""
        return not self.isHidden() and not self.button.isHidden()
