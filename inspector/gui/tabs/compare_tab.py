"""The tab that compares two locations: their bytes side by side, and a list of all differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QHeaderView,
    QProgressBar,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from inspector.core.edit import Edit
from inspector.core.field import Run, Structure
from inspector.core.names import visible
from inspector.core.program.redaction import strip_credentials
from inspector.core.span import Span
from inspector.gui.dialogs.combine import CombineDialog, Plan
from inspector.gui.document.session import SIDES, OpenTab
from inspector.gui.hex.layout import fitting
from inspector.gui.ipc.client import Client, Job, compare_client
from inspector.gui.kit.filter_line import FilterLine
from inspector.gui.kit.item_views import RowTable
from inspector.gui.kit.locations import name_of
from inspector.gui.kit.style import GRID
from inspector.gui.kit.widgets import Details, ElidedLabel, Emptiable, SelectableLabel, debounce, push_button
from inspector.gui.panels.status_line import show_progress
from inspector.gui.tabs.aligned_view import AlignedModel, AlignedView
from inspector.gui.tabs.compare_bytes import CompareBytes
from inspector.gui.tabs.differences import (
    KIND,
    WHAT,
    WIDTHS,
    DifferenceLegend,
    DifferenceMap,
    DifferenceModel,
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
    Level,
    SideByte,
    Summary,
    Version,
)
from inspector.operations.protocol.requests import CompareRequests
from inspector.operations.protocol.views import JobState
from inspector.sources.s3.connection import DEFAULT, Connection

_LEVELS = {Level.MEMBER: "&Members", Level.FIELD: "&Fields", Level.BYTES: "B&ytes", Level.RANGE: "&Ranges"}
_EXPLAIN_MS = 50
"""Milliseconds without a move after which the bytes at the caret are explained."""
RANGES = "Enter on a range or a member below compares the bytes of its range in a tab of its own."
NOT_ALIGNED = "The bytes were not compared: folders and archives of different formats are compared by their members."
EARLIER = "This comparison is from an earlier session. Compare Again repeats it."
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
        super().__init__(SIDES["compare"])
        self._locations = (a, b)
        self._versions = versions
        self._connection_of = connection_of
        self.client: Client[CompareRequests] = compare_client(self)
        self._job: Job[Compared] | None = None
        self.compared: Compared | None = None
        self._alignment = Alignment()
        self._zoom = 0
        self.names = ElidedLabel()
        self.sentence = SelectableLabel()
        self.sentence.setAccessibleName("Result of the comparison")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of the comparison")
        self.bar.setFixedWidth(160)
        self.stop = push_button("&Cancel", "Stop comparing (Esc)")
        self.again = push_button("Compare &Again", "Read both again and compare them")
        self.swap = push_button("S&wap", "Exchange the sides")
        self.combine = push_button("Co&mbine…", "Make one good archive out of both, or of more copies")
        self.take = {
            A: push_button("Take into A", "Put what B has here into A: as a pending change, or into a new archive"),
            B: push_button("Take into B", "Put what A has here into B: as a pending change, or into a new archive"),
        }
        self.in_step = QCheckBox("In s&tep")
        self.in_step.setChecked(True)
        self.in_step.setToolTip("Scroll both sides together")
        self.previous = push_button("&Previous", "Show the previous difference (F7)")
        self.next = push_button("&Next", "Show the next difference (F8)")
        self.views = {A: AlignedView(A), B: AlignedView(B)}
        self.captions = {A: ElidedLabel(), B: ElidedLabel()}
        self.map = DifferenceMap()
        self.legend = DifferenceLegend()
        self.caret = ElidedLabel()
        self.caret.setAccessibleName("Bytes at the caret")
        self.meaning = ElidedLabel()
        self.meaning.setAccessibleName("What the bytes at the caret mean")
        self.byte = CompareBytes(self._ask_byte)
        self._used = A
        self._found_here = False
        self._explain_timer = debounce(self, _EXPLAIN_MS, self._explain)
        self.model = DifferenceModel(self.client, self)
        self.table = RowTable(self.model, WIDTHS, "Differences", lambda row: visible(row.message))
        self.about = Details("The selected difference in full")
        self.filter = FilterLine(self.table, "Filter differences", "Filter differences")
        self.levels = {level: QCheckBox(text) for level, text in _LEVELS.items()}
        self._list_stack = Emptiable(self.table)
        self._summary: Summary | None = None
        self._bytes = QWidget()
        self._bytes.setAccessibleName("Bytes side by side")
        self._byte_stack = Emptiable(self._bytes)
        self._lay_out()
        self._connect()
        self.setFocusProxy(self.views[A])
        self._show_locations()
        self._update_buttons()

    # ---- layout ------------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(_row(self.names, self.bar, self.stop, self.combine, self.again, self.swap))
        layout.addLayout(_row(self.sentence, self.in_step, self.previous, self.next))
        sides = QSplitter(Qt.Orientation.Horizontal)
        sides.setChildrenCollapsible(False)
        for side, view in self.views.items():
            holder = QWidget()
            column = QVBoxLayout(holder)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(0)
            self.captions[side].setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
            column.addWidget(self.captions[side])
            column.addWidget(view, 1)
            sides.addWidget(holder)
        sides.splitterMoved.connect(self._fit_columns)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(sides, 1)
        row.addWidget(self.map)
        column = QVBoxLayout(self._bytes)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row, 1)
        line = QHBoxLayout()
        line.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        line.setSpacing(4 * GRID)
        line.addWidget(self.caret, 1)
        line.addWidget(self.meaning, 1)
        column.addLayout(line)
        column.addWidget(self.legend)
        lower = QWidget()
        column = QVBoxLayout(lower)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(_row(self.filter, *self.levels.values(), *self.take.values()))
        column.addWidget(self._list_stack, 1)
        column.addWidget(self.about)
        below = QSplitter(Qt.Orientation.Horizontal)
        below.setChildrenCollapsible(False)
        below.addWidget(lower)
        below.addWidget(self.byte)
        below.setStretchFactor(0, 3)
        below.setStretchFactor(1, 2)
        below.setSizes((3_000, 2_000))  # shares of what there is
        halves = QSplitter(Qt.Orientation.Vertical)
        halves.setChildrenCollapsible(False)
        halves.addWidget(self._byte_stack)
        halves.addWidget(below)
        halves.setStretchFactor(0, 3)
        halves.setStretchFactor(1, 2)
        layout.addWidget(halves, 1)

    def _connect(self) -> None:
        self.table.horizontalHeader().setStretchLastSection(False)
        self.table.horizontalHeader().setSectionResizeMode(WHAT, QHeaderView.ResizeMode.Stretch)
        self.table.setSortingEnabled(True)
        self.table.horizontalHeader().setSortIndicator(KIND, Qt.SortOrder.AscendingOrder)
        self.table.selectionModel().currentRowChanged.connect(self._show_row)
        self.table.activated.connect(self._show_row)
        self.table.activated.connect(self._open_row)
        self.stop.clicked.connect(self.cancel)
        self.again.clicked.connect(self.start)
        self.swap.clicked.connect(self.swap_sides)
        self.combine.clicked.connect(self.ask_combine)
        for side, button in self.take.items():
            button.clicked.connect(partial(self.take_into, side))
        self.previous.clicked.connect(self.previous_difference)
        self.next.clicked.connect(self.next_difference)
        for keys, step in (("F8", self.next_difference), ("F7", self.previous_difference)):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(step)
        for side, view in self.views.items():
            other = self.views[B if side == A else A]
            view.topChanged.connect(partial(self._follow, view, other))
            view.caretMoved.connect(partial(self._caret_moved, view, other))
            view.message.connect(self.caret.setText)
            view.lane.chosen.connect(partial(self._choose_structure, view))
            view.zoomRequested.connect(self._zoom_by)
        self.views[A].scrolled.connect(self.map.setShown)
        self.map.jumped.connect(self.go_to)
        self.map.rowsRequested.connect(self._draw_map)
        for changed in (self.model.modelReset, self.model.rowsInserted, self.model.rowsRemoved):
            changed.connect(self._show_list)
        self.filter.applied.connect(self._choose)
        for level, box in self.levels.items():
            box.setChecked(True)
            box.setVisible(level is not Level.RANGE)  # until datasets are compared
            box.toggled.connect(self._choose)
        self.client.lost.connect(self._worker_lost)

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

    @property
    def kept(self) -> OpenTab | None:
        if self._versions != (AS_IT_IS, AS_IT_IS):
            return None  # changes that were not written, and selections, are gone in the next session
        places = tuple(map(strip_credentials, self._locations))
        return OpenTab(places[0], side="compare", places=places)

    def show_earlier(self) -> None:
        """Show a comparison of an earlier session, which is not repeated by itself."""
        self.sentence.setText(EARLIER)
        self._byte_stack.show_sentence(EARLIER)
        self._list_stack.show_sentence(EARLIER)

    def start(self) -> None:
        """Compare, or compare again."""
        if self.running:
            return
        if not self.client.is_open:
            self.client.deleteLater()
            self.client = compare_client(self)
            self.client.lost.connect(self._worker_lost)
            self.model.found.client = self.client
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
        self._byte_stack.show_sentence("Comparing…")
        self._list_stack.show_sentence("Comparing…")
        self._update_buttons()

    def swap_sides(self) -> None:
        """Exchange the sides, and compare again."""
        if not self.running:
            self._locations = self._locations[1], self._locations[0]
            self._versions = self._versions[1], self._versions[0]
            self._show_locations()
            self.keptChanged.emit()
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

    def _fail(self, sentence: str) -> None:
        self.sentence.setText(visible(sentence))
        for stack in (self._byte_stack, self._list_stack):
            stack.show_sentence("There is no result.")

    def _worker_lost(self, sentence: str) -> None:
        self._fail(sentence)
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
        self.again.setEnabled(not running)
        self.swap.setEnabled(not running)
        runs = not running and len(self._alignment) > 0
        for button in (self.previous, self.next, self.combine):
            button.setEnabled(runs)
        self._enable_taking()

    # ---- the result --------------------------------------------------------------------------------------------

    def _show(self, compared: Compared | None) -> None:
        self.compared, self._summary = compared, None
        known = compared.alignment if compared is not None else None
        self._alignment = Alignment() if known is None else known
        for side, view in self.views.items():
            before = view.model()
            fetch = partial(self._fetch, side)
            fetch_runs = partial(self._fetch_runs, side)
            model = AlignedModel(self._alignment, side, fetch, fetch_runs, self) if self._alignment.size else None
            view.setModel(model)
            if before is not None:
                before.deleteLater()
        self.map.show_alignment(self._alignment)
        self._fit_columns()
        self.model.refetch()
        self.about.say("")
        self.byte.show_nothing()
        if compared is not None:
            self._show_result(compared)

    def _show_result(self, compared: Compared) -> None:
        summary = compared.summary
        self.sentence.setText(visible(" ".join((summary.sentence, *summary.notes))))
        self._caption(compared.states)
        self._mark_wrong(compared.rights)
        self._draw_map(self.map.rows())
        self.levels[Level.RANGE].setVisible(bool(summary.ranges))
        if self._alignment.size:
            self._byte_stack.show_view(self._bytes)
        elif summary.ranges:
            self._byte_stack.show_sentence(RANGES)
        else:
            self._byte_stack.show_sentence(NOT_ALIGNED if compared.alignment is None else "Both are empty.")
        self._summary = summary
        self._show_list()
        self._update_buttons()
        if len(self._alignment):
            self.go_to_run(0)

    def _show_list(self, *_: object) -> None:
        """Show the differences, or in a sentence why there are none."""
        summary = self._summary
        if summary is None:
            return
        is_filtered = bool(self.filter.text().strip()) or not all(box.isChecked() for box in self.levels.values())
        if summary.equal is not False:
            self._list_stack.show_sentence(summary.sentence)
        elif is_filtered and not self.model.rowCount():
            self._list_stack.show_sentence("No match: no difference fits the filter and the boxes.")
        else:
            self._list_stack.show_view(self.table)

    def _fetch(self, side: str, offset: int, length: int, deliver: Callable[[bytes], None]) -> None:
        self.client.ask(CompareRequests.side_bytes, side, offset, length).then(deliver, lambda _: deliver(b""))

    def _fetch_runs(self, side: str, start: int, stop: int, deliver: Callable[[list[Run]], None]) -> None:
        self.client.ask(CompareRequests.side_runs, side, start, stop).then(deliver, lambda _: deliver([]))

    def _ask_byte(self, side: str, offset: int, length: int, deliver: Callable[[SideByte | None], None]) -> None:
        self.client.ask(CompareRequests.side_byte, side, offset, length).then(deliver, lambda _: deliver(None))

    def _mark_wrong(self, rights: str) -> None:
        """Outline, on the side that is wrong, the runs in which the other is right."""
        wrong: dict[str, list[Span]] = {A: [], B: []}
        for at, right in enumerate(rights):
            if right in (A, B) and len(wrong[A]) + len(wrong[B]) < _MAX_MARKS:
                run = self._alignment.run(at)
                wrong[B if right == A else A].append(Span(run.start, run.stop))
        for side, view in self.views.items():
            view.setDamage(wrong[side])
        self.map.setDamage(sorted((*wrong[A], *wrong[B])))

    def _draw_map(self, rows: int) -> None:
        self.map.setRows(role_sets(self._alignment, rows))

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

    def take_into(self, side: str) -> None:
        """Take the selected difference from the other side: as a pending change, or where sizes differ, a new file."""
        row = self._selected_row()
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

    def _selected_row(self) -> Difference | None:
        row: Difference | None = self.model.row(self.table.currentIndex())
        return row

    def _enable_taking(self) -> None:
        row = self._selected_row() if self._alignment.size and not self.running else None
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
        places = {side: at for side, view in self.views.items() if (at := view.own_byte()) is not None}
        if self.client.is_open:
            self.byte.show_bytes(places, self._show_meaning)

    def _show_meaning(self, found: dict[str, str]) -> None:
        self.meaning.setText("   ".join(f"{side.upper()}: {text}" for side, text in found.items()))

    def go_to_expression(self, expression: str) -> None:
        """Go to an offset, ``end`` or a member of the side used last; ``a:`` or ``b:`` before it names the side."""
        named = expression[:2].lower()
        side, text = (named[0], expression[2:]) if named in ("a:", "b:") else (self._used, expression)

        def go(span: Span) -> None:
            start = self._alignment.aligned(side, span.start)
            stop = self._alignment.aligned(side, span.stop - 1) + 1 if span.size else start
            self._use(side)
            self._outline(start, stop)

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
            stop = offset + len(pattern) - 1
            self._outline(self._alignment.aligned(side, offset), self._alignment.aligned(side, stop) + 1)
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

    def _outline(self, start: int, stop: int) -> None:
        # Outlined and not selected: a selection would hide the colours.
        for view in self.views.values():
            view.setOutline(((start, stop),))
            view.goTo(start)

    def _choose_structure(self, view: AlignedView, structure: Structure) -> None:
        """Outline the structure whose name was clicked, beside the same place of the other side."""
        self._use(view.side)
        self._outline(structure.start, structure.stop)

    def next_difference(self) -> None:
        """Select the next differing run; the first one after the last."""
        if len(self._alignment):
            caret = self._current()
            self.go_to_run(self._alignment.before(caret + 1) % len(self._alignment))

    def previous_difference(self) -> None:
        """Select the previous differing run; the last one before the first."""
        if len(self._alignment):
            self.go_to_run((self._alignment.before(self._current()) - 1) % len(self._alignment))

    def _current(self) -> int:
        return self.views[B if self.views[B].hasFocus() else A].caret()

    def _show_row(self, index: QModelIndex) -> None:
        row = self.model.row(index)
        self._enable_taking()
        self.about.say(visible(row.message) if row is not None else "")
        if row is None or not self._alignment.size:
            return
        for side, place in ((A, row.a), (B, row.b)):
            if place is not None and place.spans and place.spans[0].size:
                start, stop = place.spans[0]
                self._outline(self._alignment.aligned(side, start), self._alignment.aligned(side, stop - 1) + 1)
                return

    def _open_row(self, index: QModelIndex) -> None:
        """Compare the files of a row where the sides have several, the ranges of datasets."""
        row: Difference | None = self.model.row(index)
        if row is not None and row.a is not None and row.b is not None and row.a.location and row.b.location:
            self.compareRequested.emit(row.a.location, row.b.location)


def _row(*widgets: QWidget) -> QHBoxLayout:
    """Widgets in a row, the first one wide."""
    row = QHBoxLayout()
    row.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
    row.setSpacing(2 * GRID)
    for at, widget in enumerate(widgets):
        row.addWidget(widget, 0 if at else 1)
    return row
