"""The panels of an experiment and of a replay: steps over the archive as it is, which are shown and never written."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt
from PySide6.QtWidgets import QComboBox, QSizePolicy, QSlider, QWidget

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing
from inspector.gui.document.trials import Experimenting, Replaying, Trial
from inspector.gui.kit.building import dressed, in_column, number_of, page_of, side_by_side
from inspector.gui.kit.icons import icon_of
from inspector.gui.kit.listing import ListView, Rows
from inspector.gui.kit.style import GRID
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.widgets import Emptiable, FlowLayout, label_of, select_row, sentence_label
from inspector.gui.panels.banner import REPAIRABLE
from inspector.gui.panels.listing import Button, Buttons, show_bytes
from inspector.operations.protocol.replay_views import (
    CRASH_MEANINGS,
    CrashState,
    EditWrites,
    Matrix,
    MatrixRow,
    PastWrites,
    Point,
    RepairWrites,
    ReplayView,
    SegmentWrites,
    StepKind,
    StepView,
    Writes,
    covered,
)

NO_EXPERIMENT = (
    "An experiment changes bytes as they are shown and never the file. Begin one with Debug > Experiment, or choose "
    "a change from the menu of the bytes."
)
NO_STEP = (
    "No step yet: select bytes, then choose a change from their menu or from Debug > Experiment. "
    "Everything that is shown follows."
)
NO_REPLAY = (
    "A replay shows the archive after each write of a change, and in the middle of one, and never writes it. Choose "
    "what is written above, then press Replay. A change of the header or of bytes is offered while it is pending."
)
READING = "Reading the archive as each reader after each write…"
NO_CRASHES = "The history of an archive tells its states, not the writes between them, so there are no crash points."
NOT_READ = "Press Crash Points to see what each reader makes of the archive if its writer stops at a write."
PARTLY = ", partly"
_MAX_SPIN = 2**31 - 1
_MARKS = {
    CrashState.RECOVERABLE: Severity.WARNING,
    CrashState.WRONG: Severity.ERROR,
    CrashState.REJECTED: Severity.ERROR,
    CrashState.UNKNOWN: Severity.INFO,
}


def _ways_out(
    name: str, trial: Trial, ask_save: Callable[[], object], can_save: Callable[[], bool]
) -> dict[str, Button]:
    """The last buttons of a bar: they save what is shown, and leave it."""
    tip = "Write the archive as it is shown to a new file"
    return {
        "save": Button("Save as New File…", tip, ask_save, can_save),
        "leave": Button(f"Leave {name}", "Show the archive as it is", trial.leave, lambda: trial.is_on),
    }


def _lay_out(panel: QWidget, stack: Emptiable, *tools: QWidget) -> None:
    bar = FlowLayout(GRID, GRID)
    bar.add(*tools)
    in_column(bar, (stack, 1), on=panel, edge=(2 * GRID, GRID, 2 * GRID, 0), gap=GRID)


class ExperimentPanel(QWidget):
    """Shows the steps of an experiment; the last two arguments ask for a damage, and for the file to save as."""

    def __init__(
        self,
        document: Document,
        experiment: Experimenting,
        ask_damage: Callable[[], object],
        ask_save: Callable[[], object],
    ) -> None:
        super().__init__()
        self._document = document
        self._experiment = experiment
        columns = Column("Step", lambda row: f"{row[0]:,}", 60), Column("What it does", lambda row: str(row[1]))
        self.model = Rows(columns, self)
        self.table = ListView(self.model, "Steps of the experiment")
        history = experiment.history
        self.buttons = Buttons(
            {
                "undo": Button(
                    "Undo", "Undo the last change of the steps (Ctrl+Z)", experiment.undo, lambda: history.can_undo
                ),
                "redo": Button(
                    "Redo", "Redo the change undone last (Ctrl+Y)", experiment.redo, lambda: history.can_redo
                ),
                "remove": Button(
                    "Remove",
                    "Take the selected step out; those after it apply to what is left (Del)",
                    self.remove_selected,
                    lambda: self.table.currentIndex().isValid(),
                ),
                "damage": Button("Damage…", "Damage it as a disk or a transfer does", ask_damage),
                **_ways_out("Experiment", experiment, ask_save, lambda: bool(experiment.steps)),
            }
        )
        self.stack = Emptiable(self.table)
        _lay_out(self, self.stack, *self.buttons.values())
        self.setFocusProxy(self.stack)
        experiment.changed.connect(self._refresh)
        self.table.clicked.connect(self._show_bytes)
        self.table.selectionModel().currentChanged.connect(lambda *_: self.buttons.renew())
        delete = self.table.addAction("Remove")
        delete.setShortcut(Qt.Key.Key_Delete)
        delete.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        delete.triggered.connect(self.remove_selected)
        self._refresh()

    def _refresh(self) -> None:
        row, steps = self.table.currentIndex().row(), tuple(enumerate(self._experiment.steps, 1))
        if self.model.rows != steps:
            more = len(steps) > self.model.rowCount()
            self.model.show(steps)
            last = len(steps) - 1
            select_row(self.table, self.model.index(last if more else min(max(row, 0), last), 0), scroll=True)
        if steps:
            self.stack.show_view(self.table)
        else:
            self.stack.show_sentence(NO_STEP if self._experiment.is_on else NO_EXPERIMENT)
        self.buttons.renew()

    def remove_selected(self) -> None:
        """Take the selected step out."""
        self._experiment.remove(self.table.currentIndex().row())

    def _show_bytes(self, index: QModelIndex) -> None:
        """Show the bytes a step left; later steps may have moved them."""
        view = self._experiment.view
        if view is not None and index.row() < len(view.places):
            show_bytes(self._document, view.places[index.row()], "experiment")


# ---- replay ----------------------------------------------------------------------------------------------------------

STEPS = tuple(Column(title, itemgetter(at)) for at, title in enumerate(("Write", "What is written", "Bytes")))


def step_rows(view: ReplayView, point: Point) -> list[tuple[str, str, str]]:
    """The archive before the first write and after each, as the texts of rows."""
    rows = [("before", "nothing yet", "")]
    for number, step in enumerate(view.steps, 1):
        partly = PARTLY if point.part and number == point.done + 1 else ""
        what = "cut off" if step.kind is StepKind.CUT else step.what
        waits = "; then it waits for the disk" if step.synced else ""
        rows.append((f"{number} of {len(view.steps)}{partly}", f"{what}{waits}", step.place))
    return rows


def matrix_columns(matrix: Matrix) -> list[Column]:
    """Crash points by what a check and each reader make of them."""

    def of_reader(at: int, title: str) -> Column:
        def tip(row: MatrixRow) -> str:
            return f"{row.cells[at]}: the reader {CRASH_MEANINGS[row.cells[at]]}. {row.messages[at]}".strip()

        def mark(row: MatrixRow) -> Any:
            return icon_of(_MARKS[row.cells[at]]) if row.cells[at] in _MARKS else None

        return Column(title, lambda row: str(row.cells[at]), tip=tip, icon=mark)

    return [
        Column("A crash", lambda row: row.words),
        Column("Check", lambda row: str(row.state), icon=lambda row: icon_of(row.state)),
        *(of_reader(at, reader.title) for at, reader in enumerate(matrix.readers)),
        Column("Repair leads", lambda row: row.leads),
    ]


class ReplayPanel(QWidget):
    """Shows the writes of a replay and its crash points.

    ``accepted`` are the codes of the repairs that the user confirmed; ``ask_append`` asks what is appended and
    ``ask_save`` for the file to save the state shown as.
    """

    def __init__(
        self,
        document: Document,
        editing: Editing,
        replaying: Replaying,
        accepted: Callable[[], tuple[str, ...]],
        ask_append: Callable[[], object],
        ask_save: Callable[[], object],
    ) -> None:
        super().__init__()
        self._document = document
        self._editing = editing
        self._replaying = replaying
        self._accepted = accepted
        self._ask_append = ask_append
        self._offered: list[tuple[str, Writes | None]] = []
        self._is_due = False
        self._shown: ReplayView | None = None
        self.chooser = dressed(QComboBox(placeholderText="nothing to replay yet"), "What is written")
        self.chooser.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.buttons = Buttons(self._buttons(replaying, ask_save))
        self.slider = dressed(QSlider(Qt.Orientation.Horizontal), "Writes that are made", pageStep=1)
        self.slider.setMinimumWidth(120)
        tip = "Stop in the middle of the next write, after so many of its bytes"
        self.part = number_of("Bytes of the next write that are written", 0, 0, 0, toolTip=tip, keyboardTracking=False)
        self.steps_model = Rows(STEPS, self)
        self.steps = ListView(self.steps_model, "Writes of the replay")
        self.matrix_model = Rows((), self)
        self.matrix = ListView(self.matrix_model, "What each reader makes of a crash")
        self.about = sentence_label()
        self._crash_stack = Emptiable(self.matrix)
        for widget in (self.steps, self._crash_stack):
            widget.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        split = side_by_side((self.steps, 2), (self._crash_stack, 3))
        self._page = page_of(in_column((split, 1), self.about, gap=GRID), "Writes and crash points")
        self.stack = Emptiable(self._page)
        begin, previous, following, crashes, *last = self.buttons.values()
        _lay_out(
            self,
            self.stack,
            *(label_of("&Writes of:", self.chooser), self.chooser, begin),
            *(previous, self.slider, following),
            *(label_of("In the middle, after", self.part), self.part, crashes, *last),
        )
        self.setFocusProxy(self.chooser)
        self.chooser.activated.connect(lambda _: self._enable())
        self.slider.valueChanged.connect(lambda done: replaying.go(Point(done)))
        self.part.valueChanged.connect(lambda part: replaying.go(Point(replaying.point.done, part)))
        self.steps.selectionModel().currentChanged.connect(self._step_chosen)
        self.steps.clicked.connect(lambda _: self._show_bytes())
        for chosen in (self.matrix.activated, self.matrix.clicked):
            chosen.connect(self.matrix.each_row(lambda row: replaying.go(row.point)))
        replaying.changed.connect(self._refresh)
        replaying.shown.connect(self._wait_for_bytes)
        document.layersChanged.connect(self._bytes_may_be_there)
        for changed in (editing.changed, editing.pastChanged, document.statusChanged):
            changed.connect(self._offer)
        self._refresh()

    def _buttons(self, replaying: Replaying, ask_save: Callable[[], object]) -> dict[str, Button]:
        def has_crashes() -> bool:
            view, is_read = replaying.view, replaying.matrix is not None or replaying.reading
            return view is not None and view.has_crashes and not is_read

        return {
            "begin": Button(
                "Replay",
                "Show the archive before the first of these writes",
                self.begin,
                lambda: self._offered and not replaying.is_on and not replaying.why_not,
            ),
            "previous": Button(
                "◀ Previous",
                "The archive before this write (Alt+Shift+Left)",
                lambda: replaying.step(-1),
                lambda: replaying.view is not None and replaying.point > Point(0),
            ),
            "next": Button(
                "Next ▶",
                "The archive after the next write (Alt+Shift+Right)",
                lambda: replaying.step(1),
                lambda: replaying.view is not None and replaying.point < replaying.view.end,
            ),
            "crashes": Button(
                "Crash Points",
                "What does each reader make of a crash at each write?",
                replaying.read_crashes,
                has_crashes,
            ),
            **_ways_out("Replay", replaying, ask_save, lambda: replaying.view is not None),
        }

    # ---- choosing ----------------------------------------------------------------------------------------------

    def _offer(self) -> None:
        """Offer what can be replayed now; what is chosen stays."""
        if self._replaying.is_on:
            return
        offered = self._choices()
        if offered != self._offered:
            chosen = self.chooser.currentText()
            self._offered = offered
            self.chooser.clear()
            self.chooser.addItems([text for text, _ in offered])
            # Pending changes are what the user has just made.
            is_pending = self._editing.pending is not None
            self.chooser.setCurrentIndex(0 if is_pending else max(0, self.chooser.findText(chosen)))
        self._enable()

    def _choices(self) -> list[tuple[str, Writes | None]]:
        """What can be replayed now, and the words for it; None for what is asked for first."""
        offered: list[tuple[str, Writes | None]] = []
        if (pending := self._editing.pending) is not None:
            offered.append((f"the pending changes: {visible(pending.label)}", EditWrites(pending)))
        if self._document.status.appendable:
            offered.append(("an append: choose files…", None))
            offered.append(("its history, segment by segment", SegmentWrites()))
        if self._document.status.state in REPAIRABLE:
            offered.append(("the repair", RepairWrites(())))
        for number, write in enumerate(self._editing.past):
            when = datetime.fromtimestamp(write.written, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
            offered.append((f"{when}, {visible(write.label)}", PastWrites(number)))
        return offered

    def begin(self) -> None:
        """Replay what is chosen."""
        if not self._offered:
            return
        writes = self._offered[self.chooser.currentIndex()][1]
        if writes is None:
            self._ask_append()
        else:
            self._replaying.begin(RepairWrites(self._accepted()) if isinstance(writes, RepairWrites) else writes)

    # ---- showing -----------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        if not self._replaying.is_on:
            self.stack.show_sentence(NO_REPLAY)
            self._offer()
        elif (view := self._replaying.view) is None:
            self.stack.show_sentence("Rehearsing the writes…")
        else:
            self._show_view(view)
        self._enable()

    def _show_view(self, view: ReplayView) -> None:
        point, rows = self._replaying.point, tuple(step_rows(view, self._replaying.point))
        with QSignalBlocker(self.steps.selectionModel()):
            if self.steps_model.rows != rows:
                self.steps_model.show(rows)
            if self._shown is not view:
                self._shown = view
                self.steps.resizeColumnsToContents()
                self.steps.setColumnWidth(0, self.steps.columnWidth(0) + self.fontMetrics().horizontalAdvance(PARTLY))
            select_row(self.steps, self.steps_model.index(point.done + (point.part > 0), 0), scroll=True)
        self.steps.viewport().update()
        following: StepView | None = next(iter(view.steps[point.done :]), None)
        room = following.size - 1 if following is not None and following.kind is StepKind.WRITE else 0
        with QSignalBlocker(self.slider), QSignalBlocker(self.part):
            self.slider.setRange(0, len(view.steps))
            self.slider.setValue(point.done)
            self.part.setRange(0, min(room, _MAX_SPIN))
            self.part.setValue(point.part)
            self.part.setSuffix(f" of {in_bytes(room + 1)}" if room else "")
        self.slider.setToolTip(view.words(point))
        self.about.setText("  ".join((f"{view.title}.", *view.notes)))
        self._show_crashes(view)
        if self.stack.currentWidget() is not self._page:
            self.stack.show_view(self._page)

    def _show_crashes(self, view: ReplayView) -> None:
        replaying = self._replaying
        if not view.has_crashes:
            self._crash_stack.show_sentence(NO_CRASHES)
        elif replaying.matrix is None:
            self._crash_stack.show_sentence(READING if replaying.reading else NOT_READ)
        else:
            rows = replaying.matrix.rows
            with QSignalBlocker(self.matrix.selectionModel()):
                if self.matrix_model.rows != rows:
                    self.matrix_model.show(rows, columns=matrix_columns(replaying.matrix))
                    self.matrix.resizeColumnsToContents()
                row = next((at for at, each in enumerate(rows) if each.point == replaying.point), -1)
                select_row(self.matrix, self.matrix_model.index(row, 0), scroll=True)
            self._crash_stack.show_view(self.matrix)

    def _enable(self) -> None:
        is_known = self._replaying.view is not None
        self.chooser.setEnabled(not self._replaying.is_on)
        self.slider.setEnabled(is_known)
        self.part.setEnabled(is_known and self.part.maximum() > 0)
        self.buttons.renew()

    def _step_chosen(self, now: QModelIndex) -> None:
        if now.isValid() and self._replaying.point != Point(now.row()):
            self._replaying.go(Point(now.row()))

    def _wait_for_bytes(self) -> None:
        self._is_due = True
        self._bytes_may_be_there()

    def _bytes_may_be_there(self) -> None:
        """Show the bytes once the views have the archive at its new size."""
        state = self._replaying.state
        if self._is_due and state is not None and state.size == self._document.size:
            self._is_due = False
            self._show_bytes()

    def _show_bytes(self) -> None:
        """Show the bytes of the write that is the last, whole or not; before the first one, where that will write."""
        if (state := self._replaying.state) is not None:
            show_bytes(self._document, state.last or tuple(map(covered, state.view.steps[:1])), "replay")
