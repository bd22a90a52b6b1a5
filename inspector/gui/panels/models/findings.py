"""What was found wrong: what the rows say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt

from inspector.core.finding import Severity
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import Span, Spans
from inspector.gui.ipc.client import Client
from inspector.gui.kit.icons import severity_icon
from inspector.gui.kit.text import plain, short
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import FindingRow, Page

TITLES = ("Severity", "What was found", "Bytes", "Member", "Code")
SEVERITY, MESSAGE, BYTES, MEMBER, CODE = range(len(TITLES))
MOST_PLACES = 8
"""The most stretches of bytes named in full."""


class FindingColumns:
    """The table of findings, in the order in which they were found."""

    titles: tuple[str, ...] = TITLES

    def __init__(self, client: Client[ArchiveRequests]) -> None:
        self._client = client
        self.severities: tuple[Severity, ...] = tuple(Severity)

    def fetch(self, first: int, count: int, deliver: Callable[[Page[Any]], None]) -> None:
        """See Columns."""
        self._client.ask(ArchiveRequests.findings, first, count, self.severities).then(deliver)

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
    texts = {SEVERITY: row.severity.value, MESSAGE: row.message, MEMBER: row.member_name, CODE: row.code}
    return short(texts[column])


def described(row: FindingRow) -> str:
    """A finding in full: what it says, and beneath that its bytes, its member and its code."""
    places = [f"{_range(span, hexadecimal)} ({_range(span, grouped)})" for span in row.spans[:MOST_PLACES]]
    if len(row.spans) > MOST_PLACES:
        places.append(f"and {grouped(len(row.spans) - MOST_PLACES)} more")
    return f"{row.message}\n{' · '.join(filter(None, (*_whose(row, places), row.code)))}"


def _whose(row: FindingRow, places: Sequence[str]) -> tuple[str, str]:
    """Which bytes, and which member: each empty where there is none."""
    bytes_ = f"bytes {', '.join(places)}" if places else ""
    return bytes_, f"member {row.member_name}" if row.member_name else ""


def _range(span: Span, written: Callable[[int], str]) -> str:
    return f"{written(span.start)}..{written(span.stop)}"


def line(row: FindingRow) -> str:
    """A finding as a line of text."""
    details = (row.code, *_whose(row, [_range(span, hexadecimal) for span in row.spans]))
    return f"{row.severity.value}: {row.message} [{', '.join(filter(None, details))}]"


def where(spans: Spans) -> str:
    """Bytes in few words: where the first of them are, and how many other stretches there are."""
    if not spans:
        return ""
    start, stop = spans[0]
    first = f"{hexadecimal(start)} ({in_bytes(stop - start)})"
    return f"{first} and {len(spans) - 1} more" if len(spans) > 1 else first
