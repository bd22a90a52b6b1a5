"""The tab that creates an archive: its format, target, inputs and options."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from inspector.core.program.progress import CANCELLED
from inspector.core.program.redaction import strip_credentials
from inspector.gui.dialogs.inputs import ArchiveOptions, InputsPanel, OptionError
from inspector.gui.document.connections import Connections
from inspector.gui.ipc.client import Job, create_client
from inspector.gui.kit.building import choice_of, dressed, in_column, in_row, page_of
from inspector.gui.kit.files import PathField, ask_for_folder, ask_for_new_file
from inspector.gui.kit.locations import absolute
from inspector.gui.kit.style import EDGE, GRID, PAGE_PX, on_grid
from inspector.gui.kit.widgets import ElidedLabel, label_of, push_button
from inspector.gui.panels.s3_connection import S3Target
from inspector.gui.tabs.job_tab import JobTab
from inspector.operations.protocol.create_views import ArchiveKind, CreateResult, Draft
from inspector.operations.protocol.requests import CreateRequests
from inspector.sources.s3.address import is_s3

KINDS = {
    ArchiveKind.CAF: "CAF, Chunk Archive",
    ArchiveKind.RCA: "RCA",
    ArchiveKind.TACO: "TACO",
    ArchiveKind.DATAS3T: "datas3t dataset",
}
SUFFIXES = {ArchiveKind.CAF: ".caf", ArchiveKind.RCA: ".rca", ArchiveKind.TACO: ".tacozip"}


class NewArchiveTab(JobTab[CreateRequests]):
    """Creates one archive after another.

    Signals:
        chosen(str): open this new archive.
    """

    chosen = Signal(str)

    def __init__(self, connections: Connections) -> None:
        super().__init__("New Archive", create_client, "Stop and leave no partial files")
        self._created = ""
        self._suffix = ""
        self.kind = choice_of("Format", KINDS)
        self.target = dressed(PathField(), "Target of the new archive")
        self.browse = push_button("&Browse…", "", self.ask_target)
        self.s3_target = S3Target(self.client, connections)
        self.overwrite = QCheckBox("&Replace existing files")
        self.remove_unfinished = QCheckBox("Re&move unfinished files of killed runs")
        self.remove_unfinished.hide()
        self.inputs = InputsPanel(self.client, self._draft_or_empty)
        self.options = ArchiveOptions()
        self.sentence = dressed(ElidedLabel(elide=Qt.TextElideMode.ElideRight), "What is missing, or the progress")
        self.begin = push_button("&Create", "", self.create_archive)
        self.setFocusProxy(self.target)
        self._lay_out()
        self.kind.currentIndexChanged.connect(self._change_kind)
        self.target.textChanged.connect(self._change_target)
        self.target.editingFinished.connect(self._find_unfinished)
        self.options.changed.connect(self.inputs.reload_later)
        self.inputs.contentsChanged.connect(self._refresh)
        self.message.acted.connect(lambda: self.chosen.emit(self._created))
        self._change_kind()

    def _lay_out(self) -> None:
        self._form = QWidget()
        grid = on_grid(QGridLayout(self._form))
        grid.addWidget(label_of("&Kind", self.kind), 0, 0)
        grid.addWidget(self.kind, 0, 1)
        grid.addWidget(self.overwrite, 0, 2)
        grid.addWidget(label_of("&Write to", self.target), 1, 0)
        grid.addWidget(self.target, 1, 1)
        grid.addWidget(self.browse, 1, 2)
        grid.addWidget(self.s3_target, 2, 1, 1, 2)
        for at, widget in enumerate((self.inputs, self.options, self.remove_unfinished), 3):
            grid.addWidget(widget, at, 0, 1, 3)
        grid.setColumnStretch(1, 1)
        grid.setRowStretch(3, 1)
        foot = in_row((self.sentence, 1), self.bar, self.stop, self.begin)
        page = page_of(in_column(self.message, (self._form, 1), foot, edge=EDGE, gap=2 * GRID))
        page.setMaximumWidth(PAGE_PX)
        in_row(0, (page, 1), 0, on=self)

    @property
    def settled(self) -> bool:
        return not self.running and self.inputs.settled

    def end(self) -> None:
        """Stop the worker; it removes partial files first."""
        self.inputs.stop()
        super().end()

    # ---- fields ------------------------------------------------------------------------------------------------

    def draft(self) -> Draft:
        """The Draft of the current fields; raises OptionError."""
        text = self.target.text().strip()
        draft = Draft(
            ArchiveKind(self.kind.currentData()),
            absolute(text) if text else "",
            tuple(self.inputs.locations),
            self.overwrite.isChecked(),
            connection=self.s3_target.connection,
        )
        return replace(self.options.apply(draft), remove_unfinished=self.remove_unfinished.isChecked())

    def _draft_or_empty(self) -> Draft:
        """The Draft of the current fields, or without options if those are invalid: enough to read the inputs."""
        try:
            return self.draft()
        except OptionError:
            return Draft(ArchiveKind(self.kind.currentData()), "", tuple(self.inputs.locations))

    def _change_kind(self) -> None:
        kind = ArchiveKind(self.kind.currentData())
        self.options.show_kind(kind)
        target, before, self._suffix = self.target.text(), self._suffix, SUFFIXES.get(kind, "")
        if before and self._suffix and target.endswith(before):
            self.target.setText(target.removesuffix(before) + self._suffix)
        is_folder = kind is ArchiveKind.DATAS3T
        self.overwrite.setVisible(not is_folder)
        self.target.setPlaceholderText(
            "the folder that is the root of the bucket, or s3://bucket/prefix"
            if is_folder
            else f"a file, such as archive{SUFFIXES[kind]}, or s3://bucket/key{SUFFIXES[kind]}"
        )
        self.inputs.reload_later()
        self._refresh()

    def _change_target(self, text: str) -> None:
        location = strip_credentials(text.strip())
        was_remote = not self.s3_target.isHidden()
        self.s3_target.follow(location)
        if is_s3(location) or was_remote:
            self.inputs.reload_later()  # this also validates the address
        self._refresh()

    def ask_target(self) -> None:
        """Ask for the target of the archive."""
        kind = ArchiveKind(self.kind.currentData())
        if kind is ArchiveKind.DATAS3T:
            ask_for_folder(self, "Root of the Bucket", lambda found: self.target.setText(found[0]))
            return
        # The check box of this tab decides whether to replace; do not ask twice.
        ask_for_new_file(self, "New Archive", "", self._take_target, suffix=SUFFIXES[kind][1:], confirms=False)

    def _take_target(self, path: str) -> None:
        self.target.setText(path)
        self._find_unfinished()

    def _find_unfinished(self) -> None:
        """Look for unfinished files of killed runs next to the target."""
        self.client.start(CreateRequests.unfinished, self._draft_or_empty()).then(self._show_unfinished)

    def _show_unfinished(self, sentence: str) -> None:
        self.remove_unfinished.setVisible(bool(sentence))
        if sentence:
            self.message.say(sentence)
        else:
            self.remove_unfinished.setChecked(False)

    def missing(self) -> str:
        """What is missing before the archive can be created, "" if nothing is."""
        try:
            draft = self.draft()
        except OptionError as error:
            return str(error)
        if not draft.locations:
            return "Add files or folders."
        if not draft.target:
            return "Choose where to write it."
        contents = self.inputs.contents
        if contents is None:
            return "Reading the files…"
        return contents.obstacle

    def _name_warning(self) -> str:
        """A warning about the file name, "" if its suffix is the usual one."""
        suffix = Path(self.target.text().strip()).suffix.lower()
        if not self._suffix or suffix == self._suffix or suffix not in SUFFIXES.values():
            return ""
        return f"The name ends in {suffix}, but archives of this kind end in {self._suffix}."

    def _refresh(self, *_: object) -> None:
        super()._refresh()
        self._form.setEnabled(not self.running and self.client.is_open)
        self.begin.setVisible(not self.running)
        if not self.running:
            missing = self.missing()
            self.sentence.setText(missing or self._name_warning())
            self.begin.setEnabled(not missing and self.client.is_open)

    # ---- job ---------------------------------------------------------------------------------------------------

    def create_archive(self) -> None:
        """Create the archive if nothing is missing; ask for the connection of an unknown bucket first."""
        if self.running or self.missing():
            return
        if not self.s3_target.is_settled:
            self.s3_target.ask(then=self.create_archive)
            return
        self.s3_target.remember()
        job = self.client.start(CreateRequests.create, self.draft()).then(self._show_result, self._show_error)
        job.binding = True  # the user must learn which partial files could not be removed
        self._follow(job, "Starting…", self._job_finished)
        self.stop.setFocus()

    def _job_finished(self, job: Job[CreateResult]) -> None:
        if job.cancelled:
            self.message.say("Creating the archive was cancelled; no partial files are left.")

    def _show_result(self, result: CreateResult) -> None:
        self._created = result.path
        self.message.say(" ".join((result.sentence, *result.warnings)), "Open It")

    def _show_error(self, sentence: str) -> None:
        if sentence != CANCELLED:  # already shown
            self.message.say(sentence)

    def _lost(self, sentence: str) -> None:
        self.message.say(f"{sentence} Close this tab and start again.")
        self._refresh()
