"""What the byte at the caret is on both sides of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea

from inspector.core.numbers import grouped, hexadecimal
from inspector.gui.hex.beside.data_inspector import DataInspector
from inspector.gui.hex.beside.readings import READ_BYTES
from inspector.gui.kit.building import in_column, in_row, page_of
from inspector.gui.kit.style import GRID
from inspector.gui.kit.text import path_text, short
from inspector.gui.kit.widgets import SelectableLabel
from inspector.gui.panels.byte import ByteFacts, byte_scroll_area, stored_offset
from inspector.operations.protocol.compare_views import A, B, SideByte

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
                done({each: text for each in _SIDES if (text := in_a_line(found.get(each)))})

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


def in_a_line(byte: SideByte | None) -> str:
    """The fields around a byte, and the value of the innermost; empty where nothing is known."""
    if byte is None or not byte.explanation.fields:
        return ""
    fields = byte.explanation.fields
    return path_text(fields) + (f" = {short(fields[-1].value)}" if fields[-1].value else "")
