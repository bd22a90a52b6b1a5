"""The data inspector: the bytes at the caret as numbers of every width and order, times and text."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QSizePolicy, QTableView, QWidget

from inspector.gui.hex.inspector_values import Value, readings
from inspector.gui.kit.fonts import fixed_font
from inspector.gui.kit.model_titled_table import Index, TitledTable

_HEADINGS = ("Read as", "Value")
_Role = Qt.ItemDataRole


class ReadingsModel(TitledTable):
    """The readings of some bytes, one a row."""

    def __init__(self) -> None:
        super().__init__(_HEADINGS)
        self._rows: list[Value] = readings(b"")

    def setBytes(self, data: bytes) -> None:
        """Read these bytes."""
        self._rows = readings(data)
        self.dataChanged.emit(self.index(0, 1), self.index(len(self._rows) - 1, 1))

    def text(self, row: int, column: int) -> str:
        """What a cell says."""
        return self._rows[row][column]

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:
        """Qt override."""
        if not index.isValid():
            return None
        text = self.text(index.row(), index.column())
        answers = {
            _Role.DisplayRole: text or "–",
            _Role.ToolTipRole: text,
            _Role.AccessibleTextRole: text or "not a valid value",
            _Role.FontRole: fixed_font() if index.column() else None,
        }
        return answers.get(_Role(role))


class DataInspector(QTableView):
    """Shows the readings of the bytes at the caret, all at once; a value can be copied with the usual key."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._readings = ReadingsModel()
        self.setModel(self._readings)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 5)
        head = self.horizontalHeader()
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        head.setHighlightSections(False)
        head.setMinimumSectionSize(40)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        head.setStretchLastSection(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Bytes at the caret as values")

    def setBytes(self, data: bytes) -> None:
        """Show what these bytes are; ``inspector_values.LOOKED_AT`` of them are enough."""
        self._readings.setBytes(data)

    def restyle(self) -> None:
        """Take over another font for bytes."""
        self.verticalHeader().setDefaultSectionSize(
            max(self.fontMetrics().height(), QFontMetrics(fixed_font()).height()) + 5
        )
        self._readings.layoutChanged.emit()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Qt override: high enough for all rows, so that it needs no scrolling of its own."""
        rows = self._readings.rowCount() * self.verticalHeader().defaultSectionSize()
        return QSize(
            super().sizeHint().width(), rows + self.horizontalHeader().sizeHint().height() + 2 * self.frameWidth()
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt override: copies the chosen value."""
        index = self.currentIndex()
        if event.matches(QKeySequence.StandardKey.Copy) and index.isValid():
            QGuiApplication.clipboard().setText(self._readings.text(index.row(), index.column()))
        else:
            super().keyPressEvent(event)
