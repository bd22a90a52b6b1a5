"""How everything looks: the theme, the size of the letters of bytes, and how many bytes a row has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication

from inspector.gui import actions, theme
from inspector.gui.settings import Settings
from inspector.gui.tabs import Tabs
from inspector.gui.theme import Theme

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.tab import Tab

ZOOM = (-6, 24)
"""The fewest and the most steps of zooming."""


class Looks:
    """What the menu View sets: the same for all tabs, and remembered."""

    def __init__(self, settings: Settings, tabs: Tabs, named: dict[str, QAction]) -> None:
        self._settings = settings
        self._tabs = tabs
        self._actions = named
        self._zoom = settings.number("zoom", 0)

    def dress(self, tab: Tab) -> None:
        """Make a new tab look like the others."""
        tab.hex_pane.set_bytes_per_row(self._settings.number("bytes_per_row", 0))
        tab.hex_pane.set_zoom(self._zoom)
        tab.hex_pane.hex.zoomRequested.connect(self._zoom_by)

    def set_bytes_per_row(self, count: int) -> None:
        """Show so many bytes a row, 0 for as many as fit."""
        self._settings.set_number("bytes_per_row", count)
        for tab in self._tabs.all():
            tab.hex_pane.set_bytes_per_row(count)

    def set_theme(self, wanted: Theme) -> None:
        """Look light, dark or as the system."""
        self._settings.theme = wanted
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply(app, wanted)
        actions.refresh_icons(self._actions)

    def zoom_in(self) -> None:
        """Make the letters of the bytes larger."""
        self._zoom_by(1)

    def zoom_out(self) -> None:
        """Make the letters of the bytes smaller."""
        self._zoom_by(-1)

    def zoom_reset(self) -> None:
        """Make the letters of the bytes as large as usual."""
        self._zoom_by(-self._zoom)

    def _zoom_by(self, steps: int) -> None:
        self._zoom = max(ZOOM[0], min(self._zoom + steps, ZOOM[1]))
        self._settings.set_number("zoom", self._zoom)
        for tab in self._tabs.all():
            tab.hex_pane.set_zoom(self._zoom)
