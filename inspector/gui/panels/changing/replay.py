"""The Replay panel: choose what is written, go from write to write, and see what each reader makes of a crash there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QSizePolicy, QSlider, QSpinBox, QSplitter, QVBoxLayout, QWidget

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing
from inspector.gui.document.replaying import Replaying
from inspector.gui.kit.icons import severity_icon, state_icon
from inspector.gui.kit.style import GRID
from inspector.gui.kit.table_models import Index, TitledTable
from inspector.gui.kit.text import plain
from inspector.gui.kit.widgets import (
    Emptiable,
    FlowLayout,
    label_of,
    push_button,
    select_row,
    sentence_label,
    table_view,
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
STEP_TITLES = ("Write", "What is written", "Bytes")
CRASH_TITLES = ("A crash", "Check")
REPAIR_TITLE = "Repair leads"
_MAX_SPIN = 2**31 - 1
_MARKS = {
    CrashState.RECOVERABLE: Severity.WARNING,
    CrashState.WRONG: Severity.ERROR,
    CrashState.REJECTED: Severity.ERROR,
    CrashState.UNKNOWN: Severity.INFO,
}


def sign(document: Document, replaying: Replaying) -> str:
    """What is on, in a sentence: that nothing is written, and the point that is shown."""
    parts = [f"Nothing is written to {visible(document.name)}."]
    if (state := replaying.state) is not None:
        words = state.view.words(state.point)
        parts.append(f"{words[0].upper()}{words[1:]}: {in_bytes(state.size)}.")
    return " ".join(parts)


class ReplayPanel(QWidget):
    """Shows the writes of a replay and its crash points.

    Signals:
        appendRequested(): choose what is appended.
        saveRequested(): save the state that is shown as a new file.
    """

    appendRequested = Signal()
    saveRequested = Signal()

    def __init__(
        self, document: Document, editing: Editing, replaying: Replaying, accepted: Callable[[], tuple[str, ...]]
    ) -> None:
        super().__init__()
        self._document = document
        self._editing = editing
        self._replaying = replaying
        self._accepted = accepted
        self._offered: list[tuple[str, Writes | None]] = []
        self._is_due = False
        self.chooser = QComboBox()
        self.chooser.setPlaceholderText("nothing to replay yet")
        self.chooser.setAccessibleName("What is written")
        self.chooser.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.begin_ = push_button("Replay", "Show the archive before the first of these writes")
        self.previous = push_button("◀ Previous", "The archive before this write (Alt+Shift+Left)")
        self.next = push_button("Next ▶", "The archive after the next write (Alt+Shift+Right)")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Writes that are made")
        self.slider.setMinimumWidth(120)
        self.slider.setPageStep(1)
        self.part = QSpinBox()
        self.part.setAccessibleName("Bytes of the next write that are written")
        self.part.setKeyboardTracking(False)
        self.part.setToolTip("Stop in the middle of the next write, after so many of its bytes")
        self.crashes = push_button("Crash Points", "What does each reader make of a crash at each write?")
        self.save = push_button("Save as New File…", "Write the archive as it is shown to a new file")
        self.leave = push_button("Leave Replay", "Show the archive as it is")
        self.steps_model = StepsModel(self)
        self.steps = table_view(self.steps_model, {}, "Writes of the replay")
        self.matrix_model = MatrixModel(self)
        self.matrix = table_view(self.matrix_model, {}, "What each reader makes of a crash")
        self.about = sentence_label()
        self._crash_stack = Emptiable(self.matrix)
        self._stack = Emptiable(page := self._page())
        self._pages = page
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, 2 * GRID, 0)
        layout.setSpacing(GRID)
        layout.addLayout(self._bar())
        layout.addWidget(self._stack, 1)
        self.setFocusProxy(self.chooser)
        self.chooser.activated.connect(lambda _: self._enable())
        self.begin_.clicked.connect(self.begin)
        self.previous.clicked.connect(lambda: replaying.step(-1))
        self.next.clicked.connect(lambda: replaying.step(1))
        self.slider.valueChanged.connect(lambda done: replaying.go(Point(done)))
        self.part.valueChanged.connect(lambda part: replaying.go(Point(replaying.point.done, part)))
        self.crashes.clicked.connect(replaying.read_crashes)
        self.save.clicked.connect(self.saveRequested)
        self.leave.clicked.connect(replaying.leave)
        self.steps.selectionModel().currentChanged.connect(self._step_chosen)
        self.steps.clicked.connect(lambda _: self._show_bytes())
        self.matrix.activated.connect(self._crash_chosen)
        self.matrix.clicked.connect(self._crash_chosen)
        replaying.changed.connect(self._refresh)
        replaying.shown.connect(self._wait_for_bytes)
        document.layersChanged.connect(self._bytes_may_be_there)
        for changed in (editing.changed, editing.pastChanged, document.statusChanged):
            changed.connect(self._offer)
        self._offer()
        self._refresh()

    def _bar(self) -> FlowLayout:
        bar = FlowLayout(GRID, GRID)
        bar.add(label_of("&Writes of:", self.chooser), self.chooser, self.begin_)
        bar.add(self.previous, self.slider, self.next)
        bar.add(label_of("In the middle, after", self.part), self.part)
        bar.add(self.crashes, self.save, self.leave)
        return bar

    def _page(self) -> QWidget:
        page = QWidget()
        page.setAccessibleName("Writes and crash points")
        split = QSplitter(Qt.Orientation.Horizontal)
        for widget in (self.steps, self._crash_stack):
            widget.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
            split.addWidget(widget)
        split.setStretchFactor(0, 2)
        split.setStretchFactor(1, 3)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(split, 1)
        layout.addWidget(self.about)
        return page

    # ---- choosing ----------------------------------------------------------------------------------------------

    @property
    def is_needed(self) -> bool:
        """Whether writes are replayed."""
        return self._replaying.is_on

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
            self.appendRequested.emit()
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
        if self.steps_model.show(view, point):
            self.steps.resizeColumnsToContents()
            self.steps.setColumnWidth(0, self.steps.columnWidth(0) + self.fontMetrics().horizontalAdvance(PARTLY))
        with QSignalBlocker(self.steps.selectionModel()):
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
        if self._stack.currentWidget() is not self._pages:
            self._stack.show_view(self._pages)
        self.slider.setToolTip(view.words(point))

    def _show_crashes(self, view: ReplayView) -> None:
        replaying = self._replaying
        if not view.has_crashes:
            self._crash_stack.show_sentence(NO_CRASHES)
        elif replaying.matrix is None:
            self._crash_stack.show_sentence(READING if replaying.reading else NOT_READ)
        else:
            if self.matrix_model.show(replaying.matrix):
                self.matrix.resizeColumnsToContents()
            with QSignalBlocker(self.matrix.selectionModel()):
                row = self.matrix_model.row_of(replaying.point)
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

    def _crash_chosen(self, index: QModelIndex) -> None:
        matrix = self._replaying.matrix
        if matrix is not None and index.isValid():
            self._replaying.go(matrix.rows[index.row()].point)

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


class StepsModel(TitledTable):
    """A row for the archive before the first write, and one for each write."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(STEP_TITLES, parent)
        self._view: ReplayView | None = None
        self._point = Point(0)

    def show(self, view: ReplayView, point: Point) -> bool:
        """Show the writes of a replay, and how far they are; returns whether they are others than before."""
        before, self._point = self._point, point
        if view == self._view:
            for row in {before.done + 1, point.done + 1} & set(range(self.count)):
                self.dataChanged.emit(self.index(row, 0), self.index(row, 0))
            return False
        self.beginResetModel()
        self._view = view
        self._rows = (None, *view.steps)
        self.endResetModel()
        return True

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        text = self._text(index.row(), index.column())
        return text if role == Qt.ItemDataRole.DisplayRole else plain(text)

    def _text(self, row: int, column: int) -> str:
        step: StepView | None = self._rows[row]
        if step is None:
            return ("before", "nothing yet", "")[column]
        if column == 0:
            partly = PARTLY if self._point.part and row == self._point.done + 1 else ""
            return f"{row} of {self.count - 1}{partly}"
        if column == 1:
            what = "cut off" if step.kind is StepKind.CUT else step.what
            return f"{what}; then it waits for the disk" if step.synced else what
        return f"{in_bytes(step.size)} at {grouped(step.offset)} ({hexadecimal(step.offset)})"


