"""The pending changes of a document, and the buttons to write, export or discard them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from inspector.core.edit import Edit
from inspector.core.numbers import count, grouped, hexadecimal, in_bytes, plural
from inspector.core.span import Span
from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing, checksum_names
from inspector.gui.kit.filter_line import FilterLine
from inspector.gui.kit.style import GRID
from inspector.gui.kit.table_models import Index, TitledTable
from inspector.gui.kit.text import plain
from inspector.gui.kit.theme import fixed_font
from inspector.gui.kit.widgets import ElidedLabel, Emptiable, push_button, table_view
from inspector.operations.protocol.edit_views import PastWrite

TITLES = ("Bytes", "Old and new bytes")
BYTES, BOTH = range(len(TITLES))
_MAX_SHOWN_BYTES = 64
"""Bytes of one write that are shown; the hex view shows all."""
_CONTEXT_BYTES = 4
"""Bytes shown before the first difference."""

ORIGIN = "changes"
WIDTHS = {BYTES: 190}
FIX_TIP = "Add the checksums that cover these bytes to the change"
WRITE_TIP = "Write these bytes and read them back; for S3, what will be sent is shown first"
NOTHING = (
    "Nothing is pending. Overwrite bytes in the hex view (Edit > Edit Bytes) or edit a TACO header in the "
    "Header panel; nothing is written until you press Ctrl+S."
)


class ChangesPanel(QWidget):
    """Shows the pending changes of a document.

    Signals:
        copyRequested(): save the changed archive as another file.
        exportRequested(): save the changes as a patch file.
        clearRequested(): remove the old bytes of earlier writes.
        compareRequested(int): compare with the state before this one of the earlier writes.
    """

    copyRequested = Signal()
    exportRequested = Signal()
    clearRequested = Signal()
    compareRequested = Signal(int)

    def __init__(self, document: Document, editing: Editing) -> None:
        super().__init__()
        self._document = document
        self._editing = editing
        self.model = ChangesModel(self)
        self.table = table_view(self.model, WIDTHS, "Pending changes")
        self.table.setTextElideMode(Qt.TextElideMode.ElideRight)
        rows = self.table.verticalHeader()
        rows.setDefaultSectionSize(rows.defaultSectionSize() + self.table.fontMetrics().lineSpacing())
        self.sentence = ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        self.write = push_button("&Write", WRITE_TIP)
        self.repair = push_button("Fix Chec&ksums", FIX_TIP)
        self.undo = push_button("Undo", "Undo the last step")
        self.redo = push_button("Redo", "Redo the last undone change")
        self.copy_ = push_button("Save Copy…", "Write the changed archive to another file")
        self.export = push_button("Export &Patch…", "Save these changes as a patch file")
        self.discard = push_button("Discard", "Drop the changes and show the archive as it is")
        self.take_back = push_button("&Take Back Last Write", "Write the old bytes back")
        self.clear = push_button("Clear &History…", "Remove the old bytes that are kept of earlier writes")
        self.compare = push_button(
            "Co&mpare with State Before", "Compare the archive with its state before the selected write"
        )
        self.past = PastModel(self)
        self.past_table = table_view(self.past, {WHEN: 150}, "Earlier writes of this program to the archive")
        self.past_table.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.filter = FilterLine(self.past_table, "Filter earlier writes", "Filter earlier writes")
        self.filter.applied.connect(self._refresh)
        self.filter.appear_on_typing(self.past_table)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(2 * GRID, GRID, 2 * GRID, 0)
        self._buttons = (self.write, self.repair, self.undo, self.redo, self.copy_, self.export, self.discard)
        for button in (*self._buttons, self.take_back, self.compare, self.clear):
            buttons.addWidget(button)
        buttons.addWidget(self.sentence, 1)
        self._stack = Emptiable(self.table, self.past_table)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addLayout(buttons)
        layout.addWidget(self.filter)
        layout.addWidget(self._stack, 1)
        self.setFocusProxy(self._stack)
        self._connect()
        self._refresh()

    def _connect(self) -> None:
        editing = self._editing
        editing.changed.connect(self._refresh)
        editing.pastChanged.connect(self._refresh)
        editing.previewed.connect(self._show_broken)
        self.write.clicked.connect(editing.write)
        self.repair.clicked.connect(editing.repair_checksums)
        self.undo.clicked.connect(editing.undo)
        self.redo.clicked.connect(editing.redo)
        self.discard.clicked.connect(editing.discard)
        self.take_back.clicked.connect(editing.take_back)
        self.copy_.clicked.connect(self.copyRequested)
        self.export.clicked.connect(self.exportRequested)
        self.clear.clicked.connect(self.clearRequested)
        self.compare.clicked.connect(self._compare)
        self.table.clicked.connect(self._show_bytes)
        self.past_table.clicked.connect(self._show_past)
        self.past_table.activated.connect(self._show_past)
        self.table.activated.connect(self._show_bytes)

    def empty_sentence(self) -> str:
        """Why the panel is empty; "" if it is not."""
        return self._stack.shown_sentence()

    def _refresh(self, *_: object) -> None:
        editing, pending = self._editing, self._editing.pending
        self.model.show(pending)
        for button in (self.write, self.repair, self.copy_, self.export, self.discard):
            button.setVisible(pending is not None)
        self.undo.setVisible(editing.history.can_undo)
        self.redo.setVisible(editing.history.can_redo)
        self.take_back.setVisible(editing.can_take_back and pending is None)
        self.past.show(editing.past, self.filter.wanted)
        for button in (self.clear, self.compare):
            button.setVisible(bool(editing.past) and pending is None)
        if pending is None:
            self.sentence.setText("")
            if self.past.rowCount():
                self._stack.show_view(self.past_table)
            elif editing.past:
                self._stack.show_sentence(self.filter.no_match())
            else:
                self._stack.show_sentence(NOTHING)
        else:
            self._show_broken()
            self._stack.show_view(self.table)

    def _show_broken(self) -> None:
        """Show how many changes are pending and which checksums they break."""
        broken = self._editing.broken
        if self._editing.pending is None:
            return
        self.repair.setText(
            plural("Fix {number} Chec&ksum", "Fix {number} Chec&ksums", len(broken)) if broken else ("Fix Chec&ksums")
        )
        self.repair.setEnabled(broken != ())
        self.repair.setToolTip(
            FIX_TIP if broken != () else ("These changes break no recorded checksum that could be fixed")
        )
        sentence = f"{count(self.model.rowCount(), 'place')} changed, not written yet."
        if broken:
            breaks = f"Breaks {count(len(broken), 'checksum')}: {checksum_names(broken)}."
            sentence = f"{sentence} {breaks}"
        self.sentence.setText(sentence)

    def _compare(self) -> None:
        if self.past.rowCount():
            self.compareRequested.emit(self.past.number(max(0, self.past_table.currentIndex().row())))

    def _show_past(self, index: QModelIndex) -> None:
        self._go_to(self.past.span_of(index.row()))

    def _show_bytes(self, index: QModelIndex) -> None:
        self._go_to(self.model.span_of(index.row()))

    def _go_to(self, span: Span | None) -> None:
        if span is not None and span.start < self._document.size:
            self._document.go_to(0, span.start, min(span.stop, self._document.size), ORIGIN)


PAST_TITLES = ("Written", "What")
WHEN, WHAT = range(len(PAST_TITLES))


class PastModel(TitledTable):
    """What this program wrote to the archive earlier, newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(PAST_TITLES, parent)
        self._numbers: list[int] = []

    def show(self, rows: tuple[PastWrite, ...], text: str = "") -> None:
        """Show those of the writes that contain a text."""
        self.beginResetModel()
        wanted = text.casefold()
        self._numbers = [at for at, row in enumerate(rows) if wanted in f"{_when(row)} {row.what}".casefold()]
        self._rows = [rows[at] for at in self._numbers]
        self.endResetModel()

    def number(self, row: int) -> int:
        """The number of the write in a row among all, from 0."""
        return self._numbers[row]

    def span_of(self, row: int) -> Span | None:
        """The first bytes that a write changed, None if it changed none."""
        return next(iter(self._rows[row].spans), None)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        row: PastWrite = self._rows[index.row()]
        text = _when(row) if index.column() == WHEN else row.what
        return text if role == Qt.ItemDataRole.DisplayRole else plain(text)


