"""Pending changes as rows: which bytes, what stands there, what is to stand there."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Qt

from inspector.core.edit import Edit
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import Span
from inspector.gui.kit.table_models import Index, TitledTable
from inspector.gui.kit.text import plain
from inspector.gui.kit.theme import fixed_font

TITLES = ("Bytes", "The old bytes and the new ones")
BYTES, BOTH = range(len(TITLES))
_SHOWN = 64
"""Bytes of one write that are shown; there is more in the hex view."""
_BEFORE = 4
"""Bytes shown before the first that differs."""


class Changes(TitledTable):
    """The writes of an edit in their order; a cut at the end is the last row."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(TITLES, parent)
        self._rows: list[tuple[Span, bytes | None, bytes | None]] = []

    def show(self, edit: Edit | None) -> None:
        """Show the writes of another edit, or none."""
        self.beginResetModel()
        self._rows = []
        if edit is not None:
            self._rows = [(patch.span, patch.old, patch.new) for patch in edit.patches]
            if edit.dropped.size:
                self._rows.append((edit.dropped, None, None))
        self.endResetModel()

    def place(self, row: int) -> Span | None:
        """The bytes of a row."""
        return self._rows[row][0] if 0 <= row < len(self._rows) else None

    # ---- Qt overrides ------------------------------------------------------------------------------------------

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Qt override."""
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.FontRole and index.column() != BYTES:
            return fixed_font()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            row = self._rows[index.row()]
            text = _place(row[0]) if index.column() == BYTES else _both(*row)
            return text if role == Qt.ItemDataRole.DisplayRole else plain(text)
        return None


def _place(span: Span) -> str:
    return f"{hexadecimal(span.start)} ({in_bytes(span.size)})"


def _both(span: Span, old: bytes | None, new: bytes | None) -> str:
    """What stands there over what is to stand there, byte under byte."""
    if old is None or new is None:
        return f"Cut off {in_bytes(span.size)} at {grouped(span.start)}"
    first = next((at for at in range(len(old)) if old[at] != new[at]), len(old))
    start = max(0, first - _BEFORE) if len(new) > _SHOWN else 0
    if not old:
        appended = f"Append {in_bytes(len(new))} at {grouped(span.start)}"
        return f"{appended}\n+ {_piece(new, start)}"
    return f"\N{MINUS SIGN} {_piece(old, start)}\n+ {_piece(new, start)}"


def _piece(data: bytes, start: int) -> str:
    piece = data[start : start + _SHOWN]
    return f"{'… ' if start else ''}{piece.hex(' ').upper()}{' …' if start + _SHOWN < len(data) else ''}"
