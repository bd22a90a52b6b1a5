"""Drops: always accepted as copies (after a move the source program would delete the file), on zones that light up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QLineEdit, QWidget

from inspector.gui.kit.locations import absolute, from_mime

if TYPE_CHECKING:  # imported only for types, to speed up the first paint
    from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent, QPaintEvent


def take_copy(event: QDropEvent) -> bool:
    """Accept a drag or drop as a copy; ignore it and return False if no copy is offered."""
    offered = bool(event.possibleActions() & Qt.DropAction.CopyAction)
    if offered:
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
    else:
        event.ignore()
    return offered


BORDER_PX = 2
TINT_ALPHA = 40
"""Of 255: the zone stays readable."""


class DropLight(QWidget):
    """Lights up a drop zone while something is dragged over it, and says what dropping it does."""

    def __init__(self, zone: QWidget, text: str = "") -> None:
        super().__init__(zone)
        self._zone = zone
        self._text = text
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def light_up(self, on: bool) -> None:
        """Show or hide the light."""
        if on:
            self.setGeometry(self._zone.rect())
            self.raise_()
        self.setVisible(on)

    def paintEvent(self, _: QPaintEvent) -> None:
        accent = self.palette().highlight().color()
        tint = self.palette().highlight().color()
        tint.setAlpha(TINT_ALPHA)
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), tint)
            painter.setPen(QPen(accent, BORDER_PX))
            edge = BORDER_PX / 2
            painter.drawRect(QRectF(self.rect()).adjusted(edge, edge, -edge, -edge))
            if self._text:
                self._paint_text(painter)

    def _paint_text(self, painter: QPainter) -> None:
        """Write the text on a plate, so that it is readable over anything."""
        text = self.fontMetrics().boundingRect(self._text)
        plate = text.adjusted(-24, -12, 24, 12)
        plate.moveCenter(self.rect().center())
        painter.fillRect(plate, self.palette().highlight())
        painter.setPen(self.palette().highlightedText().color())
        painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, self._text)


class PathField(QLineEdit):
    """A field for a path or URL, which can also be dropped on it."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.drop_light = DropLight(self)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if not from_mime(event.mimeData()) or not take_copy(event):
            event.ignore()
        else:
            self.drop_light.light_up(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.drop_light.light_up(False)
        super().dragLeaveEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        take_copy(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Take the first of several locations."""
        self.drop_light.light_up(False)
        found = from_mime(event.mimeData())
        if found and take_copy(event):
            self.setText(absolute(found[0]))
            self.setFocus()
            self.editingFinished.emit()
        else:
            event.ignore()


def leave_drops(within: QWidget) -> None:
    """Disable drops in plain fields: QLineEdit itself would also accept moves."""
    for field in within.findChildren(QLineEdit):
        if not isinstance(field, PathField):
            field.setAcceptDrops(False)
