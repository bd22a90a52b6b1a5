"""The checksums that an archive records, and the bytes that each covers or leaves out."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import Spans, total
from inspector.core.verdict import Checksum
from inspector.gui.document.document import Document
from inspector.gui.kit.icons import icon_of
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.text import loading_text
from inspector.gui.kit.widgets import Details
from inspector.gui.panels.findings import spans_summary
from inspector.gui.panels.listing import ListPanel
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import MAX_SEARCHED_CHECKSUMS, Status

MAX_LISTED_RANGES = 4
"""Byte ranges that are listed before the rest is only counted."""

ORIGIN = "digests"


def details_text(row: Checksum) -> str:
    """A checksum in full: the bytes it covers and leaves out, where it is stored, and its note."""
    stored = "The stored value is in another file."
    if row.place:
        stored = f"The stored value is in {_ranges_text(row.place)}."
    left_out = f"It leaves out {_ranges_text(row.omits)}." if row.omits else ""
    note = row.note if not row.note or row.note.endswith(".") else f"{row.note[0].upper()}{row.note[1:]}."
    return " ".join(part for part in (covered_text(row), left_out, stored, note) if part)


def covered_text(row: Checksum) -> str:
    """The bytes that a checksum covers, as a sentence."""
    if not row.covers:
        return "It covers bytes that are not in this file."
    size = f" ({in_bytes(total(row.covers))})" if len(row.covers) > 1 else ""
    return f"It covers {_ranges_text(row.covers) + size}."


def _ranges_text(spans: Spans) -> str:
    texts = [f"{hexadecimal(start)} to {hexadecimal(stop)}" for start, stop in spans[:MAX_LISTED_RANGES]]
    if len(spans) > MAX_LISTED_RANGES:
        texts.append(f"{grouped(len(spans) - MAX_LISTED_RANGES)} more ranges")
    size = f" ({in_bytes(spans[0].size)})" if len(spans) == 1 else ""
    return f"bytes {' and '.join(texts)}" + size


COLUMNS = (
    Column("Checksum", lambda row: row.name, 260, lambda row: f"{row.name}\n{row.note}".strip()),
    Column("State", lambda row: row.verdict.value, 118, icon=lambda row: icon_of(row.verdict)),
    Column("Algorithm", lambda row: row.algorithm, 120),
    Column("Stored", lambda row: row.stored, 150),
    Column("Computed", lambda row: row.computed or "not computed", 150),
    Column("Covers", lambda row: spans_summary(row.covers), tip=covered_text),
)


class ChecksumsPanel(ListPanel):
    """Lists the checksums of a document. Selecting one highlights its bytes; double-click goes to the stored value."""

    name, filters = "Checksums", "by name, state or value"
    request, columns = ArchiveRequests.checksums, COLUMNS

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(document, parent)
        self._total = 0
        self.about = Details("About the selected checksum")
        self.lay_out(foot=self.about)
        document.selected.connect(self._selection_changed)
        self.model.dataChanged.connect(self._refresh_details)
        self.table.clicked.connect(self.table.each_row(self.select))
        self.refresh()

    def arguments(self) -> tuple[str]:
        return (self.filter.wanted,)

    def line(self, row: Checksum) -> str:
        computed = f"computed {row.computed}" if row.computed else "not computed"
        stored = f"stored {row.stored}"
        return f"{row.verdict.value}: {row.name}, {row.algorithm}: {stored}, {computed}. {details_text(row)}"

    def refresh(self, *_: object) -> None:
        if not self.filter.wanted:
            self._total = self.model.rowCount()
        super().refresh()

    def why_empty(self) -> str:
        self.about.hide()
        if not self.filter.wanted:
            return _why_empty(self._document.status)
        many = self._total > MAX_SEARCHED_CHECKSUMS
        return self.filter.no_match(f"the first {grouped(MAX_SEARCHED_CHECKSUMS)} checksums" if many else "")

    def select(self, row: Checksum) -> None:
        self.about.say(details_text(row))
        self._document.select_checksum(row, ORIGIN)

    def activate(self, row: Checksum) -> None:
        if row.place:
            self._document.go_to(row.layer, *row.place[0], ORIGIN)
        else:
            self._document.reported.emit(f"The stored value is in another file. {row.note}".strip())

    def _refresh_details(self, *_: object) -> None:
        row = self.table.row()
        if row is not None and not self.about.isHidden():
            self.about.say(details_text(row))

    def _selection_changed(self, *_: object) -> None:
        """Hide the details when something else is selected."""
        if self._document.selection.origin != ORIGIN:
            self.about.hide()


def _why_empty(status: Status) -> str:
    if reason := loading_text(status.stage):
        return reason
    if not status.has_checksums:
        return "The format records no checksums. A digest manifest next to the archive would be compared."
    if status.format == "bytes":
        return "The format is unknown, so no checksums are known."
    if status.checked:
        return "The archive records no checksum."
    return "The structure records no checksum. A check (Ctrl+K) also looks in the members."
