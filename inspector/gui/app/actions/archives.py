"""The actions that open archives on S3, audits and new archives, and those that add to an archive."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QProcess
from PySide6.QtWidgets import QWidget

from inspector.core.limits import FORMAT_FILES, own_command
from inspector.gui.app.tabs import Tabs
from inspector.gui.document.connections import Connections
from inspector.gui.kit.building import Answer, ask
from inspector.gui.kit.files import ask_for_file
from inspector.gui.kit.locations import absolute
from inspector.gui.kit.preferences import Settings
from inspector.gui.panels.status_line import StatusLine
from inspector.sources.s3.address import SCHEME, is_s3
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.web.address import is_remote

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab
    from inspector.gui.dialogs.open_location import OpenLocationDialog
    from inspector.gui.panels.requests import RequestTotals
    from inspector.gui.tabs.audit_tab import AuditTab
    from inspector.operations.protocol.browse_views import ErrorAction
    from inspector.operations.protocol.create_views import Draft
    from inspector.operations.protocol.edit_views import WriteResult


APPEND_CONDITION = "Files can be added only to a local RCA archive that has been read and has no pending changes."


class WindowActions(QObject):
    """Actions of a window."""

    def __init__(self, parent: QWidget, tabs: Tabs, settings: Settings) -> None:
        super().__init__(parent)
        self._parent = parent
        self._tabs = tabs
        self._settings = settings
        self.connections = Connections(settings)


class Archives(WindowActions):
    """The actions that open, audit and create archives, add to one, and browse S3; and the totals of its requests."""

    def __init__(self, parent: QWidget, tabs: Tabs, settings: Settings, status_line: StatusLine) -> None:
        super().__init__(parent, tabs, settings)
        self._status_line = status_line
        self._totals: RequestTotals | None = None
        self._failed: dict[str, list[str]] = {}
        """The inputs that could not be appended, by the archive's location; the next dialog offers them again."""
        tabs.currentChanged.connect(self._show_totals)

    def attach(self, tab: Tab) -> None:
        """Connect the reload and error actions of a new tab."""
        tab.banner.reopen.connect(partial(self._tabs.reloadRequested.emit, False))
        tab.error_actions.chosen.connect(partial(self._run_error_action, tab))

    # ---- a format of one's own ---------------------------------------------------------------------------------

    def try_format_file(self) -> None:
        """Ask for a file that describes a format, and open archives with it from now on."""
        near = self._tabs.shown_location()
        ask_for_file(self._parent, "Try a Format File", self.try_format, near, ("Python files (*.py)",))

    def try_format(self, path: str) -> None:
        """Know the format of a file in this window from now on, if another process can load it."""
        process = QProcess(self)
        process.finished.connect(lambda status, _how: self._tried(process, path, status))
        program, *own = own_command()
        process.start(program, [*own, "formats", "--format-file", path])

    def _tried(self, process: QProcess, path: str, status: int) -> None:
        said = bytes(process.readAllStandardError().data()).decode("utf-8", "replace")
        process.deleteLater()
        if status:
            ask(self._parent, "Try a Format File", said.strip().removeprefix("archive-inspector: "), warns=True)
            return
        os.environ[FORMAT_FILES] = os.pathsep.join(filter(None, (os.environ.get(FORMAT_FILES, ""), path)))
        self._tabs.reloadRequested.emit(True)

    # ---- audits and new archives -------------------------------------------------------------------------------

    def audit(self, locations: Sequence[str], connection: Connection = DEFAULT) -> AuditTab:
        """Audit these files and folders in a new tab; from now on ``connection`` is used for their buckets."""
        for location in locations if connection != DEFAULT else ():
            self.connections.remember(location, connection)
        tab = self.new_audit(locations)
        tab.start()
        return tab

    def new_audit(self, places: Sequence[str] = ()) -> AuditTab:
        """Open a tab that audits these places, or asks what to audit."""
        from inspector.gui.tabs.audit_tab import AuditTab  # the first paint does not wait for it

        tab = AuditTab(self.connections.known, [absolute(place) for place in places])
        tab.chosen.connect(self._open_chosen)
        self._tabs.append(tab)
        tab.setFocus()
        return tab

    def new_archive(self) -> None:
        """Create an archive in a new tab."""
        from inspector.gui.tabs.new_archive import NewArchiveTab  # the first paint does not wait for it

        tab = NewArchiveTab(self.connections)
        tab.chosen.connect(self._open_chosen)
        self._tabs.append(tab)

    def _open_chosen(self, location: str) -> None:
        self._tabs.openRequested.emit([location])

    # ---- appending ---------------------------------------------------------------------------------------------

    def append(self) -> None:
        """Ask what to add to the RCA archive shown."""
        tab = self._tabs.shown()
        if tab is not None and _can_append(tab):
            self._ask_append(tab, [])
        else:
            self._tabs.said.emit(APPEND_CONDITION)

    def take_dropped(self, locations: list[str]) -> None:
        """Open dropped locations; if an RCA archive is shown, ask whether to add them to it instead."""
        tab = self._tabs.shown()
        if tab is None or not _can_append(tab):
            self._tabs.openRequested.emit(locations)
            return
        dropped, it = (
            ("the dropped item", "it") if len(locations) == 1 else (f"the {len(locations):,} dropped items", "them")
        )
        ask(
            self._parent,
            "Add or Open?",
            f"Open {dropped}, or add {it} to {tab.document.name}?",
            Answer("Open", lambda: self._tabs.openRequested.emit(locations), is_default=True),
            Answer("Add…", lambda: self._ask_append(tab, locations)),
            Answer("Cancel"),
        )

    def _ask_append(self, tab: Tab, locations: list[str]) -> None:
        from inspector.gui.dialogs.inputs import AppendDialog

        location = tab.document.location
        dialog = AppendDialog(self._parent, tab.document.name, location, partial(self._append, tab))
        dialog.inputs.add([*self._failed.get(location, []), *locations])
        dialog.open()

    def _append(self, tab: Tab, draft: Draft) -> None:
        from inspector.operations.protocol.requests import ArchiveRequests

        def done(result: WriteResult) -> None:
            self._failed.pop(tab.document.location, None)
            tab.editing.settle(result)

        self._failed[tab.document.location] = list(draft.locations)
        tab.document.start(ArchiveRequests.append, draft.locations, draft.level, draft.convention).then(done)

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
        tab.checkRequested.connect(self.audit)
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


def _can_append(tab: Tab) -> bool:
    """Whether files can be added to the archive of a tab."""
    from inspector.operations.protocol.views import Stage  # the first paint does not wait for it

    status = tab.document.status
    is_idle = status.stage is Stage.READY and tab.editing.pending is None and not tab.document.in_experiment
    return status.appendable and is_idle and "://" not in tab.document.location
