"""The actions that open tabs without a document: audits, new archives; and those that add to an archive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from inspector.gui.app.tabs import Tabs
from inspector.gui.document.connections import Connections
from inspector.gui.kit.building import Answer, ask
from inspector.gui.kit.files import ask_for_files, ask_for_folder
from inspector.gui.kit.locations import absolute
from inspector.gui.kit.preferences import Settings
from inspector.sources.s3.connection import DEFAULT, Connection

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab
    from inspector.gui.tabs.audit_tab import AuditTab
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


class Audits(WindowActions):
    """The actions that check many archives."""

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
                self.connections.remember(location, connection)
        tab = self.new_audit(locations)
        tab.start()
        return tab

    def new_audit(self, places: Sequence[str] = ()) -> AuditTab:
        """Open a tab that audits these places, or asks what to audit."""
        from inspector.gui.tabs.audit_tab import AuditTab  # the first paint does not wait for it

        tab = AuditTab(self.connections.known, [absolute(place) for place in places])
        tab.chosen.connect(lambda location: self._tabs.openRequested.emit([location]))
        self._tabs.append(tab)
        tab.setFocus()
        return tab


class CreateActions(WindowActions):
    """The actions that create archives and append to one."""

    def __init__(self, parent: QWidget, tabs: Tabs, settings: Settings) -> None:
        super().__init__(parent, tabs, settings)
        self._failed: dict[str, list[str]] = {}
        """The inputs that could not be appended, by the archive's location; the next dialog offers them again."""

    def new_archive(self) -> None:
        """Create an archive in a new tab."""
        from inspector.gui.tabs.new_archive import NewArchiveTab  # the first paint does not wait for it

        tab = NewArchiveTab(self.connections)
        tab.chosen.connect(lambda location: self._tabs.openRequested.emit([location]))
        self._tabs.append(tab)

    # ---- appending ---------------------------------------------------------------------------------------------

    def append(self) -> None:
        """Ask what to add to the RCA archive shown."""
        tab = self._tabs.shown()
        if tab is None or not _can_append(tab):
            self._tabs.said.emit(APPEND_CONDITION)
            return
        self._ask_append(tab, [])

    def take_dropped(self, locations: list[str]) -> None:
        """Open dropped locations; if an RCA archive is shown, ask whether to add them to it instead."""
        tab = self._tabs.shown()
        if tab is None or not _can_append(tab):
            self._tabs.openRequested.emit(locations)
            return
        dropped = "the dropped item" if len(locations) == 1 else f"the {len(locations):,} dropped items"
        it = "it" if len(locations) == 1 else "them"
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

        dialog = AppendDialog(
            self._parent, tab.document.name, tab.document.location, lambda draft: self._append(tab, draft)
        )
        dialog.inputs.add([*self._failed.get(tab.document.location, []), *locations])
        dialog.open()

    def _append(self, tab: Tab, draft: Draft) -> None:
        from inspector.operations.protocol.requests import ArchiveRequests

        def done(result: WriteResult) -> None:
            self._failed.pop(tab.document.location, None)
            tab.editing.settle(result)

        self._failed[tab.document.location] = list(draft.locations)
        tab.document.start(ArchiveRequests.append, draft.locations, draft.level, draft.convention).then(done)


def _can_append(tab: Tab) -> bool:
    """Whether files can be added to the archive of a tab."""
    from inspector.operations.protocol.views import Stage  # the first paint does not wait for it

    status = tab.document.status
    is_local = "://" not in tab.document.location
    is_idle = status.stage is Stage.READY and tab.editing.pending is None and not tab.document.in_experiment
    return status.appendable and is_idle and is_local