class MatrixModel(TitledTable):
    """Crash points by readers."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__((*CRASH_TITLES, REPAIR_TITLE), parent)
        self._matrix: Matrix | None = None

    def show(self, matrix: Matrix) -> bool:
        """Show a matrix; returns whether it is another one than before."""
        if matrix is self._matrix:
            return False
        self.beginResetModel()
        self._matrix = matrix
        self._titles = (*CRASH_TITLES, *(each.title for each in matrix.readers), REPAIR_TITLE)
        self._rows = matrix.rows
        self.endResetModel()
        return True

    def row_of(self, point: Point) -> int:
        """The row of a point, -1 if it has none."""
        return next((at for at, row in enumerate(self._rows) if row.point == point), -1)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row: MatrixRow = self._rows[index.row()]
        column = index.column()
        if column < len(CRASH_TITLES):
            text = (row.words, str(row.state))[column]
            if role == Qt.ItemDataRole.DecorationRole and column == 1:
                return state_icon(row.state)
        elif column == self.columnCount() - 1:
            text = repair_text(row)
        else:
            cell = row.cells[column - len(CRASH_TITLES)]
            text = str(cell)
            if role == Qt.ItemDataRole.DecorationRole:
                return severity_icon(_MARKS[cell]) if cell in _MARKS else None
            if role == Qt.ItemDataRole.ToolTipRole:
                message = row.messages[column - len(CRASH_TITLES)]
                return plain(f"{text}: the reader {CRASH_MEANINGS[cell]}. {message}".strip())
        if role == Qt.ItemDataRole.DisplayRole:
            return text
        return plain(text) if role == Qt.ItemDataRole.ToolTipRole else None


def repair_text(row: MatrixRow) -> str:
    """Where the repair leads, and what it needs to be accepted."""
    if row.repair is RepairEnd.NONE:
        return str(row.repair)
    return f"{row.repair}, accepting {row.accept}" if row.accept else str(row.repair)
