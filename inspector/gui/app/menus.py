"""The menus whose entries are not fixed: recent files, samples, copying, panels, bytes a row, theme."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from inspector.core.names import visible
from inspector.gui.hex.copying import CopyFormat
from inspector.gui.kit import preferences
from inspector.gui.kit.settings import ChoiceMenu, Settings
from inspector.gui.kit.text import escaped
from inspector.resources import samples

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab


class Owner(Protocol):
    """What these menus ask of the window."""

    settings: Settings

    def open_location(self, location: str) -> None:
        """Open one location."""

    def copy_as(self, how: CopyFormat) -> None:
        """Copy the selected bytes in a form."""

    def tab(self) -> Tab | None:
        """The tab that is shown."""


class Menus:
    """Adds those menus and fills them when they are opened."""

    def __init__(self, owner: Owner, parent: QWidget, menus: dict[str, QMenu], fixed: dict[str, QAction]) -> None:
        self._owner = owner
        self._parent = parent
        self._fixed = fixed
        file, edit, view = menus["File"], menus["Edit"], menus["View"]
        before = fixed["paste_locations"]
        self.recent = QMenu("Open &Recent", parent)
        self.samples = QMenu("Open &Sample", parent)
        self.panels = QMenu("&Panels", parent)
        self.rows = ChoiceMenu("&Bytes per Row", preferences.BYTES_PER_ROW, owner.settings, parent)
        self.themes = ChoiceMenu("&Theme", preferences.THEME, owner.settings, parent)
        self.copying = QMenu("Copy &As", parent)
        for menu in (self.recent, self.samples):
            file.insertMenu(before, menu)
        edit.insertMenu(fixed["select_all"], self.copying)
        for menu in (self.panels, self.rows, self.themes):
            view.addMenu(menu)
        owner.settings.changed.connect(self._mark)
        self._mark()
        self.recent.aboutToShow.connect(self._fill_recent)
        self.panels.aboutToShow.connect(self._fill_panels)
        for path in samples():
            self._add(self.samples, path.name, partial(owner.open_location, str(path)))
        for how in CopyFormat:
            self._add(self.copying, how.value, partial(owner.copy_as, how))

    def _mark(self, _: str = "") -> None:
        self._fixed["show_arrows"].setChecked(self._owner.settings.get(preferences.ARROWS))

    def _add(self, menu: QMenu, text: str, call: Callable[[], object]) -> QAction:
        action = menu.addAction(escaped(text))
        action.triggered.connect(lambda _=False: call())
        return action

    def _fill_recent(self) -> None:
        self.recent.clear()
        for location in self._owner.settings.recent:
            self._add(self.recent, visible(location), partial(self._owner.open_location, location))
        if self.recent.isEmpty():
            self.recent.addAction("Nothing Yet").setEnabled(False)
            return
        self.recent.addSeparator()
        self._add(self.recent, "Clear", self._owner.settings.clear_recent)

    def _fill_panels(self) -> None:
        self.panels.clear()
        tab = self._owner.tab()
        if tab is None:
            self.panels.addAction("No Archive Is Shown").setEnabled(False)
            return
        for dock in tab.docks.values():
            self.panels.addAction(dock.toggleViewAction())
        self.panels.addSeparator()
        self._add(self.panels, "Put Back in Place", tab.arrange_afresh)

    def show_members_menu(self, place: QPoint) -> None:
        """The context menu of the members, at a place of the screen."""
        menu = QMenu(self._parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name in ("show_content", "extract", "open_elsewhere", "copy"):
            menu.addAction(self._fixed[name])
        menu.popup(place)

    def show_bytes_menu(self, place: QPoint) -> None:
        """The context menu of the bytes, at a place of the screen."""
        menu = QMenu(self._parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self._fixed["copy"])
        menu.addMenu(self.copying)
        menu.addAction(self._fixed["select_all"])
        menu.addSeparator()
        menu.addAction(self._fixed["edit_bytes"])
        menu.addSeparator()
        menu.addAction(self._fixed["follow"])
        menu.addAction(self._fixed["go_to"])
        menu.addAction(self._fixed["find_bytes"])
        menu.popup(place)
