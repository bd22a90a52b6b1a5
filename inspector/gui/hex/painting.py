"""Painting of the rows of the hex view: fonts and colours, cells in pixels, and the row painter."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from math import ceil
from typing import Any

from msgspec import Struct
from PySide6.QtCore import QLine, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPalette, QPen, QPolygon

from inspector.core.field import Structure
from inspector.core.kinds import Family, Role, Shape
from inspector.core.span import Span, intersect, united
from inspector.drawing.colouring import ColourBy, Paint, fill_of, hatched_role, hue_of, line_of
from inspector.drawing.palette import COLOURS, CONTRAST, MARKS, Colours, Mark, Scheme, mixed
from inspector.gui.hex.layout import Cursor, Layout, Pane, pieces_of, row_text
from inspector.gui.hex.pages import HexModel, Tint, outline_of, overlapping, overlaps
from inspector.gui.kit.style import scheme_for
from inspector.gui.kit.theme import fixed_font

MARGIN = 8
"""Pixels left of the offsets, room for a damage mark."""
_OUTLINE_WIDTH = 2
"""The widest outline; so many pixels are reserved for it at the upper and the lower edge of a row."""
UNDERLINE_HEIGHT = 2
"""Height of the underline of edited bytes, in pixels."""
_MIN_GAP = 1
"""The least distance of an underline from letters and outlines, in pixels."""
_RULE_SHARE = 0.45
"""How much of its structure's line colour the thin line between two fields has."""
_PALE = 0.5
"""How much of bytes that are never read is covered."""
HATCH_PERIOD = 8
"""The period of Qt's hatching patterns, in pixels."""
HATCHING: dict[object, Qt.BrushStyle] = {
    Role.GAP: Qt.BrushStyle.BDiagPattern,
    Role.GARBAGE: Qt.BrushStyle.DiagCrossPattern,
}


def hatching(role: Any, colours: Colours) -> QBrush:
    """The hatching brush of a role; one that paints nothing for what is not hatched."""
    return QBrush(QColor(colours.strokes[role]), HATCHING[role]) if role in HATCHING else QBrush()


def unread_brushes(colours: Colours) -> tuple[QBrush, QBrush]:
    """What is laid over bytes that a reader never reads: they pale, and are ruled, for colour alone says nothing."""
    pale = QColor(colours.base)
    pale.setAlphaF(_PALE)
    return QBrush(pale), QBrush(QColor(colours.rule), Qt.BrushStyle.FDiagPattern)


def row_metrics(ascent: float, descent: float) -> tuple[int, int, int]:
    """The height of a row, its baseline and its underline, for a font with this ascent and descent in pixels.

    They are whole pixels from its top, so that no font makes two lines touch; edited bytes are underlined in
    ``[underline, underline + UNDERLINE_HEIGHT)``.
    """
    baseline = _OUTLINE_WIDTH + round(ascent)
    line = baseline + max(ceil(descent), _MIN_GAP + UNDERLINE_HEIGHT + _MIN_GAP) + _OUTLINE_WIDTH
    return line, baseline, line - _OUTLINE_WIDTH - _MIN_GAP - UNDERLINE_HEIGHT


class Look:
    """A font and a colour scheme with the metrics, pens and brushes derived from them; immutable."""

    def __init__(self, font: QFont, scheme: Scheme) -> None:
        metrics = QFontMetricsF(font)
        self.font = font
        self.scheme = scheme
        self.colours = COLOURS[scheme]
        self.flag = QColor(MARKS[scheme][Mark.INFO])
        self.cell = metrics.horizontalAdvance("0" * 64) / 64
        self.line, self.baseline, self.underline = row_metrics(metrics.ascent(), metrics.descent())
        self._brushes: dict[Paint, tuple[list[QBrush], QBrush | None]] = {}
        width = _OUTLINE_WIDTH if scheme in CONTRAST else 1
        self.structure_lines = {
            family: QPen(QColor(line_of(family, self.colours)), width) for family in (None, *Family)
        }
        self.outline = QPen(QColor(self.colours.outline), width)
        self.damage = QPen(QColor(self.colours.damage), _OUTLINE_WIDTH)
        self.torn = QPen(QColor(MARKS[scheme][Mark.WARNING]), _OUTLINE_WIDTH)
        self.stored = QPen(QColor(self.colours.selection), _OUTLINE_WIDTH)
        self.omitted = QPen(QColor(self.colours.text), _OUTLINE_WIDTH, Qt.PenStyle.DotLine)
        self.text, self.quiet, self.selection_text = (
            QPen(QColor(colour)) for colour in (self.colours.text, self.colours.quiet, self.colours.selection_text)
        )
        self.unread = unread_brushes(self.colours)
        self.base, self.selection = (QBrush(QColor(colour)) for colour in (self.colours.base, self.colours.selection))

    def brushes(self, paint: Paint) -> tuple[list[QBrush], QBrush | None]:
        """The brushes of a background, a fill and perhaps hatching; and that of the thin line where a field begins."""
        found = self._brushes.get(paint)
        if found is None:
            fill, role = fill_of(paint, self.colours), hatched_role(paint)
            fills = [QBrush(QColor(fill)), *([hatching(role, self.colours)] if role in HATCHING else [])]
            hue = hue_of(paint) if paint.by is ColourBy.STRUCTURE else None
            rule = None if hue is None else QBrush(QColor(mixed(self.colours.tones[hue].line, fill, _RULE_SHARE)))
            found = self._brushes[paint] = (fills, rule)
        return found

    def x(self, cell: float) -> int:
        """The left edge of a cell in pixels."""
        return MARGIN + round(cell * self.cell)


