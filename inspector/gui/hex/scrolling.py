"""The scroll position in rows: an integer of any size, which a scrollbar of 32 bits only mirrors. Pure."""

from __future__ import annotations

LARGEST = 1 << 30
"""The largest value of the scrollbar: Qt adds to it and must stay inside 31 bits."""


class RowScroll:
    """``top`` is the first of ``page`` rows that are wholly shown, out of ``rows``."""

    def __init__(self) -> None:
        self.top = 0
        self.rows = 0
        self.page = 1

    @property
    def last(self) -> int:
        """The largest ``top``: the last row is then the lowest."""
        return max(0, self.rows - self.page)

    def resize(self, rows: int, page: int) -> None:
        """Have other numbers of rows."""
        self.rows, self.page = rows, max(1, page)
        self.to(self.top)

    def to(self, top: int) -> int:
        """Scroll to ``top`` or as near as there are rows; gives by how many rows the position changed."""
        before = self.top
        self.top = max(0, min(top, self.last))
        return self.top - before

    def revealing(self, row: int, stop: int | None = None) -> int:
        """The ``top`` that shows ``row``, and the rows before ``stop`` too if they fit.

        It is the nearest one for a row beside the page; a row further away is shown with a quarter of a page before it.
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
        """The scrollbar's largest value."""
        return min(self.last, LARGEST)

    @property
    def bar_value(self) -> int:
        """The scrollbar's value for the present position."""
        return self.top if self.last <= LARGEST else self.top * LARGEST // self.last

    def from_bar(self, value: int) -> int:
        """The position for a value of the scrollbar."""
        return value if self.last <= LARGEST else value * self.last // LARGEST
