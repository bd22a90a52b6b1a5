"""The pending changes of a document, and the buttons to write, export or discard them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from inspector.core.edit import Edit
from inspector.core.numbers import count, grouped, hexadecimal, in_bytes
from inspector.core.span import Span
from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing, checksum_names
from inspector.gui.kit.building import dressed, in_column, in_row
from inspector.gui.kit.listing import ListView, Rows
from inspector.gui.kit.style import GRID
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.theme import fixed_font
from inspector.gui.kit.widgets import ElidedLabel, Emptiable, FilterLine
from inspector.gui.panels.listing import Button, Buttons, show_bytes
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
PAST = (
    Column("Written", lambda row: f"{datetime.fromtimestamp(row[1].written).astimezone():%Y-%m-%d %H:%M:%S}", 150),
    Column("What", lambda row: row[1].what),
)
"""The columns of what was written earlier; a row is its number and what it was."""


def changes_of(edit: Edit | None) -> tuple[_Change, ...]:
    """The writes of an edit in order; a truncation is the last row."""
    if edit is None:
        return ()
    cut = [(edit.dropped, None, None)] if edit.dropped.size else []
    return (*((patch.span, patch.old, patch.new) for patch in edit.patches), *cut)


class ChangesPanel(QWidget):
    """Shows the pending changes of a document, or earlier writes to it.

    The last arguments ask where to save the changed archive and a patch, and whether to remove the old bytes of earlier
    writes, and compare with the state before the earlier write of a number.
    """

    def __init__(
        self,
        document: Document,
        editing: Editing,
        ask_copy: Callable[[], object],
        ask_export: Callable[[], object],
        ask_to_clear: Callable[[], object],
        compare: Callable[[int], object],
    ) -> None:
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

        def pending() -> bool:
            return editing.pending is not None

        def past() -> bool:
            return bool(editing.past) and editing.pending is None

        self.buttons = Buttons(
            {
                "write": Button("&Write", WRITE_TIP, editing.write, pending),
                "repair": Button("Fix Chec&ksums", FIX_TIP, editing.repair_checksums, pending),
                "undo": Button("Undo", "Undo the last step", editing.undo, lambda: editing.history.can_undo),
                "redo": Button("Redo", "Redo the last undone change", editing.redo, lambda: editing.history.can_redo),
                "copy": Button("Save Copy…", "Write the changed archive to another file", ask_copy, pending),
                "export": Button("Export &Patch…", "Save these changes as a patch file", ask_export, pending),
                "discard": Button(
                    "Discard", "Drop the changes and show the archive as it is", editing.discard, pending
                ),
                "take back": Button(
                    "&Take Back Last Write",
                    "Write the old bytes back",
                    editing.take_back,
                    lambda: editing.can_take_back and editing.pending is None,
                ),
                "compare": Button(
                    "Co&mpare with State Before",
                    "Compare the archive with its state before the selected write",
                    lambda: self._compare(compare),
                    past,
                ),
                "clear": Button(
                    "Clear &History…", "Remove the old bytes that are kept of earlier writes", ask_to_clear, past
                ),
            },
            hides=True,
        )
        self.stack = Emptiable(self.table, self.past_table)
        bar = in_row(*self.buttons.values(), (self.sentence, 1), edge=(2 * GRID, GRID, 2 * GRID, 0))
        in_column(bar, self.filter, (self.stack, 1), on=self, gap=GRID)
        self.setFocusProxy(self.stack)
        for changed in (editing.changed, editing.pastChanged, editing.previewed, self.filter.applied):
            changed.connect(self._refresh)
        for table in (self.table, self.past_table):
            for chosen in (table.clicked, table.activated):
                chosen.connect(table.each_row(self._show_bytes))
        self._refresh()

    def _refresh(self, *_: object) -> None:
        editing, pending = self._editing, self._editing.pending
        if (rows := changes_of(pending)) != self.model.rows:
            self.model.show(rows)
        self.past.show(enumerate(editing.past), self.filter.wanted)
        self.buttons.renew()
        self._say_broken(editing.broken)
        if pending is not None:
            self.stack.show_view(self.table)
        elif self.past.rowCount():
            self.stack.show_view(self.past_table)
        else:
            self.stack.show_sentence(self.filter.no_match() if editing.past else NOTHING)

    def _say_broken(self, broken: tuple[str, ...] | None) -> None:
        """Show how many changes are pending and which checksums they break; None while that is unknown."""
        number = count(len(broken), "Chec&ksum") if broken else "Chec&ksums"
        dressed(
            self.buttons["repair"],
            text=f"Fix {number}",
            enabled=broken != (),
            toolTip=FIX_TIP if broken != () else "These changes break no recorded checksum that could be fixed",
        )
        breaks = f" Breaks {count(len(broken), 'checksum')}: {checksum_names(broken)}." if broken else ""
        places = count(self.model.rowCount(), "place")
        self.sentence.setText(f"{places} changed, not written yet.{breaks}" if self.model.rowCount() else "")

    def _compare(self, compare: Callable[[int], object]) -> None:
        if self.past.rowCount():
            number, _ = self.past_table.row() or self.past.rows[0]
            compare(number)

    def _show_bytes(self, row: _Change | tuple[int, PastWrite]) -> None:
        show_bytes(self._document, row[1].spans if isinstance(row[1], PastWrite) else (row[0],), ORIGIN)
