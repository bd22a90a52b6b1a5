"""The menus with variable content, context menus, and the settings of appearance that some of them change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from inspector.core.names import visible
from inspector.drawing.colouring import ColourBy
from inspector.gui.app.tabs import Tabs, named_state
from inspector.gui.hex.layout import CopyFormat
from inspector.gui.kit import preferences, theme
from inspector.gui.kit.building import context_menu
from inspector.gui.kit.icons import icon_of
from inspector.gui.kit.preferences import Setting, Settings
from inspector.gui.kit.text import escaped
from inspector.resources import samples

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab
    from inspector.gui.hex.hex_pane import HexPane


class Menus:
    """Adds these menus to the menus of fixed actions, and fills them when they open."""

    def __init__(
        self, parent: QWidget, tabs: Tabs, settings: Settings, menus: dict[str, QMenu], actions: dict[str, QAction]
    ) -> None:
        self._tabs = tabs
        self._settings = settings
        self._parent = parent
        self._actions = actions
        self.recent, self.panels, self.copying = menus["Recent"], menus["Panels"], menus["Copying"]
        self._to_panel = menus["Panel"]
        self.samples = QMenu("Open &Sample", parent)
        self._checks: list[tuple[QAction, Setting[Any], object]] = [
            (actions["show_arrows"], preferences.ARROWS, True),
            (actions["show_bands"], preferences.BANDS, True),
        ]
        self.rows = self._choices("&Bytes per Row", preferences.BYTES_PER_ROW)
        self.colours = self._choices("&Colour By", preferences.COLOUR_BY)
        self.themes = self._choices("&Theme", preferences.THEME)
        self.experiment = menus["Experiment"]
        menus["File"].insertMenu(actions["paste_locations"], self.samples)
        for menu in (self.rows, self.colours, self.themes):
            menus["View"].addMenu(menu)
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
        for action, setting, value in self._checks:
            action.setChecked(self._settings.get(setting) == value)

    def _choices(self, title: str, setting: Setting[str]) -> QMenu:
        """A menu of the values of a setting."""
        menu = QMenu(title, self._parent)
        group = QActionGroup(menu)
        for value, label in setting.labels.items():
            action = group.addAction(self._add(menu, label, partial(self._settings.put, setting, value)))
            action.setCheckable(True)
            self._checks.append((action, setting, value))
        return menu

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
                action.setIcon(icon_of(state))
        if self.recent.isEmpty():
            self.recent.addAction("No Recent Files").setEnabled(False)
        else:
            self.recent.addSeparator()
            self._add(self.recent, "Clear", self._settings.clear_recent)
        self.recent.addAction(self._actions["reopen_session"])

    def _fill_panels(self) -> None:
        self.panels.clear()
        tab = self._tabs.shown()
        if tab is None:
            self.panels.addAction("No Archive Open").setEnabled(False)
            return
        for dock in tab.docks.values():
            self.panels.addAction(dock.toggleViewAction())
        self.panels.addSeparator()
        self.panels.addMenu(self._to_panel)
        self._add(self.panels, "Reset Positions", tab.reset_arrangement)

    def show_members_menu(self, position: QPoint) -> None:
        """Open the context menu of the members at a screen position."""
        self._popup(("show_content open_inside extract copy copy_path",), position)

    def show_bytes_menu(self, position: QPoint) -> None:
        """Open the context menu of the bytes at a screen position."""
        menu = self._popup(("copy select_all", "edit_bytes", "follow go_to find_bytes"), position)
        menu.insertMenu(self._actions["select_all"], self.copying)
        menu.insertMenu(menu.actions()[5], self.experiment)

    def _popup(self, groups: Iterable[str], position: QPoint) -> QMenu:
        menu = context_menu(self._parent)
        for group in groups:
            menu.addActions([self._actions[name] for name in group.split()])
            menu.addSeparator()
        menu.popup(position)
        return menu


# ---- appearance ------------------------------------------------------------------------------------------------------


class Appearance(QObject):
    """Applies appearance settings to all tabs as soon as they change."""

    def __init__(self, settings: Settings, tabs: Tabs) -> None:
        super().__init__(tabs)
        self._settings = settings
        self._tabs = tabs
        self._zoom = settings.get(preferences.ZOOM)
        self._choose_font()
        settings.changed.connect(self._changed)

    def attach(self, tab: Tab) -> None:
        """Apply the settings to a new tab."""
        self._style(tab.hex_pane)
        tab.hex_pane.hex.setZoom(self._zoom)
        tab.hex_pane.hex.zoomRequested.connect(self.zoom_by)

    def _style(self, pane: HexPane) -> None:
        get = self._settings.get
        pane.hex.setBytesPerRow(int(get(preferences.BYTES_PER_ROW)))
        pane.hex.setOffsetBase(int(get(preferences.OFFSETS)))
        pane.hex.setArrowsShown(get(preferences.ARROWS))
        pane.set_colour_by(ColourBy(get(preferences.COLOUR_BY)))
        pane.show_bands(get(preferences.BANDS))

    def _changed(self, key: str) -> None:
        if key == preferences.THEME.key:
            self.show_theme()
        else:
            self._choose_font()
            for tab in self._tabs.all():
                self._style(tab.hex_pane)
                tab.hex_pane.restyle()
                tab.structure.tree.viewport().update()  # it shows the same colours

    def _choose_font(self) -> None:
        theme.set_fixed_font(self._settings.get(preferences.FONT), self._settings.get(preferences.FONT_SIZE))

    def show_theme(self, *_: object) -> None:
        """Apply the theme."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, self._settings.theme)

    def toggle(self, flag: Setting[bool]) -> None:
        """Switch what a setting shows on or off."""
        self._settings.put(flag, not self._settings.get(flag))

    def zoom_reset(self) -> None:
        """Reset the font size of the bytes."""
        self.zoom_by(-self._zoom)

    def zoom_by(self, steps: int) -> None:
        """Enlarge the font of the bytes by so many points."""
        sizes = preferences.ZOOM.values
        self._zoom = max(min(sizes), min(self._zoom + steps, max(sizes)))
        self._settings.put(preferences.ZOOM, self._zoom)
        for tab in self._tabs.all():
            tab.hex_pane.hex.setZoom(self._zoom)
