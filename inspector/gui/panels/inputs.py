"""The inputs of a new archive: files and folders that were added or dropped, and the members they become."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent, QIcon, QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import grouped
from inspector.gui.ipc.client import Client, Job
from inspector.gui.kit.building import dressed, in_column, in_row
from inspector.gui.kit.dropping import DropLight, take_copy
from inspector.gui.kit.files import ask_for_files, ask_for_folder
from inspector.gui.kit.icons import severity_icon
from inspector.gui.kit.listing import ListView, Rows
from inspector.gui.kit.style import GRID
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.widgets import Emptiable, SelectableLabel, debounce, push_button
from inspector.operations.protocol.create_views import Contents, Draft, InputRow
from inspector.operations.protocol.requests import CreateRequests

RELOAD_DELAY_MS = 200
"""Milliseconds without a change before the inputs are read again."""
HINT = "Drop files and folders here, or add them."


def _mark(row: InputRow) -> QIcon | None:
    severity = Severity.ERROR if row.trouble else Severity.WARNING if row.doubt else None
    return severity_icon(severity) if severity is not None else None


COLUMNS = (
    Column("Name in the archive", lambda row: row.name, 260, icon=_mark),
    Column("Size", lambda row: grouped(row.size), 100, is_number=True),
    Column("From", lambda row: row.where, 280),
    Column("Remark", lambda row: row.trouble or row.doubt, 200),
)


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
        self.model = Rows(COLUMNS, self)
        self.table = ListView(self.model, "What goes into the archive")
        self.add_files = push_button("Add F&iles…", "", lambda: ask_for_files(self, "Add Files", self.add))
        self.add_folder = push_button("Add F&older…", "", lambda: ask_for_folder(self, "Add Folder", self.add))
        tip = "Remove the selected rows, with the folder they were added with (Delete)"
        self.remove = push_button("Remove Inpu&t", tip, self.remove_selected)
        self.clear = push_button("Remove All Inp&uts", "", self.remove_all)
        self.sentence = dressed(SelectableLabel(), "Contents of the new archive")
        self.stack = Emptiable(self.table)
        self._show_hint()
        self.setFocusProxy(self.stack)
        self._timer = debounce(self, RELOAD_DELAY_MS, self._load)
        bar = in_row(self.add_files, self.add_folder, self.remove, self.clear, 1)
        in_column(bar, (self.stack, 1), self.sentence, on=self, gap=2 * GRID)
        self.table.selectionModel().selectionChanged.connect(self._enable)
        keys = QShortcut(QKeySequence(Qt.Key.Key_Delete), self.table)
        keys.setContext(Qt.ShortcutContext.WidgetShortcut)
        keys.activated.connect(self.remove_selected)
        self._enable()

    def _show_hint(self) -> None:
        self.stack.show_sentence(HINT, "Choose Files…", self.add_files.click)

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
        removed = [self.model.rows[index.row()].where for index in self.table.selectionModel().selectedRows()]
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
            self._show_contents, self.sentence.setText
        )
        job.finished.connect(self._job_finished)

    def _job_finished(self, job: Job[Contents]) -> None:
        if self._job is job:
            self._job = None
            self.contentsChanged.emit()

    def _show_contents(self, contents: Contents | None) -> None:
        self.contents = contents
        self.model.show(contents.rows if contents is not None else ())
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


def _summary(contents: Contents) -> str:
    hidden = contents.count - len(contents.rows)
    more = f"The first {grouped(len(contents.rows))} are shown." if hidden > 0 else ""
    return " ".join(part for part in (contents.obstacle, contents.sentence, *contents.notes, more) if part)


def _is_below(location: str, removed: list[str]) -> bool:
    return any(folder == location or folder.startswith(location.rstrip("/") + "/") for folder in removed)