def _when(row: PastWrite) -> str:
    return f"{datetime.fromtimestamp(row.written).astimezone():%Y-%m-%d %H:%M:%S}"


class ChangesModel(TitledTable):
    """The writes of an edit in order; a truncation is the last row."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(TITLES, parent)
        self._rows: list[tuple[Span, bytes | None, bytes | None]] = []

    def show(self, edit: Edit | None) -> None:
        """Show the writes of an edit, or none."""
        self.beginResetModel()
        self._rows = []
        if edit is not None:
            self._rows = [(patch.span, patch.old, patch.new) for patch in edit.patches]
            if edit.dropped.size:
                self._rows.append((edit.dropped, None, None))
        self.endResetModel()

    def span_of(self, row: int) -> Span | None:
        """The span of a row, None if there is no such row."""
        return self._rows[row][0] if 0 <= row < len(self._rows) else None

    # ---- overrides ---------------------------------------------------------------------------------------------

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.FontRole and index.column() != BYTES:
            return fixed_font()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            row = self._rows[index.row()]
            text = _span_text(row[0]) if index.column() == BYTES else _bytes_text(*row)
            return text if role == Qt.ItemDataRole.DisplayRole else plain(text)
        return None


def _span_text(span: Span) -> str:
    return f"{hexadecimal(span.start)} ({in_bytes(span.size)})"


def _bytes_text(span: Span, old: bytes | None, new: bytes | None) -> str:
    """The old bytes above the new bytes, aligned."""
    if old is None or new is None:
        return f"Cut off {in_bytes(span.size)} at {grouped(span.start)}"
    first = next((at for at in range(len(old)) if old[at] != new[at]), len(old))
    start = max(0, first - _CONTEXT_BYTES) if len(new) > _MAX_SHOWN_BYTES else 0
    if not old:
        appended = f"Append {in_bytes(len(new))} at {grouped(span.start)}"
        return f"{appended}\n+ {_hex_excerpt(new, start)}"
    return f"\N{MINUS SIGN} {_hex_excerpt(old, start)}\n+ {_hex_excerpt(new, start)}"


def _hex_excerpt(data: bytes, start: int) -> str:
    piece = data[start : start + _MAX_SHOWN_BYTES]
    return f"{'… ' if start else ''}{piece.hex(' ').upper()}{' …' if start + _MAX_SHOWN_BYTES < len(data) else ''}"
