"""The characters of a row: hex digits, a gap, text. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.core.span import Span
from inspector.gui.hex.layout import GROUP, Layout

_PRINTABLE = bytes(byte if 0x20 <= byte < 0x7F else ord(".") for byte in range(256))
_UNKNOWN = "--"
_UNKNOWN_TEXT = " "
_GAP = "  "


def hex_text(data: bytes) -> str:
    """The bytes as hex with a space between two and a wider gap between groups."""
    return "  ".join(data[i : i + GROUP].hex(" ") for i in range(0, len(data), GROUP)).upper()


def plain_text(data: bytes) -> str:
    """The bytes as ASCII, a full stop for what cannot be printed."""
    return data.translate(_PRINTABLE).decode("ascii")


def row_text(pieces: Sequence[tuple[int, bytes]], row: Span, columns: int) -> str:
    """The hex and text columns of the bytes of a row, of which ``pieces`` (offset, bytes) are known."""
    if len(pieces) == 1 and len(pieces[0][1]) == row.size:
        data = pieces[0][1]
        digits, text = hex_text(data), plain_text(data)
    else:
        digits, text = _with_unknown(pieces, row)
    width = 3 * columns - 1 + (columns - 1) // GROUP
    return f"{digits:<{width}}{_GAP}{text}"


def _with_unknown(pieces: Sequence[tuple[int, bytes]], row: Span) -> tuple[str, str]:
    digits, text = [_UNKNOWN] * row.size, [_UNKNOWN_TEXT] * row.size
    for offset, data in pieces:
        at = offset - row.start
        for column, byte in enumerate(data, at):
            digits[column] = f"{byte:02X}"
        text[at : at + len(data)] = plain_text(data)
    groups = (" ".join(digits[i : i + GROUP]) for i in range(0, row.size, GROUP))
    return "  ".join(groups), "".join(text)


def pieces_of(layout: Layout, selected: tuple[int, int] | None) -> list[tuple[int, int, bool]]:
    """The cells of the hex and text columns as pieces (start, stop, selected) that have one text colour each."""
    if selected is None:
        return [(layout.hex_start, layout.cells, False)]
    first, stop = selected
    marks = (
        (layout.hex_cell(first), layout.hex_cell(stop - 1) + 2),
        (layout.text_cell(first), layout.text_cell(stop)),
    )
    found: list[tuple[int, int, bool]] = []
    at = layout.hex_start
    for low, high in marks:
        if at < low:
            found.append((at, low, False))
        found.append((low, high, True))
        at = high
    if at < layout.cells:
        found.append((at, layout.cells, False))
    return found
