"""The actions for S3: open a location, browse, and retry after an error."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from inspector.gui.app.actions.archives import Audits, WindowActions
from inspector.gui.app.tabs import Tabs
from inspector.gui.kit.preferences import Settings
from inspector.gui.panels.status_line import StatusLine
from inspector.sources.s3.address import SCHEME, is_s3
from inspector.sources.s3.connection import Connection
from inspector.sources.web.address import is_remote

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab
    from inspector.gui.dialogs.open_location import OpenLocationDialog
    from inspector.gui.panels.requests import RequestTotals
    from inspector.operations.protocol.browse_views import ErrorAction


class S3Actions(WindowActions):
    """The actions, and the totals of requests in the status line."""

    def __init__(
        self, parent: QWidget, tabs: Tabs, settings: Settings, audits: Audits, status_line: StatusLine
    ) -> None:
        super().__init__(parent, tabs, settings)
        self._audits = audits
        self._status_line = status_line
        self._totals: RequestTotals | None = None
        self._tabs.currentChanged.connect(self._show_totals)

    def attach(self, tab: Tab) -> None:
        """Connect the reload and error actions of a new tab."""
        tab.banner.reopen.connect(partial(self._tabs.reloadRequested.emit, False))
        tab.error_actions.chosen.connect(partial(self._run_error_action, tab))

    def _show_totals(self) -> None:
        """Show the request totals of the tab shown in the status line."""
        tab = self._tabs.shown()
        if self._totals is None:
            if tab is None or not tab.request_watch.is_remote:
                return
            from inspector.gui.panels.requests import RequestTotals  # only for archives on S3

            self._totals = RequestTotals()
            self._status_line.addPermanentWidget(self._totals)
        self._totals.follow(tab.request_watch if tab is not None else None)

    # ---- opening -----------------------------------------------------------------------------------------------

    def ask_location(self) -> None:
        """Ask for a location and open it; that of the archive shown is selected if it is remote."""
        tab = self._tabs.shown()
        location = tab.document.location if tab is not None else ""
        self._ask(location if is_remote(location) else SCHEME).open()

    def _ask(self, location: str = SCHEME) -> OpenLocationDialog:
        from inspector.gui.dialogs.open_location import OpenLocationDialog  # the first paint does not wait for it

        dialog = OpenLocationDialog(self._parent, self.connections, location)
        dialog.chosen.connect(self.open)
        dialog.browseRequested.connect(self._browse)
        return dialog

    def open(self, location: str, connection: Connection) -> Tab | None:
        """Open a location with a connection; reopen it if it is open with another one. Return its tab."""
        if is_s3(location):
            self.connections.remember(location, connection)
        self._tabs.openRequested.emit([location])
        tab = self._tabs.shown()
        if tab is not None and is_s3(tab.document.location) and tab.document.connection != connection:
            self._tabs.reloadRequested.emit(True)
        return self._tabs.shown()

    # ---- browsing ----------------------------------------------------------------------------------------------

    def browse(self) -> None:
        """Browse the folder of the archive shown, or ask for a location."""
        tab = self._tabs.shown()
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
        tab.checkRequested.connect(self._audits.audit)
        tab.extractRequested.connect(self._extract)
        self._tabs.append(tab)

    def _extract(self, location: str, connection: Connection) -> None:
        tab = self.open(location, connection)
        if tab is not None:
            tab.document.when_ready(tab.extract_flow.extract)

    # ---- error actions -----------------------------------------------------------------------------------------

    def _run_error_action(self, tab: Tab, action: ErrorAction) -> None:
        from inspector.operations.protocol.browse_views import ErrorAction

        location, connection = tab.document.location, tab.document.connection
        if action is ErrorAction.RELOAD:
            self._tabs.reloadRequested.emit(False)
        elif action is ErrorAction.BROWSE:
            self._browse(location, connection)
        elif action is ErrorAction.CONNECTION:
            dialog = self._ask(location)
            dialog.show_connection(connection)
            dialog.open()
        else:
            if action is ErrorAction.UNSIGNED:
                connection = connection._replace(anonymous=True, profile="")
            elif action is ErrorAction.REGION:
                connection = connection._replace(region=tab.error_actions.region)
            self.connections.remember(location, connection)
            self._tabs.reloadRequested.emit(True)
