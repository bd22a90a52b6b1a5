"""The Reader panel: choose a reader, see its steps, and see what every reader makes of the archive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct, field
from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QSizePolicy, QWidget

from inspector.core import verdict
from inspector.core.finding import Severity
from inspector.core.numbers import count, grouped, hexadecimal, in_bytes
from inspector.core.reader import ReaderKind, Step
from inspector.core.span import Span
from inspector.gui.document.document import Document
from inspector.gui.kit.building import dressed, in_column, page_of, side_by_side, tool_button
from inspector.gui.kit.icons import icon_of
from inspector.gui.kit.item_views import ColumnWidener, Index, NumberedTree
from inspector.gui.kit.listing import ListView, Rows, read_pages
from inspector.gui.kit.style import GRID, Sentences
from inspector.gui.kit.table_models import Column, Deliver, cell, widths
from inspector.gui.kit.text import loading_text
from inspector.gui.kit.widgets import Details, Emptiable, FlowLayout, sentence_label, tree_view
from inspector.operations.protocol.check_views import NamedReader, ReaderRow, ReaderVerdict, TraceResult
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Stage

ORIGIN = "reader"
NOT_YET = "Choose a reader to see every step it takes through this archive."
NO_READER = "No other reader of this format is known."
MAX_UNFOLDED = 2_000
"""Steps that are all unfolded at once; of more, the outer ones."""
PAGE_STEPS = 1_000
"""Steps in one request."""
KIND_LABELS = {ReaderKind.RUN: "runs", ReaderKind.DESCRIBED: "simulated"}
MARKS: dict[ReaderVerdict, Severity | verdict.Verdict] = {
    ReaderVerdict.ACCEPTS: verdict.Verdict.VERIFIED,
    ReaderVerdict.REJECTS: Severity.ERROR,
    ReaderVerdict.WRONG: Severity.WARNING,
    ReaderVerdict.UNKNOWN: Severity.INFO,
    ReaderVerdict.ABSENT: Severity.INFO,
}

# ---- the steps of one reader -----------------------------------------------------------------------------------------


def value_text(value: object) -> str:
    """The value of a step."""
    return "" if value is None else grouped(value) if isinstance(value, int) else str(value)


def span_text(span: Span | None) -> str:
    """``0x3e7..0x3ef``."""
    return "" if span is None else f"{hexadecimal(span.start)}..{hexadecimal(span.stop)}"


COLUMNS = (
    Column(
        "Step",
        lambda step: step.action if step.folded else f"{step.n:,}  {step.action}{'' if step.ok else ' ✗'}",
        270,
        icon=lambda step: None if step.ok else icon_of(Severity.ERROR),
    ),
    Column("Value", lambda step: value_text(step.value), 210),
    Column("Decision", lambda step: step.decision, 180),
    Column("Bytes", lambda step: span_text(step.span), 110),
)
STEP, VALUE, DECISION, BYTES = range(len(COLUMNS))


class _Node(Struct):
    """A step, or the root, whose depth is that of none."""

    parent: int
    position: int
    depth: int
    children: list[int] = field(default_factory=list)


class StepsModel(NumberedTree[_Node]):
    """A tree of steps. Positions count all steps in order; a node's number is one more."""

    columns = COLUMNS

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.steps: Sequence[Step] = ()
        self._nodes = [_Node(-1, 0, -1)]

    def show_steps(self, steps: Sequence[Step]) -> None:
        """Replace the steps."""
        self.beginResetModel()
        self.steps = steps
        self._nodes = [_Node(-1, 0, -1)]
        above = 0
        for number, step in enumerate(steps, 1):
            while self._nodes[above].depth >= step.depth:
                above = self._nodes[above].parent
            siblings = self._nodes[above].children
            self._nodes.append(_Node(above, len(siblings), step.depth))
            siblings.append(number)
            above = number
        self.endResetModel()

    def index_of(self, position: int) -> QModelIndex:
        """The index of a step."""
        return self._index(position + 1) if 0 <= position < len(self.steps) else QModelIndex()

    def position(self, index: Index) -> int:
        """The position of the step at an index, -1 for none."""
        return index.internalId() - 1 if index.isValid() else -1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        return cell(COLUMNS[index.column()], self.steps[self.position(index)], role) if index.isValid() else None


# ---- all readers -----------------------------------------------------------------------------------------------------


def _why(row: ReaderRow) -> str:
    is_stopped = row.outcome.stopped_at is not None and row.verdict is not ReaderVerdict.ACCEPTS
    place = f"step {row.outcome.stopped_at:,}: " if is_stopped else ""
    return place + (row.outcome.message or count(row.outcome.members, "member"))


