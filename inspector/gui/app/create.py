"""New archives, adding to one, and searching a catalogue: what the actions of the window call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDialog, QMessageBox, QWidget

from inspector.gui.app.tabs import Tabs
from inspector.gui.document.connections import Connections
from inspector.gui.document.layer_reader import when_read
from inspector.gui.document.session import Sides
from inspector.gui.kit.settings import Settings

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab
    from inspector.gui.ipc.client import Client
    from inspector.gui.tabs.new_archive import NewArchiveTab
    from inspector.operations.protocol.create_views import Draft, Place
    from inspector.operations.protocol.edit_views import WriteResult
    from inspector.operations.protocol.requests import CreateRequests

ONLY = "Only a local RCA archive that has been read, with no pending changes, can be appended to."
CATALOGUE = "catalogue"
"""The setting that is the catalogue searched last."""


class Opens(Protocol):
    """What these actions ask of the window."""

    settings: Settings
    tabs: Tabs

    def open_location(self, location: str) -> None:
        """Open one location."""

    def open_locations(self, locations: list[str]) -> None:
        """Open several."""

    def say(self, sentence: str) -> None:
        """Say something that is not about one document."""


class CreateActions(QObject):
    """``owner`` is the window, which is ``parent`` too."""

    def __init__(self, owner: Opens, parent: QWidget) -> None:
        super().__init__(parent)
        self._owner = owner
        self._parent = parent
        self._clients: list[Client[CreateRequests]] = []
        self._failed: dict[str, list[str]] = {}
        """What was to be added to an archive and was not yet, by its location: nobody has to collect it again."""

    def end(self) -> None:
        """End the work of dialogs that are still open."""
        for client in self._clients:
            client.close()

    def new_archive(self) -> None:
        """Make an archive in a tab of its own."""
        self._new_archive()

    @property
    def sides(self) -> Sides:
        """What goes on with a draft of an earlier session."""
        return {"draft": lambda kept: self._new_archive().restore(kept)}

    def _new_archive(self) -> NewArchiveTab:
        from inspector.gui.tabs.new_archive import NewArchiveTab  # the first paint does not wait for it

        tab = NewArchiveTab(Connections(self._owner.settings))
        tab.chosen.connect(self._owner.open_location)
        self._owner.tabs.insert_side(tab)
        return tab

    # ---- adding ------------------------------------------------------------------------------------------------

    def append(self) -> None:
        """Ask what is to be added to the RCA archive that is shown."""
        tab = self._owner.tabs.shown()
        if tab is None or not _takes_more(tab):
            self._owner.say(ONLY)
            return
        self._ask_more(tab, [])

    def take_dropped(self, locations: list[str]) -> None:
        """Open what was dropped; on an RCA archive, ask whether it is to be added to that instead."""
        tab = self._owner.tabs.shown()
        if tab is None or not _takes_more(tab):
            self._owner.open_locations(locations)
            return
        number, name = len(locations), tab.document.name
        text = f"Open the dropped item, or add it to {name}?"
        if number > 1:
            text = "Open the {number} dropped items, or add them to {name}?".format(number=f"{number:,}", name=name)
        box = QMessageBox(self._parent)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("Add or Open?")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(text)
        button = box.addButton("Open", QMessageBox.ButtonRole.AcceptRole)
        button.clicked.connect(lambda: self._owner.open_locations(locations))
        box.setDefaultButton(button)
        add = box.addButton("Add…", QMessageBox.ButtonRole.ActionRole)
        add.clicked.connect(lambda: self._ask_more(tab, locations))
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.open()

    def _ask_more(self, tab: Tab, locations: list[str]) -> None:
        from inspector.gui.dialogs.append import AppendDialog

        dialog = AppendDialog(
            self._parent, tab.document.name, tab.document.location, lambda draft: self._grow(tab, draft)
        )
        self._keep(dialog, dialog.client)
        dialog.inputs.add([*self._failed.get(tab.document.location, []), *locations])
        dialog.open()

    def _grow(self, tab: Tab, draft: Draft) -> None:
        from inspector.operations.protocol.requests import ArchiveRequests

        def done(result: WriteResult) -> None:
            self._failed.pop(tab.document.location, None)
            tab.editing.settle(result)

        self._failed[tab.document.location] = list(draft.locations)
        tab.document.start(ArchiveRequests.append, draft.locations, draft.level, draft.convention).then(done)

    def _keep(self, dialog: QDialog, client: Client[CreateRequests]) -> None:
        self._clients.append(client)
        dialog.finished.connect(lambda: self._clients.remove(client))

    # ---- catalogues --------------------------------------------------------------------------------------------

    def search_catalogue(self) -> None:
        """Search a catalogue for members."""
        from inspector.gui.dialogs.catalogue import CatalogueDialog

        dialog = CatalogueDialog(self._parent, self._owner.settings.text(CATALOGUE))
        dialog.searched.connect(lambda path: self._owner.settings.set_text(CATALOGUE, path))
        dialog.chosen.connect(self._show)
        self._keep(dialog, dialog.client)
        dialog.show()

    def _show(self, place: Place) -> None:
        """Open an archive at a member of it."""
        self._owner.open_location(place.archive)
        tab = self._owner.tabs.shown()
        if tab is not None:
            when_read(tab.document, lambda: tab.document.go_to(0, place.offset, place.offset + place.length))


def _takes_more(tab: Tab) -> bool:
    """Whether the archive of a tab can be added to."""
    from inspector.operations.protocol.views import Stage  # the first paint does not wait for it

    status = tab.document.status
    is_here = "://" not in tab.document.location and not status.collection
    is_quiet = status.stage is Stage.READY and tab.editing.pending is None
    return status.format == "rca" and is_quiet and is_here
