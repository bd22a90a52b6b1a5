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


def row_text(known: Sequence[tuple[int, bytes]], row: Span, columns: int) -> str:
    """The hex and text columns of the bytes of a row; ``known`` are those that are here, in pieces with offsets."""
    for offset, piece in known:
        if offset <= row.start and row.stop <= offset + len(piece):
            data = piece[row.start - offset : row.stop - offset]
            digits, text = hex_text(data), plain_text(data)
            break
    else:
        digits, text = _with_unknown(known, row)
    width = 3 * columns - 1 + (columns - 1) // GROUP
    return f"{digits:<{width}}{_GAP}{text}"


def _with_unknown(known: Sequence[tuple[int, bytes]], row: Span) -> tuple[str, str]:
    digits, text = [_UNKNOWN] * row.size, [_UNKNOWN_TEXT] * row.size
    for offset, piece in known:
        for at in range(max(row.start, offset), min(row.stop, offset + len(piece))):
            byte = piece[at - offset : at - offset + 1]
            digits[at - row.start], text[at - row.start] = hex_text(byte), plain_text(byte)
    groups = (" ".join(digits[i : i + GROUP]) for i in range(0, row.size, GROUP))
    return "  ".join(groups), "".join(text)


def pieces_of(layout: Layout, selected: Span, base: int) -> list[tuple[int, int, bool]]:
    """The cells of the hex and text columns as pieces (start, stop, selected) that have one text colour each.

    ``selected`` are bytes of the row that begins at ``base``, one at least.
    """
    first, stop = selected.start - base, selected.stop - base
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