READERS = (
    Column("Reader", lambda row: row.reader.title, 130, icon=lambda row: icon_of(MARKS[row.verdict])),
    Column("Kind", lambda row: KIND_LABELS[row.reader.kind], 90),
    Column("Verdict", lambda row: str(row.verdict), 110),
    Column("Why", _why),
)


# ---- the panel -------------------------------------------------------------------------------------------------------


class ReaderPanel(QWidget):
    """Follows a reader through a document's archive; the bytes of the current step are selected everywhere.

    Signals:
        traced(): the steps of a reader are shown, or none any more.
    """

    traced = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
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
        self.readers = Rows(READERS, self)
        self.readers_table = ListView(self.readers, "What each reader makes of this archive")
        self._readers_stack = Emptiable(self.readers_table)
        moves: dict[str, tuple[str, Callable[[], object]]] = {
            "|◀": ("First step", lambda: self.go(0)),
            "◀": ("Previous step", lambda: self.step(-1)),
            "▶|": ("Next step", lambda: self.step(1)),
            "▶▶ To the Failure": ("Run to the first step that fails", self.to_failure),
            "To This Byte": ("Run to the next step that touches the byte at the caret", self.to_byte),
        }
        self._moves = [dressed(tool_button(text, tip, does), tip) for text, (tip, does) in moves.items()]
        bar = FlowLayout(GRID, GRID)
        bar.add(self.chooser, *self._moves)
        for widget in (self.end, self.variables, self._readers_stack):
            widget.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        texts = side_by_side((self.end, 3), (self.variables, 2))
        side = side_by_side((self._readers_stack, 1), (texts, 1), down=True, sized=True)
        split = side_by_side((self.tree, 3), (side, 2), sized=True)
        column = in_column(self.about, (split, 1), edge=(GRID, 0, GRID, GRID), gap=GRID)
        self._page = page_of(column, "Steps, variables and readers")
        self.stack = Emptiable(self._page)
        in_column(bar, (self.stack, 1), on=self)
        self.setFocusProxy(self.tree)
        self.chooser.activated.connect(lambda _: self.follow())
        self.tree.selectionModel().currentChanged.connect(self._step_chosen)
        self.readers_table.activated.connect(self.readers_table.each_row(lambda row: self.choose(row.reader.name)))
        document.statusChanged.connect(self._status_changed)
        self.stack.show_sentence(NOT_YET)
        self._set_enabled()

    # ---- choosing ----------------------------------------------------------------------------------------------

    def follow_again(self) -> None:
        """Follow the same reader anew, if one is followed: the bytes are others."""
        self._followed = self.chooser.currentData() or ""
        if self.is_needed:
            self._begin_again()

    def _begin_again(self) -> None:
        self.forget()
        if self.isVisible():
            self.open()

    def open(self) -> None:
        """Offer the readers of the archive shown, follow the first one, and ask what all of them make of it."""
        self.is_needed = True
        if self._document.status.stage is not Stage.READY:
            self.stack.show_sentence(loading_text(self._document.status.stage) or "The archive could not be read.")
            return
        if self._readers_of != self._archive():
            self._readers_of = self._archive()
            self._document.client.ask(ArchiveRequests.readers, self._document.layer).then(self._take_readers)

    def _archive(self) -> tuple[str, int]:
        """What tells one state of an archive from another."""
        status = self._document.status
        return (f"{status.stamp} {status.size} {status.members}", self._document.layer if status.collection else 0)

    def _take_readers(self, infos: tuple[NamedReader, ...]) -> None:
        self.chooser.clear()
        for kind in (ReaderKind.RUN, ReaderKind.DESCRIBED):
            of_kind = [info for info in infos if info.kind is kind and not info.why_not]
            if of_kind and self.chooser.count():
                self.chooser.insertSeparator(self.chooser.count())
            for info in of_kind:
                self.chooser.addItem(f"{info.title} ({KIND_LABELS[kind]})", info.name)
                self.chooser.setItemData(self.chooser.count() - 1, info.about, Qt.ItemDataRole.ToolTipRole)
        if not infos:
            self.stack.show_sentence(NO_READER)
            return
        known = {info.name for info in infos if not info.why_not}
        self.choose(self._followed if self._followed in known else infos[0].name)
        self._readers_stack.show_sentence("Asking every reader…")
        of, show = self._readers_of, self._readers_stack.show_sentence

        def take(rows: tuple[ReaderRow, ...]) -> None:
            if of == self._readers_of:
                self.readers.show(rows)
                self._readers_stack.show_view(self.readers_table)

        self._document.start(ArchiveRequests.compare_readers, self._document.layer).then(take, show)

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
        self.stack.show_sentence(f"Following {self.chooser.currentText()}…")
        self._trace += 1
        self.result = None
        trace, client = self._trace, self._document.client

        def ask(first: int, deliver: Deliver) -> None:
            client.ask(ArchiveRequests.reader_steps, first, PAGE_STEPS).then(deliver)

        def take(result: TraceResult) -> None:
            if trace == self._trace:
                self.result = result
                read_pages(ask, lambda steps: self._show_trace(trace, steps))

        def end(_: object) -> None:  # say so where it was cancelled; otherwise the result follows
            if trace == self._trace and self.result is None:
                self.stack.show_sentence(NOT_YET)

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
        self.about.setText(
            f"{result.reader.title}, {KIND_LABELS[result.reader.kind]}. {result.reader.about} {reads_text(result)}"
        )
        self.end.say(end_text(result))
        self.stack.show_view(self._page)
        self.stack.setFocusProxy(self.tree)
        self._set_enabled()
        if steps:
            self._is_moving = True  # nothing is selected in other views before the user moves
            self.tree.setCurrentIndex(self.model.index_of(0))
            self._is_moving = False
            self._show_state(steps[0])

    def _status_changed(self) -> None:
        """Forget a trace of an archive that is not the one shown any more."""
        if self.is_needed and self._document.status.stage is Stage.READY and self._readers_of != self._archive():
            self._begin_again()

    def forget(self) -> None:
        """Show nothing until a reader is followed again."""
        self._trace += 1
        self.result, self._readers_of = None, ("", -1)
        self.model.show_steps(())
        self.readers.show(())
        self.stack.show_sentence(NOT_YET)
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
        steps = enumerate(self.model.steps)
        failed = (at for at, step in steps if step.n == stopped or (stopped is None and not step.ok))
        self._go_or_say(next(failed, None), "No step of this reader fails.")

    def to_byte(self) -> None:
        """Go to the next step that touches the byte at the caret, or to the first one that does."""
        caret, here = self._document.selection.caret, self.at
        touching = [
            at for at, step in enumerate(self.model.steps) if step.span and step.span.start <= caret < step.span.stop
        ]
        self._go_or_say(min(touching, key=lambda at: (at <= here, at), default=None), "No step touches this byte.")

    def _go_or_say(self, position: int | None, why_not: str) -> None:
        if position is None:
            self._document.reported.emit(why_not)
        else:
            self.go(position)

    def _step_chosen(self, index: QModelIndex, _: QModelIndex) -> None:
        position = self.model.position(index)
        if position < 0 or self._is_moving:
            return
        step = self.model.steps[position]
        self._show_state(step)
        if step.span is not None and step.span.size and self.result is not None:
            self._document.select_spans(self.result.layer, (step.span,), ORIGIN, wrong=not step.ok)

    def _show_state(self, step: Step) -> None:
        lines = [f"{name}: {value}" for name, value in step.state]
        self.variables.say("\n".join(("State at this step", *(lines or ["nothing yet"]))))


