"""The dialog that shows what a combined archive is made of, before it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from string import ascii_uppercase

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import count
from inspector.gui.ipc.client import Client, Job
from inspector.gui.kit.building import Dialog, dressed, in_column, in_row, progress_bar
from inspector.gui.kit.files import ask_for_files, ask_for_new_file
from inspector.gui.kit.icons import icon_of
from inspector.gui.kit.listing import ListView, Rows
from inspector.gui.kit.locations import absolute, name_of
from inspector.gui.kit.style import EDGE, GRID
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.widgets import Details, Emptiable, push_button, sentence_label
from inspector.gui.panels.status_line import show_progress
from inspector.operations.protocol.compare_views import CombinePlan, Ground
from inspector.operations.protocol.requests import CompareRequests
from inspector.sources.s3.address import is_s3

SIZE = (860, 480)
PLANNING = "Deciding what comes from where…"
GROUNDS = {
    Ground.PROVED: "proved",
    Ground.MAJORITY: "chosen, not proved",
    Ground.STRUCTURE: "chosen, not proved",
    Ground.SIGNATURE: "chosen, not proved",
    Ground.UNDECIDED: "not decided",
    Ground.HAND: "by hand",
}
LOST = "stays wrong"
MARKS = {"chosen, not proved": Severity.WARNING, "not decided": Severity.WARNING, LOST: Severity.ERROR}

Plan = Callable[[Sequence[str]], Job[CombinePlan]]
"""Start a plan with more copies than the two compared."""


COLUMNS = (
    Column("From", lambda row: row[0], 60, icon=lambda row: icon_of(MARKS[row[1]]) if row[1] in MARKS else None),
    Column("Why", lambda row: row[1], 150),
    Column("What", lambda row: visible(row[2])),
)
"""The columns of the plan; a row is the copy, the ground, and a step of it or what stays wrong."""
WHAT = 2


class CombineDialog(Dialog):
    """Shows a plan and writes it; ``plan`` starts one, ``near`` is the location whose folder and name are suggested.

    ``by_hand``: a single difference is taken, so that no more copies can be added.

    Signals:
        written(str, str): the path of the new archive, and the sentence that says what it is made of.
    """

    written = Signal(str, str)

    def __init__(
        self,
        parent: QWidget,
        client: Client[CompareRequests],
        plan: Plan,
        near: str,
        *,
        by_hand: bool = False,
    ) -> None:
        super().__init__(parent, "Take a Difference into a New Archive" if by_hand else "Combine", "&Write To…")
        self._client = client
        self._start_plan = plan
        self._near = near
        self._more: list[str] = []
        self._job: Job[CombinePlan] | Job[str] | None = None
        self.plan: CombinePlan | None = None
        self.about = dressed(sentence_label(), "About the combined archive")
        self.model = Rows(COLUMNS, self)
        self.table = ListView(self.model, "What comes from where")
        self.details = Details("The selected step in full")
        self.accept_all = dressed(
            QCheckBox("&Accept what is not proved or not whole"),
            toolTip="Write it although digests do not prove all of it",
        )
        self.bar = progress_bar("Progress of combining")
        self.add = push_button(
            "Add a &Copy…",
            "Use one more copy of the same archive",
            lambda: ask_for_files(self, "Add a Copy", self.add_copies, near),
        )
        self.add.setVisible(not by_hand)
        self.answer.setToolTip("Write the new archive to a file, and check it")
        self.stack = Emptiable(self.table)
        foot = in_row(self.add, self.bar, 1, self.buttons)
        in_column(self.about, (self.stack, 1), self.details, self.accept_all, foot, on=self, edge=EDGE, gap=2 * GRID)
        self.resize(*SIZE)
        self.table.selectionModel().currentRowChanged.connect(self._show_details)
        self.accept_all.toggled.connect(self._enable)
        self.finished.connect(self._cancel)
        client.lost.connect(self._failed)
        self._plan()

    # ---- planning ----------------------------------------------------------------------------------------------

    def add_copies(self, locations: Sequence[str]) -> None:
        """Plan again with more copies."""
        new = [each for each in map(absolute, locations) if each not in self._more]
        if new:
            self._more += new
            self._plan()

    def _plan(self) -> None:
        self._cancel()
        self.plan = None
        self.accept_all.setChecked(False)  # consent is for the plan that was shown
        self.stack.show_sentence(PLANNING)
        self.about.setText(PLANNING)
        self.details.say("")
        self._run(self._start_plan(tuple(self._more)).then(self._show, self._failed))

    def _run(self, job: Job[CombinePlan] | Job[str]) -> None:
        self._job = job
        job.progressed.connect(partial(show_progress, self.bar))
        job.finished.connect(self._enable)
        self.bar.setRange(0, 0)
        self._enable()

    def _show(self, plan: CombinePlan) -> None:
        self.plan = plan
        steps = ((step.copy, GROUNDS[step.ground], step.message) for step in plan.steps)
        self.model.show((*steps, *(("", LOST, sentence) for sentence in plan.lost)))
        named = zip(ascii_uppercase, plan.copies, strict=False)
        copies = ", ".join(f"{letter}: {name_of(each)}" for letter, each in named)
        more = sum(plan.all_steps.values()) - len(plan.steps) + plan.left_out
        left = f" {count(more, 'more row')} not listed." if more else ""
        self.about.setText(f"{copies}\n{visible(plan.sentence[:1].upper() + plan.sentence[1:])}{left}")
        self.stack.show_view(self.table)
        self.table.selectRow(0)
        self._enable()

    def _failed(self, sentence: str) -> None:
        self.about.setText(visible(sentence))
        if self.plan is None:
            self.stack.show_sentence("There is no plan.")
        self._enable()

    def _show_details(self, index: QModelIndex) -> None:
        self.details.say(self.model.texts(index.row())[WHAT] if index.isValid() else "")

    def _enable(self) -> None:
        running = self._job is not None and self._job.running
        plan = self.plan
        consent = plan is not None and plan.needs_consent
        self.accept_all.setVisible(consent)
        self.bar.setVisible(running)
        self.add.setEnabled(not running and self._client.is_open)
        agreed = not consent or self.accept_all.isChecked()
        self.answer.setEnabled(plan is not None and not running and agreed and self._client.is_open)

    # ---- writing -----------------------------------------------------------------------------------------------

    def accept(self) -> None:
        """Ask where to write it."""
        path = Path(self._near)
        name = "" if is_s3(self._near) else f"{path.stem}-combined{path.suffix}"
        # Nothing is ever replaced; a file that is there already is refused with a sentence.
        ask_for_new_file(self, "Write the New Archive To", name, self.write_to, self._near, confirms=False)

    def write_to(self, path: str) -> None:
        """Write the plan shown to a new file."""
        if self.plan is not None and self.answer.isEnabled():
            job = self._client.start(CompareRequests.write_combination, self.plan, path, self.accept_all.isChecked())
            self._run(job.then(lambda sentence: self._done(path, sentence), self._failed))

    def _done(self, path: str, sentence: str) -> None:
        self.written.emit(path, sentence)
        super().accept()

    def _cancel(self) -> None:
        if self._job is not None and self._job.running:
            self._job.cancel()
        self._job = None
