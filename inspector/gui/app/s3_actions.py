"""Locations on S3: asking for one, browsing, and what may help when one cannot be read."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialog, QWidget

from inspector.gui.app.check_lists import CheckLists
from inspector.gui.app.tabs import Tabs
from inspector.gui.document.connections import Connections
from inspector.gui.document.layer_reader import when_read
from inspector.gui.document.session import Sides
from inspector.gui.kit.settings import Settings
from inspector.gui.panels.status_line import StatusLine
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.connection import Connection

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab
    from inspector.gui.dialogs.open_location import OpenLocationDialog
    from inspector.gui.ipc.client import Client
    from inspector.gui.panels.requests import RequestTotals
    from inspector.operations.protocol.browse_views import ErrorAction
    from inspector.operations.protocol.requests import BrowseRequests


class Opens(Protocol):
    """What these actions ask of the window."""

    settings: Settings
    tabs: Tabs
    checks: CheckLists
    line: StatusLine

    def open_location(self, location: str) -> None:
        """Open one location."""

    def reload(self) -> None:
        """Read the location of the tab that is shown again, with what is pending."""

    def reopen(self) -> None:
        """Open the location of the tab that is shown anew."""


class S3Actions(QObject):
    """``owner`` is the window, which is ``parent`` too."""

    def __init__(self, owner: Opens, parent: QWidget) -> None:
        super().__init__(parent)
        self._owner = owner
        self._parent = parent
        self._clients: list[Client[BrowseRequests]] = []
        self._totals: RequestTotals | None = None
        self.connections = Connections(owner.settings)
        owner.tabs.currentChanged.connect(self._follow)

    def end(self) -> None:
        """End the work of dialogs that are still open."""
        for client in self._clients:
            client.close()

    def dress(self, tab: Tab) -> None:
        """Read a tab again where it asks for that, and do what may help it."""
        tab.banner.reopen.connect(self._owner.reload)
        tab.remedies.wanted.connect(partial(self._help, tab))

    def _follow(self) -> None:
        """Tell at the foot of the window what the tab that is shown has cost."""
        tab = self._owner.tabs.shown()
        if self._totals is None:
            if tab is None or not tab.requests.is_remote:
                return
            from inspector.gui.panels.requests import RequestTotals  # most people have no use for it

            self._totals = RequestTotals()
            self._owner.line.addPermanentWidget(self._totals)
        self._totals.follow(tab.requests if tab is not None else None)

    # ---- opening -----------------------------------------------------------------------------------------------

    def ask_location(self) -> None:
        """Ask for a location and open it."""
        self._ask().open()

    def _ask(self, location: str = "s3://") -> OpenLocationDialog:
        from inspector.gui.dialogs.open_location import OpenLocationDialog  # the first paint does not wait for it

        dialog = OpenLocationDialog(self._parent, self.connections, location)
        dialog.chosen.connect(self.open)
        dialog.browseRequested.connect(self._browse)
        self._keep(dialog, dialog.client)
        return dialog

    def _keep(self, dialog: QDialog, client: Client[BrowseRequests]) -> None:
        self._clients.append(client)
        dialog.finished.connect(lambda: self._clients.remove(client))

    def open(self, location: str, connection: Connection) -> Tab | None:
        """Open a location with a connection, anew where it is open with another one; gives its tab."""
        if is_s3(location):
            self.connections.remember(location, connection)
        self._owner.open_location(location)
        tab = self._owner.tabs.shown()
        if tab is not None and is_s3(tab.document.location) and tab.document.connection != connection:
            self._owner.reopen()
        return self._owner.tabs.shown()

    # ---- browsing ----------------------------------------------------------------------------------------------

    def browse(self) -> None:
        """List what lies where the tab that is shown is, or ask where."""
        tab = self._owner.tabs.shown()
        location = tab.document.location if tab is not None else ""
        if tab is not None and is_s3(location):
            self._browse(location.rpartition("/")[0] + "/", tab.document.connection)
        else:
            self._browse("", self.connections.latest())

    def _browse(self, location: str, connection: Connection) -> None:
        from inspector.gui.tabs.browser_tab import BrowserTab

        if is_s3(location):
            self.connections.remember(location, connection)
        tab = BrowserTab(self.connections, location, connection)
        tab.openRequested.connect(self.open)
        tab.checkRequested.connect(self._owner.checks.check)
        tab.extractRequested.connect(self._extract)
        self._owner.tabs.insert_side(tab)

    @property
    def sides(self) -> Sides:
        """What lists what was listed in an earlier session."""
        return {"browser": lambda kept: self._browse(kept.location, self.connections.known(kept.location))}

    def _extract(self, location: str, connection: Connection) -> None:
        tab = self.open(location, connection)
        if tab is not None:
            when_read(tab.document, tab.extracting.extract)

    # ---- what may help -----------------------------------------------------------------------------------------

    def _help(self, tab: Tab, remedy: ErrorAction) -> None:
        from inspector.operations.protocol.browse_views import ErrorAction

        location, connection = tab.document.location, tab.document.connection
        if remedy is ErrorAction.RELOAD:
            self._owner.reload()
        elif remedy is ErrorAction.BROWSE:
            self._browse(location, connection)
        elif remedy is ErrorAction.CONNECTION:
            dialog = self._ask(location)
            dialog.show_connection(connection)
            dialog.open()
        else:
            if remedy is ErrorAction.UNSIGNED:
                connection = replace(connection, anonymous=True, profile="")
            elif remedy is ErrorAction.REGION:
                connection = replace(connection, region=tab.remedies.region)
            self.connections.remember(location, connection)
            self._owner.reopen()
