"""Where bytes stand in the hex view, counted in character cells. Pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import floor

from inspector.core.span import Span

GROUP = 8
"""Bytes after which a wider gap helps the eye to count."""
_DIGITS = 8
"""The fewest digits of an offset."""
_TWO_DECIMALS = 100
_GAP = 2
"""Cells between the columns."""


@dataclass(frozen=True)
class Layout:
    """``size`` bytes in rows of ``columns`` bytes: an offset column in base 16 or 10, a hex column and a text column.

    Cells are counted from the left edge of the row, byte positions within a row are called columns.
    """

    size: int
    columns: int
    base: int = 16

    @cached_property
    def digits(self) -> int:
        """The digits of an offset: an even number, enough for the last byte."""
        needed = len(_number(max(0, self.size - 1), self.base))
        return max(_DIGITS, needed + (needed & 1))

    @cached_property
    def rows(self) -> int:
        """How many rows there are; none without bytes."""
        return -(-self.size // self.columns)

    @cached_property
    def hex_start(self) -> int:
        """The first cell of the hex column."""
        return self.digits + _GAP

    @cached_property
    def hex_cells(self) -> int:
        """The width of the hex column in cells."""
        return _hex_cells(self.columns)

    @cached_property
    def text_start(self) -> int:
        """The first cell of the text column."""
        return self.hex_start + self.hex_cells + _GAP

    @cached_property
    def cells(self) -> int:
        """The width of a row in cells."""
        return self.text_start + self.columns

    def hex_cell(self, column: int) -> int:
        """The cell of the first digit of a byte; the second one follows it."""
        return self.hex_start + 3 * column + column // GROUP

    def text_cell(self, column: int) -> int:
        """The cell of a byte's character."""
        return self.text_start + column

    def row_of(self, offset: int) -> int:
        """The row that holds the byte at ``offset``."""
        return offset // self.columns

    def span_of(self, row: int) -> Span:
        """The bytes of a row; empty for rows that do not exist."""
        start = min(max(0, row) * self.columns, self.size)
        return Span(start, min(start + self.columns, self.size))

    def in_text(self, cell: float) -> bool:
        """Whether a place in a row belongs to the text column rather than to the hex column."""
        return cell >= self.text_start - _GAP / 2

    def byte_at(self, row: int, cell: float, in_text: bool) -> int:
        """The byte of the hex or the text column nearest to a place: always one that exists, 0 where there is none."""
        row = min(max(0, row), max(0, self.rows - 1))
        column = floor(cell - self.text_start) if in_text else self._hex_column(cell)
        return max(0, min(row * self.columns + min(max(0, column), self.columns - 1), self.size - 1))

    def _hex_column(self, cell: float) -> int:
        # Half a cell to the left, so that the gap between two bytes is shared by both.
        group, rest = divmod(cell - self.hex_start + 0.5, 3 * GROUP + 1)
        return int(group) * GROUP + min(int(rest // 3), GROUP - 1)

    def over(self, row: int, cell: float) -> int | None:
        """The byte exactly at a place, None between and beside the columns and rows."""
        if not 0 <= row < self.rows:
            return None
        in_text = self.in_text(cell)
        offset = self.byte_at(row, cell, in_text)
        left = self.text_cell(offset % self.columns) if in_text else self.hex_cell(offset % self.columns) - 0.5
        inside = left <= cell < left + (1 if in_text else 3) and offset // self.columns == row
        return offset if inside else None

    def offset_text(self, row: int) -> str:
        """The offset of a row as it is shown."""
        return _number(row * self.columns, self.base).zfill(self.digits)

    @property
    def head_texts(self) -> list[str]:
        """What stands above each column: its place in the row, in two digits."""
        # Columns beyond 255 do not exist: a row that wide has no place on a screen.
        base = self.base if self.columns <= _TWO_DECIMALS else 16
        return [_number(column & 0xFF, base).zfill(2) for column in range(self.columns)]


def _number(number: int, base: int) -> str:
    return f"{number:d}" if base == 10 else f"{number:X}"


def _hex_cells(columns: int) -> int:
    return 3 * columns - 1 + (columns - 1) // GROUP


def fitting(size: int, cells: int, base: int = 16) -> Layout:
    """The layout with the most groups of bytes whose rows are at most ``cells`` wide; one group at least.

    Groups are 1, 2, 4, 8, ...: then rows begin at round offsets, as people count them.
    """
    groups = 1
    while Layout(size, 2 * groups * GROUP, base).cells <= cells:
        groups *= 2
    return Layout(size, groups * GROUP, base)
