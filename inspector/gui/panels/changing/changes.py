"""The pending changes of a document, and the buttons to write, export or discard them."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from inspector.core.edit import Edit
from inspector.core.numbers import count, grouped, hexadecimal, in_bytes, plural
from inspector.core.span import Span
from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing, checksum_names
from inspector.gui.kit.building import in_column, in_row
from inspector.gui.kit.listing import ListView, Rows
from inspector.gui.kit.style import GRID
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.theme import fixed_font
from inspector.gui.kit.widgets import ElidedLabel, Emptiable, FilterLine, push_button
from inspector.operations.protocol.edit_views import PastWrite

_MAX_SHOWN_BYTES = 64
"""Bytes of one write that are shown; the hex view shows all."""
_CONTEXT_BYTES = 4
"""Bytes shown before the first difference."""

ORIGIN = "changes"
FIX_TIP = "Add the checksums that cover these bytes to the change"
WRITE_TIP = "Write these bytes and read them back; for S3, what will be sent is shown first"
NOTHING = (
    "Nothing is pending. Overwrite bytes in the hex view (Edit > Edit Bytes) or edit a TACO header in the "
    "Header panel; nothing is written until you press Ctrl+S."
)
_Change = tuple[Span, bytes | None, bytes | None]
"""The bytes that a write changes, what is there and what will be; no bytes where it cuts them off."""


def _when(row: PastWrite) -> str:
    return f"{datetime.fromtimestamp(row.written).astimezone():%Y-%m-%d %H:%M:%S}"


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


CHANGES = (
    Column("Bytes", lambda row: f"{hexadecimal(row[0].start)} ({in_bytes(row[0].size)})", 190),
    Column(
        "Old and new bytes", lambda row: _bytes_text(*row), roles={Qt.ItemDataRole.FontRole: lambda _: fixed_font()}
    ),
)
PAST = (Column("Written", lambda row: _when(row[1]), 150), Column("What", lambda row: row[1].what))
"""The columns of what was written earlier; a row is its number and what it was."""


def changes_of(edit: Edit | None) -> list[_Change]:
    """The writes of an edit in order; a truncation is the last row."""
    if edit is None:
        return []
    found: list[_Change] = [(patch.span, patch.old, patch.new) for patch in edit.patches]
    return [*found, (edit.dropped, None, None)] if edit.dropped.size else found


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
        self.model = Rows(CHANGES, self)
        self.table = ListView(self.model, "Pending changes")
        rows = self.table.verticalHeader()
        rows.setDefaultSectionSize(rows.defaultSectionSize() + self.table.fontMetrics().lineSpacing())
        self.past = Rows(PAST, self)
        self.past_table = ListView(self.past, "Earlier writes of this program to the archive")
        self.filter = FilterLine(self.past_table, "Filter earlier writes", "Filter earlier writes")
        self.filter.appear_on_typing(self.past_table)
        self.sentence = ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        self.write = push_button("&Write", WRITE_TIP, editing.write)
        self.repair = push_button("Fix Chec&ksums", FIX_TIP, editing.repair_checksums)
        self.undo = push_button("Undo", "Undo the last step", editing.undo)
        self.redo = push_button("Redo", "Redo the last undone change", editing.redo)
        self.copy_ = push_button("Save Copy…", "Write the changed archive to another file", self.copyRequested)
        self.export = push_button("Export &Patch…", "Save these changes as a patch file", self.exportRequested)
        self.discard = push_button("Discard", "Drop the changes and show the archive as it is", editing.discard)
        self.take_back = push_button("&Take Back Last Write", "Write the old bytes back", editing.take_back)
        tip = "Compare the archive with its state before the selected write"
        self.compare = push_button("Co&mpare with State Before", tip, self._compare)
        tip = "Remove the old bytes that are kept of earlier writes"
        self.clear = push_button("Clear &History…", tip, self.clearRequested)
        self._of_pending = (self.write, self.repair, self.copy_, self.export, self.discard)
        buttons = (self.write, self.repair, self.undo, self.redo, self.copy_, self.export, self.discard)
        others = (self.take_back, self.compare, self.clear)
        self.stack = Emptiable(self.table, self.past_table)
        bar = in_row(*buttons, *others, (self.sentence, 1), edge=(2 * GRID, GRID, 2 * GRID, 0))
        in_column(bar, self.filter, (self.stack, 1), on=self, gap=GRID)
        self.setFocusProxy(self.stack)
        for changed in (editing.changed, editing.pastChanged, self.filter.applied):
            changed.connect(self._refresh)
        editing.previewed.connect(self._show_broken)
        for table, show in ((self.table, self._show_change), (self.past_table, self._show_past)):
            table.clicked.connect(table.each_row(show))
            table.activated.connect(table.each_row(show))
        self._refresh()

    def _refresh(self, *_: object) -> None:
        editing, pending = self._editing, self._editing.pending
        self.model.show(changes_of(pending))
        for button in self._of_pending:
            button.setVisible(pending is not None)
        self.undo.setVisible(editing.history.can_undo)
        self.redo.setVisible(editing.history.can_redo)
        self.take_back.setVisible(editing.can_take_back and pending is None)
        self.past.show(enumerate(editing.past), self.filter.wanted)
        for button in (self.clear, self.compare):
            button.setVisible(bool(editing.past) and pending is None)
        self.sentence.setText("")
        if pending is not None:
            self._show_broken()
            self.stack.show_view(self.table)
        elif self.past.rowCount():
            self.stack.show_view(self.past_table)
        else:
            self.stack.show_sentence(self.filter.no_match() if editing.past else NOTHING)

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
            number, _ = self.past_table.row() or self.past.rows[0]
            self.compareRequested.emit(number)

    def _show_past(self, row: tuple[int, PastWrite]) -> None:
        for span in row[1].spans[:1]:
            self._go_to(span)

    def _show_change(self, row: _Change) -> None:
        self._go_to(row[0])

    def _go_to(self, span: Span) -> None:
        if span.start < self._document.size:
            self._document.go_to(0, span.start, min(span.stop, self._document.size), ORIGIN)
