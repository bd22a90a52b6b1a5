"""The caret and the selection of the hex view, in bytes and rows; nothing here knows pixels."""

from __future__ import annotations

from enum import StrEnum

from inspector.core.span import Span


class Pane(StrEnum):
    """The column with the keyboard focus."""

    HEX = "hex"
    TEXT = "text"


class Move(StrEnum):
    """A movement of the caret."""

    LEFT = "left"
    RIGHT = "right"
    UP = "up"
    DOWN = "down"
    PAGE_UP = "page up"
    PAGE_DOWN = "page down"
    ROW_START = "start of row"
    ROW_END = "end of row"
    FILE_START = "start of file"
    FILE_END = "end of file"


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

    @property
    def selected_or_caret(self) -> Span:
        """The selected bytes, or else the byte at the caret; empty only for an empty layer."""
        return self.selected or Span(self.caret, min(self.caret + 1, self.size))

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

    def move(self, move: Move, columns: int, page: int, extend: bool = False) -> None:
        """Move the caret in rows of ``columns`` bytes and pages of ``page`` rows."""
        self.place(self._target(move, columns, page), extend)

    def _target(self, move: Move, columns: int, page: int) -> int:
        row_start = self.caret - self.caret % columns
        last = max(0, self.size - 1)
        return {
            Move.LEFT: self.caret - 1,
            Move.RIGHT: self.caret + 1,
            Move.UP: self._by_rows(-1, columns),
            Move.DOWN: self._by_rows(1, columns),
            Move.PAGE_UP: self._by_rows(-page, columns),
            Move.PAGE_DOWN: self._by_rows(page, columns),
            Move.ROW_START: row_start,
            Move.ROW_END: min(row_start + columns - 1, last),
            Move.FILE_START: 0,
            Move.FILE_END: last,
        }[move]

    def _by_rows(self, rows: int, columns: int) -> int:
        """The byte in the same column ``rows`` rows away, clamped to the first and last row."""
        row, column = divmod(self.caret, columns)
        last_row = max(0, self.size - 1) // columns
        return min(max(0, row + rows), last_row) * columns + column

    def _clamped(self, offset: int) -> int:
        return max(0, min(offset, self.size - 1))
