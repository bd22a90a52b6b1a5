"""Asking for files or a folder to check, and showing what each came to; audits, which are that for very many."""

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
    """What the actions that check many archives call. ``open_location`` opens one of them."""

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
        """Ask for a folder and check all in it and beneath."""
        ask_for_folder(self._parent, "Check Folder", self.check, self._tabs.shown_location())

    def check(self, locations: list[str], connection: Connection = DEFAULT) -> None:
        """Check these files and folders in a tab of their own; ``connection`` says how S3 is reached."""
        self._list(locations, connection).checks.start()

    def _list(self, locations: list[str], connection: Connection) -> CheckTab:
        from inspector.gui.tabs.check_list import CheckTab  # the first paint does not wait for it

        tab = CheckTab(list(locations), connection)
        tab.chosen.connect(self._open_location)
        self._tabs.insert_side(tab)
        return tab

    def audit_folder(self) -> None:
        """Audit a folder or a prefix in a tab of its own."""
        self._audit()

    @property
    def sides(self) -> Sides:
        """What shows a check or an audit of an earlier session, which goes on when the user wants that."""
        return {"check": self._list_again, "audit": lambda kept: self._audit().restore(kept)}

    def _list_again(self, kept: OpenTab) -> None:
        self._list(list(kept.places), self._connections.known(kept.location)).show_locations()

    def _audit(self) -> AuditTab:
        from inspector.gui.tabs.audit_tab import AuditTab  # the first paint does not wait for it

        tab = AuditTab(self._connections.known)
        tab.chosen.connect(self._open_location)
        self._tabs.insert_side(tab)
        tab.setFocus()
        return tab
