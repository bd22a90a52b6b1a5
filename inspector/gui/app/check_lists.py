"""Check or audit many archives: ask for files or a folder, and open a tab with the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from inspector.gui.app.tabs import Tabs
from inspector.gui.document.connections import Connections
from inspector.gui.document.session import OpenTab, Sides
from inspector.gui.kit.file_dialogs import ask_for_files, ask_for_folder
from inspector.gui.kit.settings import Settings
from inspector.sources.s3.connection import DEFAULT, Connection

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.tabs.audit_tab import AuditTab
    from inspector.gui.tabs.check_list import CheckTab


class CheckLists(QObject):
    """The actions that check many archives. ``open_location`` opens one of them."""

    def __init__(self, parent: QWidget, tabs: Tabs, open_location: Callable[[str], object], settings: Settings) -> None:
        super().__init__(parent)
        self._connections = Connections(settings)
        self._parent = parent
        self._tabs = tabs
        self._open_location = open_location

    def check_files(self) -> None:
        """Ask for files and check them."""
        ask_for_files(self._parent, "Check Files", self.check, self._tabs.shown_location())

    def check_folder(self) -> None:
        """Ask for a folder and check all archives in it, recursively."""
        ask_for_folder(self._parent, "Check Folder", self.check, self._tabs.shown_location())

    def check(self, locations: list[str], connection: Connection = DEFAULT) -> None:
        """Check these files and folders in a new tab; ``connection`` is used for S3."""
        self._new_check_tab(locations, connection).checks.start()

    def _new_check_tab(self, locations: list[str], connection: Connection) -> CheckTab:
        from inspector.gui.tabs.check_list import CheckTab  # the first paint does not wait for it

        tab = CheckTab(list(locations), connection)
        tab.chosen.connect(self._open_location)
        self._tabs.insert_side(tab)
        return tab

    def audit_folder(self) -> None:
        """Audit a folder or a prefix in a new tab."""
        self._new_audit_tab()

    @property
    def sides(self) -> Sides:
        """Functions that reopen a check or an audit of a stored session; the user can resume it."""
        return {"check": self._reopen_check_tab, "audit": lambda saved: self._new_audit_tab().restore(saved)}

    def _reopen_check_tab(self, saved: OpenTab) -> None:
        self._new_check_tab(list(saved.places), self._connections.known(saved.location)).show_locations()

    def _new_audit_tab(self) -> AuditTab:
        from inspector.gui.tabs.audit_tab import AuditTab  # the first paint does not wait for it

        tab = AuditTab(self._connections.known)
        tab.chosen.connect(self._open_location)
        self._tabs.insert_side(tab)
        tab.setFocus()
        return tab