def look_for(steps: int, palette: QPalette) -> Look:
    """The look for a zoom of ``steps`` points and a palette; equal looks are shared."""
    return _look(fixed_font(steps), scheme_for(palette))


@lru_cache(maxsize=16)
def _look(font: QFont, scheme: Scheme) -> Look:
    return Look(font, scheme)


class Grid:
    """The horizontal edges of the bytes of a row in pixels."""

    def __init__(self, look: Look, layout: Layout) -> None:
        columns = range(layout.columns)
        # Half a cell more on both sides of hex digits, so that neighbouring bytes of a field have no seam.
        self.panes = {
            Pane.HEX: (
                [look.x(layout.hex_cell(column) - 0.5) for column in columns],
                [look.x(layout.hex_cell(column) + 2.5) for column in columns],
            ),
            # One pixel to the left: letters fill their cells and must not touch a vertical line.
            Pane.TEXT: (
                [look.x(layout.text_cell(column)) - 1 for column in columns],
                [look.x(layout.text_cell(column + 1)) - 1 for column in columns],
            ),
        }
        self.width = look.x(layout.cells) + MARGIN

    def edges(self, pane: Pane, first: int, stop: int) -> tuple[int, int]:
        """The left and right edge of the columns ``[first, stop)``, at least one column."""
        left, right = self.panes[pane]
        return left[first], right[stop - 1]


class ViewState(Struct):
    """What to paint: bytes, caret, marks (merged spans). ``focused``: the view has the keyboard focus.

    ``outline`` is the selected field or the bytes a checksum covers, ``stored`` the checksum itself, ``omitted`` the
    bytes it leaves out, ``edited`` the bytes not on disk yet, ``unread`` those that a reader never reads. With
    ``overwriting``, typing replaces the byte at the caret from its digit ``digit`` (0 or 1) on. ``structures`` are
    outlined, outer ones first. With ``lit``, only backgrounds that say one of these (see ``Paint.what``) are painted;
    with ``stored``, only those of its bytes and of ``outline``. ``bookmarks`` are offsets in order; each gets a flag.
    """

    layout: Layout
    grid: Grid
    cursor: Cursor
    model: HexModel | None = None
    outline: Sequence[Span] = ()
    damage: Sequence[Span] = ()
    torn: bool = False
    stored: Sequence[Span] = ()
    omitted: Sequence[Span] = ()
    edited: Sequence[Span] = ()
    unread: Sequence[Span] = ()
    bookmarks: Sequence[int] = ()
    lit: frozenset[Hashable] | None = None
    structures: Sequence[Structure] = ()
    focused: bool = False
    overwriting: bool = False
    digit: int = 0


MARKS_OF_SPANS = frozenset(("outline", "damage", "stored", "omitted", "edited", "unread"))
"""What a ``ViewState`` has of merged spans."""
FLAG = 7
"""The sides of the flag of a bookmark in pixels."""


