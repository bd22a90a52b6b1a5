"""What goes into a new archive and its options, and the dialog that adds to an RCA archive."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIcon, QKeySequence, QShortcut
from PySide6.QtWidgets import QCheckBox, QLineEdit, QStackedWidget, QWidget

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import grouped, size_in
from inspector.gui.ipc.client import Client, Job, create_client
from inspector.gui.kit.building import (
    Dialog,
    choice_of,
    dressed,
    edited,
    in_column,
    in_form,
    in_row,
    number_of,
    value_of,
)
from inspector.gui.kit.files import Cover, DropZone, PathField, ask_for_files, ask_for_folder
from inspector.gui.kit.icons import icon_of
from inspector.gui.kit.listing import ListView, Rows
from inspector.gui.kit.style import GRID
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.widgets import Emptiable, SelectableLabel, debounce, push_button
from inspector.operations.protocol.create_views import ArchiveKind, Contents, Draft, InputRow
from inspector.operations.protocol.requests import CreateRequests

SIZE = (720, 460)
RELOAD_DELAY_MS = 200
"""Milliseconds without a change before the inputs are read again."""
HINT = "Drop files and folders here, or add them."
CONVENTIONS = {"spec": "the specification's", "rcarch": "rcarch's"}


def _mark(row: InputRow) -> QIcon | None:
    severity = Severity.ERROR if row.trouble else Severity.WARNING if row.doubt else None
    return icon_of(severity) if severity is not None else None


COLUMNS = (
    Column("Name in the archive", lambda row: row.name, 260, icon=_mark),
    Column("Size", lambda row: grouped(row.size), 100, is_number=True),
    Column("From", lambda row: row.where, 280),
    Column("Remark", lambda row: row.trouble or row.doubt, 200),
)


class InputsPanel(DropZone, QWidget):
    """Lists what the archive would contain; ``draft`` gives the current Draft.

    Signals:
        contentsChanged(): the contents are known, or have become unknown.
    """

    contentsChanged = Signal()

    def __init__(self, client: Client[CreateRequests], draft: Callable[[], Draft]) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self.drop_light = Cover(self, "Drop to add")
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
        self.clear = push_button("Remove All Inp&uts", "", lambda: self._keep([]))
        self.sentence = dressed(SelectableLabel(), "Contents of the new archive")
        self.stack = Emptiable(self.table)
        self.setFocusProxy(self.stack)
        self._timer = debounce(self, RELOAD_DELAY_MS, self._load)
        bar = in_row(self.add_files, self.add_folder, self.remove, self.clear, 1)
        in_column(bar, (self.stack, 1), self.sentence, on=self, gap=2 * GRID)
        self.table.selectionModel().selectionChanged.connect(self._enable)
        keys = QShortcut(QKeySequence(Qt.Key.Key_Delete), self.table)
        keys.setContext(Qt.ShortcutContext.WidgetShortcut)
        keys.activated.connect(self.remove_selected)
        self._show_contents(None)

    @property
    def settled(self) -> bool:
        """Whether the contents are up to date."""
        return self._job is None and not self._timer.isActive()

    # ---- contents ----------------------------------------------------------------------------------------------

    def add(self, locations: list[str]) -> None:
        """Add files and folders; those already added are ignored."""
        self._keep(list(dict.fromkeys((*self.locations, *locations))))

    def remove_selected(self) -> None:
        """Remove the inputs that contain the selected rows."""
        removed = [self.model.rows[index.row()].where for index in self.table.selectionModel().selectedRows()]
        self._keep([each for each in self.locations if not _is_below(visible(each), removed)])

    def _keep(self, locations: list[str]) -> None:
        self.locations = locations
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
        self.sentence.setText("" if contents is None else _summary(contents))
        if contents is None:
            self.stack.show_sentence(HINT, "Choose Files…", self.add_files.click)
        else:
            self.stack.show_view(self.table)
        self._enable()
        self.contentsChanged.emit()

    def _enable(self, *_: object) -> None:
        self.remove.setEnabled(self.table.selectionModel().hasSelection())
        self.clear.setEnabled(bool(self.locations))

    def take_dropped(self, locations: list[str]) -> None:
        """Add the dropped files and folders."""
        if paths := [each for each in locations if "://" not in each]:
            self.add(paths)
        else:
            self.sentence.setText("The dropped item is neither a local file nor a local folder, so it was not added.")


def _summary(contents: Contents) -> str:
    hidden = contents.count - len(contents.rows)
    more = f"The first {grouped(len(contents.rows))} are shown." if hidden > 0 else ""
    return " ".join(part for part in (contents.obstacle, contents.sentence, *contents.notes, more) if part)


def _is_below(location: str, removed: list[str]) -> bool:
    return any(folder == location or folder.startswith(location.rstrip("/") + "/") for folder in removed)


# ---- options ---------------------------------------------------------------------------------------------------------


class OptionError(Exception):
    """A field contains an invalid value; the message is a sentence."""


class OptionsPage(QWidget):
    """The options of one format, as fields below each other with their labels.

    Signals:
        changed(): a field was edited.
    """

    changed = Signal()

    def __init__(self, *rows: tuple[str | QWidget, QWidget]) -> None:
        super().__init__()
        in_form(*rows, on=self)
        for field in (each for row in rows for each in row if isinstance(each, QWidget)):
            edited(field).connect(self.changed)

    def apply(self, draft: Draft) -> Draft:
        """The draft with these options; raises OptionError."""
        return draft


class RcaOptionsPage(OptionsPage):
    """Compression level and hash convention; ``own`` also offers the convention of an existing archive."""

    def __init__(self, own: bool = False) -> None:
        tip = "1 is fastest, 22 smallest; levels above 19 need a lot of memory"
        self.level = number_of("Compression level", 1, 22, 3, toolTip=tip)
        self.convention = choice_of("Hash convention", {"": "the archive's own", **CONVENTIONS} if own else CONVENTIONS)
        super().__init__(("Compression &level", self.level), ("Ha&sh convention", self.convention))

    def apply(self, draft: Draft) -> Draft:
        """The draft with these options."""
        return replace(draft, level=value_of(self.level), convention=value_of(self.convention))


class CafOptionsPage(OptionsPage):
    """Maximum size and catalogue."""

    def __init__(self) -> None:
        tip = "A larger archive is split: NAME-0001.caf, NAME-0002.caf. At most 32GiB"
        self.limit = dressed(QLineEdit(placeholderText="30GiB"), "Maximum size of one archive", toolTip=tip)
        tip = "An SQLite file that records which archive holds each member; later runs add to it"
        hint = "none, or a file such as catalogue.sqlite"
        self.catalogue = dressed(PathField(), "Catalogue of members", toolTip=tip, placeholderText=hint)
        super().__init__(("Maximum &size", self.limit), ("Cata&logue", self.catalogue))

    def apply(self, draft: Draft) -> Draft:
        """The draft with these options; raises OptionError."""
        try:
            return replace(draft, max_size=size_in(value_of(self.limit) or "0"), catalogue=value_of(self.catalogue))
        except ValueError as error:
            raise OptionError(f"The maximum size is invalid: {error}") from error


class DatasetOptionsPage(OptionsPage):
    """The dataset name and how its files are numbered."""

    def __init__(self) -> None:
        self.dataset = dressed(QLineEdit(), "Name of the dataset")
        self.numbering = QCheckBox("&Number the files in order, starting at")
        self.first = dressed(QLineEdit("0"), "First key", enabled=False)
        self.per_range = number_of("Keys in a range", 1, 2**31 - 1, 1_000, showGroupSeparator=True)
        self.numbering.toggled.connect(self.first.setEnabled)
        super().__init__(("Data&set", self.dataset), (self.numbering, self.first), ("Ke&ys per range", self.per_range))

    def apply(self, draft: Draft) -> Draft:
        """The draft with these options; raises OptionError."""
        dataset, first = value_of(self.dataset), value_of(self.first).replace(",", "")
        is_numbered = self.numbering.isChecked()
        if is_numbered and not (first.isascii() and first.isdigit() and len(first) <= 20):
            raise OptionError("The first key must be a number: 0, 1, 2 and so on.")
        if not dataset:
            raise OptionError("Name the dataset.")
        first_key = int(first) if is_numbered else None
        return replace(draft, dataset=dataset, first_key=first_key, per_range=value_of(self.per_range))


class ArchiveOptions(QStackedWidget):
    """The options of the selected format.

    Signals:
        changed(): an option was edited.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.pages: dict[ArchiveKind, OptionsPage] = {
            ArchiveKind.CAF: CafOptionsPage(),
            ArchiveKind.RCA: RcaOptionsPage(),
            ArchiveKind.TACO: OptionsPage(),
            ArchiveKind.DATAS3T: DatasetOptionsPage(),
        }
        for page in self.pages.values():
            self.addWidget(page)
            page.changed.connect(self.changed)

    def show_kind(self, kind: ArchiveKind) -> None:
        """Show the options of a format."""
        self.setCurrentWidget(self.pages[kind])

    def apply(self, draft: Draft) -> Draft:
        """The draft with the options of its format; raises OptionError."""
        return self.pages[draft.kind].apply(draft)


