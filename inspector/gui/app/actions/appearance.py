"""The appearance settings: theme, font of the bytes and its size, bytes per row, notation of offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from inspector.drawing.colouring import ColourBy
from inspector.gui.app.tabs import Tabs
from inspector.gui.kit import preferences, theme
from inspector.gui.kit.preferences import Flag, Settings

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab
    from inspector.gui.hex.hex_pane import HexPane


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

    def toggle(self, flag: Flag) -> None:
        """Switch what a setting shows on or off."""
        self._settings.put(flag, not self._settings.get(flag))

    def zoom_reset(self) -> None:
        """Reset the font size of the bytes."""
        self.zoom_by(-self._zoom)

    def zoom_by(self, steps: int) -> None:
        """Enlarge the font of the bytes by so many points."""
        self._zoom = max(preferences.ZOOM.least, min(self._zoom + steps, preferences.ZOOM.most))
        self._settings.put(preferences.ZOOM, self._zoom)
        for tab in self._tabs.all():
            tab.hex_pane.hex.setZoom(self._zoom)
