"""The dialogs of an extraction: its plan before anything is written, and its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QRadioButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from inspector.core.finding import Severity
from inspector.core.numbers import count, grouped, rounded
from inspector.gui.ipc.client import Job
from inspector.gui.kit.dropping import PathField, leave_drops
from inspector.gui.kit.files import ask_for_folder
from inspector.gui.kit.locations import absolute
from inspector.gui.kit.style import EDGE, on_grid
from inspector.gui.kit.table_models import FixedRow, FixedTable
from inspector.gui.kit.widgets import Details, SelectableLabel, debounce, label_of, table_view
from inspector.operations.protocol.extraction_views import ExtractionPlan, ExtractionResult, OnConflict, Problems

SIZE = (720, 420)

WHAT, MEMBER, WHY = range(3)
_PROBLEM_KINDS = (
    ("refused", "refused", Severity.ERROR),
    ("damaged", "damaged", Severity.ERROR),
    ("unproved", "no proof", Severity.WARNING),
    ("doubtful", "needs confirmation", Severity.WARNING),
    ("conflicts", "file exists", Severity.WARNING),
)

PLANNING = "Checking names, existing files and free space…"
PLAN_DELAY_MS = 200
"""Milliseconds without a change before a new plan is requested."""
WIDTH, HEIGHT = 640, 300
HEIGHT_WITH_PROBLEMS = 520
"""Pixels: the height once there are problems to list."""
CONFLICT_LABELS = {
    OnConflict.SKIP: "Keep the existing file, skip the member",
    OnConflict.RENAME: "Rename the member: name (2).txt",
    OnConflict.OVERWRITE: "Overwrite the existing file",
}


class ExtractionChoices(Struct, frozen=True):
    """What to extract and how; ``members`` is None for all."""

    members: tuple[int, ...] | None
    folder: str
    on_conflict: OnConflict
    doubtful: bool
    keep_damaged: bool
    remove_unfinished: bool = False


StartPlan = Callable[[ExtractionChoices], Job[ExtractionPlan]]
"""Starts a job that plans an extraction."""


class ExtractDialog(QDialog):
    """Makes a new plan with ``plan`` after each change; ``then`` gets the accepted choices.

    ``preselect`` preselects the selected members instead of all.
    """

    def __init__(
        self,
        parent: QWidget,
        total: int,
        selected: tuple[int, ...],
        preselect: bool,
        folder: str,
        plan: StartPlan,
        then: Callable[[ExtractionChoices], object],
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Extract")
        self._start_plan = plan
        self._on_accept = then
        self._selected = selected
        self._job: Job[ExtractionPlan] | None = None
        self.plan: ExtractionPlan | None = None
        self.all = QRadioButton(f"&All members ({grouped(total)})")
        self.chosen = QRadioButton(f"The &selected members ({grouped(len(selected))})")
        self.chosen.setEnabled(bool(selected))
        (self.chosen if selected and preselect else self.all).setChecked(True)
        self.folder = PathField(folder)
        self.folder.setAccessibleName("Folder to extract into")
        self.browse = QPushButton("&Browse…")
        self.browse.setAutoDefault(False)
        self.on_conflict = QComboBox()
        for choice, label in CONFLICT_LABELS.items():
            self.on_conflict.addItem(label, choice)
        self.on_conflict.setAccessibleName("What to do with existing files")
        self.doubtful = QCheckBox("Also &doubtful members: unusual names, over 64 GiB, content that no checksum proves")
        self.doubtful.setToolTip(
            "Unusual names contain characters that are invisible or change the writing direction. ZIP members that "
            "claim the same bytes are doubtful too, and members of a CAF that may lie elsewhere than its index says."
        )
        self.keep_damaged = QCheckBox("&Keep damaged members, as NAME.damaged")
        self.remove_unfinished = QCheckBox("&Remove unfinished files of killed runs")
        self.remove_unfinished.hide()
        self.summary = SelectableLabel()
        self.summary.setAccessibleName("Extraction plan")
        self.problems = ProblemTable()
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.extract = self.buttons.addButton("&Extract", QDialogButtonBox.ButtonRole.AcceptRole)
        self.extract.setDefault(True)
        self._timer = debounce(self, PLAN_DELAY_MS, self._request_plan)
        self._lay_out()
        self._connect()
        leave_drops(self)
        self.resize(WIDTH, HEIGHT)
        self._request_plan()

    def _lay_out(self) -> None:
        which = QHBoxLayout()
        which.addWidget(self.all)
        which.addWidget(self.chosen)
        which.addStretch(1)
        grid = QGridLayout()
        grid.addWidget(label_of("&Into", self.folder), 0, 0)
        grid.addWidget(self.folder, 0, 1)
        grid.addWidget(self.browse, 0, 2)
        grid.addWidget(label_of("If a &file exists", self.on_conflict), 1, 0)
        grid.addWidget(self.on_conflict, 1, 1, 1, 2)
        grid.setColumnStretch(1, 1)
        layout = on_grid(QVBoxLayout(self), EDGE)
        layout.addLayout(which)
        layout.addLayout(grid)
        layout.addWidget(self.keep_damaged)
        layout.addWidget(self.doubtful)
        layout.addWidget(self.remove_unfinished)
        layout.addWidget(self.summary)
        layout.addWidget(self.problems, 1)
        layout.addStretch(0)
        layout.addWidget(self.buttons)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)  # otherwise wrapped lines are cut off
        self.summary.setSizePolicy(policy)

    def _connect(self) -> None:
        self.browse.clicked.connect(lambda: ask_for_folder(self, "Extract Into", self._take_folder, self.folder.text()))
        self.folder.textChanged.connect(self._changed)
        self.all.toggled.connect(self._changed)
        self.on_conflict.currentIndexChanged.connect(self._changed)
        self.doubtful.toggled.connect(self._changed)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.finished.connect(self._cancel_plan)

    def _take_folder(self, found: list[str]) -> None:
        self.folder.setText(found[0])

    def choices(self) -> ExtractionChoices:
        """The current choices."""
        return ExtractionChoices(
            None if self.all.isChecked() else self._selected,
            absolute(self.folder.text().strip()) if self.folder.text().strip() else "",
            OnConflict(self.on_conflict.currentData()),
            self.doubtful.isChecked(),
            self.keep_damaged.isChecked(),
            self.remove_unfinished.isChecked(),
        )

    # ---- planning ----------------------------------------------------------------------------------------------

    def _changed(self) -> None:
        self.plan = None
        self.extract.setEnabled(False)
        self._timer.start()

    def _cancel_plan(self) -> None:
        self._timer.stop()
        if self._job is not None:
            self._job.cancel()
            self._job = None

    def _request_plan(self) -> None:
        self._cancel_plan()
        self.plan = None
        self.extract.setEnabled(False)
        choices = self.choices()
        if not choices.folder:
            self.summary.setText("Choose a folder.")
            return
        self.summary.setText(PLANNING)
        self._job = self._start_plan(choices).then(self._show_plan, self._show_error)
        self._job.finished.connect(self._job_finished)

    def _job_finished(self) -> None:
        if self.sender() is self._job:
            self._job = None
            if self.plan is None and self.summary.text() == PLANNING:
                self.summary.setText("Planning the extraction was cancelled.")

    def _show_error(self, sentence: str) -> None:
        self.problems.fill(())
        self.summary.setText(sentence)

    def _show_plan(self, plan: ExtractionPlan) -> None:
        self.plan = plan
        self.problems.show_problems(plan)
        if self.problems.model.rowCount() and self.height() < HEIGHT_WITH_PROBLEMS:
            self.resize(self.width(), HEIGHT_WITH_PROBLEMS)
        self.remove_unfinished.setVisible(bool(plan.unfinished))
        self.summary.setText(summary(plan))
        self.extract.setEnabled(not plan.obstacle and bool(plan.files or plan.folders))

    def accept(self) -> None:
        """Accept only what was planned."""
        if self.plan is not None and self.extract.isEnabled():
            self._on_accept(self.choices())
            super().accept()


def summary(plan: ExtractionPlan) -> str:
    """The plan in sentences."""
    if plan.obstacle:
        return plan.obstacle
    if not plan.files and not plan.folders:
        sentence = "Nothing would be extracted."
    else:
        things = count(plan.files, "file")
        if plan.folders:
            things = f"{things} and {count(plan.folders, 'folder')}"
        text = "{things}, {size}; {room} are free."
        sentence = text.format(things=things, size=rounded(plan.size), room=rounded(plan.free))
    problems = (
        ("{members} refused", plan.refused.count),
        ("{members} that need confirmation", plan.doubtful.count),
        ("{members} that exist already", plan.conflicts.count),
    )
    parts = [text.format(members=count(number, "member")) for text, number in problems if number]
    counted = f"{', '.join(parts)}." if parts else ""
    return " ".join(filter(None, (sentence, counted, plan.unfinished, *plan.warnings)))


class ExtractedDialog(QDialog):
    """Lists the problems of a finished extraction; the window stays usable."""

    def __init__(self, parent: QWidget, result: ExtractionResult, sentence: str) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Extraction Result")
        self.sentence = SelectableLabel()
        self.sentence.setAccessibleName("Extraction result")
        self.sentence.setText(sentence)
        self.problems = ProblemTable()
        self.problems.show_problems(result)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = on_grid(QVBoxLayout(self), EDGE)
        layout.addWidget(self.sentence)
        layout.addWidget(self.problems, 1)
        layout.addWidget(buttons)
        self.resize(*SIZE)


class ProblemTable(QWidget):
    """Lists the problems of a plan or a result, with the selected one in full; hidden if there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.model = FixedTable(("What", "Member", "Why"), parent=self)
        self.table = table_view(self.model, {WHAT: 145, MEMBER: 200, WHY: 250}, "Members with problems")
        self.details = Details("The selected problem in full")
        layout = on_grid(QVBoxLayout(self), gap=0)
        layout.addWidget(self.table, 1)
        layout.addWidget(self.details)
        self.table.selectionModel().currentRowChanged.connect(self._show_details)
        self.hide()

    def show_problems(self, found: ExtractionPlan | ExtractionResult) -> None:
        """List the problems of a plan or a result."""
        rows: list[FixedRow] = []
        for name, text, mark in _PROBLEM_KINDS:
            problems = getattr(found, name, Problems())
            rows += [FixedRow((text, each.path, _reason(each.path, each.sentence)), mark) for each in problems.listed]
            if problems.count > len(problems.listed):
                left = grouped(problems.count - len(problems.listed))
                rows.append(FixedRow((text, "…", f"and {left} more"), mark))
        self.fill(rows)

    def fill(self, rows: Sequence[FixedRow]) -> None:
        """Show these rows."""
        self.model.show(rows)
        self.details.say("")
        self.setVisible(bool(rows))

    def _show_details(self) -> None:
        row = self.table.currentIndex().row()
        texts = self.model.texts(row) if row >= 0 else ("", "", "")
        self.details.say(f"{texts[MEMBER]} {texts[WHY]}".strip())


def _reason(path: str, sentence: str) -> str:
    """The sentence without the member name it starts with."""
    return sentence.removeprefix(path).strip()
