"""The dialogs of an extraction: its plan before anything is written, and its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec import Struct
from PySide6.QtWidgets import QCheckBox, QGridLayout, QRadioButton, QSizePolicy, QWidget

from inspector.core.finding import Severity
from inspector.core.numbers import count, grouped, rounded
from inspector.gui.ipc.client import Job
from inspector.gui.kit.building import Dialog, choice_of, dressed, in_column, in_row
from inspector.gui.kit.files import PathField, ask_for_folder, leave_drops
from inspector.gui.kit.icons import severity_icon
from inspector.gui.kit.listing import ListView, Rows
from inspector.gui.kit.locations import absolute
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.widgets import Details, SelectableLabel, debounce, label_of, push_button
from inspector.operations.protocol.extraction_views import ExtractionPlan, ExtractionResult, OnConflict, Problems

SIZE = (720, 420)

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
        self.extract = self.answer
        self._start_plan = plan
        self._on_accept = then
        self._selected = selected
        self._job: Job[ExtractionPlan] | None = None
        self.plan: ExtractionPlan | None = None
        self.all = QRadioButton(f"&All members ({grouped(total)})")
        self.chosen = QRadioButton(f"The &selected members ({grouped(len(selected))})")
        self.chosen.setEnabled(bool(selected))
        (self.chosen if selected and preselect else self.all).setChecked(True)
        self.folder = dressed(PathField(folder), "Folder to extract into")
        self.browse = push_button(
            "&Browse…",
            "",
            lambda: ask_for_folder(
                self, "Extract Into", lambda found: self.folder.setText(found[0]), self.folder.text()
            ),
        )
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
        for changed in (self.folder.textChanged, self.all.toggled, self.doubtful.toggled):
            changed.connect(self._changed)
        self.on_conflict.currentIndexChanged.connect(self._changed)
        self.finished.connect(self._cancel_plan)
        leave_drops(self)
        self.resize(WIDTH, HEIGHT)
        self._request_plan()

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
        sentence = f"{things}, {rounded(plan.size)}; {rounded(plan.free)} are free."
    problems = (
        (plan.refused.count, "refused"),
        (plan.doubtful.count, "that need confirmation"),
        (plan.conflicts.count, "that exist already"),
    )
    parts = [f"{count(number, 'member')} {words}" for number, words in problems if number]
    counted = f"{', '.join(parts)}." if parts else ""
    return " ".join(filter(None, (sentence, counted, plan.unfinished, *plan.warnings)))


class ExtractedDialog(Dialog):
    """Lists the problems of a finished extraction; the window stays usable."""

    def __init__(self, parent: QWidget, result: ExtractionResult, sentence: str) -> None:
        super().__init__(parent, "Extraction Result")
        self.sentence = dressed(SelectableLabel(), "Extraction result")
        self.sentence.setText(sentence)
        self.problems = ProblemTable()
        self.problems.show_problems(result)
        self.lay_out(self.sentence, (self.problems, 1))
        self.resize(*SIZE)


class ProblemRow(NamedTuple):
    """What a problem is, how bad, the name of its member, and the reason."""

    what: str
    mark: Severity
    path: str
    why: str


COLUMNS = (
    Column("What", lambda row: row.what, 145, icon=lambda row: severity_icon(row.mark)),
    Column("Member", lambda row: row.path, 200),
    Column("Why", lambda row: row.why, 250),
)


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
        rows: list[ProblemRow] = []
        for name, text, mark in _PROBLEM_KINDS:
            problems = getattr(found, name, Problems())
            # The sentence begins with the name of the member, which stands beside it.
            reasons = ((each.path, each.sentence.removeprefix(each.path).strip()) for each in problems.listed)
            rows += [ProblemRow(text, mark, path, why) for path, why in reasons]
            if problems.count > len(problems.listed):
                left = grouped(problems.count - len(problems.listed))
                rows.append(ProblemRow(text, mark, "…", f"and {left} more"))
        self.fill(rows)

    def fill(self, rows: Sequence[ProblemRow]) -> None:
        """Show these rows."""
        self.model.show(rows)
        self.details.say("")
        self.setVisible(bool(rows))

    def _show_details(self) -> None:
        row: ProblemRow | None = self.table.row()
        self.details.say(f"{row.path} {row.why}".strip() if row is not None else "")
