"""Check many archives: ask for files or a folder, and open a tab that audits them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from inspector.gui.app.tabs import Tabs
from inspector.gui.document.connections import Connections
from inspector.gui.document.session import OpenTab, Sides
from inspector.gui.kit import preferences
from inspector.gui.kit.actions import action
from inspector.gui.kit.files import ask_for_files, ask_for_folder
from inspector.gui.kit.locations import absolute
from inspector.gui.kit.settings import Settings
from inspector.sources.s3.connection import DEFAULT, Connection

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.tabs.audit_tab import AuditTab

MAX_TABS_AT_ONCE = 5
"""Locations that are opened at once without asking whether to list them instead."""


class Audits(QObject):
    """The actions that check many archives. ``open_tabs`` opens locations, a tab each."""

    def __init__(
        self, parent: QWidget, tabs: Tabs, open_tabs: Callable[[Sequence[str]], object], settings: Settings
    ) -> None:
        super().__init__(parent)
        self._connections = Connections(settings)
        self._settings = settings
        self._parent = parent
        self._tabs = tabs
        self._open_tabs = open_tabs

    @action("Audit &Files…", tip="Check several archives in one list")
    def audit_files(self) -> None:
        """Ask for files and audit them."""
        ask_for_files(self._parent, "Audit Files", self.audit, self._tabs.shown_location())

    @action("Audit Fol&der…", "Ctrl+Shift+K", tip="Check all archives in a folder")
    def audit_folder(self) -> None:
        """Ask for a folder and audit all archives in it, recursively."""
        ask_for_folder(self._parent, "Audit Folder", self.audit, self._tabs.shown_location())

    @action(
        "New A&udit…",
        "Ctrl+Shift+U",
        tip="Check every archive below a folder or prefix, and keep the results in a file",
    )
    def new_audit(self) -> None:
        """Open a tab that asks what to audit."""
        self._new_tab()

    def audit(self, locations: Sequence[str], connection: Connection = DEFAULT) -> AuditTab:
        """Audit these files and folders in a new tab; from now on ``connection`` is used for their buckets."""
        if connection != DEFAULT:
            for location in locations:
                self._connections.remember(location, connection)
        tab = self._new_tab(locations)
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
        self._open_tabs(locations)

    @property
    def sides(self) -> Sides:
        """The function that reopens an audit of a stored session; the user can resume it."""
        return {"audit": self._reopen}

    def _reopen(self, saved: OpenTab) -> None:
        self._new_tab().restore(saved)

    def _new_tab(self, places: Sequence[str] = ()) -> AuditTab:
        from inspector.gui.tabs.audit_tab import AuditTab  # the first paint does not wait for it

        tab = AuditTab(self._connections.known, [absolute(place) for place in places])
        tab.chosen.connect(lambda location: self._open_tabs([location]))
        self._tabs.insert_side(tab)
        tab.setFocus()
        return tab
