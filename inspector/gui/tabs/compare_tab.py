"""The tab that compares two locations: their bytes side by side, and a list of all differences.

A view shows the bytes of one side, and gaps where the other side has bytes that it lacks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QCheckBox, QWidget

from inspector.core.edit import Edit
from inspector.core.field import Run, Structure
from inspector.core.kinds import Kind, Role, role_bit
from inspector.core.names import visible
from inspector.core.numbers import grouped, hexadecimal
from inspector.core.program.redaction import strip_credentials
from inspector.core.span import Span
from inspector.drawing.colouring import ColourBy
from inspector.gui.dialogs.combine import CombineDialog, Plan
from inspector.gui.hex.beside.legend import DAMAGED, Legend, LegendEntry, role_entries
from inspector.gui.hex.beside.strip import FileMap
from inspector.gui.hex.layout import fitting
from inspector.gui.hex.pages import Deliver, Fetch, HexModel, Tint, deliver_both, structures_of, tints
from inspector.gui.hex.painting import MARGIN
from inspector.gui.hex.view import HexView
from inspector.gui.ipc.client import Client, Job, compare_client
from inspector.gui.kit.building import LINE, dressed, in_column, in_row, page_of, side_by_side
from inspector.gui.kit.listing import ListView, QueryTable
from inspector.gui.kit.locations import name_of
from inspector.gui.kit.style import GRID
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.text import path_text, short
from inspector.gui.kit.widgets import Details, ElidedLabel, Emptiable, FilterLine, debounce, push_button
from inspector.gui.tabs.job_tab import JobTab
from inspector.operations.protocol.compare_views import (
    AS_IT_IS,
    A,
    AlignedPiece,
    Alignment,
    B,
    Change,
    CombinePlan,
    Compared,
    Difference,
    DifferenceQuery,
    Level,
    Order,
    Side,
    Version,
)
from inspector.operations.protocol.requests import CompareRequests
from inspector.operations.protocol.views import Explanation, Target
from inspector.sources.s3.connection import DEFAULT, Connection

ROLES = {Change.CHANGED: Role.CONTROL, Change.ADDED: Role.EXTENT, Change.REMOVED: Role.DIRECTORY}
"""The tested background of each kind of difference."""
CHANGE_LABELS = {Change.CHANGED: "changed", Change.ADDED: "only in B", Change.REMOVED: "only in A"}
_LEVELS = {Level.MEMBER: "&Members", Level.FIELD: "&Fields", Level.BYTES: "B&ytes", Level.RANGE: "&Ranges"}
_EXPLAIN_MS = 50
"""Milliseconds without a move after which the bytes at the caret are explained."""
RANGES = "Enter on a range or a member below compares the bytes of its range in a tab of its own."
NOT_ALIGNED = "The bytes were not compared: folders and archives of different formats are compared by their members."
_MAX_MARKS = 5_000
"""Runs marked as wrong."""


class AlignedModel(HexModel):
    """The bytes and structures of one side at aligned positions; what is fetched has its places in the file.

    Differences are coloured, and what is equal is not.
    """

    def __init__(self, alignment: Alignment, side: str, fetch: Fetch, parent: QObject | None = None) -> None:
        super().__init__(alignment.size, fetch, parent)
        self.alignment = alignment
        self.side = side

    def own(self, start: int, stop: int) -> Span:
        pieces = self.alignment.pieces(start, stop)
        found = [(at, each.stop - each.start) for each in pieces if (at := each.at(self.side)) is not None]
        return Span(found[0][0], found[-1][0] + found[-1][1]) if found else Span(0, 0)

    def gaps(self, start: int, stop: int) -> list[Span]:
        pieces = self.alignment.pieces(start, stop)
        return [Span(each.start, each.stop) for each in pieces if each.at(self.side) is None]

    def _fetch_pages(self, start: int, stop: int, deliver: Deliver) -> None:
        own = self.own(start, stop)

        def take(data: bytes, runs: list[Run]) -> None:
            named = (self._aligned(each) for each in structures_of(runs))
            structures = [Run(each.start, each.stop, each.kind, Role.DATA, 0, each.path, each) for each in named]
            laid, differing = self._laid_out(self.alignment.pieces(start, stop), own, data)
            deliver(laid, [*differing, *structures])

        if own.size:
            self._fetch(*own, take)
        else:
            take(b"", [])

    def tints_of(self, runs: Iterable[Run]) -> list[Tint]:
        """The backgrounds of the differences; runs of structures have none."""
        return tints(run for run in runs if run.structure is None)

    def _aligned(self, structure: Structure) -> Structure:
        start = self.alignment.aligned(self.side, structure.start)
        stop = self.alignment.aligned(self.side, structure.stop - 1) + 1
        outer = None if structure.outer is None else self._aligned(structure.outer)
        return structure._replace(start=start, stop=max(start, stop), outer=outer)

    def _laid_out(self, pieces: Sequence[AlignedPiece], own: Span, data: bytes) -> tuple[bytes, list[Run]]:
        """Bytes with gaps filled, up to what could not be read, and the runs that colour them."""
        laid, runs = bytearray(), []
        for each in pieces:
            at, size = each.at(self.side), each.stop - each.start
            if at is None:
                laid += bytes(size)
                runs.append(Run(each.start, each.stop, Kind.GAP, Role.GAP, 0, ()))
                continue
            piece = data[at - own.start : at - own.start + size]
            laid += piece
            if each.change is not None:
                runs.append(Run(each.start, each.start + size, Kind.DATA, ROLES[each.change], 0, ()))
            if len(piece) < size:
                break
        return bytes(laid), runs


class SideView(HexView):
    """One of two views that scroll in step: the bytes of a side, with its caption and what takes a difference there."""

    def __init__(self, side: str, location: str, version: Version, take: Callable[[], object]) -> None:
        super().__init__()
        self.side, self.location, self.version = side, location, version
        self.letter = side.upper()
        self.caption = ElidedLabel()
        self.caption.setContentsMargins(*LINE)
        tip = f"Put what {'A' if side == B else 'B'} has here into {self.letter}: as a pending change, or a new archive"
        self.take = push_button(f"Take into {self.letter}", tip, take)
        self.setArrowsShown(False)
        self.setColourBy(ColourBy.KIND)  # lines around structures would hide those around differences
        self.setAccessibleName(f"Bytes of {self.letter}")
        self.show_state("")

    def show_state(self, state: str) -> None:
        """Say what the side is, and how it was found to be."""
        words = ", ".join(filter(None, (self.version.label, state)))
        self.caption.setText(f"{self.letter}: {name_of(self.location)}" + (f" ({words})" if words else ""))

    def follow(self, other: SideView) -> None:
        """Scroll to the first row that the other side shows."""
        if self.bytesPerRow() == other.bytesPerRow():
            self._scroll_to(other._scroll.top)

    def cells(self) -> int:
        """How many cells fit into the view."""
        return int((self.width() - self.verticalScrollBar().sizeHint().width() - 2 * MARGIN) / self.look.cell)

    def own_byte(self, stop: int = sys.maxsize) -> int | None:
        """The first byte of this side from the caret on, None if there is none before aligned position ``stop``."""
        model = self.model
        own = model.own(self.caret(), min(stop, model.size)) if model is not None else Span(0, 0)
        return own.start if own.size else None

    def describe_caret(self) -> str:
        """What stands at the caret."""
        model, caret = self.model, self.caret()
        pieces = model.alignment.pieces(caret, caret + 1) if isinstance(model, AlignedModel) else ()
        if not pieces:
            return ""
        at, data, change = pieces[0].at(self.side), self.byteAtCaret(), pieces[0].change
        if at is None:
            return f"{self.letter} has nothing here"
        value = f" {data:02X}" if data is not None else ""
        kind = f", {CHANGE_LABELS[change]}" if change is not None else ""
        return f"{self.letter}: {hexadecimal(at)} ({grouped(at)}){value}{kind}"


# ---- the list, the map and the legend of differences -------------------------------------------------------------


def _place(side: Side | None) -> str:
    if side is None or not side.spans:
        return ""
    start, stop = side.spans[0].start, side.spans[-1].stop
    return f"{grouped(start)}..{grouped(stop)}" if stop > start else grouped(start)


def _kind(row: Difference) -> str:
    return f"{row.level.value} {CHANGE_LABELS.get(row.change, row.change.value)}"


COLUMNS = (
    Column("Kind", _kind, 116, sort=Order.FOUND),
    Column("Difference", lambda row: visible(row.message), sort=Order.WHAT),
    Column("In A", lambda row: _place(row.a), 116, sort=Order.A),
    Column("In B", lambda row: _place(row.b), 116, sort=Order.B),
    Column("Right", lambda row: (row.right or "").upper(), 52, sort=Order.RIGHT),
)
KIND, WHAT, IN_A, IN_B, RIGHT = range(len(COLUMNS))


def role_sets(alignment: Alignment, rows: int) -> list[int]:
    """The roles of the differences in each of ``rows`` equal stretches of aligned positions."""
    size, sets = alignment.size, [0] * rows
    for row in range(rows if size else 0):
        start, stop = row * size // rows, max(row * size // rows + 1, (row + 1) * size // rows)
        first = alignment.before(start + 1)
        for at in range(max(0, first - 1), min(alignment.before(stop), first + len(ROLES) + 1)):
            run = alignment.run(at)
            if run.change is not None and run.start < stop and start < run.stop:
                sets[row] |= role_bit(ROLES[run.change])
    return sets


class DifferenceMap(FileMap):
    """All differences of both sides at their aligned positions."""

    def describe(self, y: int) -> str:
        """The tooltip for a row of pixels; empty where both sides are equal."""
        roles = self.sets[y] if 0 <= y < len(self.sets) else 0
        return ", ".join(label for change, label in CHANGE_LABELS.items() if roles & role_bit(ROLES[change]))


def difference_legend() -> Legend:
    """What the backgrounds of the views mean."""
    names: dict[Role, str] = {ROLES[change]: label for change, label in CHANGE_LABELS.items()}
    names[Role.GAP] = "nothing here"
    found = role_entries(sum(map(role_bit, names)))
    labelled = [replace(entry, label=names[role]) for entry in found for role in entry.lit if isinstance(role, Role)]
    legend = Legend()
    legend.setEntries([*labelled, LegendEntry("the other side is right", mark=DAMAGED)])
    return legend


# ---- the tab -----------------------------------------------------------------------------------------------------


class CompareTab(JobTab[CompareRequests]):
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
        super().__init__("Compare", compare_client, "Stop comparing")
        self._connection_of = connection_of
        self.compared: Compared | None = None
        self._alignment = Alignment()
        self._zoom = 0
        self.views = {
            side: SideView(side, location, version, partial(self.take_into, side))
            for side, location, version in zip((A, B), (a, b), versions, strict=True)
        }
        labels = (f", {each.label}" if each.label else "" for each in versions)
        places = (visible(strip_credentials(each)) for each in (a, b))
        self.names = ElidedLabel("  against  ".join(map("".join, zip(places, labels, strict=True))))
        self.again = push_button("Compare &Again", "Read both again and compare them", self.start)
        tip = "Make one good archive out of both, or of more copies"
        self.combine = push_button("Co&mbine…", tip, self.ask_combine)
        self.previous = push_button("&Previous", "Show the previous difference (F7)", self.previous_difference)
        self.next = push_button("&Next", "Show the next difference (F8)", self.next_difference)
        self.map = dressed(DifferenceMap(), "Map of the differences")
        self.legend = difference_legend()
        self.caret = dressed(ElidedLabel(), "Bytes at the caret")
        self.meaning = dressed(ElidedLabel(), "What the bytes at the caret mean")
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
        self._refresh()

    # ---- layout ------------------------------------------------------------------------------------------------

    def _side_by_side(self) -> QWidget:
        holders = ((page_of(in_column(each.caption, (each, 1))), 1) for each in self.views.values())
        sides = side_by_side(*holders, collapses=False)
        sides.splitterMoved.connect(self._fit_columns)
        line = in_row((self.caret, 1), (self.meaning, 1), edge=LINE, gap=4 * GRID)
        row = in_row((sides, 1), self.map, gap=0)
        return page_of(in_column((row, 1), line, self.legend), "Bytes side by side")

    def _lay_out(self) -> None:
        takes = (each.take for each in self.views.values())
        tools = in_row((self.filter, 1), *self.levels.values(), *takes, edge=LINE)
        lower = page_of(in_column(tools, (self._list_stack, 1), self.about))
        halves = side_by_side((self._byte_stack, 3), (lower, 2), down=True, collapses=False)
        head = in_row((self.names, 1), self.bar, self.stop, self.combine, self.again, edge=LINE)
        result = in_row((self.sentence, 1), self.previous, self.next, edge=LINE)
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
        for view, other in zip(self.views.values(), reversed(self.views.values()), strict=True):
            view.scrolled.connect(lambda *_, view=view, other=other: other.follow(view))
            view.caretMoved.connect(partial(self._caret_moved, view, other))
            view.message.connect(self.caret.setText)
            view.lane.chosen.connect(partial(self._choose_structure, view.side))
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
        columns = min(fitting(self._alignment.size, each.cells()).columns for each in self.views.values())
        for view in self.views.values():
            if view.bytesPerRow() != columns:
                view.setBytesPerRow(columns)

    # ---- comparing ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Compare, or compare again."""
        if self.running:
            return
        client = self.open_client()
        self._show(None)
        a, b = self.views.values()
        connections = self._connection_of(a.location), self._connection_of(b.location)
        versions = a.version, b.version
        job = client.start(CompareRequests.compare, a.location, b.location, *connections, versions)
        self._follow(job.then(self._show, self._lost), "Comparing…", self._ended)
        self._instead("Comparing…")

    def _ended(self, job: Job[Compared]) -> None:
        if job.cancelled:
            self._lost("Cancelled.")

    def _instead(self, sentence: str) -> None:
        for stack in (self._byte_stack, self._list_stack):
            stack.show_sentence(sentence)
        self._refresh()

    def _lost(self, sentence: str) -> None:
        self.sentence.setText(visible(sentence))
        self._instead("There is no result.")

    def _refresh(self, *_: object) -> None:
        super()._refresh()
        self.again.setEnabled(not self.running)
        for button in (self.previous, self.next, self.combine):
            button.setEnabled(not self.running and len(self._alignment) > 0)
        row = self.table.row() if self._alignment.size and not self.running else None
        both = row is not None and all(side is not None and side.spans for side in (row.a, row.b))
        for view in self.views.values():
            view.take.setEnabled(both)

    # ---- the result --------------------------------------------------------------------------------------------

    def _show(self, compared: Compared | None) -> None:
        self.compared = None
        known = compared.alignment if compared is not None else None
        self._alignment = Alignment() if known is None else known
        for side, view in self.views.items():
            before = view.model
            fetch = partial(_fetch, self.client, side)
            view.setModel(AlignedModel(self._alignment, side, fetch, self) if self._alignment.size else None)
            if before is not None:
                before.deleteLater()
        self.map.setSize(self._alignment.size)
        self._fit_columns()
        self.model.refetch()
        self.about.say("")
        if compared is not None:
            self._show_result(compared)

    def _show_result(self, compared: Compared) -> None:
        summary = compared.summary
        self.sentence.setText(visible(" ".join((summary.sentence, *summary.notes))))
        for view, state in zip(self.views.values(), compared.states, strict=True):
            view.show_state(state)
        self._mark_wrong(compared.rights)
        self._draw_map(self.map.height())
        self.levels[Level.RANGE].setVisible(bool(summary.ranges))
        why = RANGES if summary.ranges else NOT_ALIGNED if compared.alignment is None else "Both are empty."
        self._byte_stack.show_sentence(why)
        if self._alignment.size:
            self._byte_stack.show_view(self._bytes)
        self.compared = compared
        self._show_list()
        self._refresh()
        self._step(0)

    def _show_list(self, *_: object) -> None:
        """Show the differences, or in a sentence why there are none."""
        if self.compared is None:
            return
        summary = self.compared.summary
        if summary.equal is not False:
            self._list_stack.show_sentence(summary.sentence)
        elif self.model.query != DifferenceQuery() and not self.model.rowCount():
            self._list_stack.show_sentence("No match: no difference fits the filter and the boxes.")
        else:
            self._list_stack.show_view(self.table)

    def _mark_wrong(self, rights: str) -> None:
        """Outline, on the side that is wrong, the runs in which the other is right."""
        runs = [(right, self._alignment.run(at)) for at, right in enumerate(rights) if right in (A, B)][:_MAX_MARKS]
        for side, view in self.views.items():
            view.mark(damage=[(run.start, run.stop) for right, run in runs if right != side])
        self.map.show_state(damage=[(run.start, run.stop) for _, run in runs])

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

        self._show_plan(plan, self.views[A].location, by_hand=False)

    def take_into(self, side: str, _: bool = False) -> None:
        """Take the selected difference from the other side: as a pending change, or where sizes differ, a new file."""
        row: Difference | None = self.table.row()
        if row is None or not self.views[side].take.isEnabled():
            return
        location = self.views[side].location

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

    # ---- moving ------------------------------------------------------------------------------------------------

    def _caret_moved(self, view: SideView, other: SideView, offset: int) -> None:
        if other.caret() != offset:
            other.goTo(offset, reveal=False)
        self._used = view.side if view.hasFocus() else self._used
        self._found_here = False
        for each in (view, other):
            each.setCaretDescription(each.describe_caret())
        self.caret.setText("   ".join(each.describe_caret() for each in self.views.values()))
        self.meaning.setText("")
        self._explain_timer.start()

    def _explain(self) -> None:
        """Say what the bytes at the caret mean on both sides."""
        caret = self.views[A].caret()
        said: dict[str, str] = {}

        def show(side: str, explanation: Explanation) -> None:
            if fields := explanation.fields:
                value = f" = {short(fields[-1].value)}" if fields[-1].value else ""
                said[side] = f"{side.upper()}: {path_text(fields)}{value}"
            if caret == self.views[A].caret():
                self.meaning.setText("   ".join(said[each] for each in (A, B) if each in said))

        for side, view in self.views.items():
            if (own := view.own_byte(caret + 1)) is not None:
                self.client.ask(CompareRequests.side_byte, side, own).then(partial(show, side))

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
        side, own = self._used, self.views[self._used].own_byte()
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

    def _aligned_span(self, side: str, span: Span) -> Span:
        start = self._alignment.aligned(side, span.start)
        return Span(start, self._alignment.aligned(side, span.stop - 1) + 1 if span.size else start)

    def _outline(self, start: int, stop: int) -> None:
        # Outlined and not selected: a selection would hide the colours.
        for view in self.views.values():
            view.mark(outline=((start, stop),))
        self.go_to(start)

    def _choose_structure(self, side: str, structure: Structure) -> None:
        """Outline the structure whose name was clicked, beside the same place of the other side."""
        self._use(side)
        self._outline(structure.start, structure.stop)

    def next_difference(self) -> None:
        """Select the next differing run; the first one after the last."""
        self._step(self._alignment.before(self.views[A].caret() + 1))

    def previous_difference(self) -> None:
        """Select the previous differing run; the last one before the first."""
        self._step(self._alignment.before(self.views[A].caret()) - 1)

    def _step(self, at: int) -> None:
        """Show a differing run on both sides, if any differs."""
        if len(self._alignment):
            run = self._alignment.run(at % len(self._alignment))
            self._outline(run.start, run.stop)

    def _show_row(self, index: QModelIndex) -> None:
        row = self.model.row(index)
        self._refresh()
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


def _fetch(client: Client[CompareRequests], side: str, start: int, stop: int, deliver: Deliver) -> None:
    read = client.ask(CompareRequests.side_bytes, side, start, stop - start)
    deliver_both(read, client.ask(CompareRequests.side_runs, side, start, stop), deliver)
