"""The inputs of a new archive: files and folders that were added or dropped, and the members they become."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import grouped
from inspector.gui.ipc.client import Client, Job
from inspector.gui.kit.dropping import DropLight, take_copy
from inspector.gui.kit.files import ask_for_files, ask_for_folder
from inspector.gui.kit.style import on_grid
from inspector.gui.kit.table_models import FixedRow, FixedTable
from inspector.gui.kit.widgets import Emptiable, SelectableLabel, debounce, table_view
from inspector.operations.protocol.create_views import Contents, Draft, InputRow
from inspector.operations.protocol.requests import CreateRequests

NAME, SIZE, FROM, REMARK = range(4)
RELOAD_DELAY_MS = 200
"""Milliseconds without a change before the inputs are read again."""
TITLES = ("Name in the archive", "Size", "From", "Remark")
HINT = "Drop files and folders here, or add them."


class InputsPanel(QWidget):
    """Lists what the archive would contain; ``draft`` gives the current Draft.

    Signals:
        contentsChanged(): the contents are known, or have become unknown.
    """

    contentsChanged = Signal()

    def __init__(self, client: Client[CreateRequests], draft: Callable[[], Draft]) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self.drop_light = DropLight(self, "Drop to add")
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
        self._show_hint()
        self.setFocusProxy(self.stack)
        self._timer = debounce(self, RELOAD_DELAY_MS, self._load)
        self._lay_out()
        self._connect()
        self._enable()

    def _show_hint(self) -> None:
        self.stack.show_sentence(HINT, "Choose Files…", self.add_files.click)

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        for button in (self.add_files, self.add_folder, self.remove, self.clear):
            button.setAutoDefault(False)
            bar.addWidget(button)
        bar.addStretch(1)
        layout = on_grid(QVBoxLayout(self))
        layout.addLayout(bar)
        layout.addWidget(self.stack, 1)
        layout.addWidget(self.sentence)

    def _connect(self) -> None:
        self.add_files.clicked.connect(lambda: ask_for_files(self, "Add Files", self.add))
        self.add_folder.clicked.connect(lambda: ask_for_folder(self, "Add Folder", self.add))
        self.remove.clicked.connect(self.remove_selected)
        self.clear.clicked.connect(self.remove_all)
        self.table.selectionModel().selectionChanged.connect(self._enable)
        keys = QShortcut(QKeySequence(Qt.Key.Key_Delete), self.table)
        keys.setContext(Qt.ShortcutContext.WidgetShortcut)
        keys.activated.connect(self.remove_selected)

    @property
    def settled(self) -> bool:
        """Whether the contents are up to date."""
        return self._job is None and not self._timer.isActive()

    # ---- contents ----------------------------------------------------------------------------------------------

    def add(self, locations: list[str]) -> None:
        """Add files and folders; those already added are ignored."""
        self.locations += [each for each in dict.fromkeys(locations) if each not in self.locations]
        self.reload_later()

    def remove_selected(self) -> None:
        """Remove the inputs that contain the selected rows."""
        removed = [self.model.texts(index.row())[FROM] for index in self.table.selectionModel().selectedRows()]
        self.locations = [each for each in self.locations if not _is_below(visible(each), removed)]
        self.reload_later()

    def remove_all(self) -> None:
        """Remove all inputs."""
        self.locations = []
        self.reload_later()

    def reload_later(self) -> None:
        """Discard the contents and read the inputs again soon."""
        self.contents = None
        self._timer.start()
        self.contentsChanged.emit()

    def stop(self) -> None:
        """Stop reading the inputs."""
        self._timer.stop()
        job, self._job = self._job, None
        if job is not None:
            job.supersede()

    def _load(self) -> None:
        self.stop()
        if not self.locations:
            self._show_contents(None)
            return
        self.sentence.setText("Reading the files…")
        self._job = job = self._client.start(CreateRequests.look, self._draft()).then(
            self._show_contents, self._show_failure
        )
        job.finished.connect(self._job_finished)

    def _job_finished(self, job: Job[Contents]) -> None:
        if self._job is job:
            self._job = None
            self.contentsChanged.emit()

    def _show_failure(self, sentence: str) -> None:
        self.sentence.setText(sentence)

    def _show_contents(self, contents: Contents | None) -> None:
        self.contents = contents
        self.model.show([_row(row) for row in contents.rows] if contents is not None else [])
        if contents is None:
            self._show_hint()
            self.sentence.setText("")
        else:
            self.stack.show_view(self.table)
            self.sentence.setText(_summary(contents))
        self._enable()
        self.contentsChanged.emit()

    def _enable(self, *_: object) -> None:
        self.remove.setEnabled(self.table.selectionModel().hasSelection())
        self.clear.setEnabled(bool(self.locations))

    # ---- dropping ----------------------------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            self.drop_light.light_up(take_copy(event))

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.drop_light.light_up(False)
        super().dragLeaveEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        take_copy(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Add the dropped files and folders."""
        self.drop_light.light_up(False)
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths and take_copy(event):
            self.add(paths)
        else:
            event.ignore()
            self.sentence.setText("The dropped item is neither a local file nor a local folder, so it was not added.")


def _row(row: InputRow) -> FixedRow:
    severity = Severity.ERROR if row.trouble else Severity.WARNING if row.doubt else None
    return FixedRow((row.name, grouped(row.size), row.where, row.trouble or row.doubt), severity)


def _summary(contents: Contents) -> str:
    hidden = contents.count - len(contents.rows)
    more = f"The first {grouped(len(contents.rows))} are shown." if hidden > 0 else ""
    return " ".join(part for part in (contents.obstacle, contents.sentence, *contents.notes, more) if part)


def _is_below(location: str, removed: list[str]) -> bool:
    return any(folder == location or folder.startswith(location.rstrip("/") + "/") for folder in removed)
