"""The panes of a tab for the keyboard: from one to the next, straight to one, and a frame around where one is."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QWidget

from inspector.gui.document.document import Document
from inspector.gui.hex.hex_pane import HexPane

ORDER = (
    *("Coverage", "Members", "Structure", "", "Byte"),
    *("Findings", "Digests", "Header", "Changes", "Repair", "Requests"),
)
"""The panes in turn, by the names of their docks; the bytes have none."""
FRAME = 2
"""Pixels of the frame."""
_MOVES = frozenset((QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide))


class Frame(QWidget):
    """A line around the pane that the keyboard works in. The bytes have their own mark, so they need none."""

    def __init__(self, area: QMainWindow) -> None:
        super().__init__(area)
        self._area = area
        self.around: QWidget | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def show_around(self, pane: QWidget | None) -> None:
        """Lie around a pane, or nowhere."""
        if pane is not self.around:
            if self.around is not None:
                self.around.removeEventFilter(self)
            self.around = pane
            if pane is not None:
                pane.installEventFilter(self)
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt override: follow the pane."""
        # What hides with the window needs no frame; a window that is being destroyed must not be touched.
        if watched is self.around and event.type() in _MOVES and self._area.isVisible():
            self._place()
        return False

    def _place(self) -> None:
        area, pane = self._area, self.around
        # What floats is a window of its own, which is marked as the active one.
        if pane is None or not pane.isVisible() or pane.window() is not area.window():
            self.hide()
            return
        self.setGeometry(QRect(pane.mapTo(area, QPoint(0, 0)), pane.size()))
        self.show()
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - all of it is painted
        """Qt override."""
        painter = QPainter(self)
        try:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.palette().color(QPalette.ColorRole.Highlight))
            width, height = self.width(), self.height()
            painter.drawRect(0, 0, width, FRAME)
            painter.drawRect(0, height - FRAME, width, FRAME)
            painter.drawRect(0, FRAME, FRAME, height - 2 * FRAME)
            painter.drawRect(width - FRAME, FRAME, FRAME, height - 2 * FRAME)
        finally:
            painter.end()


class PaneFocus(QObject):
    """What the actions call."""

    def __init__(
        self, document: Document, area: QMainWindow, hex_pane: HexPane, docks: Mapping[str, QDockWidget]
    ) -> None:
        super().__init__(area)
        self._document = document
        self._area = area
        self._hex = hex_pane
        self._docks = docks
        self.frame = Frame(area)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._mark)

    def every(self) -> list[QWidget]:
        """The panes that can be seen, in turn."""
        found = [self._hex if not name else self._docks[name].widget() for name in ORDER]
        return [pane for pane in found if pane is not None and pane.isVisible() and not pane.visibleRegion().isEmpty()]

    def _at(self, focus: QWidget | None) -> QWidget | None:
        """The pane that holds a widget."""
        return next((pane for pane in self.every() if focus is pane or (focus and pane.isAncestorOf(focus))), None)

    def _step(self, step: int) -> None:
        panes, here = self.every(), self._at(QApplication.focusWidget())
        at = panes.index(here) if here is not None else -step
        panes[(at + step) % len(panes)].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def next_pane(self) -> None:
        """Move the focus to the next pane."""
        self._step(1)

    def previous_pane(self) -> None:
        """Move the focus to the previous pane."""
        self._step(-1)

    def go_to_panel(self, name: str) -> None:
        """Show a panel, in front of others, and move the keyboard to it."""
        dock = self._docks[name]
        panel = dock.widget()
        if panel is None or not dock.toggleViewAction().isVisible():
            self._document.said.emit(f"Nothing to show in the panel {dock.windowTitle()} of this archive.")
            return
        dock.show()
        dock.raise_()
        panel.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _mark(self, _: QWidget | None, now: QWidget | None) -> None:
        if now is None or not self._area.isAncestorOf(now):
            self.frame.show_around(None)
            return
        self.frame.show_around(None if now is self._hex.hex else self._at(now))
