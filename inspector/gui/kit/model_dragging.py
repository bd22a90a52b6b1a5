"""What lets rows of a model be dragged out of the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QMimeData, QModelIndex, QPersistentModelIndex, Qt

FILES = "text/uri-list"
Give = Callable[[], QMimeData | None]


class Drags:
    """Goes before a model in the bases of a class. ``give`` makes what is dragged, from what the view has selected."""

    give: Give | None = None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """See QAbstractItemModel."""
        flags: Qt.ItemFlag = super().flags(index)  # type: ignore[misc]
        return flags | Qt.ItemFlag.ItemIsDragEnabled if self.give is not None and index.isValid() else flags

    def mimeTypes(self) -> list[str]:
        """See QAbstractItemModel."""
        return [FILES]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> Any:  # noqa: ARG002 - the view has many, the selection knows
        """See QAbstractItemModel."""
        # Kept, because the one who drags keeps nothing that Python has made.
        self._given = self.give() if self.give is not None else None
        return self._given

    def supportedDragActions(self) -> Qt.DropAction:
        """See QAbstractItemModel."""
        return Qt.DropAction.CopyAction
