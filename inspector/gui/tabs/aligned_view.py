"""A hex view of one side of a comparison: its bytes, and gaps where the other side has bytes that it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QObject, QPointF, Signal
from PySide6.QtGui import QGuiApplication, QPainter
from PySide6.QtWidgets import QWidget

from inspector.core.field import Run, Structure
from inspector.core.kinds import Kind, Role
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import Span
from inspector.drawing.colouring import ColourBy
from inspector.gui.hex.highlights import Tint, structures_of, tints
from inspector.gui.hex.layout import MAX_COPY_BYTES, CopyFormat, Pane, formatted
from inspector.gui.hex.pages import Deliver, HexModel
from inspector.gui.hex.painting import MARGIN, Look, RowPainter, ViewState
from inspector.gui.hex.view import HexView
from inspector.operations.protocol.compare_views import AlignedPiece, Alignment, Change

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
        model = self.aligned_model()
        pieces = model.pieces(self.caret(), self.caret() + 1) if model is not None else []
        at = pieces[0].at(self.side) if pieces else None
        if at is None and nearest and model is not None:
            behind = model.pieces(self.caret(), model.size)
            at = next((own for each in behind if (own := each.at(self.side)) is not None), None)
        return at

    def describe_caret(self) -> str:
        """What stands at the caret."""
        model = self.aligned_model()
        pieces = model.pieces(self.caret(), self.caret() + 1) if model is not None else []
        if not pieces:
            return ""
        at, side = pieces[0].at(self.side), self.side.upper()
        if at is None:
            return f"{side} has nothing here"
        data = self.byteAtCaret()
        value = f" {data:02X}" if data is not None else ""
        change = pieces[0].change
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
        model = self.aligned_model()
        return (
            super()._row_painter(painter, scene) if model is None else _AlignedPainter(painter, self.look, scene, model)
        )
