"""Typing a number into a cell, which is judged while it is typed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QPersistentModelIndex
from PySide6.QtWidgets import QLineEdit, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from inspector.core.finding import Severity
from inspector.gui.hex.painting import scheme_for
from inspector.gui.kit.icons import severity_icon
from inspector.gui.kit.palette import COLOURS
from inspector.gui.panels.header_entries import OFFSET
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.header_draft import parse_number


class NumberEditor(QStyledItemDelegate):
    """Marks what is wrong while it is typed.

    ``judge(row, column, number)`` says what is wrong with a number, or nothing; ``say`` is told that.
    """

    def __init__(self, parent: QWidget, judge: Callable[[int, int, int], str], say: Callable[[str], None]) -> None:
        super().__init__(parent)
        self._say = say
        self._wrong = judge

    def createEditor(
        self,
        parent: QWidget,
        option: QStyleOptionViewItem,  # noqa: ARG002 - Qt's signature
        index: QModelIndex | QPersistentModelIndex,
    ) -> QWidget:
        """Qt override."""
        editor = QLineEdit(parent)
        editor.setAccessibleName("Offset" if index.column() == OFFSET else "Length")
        editor.addAction(severity_icon(Severity.ERROR), QLineEdit.ActionPosition.TrailingPosition).setVisible(False)
        place = (index.row(), index.column())
        editor.textChanged.connect(lambda text: self._judge(editor, place, text))
        return editor

    def _judge(self, editor: QLineEdit, place: tuple[int, int], text: str) -> None:
        try:
            why = self._wrong(*place, parse_number(text))
        except OperationError as error:
            why = str(error)
        damage = COLOURS[scheme_for(editor.palette())].damage
        editor.setStyleSheet(f"border: 2px solid {damage};" if why else "")
        for mark in editor.actions():
            mark.setVisible(bool(why))
        self._say(why)
