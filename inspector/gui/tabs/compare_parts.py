"""What a comparison is shown in: hex views of both sides, the list and the map of the differences, and the bytes.

A view shows the bytes of one side, and gaps where the other side has bytes that it lacks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QObject, QPointF, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QResizeEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from inspector.core.field import Run, Structure
from inspector.core.kinds import Kind, Role, role_bit
from inspector.core.names import visible
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import Span
from inspector.drawing.colouring import ColourBy
from inspector.gui.hex.beside.data_inspector import DataInspector
from inspector.gui.hex.beside.file_map import FileMap
from inspector.gui.hex.beside.legend import DAMAGED, Legend, LegendEntry, role_entries
from inspector.gui.hex.beside.readings import READ_BYTES
from inspector.gui.hex.highlights import Tint, structures_of, tints
from inspector.gui.hex.layout import MAX_COPY_BYTES, CopyFormat, Pane, formatted
from inspector.gui.hex.pages import Deliver, HexModel
from inspector.gui.hex.painting import MARGIN, Look, RowPainter, ViewState
from inspector.gui.hex.view import HexView
from inspector.gui.kit.building import in_column, in_row, page_of
from inspector.gui.kit.style import GRID
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.text import path_text, short
from inspector.gui.kit.widgets import SelectableLabel
from inspector.gui.panels.byte import ByteFacts, byte_scroll_area, stored_offset
from inspector.operations.protocol.compare_views import (
    A,
    AlignedPiece,
    Alignment,
    B,
    Change,
    Difference,
    Order,
    Side,
    SideByte,
)

Fetch = Callable[[int, int, Callable[[bytes], None]], None]
"""``fetch(offset, length, deliver)`` of one side."""
FetchRuns = Callable[[int, int, Callable[[list[Run]], None]], None]
"""``fetch(start, stop, deliver)`` of one side."""

ROLES = {Change.CHANGED: Role.CONTROL, Change.ADDED: Role.EXTENT, Change.REMOVED: Role.DIRECTORY}
"""The tested background of each kind of difference."""
CHANGE_LABELS = {Change.CHANGED: "changed", Change.ADDED: "only in B", Change.REMOVED: "only in A"}


class AlignedModel(HexModel):
    """The bytes and structures of one side at aligned positions; what is fetched has its places in the file.

    Differences are coloured, and what is equal is not.
    """

    def __init__(
        self,
        alignment: Alignment,
        side: str,
        fetch_bytes: Fetch,
        fetch_runs: FetchRuns,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(alignment.size, self._fetch_aligned, parent)
        self.alignment = alignment
        self.side = side
        self.fetch_bytes = fetch_bytes
        self._fetch_runs = fetch_runs

    def pieces(self, start: int, stop: int) -> list[AlignedPiece]:
        """The pieces of aligned positions ``[start, stop)``."""
        return self.alignment.pieces(start, stop)

    def own(self, start: int, stop: int) -> Span:
        """The bytes of this side at aligned positions ``[start, stop)``; an empty span where it has none."""
        found = [
            (at, each.stop - each.start) for each in self.pieces(start, stop) if (at := each.at(self.side)) is not None
        ]
        return Span(found[0][0], found[-1][0] + found[-1][1]) if found else Span(0, 0)

    def bytes_at(self, start: int, stop: int) -> list[tuple[int, bytes]]:
        """The cached bytes; a gap has none."""
        return [
            (max(at, each.start), piece[max(at, each.start) - at : min(each.stop, at + len(piece)) - at])
            for at, piece in super().bytes_at(start, stop)
            for each in self.pieces(at, at + len(piece))
            if each.at(self.side) is not None
        ]

    def _fetch_aligned(self, start: int, stop: int, deliver: Deliver) -> None:
        own, pieces = self.own(start, stop), self.pieces(start, stop)

        def take(data: bytes) -> None:
            laid, runs = self._laid_out(pieces, own, data)
            self._fetch_runs(*own, lambda found: deliver(laid, [*runs, *self._named(found)]))

        if own.size:
            self.fetch_bytes(own.start, own.size, take)
        else:
            deliver(*self._laid_out(pieces, own, b""))

    def tints_of(self, runs: Iterable[Run]) -> list[Tint]:
        """The backgrounds of the differences; runs of structures have none."""
        return tints(run for run in runs if run.structure is None)

    def _named(self, runs: Iterable[Run]) -> list[Run]:
        """The structures around runs at aligned positions, each as a run."""
        found = (self._aligned(each) for each in structures_of(runs))
        return [Run(each.start, each.stop, each.kind, Role.DATA, 0, each.path, each) for each in found]

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


class _AlignedPainter(RowPainter):
    """Paints the places in the file instead of aligned positions, and nothing in gaps."""

    def __init__(self, painter: QPainter, look: Look, scene: ViewState, model: AlignedModel) -> None:
        super().__init__(painter, look, scene)
        self._aligned = model

    def _offsets(self, spans: Sequence[Span], top: int) -> None:
        look, layout = self._look, self._scene.layout
        self._painter.setPen(look.quiet)
        y = top + look.baseline
        for span in spans:
            own = self._aligned.own(*span)
            if own.size:
                self._painter.drawText(QPointF(MARGIN, y), layout.number_text(own.start))
            y += look.line

    def _row_text(self, cached: Sequence[tuple[int, bytes]], span: Span) -> str:
        layout, text = self._scene.layout, super()._row_text(cached, span)
        for each in self._aligned.pieces(*span):
            if each.at(self._aligned.side) is None:
                first = layout.hex_cell(each.start - span.start) - layout.hex_start
                last = layout.hex_cell(each.stop - 1 - span.start) + 2 - layout.hex_start
                text = text[:first] + " " * (last - first) + text[last:]
        return text


class AlignedView(HexView):
    """One of two views that scroll in step.

    Signals:
        topChanged(object row): another row is at the top.
    """

    topChanged = Signal(object)

    def __init__(self, side: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.side = side
        self.setArrowsShown(False)
        self.setColourBy(ColourBy.KIND)  # lines around structures would hide those around differences
        self.setAccessibleName(f"Bytes of {side.upper()}")
        self.scrolled.connect(lambda *_: self.topChanged.emit(self.top()))

    def aligned_model(self) -> AlignedModel | None:
        """The model, if any."""
        model = self.model()
        return model if isinstance(model, AlignedModel) else None

    def top(self) -> int:
        """The first row in view."""
        return self._scroll.top

    def show_row(self, row: int) -> None:
        """Scroll so that ``row`` is the first in view."""
        self._scroll_to(row)

    def cells_in(self, width: int) -> int:
        """How many cells fit into a view of this width in pixels."""
        return int((width - self.verticalScrollBar().sizeHint().width() - 2 * MARGIN) / self.look.cell)

    def own_byte(self, *, nearest: bool = False) -> int | None:
        """The byte of this side at the caret, None in a gap; ``nearest``: the next one there instead."""
        behind = self._pieces(sys.maxsize if nearest else self.caret() + 1)
        return next((own for each in behind if (own := each.at(self.side)) is not None), None)

    def _pieces(self, stop: int) -> list[AlignedPiece]:
        model = self.aligned_model()
        return model.pieces(self.caret(), stop) if model is not None else []

    def describe_caret(self) -> str:
        """What stands at the caret."""
        pieces, side = self._pieces(self.caret() + 1), self.side.upper()
        if not pieces:
            return ""
        at = pieces[0].at(self.side)
        if at is None:
            return f"{side} has nothing here"
        data, change = self.byteAtCaret(), pieces[0].change
        value = f" {data:02X}" if data is not None else ""
        kind = f", {CHANGE_LABELS[change]}" if change is not None else ""
        return f"{side}: {hexadecimal(at)} ({grouped(at)}){value}{kind}"

    def copy(self, copy_format: CopyFormat | None = None) -> None:
        """Copy the bytes of this side among those selected; gaps have none."""
        model, span = self.aligned_model(), self._cursor.selected_or_caret
        own = model.own(*span) if model is not None else Span(0, 0)
        if model is None or not own.size:
            return
        if own.size > MAX_COPY_BYTES:
            most = in_bytes(MAX_COPY_BYTES)
            self.message.emit(f"{in_bytes(own.size)} are too much for the clipboard: at most {most} can be copied.")
            return
        form = copy_format or (CopyFormat.HEX if self.pane() is Pane.HEX else CopyFormat.TEXT)
        collected = bytearray()

        def take(data: bytes) -> None:
            collected.extend(data)
            if data and len(collected) < own.size:
                model.fetch_bytes(own.start + len(collected), own.size - len(collected), take)
            elif len(collected) == own.size:
                QGuiApplication.clipboard().setText(formatted(bytes(collected), form))
                self.message.emit(f"{in_bytes(own.size)} copied as {form.value}.")
            else:
                self.message.emit("Nothing was copied: not all of it could be read.")

        model.fetch_bytes(own.start, own.size, take)

    def _row_painter(self, painter: QPainter, scene: ViewState) -> RowPainter:
        if (model := self.aligned_model()) is None:
            return super()._row_painter(painter, scene)
        return _AlignedPainter(painter, self.look, scene, model)


# ---- the list of differences -------------------------------------------------------------------------------------


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


# ---- the map and the legend --------------------------------------------------------------------------------------


def role_sets(alignment: Alignment, rows: int) -> list[int]:
    """The roles of the differences in each of ``rows`` equal stretches of aligned positions."""
    size, sets = alignment.size, [0] * rows
    if not size or not rows:
        return sets
    for row in range(rows):
        start, stop = row * size // rows, max(row * size // rows + 1, (row + 1) * size // rows)
        first = alignment.before(start + 1)
        runs = range(max(0, first - 1), min(alignment.before(stop), first + len(ROLES) + 1))
        for at in runs:
            run = alignment.run(at)
            if run.change is not None and run.start < stop and start < run.stop:
                sets[row] |= role_bit(ROLES[run.change])
    return sets


class DifferenceMap(FileMap):
    """All differences of both sides at their aligned positions."""

    def __init__(self) -> None:
        super().__init__()
        self._alignment = Alignment()
        self.setAccessibleName("Map of the differences")

    def show_alignment(self, alignment: Alignment) -> None:
        """Start a map of another alignment."""
        self._alignment = alignment
        self.setSize(alignment.size)

    def describe(self, y: int) -> str:
        """The tooltip for a row of pixels; empty where both sides are equal."""
        if not self._alignment.size or not 0 <= y < self.height():
            return ""
        roles = role_sets(self._alignment, self.height())[y]
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


# ---- the bytes at the caret ----------------------------------------------------------------------------------------

Ask = Callable[[str, int, int, Callable[[SideByte | None], None]], None]
"""``ask(side, offset, length, deliver)`` about a byte of one side; None where that cannot be answered."""
_SIDES = (A, B)


class CompareBytes(QScrollArea):
    """The Byte panel with both sides: what explains each byte, and the values there, those that differ in bold."""

    def __init__(self, ask: Ask) -> None:
        super().__init__()
        self._ask = ask
        self._asked = 0
        self.about = {side: ByteFacts() for side in _SIDES}
        self.places = {side: SelectableLabel() for side in _SIDES}
        self.inspector = DataInspector(columns=[f"Value in {side.upper()}" for side in _SIDES])
        self.inspector.setColumnWidth(1, 40 * GRID)
        sides = [(in_column(self.places[side], self.about[side], 1, gap=2 * GRID), 1) for side in _SIDES]
        body = page_of(in_column(self.inspector, in_row(*sides, gap=4 * GRID), 1, edge=2 * GRID, gap=2 * GRID))
        byte_scroll_area(body, self)
        self.setAccessibleName("What this byte is on both sides")
        self.show_nothing()

    def show_nothing(self) -> None:
        """Forget what is shown."""
        self._asked += 1
        for side in _SIDES:
            self.places[side].setText(side.upper())
            self.about[side].clear("Nothing is selected.")
        self.inspector.setBytes(b"", b"")

    def show_bytes(self, offsets: Mapping[str, int], done: Callable[[dict[str, str]], None]) -> None:
        """Show the bytes at these offsets of the sides; a side without one has nothing there.

        ``done`` is called with a line about each byte that is known.
        """
        self._asked += 1
        found: dict[str, SideByte | None] = {}

        def take(asked: int, side: str, byte: SideByte | None) -> None:
            found[side] = byte
            if asked == self._asked and len(found) == len(offsets):
                self._show(offsets, found)
                done({each: text for each in _SIDES if (text := _in_a_line(found.get(each)))})

        for side, offset in offsets.items():
            self._ask(side, offset, READ_BYTES, partial(take, self._asked, side))

    def _show(self, offsets: Mapping[str, int], found: Mapping[str, SideByte | None]) -> None:
        for side in _SIDES:
            at, byte, about = offsets.get(side), found.get(side), self.about[side]
            where = "" if at is None else f": {hexadecimal(at)} ({grouped(at)})"
            self.places[side].setText(f"{side.upper()}{where}")
            if byte is None:
                about.clear(f"{side.upper()} has nothing here." if at is None else "This byte cannot be explained.")
                continue
            about.show_explanation(byte.explanation)
            about.show_member(byte.member, stored_offset(byte.stored, byte.explanation.offset))
        self.inspector.setBytes(*(byte.data if (byte := found.get(side)) is not None else b"" for side in _SIDES))

    def resizeEvent(self, event: QResizeEvent) -> None:
        for about in self.about.values():
            about.fit(self.width() // len(_SIDES))
        super().resizeEvent(event)


def _in_a_line(byte: SideByte | None) -> str:
    """The fields around a byte, and the value of the innermost; empty where nothing is known."""
    if byte is None or not byte.explanation.fields:
        return ""
    fields = byte.explanation.fields
    return path_text(fields) + (f" = {short(fields[-1].value)}" if fields[-1].value else "")