def end_text(result: TraceResult) -> str:
    """How a reader ends: what it accepts, or where it stops, its message and what would have to be different."""
    outcome = result.outcome
    given = f"{count(outcome.members, 'member')} given" if outcome.lists else ""
    if outcome.accepts:
        return " ".join(filter(None, ("Accepts.", f"{given}." if given else "", outcome.message, _folded(result))))
    head = "Rejects" if outcome.accepts is False else "Not known what it does"
    place = f" at step {grouped(outcome.stopped_at)}" if outcome.stopped_at is not None else ""
    inside = f" in {outcome.member}" if outcome.member else ""
    parts = (f"{head}{place}{inside}: “{outcome.message}”", f"{given}." if given else "")
    return "\n".join(filter(None, (*parts, outcome.cause, _folded(result))))


def _folded(result: TraceResult) -> str:
    return f"{count(result.folded, 'step')} in the middle are not kept here." if result.folded else ""


def reads_text(result: TraceResult) -> str:
    """How much a reader read, how much of it twice, and how much never."""
    if not result.reads:
        return "Its reads cannot be seen."
    made = f"{count(result.reads, 'read')} of {in_bytes(result.total)}"
    return f"{made}; {in_bytes(result.twice_bytes)} read twice, {in_bytes(result.never_bytes)} never read."
