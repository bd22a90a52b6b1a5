"""The dialogs of an extraction: its plan before anything is written, and its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import NamedTuple

from PySide6.QtWidgets import QCheckBox, QGridLayout, QRadioButton, QSizePolicy, QWidget

from inspector.core.finding import Severity
from inspector.core.numbers import count, grouped, rounded
from inspector.gui.ipc.client import Job
from inspector.gui.kit.building import Dialog, choice_of, dressed, edited, in_column, in_row, value_of
from inspector.gui.kit.files import PathField, ask_for_folder, leave_drops
from inspector.gui.kit.icons import icon_of
from inspector.gui.kit.listing import ListView, Rows
from inspector.gui.kit.locations import absolute
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.widgets import Details, SelectableLabel, debounce, label_of, push_button
from inspector.operations.protocol.extraction_views import ExtractionPlan, ExtractionResult, OnConflict, Problems

SIZE = (720, 420)

_PROBLEM_KINDS = (
    ("refused", "refused", Severity.ERROR),
    ("damaged", "damaged", Severity.ERROR),
    ("unproved", "without proof", Severity.WARNING),
    ("doubtful", "not confirmed", Severity.WARNING),
    ("conflicts", "with a name already taken", Severity.WARNING),
)
"""Problems of a plan or a result: their names there, what their members are, and how bad that is."""

PLANNING = "Checking names, existing files and free space…"
PLAN_DELAY_MS = 200
"""Milliseconds without a change before a new plan is requested."""
WIDTH, HEIGHT = 640, 300
HEIGHT_WITH_PROBLEMS = 520
"""Pixels: the height once there are problems to list."""
DOUBTFUL = "Also &doubtful members: unusual names, over 64 GiB, content that no checksum proves"
DOUBTFUL_TIP = (
    "Unusual names contain characters that are invisible or change the writing direction. ZIP members that "
    "claim the same bytes are doubtful too, and members of a CAF that may lie elsewhere than its index says."
)
CONFLICT_LABELS = {
    OnConflict.SKIP: "Keep the existing file, skip the member",
    OnConflict.RENAME: "Rename the member: name (2).txt",
    OnConflict.OVERWRITE: "Overwrite the existing file",
}


class ExtractionChoices(NamedTuple):
    """What to extract and how, as ``extract`` is asked; ``members`` is None for all."""

    members: tuple[int, ...] | None
    folder: str
    on_conflict: OnConflict
    doubtful: bool
    keep_damaged: bool
    remove_unfinished: bool = False


StartPlan = Callable[[ExtractionChoices], Job[ExtractionPlan]]
"""Starts a job that plans an extraction."""


class ExtractDialog(Dialog):
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
        super().__init__(parent, "Extract", "&Extract")
        self._start_plan = plan
        self._selected = selected
        self._job: Job[ExtractionPlan] | None = None
        self.plan: ExtractionPlan | None = None
        self.all = QRadioButton(f"&All members ({grouped(total)})")
        self.chosen = QRadioButton(f"The &selected members ({grouped(len(selected))})")
        self.chosen.setEnabled(bool(selected))
        (self.chosen if selected and preselect else self.all).setChecked(True)
        self.folder = dressed(PathField(folder), "Folder to extract into")
        self.browse = push_button("&Browse…", "", self._browse)
        self.on_conflict = choice_of("What to do with existing files", CONFLICT_LABELS)
        self.doubtful = dressed(QCheckBox(DOUBTFUL), toolTip=DOUBTFUL_TIP)
        self.keep_damaged = QCheckBox("&Keep damaged members, as NAME.damaged")
        self.remove_unfinished = QCheckBox("&Remove unfinished files of killed runs")
        self.remove_unfinished.hide()
        self.summary = dressed(SelectableLabel(), "Extraction plan")
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)  # otherwise wrapped lines are cut off
        self.summary.setSizePolicy(policy)
        self.problems = ProblemTable()
        self._timer = debounce(self, PLAN_DELAY_MS, self._request_plan)
        grid = QGridLayout()
        grid.addWidget(label_of("&Into", self.folder), 0, 0)
        grid.addWidget(self.folder, 0, 1)
        grid.addWidget(self.browse, 0, 2)
        grid.addWidget(label_of("If a &file exists", self.on_conflict), 1, 0)
        grid.addWidget(self.on_conflict, 1, 1, 1, 2)
        grid.setColumnStretch(1, 1)
        boxes = (self.keep_damaged, self.doubtful, self.remove_unfinished)
        self.lay_out(in_row(self.all, self.chosen, 1), grid, *boxes, self.summary, (self.problems, 1), 0)
        for field in (self.folder, self.all, self.doubtful, self.on_conflict):
            edited(field).connect(self._plan_again)
        self.accepted.connect(lambda: then(self.choices()))
        self.finished.connect(self._cancel_plan)
        leave_drops(self)
        self.resize(WIDTH, HEIGHT)
        self._plan_again()
        self._request_plan()

    def _browse(self) -> None:
        ask_for_folder(self, "Extract Into", lambda found: self.folder.setText(found[0]), self.folder.text())

    def choices(self) -> ExtractionChoices:
        """The current choices."""
        folder = value_of(self.folder)
        return ExtractionChoices(
            None if self.all.isChecked() else self._selected,
            absolute(folder) if folder else "",
            OnConflict(value_of(self.on_conflict)),
            *map(value_of, (self.doubtful, self.keep_damaged, self.remove_unfinished)),
        )

    # ---- planning ----------------------------------------------------------------------------------------------

    def _plan_again(self, *_: object) -> None:
        self._cancel_plan()
        self.plan = None
        self.answer.setEnabled(False)
        self._timer.start()

    def _cancel_plan(self) -> None:
        self._timer.stop()
        if self._job is not None:
            self._job.cancel()
            self._job = None

    def _request_plan(self) -> None:
        self._timer.stop()
        choices = self.choices()
        self.summary.setText(PLANNING if choices.folder else "Choose a folder.")
        if choices.folder:
            self._job = self._start_plan(choices).then(self._show_plan, self._show_error)
            self._job.finished.connect(self._job_finished)

    def _job_finished(self, job: Job[ExtractionPlan]) -> None:
        if job is self._job:
            self._job = None
            if job.cancelled:
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
        self.answer.setEnabled(not plan.obstacle and bool(plan.files or plan.folders))


def summary(plan: ExtractionPlan) -> str:
    """The plan in sentences."""
    if plan.obstacle:
        return plan.obstacle
    sentence = "Nothing would be extracted."
    if plan.files or plan.folders:
        folders = f" and {count(plan.folders, 'folder')}" if plan.folders else ""
        sentence = f"{count(plan.files, 'file')}{folders}, {rounded(plan.size)}; {rounded(plan.free)} are free."
    return " ".join(filter(None, (sentence, counted(plan), plan.unfinished, *plan.warnings)))


def result_message(result: ExtractionResult) -> str:
    """The result of an extraction in sentences."""
    return " ".join(filter(None, (result.sentence, counted(result), result.stopped, *result.warnings)))


def counted(found: ExtractionPlan | ExtractionResult) -> str:
    """How many members have a problem of each kind, as a sentence."""
    numbers = ((getattr(found, name, Problems()).count, words) for name, words, _ in _PROBLEM_KINDS)
    parts = [f"{count(number, 'member')} {words}" for number, words in numbers if number]
    return f"{', '.join(parts)}." if parts else ""


class ExtractedDialog(Dialog):
    """Lists the problems of a finished extraction; the window stays usable."""

    def __init__(self, parent: QWidget, result: ExtractionResult) -> None:
        super().__init__(parent, "Extraction Result")
        self.sentence = dressed(SelectableLabel(), "Extraction result", text=result_message(result))
        self.problems = ProblemTable()
        self.problems.show_problems(result)
        self.lay_out(self.sentence, (self.problems, 1))
        self.resize(*SIZE)


COLUMNS = (
    Column("What", itemgetter(0), 190, icon=lambda row: icon_of(row[1])),
    Column("Member", itemgetter(2), 200),
    Column("Why", itemgetter(3), 250),
)
"""The columns of problems; a row is what it is, how bad, the name of its member, and the reason."""


class ProblemTable(QWidget):
    """Lists the problems of a plan or a result, with the selected one in full; hidden if there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Rows(COLUMNS, self)
        self.table = ListView(self.model, "Members with problems")
        self.details = Details("The selected problem in full")
        in_column((self.table, 1), self.details, on=self)
        self.table.selectionModel().currentRowChanged.connect(self._show_details)
        self.hide()

    def show_problems(self, found: ExtractionPlan | ExtractionResult) -> None:
        """List the problems of a plan or a result."""
        rows: list[tuple[str, Severity, str, str]] = []
        for name, text, mark in _PROBLEM_KINDS:
            problems = getattr(found, name, Problems())
            # The sentence begins with the name of the member, which stands beside it.
            reasons = ((each.path, each.sentence.removeprefix(each.path).strip()) for each in problems.listed)
            rows += [(text, mark, path, why) for path, why in reasons]
            if problems.count > len(problems.listed):
                left = grouped(problems.count - len(problems.listed))
                rows.append((text, mark, "…", f"and {left} more"))
        self.fill(rows)

    def fill(self, rows: Sequence[tuple[str, Severity, str, str]]) -> None:
        """Show these rows."""
        self.model.show(rows)
        self.details.say("")
        self.setVisible(bool(rows))

    def _show_details(self) -> None:
        self.details.say(" ".join(filter(None, (self.table.row() or ())[2:])))