# ---- adding to an archive --------------------------------------------------------------------------------------------


class AppendDialog(Dialog):
    """Lists what will be added to the archive at ``location``; ``then`` gets the accepted Draft.

    ``only_replayed``: the append is not made, but replayed.
    """

    def __init__(
        self,
        parent: QWidget,
        name: str,
        location: str,
        then: Callable[[Draft], object],
        *,
        only_replayed: bool = False,
    ) -> None:
        title = f"Replay an Append to {name}" if only_replayed else f"Add to {name}"
        super().__init__(parent, title, "&Replay" if only_replayed else "&Add")
        self._location = location
        self.client = create_client(self)
        self.inputs = InputsPanel(self.client, self.draft)
        self.options = RcaOptionsPage(own=True)
        self.lay_out((self.inputs, 1), self.options)
        self.resize(*SIZE)
        self.inputs.contentsChanged.connect(self._enable)
        self.accepted.connect(lambda: then(self.draft()))
        self.finished.connect(self._stop_worker)
        self._enable()

    def draft(self) -> Draft:
        """The Draft of the current fields."""
        draft = Draft(ArchiveKind.RCA, self._location, tuple(self.inputs.locations), grows=True)
        return self.options.apply(draft)

    def _enable(self) -> None:
        contents = self.inputs.contents
        self.answer.setEnabled(contents is not None and not contents.obstacle and contents.count > 0)

    def _stop_worker(self) -> None:
        self.inputs.stop()
        self.client.close()
