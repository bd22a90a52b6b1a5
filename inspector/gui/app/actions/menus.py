"""The menus with variable content: recent files, samples, Copy As, panels, bytes per row, theme; context menus."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from inspector.core.names import visible
from inspector.gui.app.tabs import Tabs, named_state
from inspector.gui.hex.layout import CopyFormat
from inspector.gui.kit import preferences
from inspector.gui.kit.icons import state_icon
from inspector.gui.kit.preferences import ChoiceMenu, Settings
from inspector.gui.kit.text import escaped
from inspector.resources import samples


class Menus:
    """Adds these menus to the menus of fixed actions, and fills them when they open."""

    def __init__(
        self, parent: QWidget, tabs: Tabs, settings: Settings, menus: dict[str, QMenu], actions: dict[str, QAction]
    ) -> None:
        self._tabs = tabs
        self._settings = settings
        self._parent = parent
        self._actions = actions
        file, edit, view = menus["File"], menus["Edit"], menus["View"]
        before = actions["paste_locations"]
        self.recent = QMenu("Open &Recent", parent)
        self.samples = QMenu("Open &Sample", parent)
        self.panels = QMenu("&Panels", parent)
        self.rows = ChoiceMenu("&Bytes per Row", preferences.BYTES_PER_ROW, settings, parent)
        self.colours = ChoiceMenu("&Colour By", preferences.COLOUR_BY, settings, parent)
        self.themes = ChoiceMenu("&Theme", preferences.THEME, settings, parent)
        self.copying = QMenu("Copy &As", parent)
        self.experiment = menus["Experiment"]
        for menu in (self.recent, self.samples):
            file.insertMenu(before, menu)
        edit.insertMenu(actions["select_all"], self.copying)
        for menu in (self.panels, self.rows, self.colours, self.themes):
            view.addMenu(menu)
        settings.changed.connect(self._check_shown)
        self._check_shown()
        self.recent.aboutToShow.connect(self._fill_recent)
        self.panels.aboutToShow.connect(self._fill_panels)
        for path in samples():
            self._add(self.samples, path.name, partial(tabs.openRequested.emit, [str(path)]))
        for copy_format in CopyFormat:
            self._add(self.copying, copy_format.value, partial(self._copy_as, copy_format))

    def _copy_as(self, copy_format: CopyFormat) -> None:
        if (tab := self._tabs.shown()) is not None:
            tab.hex_pane.hex.copy(copy_format)

    def _check_shown(self, _: str = "") -> None:
        self._actions["show_arrows"].setChecked(self._settings.get(preferences.ARROWS))
        self._actions["show_bands"].setChecked(self._settings.get(preferences.BANDS))

    def _add(self, menu: QMenu, text: str, call: Callable[[], object]) -> QAction:
        action = menu.addAction(escaped(text))
        action.triggered.connect(lambda _=False: call())
        return action

    def _fill_recent(self) -> None:
        self.recent.clear()
        for location, state in self._settings.recent.items():
            stated = named_state(visible(location), state)
            action = self._add(self.recent, stated, partial(self._tabs.openRequested.emit, [location]))
            if state is not None:
                action.setIcon(state_icon(state))
        if self.recent.isEmpty():
            self.recent.addAction("No Recent Files").setEnabled(False)
            return
        self.recent.addSeparator()
        self._add(self.recent, "Clear", self._settings.clear_recent)

    def _fill_panels(self) -> None:
        self.panels.clear()
        tab = self._tabs.shown()
        if tab is None:
            self.panels.addAction("No Archive Open").setEnabled(False)
            return
        for dock in tab.docks.values():
            self.panels.addAction(dock.toggleViewAction())
        self.panels.addSeparator()
        self._add(self.panels, "Reset Positions", tab.reset_arrangement)

    def show_members_menu(self, position: QPoint) -> None:
        """Open the context menu of the members at a screen position."""
        self._popup(("show_content open_inside extract open_elsewhere copy copy_path",), position)

    def show_bytes_menu(self, position: QPoint) -> None:
        """Open the context menu of the bytes at a screen position."""
        menu = self._popup(("copy select_all", "edit_bytes", "follow go_to find_bytes"), position)
        menu.insertMenu(self._actions["select_all"], self.copying)
        menu.insertMenu(menu.actions()[5], self.experiment)

    def _popup(self, groups: Iterable[str], position: QPoint) -> QMenu:
        menu = QMenu(self._parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for group in groups:
            menu.addActions([self._actions[name] for name in group.split()])
            menu.addSeparator()
        menu.popup(position)
        return menu
