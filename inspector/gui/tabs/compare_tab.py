"""The tab that compares two locations: their bytes side by side, and a list of all differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QCheckBox, QWidget

from inspector.core.edit import Edit
from inspector.core.field import Run, Structure
from inspector.core.names import visible
from inspector.core.program.redaction import strip_credentials
from inspector.core.span import Span
from inspector.gui.dialogs.combine import CombineDialog, Plan
from inspector.gui.hex.layout import fitting
from inspector.gui.ipc.client import Client, Job, compare_client
from inspector.gui.kit.building import LINE, dressed, in_column, in_row, page_of, progress_bar, side_by_side
from inspector.gui.kit.filter_line import FilterLine
from inspector.gui.kit.listing import ListView, QueryTable
from inspector.gui.kit.locations import name_of
from inspector.gui.kit.style import GRID
from inspector.gui.kit.widgets import Details, ElidedLabel, Emptiable, SelectableLabel, debounce, push_button
from inspector.gui.panels.status_line import show_progress
from inspector.gui.tabs.compare_parts import (
    COLUMNS,
    KIND,
    WHAT,
    AlignedModel,
    AlignedView,
    CompareBytes,
    DifferenceMap,
    difference_legend,
    role_sets,
)
from inspector.gui.tabs.side_tab import SideTab
from inspector.operations.protocol.compare_views import (
    AS_IT_IS,
    A,
    Alignment,
    B,
    CombinePlan,
    Compared,
    Difference,
    DifferenceQuery,
    Level,
    SideByte,
    Version,
)
from inspector.operations.protocol.requests import CompareRequests
from inspector.operations.protocol.views import JobState, Target
from inspector.sources.s3.connection import DEFAULT, Connection

_LEVELS = {Level.MEMBER: "&Members", Level.FIELD: "&Fields", Level.BYTES: "B&ytes", Level.RANGE: "&Ranges"}
_EXPLAIN_MS = 50
"""Milliseconds without a move after which the bytes at the caret are explained."""
RANGES = "Enter on a range or a member below compares the bytes of its range in a tab of its own."
NOT_ALIGNED = "The bytes were not compared: folders and archives of different formats are compared by their members."
_MAX_MARKS = 5_000
"""Runs marked as wrong."""


class CompareTab(SideTab):
    """Compares two locations; ``connection_of`` gives the connection of an S3 location, ``versions`` how each is read.

    Signals:
        changeTaken(str, object): the user took a difference into this location; the Edit is to be pending there.
        compareRequested(str, str): compare these two files, whose bytes the user wants to see.
        archiveWritten(str, str): a new archive was written to this path, and the sentence that says so.
    """

    has_bytes = True
    changeTaken = Signal(str, object)
    compareRequested = Signal(str, str)
    archiveWritten = Signal(str, str)

    def __init__(
        self,
        a: str,
        b: str,
        connection_of: Callable[[str], Connection] = lambda _: DEFAULT,
        versions: tuple[Version, Version] = (AS_IT_IS, AS_IT_IS),
    ) -> None:
        super().__init__("Compare")
        self._locations = (a, b)
        self._versions = versions
        self._connection_of = connection_of
        self.client: Client[CompareRequests] = compare_client(self)
        self._job: Job[Compared] | None = None
        self.compared: Compared | None = None
        self._alignment = Alignment()
        self._zoom = 0
        self.names = ElidedLabel()
        self.sentence = dressed(SelectableLabel(), "Result of the comparison")
        self.bar = progress_bar("Progress of the comparison")
        self.stop = push_button("&Cancel", "Stop comparing (Esc)", self.cancel)
        self.again = push_button("Compare &Again", "Read both again and compare them", self.start)
        self.swap = push_button("S&wap", "Exchange the sides", self.swap_sides)
        tip = "Make one good archive out of both, or of more copies"
        self.combine = push_button("Co&mbine…", tip, self.ask_combine)
        tip = "Put what {other} has here into {side}: as a pending change, or into a new archive"
        self.take = {
            side: push_button(
                f"Take into {side.upper()}",
                tip.format(side=side.upper(), other=_other(side).upper()),
                partial(self.take_into, side),
            )
            for side in (A, B)
        }
        self.in_step = dressed(QCheckBox("In s&tep"), toolTip="Scroll both sides together", checked=True)
        self.previous = push_button("&Previous", "Show the previous difference (F7)", self.previous_difference)
        self.next = push_button("&Next", "Show the next difference (F8)", self.next_difference)
        self.views = {A: AlignedView(A), B: AlignedView(B)}
        self.captions = {A: ElidedLabel(), B: ElidedLabel()}
        self.map = DifferenceMap()
        self.legend = difference_legend()
        self.caret = dressed(ElidedLabel(), "Bytes at the caret")
        self.meaning = dressed(ElidedLabel(), "What the bytes at the caret mean")
        self.byte = CompareBytes(self._ask_byte)
        self._used = A
        self._found_here = False
        self._explain_timer = debounce(self, _EXPLAIN_MS, self._explain)
        self.model = QueryTable(
            COLUMNS,
            DifferenceQuery(),
            lambda *asked: self.client.ask(CompareRequests.differences, *asked),
            ("order", -1),
            self,
        )
        self.table = ListView(self.model, "Differences", lambda row: visible(row.message), WHAT)
        self.about = Details("The selected difference in full")
        self.filter = FilterLine(self.table, "Filter differences", "Filter differences")
        self.levels = {level: QCheckBox(text) for level, text in _LEVELS.items()}
        self._list_stack = Emptiable(self.table)
        self._bytes = self._side_by_side()
        self._byte_stack = Emptiable(self._bytes)
        self._lay_out()
        self._connect()
        self.setFocusProxy(self.views[A])
        self._show_locations()
        self._update_buttons()

    # ---- layout ------------------------------------------------------------------------------------------------

    def _side_by_side(self) -> QWidget:
        for caption in self.captions.values():
            caption.setContentsMargins(*LINE)
        holders = ((page_of(in_column(self.captions[side], (self.views[side], 1))), 1) for side in (A, B))
        sides = side_by_side(*holders, collapses=False)
        sides.splitterMoved.connect(self._fit_columns)
        line = in_row((self.caret, 1), (self.meaning, 1), edge=LINE, gap=4 * GRID)
        row = in_row((sides, 1), self.map, gap=0)
        return page_of(in_column((row, 1), line, self.legend), "Bytes side by side")

    def _lay_out(self) -> None:
        tools = in_row((self.filter, 1), *self.levels.values(), *self.take.values(), edge=LINE)
        lower = page_of(in_column(tools, (self._list_stack, 1), self.about))
        below = side_by_side((lower, 3), (self.byte, 2), collapses=False, sized=True)
        halves = side_by_side((self._byte_stack, 3), (below, 2), down=True, collapses=False)
        head = in_row((self.names, 1), self.bar, self.stop, self.combine, self.again, self.swap, edge=LINE)
        result = in_row((self.sentence, 1), self.in_step, self.previous, self.next, edge=LINE)
        in_column(head, result, (halves, 1), on=self)

    def _connect(self) -> None:
        self.table.setSortingEnabled(True)
        self.table.horizontalHeader().setSortIndicator(KIND, Qt.SortOrder.AscendingOrder)
        self.table.selectionModel().currentRowChanged.connect(self._show_row)
        self.table.activated.connect(self._show_row)
        self.table.activated.connect(self.table.each_row(self._open_row))
        for keys, step in (("F8", self.next_difference), ("F7", self.previous_difference)):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(step)
        for side, view in self.views.items():
            other = self.views[_other(side)]
            view.topChanged.connect(partial(self._follow, view, other))
            view.caretMoved.connect(partial(self._caret_moved, view, other))
            view.message.connect(self.caret.setText)
            view.lane.chosen.connect(partial(self._choose_structure, side))
            view.zoomRequested.connect(self._zoom_by)
        self.views[A].scrolled.connect(self.map.setShown)
        self.map.jumped.connect(self.go_to)
        self.map.rowsRequested.connect(self._draw_map)
        for changed in (self.model.rowsInserted, self.model.rowsRemoved):
            changed.connect(self._show_list)
        self.filter.applied.connect(self._choose)
        for level, box in self.levels.items():
            box.setChecked(True)
            box.setVisible(level is not Level.RANGE)  # until datasets are compared
            box.toggled.connect(self._choose)
        self.client.lost.connect(self._fail)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def _zoom_by(self, steps: int) -> None:
        self._zoom += steps
        for view in self.views.values():
            view.setZoom(self._zoom)
        self._fit_columns()

    def _fit_columns(self, *_: int) -> None:
        """Give both views as many bytes per row as fit into the narrower one."""
        columns = min(
            fitting(self._alignment.size, each.cells_in(each.width())).columns for each in self.views.values()
        )
        for view in self.views.values():
            if view.bytesPerRow() != columns:
                view.setBytesPerRow(columns)

    # ---- comparing ---------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether it is comparing."""
        return self._job is not None and self._job.running

    @property
    def settled(self) -> bool:
        return not self.running and not self.client.outstanding

    def start(self) -> None:
        """Compare, or compare again."""
        if self.running:
            return
        if not self.client.is_open:
            self.client.deleteLater()
            self.client = compare_client(self)
            self.client.lost.connect(self._fail)
        self._show(None)
        a, b = self._locations
        connections = self._connection_of(a), self._connection_of(b)
        self._job = self.client.start(CompareRequests.compare, a, b, *connections, self._versions).then(
            self._show, self._fail
        )
        self._job.progressed.connect(self._progressed)
        self._job.finished.connect(self._update_buttons)
        self.bar.setRange(0, 0)
        self.sentence.setText("Comparing…")
        self._instead("Comparing…")
        self._update_buttons()

    def swap_sides(self) -> None:
        """Exchange the sides, and compare again."""
        if not self.running:
            self._locations = self._locations[1], self._locations[0]
            self._versions = self._versions[1], self._versions[0]
            self._show_locations()
            self.start()

    def cancel(self) -> None:
        if self._job is not None and self.running:
            self._job.cancel()
            self._fail("Cancelled.")

    def end(self) -> None:
        self.client.close()

    def _progressed(self, state: JobState) -> None:
        if self._job is not None and not self._job.cancelled:
            show_progress(self.bar, state)
            self.sentence.setText(f"{state.label}…")

    def _instead(self, sentence: str) -> None:
        for stack in (self._byte_stack, self._list_stack):
            stack.show_sentence(sentence)

    def _fail(self, sentence: str) -> None:
        self.sentence.setText(visible(sentence))
        self._instead("There is no result.")
        self._update_buttons()

    def _show_locations(self) -> None:
        labels = (f", {each.label}" if each.label else "" for each in self._versions)
        places = (visible(strip_credentials(each)) for each in self._locations)
        self.names.setText("  against  ".join(map("".join, zip(places, labels, strict=True))))
        self._caption(("", ""))

    def _caption(self, states: tuple[str, str]) -> None:
        for side, location, version, state in zip((A, B), self._locations, self._versions, states, strict=True):
            words = ", ".join(filter(None, (version.label, state)))
            self.captions[side].setText(f"{side.upper()}: {name_of(location)}" + (f" ({words})" if words else ""))

    def _update_buttons(self) -> None:
        running = self.running
        for widget in (self.bar, self.stop):
            widget.setVisible(running)
        for button in (self.again, self.swap):
            button.setEnabled(not running)
        runs = not running and len(self._alignment) > 0
        for button in (self.previous, self.next, self.combine):
            button.setEnabled(runs)
        self._enable_taking()

    # ---- the result --------------------------------------------------------------------------------------------

    def _show(self, compared: Compared | None) -> None:
        self.compared = None
        known = compared.alignment if compared is not None else None
        self._alignment = Alignment() if known is None else known
        for side, view in self.views.items():
            before = view.model()
            view.setModel(self._aligned(side) if self._alignment.size else None)
            if before is not None:
                before.deleteLater()
        self.map.show_alignment(self._alignment)
        self._fit_columns()
        self.model.refetch()
        self.about.say("")
        self.byte.show_nothing()
        if compared is not None:
            self._show_result(compared)

    def _aligned(self, side: str) -> AlignedModel:
        client = self.client

        def fetch(offset: int, length: int, deliver: Callable[[bytes], None]) -> None:
            client.ask(CompareRequests.side_bytes, side, offset, length).then(deliver, lambda _: deliver(b""))

        def fetch_runs(start: int, stop: int, deliver: Callable[[list[Run]], None]) -> None:
            client.ask(CompareRequests.side_runs, side, start, stop).then(deliver, lambda _: deliver([]))

        return AlignedModel(self._alignment, side, fetch, fetch_runs, self)

    def _ask_byte(self, side: str, offset: int, length: int, deliver: Callable[[SideByte | None], None]) -> None:
        self.client.ask(CompareRequests.side_byte, side, offset, length).then(deliver, lambda _: deliver(None))

    def _show_result(self, compared: Compared) -> None:
        summary = compared.summary
        self.sentence.setText(visible(" ".join((summary.sentence, *summary.notes))))
        self._caption(compared.states)
        self._mark_wrong(compared.rights)
        self._draw_map(self.map.height())
        self.levels[Level.RANGE].setVisible(bool(summary.ranges))
        if self._alignment.size:
            self._byte_stack.show_view(self._bytes)
        elif summary.ranges:
            self._byte_stack.show_sentence(RANGES)
        else:
            self._byte_stack.show_sentence(NOT_ALIGNED if compared.alignment is None else "Both are empty.")
        self.compared = compared
        self._show_list()
        self._update_buttons()
        if len(self._alignment):
            self.go_to_run(0)

    def _show_list(self, *_: object) -> None:
        """Show the differences, or in a sentence why there are none."""
        if self.compared is None:
            return
        summary = self.compared.summary
        is_filtered = bool(self.filter.text().strip()) or not all(box.isChecked() for box in self.levels.values())
        if summary.equal is not False:
            self._list_stack.show_sentence(summary.sentence)
        elif is_filtered and not self.model.rowCount():
            self._list_stack.show_sentence("No match: no difference fits the filter and the boxes.")
        else:
            self._list_stack.show_view(self.table)

    def _mark_wrong(self, rights: str) -> None:
        """Outline, on the side that is wrong, the runs in which the other is right."""
        wrong: dict[str, list[Span]] = {A: [], B: []}
        for at, right in enumerate(rights):
            if right in (A, B) and len(wrong[A]) + len(wrong[B]) < _MAX_MARKS:
                run = self._alignment.run(at)
                wrong[_other(right)].append(Span(run.start, run.stop))
        for side, view in self.views.items():
            view.mark(damage=wrong[side])
        self.map.show_state(damage=sorted((*wrong[A], *wrong[B])))

    def _draw_map(self, rows: int) -> None:
        self.map.show_state(sets=role_sets(self._alignment, rows))

    def _choose(self, *_: object) -> None:
        levels = frozenset(level for level, box in self.levels.items() if box.isChecked())
        self.model.choose(levels=levels, text=self.filter.text().strip())

    # ---- taking and combining ----------------------------------------------------------------------------------

    def ask_combine(self) -> None:
        """Show what the best archive out of both sides is made of; more copies can be added."""

        def plan(more: Sequence[str]) -> Job[CombinePlan]:
            connections = tuple(map(self._connection_of, more))
            return self.client.start(CompareRequests.plan_combination, tuple(more), connections)

        self._show_plan(plan, self._locations[0], by_hand=False)

    def take_into(self, side: str, _: bool = False) -> None:
        """Take the selected difference from the other side: as a pending change, or where sizes differ, a new file."""
        row: Difference | None = self.table.row()
        if row is None or not self.take[side].isEnabled():
            return
        location = self._locations[(A, B).index(side)]

        def plan(_: Sequence[str]) -> Job[CombinePlan]:
            return self.client.start(CompareRequests.plan_taking, side, row)

        def take(edit: Edit | None) -> None:
            if edit is not None:
                self.changeTaken.emit(location, edit)
            else:
                self._show_plan(plan, location, by_hand=True)

        self.client.ask(CompareRequests.taken, side, row).then(take, lambda why: self.about.say(visible(why)))

    def _show_plan(self, plan: Plan, near: str, *, by_hand: bool) -> None:
        dialog = CombineDialog(self.window(), self.client, plan, near, by_hand=by_hand)
        dialog.written.connect(self.archiveWritten)
        dialog.open()

    def _enable_taking(self) -> None:
        row = self.table.row() if self._alignment.size and not self.running else None
        both = row is not None and row.a is not None and row.b is not None and bool(row.a.spans) and bool(row.b.spans)
        for side, version in zip((A, B), self._versions, strict=True):
            self.take[side].setEnabled(both and version.part is None)

    # ---- moving ------------------------------------------------------------------------------------------------

    def _follow(self, view: AlignedView, other: AlignedView, row: int) -> None:
        if self.in_step.isChecked() and other.top() != row and view.bytesPerRow() == other.bytesPerRow():
            other.show_row(row)

    def _caret_moved(self, view: AlignedView, other: AlignedView, offset: int) -> None:
        if self.in_step.isChecked() and other.caret() != offset:
            other.goTo(offset, reveal=False)
        self._used = view.side if view.hasFocus() else self._used
        self._found_here = False
        for each in (view, other):
            each.setCaretDescription(each.describe_caret())
        self.caret.setText("   ".join(self.views[side].describe_caret() for side in (A, B)))
        self.meaning.setText("")
        self._explain_timer.start()

    def _explain(self) -> None:
        """Say what the bytes at the caret mean on both sides."""

        def show(found: dict[str, str]) -> None:
            self.meaning.setText("   ".join(f"{side.upper()}: {text}" for side, text in found.items()))

        if self.client.is_open:
            places = {side: at for side, view in self.views.items() if (at := view.own_byte()) is not None}
            self.byte.show_bytes(places, show)

    def go_to_expression(self, expression: str) -> None:
        """Go to an offset, ``end`` or a member of the side used last; ``a:`` or ``b:`` before it names the side."""
        named = expression[:2].lower()
        side, text = (named[0], expression[2:]) if named in ("a:", "b:") else (self._used, expression)

        def go(target: Target) -> None:
            self._use(side)
            self._outline(*self._aligned_span(side, Span(target.start, target.stop)))

        self.client.ask(CompareRequests.side_place, side, text).then(go, self._say)

    def find_pattern(self, pattern: bytes, backwards: bool, ignore_case: bool) -> None:
        """Find bytes on the side used last."""
        side, view = self._used, self.views[self._used]
        own = view.own_byte(nearest=True)
        start = 0 if own is None else own if backwards or not self._found_here else own + 1

        def found(offset: int | None) -> None:
            if offset is None:
                self._say(f"Not found in {side.upper()} between here and its {'start' if backwards else 'end'}.")
                return
            self._outline(*self._aligned_span(side, Span(offset, offset + len(pattern))))
            self._found_here = True

        if self._alignment.size:
            job = self.client.start(CompareRequests.find, side, pattern, start, backwards, ignore_case)
            job.then(found, self._say)

    def _use(self, side: str) -> None:
        self._used = side
        self.views[side].setFocus()

    def _say(self, sentence: str) -> None:
        self.caret.setText(visible(sentence))

    def go_to(self, position: int) -> None:
        """Move both carets to an aligned position."""
        for view in self.views.values():
            view.goTo(position)

    def go_to_run(self, at: int) -> None:
        """Show a differing run on both sides."""
        run = self._alignment.run(at)
        self._outline(run.start, run.stop)

    def _aligned_span(self, side: str, span: Span) -> Span:
        start = self._alignment.aligned(side, span.start)
        return Span(start, self._alignment.aligned(side, span.stop - 1) + 1 if span.size else start)

    def _outline(self, start: int, stop: int) -> None:
        # Outlined and not selected: a selection would hide the colours.
        for view in self.views.values():
            view.mark(outline=((start, stop),))
            view.goTo(start)

    def _choose_structure(self, side: str, structure: Structure) -> None:
        """Outline the structure whose name was clicked, beside the same place of the other side."""
        self._use(side)
        self._outline(structure.start, structure.stop)

    def next_difference(self) -> None:
        """Select the next differing run; the first one after the last."""
        self._step(lambda caret: self._alignment.before(caret + 1))

    def previous_difference(self) -> None:
        """Select the previous differing run; the last one before the first."""
        self._step(lambda caret: self._alignment.before(caret) - 1)

    def _step(self, run_from: Callable[[int], int]) -> None:
        if len(self._alignment):
            view = self.views[B if self.views[B].hasFocus() else A]
            self.go_to_run(run_from(view.caret()) % len(self._alignment))

    def _show_row(self, index: QModelIndex) -> None:
        row = self.model.row(index)
        self._enable_taking()
        self.about.say(visible(row.message) if row is not None else "")
        if row is None or not self._alignment.size:
            return
        for side, place in ((A, row.a), (B, row.b)):
            if place is not None and place.spans and place.spans[0].size:
                self._outline(*self._aligned_span(side, place.spans[0]))
                return

    def _open_row(self, row: Difference) -> None:
        """Compare the files of a row where the sides have several, the ranges of datasets."""
        if row.a is not None and row.b is not None and row.a.location and row.b.location:
            self.compareRequested.emit(row.a.location, row.b.location)


def _other(side: str) -> str:
    return B if side == A else A
