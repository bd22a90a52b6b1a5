"""Check many archives: ask for files or a folder, and open a tab that audits them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from inspector.gui.app.tabs import Tabs
from inspector.gui.document.connections import Connections
from inspector.gui.kit import preferences
from inspector.gui.kit.files import ask_for_files, ask_for_folder
from inspector.gui.kit.locations import absolute
from inspector.gui.kit.settings import Settings
from inspector.sources.s3.connection import DEFAULT, Connection

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.tabs.audit_tab import AuditTab

MAX_TABS_AT_ONCE = 5
"""Locations that are opened at once without asking whether to list them instead."""


class Audits(QObject):
    """The actions that check many archives."""

    def __init__(self, parent: QWidget, tabs: Tabs, settings: Settings) -> None:
        super().__init__(parent)
        self._connections = Connections(settings)
        self._settings = settings
        self._parent = parent
        self._tabs = tabs

    def audit_files(self) -> None:
        """Ask for files and audit them."""
        ask_for_files(self._parent, "Audit Files", self.audit, self._tabs.shown_location())

    def audit_folder(self) -> None:
        """Ask for a folder and audit all archives in it, recursively."""
        ask_for_folder(self._parent, "Audit Folder", self.audit, self._tabs.shown_location())

    def audit(self, locations: Sequence[str], connection: Connection = DEFAULT) -> AuditTab:
        """Audit these files and folders in a new tab; from now on ``connection`` is used for their buckets."""
        if connection != DEFAULT:
            for location in locations:
                self._connections.remember(location, connection)
        tab = self.new_audit(locations)
        tab.start()
        return tab

    def takes(self, locations: Sequence[str]) -> bool:
        """Whether so many locations belong into one list rather than a tab each."""
        listed = self._settings.get(preferences.MANY_FILES) == preferences.ONE_LIST
        return listed and len(locations) > MAX_TABS_AT_ONCE

    def audit_opened(self, locations: Sequence[str]) -> None:
        """Audit many locations that were opened together, and offer a tab for each instead."""
        tab = self.audit(locations)
        tab.message.say(
            f"{len(locations):,} locations were opened together, so they are listed here. Open one by a double-click.",
            "A Tab for Each",
        )
        tab.message.acted.connect(lambda: self._tab_each(tab, locations))

    def _tab_each(self, tab: AuditTab, locations: Sequence[str]) -> None:
        """Replace a list by tabs, now and from now on."""
        self._settings.put(preferences.MANY_FILES, preferences.A_TAB_EACH)
        self._tabs.remove(self._tabs.indexOf(tab))
        self._tabs.openRequested.emit(locations)

    def new_audit(self, places: Sequence[str] = ()) -> AuditTab:
        """Open a tab that audits these places, or asks what to audit."""
        from inspector.gui.tabs.audit_tab import AuditTab  # the first paint does not wait for it

        tab = AuditTab(self._connections.known, [absolute(place) for place in places])
        tab.chosen.connect(lambda location: self._tabs.openRequested.emit([location]))
        self._tabs.append(tab)
        tab.setFocus()
        return tab