class RowPainter:
    """Paints rows of a scene with an active painter, which the caller ends.

    Backgrounds, lines and text are painted in passes over all rows, which changes pens least.
    """

    def __init__(self, painter: QPainter, look: Look, scene: ViewState) -> None:
        self._painter = painter
        self._look = look
        assert scene.model is not None
        self._scene, self._model = scene, scene.model
        self.wrong = look.torn if scene.torn else look.damage
        painter.setFont(look.font)

    def paint(self, rows: range, top: int) -> None:
        """Paint rows, the first with its upper edge at ``top`` pixels."""
        layout, line = self._scene.layout, self._look.line
        spans = [span for row in rows if (span := layout.span_of(row)).size]
        if not spans:
            return
        span_painted = Span(spans[0].start, spans[-1].stop)
        self._backgrounds(span_painted, top)
        self._outlines(range(rows.start, rows.start + len(spans)), span_painted, top)
        self._offsets(spans, top)
        self._text(spans, span_painted, top)
        for start, stop in intersect([span_painted], overlapping(self._scene.unread, *span_painted)):
            self._fill(start - span_painted.start, stop - span_painted.start, top, self._look.unread, joined=True)
        self._underlines(span_painted, top)
        self._flags(span_painted, top)
        caret = self._scene.cursor.caret
        if span_painted.start <= caret < span_painted.stop:
            row, column = divmod(caret - span_painted.start, layout.columns)
            self._caret(column, top + row * line)

    def _backgrounds(self, span_painted: Span, top: int) -> None:
        brushes, lit, base = self._look.brushes, self._scene.lit, span_painted.start
        tints = self._model.tints_at(*span_painted)
        if self._scene.stored:
            lights = overlapping(united([*self._scene.outline, *self._scene.stored]), *span_painted)
            tints = [
                Tint(*piece, tint.paint) for tint in tints for piece in intersect([Span(tint.start, tint.stop)], lights)
            ]
        for (start, stop, paint), after in zip_longest(tints, tints[1:]):
            if lit is None or paint.what in lit:
                fills, rule = brushes(paint)
                # The gap between two groups belongs to a structure that goes on behind it.
                joined = (
                    rule is not None and after is not None and after.start == stop and after.paint.what == paint.what
                )
                self._fill(start - base, stop - base, top, fills, joined=joined)
                if rule is not None:  # in the text it would hide letters
                    row, column = divmod(start - base, self._scene.layout.columns)
                    left, line = self._scene.grid.panes[Pane.HEX][0][column], self._look.line
                    self._painter.fillRect(left, top + row * line, 1, line, rule)
        for start, stop in intersect([span_painted], [self._scene.cursor.selection]):
            self._fill(start - base, stop - base, top, (self._look.selection,))

    def _fill(self, start: int, stop: int, top: int, brushes: Sequence[QBrush], *, joined: bool = False) -> None:
        """Fill the background of bytes ``[start, stop)``, counted from the first byte painted, in both panes.

        ``joined``: also the gap before the next byte.
        """
        fill, height, columns = self._painter.fillRect, self._look.line, self._scene.layout.columns
        panes = self._scene.grid.panes.values()
        while start < stop:
            row, column = divmod(start, columns)
            last = min(columns, column + stop - start) - 1
            for lefts, rights in panes:
                left = lefts[column]
                right = lefts[last + 1] if joined and last + 1 < columns else rights[last]
                for brush in brushes:
                    fill(left, top + row * height, right - left, height, brush)
            start = (row + 1) * columns

    def _outlines(self, rows: range, span_painted: Span, top: int) -> None:
        """Lines around the whole extent of each structure, in the hue of its family, and around what is marked."""
        scene, look = self._scene, self._look
        drawn: dict[Family | None, list[QLine]] = {}
        for structure in scene.structures:
            if structure.kind.shape is not Shape.GROUP:
                around = self._around(Span(structure.start, structure.stop), rows, top)
                drawn.setdefault(structure.family, []).extend(around)
        marked = (
            (scene.outline, look.outline, 0),
            (scene.damage, self.wrong, 1),
            (scene.stored, look.stored, 0),
            (scene.omitted, look.omitted, 0),
        )
        pens = [(look.structure_lines[family], lines) for family, lines in drawn.items()]
        for spans, pen, inset in marked:
            found = overlapping(spans, *span_painted)
            pens.append((pen, [line for span in found for line in self._around(span, rows, top, inset)]))
        for pen, lines in pens:
            self._painter.setPen(pen)
            self._painter.drawLines(lines)
        for row in rows:  # a wedge in the margin, which makes damage visible at a glance
            if overlaps(scene.damage, *scene.layout.span_of(row)):
                middle = top + (row - rows.start) * look.line + look.line // 2
                self._wedge(self.wrong.color(), (1, middle - 4), (6, middle), (1, middle + 4))

    def _around(self, span: Span, rows: range, top: int, inset: int = 0) -> Iterator[QLine]:
        """The lines around bytes in both panes, ``inset`` pixels in at the left and the top."""
        line = self._look.line
        sides, edges = outline_of(*span, self._scene.layout.columns, rows)
        for lefts, rights in self._scene.grid.panes.values():
            for column, low, high in sides:
                x = lefts[column] + inset if column >= 0 else rights[~column] - 1
                yield QLine(x, top + (low - rows.start) * line + inset, x, top + (high - rows.start) * line - 1)
            for row, first, stop in edges:
                y = (row - rows.start) * line + inset if row >= 0 else (~row + 1 - rows.start) * line - 1
                yield QLine(lefts[first] + inset, top + y, rights[stop - 1] - 1, top + y)

    # ---- text --------------------------------------------------------------------------------------------------

    def _offsets(self, spans: Sequence[Span], top: int) -> None:
        look, layout, draw = self._look, self._scene.layout, self._painter.drawText
        self._painter.setPen(look.quiet)
        y = top + look.baseline
        for span in spans:
            if (own := self._model.own(*span)).size:
                draw(QPointF(MARGIN, y), layout.number_text(own.start))
            y += look.line

    def _text(self, spans: Sequence[Span], span_painted: Span, top: int) -> None:
        look, layout, painter = self._look, self._scene.layout, self._painter
        selection = self._scene.cursor.selection
        cached, gaps = self._model.bytes_at(*span_painted), self._model.gaps(*span_painted)
        first, left = layout.hex_start, MARGIN + layout.hex_start * look.cell
        painter.setPen(look.text)
        y = top + look.baseline
        for span in spans:
            text = row_text(cached, span, layout.columns)
            for gap in intersect([span], gaps):
                low = layout.hex_cell(gap.start - span.start) - first
                high = layout.hex_cell(gap.stop - 1 - span.start) + 2 - first
                text = text[:low] + " " * (high - low) + text[high:]
            if selection.start < span.stop and span.start < selection.stop:
                for start, stop, lit in pieces_of(layout, selection.clipped(*span), span.start):
                    painter.setPen(look.selection_text if lit else look.text)
                    painter.drawText(QPointF(MARGIN + start * look.cell, y), text[start - first : stop - first])
                painter.setPen(look.text)
            else:
                painter.drawText(QPointF(left, y), text)
            y += look.line

    # ---- marks -------------------------------------------------------------------------------------------------

    def _underlines(self, span_painted: Span, top: int) -> None:
        """Underline each byte that is not on disk yet, above any outline."""
        look, layout, selection = self._look, self._scene.layout, self._scene.cursor.selection
        for span in intersect([span_painted], overlapping(self._scene.edited, *span_painted)):
            for offset in range(*span):
                lit = selection.start <= offset < selection.stop
                colour = QColor(look.colours.selection_text if lit else look.colours.text)
                row, column = divmod(offset - span_painted.start, layout.columns)
                y = top + row * look.line + look.underline
                # One pixel less below a letter: letters fill their cells.
                for cell, stop, gap in ((layout.hex_cell(column), 2, 0), (layout.text_cell(column), 1, 1)):
                    left, right = look.x(cell), look.x(cell + stop) - gap
                    self._painter.fillRect(left, y, right - left, UNDERLINE_HEIGHT, colour)

    def _flags(self, span_painted: Span, top: int) -> None:
        """A corner at each byte that has a bookmark, in both panes."""
        marks, line = self._scene.bookmarks, self._look.line
        for offset in marks[bisect_left(marks, span_painted.start) : bisect_left(marks, span_painted.stop)]:
            row, column = divmod(offset - span_painted.start, self._scene.layout.columns)
            y = top + row * line
            for lefts, _ in self._scene.grid.panes.values():
                x = lefts[column]
                self._wedge(self._look.flag, (x, y), (x + FLAG, y), (x, y + FLAG))

    def _wedge(self, colour: QColor, *corners: tuple[int, int]) -> None:
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(colour)
        self._painter.drawPolygon(QPolygon([QPoint(*corner) for corner in corners]))
        self._painter.setBrush(Qt.BrushStyle.NoBrush)

    def _caret(self, column: int, top: int) -> None:
        """Draw a thick frame in the pane with the focus, a thin one in the other.

        While bytes are overwritten, the next digit or character is also inverted.
        """
        scene, look = self._scene, self._look
        selected = scene.cursor.selection.size > 0
        colour = look.colours.selection_text if selected else look.colours.text
        for pane in Pane:
            left, right = scene.grid.edges(pane, column, column + 1)
            frame = QRect(left, top, right - left, look.line)
            active = scene.focused and pane is scene.cursor.pane
            if active and scene.overwriting:
                self._block(column, top)
            self._painter.setPen(QPen(QColor(colour), 2 if active else 1))
            self._painter.setBrush(Qt.BrushStyle.NoBrush)
            self._painter.drawRect(frame.adjusted(1, 1, -1, -1) if active else frame.adjusted(0, 0, -1, -1))

    def _block(self, column: int, top: int) -> None:
        """Draw the digit or character that is overwritten next in inverted colours."""
        scene, look, layout, caret = self._scene, self._look, self._scene.layout, self._scene.cursor.caret
        is_hex = scene.cursor.pane is Pane.HEX
        cell = layout.hex_cell(column) + scene.digit if is_hex else layout.text_cell(column)
        row = layout.span_of(caret // layout.columns)
        letter = row_text(self._model.bytes_at(*row), row, layout.columns)[cell - layout.hex_start]
        block = QRect(look.x(cell), top + 2, look.x(cell + 1) - look.x(cell), look.line - 4)
        self._painter.fillRect(block, QColor(look.colours.text))
        self._painter.setPen(QColor(look.colours.base))
        self._painter.drawText(QPointF(block.left(), top + look.baseline), letter)
