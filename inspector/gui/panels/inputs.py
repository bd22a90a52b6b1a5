"""What is to be put into an archive: files and folders that are dropped or added, and the members they become."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import grouped
from inspector.gui.ipc.client import Client, Job
from inspector.gui.kit.dropping import take_copy
from inspector.gui.kit.file_dialogs import ask_for_files, ask_for_folder
from inspector.gui.kit.model_fixed_table import FixedRow, FixedTable
from inspector.gui.kit.widgets import Emptiable, SelectableLabel, table_view
from inspector.operations.protocol.create_views import Contents, Draft, InputRow
from inspector.operations.protocol.requests import CreateRequests

NAME, SIZE, FROM, REMARK = range(4)
DEBOUNCE = 200
"""Milliseconds without a change before the files are looked at again."""
TITLES = ("Name in the archive", "Size", "From", "Remark")
NOTHING = "Drop files and folders here, or add them with the buttons above."


class InputsPanel(QWidget):
    """Lists what an archive would hold; ``draft`` says what is to be made of it.

    Signals:
        looked(): what it would hold is known, or has to be found out again.
    """

    looked = Signal()

    def __init__(self, client: Client[CreateRequests], draft: Callable[[], Draft]) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self._client = client
        self._draft = draft
        self._job: Job[Contents] | None = None
        self.locations: list[str] = []
        self.contents: Contents | None = None
        self.model = FixedTable(TITLES, (SIZE,), self)
        self.table = table_view(
            self.model, {NAME: 260, SIZE: 100, FROM: 280, REMARK: 200}, "What goes into the archive"
        )
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.add_files = QPushButton("Add F&iles…")
        self.add_folder = QPushButton("Add F&older…")
        self.remove = QPushButton("Remove Inpu&t")
        self.remove.setToolTip("Remove the selected rows, with the folder they were added with (Delete)")
        self.clear = QPushButton("Remove All Inp&uts")
        self.sentence = SelectableLabel()
        self.sentence.setAccessibleName("Contents of the new archive")
        self.stack = Emptiable(self.table)
        self.stack.show_sentence(NOTHING)
        self.setFocusProxy(self.stack)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DEBOUNCE)
        self._timer.timeout.connect(self._look)
        self._lay_out()
        self._connect()
        self._enable()

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        for button in (self.add_files, self.add_folder, self.remove, self.clear):
            button.setAutoDefault(False)
            bar.addWidget(button)
        bar.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(bar)
        layout.addWidget(self.stack, 1)
        layout.addWidget(self.sentence)

    def _connect(self) -> None:
        self.add_files.clicked.connect(lambda: ask_for_files(self, "Add Files", self.add))
        self.add_folder.clicked.connect(lambda: ask_for_folder(self, "Add Folder", self.add))
        self.remove.clicked.connect(self.take_out)
        self.clear.clicked.connect(self.take_all_out)
        self.table.selectionModel().selectionChanged.connect(self._enable)
        keys = QShortcut(QKeySequence(Qt.Key.Key_Delete), self.table)
        keys.setContext(Qt.ShortcutContext.WidgetShortcut)
        keys.activated.connect(self.take_out)

    @property
    def settled(self) -> bool:
        """Whether it is known what the archive would hold."""
        return self._job is None and not self._timer.isActive()

    # ---- what is in it -----------------------------------------------------------------------------------------

    def add(self, locations: list[str]) -> None:
        """Add files and folders that are not there yet."""
        self.locations += [each for each in dict.fromkeys(locations) if each not in self.locations]
        self.look_again()

    def take_out(self) -> None:
        """Take out what is selected, with all that was added with it."""
        places = [self.model.texts(index.row())[FROM] for index in self.table.selectionModel().selectedRows()]
        self.locations = [each for each in self.locations if not _holds(visible(each), places)]
        self.look_again()

    def take_all_out(self) -> None:
        """Begin again."""
        self.locations = []
        self.look_again()

    def look_again(self) -> None:
        """Contents of the new archive has to be found out anew, soon."""
        self.contents = None
        self._timer.start()
        self.looked.emit()

    def stop(self) -> None:
        """Look no more."""
        self._timer.stop()
        job, self._job = self._job, None
        if job is not None:
            job.supersede()

    def _look(self) -> None:
        self.stop()
        if not self.locations:
            self._take(None)
            return
        self.sentence.setText("Reading the files…")
        self._job = job = self._client.start(CreateRequests.look, self._draft()).then(self._take, self._fail)
        job.finished.connect(lambda: self._over(job))

    def _over(self, job: Job[Contents]) -> None:
        if self._job is job:
            self._job = None
            self.looked.emit()

    def _fail(self, sentence: str) -> None:
        self.sentence.setText(sentence)

    def _take(self, contents: Contents | None) -> None:
        self.contents = contents
        self.model.show([_row(row) for row in contents.rows] if contents is not None else [])
        if contents is None:
            self.stack.show_sentence(NOTHING)
            self.sentence.setText("")
        else:
            self.stack.show_view(self.table)
            self.sentence.setText(_told(contents))
        self._enable()
        self.looked.emit()

    def _enable(self, *_: object) -> None:
        self.remove.setEnabled(self.table.selectionModel().hasSelection())
        self.clear.setEnabled(bool(self.locations))

    # ---- dropping ----------------------------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            take_copy(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        take_copy(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """See QWidget: dropping adds."""
        found = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if found and take_copy(event):
            self.add(found)
        else:
            event.ignore()
            self.sentence.setText("The dropped item is neither a local file nor a local folder, so it was not added.")


def _row(row: InputRow) -> FixedRow:
    mark = Severity.ERROR if row.trouble else Severity.WARNING if row.doubt else None
    return FixedRow((row.name, grouped(row.size), row.where, row.trouble or row.doubt), mark)


def _told(contents: Contents) -> str:
    left = contents.count - len(contents.rows)
    more = f"The first {grouped(len(contents.rows))} are shown." if left > 0 else ""
    return " ".join(part for part in (contents.obstacle, contents.sentence, *contents.notes, more) if part)


def _holds(location: str, places: list[str]) -> bool:
    return any(place == location or place.startswith(location.rstrip("/") + "/") for place in places)
