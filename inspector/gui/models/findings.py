"""What was found wrong: what the rows say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt

from inspector.core.finding import Severity
from inspector.core.numbers import hexadecimal, in_bytes
from inspector.core.span import Spans
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
        self.severities: tuple[Severity, ...] = tuple(Severity)

    def fetch(self, first: int, count: int, deliver: Callable[[Page[Any]], None]) -> None:
        """See Columns."""
        self._client.call("findings", first, count, self.severities, done=deliver)

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
        return where(row.spans)
    texts = {SEVERITY: str(row.severity), MESSAGE: row.message, MEMBER: row.member_name, CODE: row.code}
    return short(texts[column])


def line(row: FindingRow) -> str:
    """A finding as a line of text."""
    places = ", ".join(f"{hexadecimal(start)}..{hexadecimal(stop)}" for start, stop in row.spans)
    details = (row.code, f"bytes {places}" if places else "", f"member {row.member_name}" if row.member_name else "")
    return f"{row.severity}: {row.message} [{', '.join(filter(None, details))}]"


def where(spans: Spans) -> str:
    """Bytes in few words: where the first of them are, and how many other stretches there are."""
    if not spans:
        return ""
    start, stop = spans[0]
    more = f" and {len(spans) - 1} more" if len(spans) > 1 else ""
    return f"{hexadecimal(start)} ({in_bytes(stop - start)}){more}"
