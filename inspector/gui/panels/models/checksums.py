"""The checksums that an archive records: what the rows say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt

from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import Spans, total
from inspector.gui.ipc.client import Client
from inspector.gui.kit.icons import verdict_icon
from inspector.gui.kit.text import plain, short
from inspector.gui.panels.models.findings import where
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import ChecksumRow, Page

TITLES = (
    "Checksum",
    "State",
    "Algorithm",
    "Stored",
    "Computed",
    "Covers",
)
NAME, STATE, ALGORITHM, STORED, COMPUTED, COVERS = range(len(TITLES))


class ChecksumColumns:
    """The ledger of checksums, in the order of the archive."""

    titles: tuple[str, ...] = TITLES

    def __init__(self, client: Client[ArchiveRequests]) -> None:
        self._client = client

    def fetch(self, first: int, count: int, deliver: Callable[[Page[Any]], None]) -> None:
        """See Columns."""
        self._client.ask(ArchiveRequests.checksums, first, count).then(deliver)

    def data(self, row: ChecksumRow, column: int, role: int) -> Any:
        """See Columns."""
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(row, column)
        if role == Qt.ItemDataRole.DecorationRole and column == STATE:
            return verdict_icon(row.verdict)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(short(covered(row) if column == COVERS else f"{_text(row, column)}\n{row.note}".strip()))
        return None

    def header(self, column: int, role: int) -> Any:  # noqa: ARG002 - nothing but the titles
        """See Columns."""
        return None


def _text(row: ChecksumRow, column: int) -> str:
    if column == COVERS:
        return where(row.covers)
    texts = {
        NAME: row.name,
        STATE: row.verdict.value,
        ALGORITHM: row.algorithm,
        STORED: row.stored,
        COMPUTED: row.computed or "not computed",
    }
    return short(texts[column])


def line(row: ChecksumRow) -> str:
    """A checksum as a line of text."""
    computed = f"computed {row.computed}" if row.computed else "not computed"
    stored = f"stored {row.stored}"
    return f"{row.verdict.value}: {row.name}, {row.algorithm}: {stored}, {computed}. {described(row)}"


def described(row: ChecksumRow) -> str:
    """All about a checksum in sentences: how it compares, what it covers, leaves out, and where it stands."""
    stored = "The stored value is in another file."
    if row.place:
        stored = f"The stored value is in {_stretches(row.place)}."
    left_out = f"It leaves out {_stretches(row.omits)}." if row.omits else ""
    note = row.note if not row.note or row.note.endswith(".") else f"{row.note[0].upper()}{row.note[1:]}."
    return " ".join(part for part in (covered(row), left_out, stored, note) if part)


def covered(row: ChecksumRow) -> str:
    """What a checksum is computed over, in a sentence."""
    if not row.covers:
        return "It covers bytes that are not in this file."
    size = f" ({in_bytes(total(row.covers))})" if len(row.covers) > 1 else ""
    return f"It covers {_stretches(row.covers) + size}."


def _stretches(spans: Spans) -> str:
    told = [f"{hexadecimal(start)} to {hexadecimal(stop)}" for start, stop in spans[:TOLD]]
    if len(spans) > TOLD:
        told.append(f"{grouped(len(spans) - TOLD)} stretches more")
    size = f" ({in_bytes(spans[0].size)})" if len(spans) == 1 else ""
    return f"bytes {' and '.join(told)}" + size


TOLD = 4
"""Stretches that are told one by one."""
