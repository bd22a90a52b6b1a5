"""The repair plan of an archive: what each repair changes and loses, and the buttons to apply it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QSizePolicy, QWidget

from inspector.core.finding import Severity
from inspector.core.verdict import State
from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing
from inspector.gui.kit.building import dressed, in_column, in_row, page_of
from inspector.gui.kit.icons import icon_of
from inspector.gui.kit.style import GRID
from inspector.gui.kit.text import plain, short
from inspector.gui.kit.widgets import Details, Emptiable, sentence_label
from inspector.gui.panels.listing import Button, Buttons, show_bytes
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

    The last arguments show the pending changes, once the repairs are among them, and ask where to write a repaired copy
    and a new archive of what is intact, for the codes of the confirmed repairs.

    Signals:
        planned(): a plan is shown.
    """

    planned = Signal()

    def __init__(
        self,
        document: Document,
        editing: Editing,
        show_changes: Callable[[], object],
        ask_copy: Callable[[tuple[str, ...]], object],
        ask_salvage: Callable[[tuple[str, ...]], object],
    ) -> None:
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
        self.buttons = Buttons(
            {
                "make": Button(
                    "&Repair in Place",
                    "Write these repairs to the archive itself",
                    self.repair_in_place,
                    lambda: self.has_part("repairs"),
                ),
                "show": Button(
                    "Sh&ow Changes",
                    "Show the repairs as pending changes, byte by byte, before anything is written",
                    lambda: self._show_changes(show_changes),
                    lambda: self.has_part("edit"),
                ),
                "copy": Button(
                    "Repair a &Copy…",
                    "Write a repaired copy; the file stays as it is",
                    lambda: ask_copy(self.accepted()),
                    lambda: self.has_part("repairs"),
                ),
                "salvage": Button(
                    "&Salvage…",
                    "Write everything that is provably intact to a new archive",
                    lambda: ask_salvage(self.accepted()),
                    lambda: self.has_part("salvage"),
                ),
            }
        )
        # Side by side, because panels at the bottom are wide and low.
        plan = in_row((self.list, 3), (self.about, 2))
        edge = (2 * GRID, GRID, 2 * GRID, 0)
        column = in_column(in_row(*self.buttons.values(), 1), self.sentence, (plan, 1), edge=edge, gap=GRID)
        self._page = page_of(column)
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

    def has_part(self, part: str) -> bool:
        """Whether the plan has these, and is one of the file itself."""
        return not self._document.in_experiment and bool(getattr(self.plan, part, None))

    # ---- the plan ----------------------------------------------------------------------------------------------

    def ask(self, code: str = "") -> None:
        """Make a plan and select the repair with this code, or the first that fixes findings with this code."""
        if self._document.status.stage is not Stage.READY:
            self._document.reported.emit("The archive has not been read yet.")
            return
        self.stack.show_sentence("Checking the archive and planning repairs…")
        self._is_planning = True
        row = self._current()
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
        offered = (*plan.repairs, *(() if plan.salvage is None else (plan.salvage,)))
        rows = (*offered, *plan.waiting)
        with QSignalBlocker(self.list):
            self.list.clear()
            for row in rows:
                self.list.addItem(_item(row, row.code in accepted and row in offered))
            for sentence in plan.left:
                self.list.addItem(_unrepaired(sentence))
        matching = (at for at, row in enumerate(rows) if code_to_select in (row.code, *row.fixes))
        self.list.setCurrentRow(next(matching, 0) if rows else -1)
        self._show_details()
        only_saved = ONLY_SAVED.format("a replay" if self._document.in_replay else "an experiment")
        self.sentence.setText(f"{plan.sentence} {only_saved}" if self._document.in_experiment else plan.sentence)
        self.buttons.renew()
        if self.list.count():
            self.stack.show_view(self._page)
        else:
            self.stack.show_sentence(plan.sentence)
        self.planned.emit()

    def _current(self) -> RepairRow | None:
        item = self.list.currentItem()
        row: RepairRow | None = item.data(_ROLE) if item is not None else None
        return row

    def _show_details(self, *_: object) -> None:
        row = self._current()
        text = "" if row is None else _details_text(row)
        if self.plan is not None and row is not None and row == self.plan.salvage:
            text = "\n".join(filter(None, (text, _report_text(self.plan.report), SALVAGE_NOTE)))
        self.about.say(text)

    def _show_bytes(self, item: QListWidgetItem) -> None:
        row: RepairRow | None = item.data(_ROLE)
        show_bytes(self._document, row.spans if row is not None else (), ORIGIN)

    # ---- repair ------------------------------------------------------------------------------------------------

    def repair_in_place(self) -> None:
        """Write the repairs to the archive itself."""
        plan, accepted = self.plan, self.accepted()
        if plan is None or not plan.repairs:
            return
        if self._editing.pending is not None:
            self._document.reported.emit("Write or discard the pending changes first.")
            return
        self._editing.carry_out(
            lambda consents: self._document.start(ArchiveRequests.make_repairs, accepted, "", consents),
            plan.edit,
            plan.beside,
        )

    def _show_changes(self, show: Callable[[], object]) -> None:
        if self.plan is not None and self.plan.edit is not None:
            self._editing.put(self.plan.edit)
            show()


def _item(row: RepairRow, accepted: bool) -> QListWidgetItem:
    """A repair as an item, with a box to tick where the user has to confirm it."""
    item = QListWidgetItem(icon_of(State.WARNING if row.claim or row.loses else State.SOUND), row.title)
    item.setData(_ROLE, row)
    item.setToolTip(plain(_details_text(row)))
    if row.claim or row.consent or accepted:
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
        item.setCheckState(Qt.CheckState.Checked if accepted else Qt.CheckState.Unchecked)
    return item


def _unrepaired(sentence: str) -> QListWidgetItem:
    item = QListWidgetItem(icon_of(Severity.WARNING), short(f"Stays as it is: {sentence}"))
    item.setFlags(Qt.ItemFlag.ItemIsEnabled)
    item.setToolTip(plain(sentence))
    return item


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
