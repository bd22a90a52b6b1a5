"""The strip above the bytes that says they are being edited."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton

from inspector.gui.kit.widgets import ElidedLabel


class EditStrip(QFrame):
    """Is there while bytes are overwritten, and ends that.

    Signals:
        stopWanted(): no byte is to be overwritten any more.
    """

    stopWanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Highlight)
        self.mark = QLabel("EDIT")
        font = self.mark.font()
        font.setBold(True)
        self.mark.setFont(font)
        self.story = ElidedLabel(
            "Typing overwrites bytes. Nothing is written until you press Ctrl+S.", Qt.TextElideMode.ElideRight
        )
        for label in (self.mark, self.story):
            label.setForegroundRole(QPalette.ColorRole.HighlightedText)
        self.stop = QPushButton("Stop Editing")
        self.stop.setToolTip("Stop overwriting bytes; pending changes stay (Ctrl+Shift+B)")
        self.stop.setAutoDefault(False)
        self.stop.clicked.connect(self.stopWanted)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 2, 6, 2)
        layout.addWidget(self.mark)
        layout.addWidget(self.story, 1)
        layout.addWidget(self.stop)
        self.hide()

    def minimumSizeHint(self) -> QSize:
        """See QWidget: the sentence gives way."""
        return QSize(0, super().minimumSizeHint().height())
