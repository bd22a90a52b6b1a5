"""The Reader panel: choose a reader, see its steps, play them, and see what every reader makes of the archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QSizePolicy, QToolButton, QWidget

from inspector.core.numbers import count, grouped
from inspector.core.reader import ReaderKind, Step
from inspector.core.span import Span
from inspector.gui.document.document import Document
from inspector.gui.kit.building import (
    dressed,
    in_column,
    in_row,
    number_of,
    page_of,
    side_by_side,
    tool_button,
)
from inspector.gui.kit.item_views import ColumnWidener
from inspector.gui.kit.listing import read_pages
from inspector.gui.kit.style import GRID, Sentences
from inspector.gui.kit.table_models import Deliver, widths
from inspector.gui.kit.text import loading_text
from inspector.gui.kit.widgets import Details, Emptiable, FlowLayout, label_of, sentence_label, tree_view
from inspector.gui.panels.reader.steps import BYTES, COLUMNS, DECISION, StepsModel, overlap
from inspector.gui.panels.reader.table import KIND_LABELS, ReadersTable
from inspector.gui.panels.reader.timeline import ReadTimeline, reads_text
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.trace_views import ReaderInfo, TraceResult
from inspector.operations.protocol.views import Stage

ORIGIN = "reader"
NOT_YET = "Choose a reader to see every step it takes through this archive."
MAX_UNFOLDED = 2_000
"""Steps that are all unfolded at once; of more, the outer ones."""
PAGE_STEPS = 1_000
"""Steps in one request."""
DEFAULT_LATENCY_MS = 50


def _button(text: str, tip: str, pressed: Callable[[], object]) -> QToolButton:
    return dressed(tool_button(text, tip, pressed), tip)


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
        self.is_needed = False
        self._is_moving = False
        self._trace = 0
        self.chooser = dressed(QComboBox(), "Reader")
        self.chooser.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.model = StepsModel(self)
        self.tree = tree_view(self.model, widths(COLUMNS), "Steps of the reader")
        self.tree.setItemDelegateForColumn(DECISION, Sentences(self.tree))
        ColumnWidener(self.tree, BYTES, COLUMNS[BYTES].width)
        self.tree.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.about = sentence_label()
        self.end = Details("How the reader ends")
        self.variables = Details("Variables of the reader at this step")
        self.readers = ReadersTable(document)
        self.timeline = ReadTimeline()
        self.costs = sentence_label()
        tip = "The time that one request takes, for the sum beside it"
        self.latency = number_of("Latency", 0, 5_000, DEFAULT_LATENCY_MS, suffix=" ms", toolTip=tip)
        self._moves = [
            _button("|◀", "First step", lambda: self.go(0)),
            _button("◀", "Previous step", lambda: self.step(-1)),
            _button("▶|", "Next step", lambda: self.step(1)),
            _button("▶▶ To the Failure", "Run to the first step that fails", self.to_failure),
            _button("To This Byte", "Run to the next step that touches the byte at the caret", self.to_byte),
        ]
        bar = FlowLayout(GRID, GRID)
        bar.add(self.chooser, *self._moves)
        self._page = self._lay_out()
        self._stack = Emptiable(self._page)
        in_column(bar, (self._stack, 1), on=self)
        self.setFocusProxy(self.tree)
        self.chooser.activated.connect(lambda _: self.follow())
        self.tree.selectionModel().currentChanged.connect(self._step_chosen)
        self.readers.chosen.connect(self.choose)
        self.timeline.stepChosen.connect(self._go_to_number)
        self.latency.valueChanged.connect(lambda _: self._show_costs())
        document.statusChanged.connect(self._status_changed)
        self._stack.show_sentence(NOT_YET)
        self._set_enabled()

    def _lay_out(self) -> QWidget:
        for widget in (self.end, self.variables, self.readers):
            widget.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        texts = side_by_side((self.end, 3), (self.variables, 2))
        side = side_by_side((self.readers, 1), (texts, 1), down=True, sized=True)
        split = side_by_side((self.tree, 3), (side, 2), sized=True)
        costs = in_row((self.costs, 1), label_of("Latency:", self.latency), self.latency)
        column = in_column(self.about, (split, 1), self.timeline, costs, edge=(GRID, 0, GRID, GRID), gap=GRID)
        return page_of(column, "Steps, variables and readers")

    # ---- choosing ----------------------------------------------------------------------------------------------

    def follow_again(self) -> None:
        """Follow the same reader anew, if one is followed: the bytes are others."""
        self._followed = self.chooser.currentData() or ""
        if self.is_needed:
            self.forget()
            if self.isVisible():
                self.open()

    def open(self) -> None:
        """Offer the readers of the archive shown, follow the first one, and ask what all of them make of it."""
        self.is_needed = True
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
        self.readers.ask()

    def follow_next(self, name: str) -> None:
        """Follow this reader now, or as soon as the readers are offered."""
        self._followed = name
        if self._readers_of == self._archive():
            self.choose(name)

    def choose(self, name: str) -> None:
        """Follow a reader by its name, if it can be followed."""
        if (at := self.chooser.findData(name)) >= 0:
            self.chooser.setCurrentIndex(at)
            self.follow()

    def follow(self) -> None:
        """Follow the chosen reader from the beginning."""
        name = self.chooser.currentData()
        if name is None:
            return
        self._stack.show_sentence(f"Following {self.chooser.currentText()}…")
        self._trace += 1
        self.result = None
        trace, client = self._trace, self._document.client

        def ask(first: int, deliver: Deliver) -> None:
            if trace == self._trace:
                client.ask(ArchiveRequests.reader_steps, first, PAGE_STEPS).then(deliver)

        def take(result: TraceResult) -> None:
            if trace == self._trace:
                self.result = result
                read_pages(ask, lambda steps: self._show_trace(trace, steps))

        def end(_: object) -> None:  # say so where it was cancelled; otherwise the result follows
            if trace == self._trace and self.result is None:
                self._stack.show_sentence(NOT_YET)

        job = self._document.start(ArchiveRequests.follow_reader, self._document.layer, name)
        job.then(take).finished.connect(end)

    def _show_trace(self, trace: int, steps: Sequence[Step]) -> None:
        result = self.result
        if result is None or trace != self._trace:
            return
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

    def _status_changed(self) -> None:
        """Forget a trace of an archive that is not the one shown any more."""
        if self.is_needed and self._document.status.stage is Stage.READY and self._readers_of != self._archive():
            self.forget()
            if self.isVisible():
                self.open()

    def forget(self) -> None:
        """Show nothing until a reader is followed again."""
        self._trace += 1
        self.result, self._readers_of = None, ("", -1)
        self.model.show_steps(())
        self.readers.forget()
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
        failed = (
            at for at, step in enumerate(self.model.steps) if step.n == stopped or (stopped is None and not step.ok)
        )
        self._go_or_say(next(failed, None), "No step of this reader fails.")

    def to_byte(self) -> None:
        """Go to the next step that touches the byte at the caret, or to the first one that does."""
        caret = self._document.selection.caret
        here = Span(caret, caret + 1)
        touching = [at for at, step in enumerate(self.model.steps) if overlap(step.span, here)]
        later = next((at for at in touching if at > self.at), None)
        self._go_or_say(later if later is not None else next(iter(touching), None), "No step touches this byte.")

    def _go_or_say(self, position: int | None, why_not: str) -> None:
        if position is None:
            self._document.reported.emit(why_not)
        else:
            self.go(position)

    def _go_to_number(self, number: int) -> None:
        found = (at for at, step in enumerate(self.model.steps) if step.n <= number < step.n + max(1, step.folded))
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
