"""Copying cells of the list that the keyboard is in."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QWidget

from inspector.gui.kit.widgets import Copies


def copy_cells(focus: QWidget | None) -> bool:
    """Copy what is selected in a list; whether it is one."""
    if isinstance(focus, Copies):
        focus.copy()
    elif isinstance(focus, QAbstractItemView):
        index = focus.currentIndex()
        text = index.data(Qt.ItemDataRole.DisplayRole) if index.isValid() else None
        QGuiApplication.clipboard().setText(str(text or ""))
    else:
        return False
    return True
