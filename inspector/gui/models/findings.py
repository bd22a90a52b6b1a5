"""What was found wrong: what the rows say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt

from inspector.core.numbers import hexadecimal, in_bytes
from inspector.gui.client import Client
from inspector.gui.icons import severity_icon
from inspector.gui.words import plain, short
from inspector.operations.views import FindingRow, Page

TITLES = ("Severity", "What was found", "Bytes", "Member", "Code")
SEVERITY, MESSAGE, BYTES, MEMBER, CODE = range(len(TITLES))


class FindingColumns:
    """The table of findings, in the order in which they were found."""

    titles: tuple[str, ...] = TITLES

    def __init__(self, client: Client) -> None:
        self._client = client

    def fetch(self, first: int, count: int, deliver: Callable[[Page[Any]], None]) -> None:
        """See Columns."""
        self._client.call("findings", first, count, done=deliver)

    def data(self, row: FindingRow, column: int, role: int) -> Any:
        """See Columns."""
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(row, column)
        if role == Qt.ItemDataRole.DecorationRole and column == SEVERITY:
            return severity_icon(row.severity)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(short(_text(row, column)))
        return None

    def header(self, column: int, role: int) -> Any:  # noqa: ARG002 - nothing but the titles
        """See Columns."""
        return None


def _text(row: FindingRow, column: int) -> str:
    if column == BYTES:
        return where(row)
    texts = {SEVERITY: str(row.severity), MESSAGE: row.message, MEMBER: row.member_name, CODE: row.code}
    return short(texts[column])


def where(row: FindingRow) -> str:
    """The bytes a finding is about, in words."""
    if not row.spans:
        return ""
    start, stop = row.spans[0]
    more = f" and {len(row.spans) - 1} more" if len(row.spans) > 1 else ""
    return f"{hexadecimal(start)} ({in_bytes(stop - start)}){more}"
