"""The tree of fields of a layer: what the rows say."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPixmap

from inspector.core.kinds import Role
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import total
from inspector.gui.ipc.client import Client
from inspector.gui.kit.icons import severity_icon
from inspector.gui.kit.text import plain, short
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import FieldRow, Page

TITLES = ("Field", "Value", "Offset", "Size", "Meaning")
NAME, VALUE, OFFSET, SIZE, MEANING = range(len(TITLES))


class FieldTree:
    """The fields of one layer, in the order of the specification."""

    titles: tuple[str, ...] = TITLES
    root: Any = ()

    def __init__(self, client: Client[ArchiveRequests], layer: int, swatch: Callable[[Role], QColor]) -> None:
        self._client = client
        self.layer = layer
        self._swatch = swatch

    def fetch(self, key: Any, first: int, count: int, deliver: Callable[[Page[Any]], None]) -> None:
        """See Rows."""
        self._client.ask(ArchiveRequests.field_rows, self.layer, key, first, count).then(deliver)

    def key(self, row: FieldRow) -> Any | None:
        """See Rows."""
        return row.path if row.children else None

    def data(self, row: FieldRow, column: int, role: int) -> Any:
        """See Rows."""
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(row, column)
        if role == Qt.ItemDataRole.DecorationRole and column == NAME:
            return (
                severity_icon(row.wrong) if row.wrong is not None else _square(self._swatch(row.role).name(), _scale())
            )
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tip(row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole and column in (OFFSET, SIZE):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def range_text(self, first: int, stop: int) -> str:
        """See Rows."""
        return f"{first + 1:,} – {stop:,}"


def _text(row: FieldRow, column: int) -> str:
    if column == OFFSET:
        return hexadecimal(row.spans[0].start, 8) if row.spans else ""
    if column == SIZE:
        return grouped(total(row.spans)) if row.spans else ""
    return short({NAME: row.name, VALUE: row.value, MEANING: row.note}[column])


def _tip(row: FieldRow, column: int) -> str:
    if column == OFFSET and row.spans:
        places = (f"bytes {grouped(start)} to {grouped(stop)}" for start, stop in row.spans[:8])
        return " and ".join(places)
    if column == SIZE and row.spans:
        return in_bytes(total(row.spans))
    mark = f" · {row.wrong.value}" if row.wrong is not None else ""
    texts = {NAME: f"{row.name} · {row.kind}{mark}", VALUE: row.value, MEANING: row.note}
    return plain(short(texts.get(column, "")))


def _scale() -> float:
    app = QGuiApplication.instance()
    return app.devicePixelRatio() if isinstance(app, QGuiApplication) else 1.0


@cache
def _square(colour: str, scale: float) -> QPixmap:
    """A small square of a role's colour, as in the legend of the hex view."""
    picture = QPixmap(QSize(12, 12) * scale)
    picture.setDevicePixelRatio(scale)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    try:
        painter.setPen(QColor(128, 128, 128, 140))
        painter.setBrush(QColor(colour))
        painter.drawRect(0, 0, 11, 11)
    finally:
        painter.end()
    return picture
