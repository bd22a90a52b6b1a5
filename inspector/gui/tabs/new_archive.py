"""A tab in which an archive is made: its kind, its place, what goes into it, its options."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import monotonic

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from inspector.core.progress import CANCELLED
from inspector.core.redaction import strip_credentials
from inspector.gui.document.connections import Connections
from inspector.gui.document.session import SIDES, OpenTab
from inspector.gui.ipc.client import Job, create_client
from inspector.gui.kit.dropping import PathField
from inspector.gui.kit.eta import Eta
from inspector.gui.kit.file_dialogs import ask_for_folder
from inspector.gui.kit.form import said_in, say_again
from inspector.gui.kit.locations import absolute
from inspector.gui.kit.message_bar import Message
from inspector.gui.kit.widgets import ElidedLabel, label_of
from inspector.gui.panels.archive_options import ArchiveOptions, OptionError
from inspector.gui.panels.inputs import InputsPanel
from inspector.gui.panels.s3_target import S3Target
from inspector.gui.panels.status_line import STEPS
from inspector.gui.tabs.side_tab import SideTab
from inspector.operations.protocol.create_views import ArchiveKind, CreateResult, Draft
from inspector.operations.protocol.requests import CreateRequests
from inspector.operations.protocol.views import JobState
from inspector.sources.s3.address import is_s3

KINDS = {
    ArchiveKind.CAF: "CAF, Chunk Archive",
    ArchiveKind.RCA: "RCA",
    ArchiveKind.TACO: "TACO",
    ArchiveKind.DATAS3T: "datas3t dataset",
}
SUFFIXES = {ArchiveKind.CAF: ".caf", ArchiveKind.RCA: ".rca", ArchiveKind.TACO: ".tacozip"}
OFFERED = 1_000
"""The most members that an entry of a TACO header is offered."""


class NewArchiveTab(SideTab):
    """Makes archives, one after another if that is wanted.

    Signals:
        chosen(str): an archive that was made is to be opened.
    """

    chosen = Signal(str)

    def __init__(self, connections: Connections) -> None:
        super().__init__(SIDES["draft"])
        self.client = create_client(self)
        self.client.lost.connect(self._lose)
        self._job: Job[CreateResult] | None = None
        self._pace = Eta(0.0)
        self._made = ""
        self._suffix = ""
        self.kind = QComboBox()
        for kind, words in KINDS.items():
            self.kind.addItem(words, kind)
        self.kind.setAccessibleName("Format")
        self.target = PathField()
        self.target.setAccessibleName("Target of the new archive")
        self.browse = QPushButton("&Browse…")
        self.reach = S3Target(self.client, connections)
        self.overwrite = QCheckBox("&Replace existing files")
        self.remove_unfinished = QCheckBox("Re&move unfinished files of killed runs")
        self.remove_unfinished.hide()
        self.inputs = InputsPanel(self.client, self._draft_as_far)
        self.options = ArchiveOptions()
        self._unsaid = said_in(self._fields())
        self.trouble = ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        self.trouble.setAccessibleName("What is missing, or the progress")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(160)
        self.bar.setAccessibleName("Progress")
        self.stop = QPushButton("Cancel")
        self.stop.setToolTip("Stop and leave no partial files (Esc)")
        self.begin = QPushButton("&Create")
        self.message = Message()
        self.setFocusProxy(self.target)
        self._lay_out()
        self._connect()
        self._change_kind()

    def _lay_out(self) -> None:
        self._form = QWidget()
        grid = QGridLayout(self._form)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.addWidget(label_of("&Kind", self.kind), 0, 0)
        grid.addWidget(self.kind, 0, 1)
        grid.addWidget(label_of("&Write to", self.target), 1, 0)
        grid.addWidget(self.target, 1, 1)
        grid.addWidget(self.browse, 1, 2)
        grid.addWidget(self.overwrite, 0, 2)
        grid.addWidget(self.reach, 2, 1, 1, 2)
        grid.addWidget(self.inputs, 3, 0, 1, 3)
        grid.addWidget(self.options, 4, 0, 1, 3)
        grid.addWidget(self.remove_unfinished, 5, 0, 1, 3)
        grid.setColumnStretch(1, 1)
        grid.setRowStretch(3, 1)
        foot = QHBoxLayout()
        foot.addWidget(self.trouble, 1)
        for widget in (self.bar, self.stop, self.begin):
            foot.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.addWidget(self.message)
        layout.addWidget(self._form, 1)
        layout.addLayout(foot)
        self.bar.hide()
        self.stop.hide()

    def _connect(self) -> None:
        self.kind.currentIndexChanged.connect(self._change_kind)
        self.target.textChanged.connect(self._change_target)
        self.target.editingFinished.connect(self._look_beside)
        self.browse.clicked.connect(self.ask_target)
        self.options.changed.connect(self.inputs.look_again)
        self.inputs.looked.connect(self.keptChanged)
        self.inputs.looked.connect(self._looked)
        self.begin.clicked.connect(self.make)
        self.stop.clicked.connect(self.cancel_making)
        self.message.acted.connect(lambda: self.chosen.emit(self._made))

    @property
    def settled(self) -> bool:
        return self._job is None and self.inputs.settled

    def _fields(self) -> dict[str, QWidget]:
        # What agrees to a loss, such as replacing what is there, is agreed to anew in every session.
        return {"kind": self.kind, **self.options.fields()}

    @property
    def kept(self) -> OpenTab | None:
        text, said = self.target.text().strip(), said_in(self._fields())
        draft = OpenTab(absolute(text) if text else "", side="draft", places=tuple(self.inputs.locations), said=said)
        return draft if text or draft.places or said != self._unsaid else None

    def take_up(self, kept: OpenTab) -> None:
        """Say what an earlier session said, and look at the files as they are now."""
        say_again(self._fields(), kept.said)
        self.target.setText(kept.location)
        self._look_beside()
        self.inputs.add(list(kept.places))

    def cancel(self) -> None:
        """See SideTab: the worker goes, and takes away first what is half made."""
        self.inputs.stop()
        self.client.close()

    def escape(self) -> None:
        """See SideTab: what is said of the archive stays."""
        self.cancel_making()

    # ---- what is to be made ------------------------------------------------------------------------------------

    def draft(self) -> Draft:
        """What is asked for; raises OptionError."""
        text = self.target.text().strip()
        draft = Draft(
            ArchiveKind(self.kind.currentData()),
            absolute(text) if text else "",
            tuple(self.inputs.locations),
            self.overwrite.isChecked(),
            connection=self.reach.connection,
        )
        return replace(self.options.apply(draft), remove_unfinished=self.remove_unfinished.isChecked())

    def _draft_as_far(self) -> Draft:
        """What is asked for, as far as it can be meant: enough to look at the files."""
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
        self.inputs.look_again()

    def _change_target(self, text: str) -> None:
        self.keptChanged.emit()
        location = strip_credentials(text.strip())
        was_remote = not self.reach.isHidden()
        self.reach.follow(location)
        if is_s3(location) or was_remote:
            self.inputs.look_again()  # which says, too, what is wrong with an address
        self._enable()

    def ask_target(self) -> None:
        """Ask where the archive is to be written."""
        kind = ArchiveKind(self.kind.currentData())
        if kind is ArchiveKind.DATAS3T:
            ask_for_folder(self, "Root of the Bucket", lambda found: self.target.setText(found[0]))
            return
        dialog = QFileDialog(self, "New Archive")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        # Whether something is replaced is for the box beside the name to say, once.
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
        dialog.setDefaultSuffix(SUFFIXES[kind][1:])
        dialog.fileSelected.connect(self._take_target)
        dialog.open()

    def _take_target(self, path: str) -> None:
        self.target.setText(path)
        self._look_beside()

    def _look_beside(self) -> None:
        """Find out whether runs that were killed have left anything where the archive is to be."""
        self.client.start(CreateRequests.unfinished, self._draft_as_far()).then(self._tell_unfinished)

    def _tell_unfinished(self, sentence: str) -> None:
        self.remove_unfinished.setVisible(bool(sentence))
        if sentence:
            self.message.say(sentence)
        else:
            self.remove_unfinished.setChecked(False)

    def _looked(self) -> None:
        contents = self.inputs.contents
        if contents is not None:
            self.options.taco.offer([row.name for row in contents.rows[:OFFERED] if not row.trouble])
        self._enable()

    def missing(self) -> str:
        """What still has to be said or changed before the archive can be made, empty where nothing."""
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

    def _remark(self) -> str:
        """What to know of the name of the archive, empty where it is as people expect it."""
        suffix = Path(self.target.text().strip()).suffix.lower()
        if not self._suffix or suffix == self._suffix or suffix not in SUFFIXES.values():
            return ""
        return f"The name ends in {suffix}, but archives of this kind end in {self._suffix}."

    def _enable(self, *_: object) -> None:
        if self._job is None:
            missing = self.missing()
            self.trouble.setText(missing or self._remark())
            self.begin.setEnabled(not missing)

    # ---- making it ---------------------------------------------------------------------------------------------

    def make(self) -> None:
        """Make the archive, if nothing is missing; how a bucket is reached that is new is asked first."""
        if self._job is not None or self.missing():
            return
        if not self.reach.is_sure:
            self.reach.ask(self.make)
            return
        self.reach.remember()
        draft = self.draft()
        self.message.hide()
        self._pace = Eta(monotonic())
        self._job = job = self.client.start(CreateRequests.create, draft).then(self._take, self._fail)
        job.binding = True  # what could not be taken away again has to be known
        job.progressed.connect(self._progressed)
        job.finished.connect(lambda: self._over(job))
        self._show_work(True)

    def cancel_making(self) -> None:
        """Stop; nothing half made stays."""
        if self._job is not None:
            self._job.cancel()
            self.trouble.setText("Stopping…")

    def _show_work(self, running: bool) -> None:
        self._form.setEnabled(not running)
        self.bar.setRange(0, 0)
        self.bar.setVisible(running)
        self.stop.setVisible(running)
        self.begin.setVisible(not running)
        if running:
            self.trouble.setText("Beginning…")
            self.stop.setFocus()

    def _progressed(self, state: JobState) -> None:
        if self._job is None or self._job.cancelled:
            return
        self.trouble.setText(self._pace.tell(state, monotonic()))
        self.bar.setRange(0, STEPS if state.total else 0)
        if state.total:
            self.bar.setValue(min(STEPS, state.done * STEPS // state.total))

    def _over(self, job: Job[CreateResult]) -> None:
        self._job = None
        self._show_work(False)
        if job.cancelled:
            self.message.say("Creating the archive was cancelled; no partial files are left.")
        self._enable()

    def _take(self, made: CreateResult) -> None:
        self._made = made.path
        self.message.say(" ".join((made.sentence, *made.warnings)), "Open It")

    def _fail(self, sentence: str) -> None:
        if sentence != CANCELLED:  # which has been said
            self.message.say(sentence)

    def _lose(self, sentence: str) -> None:
        self._form.setEnabled(False)
        self.begin.setEnabled(False)
        self.message.say(f"{sentence} Close this tab and begin again.")
