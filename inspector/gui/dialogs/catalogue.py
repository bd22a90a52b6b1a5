"""The dialog that searches a catalogue for the archive that contains a member."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from inspector.core.names import visible
from inspector.core.numbers import count, grouped
from inspector.gui.ipc.client import Job, create_client
from inspector.gui.kit.dropping import PathField, leave_drops
from inspector.gui.kit.locations import absolute
from inspector.gui.kit.style import EDGE, on_grid
from inspector.gui.kit.table_models import FixedRow, FixedTable
from inspector.gui.kit.widgets import Emptiable, table_view
from inspector.operations.protocol.create_views import FoundPlaces, Place
from inspector.operations.protocol.requests import CreateRequests

NAME, ARCHIVE, OFFSET, LENGTH = range(4)
SIZE = (780, 460)
TITLES = ("Name", "Archive", "Offset", "Length")


class CatalogueDialog(QDialog):
    """Searches a catalogue; the window stays usable.

    Signals:
        chosen(object): show this Place.
        searched(str): the catalogue at this path was searched.
    """

    chosen = Signal(object)
    searched = Signal(str)

    def __init__(self, parent: QWidget, path: str) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Search Catalogue")
        self.client = create_client(self)
        self.client.lost.connect(self._show_error)
        self._job: Job[FoundPlaces] | None = None
        self._places: tuple[Place, ...] = ()
        self.path = PathField(path)
        self.path.setAccessibleName("Catalogue")
        self.path.setPlaceholderText("catalogue.sqlite")
        self.browse = QPushButton("&Browse…")
        self.name = QLineEdit()
        self.name.setAccessibleName("Name")
        self.name.setPlaceholderText("a full name, or a prefix and *")
        self.search = QPushButton("&Search")
        self.search.setDefault(True)
        self.browse.setAutoDefault(False)
        self.model = FixedTable(TITLES, (OFFSET, LENGTH), self)
        self.table = table_view(self.model, {NAME: 260, ARCHIVE: 240, OFFSET: 120, LENGTH: 110}, "Members found")
        self.stack = Emptiable(self.table)
        self.stack.show_sentence(
            "A catalogue records which archive holds each member. Create one with New Archive, for CAF."
        )
        self.sentence = QLabel()
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.open_button = self.buttons.addButton("&Open", QDialogButtonBox.ButtonRole.ActionRole)
        self._lay_out()
        self._connect()
        leave_drops(self)
        self.resize(*SIZE)
        (self.name if path else self.path).setFocus()

    def _lay_out(self) -> None:
        grid = QGridLayout()
        for row, (text, edit, button) in enumerate(
            (("&Catalogue", self.path, self.browse), ("&Name", self.name, self.search))
        ):
            label = QLabel(text)
            label.setBuddy(edit)
            for column, widget in enumerate((label, edit, button)):
                grid.addWidget(widget, row, column)
        layout = on_grid(QVBoxLayout(self), EDGE)
        layout.addLayout(grid)
        layout.addWidget(self.stack, 1)
        layout.addWidget(self.sentence)
        layout.addWidget(self.buttons)

    def _connect(self) -> None:
        self.browse.clicked.connect(self._ask_path)
        self.search.clicked.connect(self.start_search)
        self.table.activated.connect(self._open)
        self.table.selectionModel().selectionChanged.connect(self._enable)
        self.open_button.clicked.connect(self._open)
        self.buttons.rejected.connect(self.reject)
        self.finished.connect(self.client.close)
        self._enable()

    @property
    def settled(self) -> bool:
        """Whether no search is running."""
        return self._job is None

    def _ask_path(self) -> None:
        dialog = QFileDialog(self, "Catalogue")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(("Catalogues (*.sqlite *.sqlite3 *.db)", "All files (*)"))
        dialog.fileSelected.connect(self.path.setText)
        dialog.open()

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
        self._places = found.places
        self.model.show([_row(place) for place in found.places])
        if not found.places:
            self.stack.show_sentence(f"No member is named {visible(self.name.text())}.")
            return
        self.stack.show_view(self.table)
        more = " There are more; type more of the name." if found.more else ""
        self.sentence.setText(f"{count(len(found.places), 'member')}.{more}")
        self.table.selectRow(0)
        self.table.setFocus()

    def _show_error(self, sentence: str) -> None:
        self._places = ()
        self.model.show(())
        self.stack.show_sentence(sentence)

    def _enable(self, *_: object) -> None:
        self.open_button.setEnabled(self.table.selectionModel().hasSelection())

    def _open(self, *_: object) -> None:
        row = self.table.currentIndex().row()
        if 0 <= row < len(self._places):
            self.chosen.emit(self._places[row])


def _row(place: Place) -> FixedRow:
    return FixedRow((visible(place.path), visible(place.archive), grouped(place.offset), grouped(place.length)))
