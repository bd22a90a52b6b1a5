"""The light on the row under the pointer, in every tree, table and list."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QAbstractItemView, QWidget

V = TypeVar("V", bound=QAbstractItemView)
_AWAY = frozenset((QEvent.Type.Leave, QEvent.Type.Hide, QEvent.Type.DragEnter))


def light_rows(view: V) -> V:
    """Light up the row of a view that the pointer is over."""
    view.setMouseTracking(True)
    view.viewport().installEventFilter(_RowHover(view))
    return view


class RowLight(QWidget):
    """Gives a row the surface that buttons have under the pointer, and leaves its text as it is."""

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def paintEvent(self, _: QPaintEvent) -> None:
        mode = QPainter.CompositionMode
        hover, base = self.palette().color(QPalette.ColorRole.Midlight), self.palette().color(QPalette.ColorRole.Base)
        with QPainter(self) as painter:
            dark = hover.lightness() > base.lightness()
            painter.setCompositionMode(mode.CompositionMode_Lighten if dark else mode.CompositionMode_Darken)
            painter.fillRect(self.rect(), hover)


class _RowHover(QObject):
    """Moves the light of a view with the pointer. It is made when the pointer first comes."""

    def __init__(self, view: QAbstractItemView) -> None:
        super().__init__(view)
        self._view = view
        self._light: RowLight | None = None

    def eventFilter(self, _: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind is QEvent.Type.MouseMove and isinstance(event, QMouseEvent):
            self._show(event.position().toPoint())
        elif self._light is not None and kind in _AWAY:
            self._light.hide()
        return False

    def _show(self, at: QPoint) -> None:
        viewport = self._view.viewport()
        if self._light is None:
            self._light = RowLight(viewport)
            self._view.verticalScrollBar().valueChanged.connect(self._light.hide)
        index = self._view.indexAt(at)
        row = self._view.visualRect(index)
        self._light.setGeometry(0, row.top(), viewport.width(), row.height())
        self._light.setVisible(row.isValid() and not self._view.selectionModel().isSelected(index))
