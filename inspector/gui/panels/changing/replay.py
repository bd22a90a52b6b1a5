"""The Replay panel: choose what is written, go from write to write, and see what each reader makes of a crash there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt
from PySide6.QtWidgets import QComboBox, QSizePolicy, QSlider, QWidget

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing
from inspector.gui.document.trials import Replaying
from inspector.gui.kit.building import dressed, in_column, number_of, page_of, side_by_side
from inspector.gui.kit.icons import severity_icon, state_icon
from inspector.gui.kit.listing import ListView, Rows
from inspector.gui.kit.style import GRID
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.widgets import (
    Emptiable,
    FlowLayout,
    label_of,
    push_button,
    select_row,
    sentence_label,
)
from inspector.gui.panels.banner import REPAIRABLE
from inspector.operations.protocol.replay_views import (
    CRASH_MEANINGS,
    CrashState,
    EditWrites,
    Matrix,
    MatrixRow,
    PastWrites,
    Point,
    RepairEnd,
    RepairWrites,
    ReplayView,
    SegmentWrites,
    StepKind,
    StepView,
    Writes,
    covered,
)

ORIGIN = "replay"
NOTHING = (
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


def repair_text(row: MatrixRow) -> str:
    """Where the repair leads, and what it needs to be accepted."""
    if row.repair is RepairEnd.NONE:
        return str(row.repair)
    return f"{row.repair}, accepting {row.accept}" if row.accept else str(row.repair)


def _step_number(row: StepRow) -> str:
    return f"{row.number} of {row.of}{PARTLY if row.is_partly else ''}" if row.step is not None else "before"


def _step_what(row: StepRow) -> str:
    if row.step is None:
        return "nothing yet"
    what = "cut off" if row.step.kind is StepKind.CUT else row.step.what
    return f"{what}; then it waits for the disk" if row.step.synced else what


def _step_bytes(row: StepRow) -> str:
    step = row.step
    return "" if step is None else f"{in_bytes(step.size)} at {grouped(step.offset)} ({hexadecimal(step.offset)})"


STEPS = (Column("Write", _step_number), Column("What is written", _step_what), Column("Bytes", _step_bytes))


class StepRow(NamedTuple):
    """A write of ``of``, or None for the archive before the first; ``is_partly``: the point shown is in the middle."""

    number: int
    of: int
    step: StepView | None
    is_partly: bool


def step_rows(view: ReplayView, point: Point) -> list[StepRow]:
    """The archive before the first write, and after each, as rows."""
    steps = (None, *view.steps)
    return [
        StepRow(at, len(view.steps), step, bool(point.part) and at == point.done + 1) for at, step in enumerate(steps)
    ]


def matrix_columns(matrix: Matrix) -> list[Column]:
    """Crash points by what a check and each reader make of them."""

    def of_reader(at: int, title: str) -> Column:
        def tip(row: MatrixRow) -> str:
            return f"{row.cells[at]}: the reader {CRASH_MEANINGS[row.cells[at]]}. {row.messages[at]}".strip()

        def mark(row: MatrixRow) -> Any:
            return severity_icon(_MARKS[row.cells[at]]) if row.cells[at] in _MARKS else None

        return Column(title, lambda row: str(row.cells[at]), tip=tip, icon=mark)

    return [
        Column("A crash", lambda row: row.words),
        Column("Check", lambda row: str(row.state), icon=lambda row: state_icon(row.state)),
        *(of_reader(at, reader.title) for at, reader in enumerate(matrix.readers)),
        Column("Repair leads", repair_text),
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
        self.begin_ = push_button("Replay", "Show the archive before the first of these writes", self.begin)
        tip = "The archive before this write (Alt+Shift+Left)"
        self.previous = push_button("◀ Previous", tip, lambda: replaying.step(-1))
        self.next = push_button(
            "Next ▶", "The archive after the next write (Alt+Shift+Right)", lambda: replaying.step(1)
        )
        self.slider = dressed(QSlider(Qt.Orientation.Horizontal), "Writes that are made", pageStep=1)
        self.slider.setMinimumWidth(120)
        tip = "Stop in the middle of the next write, after so many of its bytes"
        self.part = number_of("Bytes of the next write that are written", 0, 0, 0, toolTip=tip, keyboardTracking=False)
        tip = "What does each reader make of a crash at each write?"
        self.crashes = push_button("Crash Points", tip, replaying.read_crashes)
        self.save = push_button("Save as New File…", "Write the archive as it is shown to a new file", ask_save)
        self.leave = push_button("Leave Replay", "Show the archive as it is", replaying.leave)
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
        self._stack = Emptiable(self._page)
        bar = FlowLayout(GRID, GRID)
        bar.add(label_of("&Writes of:", self.chooser), self.chooser, self.begin_)
        bar.add(self.previous, self.slider, self.next)
        bar.add(label_of("In the middle, after", self.part), self.part, self.crashes, self.save, self.leave)
        in_column(bar, (self._stack, 1), on=self, edge=(2 * GRID, GRID, 2 * GRID, 0), gap=GRID)
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
        self._offer()
        self._refresh()

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
            for text, _ in offered:
                self.chooser.addItem(text)
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
        row = self.chooser.currentIndex()
        if not 0 <= row < len(self._offered):
            return
        writes = self._offered[row][1]
        if writes is None:
            self._ask_append()
        else:
            self._replaying.begin(RepairWrites(self._accepted()) if isinstance(writes, RepairWrites) else writes)

    # ---- showing -----------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        replaying, view = self._replaying, self._replaying.view
        if not replaying.is_on:
            self._stack.show_sentence(NOTHING)
            self._offer()
        elif view is None:
            self._stack.show_sentence("Rehearsing the writes…")
        else:
            self._show_view(view)
        self._enable()

    def _show_view(self, view: ReplayView) -> None:
        point = self._replaying.point
        rows = step_rows(view, point)
        with QSignalBlocker(self.steps.selectionModel()):
            if self.steps_model.rows != tuple(rows):
                self.steps_model.show(rows)
            if self._shown is not view:
                self._shown = view
                self.steps.resizeColumnsToContents()
                self.steps.setColumnWidth(0, self.steps.columnWidth(0) + self.fontMetrics().horizontalAdvance(PARTLY))
            select_row(self.steps, self.steps_model.index(point.done + (point.part > 0), 0), scroll=True)
        self.steps.viewport().update()
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, len(view.steps))
            self.slider.setValue(point.done)
        following = view.steps[point.done] if point.done < len(view.steps) else None
        room = following.size - 1 if following is not None and following.kind is StepKind.WRITE else 0
        with QSignalBlocker(self.part):
            self.part.setRange(0, min(room, _MAX_SPIN))
            self.part.setValue(point.part)
            self.part.setSuffix(f" of {in_bytes(following.size)}" if following is not None and room else "")
        self.about.setText("  ".join((f"{view.title}.", *view.notes)))
        self._show_crashes(view)
        if self._stack.currentWidget() is not self._page:
            self._stack.show_view(self._page)
        self.slider.setToolTip(view.words(point))

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
                select_row(self.matrix, self.matrix_model.index(row, 0) if row >= 0 else QModelIndex(), scroll=True)
            self._crash_stack.show_view(self.matrix)

    def _enable(self) -> None:
        replaying, view = self._replaying, self._replaying.view
        known = replaying.is_on and view is not None
        self.chooser.setEnabled(not replaying.is_on)
        self.begin_.setEnabled(bool(self._offered) and not replaying.is_on and not replaying.why_not)
        self.previous.setEnabled(known and replaying.point > Point(0))
        self.next.setEnabled(view is not None and replaying.point < view.end)
        self.slider.setEnabled(known)
        self.part.setEnabled(known and self.part.maximum() > 0)
        self.crashes.setEnabled(
            view is not None and view.has_crashes and replaying.matrix is None and not replaying.reading
        )
        self.save.setEnabled(known)
        self.leave.setEnabled(replaying.is_on)

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
        state = self._replaying.state
        if state is None or not self._document.size:
            return
        spans = state.last
        if not spans and state.view.steps:
            spans = (covered(state.view.steps[0]),)
        for span in spans:
            start, stop = span.clipped(0, self._document.size)
            start = min(start, self._document.size - 1)
            self._document.go_to(0, start, max(start, stop), ORIGIN)
