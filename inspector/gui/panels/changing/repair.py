"""The repair plan of an archive: what each repair changes and loses, and the buttons to apply it."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QSizePolicy, QWidget

from inspector.core.finding import Severity
from inspector.core.verdict import State
from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing
from inspector.gui.kit.building import dressed, in_column, in_row, page_of
from inspector.gui.kit.icons import severity_icon, state_icon
from inspector.gui.kit.style import GRID
from inspector.gui.kit.text import plain, short
from inspector.gui.kit.widgets import Details, Emptiable, push_button, sentence_label
from inspector.operations.protocol.edit_views import RepairPlan, RepairRow, SalvageReport
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Stage

ORIGIN = "repair"
NOT_PLANNED = "Repair (Ctrl+M) first makes a plan: which bytes change, and what would be lost. Nothing is written."
COLLECTION = "These are several files, and each is repaired separately. Open the file that the finding is about."
NOTHING = "There is nothing to repair."
ONLY_SAVED = "This is {}: save it as a new file to repair that."
SALVAGE_NOTE = "Salvage writes a new archive; this one stays as it is."
MAX_REPORTED = 200
"""Members of a salvage that the details name."""
_ROLE = Qt.ItemDataRole.UserRole


class RepairPanel(QWidget):
    """Shows the repair plan of a document and applies it.

    Signals:
        planned(): a plan is shown.
        changesRequested(): show the pending changes; the repairs are among them now.
        copyRequested(object): write a repaired copy; the codes of the confirmed repairs.
        salvageRequested(object): write everything intact to a new archive; the codes of the confirmed repairs.
    """

    planned = Signal()
    changesRequested = Signal()
    copyRequested = Signal(object)
    salvageRequested = Signal(object)

    def __init__(self, document: Document, editing: Editing) -> None:
        super().__init__()
        self._document = document
        self._editing = editing
        self.plan: RepairPlan | None = None
        self._is_planning = False
        self.sentence = sentence_label()
        self.list = dressed(QListWidget(), "Repairs", alternatingRowColors=True, wordWrap=True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.about = Details("About the selected repair")
        tip = "Write these repairs to the archive itself"
        self.make = push_button("&Repair in Place", tip, self.repair_in_place)
        tip = "Show the repairs as pending changes, byte by byte, before anything is written"
        self.show_ = push_button("Sh&ow Changes", tip, self._show_changes)
        self.copy_ = push_button(
            "Repair a &Copy…",
            "Write a repaired copy; the file stays as it is",
            lambda: self.copyRequested.emit(self.accepted()),
        )
        self.salvage = push_button(
            "&Salvage…",
            "Write everything that is provably intact to a new archive",
            lambda: self.salvageRequested.emit(self.accepted()),
        )
        # Side by side, because panels at the bottom are wide and low.
        plan = in_row((self.list, 3), (self.about, 2))
        bar = in_row(self.make, self.show_, self.copy_, self.salvage, 1)
        edge = (2 * GRID, GRID, 2 * GRID, 0)
        self._page = page_of(in_column(bar, self.sentence, (plan, 1), edge=edge, gap=GRID))
        self.about.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.stack = Emptiable(self._page)
        in_column(self.stack, on=self)
        self.setFocusProxy(self.list)
        self.list.currentItemChanged.connect(self._show_details)
        self.list.itemClicked.connect(self._show_bytes)
        self.list.itemActivated.connect(self._show_bytes)
        self.list.itemChanged.connect(lambda _: self.ask())  # a repair was confirmed, or no longer is
        editing.written.connect(lambda _: self.forget())
        document.statusChanged.connect(self._show_why_empty)
        self.forget()

    # ---- the plan ----------------------------------------------------------------------------------------------

    def ask(self, code: str = "") -> None:
        """Make a plan and select the repair with this code, or the first that fixes findings with this code."""
        if self._document.status.stage is not Stage.READY:
            self._document.reported.emit("The archive has not been read yet.")
            return
        self.stack.show_sentence("Checking the archive and planning repairs…")
        self._is_planning = True
        item = self.list.currentItem()
        row = item.data(_ROLE) if item is not None else None
        code_to_select = code or (row.code if row is not None else "")
        job = self._document.start(ArchiveRequests.plan_repairs, self.accepted())
        job.then(lambda plan: self._show_plan(plan, code_to_select))
        job.finished.connect(self._planning_finished)  # emitted before the plan arrives, and also if there will be none

    @property
    def is_needed(self) -> bool:
        """Whether there is a plan, or one is being made."""
        return self.plan is not None or self._is_planning

    def forget(self) -> None:
        """Discard the plan."""
        self.plan = None
        self.list.clear()
        self._show_why_empty()

    def _show_why_empty(self) -> None:
        """Show why there is no plan, unless there is one or one is being made."""
        if self.plan is not None or self._is_planning:
            return
        status = self._document.status
        why = COLLECTION if status.collection else NOTHING if status.state is State.SOUND else NOT_PLANNED
        self.stack.show_sentence(why)

    def accepted(self) -> tuple[str, ...]:
        """The codes of the repairs that the user has confirmed."""
        items = (self.list.item(row) for row in range(self.list.count()))
        ticked = (item.data(_ROLE).code for item in items if item.checkState() is Qt.CheckState.Checked)
        return tuple(dict.fromkeys(ticked))

    def _planning_finished(self) -> None:
        self._is_planning = False
        self._show_why_empty()
        if self.plan is not None:
            self.stack.show_view(self._page)

    def _show_plan(self, plan: RepairPlan, code_to_select: str) -> None:
        accepted = self.accepted()
        self.plan = plan
        with QSignalBlocker(self.list):
            self.list.clear()
            rows = (*plan.repairs, *(() if plan.salvage is None else (plan.salvage,)), *plan.waiting)
            for row in rows:
                self._add(row, row.code in accepted and row not in plan.waiting)
            for sentence in plan.left:
                self._add_unrepaired(sentence)
        matching = [at for at, row in enumerate(rows) if code_to_select in (row.code, *row.fixes)]
        if rows:
            self.list.setCurrentRow(next(iter(matching), 0))
        else:
            self.about.say("")
        is_real = not self._document.in_experiment
        only_saved = ONLY_SAVED.format("a replay" if self._document.in_replay else "an experiment")
        self.sentence.setText(plan.sentence if is_real else f"{plan.sentence} {only_saved}")
        for button in (self.make, self.copy_):
            button.setEnabled(is_real and bool(plan.repairs))
        self.show_.setEnabled(is_real and plan.edit is not None)
        self.salvage.setEnabled(is_real and plan.salvage is not None)
        if self.list.count() or plan.salvage is not None:
            self.stack.show_view(self._page)
        else:
            self.stack.show_sentence(plan.sentence)
        self.planned.emit()

    def _add(self, row: RepairRow, accepted: bool) -> None:
        item = QListWidgetItem(state_icon(State.WARNING if row.claim or row.loses else State.SOUND), row.title)
        item.setData(_ROLE, row)
        item.setToolTip(plain(_details_text(row)))
        if row.claim or row.consent or accepted:
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if accepted else Qt.CheckState.Unchecked)
        self.list.addItem(item)

    def _add_unrepaired(self, sentence: str) -> None:
        item = QListWidgetItem(severity_icon(Severity.WARNING), short(f"Stays as it is: {sentence}"))
        item.setFlags(Qt.ItemFlag.ItemIsEnabled)
        item.setToolTip(plain(sentence))
        self.list.addItem(item)

    def _show_details(self, item: QListWidgetItem | None, _: object = None) -> None:
        row = item.data(_ROLE) if item is not None else None
        text = "" if row is None else _details_text(row)
        if self.plan is not None and row is not None and row == self.plan.salvage:
            text = "\n".join(filter(None, (text, _report_text(self.plan.report), SALVAGE_NOTE)))
        self.about.say(text)

    def _show_bytes(self, item: QListWidgetItem) -> None:
        row, size = item.data(_ROLE), self._document.size
        spans = row.spans if row is not None else ()
        if spans and spans[0].start < size:
            self._document.go_to(0, spans[0].start, min(spans[0].stop, size), ORIGIN)

    # ---- repair ------------------------------------------------------------------------------------------------

    def repair_in_place(self) -> None:
        """Write the repairs to the archive itself."""
        if self.plan is None or not self.plan.repairs:
            return
        if self._editing.pending is not None:
            self._document.reported.emit("Write or discard the pending changes first.")
            return
        plan = self.plan
        accepted = self.accepted()
        self._editing.carry_out(
            lambda consents: self._document.start(ArchiveRequests.make_repairs, accepted, "", consents),
            plan.edit,
            plan.beside,
        )

    def _show_changes(self) -> None:
        if self.plan is not None and self.plan.edit is not None:
            self._editing.put(self.plan.edit)
            self.changesRequested.emit()


def _report_text(report: SalvageReport | None) -> str:
    """What becomes of each member in a salvage, those that are lost first."""
    if report is None:
        return ""
    rows = [f"{fate.capitalize()}: {name} ({why})" for name, fate, why in report.rows[:MAX_REPORTED]]
    more = report.proved + report.readable + report.lost - len(rows)
    return "\n".join((report.sentence, *rows, *([f"… and {more:,} more"] if more else [])))


def _details_text(row: RepairRow) -> str:
    lost = [f"Lost: {sentence}" for sentence in row.loses]
    lost += [f"Nothing is lost: {row.lossless}"] if row.lossless else []
    confirmations = [f"Assumed: {row.claim} Tick it to confirm."] if row.claim else []
    confirmations += [f"{row.consent} Tick it to confirm."] if row.consent else []
    fixes = f"Fixes {', '.join(row.fixes)}"
    return "\n".join((f"{row.title}.", *lost, *confirmations, f"{fixes} · {row.code}"))
