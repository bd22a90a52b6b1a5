"""The Reader panel: choose a reader, see its steps, play them, and see what every reader makes of the archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QSizePolicy,
    QSpinBox,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from inspector.core.numbers import count, grouped
from inspector.core.reader import ReaderKind, Step
from inspector.core.span import Span
from inspector.gui.document.document import Document
from inspector.gui.kit.item_views import ColumnWidener
from inspector.gui.kit.style import GRID, Sentences
from inspector.gui.kit.table_models import FixedTable
from inspector.gui.kit.text import loading_text
from inspector.gui.kit.widgets import Details, Emptiable, FlowLayout, label_of, sentence_label, table_view, tree_view
from inspector.gui.panels.reader.steps import BYTES, DECISION, STEP, VALUE, StepsModel, overlap, span_text
from inspector.gui.panels.reader.table import KIND_LABELS, WHY, table_row
from inspector.gui.panels.reader.table import TITLES as TABLE_TITLES
from inspector.gui.panels.reader.table import WIDTHS as TABLE_WIDTHS
from inspector.gui.panels.reader.timeline import ReadTimeline, reads_text
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.trace_views import ReaderInfo, ReaderRow, TraceResult
from inspector.operations.protocol.views import Page, Stage

ORIGIN = "reader"
NOT_YET = "Choose a reader to see every step it takes through this archive."
MAX_UNFOLDED = 2_000
"""Steps that are all unfolded at once; of more, the outer ones."""
PAGE_STEPS = 1_000
"""Steps in one request."""
SPEEDS = (1, 2, 5, 10, 50)
"""Steps in a second while playing."""
DEFAULT_LATENCY_MS = 50
WIDTHS = {STEP: 270, VALUE: 210, DECISION: 180, BYTES: 110}


def _button(text: str, tip: str, pressed: Callable[[], object]) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    button.setAutoRaise(True)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    button.clicked.connect(lambda _=False: pressed())
    return button


class ReaderPanel(QWidget):
    """Follows a reader through a document's archive; the bytes of the current step are selected everywhere.

    Signals:
        traced(): the steps of a reader are shown, or none any more.
    """

    traced = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._infos: tuple[ReaderInfo, ...] = ()
        self._readers_of = ("", -1)
        self._followed = ""
        self.result: TraceResult | None = None
        self.rows: tuple[ReaderRow, ...] = ()
        self.breakpoints: list[Span] = []
        self._arriving: list[Step] = []
        self._is_wanted = False
        self._is_moving = False
        self._trace = 0
        self.chooser = QComboBox()
        self.chooser.setAccessibleName("Reader")
        self.chooser.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.model = StepsModel(self)
        self.tree = tree_view(self.model, WIDTHS, "Steps of the reader")
        self.tree.setItemDelegateForColumn(DECISION, Sentences(self.tree))
        ColumnWidener(self.tree, BYTES, WIDTHS[BYTES])
        self.tree.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.about = sentence_label()
        self.end = Details("How the reader ends")
        self.variables = Details("Variables of the reader at this step")
        self.table_model = FixedTable(TABLE_TITLES, (), self)
        self.table = table_view(self.table_model, TABLE_WIDTHS, "What each reader makes of this archive")
        self.table.setItemDelegateForColumn(WHY, Sentences(self.table))
        self.timeline = ReadTimeline()
        self.costs = sentence_label()
        self.latency = QSpinBox()
        self.latency.setRange(0, 5_000)
        self.latency.setSuffix(" ms")
        self.latency.setValue(DEFAULT_LATENCY_MS)
        self.latency.setToolTip("The time that one request takes, for the sum beside it")
        self.speed = QComboBox()
        self.speed.setAccessibleName("Speed")
        for speed in SPEEDS:
            self.speed.addItem(f"{speed} a second", speed)
        self.speed.setCurrentIndex(1)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._play_on)
        self.playing = _button("▶", "Play", self.play)
        self.breaking = _button("● Break Here", "Stop playing at the selected bytes, or no longer", self.toggle_break)
        self._stack = Emptiable(page := self._lay_out())
        self._page = page
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._bar())
        layout.addWidget(self._stack, 1)
        self.setFocusProxy(self.tree)
        self.chooser.activated.connect(lambda _: self.follow())
        self.tree.selectionModel().currentChanged.connect(self._step_chosen)
        self.table.activated.connect(self._reader_chosen)
        self.timeline.stepChosen.connect(self._go_to_number)
        self.latency.valueChanged.connect(lambda _: self._show_costs())
        self.speed.currentIndexChanged.connect(lambda _: self._timer.setInterval(self._interval()))
        document.statusChanged.connect(self._status_changed)
        self._stack.show_sentence(NOT_YET)
        self._set_enabled()

    # ---- layout ------------------------------------------------------------------------------------------------

    def _bar(self) -> FlowLayout:
        bar = FlowLayout(GRID, GRID)
        self._moves = [
            _button("|◀", "First step", lambda: self.go(0)),
            _button("◀", "Previous step", lambda: self.step(-1)),
            self.playing,
            _button("▶|", "Next step", lambda: self.step(1)),
            _button("▶▶ To the Failure", "Run to the first step that fails", self.to_failure),
            _button("To This Byte", "Run to the next step that touches the byte at the caret", self.to_byte),
            self.breaking,
        ]
        bar.add(self.chooser, *self._moves, self.speed)
        return bar

    def _lay_out(self) -> QWidget:
        page = QWidget()
        page.setAccessibleName("Steps, variables and readers")
        texts = QSplitter(Qt.Orientation.Horizontal)
        for widget in (self.end, self.variables):
            widget.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
            texts.addWidget(widget)
        texts.setStretchFactor(0, 3)
        texts.setStretchFactor(1, 2)
        self.table.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        side = QSplitter(Qt.Orientation.Vertical)
        side.addWidget(self.table)
        side.addWidget(texts)
        side.setSizes([1_000, 1_000])
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self.tree)
        split.addWidget(side)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        costs = QHBoxLayout()
        costs.addWidget(self.costs, 1)
        costs.addWidget(label_of("Latency:", self.latency))
        costs.addWidget(self.latency)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(GRID, 0, GRID, GRID)
        layout.setSpacing(GRID)
        layout.addWidget(self.about)
        layout.addWidget(split, 1)
        layout.addWidget(self.timeline)
        layout.addLayout(costs)
        return page

    # ---- choosing ----------------------------------------------------------------------------------------------

    @property
    def is_needed(self) -> bool:
        """Whether the user asked for it."""
        return self._is_wanted

    def follow_again(self) -> None:
        """Follow the same reader anew, if one is followed: the bytes are others."""
        self._followed = self.chooser.currentData() or ""
        if self._is_wanted:
            self.forget()
            if self.isVisible():
                self.open()

    def open(self) -> None:
        """Offer the readers of the archive shown, follow the first one, and ask what all of them make of it."""
        self._is_wanted = True
        if self._document.status.stage is not Stage.READY:
            self._stack.show_sentence(loading_text(self._document.status.stage) or "The archive could not be read.")
            return
        if self._readers_of != self._archive():
            layer = self._document.layer
            self._readers_of = self._archive()
            self._document.client.ask(ArchiveRequests.readers, layer).then(self._take_readers)

    def _archive(self) -> tuple[str, int]:
        """What tells one state of an archive from another."""
        status = self._document.status
        return (f"{status.stamp} {status.size} {status.members}", self._document.layer if status.collection else 0)

    def _take_readers(self, infos: tuple[ReaderInfo, ...]) -> None:
        self._infos = infos
        self.chooser.clear()
        for kind in (ReaderKind.RUN, ReaderKind.DESCRIBED):
            of_kind = [info for info in infos if info.kind is kind and not info.why_not]
            if of_kind and self.chooser.count():
                self.chooser.insertSeparator(self.chooser.count())
            for info in of_kind:
                self.chooser.addItem(f"{info.title} ({KIND_LABELS[kind]})", info.name)
                self.chooser.setItemData(self.chooser.count() - 1, info.about, Qt.ItemDataRole.ToolTipRole)
        self._set_enabled()
        if not infos:
            self._stack.show_sentence("No other reader of this format is known.")
            return
        known = {info.name for info in infos if not info.why_not}
        self.choose(self._followed if self._followed in known else infos[0].name)
        self._document.start(ArchiveRequests.compare_readers, self._document.layer).then(self._take_rows)

    def follow_next(self, name: str) -> None:
        """Follow this reader now, or as soon as the readers are offered."""
        self._followed = name
        if self.chooser.findData(name) >= 0 and self._readers_of == self._archive():
            self.choose(name)

    def choose(self, name: str) -> None:
        """Follow a reader by its name."""
        self.chooser.setCurrentIndex(max(0, self.chooser.findData(name)))
        self.follow()

    def follow(self) -> None:
        """Follow the chosen reader from the beginning."""
        name = self.chooser.currentData()
        if name is None:
            return
        self.stop()
        self._stack.show_sentence(f"Following {self.chooser.currentText()}…")
        self._trace += 1
        self.result = None
        trace = self._trace
        job = self._document.start(ArchiveRequests.follow_reader, self._document.layer, name)
        job.then(lambda result: self._take_result(trace, result))
        job.finished.connect(lambda _: self._follow_over(trace))

    def _follow_over(self, trace: int) -> None:
        """Say so where it was cancelled; otherwise the result follows."""
        if trace == self._trace and self.result is None and not self._arriving:
            self._stack.show_sentence(NOT_YET)

    def _take_result(self, trace: int, result: TraceResult) -> None:
        if trace == self._trace:
            self.result, self._arriving = result, []
            self._ask_steps(trace)

    def _ask_steps(self, trace: int) -> None:
        asked = self._document.client.ask(ArchiveRequests.reader_steps, len(self._arriving), PAGE_STEPS)
        asked.then(lambda page: self._take_steps(trace, page))

    def _take_steps(self, trace: int, page: Page[Step]) -> None:
        if trace != self._trace:
            return
        self._arriving.extend(page.rows)
        if page.rows and len(self._arriving) < page.total:
            self._ask_steps(trace)
            return
        self._show_trace()

    def _show_trace(self) -> None:
        result = self.result
        if result is None:
            return
        steps, self._arriving = tuple(self._arriving), []
        self.model.show_steps(steps)
        if len(steps) <= MAX_UNFOLDED:
            self.tree.expandAll()
        else:
            self.tree.expandToDepth(0)
        self.about.setText(f"{result.title}, {KIND_LABELS[result.kind]}. {result.about}")
        self.end.say(end_text(result))
        self.timeline.show_result(result)
        self._show_costs()
        self._stack.show_view(self._page)
        self._stack.setFocusProxy(self.tree)
        self._set_enabled()
        if steps:
            self._is_moving = True  # nothing is selected in other views before the user moves
            self.tree.setCurrentIndex(self.model.index_of(0))
            self._is_moving = False
            self._show_state(steps[0])

    def _take_rows(self, rows: tuple[ReaderRow, ...]) -> None:
        self.rows = rows
        self.table_model.show([table_row(row) for row in rows])

    def _reader_chosen(self, index: QModelIndex) -> None:
        row = self.rows[index.row()]
        if self.chooser.findData(row.name) >= 0:
            self.choose(row.name)

    def _status_changed(self) -> None:
        """Forget a trace of an archive that is not the one shown any more."""
        if self._is_wanted and self._document.status.stage is Stage.READY and self._readers_of != self._archive():
            self.forget()
            if self.isVisible():
                self.open()

    def forget(self) -> None:
        """Show nothing until a reader is followed again."""
        self.stop()
        self._trace += 1
        self.result, self.rows, self._arriving, self._readers_of = None, (), [], ("", -1)
        self.model.show_steps(())
        self.table_model.show(())
        self.timeline.show_result(None)
        self._stack.show_sentence(NOT_YET)
        self._set_enabled()

    def _set_enabled(self) -> None:
        for button in self._moves:
            button.setEnabled(bool(self.model.steps))
        self.traced.emit()

    # ---- steps -------------------------------------------------------------------------------------------------

    @property
    def at(self) -> int:
        """The position of the current step, -1 without any."""
        return self.model.position(self.tree.currentIndex())

    def go(self, position: int) -> None:
        """Make a step current and select its bytes everywhere."""
        index = self.model.index_of(position)
        if index.isValid():
            self.tree.setCurrentIndex(index)
            self.tree.scrollTo(index)

    def step(self, by: int) -> None:
        """Go to the next step (1) or the previous one (-1)."""
        self.go(min(max(0, self.at + by), len(self.model.steps) - 1))

    def to_failure(self) -> None:
        """Go to the step the reader stopped at, or the first one that failed."""
        stopped = self.result.outcome.stopped_at if self.result is not None else None
        failed = (at for at, step in self.model.positions() if step.n == stopped or (stopped is None and not step.ok))
        self._go_or_say(next(failed, None), "No step of this reader fails.")

    def to_byte(self) -> None:
        """Go to the next step that touches the byte at the caret, or to the first one that does."""
        caret = self._document.selection.caret
        here = Span(caret, caret + 1)
        touching = [at for at, step in self.model.positions() if overlap(step.span, here)]
        later = next((at for at in touching if at > self.at), None)
        self._go_or_say(later if later is not None else next(iter(touching), None), "No step touches this byte.")

    def _go_or_say(self, position: int | None, why_not: str) -> None:
        self.stop()
        if position is None:
            self._document.reported.emit(why_not)
        else:
            self.go(position)

    def toggle_break(self) -> None:
        """Stop playing at the selected bytes or field, or no longer."""
        selection = self._document.selection
        spans = selection.spans or (Span(selection.caret, selection.caret + 1),)
        there = [each for each in self.breakpoints if each in spans]
        self.breakpoints = [each for each in self.breakpoints if each not in there]
        if not there:
            self.breakpoints.extend(spans)
        verb = "no longer stops" if there else "stops"
        self._document.reported.emit(f"Playing {verb} at {span_text(spans[0])}.")

    def play(self) -> None:
        """Play the steps from the current one, or stop."""
        if self._timer.isActive():
            self.stop()
        elif self.model.steps:
            self._timer.start(self._interval())
            self._show_playing()

    def stop(self) -> None:
        """Stop playing."""
        self._timer.stop()
        self._show_playing()

    def _show_playing(self) -> None:
        active = self._timer.isActive()
        self.playing.setText("❚❚" if active else "▶")
        self.playing.setToolTip("Pause" if active else "Play")
        self.playing.setAccessibleName(self.playing.toolTip())

    def _interval(self) -> int:
        return 1000 // int(self.speed.currentData())

    def _play_on(self) -> None:
        """Go to the next step; the last one, one that fails and one at a breakpoint end playing."""
        self.step(1)
        step = self.model.steps[self.at]
        is_break = any(overlap(step.span, each) for each in self.breakpoints)
        if is_break or not step.ok or self.at == len(self.model.steps) - 1:
            self.stop()

    def _go_to_number(self, number: int) -> None:
        found = (at for at, step in self.model.positions() if step.n <= number < step.n + max(1, step.folded))
        self._go_or_say(next(found, None), "This step is not kept.")

    def _step_chosen(self, index: QModelIndex, _: QModelIndex) -> None:
        position = self.model.position(index)
        if position < 0 or self._is_moving:
            return
        step = self.model.steps[position]
        self._show_state(step)
        if step.span is not None and step.span.size and self.result is not None:
            self._document.select_step(self.result.layer, step.span, ORIGIN, wrong=not step.ok)

    def _show_state(self, step: Step) -> None:
        self.timeline.show_step(step.n)
        lines = [f"{name}: {value}" for name, value in step.state]
        self.variables.say("\n".join(("State at this step", *(lines or ["nothing yet"]))))

    def _show_costs(self) -> None:
        self.costs.setText(reads_text(self.result, self.latency.value()) if self.result is not None else "")


def end_text(result: TraceResult) -> str:
    """How a reader ends: what it accepts, or where it stops, its message and what would have to be different."""
    outcome = result.outcome
    given = f"{count(outcome.members, 'member')} given" if outcome.lists else ""
    if outcome.accepts:
        return " ".join(filter(None, ("Accepts.", f"{given}." if given else "", outcome.message, _folded(result))))
    head = "Rejects" if outcome.accepts is False else "Not known what it does"
    place = f" at step {grouped(outcome.stopped_at)}" if outcome.stopped_at is not None else ""
    inside = f" in {outcome.member}" if outcome.member else ""
    parts: Iterable[str] = (f"{head}{place}{inside}: “{outcome.message}”", f"{given}." if given else "")
    return "\n".join(filter(None, (*parts, outcome.cause, _folded(result))))


def _folded(result: TraceResult) -> str:
    return f"{count(result.folded, 'step')} in the middle are not kept here." if result.folded else ""
