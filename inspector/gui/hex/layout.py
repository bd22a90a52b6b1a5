"""The hex view without pixels: columns in character cells, rows and bytes as text, the scroll position, the caret."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from math import floor

from inspector.core.span import Span

GROUP = 8
"""Bytes between wider gaps, which help the eye to count."""
_MIN_DIGITS = 8
"""The fewest digits of an offset."""
_MAX_TWO_DIGITS = 100
_GAP = 2
"""Cells between the offset, hex and text columns."""


class Layout:
    """``size`` bytes in rows of ``columns`` bytes: an offset column in base 16 or 10, a hex column and a text column.

    Cells are counted from the left edge of a row, which has ``cells`` of them; a column is the position of a byte in
    its row. Offsets have an even number of ``digits``, enough for the last byte. ``hex_start`` and ``text_start`` are
    the first cells of their columns. An empty layer has no ``rows``.
    """

    def __init__(self, size: int, columns: int, base: int = 16) -> None:
        self.size, self.columns, self.base = size, columns, base
        needed = len(_number(max(0, size - 1), base))
        self.digits = max(_MIN_DIGITS, needed + (needed & 1))
        self.rows = -(-size // columns)
        self.hex_start = self.digits + _GAP
        self.text_start = self.hex_start + _hex_cells(columns) + _GAP
        self.cells = self.text_start + columns

    def hex_cell(self, column: int) -> int:
        """The cell of the first of the two digits of a byte."""
        return self.hex_start + 3 * column + column // GROUP

    def text_cell(self, column: int) -> int:
        """The cell of a byte's character."""
        return self.text_start + column

    def span_of(self, row: int) -> Span:
        """The bytes of a row; empty for rows that do not exist."""
        start = min(max(0, row) * self.columns, self.size)
        return Span(start, min(start + self.columns, self.size))

    def in_text(self, cell: float) -> bool:
        """Whether a position in a row belongs to the text column rather than to the hex column."""
        return cell >= self.text_start - _GAP / 2

    def byte_at(self, row: int, cell: float, in_text: bool) -> int:
        """The byte of the hex or text column nearest to a position; 0 for an empty layer."""
        row = min(max(0, row), max(0, self.rows - 1))
        column = floor(cell - self.text_start) if in_text else self._hex_column(cell)
        return max(0, min(row * self.columns + min(max(0, column), self.columns - 1), self.size - 1))

    def _hex_column(self, cell: float) -> int:
        # Half a cell to the left, so that the gap between two bytes is shared by both.
        group, rest = divmod(cell - self.hex_start + 0.5, 3 * GROUP + 1)
        return int(group) * GROUP + min(int(rest // 3), GROUP - 1)

    def number_text(self, offset: int) -> str:
        """An offset as in the offset column."""
        return _number(offset, self.base).zfill(self.digits)

    @property
    def column_labels(self) -> list[str]:
        """The label above each column: its position in the row, in two digits."""
        # Rows of more than 256 bytes fit on no screen.
        base = self.base if self.columns <= _MAX_TWO_DIGITS else 16
        return [_number(column & 0xFF, base).zfill(2) for column in range(self.columns)]


def _number(number: int, base: int) -> str:
    return f"{number:d}" if base == 10 else f"{number:x}"


def _hex_cells(columns: int) -> int:
    return 3 * columns - 1 + (columns - 1) // GROUP


def fitting(size: int, cells: int, base: int = 16, most: int = 1 << 16) -> Layout:
    """The layout with the most groups per row that fits into ``cells``: at least one group, at most ``most`` bytes.

    The number of groups is a power of two, so that rows start at round offsets.
    """
    groups = 1
    while 2 * groups * GROUP <= most and Layout(size, 2 * groups * GROUP, base).cells <= cells:
        groups *= 2
    return Layout(size, groups * GROUP, base)


_PRINTABLE = bytes(byte if 0x20 <= byte < 0x7F else ord(".") for byte in range(256))
_UNKNOWN_HEX = "--"
_UNKNOWN_TEXT = " "


def hex_text(data: bytes) -> str:
    """Bytes as hex, with a wider gap between groups."""
    return "  ".join(data[i : i + GROUP].hex(" ") for i in range(0, len(data), GROUP)).upper()


def plain_text(data: bytes) -> str:
    """Bytes as ASCII, with a full stop for bytes that are not printable."""
    return data.translate(_PRINTABLE).decode("ascii")


def row_text(known: Sequence[tuple[int, bytes]], row: Span, columns: int) -> str:
    """The hex and text columns of a row; ``known`` are the fetched bytes, as pieces with their offsets."""
    for offset, piece in known:
        if offset <= row.start and row.stop <= offset + len(piece):
            data = piece[row.start - offset : row.stop - offset]
            digits, text = hex_text(data), plain_text(data)
            break
    else:
        digits, text = _with_unknown(known, row)
    return f"{digits:<{_hex_cells(columns)}}{' ' * _GAP}{text}"


def _with_unknown(known: Sequence[tuple[int, bytes]], row: Span) -> tuple[str, str]:
    digits, text = [_UNKNOWN_HEX] * row.size, [_UNKNOWN_TEXT] * row.size
    for offset, piece in known:
        for at in range(max(row.start, offset), min(row.stop, offset + len(piece))):
            byte = piece[at - offset : at - offset + 1]
            digits[at - row.start], text[at - row.start] = hex_text(byte), plain_text(byte)
    groups = (" ".join(digits[i : i + GROUP]) for i in range(0, row.size, GROUP))
    return "  ".join(groups), "".join(text)


def pieces_of(layout: Layout, selected: Span, base: int) -> list[tuple[int, int, bool]]:
    """The cells of the hex and text columns as pieces (start, stop, selected) of one text colour each.

    ``selected`` is a span of at least one byte in the row that starts at ``base``.
    """
    first, stop = selected.start - base, selected.stop - base
    low, high = layout.hex_cell(first), layout.hex_cell(stop - 1) + 2
    text_low, text_high = layout.text_cell(first), layout.text_cell(stop)
    pieces = (
        (layout.hex_start, low, False),
        (low, high, True),
        (high, text_low, False),
        (text_low, text_high, True),
        (text_high, layout.cells, False),
    )
    return [piece for piece in pieces if piece[0] < piece[1]]


MAX_BAR_VALUE = 1 << 30
"""The largest value of the scroll bar: Qt adds to it and must stay within 31 bits."""


class RowScroll:
    """Scroll position in rows of any number, which a 32-bit scroll bar only mirrors.

    ``top`` is the first of ``page`` fully visible rows, out of ``rows``.
    """

    def __init__(self) -> None:
        self.top = 0
        self.rows = 0
        self.page = 1

    @property
    def last(self) -> int:
        """The largest ``top``, which shows the last row at the bottom."""
        return max(0, self.rows - self.page)

    def resize(self, rows: int, page: int) -> None:
        """Change the numbers of rows; ``top`` is clamped."""
        self.rows, self.page = rows, max(1, page)
        self.to(self.top)

    def to(self, top: int) -> int:
        """Scroll to ``top``, clamped to the rows; returns by how many rows the position changed."""
        before = self.top
        self.top = max(0, min(top, self.last))
        return self.top - before

    def revealing(self, row: int, stop: int | None = None) -> int:
        """The ``top`` that shows ``row``, and the rows up to ``stop`` too if they fit.

        Rows up to one page away are scrolled to by the shortest way; others appear a quarter of a page below the top.
        """
        low, high = row, max(row, (stop or row + 1) - 1)
        if high - low >= self.page:
            high = row
        if self.top <= low and high < self.top + self.page:
            return self.top
        if self.top - self.page < low < self.top:
            return low
        if self.top <= low and high < self.top + 2 * self.page:
            return high - self.page + 1
        return max(0, min(row - self.page // 4, self.last))

    @property
    def bar_maximum(self) -> int:
        """The largest value of the scroll bar."""
        return min(self.last, MAX_BAR_VALUE)

    @property
    def bar_value(self) -> int:
        """The value of the scroll bar for the current position."""
        return self.top if self.last <= MAX_BAR_VALUE else self.top * MAX_BAR_VALUE // self.last

    def from_bar(self, value: int) -> int:
        """The position for a value of the scroll bar."""
        return value if self.last <= MAX_BAR_VALUE else value * self.last // MAX_BAR_VALUE


# ---- the caret and the selection -------------------------------------------------------------------------------------


class Pane(StrEnum):
    """The column with the keyboard focus."""

    HEX = "hex"
    TEXT = "text"


MOVES = (
    *("PreviousChar", "NextChar", "PreviousLine", "NextLine", "PreviousPage", "NextPage"),
    *("StartOfLine", "EndOfLine", "StartOfDocument", "EndOfDocument"),
)
"""The movements of the caret, as Qt names their keys."""


class Cursor:
    """A caret on one of ``size`` bytes, and an anchor while bytes are selected.

    The selection runs from the anchor to the caret, both included: the byte at the caret, which the panels explain, is
    always part of it.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.caret = 0
        self.pane = Pane.HEX
        self._anchor: int | None = None

    @property
    def selected(self) -> Span | None:
        """The selected bytes, or None."""
        if self._anchor is None:
            return None
        return Span(min(self._anchor, self.caret), max(self._anchor, self.caret) + 1)

    @property
    def selection(self) -> Span:
        """The selected bytes; an empty span at the caret if there are none."""
        return self.selected or Span(self.caret, self.caret)

    def resize(self, size: int) -> None:
        """Change the number of bytes and clamp the caret and the selection to it."""
        self.size = size
        self.caret = self._clamped(self.caret)
        if self._anchor is not None:
            self._anchor = self._clamped(self._anchor) if size else None

    def place(self, offset: int, extend: bool = False) -> None:
        """Put the caret on the byte nearest to ``offset``; ``extend`` selects from the old caret or anchor."""
        if not extend or not self.size:
            self._anchor = None
        elif self._anchor is None:
            self._anchor = self.caret
        self.caret = self._clamped(offset)

    def select(self, start: int, stop: int) -> None:
        """Select the bytes ``[start, stop)`` with the caret on the first; an empty range selects nothing."""
        start, stop = max(0, start), min(stop, self.size)
        self.place(start)
        if start < stop:
            self._anchor = stop - 1

    def clear(self) -> None:
        """Select nothing."""
        self._anchor = None

    def move(self, move: str, columns: int, page: int, extend: bool = False) -> None:
        """Make one of ``MOVES`` in rows of ``columns`` bytes and pages of ``page`` rows."""
        row_start, last = self.caret - self.caret % columns, max(0, self.size - 1)
        targets = {
            "PreviousChar": self.caret - 1,
            "NextChar": self.caret + 1,
            "PreviousLine": self._by_rows(-1, columns),
            "NextLine": self._by_rows(1, columns),
            "PreviousPage": self._by_rows(-page, columns),
            "NextPage": self._by_rows(page, columns),
            "StartOfLine": row_start,
            "EndOfLine": min(row_start + columns - 1, last),
            "StartOfDocument": 0,
            "EndOfDocument": last,
        }
        self.place(targets[move], extend)

    def _by_rows(self, rows: int, columns: int) -> int:
        """The byte in the same column ``rows`` rows away, clamped to the first and last row."""
        row, column = divmod(self.caret, columns)
        last_row = max(0, self.size - 1) // columns
        return min(max(0, row + rows), last_row) * columns + column

    def _clamped(self, offset: int) -> int:
        return max(0, min(offset, self.size - 1))


# ---- the clipboard ---------------------------------------------------------------------------------------------------

MAX_COPY_BYTES = 4 << 20
"""The most bytes copied at once: they are 12 MB of text."""


class CopyFormat(StrEnum):
    """The format of copied bytes; values are the labels of the menu."""

    HEX = "Hex"
    TEXT = "Text"


def formatted(data: bytes, copy_format: CopyFormat) -> str:
    """``data`` as text in one of the formats."""
    if copy_format is CopyFormat.HEX:
        return data.hex(" ").upper()
    # UTF-8; invalid bytes become U+FFFD, and so does NUL, which truncates the clipboard of many systems.
    return data.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
