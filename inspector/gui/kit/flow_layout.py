"""Widgets in a row that goes on in the next line where there is no more room."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """As wide as its widest widget at least; its height is that of the lines which a width makes."""

    def __init__(self, margin: int, spacing: int) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(margin, margin, margin, margin)
        self.setSpacing(spacing)

    def add(self, *widgets: QWidget) -> None:
        """Put widgets at the end."""
        for widget in widgets:
            self.addWidget(widget)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, at: int) -> QLayoutItem | None:
        return self._items[at] if 0 <= at < len(self._items) else None

    def takeAt(self, at: int) -> QLayoutItem | None:
        return self._items.pop(at) if 0 <= at < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """See QLayout: it takes no more room than it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def sizeHint(self) -> QSize:
        """See QLayout: all in one line."""
        width = sum(item.sizeHint().width() + self.spacing() for item in self._items)
        return QSize(width + 2 * self.contentsMargins().left(), self.minimumSize().height())

    def minimumSize(self) -> QSize:
        size = QSize(0, 0)
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        margin = 2 * self.contentsMargins().left()
        return size + QSize(margin, margin)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def _place(self, rect: QRect, *, move: bool) -> int:
        """Put all into lines, or only say how high these are."""
        margin, gap = self.contentsMargins().left(), self.spacing()
        left, right = rect.x() + margin, rect.right() + 1 - margin
        line = max((item.sizeHint().height() for item in self._items), default=0)
        x, y = left, rect.y() + margin
        for item in self._items:
            size = item.sizeHint()
            if x > left and x + size.width() > right:
                x, y = left, y + line + gap
            if move:
                item.setGeometry(QRect(QPoint(x, y + (line - size.height()) // 2), size))
            x += size.width() + gap
        return y + line + margin - rect.y()
