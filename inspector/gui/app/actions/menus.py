"""The menus with variable content: recent files, samples, Copy As, panels, bytes per row, theme; context menus."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from inspector.core.names import visible
from inspector.gui.app.tabs import named_state
from inspector.gui.hex.copying import CopyFormat
from inspector.gui.kit import preferences
from inspector.gui.kit.icons import state_icon
from inspector.gui.kit.settings import ChoiceMenu, Settings
from inspector.gui.kit.text import escaped
from inspector.resources import samples

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab


class MenuWindow(Protocol):
    """The part of the window that these menus use."""

    settings: Settings

    def open_location(self, location: str) -> None:
        """Open one location."""

    def copy_as(self, copy_format: CopyFormat) -> None:
        """Copy the selected bytes in a format."""

    def tab(self) -> Tab | None:
        """The tab shown, or None."""


class Menus:
    """Adds these menus to the menus of fixed actions, and fills them when they open."""

    def __init__(
        self, window: MenuWindow, parent: QWidget, menus: dict[str, QMenu], actions: dict[str, QAction]
    ) -> None:
        self._window = window
        self._parent = parent
        self._actions = actions
        file, edit, view = menus["File"], menus["Edit"], menus["View"]
        before = actions["paste_locations"]
        self.recent = QMenu("Open &Recent", parent)
        self.samples = QMenu("Open &Sample", parent)
        self.panels = QMenu("&Panels", parent)
        self.rows = ChoiceMenu("&Bytes per Row", preferences.BYTES_PER_ROW, window.settings, parent)
        self.colours = ChoiceMenu("&Colour By", preferences.COLOUR_BY, window.settings, parent)
        self.themes = ChoiceMenu("&Theme", preferences.THEME, window.settings, parent)
        self.copying = QMenu("Copy &As", parent)
        self.experiment = menus["Experiment"]
        for menu in (self.recent, self.samples):
            file.insertMenu(before, menu)
        edit.insertMenu(actions["select_all"], self.copying)
        for menu in (self.panels, self.rows, self.colours, self.themes):
            view.addMenu(menu)
        window.settings.changed.connect(self._check_shown)
        self._check_shown()
        self.recent.aboutToShow.connect(self._fill_recent)
        self.panels.aboutToShow.connect(self._fill_panels)
        for path in samples():
            self._add(self.samples, path.name, partial(window.open_location, str(path)))
        for copy_format in CopyFormat:
            self._add(self.copying, copy_format.value, partial(window.copy_as, copy_format))

    def _check_shown(self, _: str = "") -> None:
        self._actions["show_arrows"].setChecked(self._window.settings.get(preferences.ARROWS))
        self._actions["show_bands"].setChecked(self._window.settings.get(preferences.BANDS))

    def _add(self, menu: QMenu, text: str, call: Callable[[], object]) -> QAction:
        action = menu.addAction(escaped(text))
        action.triggered.connect(lambda _=False: call())
        return action

    def _fill_recent(self) -> None:
        self.recent.clear()
        states = self._window.settings.recent_states
        for location in self._window.settings.recent:
            state = states.get(location)
            stated = named_state(visible(location), state)
            action = self._add(self.recent, stated, partial(self._window.open_location, location))
            if state is not None:
                action.setIcon(state_icon(state))
        if self.recent.isEmpty():
            self.recent.addAction("No Recent Files").setEnabled(False)
            return
        self.recent.addSeparator()
        self._add(self.recent, "Clear", self._window.settings.clear_recent)

    def _fill_panels(self) -> None:
        self.panels.clear()
        tab = self._window.tab()
        if tab is None:
            self.panels.addAction("No Archive Open").setEnabled(False)
            return
        for dock in tab.docks.values():
            self.panels.addAction(dock.toggleViewAction())
        self.panels.addSeparator()
        self._add(self.panels, "Reset Positions", tab.reset_arrangement)

    def show_members_menu(self, position: QPoint) -> None:
        """Open the context menu of the members at a screen position."""
        menu = QMenu(self._parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name in ("show_content", "open_inside", "extract", "open_elsewhere", "copy", "copy_path"):
            menu.addAction(self._actions[name])
        menu.popup(position)

    def show_bytes_menu(self, position: QPoint) -> None:
        """Open the context menu of the bytes at a screen position."""
        menu = QMenu(self._parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self._actions["copy"])
        menu.addMenu(self.copying)
        menu.addAction(self._actions["select_all"])
        menu.addSeparator()
        menu.addAction(self._actions["edit_bytes"])
        menu.addMenu(self.experiment)
        menu.addSeparator()
        menu.addAction(self._actions["follow"])
        menu.addAction(self._actions["go_to"])
        menu.addAction(self._actions["find_bytes"])
        menu.popup(position)
