"""Panels behind tabs have no title of their own: the tab has said it."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from PySide6.QtCore import QObject, QPoint, Qt, QTimer
from PySide6.QtWidgets import QDockWidget, QMainWindow, QMenu, QTabBar, QWidget


class DockTitles(QObject):
    """Shows the title of each dock once: in its tab where it has one, else above it.

    The menu of a tab closes its dock or makes it a window, which the buttons of the title do elsewhere.
    """

    def __init__(self, area: QMainWindow, docks: Collection[QDockWidget]) -> None:
        super().__init__(area)
        self._area = area
        self._docks = docks
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self.update)
        for dock in docks:
            for moved in (dock.topLevelChanged, dock.dockLocationChanged, dock.visibilityChanged):
                moved.connect(self._wait)

    def _wait(self, *_: object) -> None:
        self._timer.start()  # the arrangement changes in several steps

    def update(self) -> None:
        """Show and hide titles as the docks stand now."""
        for dock in self._docks:
            is_tabbed = self._has_tab(dock)
            if is_tabbed is (dock.titleBarWidget() is None):
                nothing = QWidget() if is_tabbed else None
                dock.setTitleBarWidget(nothing)  # type: ignore[arg-type]
        for bar in self._area.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            if bar.contextMenuPolicy() is not Qt.ContextMenuPolicy.CustomContextMenu:
                bar.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
                bar.customContextMenuRequested.connect(partial(self._show_menu, bar))

    def _has_tab(self, dock: QDockWidget) -> bool:
        if dock.isFloating() or dock.isHidden():
            return False
        return any(not each.isHidden() and not each.isFloating() for each in self._area.tabifiedDockWidgets(dock))

    def _show_menu(self, bar: QTabBar, place: QPoint) -> None:
        menu = self.menu_of(bar, bar.tabAt(place))
        if menu is not None:
            menu.popup(bar.mapToGlobal(place))

    def menu_of(self, bar: QTabBar, tab: int) -> QMenu | None:
        """The menu of a tab, which deletes itself; None where there is no tab."""
        dock = next((each for each in self._docks if each.windowTitle() == bar.tabText(tab)), None)
        if dock is None:
            return None
        menu = QMenu(bar)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("&Close").triggered.connect(dock.close)
        menu.addAction("&Float").triggered.connect(partial(dock.setFloating, True))
        return menu
