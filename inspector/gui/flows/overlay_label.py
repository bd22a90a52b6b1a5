"""A sentence that lies over the foot of a widget, so that nothing moves when it comes and goes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QWidget

from inspector.gui.document.document import Document
from inspector.gui.document.selection import Selection
from inspector.gui.kit.widgets import MessageBar

MARGIN = 8
"""Pixels between the note and the edges of what it lies over."""


class OverlayLabel(MessageBar):
    """Shows what a document says, until it is closed or the user goes on to another place."""

    def __init__(self, document: Document, over: QWidget) -> None:
        super().__init__()
        self._document = document
        self._said_at = document.selection
        self._over = over
        self.setParent(over)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.ToolTipBase)
        self.text.setForegroundRole(QPalette.ColorRole.ToolTipText)
        self.text.setContentsMargins(0, MARGIN // 2, 0, MARGIN // 2)
        self.hide()
        over.installEventFilter(self)
        document.said.connect(self._say)
        document.selected.connect(self._go_on)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and watched is self._over:
            self._place()
        return False

    def _place(self) -> None:
        width = max(0, self._over.width() - 2 * MARGIN)
        height = self.heightForWidth(width)
        self.setGeometry(MARGIN, self._over.height() - height - MARGIN, width, height)

    def _say(self, sentence: str) -> None:
        self._said_at = self._document.selection
        self.say(sentence)
        self._place()
        self.raise_()

    def _go_on(self, selection: Selection) -> None:
        """A note is about the place where it came up, so it goes when the user goes on."""
        if (selection.layer, selection.caret) != (self._said_at.layer, self._said_at.caret):
            self.hide()
