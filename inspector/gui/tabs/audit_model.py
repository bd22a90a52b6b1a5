"""The results of an audit as a sortable table."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QObject, Qt

from inspector.core.drawing.palette import Mark
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes, rounded
from inspector.core.verdict import State
from inspector.gui.ipc.client import Client
from inspector.gui.kit.icons import badged, icon, state_icon, state_mark
from inspector.gui.kit.style import STRIPE_ROLE
from inspector.gui.kit.table_models import PagedTable, TableSource
from inspector.gui.kit.text import plain, short
from inspector.operations.protocol.audit_views import MAX_STORED_FINDINGS, NO_ARCHIVE, UNCHECKED, WAITING, Query, Result
from inspector.operations.protocol.requests import AuditRequests
from inspector.operations.protocol.views import Page

TITLES = (
    "Location",
    "State",
    "Format",
    "Size",
    "Members",
    "Errors",
    "Warnings",
    "What was found",
)
LOCATION, STATE, FORMAT, SIZE, MEMBERS, ERRORS, WARNINGS, SENTENCE = range(len(TITLES))
_STATE_LABELS = {
    UNCHECKED: "content not read",
    State.WARNING.value: "with warnings",
    NO_ARCHIVE: "no archive",
    WAITING: "not checked yet",
}
SORT_KEYS = ("location", "state", "format", "size", "members", "errors", "warnings", "code")
"""The sort key of each column."""
_NUMBERS = frozenset((SIZE, MEMBERS, ERRORS, WARNINGS))
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class AuditColumns(TableSource):
    """The results of a query; locations are shown relative to ``start``."""

    titles: tuple[str, ...] = TITLES

    def __init__(self, client: Client[AuditRequests]) -> None:
        self.client = client
        self.query = Query()
        self.start = ""

    def fetch(self, first: int, count: int, deliver: Callable[[Page[Any]], None]) -> None:
        self.client.ask(AuditRequests.page, self.query, first, count).then(deliver)

    def data(self, row: Result, column: int, role: int) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == Qt.ItemDataRole.DecorationRole and column == STATE:
            return _icon(row.state)
        if role == STRIPE_ROLE and column == LOCATION:
            return state_mark(State(row.state)) if row.state in list(State) else None
        if role == Qt.ItemDataRole.ToolTipRole:
            text = visible(row.location) if column == LOCATION else self._text(row, column)
            return plain(short(in_bytes(row.size) if column == SIZE else text))
        return _RIGHT if role == Qt.ItemDataRole.TextAlignmentRole and column in _NUMBERS else None

    def header(self, column: int, role: int) -> Any:
        if role == Qt.ItemDataRole.TextAlignmentRole and column in _NUMBERS:
            return _RIGHT
        return f"Sort by {TITLES[column].lower()}" if role == Qt.ItemDataRole.ToolTipRole else None

    def _text(self, row: Result, column: int) -> str:
        if row.state == WAITING and column not in (LOCATION, STATE, SIZE):
            return ""
        texts: dict[int, Callable[[], str]] = {
            LOCATION: lambda: visible(row.location.removeprefix(self.start)),
            STATE: lambda: state_label(row.state),
            FORMAT: lambda: row.format or "",
            SIZE: lambda: rounded(row.size),
            MEMBERS: lambda: grouped(row.members),
            ERRORS: lambda: grouped(row.errors),
            WARNINGS: lambda: grouped(row.warnings),
            SENTENCE: lambda: _worst_message(row) or row.sentence,
        }
        return short(texts[column]())


class AuditModel(PagedTable):
    """The results; a click on a column title sorts."""

    def __init__(self, client: Client[AuditRequests], parent: QObject | None = None) -> None:
        self.results = AuditColumns(client)
        super().__init__(self.results, parent)

    def choose(self, **changes: Any) -> None:
        """Change these fields of the query and reload."""
        query = replace(self.results.query, **changes)
        if query != self.results.query:
            self.results.query = query
            self.refetch()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        if 0 <= column < len(SORT_KEYS):
            down = order is Qt.SortOrder.DescendingOrder
            # A first click shows the worst state first, for that is what is looked for among many.
            self.choose(sort=SORT_KEYS[column], descending=down is not (column == STATE))


def state_label(state: str) -> str:
    """The label of a state."""
    return _STATE_LABELS.get(state, state)


def _worst_message(row: Result) -> str:
    """The message of the worst finding, "" if there are no errors or warnings."""
    return visible(json.loads(row.findings)[0]["message"]) if row.errors or row.warnings else ""


def line_text(row: Result) -> str:
    """A result as one line for the clipboard."""
    return f"{visible(row.location)}: {row.sentence or state_label(row.state)}"


def details_text(row: Result) -> str:
    """A result in full: the location, the sentence and the worst findings."""
    if row.state == WAITING:
        return f"{visible(row.location)}\n{in_bytes(row.size)}; not checked yet."
    findings = json.loads(row.findings)
    lines = [visible(row.location), row.sentence]
    lines += [visible(f"{each['severity']}: {each['message']} [{each['code']}]") for each in findings]
    more = row.errors + row.warnings + row.infos - len(findings)
    if more > 0:
        kept = f"only the worst {MAX_STORED_FINDINGS} are stored. Open the archive to see all."
        lines.append(f"{count(more, 'more finding')}; {kept}")
    read = "only the structure" if row.quick else "everything"
    was = f"{read} was read, in {row.seconds:,.2f} s."
    lines.append(f"{in_bytes(row.size)}, {count(row.members, 'member')}; {was}")
    return "\n".join(filter(None, lines))


def _icon(state: str) -> Any:
    if state in (UNCHECKED, WAITING):
        return badged("not-checked", Mark.QUIET)
    return icon("open") if state == NO_ARCHIVE else state_icon(State(state))
