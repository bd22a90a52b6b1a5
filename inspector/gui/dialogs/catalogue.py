"""The dialog that searches a catalogue for the archive that contains a member."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QWidget

from inspector.core.names import visible
from inspector.core.numbers import count, grouped
from inspector.gui.ipc.client import Job, create_client
from inspector.gui.kit.building import Dialog, dressed
from inspector.gui.kit.dropping import PathField, leave_drops
from inspector.gui.kit.files import ALL_FILES, ask_for_file
from inspector.gui.kit.listing import ListView, Rows
from inspector.gui.kit.locations import absolute
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.widgets import Emptiable, label_of, push_button
from inspector.operations.protocol.create_views import FoundPlaces, Place
from inspector.operations.protocol.requests import CreateRequests

SIZE = (780, 460)
COLUMNS = (
    Column("Name", lambda row: visible(row.path), 260),
    Column("Archive", lambda row: visible(row.archive), 240),
    Column("Offset", lambda row: grouped(row.offset), 120, is_number=True),
    Column("Length", lambda row: grouped(row.length), 110, is_number=True),
)
FILTERS = ("Catalogues (*.sqlite *.sqlite3 *.db)", ALL_FILES)


class CatalogueDialog(Dialog):
    """Searches a catalogue; the window stays usable.

    Signals:
        chosen(object): show this Place.
        searched(str): the catalogue at this path was searched.
    """

    chosen = Signal(object)
    searched = Signal(str)

    def __init__(self, parent: QWidget, path: str) -> None:
        super().__init__(parent, "Search Catalogue")
        self.client = create_client(self)
        self.client.lost.connect(self._show_error)
        self._job: Job[FoundPlaces] | None = None
        self.path = dressed(PathField(path), "Catalogue", placeholderText="catalogue.sqlite")
        self.name = dressed(QLineEdit(placeholderText="a full name, or a prefix and *"), "Name")
        self.browse = push_button(
            "&Browse…", "", lambda: ask_for_file(self, "Catalogue", self.path.setText, filters=FILTERS)
        )
        self.search = push_button("&Search", "", self.start_search)
        self.search.setDefault(True)
        self.model = Rows(COLUMNS, self)
        self.table = ListView(self.model, "Members found")
        self.stack = Emptiable(self.table)
        self.stack.show_sentence(
            "A catalogue records which archive holds each member. Create one with New Archive, for CAF."
        )
        self.sentence = QLabel(textFormat=Qt.TextFormat.PlainText)
        self.open_button = self.add_button("&Open")
        grid = QGridLayout()
        fields = (("&Catalogue", self.path, self.browse), ("&Name", self.name, self.search))
        for at, (text, edit, button) in enumerate(fields):
            for column, widget in enumerate((label_of(text, edit), edit, button)):
                grid.addWidget(widget, at, column)
        self.lay_out(grid, (self.stack, 1), self.sentence)
        self.table.activated.connect(self._open)
        self.table.selectionModel().selectionChanged.connect(self._enable)
        self.open_button.clicked.connect(self._open)
        self.finished.connect(self.client.close)
        self._enable()
        leave_drops(self)
        self.resize(*SIZE)
        (self.name if path else self.path).setFocus()

    @property
    def settled(self) -> bool:
        """Whether no search is running."""
        return self._job is None

    def start_search(self) -> None:
        """Search the catalogue for the name."""
        if not self.path.text().strip() or not self.name.text():
            self.stack.show_sentence("Choose a catalogue and type a name.")
            return
        if self._job is not None:
            self._job.cancel()
        self.stack.show_sentence("Searching…")
        self.sentence.setText("")
        path = absolute(self.path.text().strip())
        job = self.client.start(CreateRequests.find, path, self.name.text())
        self._job = job.then(self._show_found, self._show_error)
        job.finished.connect(self._job_finished)
        self.searched.emit(path)

    def _job_finished(self, job: Job[FoundPlaces]) -> None:
        if self._job is job:
            self._job = None

    def _show_found(self, found: FoundPlaces) -> None:
        self.model.show(found.places)
        if not found.places:
            self.stack.show_sentence(f"No member is named {visible(self.name.text())}.")
            return
        self.stack.show_view(self.table)
        more = " There are more; type more of the name." if found.more else ""
        self.sentence.setText(f"{count(len(found.places), 'member')}.{more}")
        self.table.selectRow(0)
        self.table.setFocus()

    def _show_error(self, sentence: str) -> None:
        self.model.show(())
        self.stack.show_sentence(sentence)

    def _enable(self, *_: object) -> None:
        self.open_button.setEnabled(self.table.selectionModel().hasSelection())

    def _open(self, *_: object) -> None:
        place: Place | None = self.table.row()
        if place is not None:
            self.chosen.emit(place)
