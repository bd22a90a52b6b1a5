"""Keyboard focus among the panes of a tab: next, previous, a given one; and a frame around the focused pane."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QWidget

from inspector.gui.document.document import Document
from inspector.gui.hex.hex_pane import HexPane

ORDER = (
    *("Coverage", "Members", "Structure", "", "Byte"),
    *("Findings", "Digests", "Header", "Changes", "Repair", "Requests", "Reader", "Diagram"),
)
"""The order of the panes, by the names of their docks; the hex view has none."""
FRAME_PX = 2
_MOVES = frozenset((QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide))


class FocusFrame(QWidget):
    """A frame around the focused pane. The hex view marks its focus itself."""

    def __init__(self, area: QMainWindow) -> None:
        super().__init__(area)
        self._area = area
        self.pane: QWidget | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def show_around(self, pane: QWidget | None) -> None:
        """FocusFrame a pane; None hides the frame."""
        if pane is not self.pane:
            if self.pane is not None:
                self.pane.removeEventFilter(self)
            self.pane = pane
            if pane is not None:
                pane.installEventFilter(self)
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt override: follow the pane."""
        # Ignore panes that hide with the window: one that is being destroyed must not be touched.
        if watched is self.pane and event.type() in _MOVES and self._area.isVisible():
            self._place()
        return False

    def _place(self) -> None:
        area, pane = self._area, self.pane
        # A floating pane is a window of its own, whose title bar shows the focus.
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
            painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), FRAME_PX))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        finally:
            painter.end()


class PaneFocus(QObject):
    """The actions that move the focus among panes."""

    def __init__(
        self, document: Document, area: QMainWindow, hex_pane: HexPane, docks: Mapping[str, QDockWidget]
    ) -> None:
        super().__init__(area)
        self._document = document
        self._area = area
        self._hex = hex_pane
        self._docks = docks
        self.frame = FocusFrame(area)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._frame_focus)

    def panes(self) -> list[QWidget]:
        """The visible panes, in order."""
        found = [self._hex if not name else self._docks[name].widget() for name in ORDER]
        return [pane for pane in found if pane is not None and pane.isVisible() and not pane.visibleRegion().isEmpty()]

    def _pane_of(self, focus: QWidget | None) -> QWidget | None:
        """The pane that contains a widget."""
        return next((pane for pane in self.panes() if focus is pane or (focus and pane.isAncestorOf(focus))), None)

    def step(self, step: int) -> None:
        """Move the focus ``step`` panes on."""
        panes, here = self.panes(), self._pane_of(QApplication.focusWidget())
        at = panes.index(here) if here is not None else -step
        panes[(at + step) % len(panes)].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def go_to_panel(self, name: str) -> None:
        """Show a panel in front of others and focus it."""
        dock = self._docks[name]
        if not dock.toggleViewAction().isVisible():
            self._document.reported.emit(f"The {dock.windowTitle()} panel has nothing to show for this archive.")
            return
        dock.show()
        dock.raise_()
        dock.widget().setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _frame_focus(self, _: QWidget | None, now: QWidget | None) -> None:
        is_framed = now is not None and now is not self._hex.hex and self._area.isAncestorOf(now)
        self.frame.show_around(self._pane_of(now) if is_framed else None)
