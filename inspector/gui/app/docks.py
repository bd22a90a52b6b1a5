"""The docks of a tab: panels that are made late, those that show themselves, titles, and the focus among them.

Most archives are looked at with half of the panels, so each is made when it is first needed. Some take room only when
they have something to say. Panels behind tabs have no title of their own: the tab has said it.
A frame is around the focused pane.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QWidget

from inspector.gui.document.document import Document
from inspector.gui.hex.hex_pane import HexPane
from inspector.gui.kit.files import Cover, leave_drops
from inspector.gui.kit.help_texts import name_focused_window
from inspector.gui.kit.widgets import debounce

# ---- panels made late ------------------------------------------------------------------------------------------------


class LateDock(QDockWidget):
    """Makes its panel when it is to be shown, or when ``panel`` asks for it."""

    are_held = False
    """Whether docks are shown without panels."""

    def __init__(self, make: Callable[[], QWidget], title: str, area: QMainWindow) -> None:
        super().__init__(title, area)
        self._make = make

    def panel(self) -> QWidget:
        """The panel, made if there is none yet."""
        if (made := self.widget()) is None:
            made = self._make()
            self.setWidget(made)
            leave_drops(made)  # both are done once for all that is in a new tab
            name_focused_window(None, made)
        return made

    def setVisible(self, visible: bool) -> None:
        if visible and not self.are_held:
            self.panel()
        super().setVisible(visible)


# ---- panels that show themselves -------------------------------------------------------------------------------------


class QuietPanels(QObject):
    """Shows each of some docks when it gets something to say, and leaves those of others to the user.

    ``speaks`` says of each dock, by its name, whether it has something to show. A dock that fell silent stays until the
    tab is arranged again, so that nothing moves under the pointer. ``closed`` are docks that the user closed: they stay
    closed although they speak.
    """

    def __init__(
        self, docks: Mapping[str, QDockWidget], speaks: Mapping[str, Callable[[], bool]], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._docks = {name: docks[name] for name in speaks}
        self._speaks = speaks
        self._spoke: set[str] = set()
        self.closed: frozenset[str] = frozenset()

    def update(self, *_: object) -> None:
        """Show the docks that now have something to say."""
        for name in (speaking := self.speaking()) - self._spoke - self.closed:
            if not self._docks[name].isFloating():  # that of a tab in the background would be a window in front
                self._docks[name].show()
        self._spoke = speaking

    def speaking(self) -> set[str]:
        """The names of the docks that have something to say."""
        return {name for name, speaks in self._speaks.items() if speaks()}

    def adopt(self) -> frozenset[str]:
        """The docks that are closed now: of those that have nothing to say, those that were closed before."""
        hidden = {name for name in self._spoke if self._docks[name].isHidden()}
        self.closed = (self.closed - self._spoke) | hidden
        return self.closed

    def arrange(self, closed: Collection[str]) -> None:
        """Show the docks that have something to say and are not ``closed``; hide the others."""
        self.closed = frozenset(closed)
        self._spoke = self.speaking()
        for name, dock in self._docks.items():
            dock.setVisible(name in self._spoke and name not in self.closed)

    def rise(self, name: str) -> None:
        """Bring a dock to the front, unless the user works in another one of these."""
        focus = QApplication.focusWidget()
        others = (dock for each, dock in self._docks.items() if each != name)
        if not self._docks[name].isHidden() and not (focus and any(dock.isAncestorOf(focus) for dock in others)):
            self._docks[name].raise_()


# ---- titles ----------------------------------------------------------------------------------------------------------


class DockTitles(QObject):
    """Shows the title of each dock once: in its tab where it has one, else above it."""

    def __init__(self, area: QMainWindow, docks: Collection[QDockWidget]) -> None:
        super().__init__(area)
        self._area = area
        self._docks = docks
        self._timer = debounce(self, 0, self.update)
        for dock in docks:
            for moved in (dock.topLevelChanged, dock.dockLocationChanged, dock.visibilityChanged):
                moved.connect(lambda _: self._timer.start())  # the arrangement changes in several steps

    def update(self) -> None:
        """Show and hide titles as the docks stand now."""
        for dock in self._docks:
            others = self._area.tabifiedDockWidgets(dock) if not (dock.isFloating() or dock.isHidden()) else []
            is_tabbed = any(not each.isHidden() and not each.isFloating() for each in others)
            if is_tabbed is (dock.titleBarWidget() is None):
                nothing = QWidget() if is_tabbed else None
                dock.setTitleBarWidget(nothing)  # type: ignore[arg-type]


# ---- keyboard focus --------------------------------------------------------------------------------------------------

ORDER = (
    *("Coverage", "Members", "Structure", "", "Byte"),
    *("Findings", "Digests", "Header", "Changes", "Repair", "Requests", "Reader", "Diagram"),
)
"""The order of the panes, by the names of their docks; the hex view has none."""


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
        self.frame: Cover | None = None
        """The frame around the pane with the focus, if there is one. The hex view marks its focus itself."""
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
        if dock.toggleViewAction().isVisible():
            dock.show()
            dock.raise_()
            dock.widget().setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            self._document.reported.emit(f"The {dock.windowTitle()} panel has nothing to show for this archive.")

    def _frame_focus(self, _: QWidget | None, now: QWidget | None) -> None:
        is_framed = now is not None and now is not self._hex.hex and self._area.isAncestorOf(now)
        pane = self._pane_of(now) if is_framed else None
        if pane is not (self.frame.zone if self.frame is not None else None):
            if self.frame is not None:
                self.frame.deleteLater()
            self.frame = Cover(pane, tint=0) if pane is not None else None
        if self.frame is not None:
            self.frame.light_up(True)
