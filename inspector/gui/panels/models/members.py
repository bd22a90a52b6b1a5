"""Members, flat and as a tree of paths: what the rows say. The rows themselves are the worker's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt

from inspector.core.numbers import count, grouped, hexadecimal, in_bytes, rounded
from inspector.core.verdict import Verdict
from inspector.gui.ipc.client import Client
from inspector.gui.kit.icons import icon, severity_icon, verdict_icon
from inspector.gui.kit.text import plain, short
from inspector.gui.panels.models.naming import LazyNames
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import MemberRow, Page, SortKey, TreeRow

TITLES = (
    "Name",
    "Verdict",
    "Size",
    "Mark",
    "Stored",
    "Codec",
    "Digest",
    "Offset",
)
SORT_KEYS: tuple[SortKey | None, ...] = (
    SortKey.NAME,
    None,
    SortKey.SIZE,
    None,
    SortKey.STORED,
    SortKey.CODEC,
    SortKey.DIGEST,
    SortKey.OFFSET,
)
NAME, VERDICT, SIZE, MARK, STORED, CODEC, DIGEST, OFFSET = range(len(TITLES))
_VERDICTS = {
    Verdict.VERIFIED: "Its bytes match a recorded checksum.",
    Verdict.MISMATCH: "Its bytes do not match the recorded checksum.",
    Verdict.DOUBTFUL: "A checksum over it and others does not match, or is lost: it may be whole or not.",
    Verdict.NOT_CHECKABLE: "No checksum is recorded for it.",
    Verdict.NOT_CHECKED: "Its bytes have not been checked yet.",
}
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def member_data(row: MemberRow, name: str, column: int, role: int) -> Any:
    """What a model says of a member that is shown as ``name``."""
    if role == Qt.ItemDataRole.DisplayRole:
        return _text(row, name, column)
    if role == Qt.ItemDataRole.TextAlignmentRole and column in (SIZE, STORED, OFFSET):
        return _RIGHT
    if role == Qt.ItemDataRole.DecorationRole:
        if row.wrong is not None and column in (NAME, MARK):
            return severity_icon(row.wrong)
        if column == VERDICT:
            return verdict_icon(row.verdict)
        return icon("folder" if row.folder else "file") if column == NAME else None
    if role == Qt.ItemDataRole.ToolTipRole:
        return _tip(row, column)
    return None


def _text(row: MemberRow, name: str, column: int) -> str:
    texts: dict[int, Callable[[], str]] = {
        NAME: lambda: short(name) if row.read else f"{short(name)}…",
        SIZE: lambda: "…" if not row.read else "" if row.folder and not row.size else grouped(row.size),
        VERDICT: lambda: row.verdict.value,
        MARK: lambda: row.wrong.value if row.wrong is not None else "",
        STORED: lambda: "…" if not row.read else "" if row.folder and not row.stored else grouped(row.stored),
        CODEC: lambda: row.codec,
        DIGEST: lambda: row.digest,
        OFFSET: lambda: hexadecimal(row.offset, 8) if row.offset >= 0 else "",
    }
    return texts[column]()


def _tip(row: MemberRow, column: int) -> str | None:
    if not row.read and column in (NAME, SIZE, STORED):
        return "Its header has not been read yet; the metadata beside the archive locates it."
    if column == NAME:
        return plain(short(row.name))
    if column in (SIZE, STORED):
        size = row.size if column == SIZE else row.stored
        return f"{in_bytes(size)} ({rounded(size)})" if size >= 1024 else in_bytes(size)
    if column == OFFSET and row.offset >= 0:
        return f"byte {grouped(row.offset)} of the file"
    if column == VERDICT:
        return _VERDICTS[row.verdict]
    if column == DIGEST:
        return row.digest
    return None


def renamed(named: dict[int, MemberRow], row: MemberRow | TreeRow) -> MemberRow | TreeRow:
    """A row with the name of its member, where that is among those named; else the row as it is."""
    if isinstance(row, MemberRow):
        return named.get(row.index, row)
    was = row.member
    if was is None or was.index not in named:
        return row
    now = named[was.index]
    name = now.name[len(was.name) - len(row.name) :] if was.name.endswith(row.name) else row.name
    return replace(row, member=now, name=name)


class MemberColumns:
    """The flat table."""

    titles: tuple[str, ...] = TITLES

    def __init__(self, client: Client[ArchiveRequests], naming: LazyNames) -> None:
        self._client = client
        self._naming = naming

    def fetch(self, first: int, count: int, deliver: Callable[[Page[Any]], None]) -> None:
        """See Columns."""
        self._client.ask(ArchiveRequests.member_rows, first, count).then(deliver)

    def data(self, row: MemberRow, column: int, role: int) -> Any:
        """See Columns."""
        self._naming.want(row)
        return member_data(row, row.name, column, role)

    def header(self, column: int, role: int) -> Any:
        """See Columns."""
        return _RIGHT if role == Qt.ItemDataRole.TextAlignmentRole and column in (SIZE, STORED, OFFSET) else None


class MemberPaths:
    """The tree of paths: folders first."""

    titles: tuple[str, ...] = TITLES
    root: Any = 0

    def __init__(self, client: Client[ArchiveRequests], naming: LazyNames) -> None:
        self._client = client
        self._naming = naming

    def fetch(self, key: Any, first: int, count: int, deliver: Callable[[Page[Any]], None]) -> None:
        """See Rows."""
        self._client.ask(ArchiveRequests.tree_rows, key, first, count).then(deliver)

    def key(self, row: TreeRow) -> Any | None:
        """See Rows."""
        return row.node if row.node >= 0 else None

    def data(self, row: TreeRow, column: int, role: int) -> Any:
        """See Rows."""
        if row.node < 0 and row.member is not None:
            self._naming.want(row.member)
            return member_data(row.member, row.name, column, role)
        if role == Qt.ItemDataRole.DisplayRole:
            return {NAME: short(row.name), SIZE: count(row.members, "member")}.get(column, "")
        if role == Qt.ItemDataRole.DecorationRole and column == NAME:
            return icon("folder")
        if role == Qt.ItemDataRole.ToolTipRole and column == NAME:
            return plain(short(row.name))
        if role == Qt.ItemDataRole.TextAlignmentRole and column == SIZE:
            return _RIGHT
        return None

    def range_text(self, first: int, stop: int) -> str:
        """See Rows."""
        return f"{first + 1:,} – {stop:,}"
