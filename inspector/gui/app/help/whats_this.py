"""What's This: explanations of panels, columns, fields and buttons, by key (Shift+F1) and by pointer."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QDockWidget,
    QHeaderView,
    QTableView,
    QToolTip,
    QTreeView,
    QWhatsThis,
    QWidget,
)

from inspector.gui.app.help.help_texts import COLUMNS, PANELS
from inspector.gui.document.document import Document
from inspector.gui.hex.hex_pane import HexPane
from inspector.gui.hex.view import HexView
from inspector.gui.kit.text import paragraphs
from inspector.gui.panels.byte import BytePanel
from inspector.operations.protocol.views import FieldRow

NO_HELP = "There is no further explanation of this item."
_HELP_EVENTS = frozenset((QEvent.Type.ToolTip, QEvent.Type.WhatsThis, QEvent.Type.QueryWhatsThis))


def header_of(view: QAbstractItemView) -> QHeaderView | None:
    """The column header of a view, if it has one."""
    if isinstance(view, QTableView):
        return view.horizontalHeader()
    return view.header() if isinstance(view, QTreeView) else None


def about_column(view: QAbstractItemView, column: int) -> str:
    """The explanation of a column; empty for none."""
    model = view.model()
    title = model.headerData(column, Qt.Orientation.Horizontal) if model is not None and column >= 0 else None
    return COLUMNS.get(view.accessibleName(), {}).get(str(title), "")


def about_field(row: FieldRow, specification: str = "") -> str:
    """The explanation of a field: its kind, the meaning of its value, the section of the specification."""
    where = f"Specification: {specification}" if specification else ""
    return paragraphs(filter(None, (f"{row.name}: {row.kind}", row.kind.meaning, row.note, where)))


class WhatsThis(QObject):
    """Explains the widgets of a ``tab``, and single columns and bytes within them.

    ``docks`` are the panels by name, ``tree`` is the view of the fields.
    """

    def __init__(
        self,
        document: Document,
        hex_pane: HexPane,
        docks: Mapping[str, QDockWidget],
        tree: QAbstractItemView,
        tab: QWidget,
    ) -> None:
        super().__init__(tab)
        self._document = document
        self._tree = tree
        for name, text in PANELS.items():
            panel = hex_pane if name == "Bytes" else docks[name]
            panel.setWhatsThis(text)
        self.watch(tab)
        hex_pane.hex.viewport().installEventFilter(self)

    def watch(self, widget: QWidget) -> None:
        """Explain the columns of the tables and trees in a widget."""
        for view in widget.findChildren(QAbstractItemView):
            header = header_of(view)
            if header is not None:
                header.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt override: answer requests for help on column headers and bytes."""
        if event.type() not in _HELP_EVENTS or not isinstance(event, QHelpEvent) or not isinstance(watched, QWidget):
            return False
        owner = watched.parentWidget()
        is_tip = event.type() is QEvent.Type.ToolTip
        of_bytes = isinstance(owner, HexView) and not is_tip
        text = self.about_bytes() if of_bytes else _about_header(owner, event.pos())
        if not text:
            return False
        if is_tip:
            QToolTip.showText(event.globalPos(), text, watched)
        elif event.type() is QEvent.Type.WhatsThis:
            QWhatsThis.showText(event.globalPos(), text, watched)
        event.accept()
        return True

    def about_bytes(self) -> str:
        """The explanation of the field at the caret, or else of the hex view."""
        return self._field() or PANELS["Bytes"]

    def _field(self) -> str:
        explanation, path = self._document.explanation, self._document.selection.field
        rows = explanation.fields if explanation is not None else ()
        index = next((index for index, row in enumerate(rows) if row.path == path), len(rows) - 1)
        if index < 0:
            return ""
        return about_field(
            rows[index], next((each.specification for each in rows[index::-1] if each.specification), "")
        )

    # ---- actions -----------------------------------------------------------------------------------------------

    def explain(self) -> None:
        """Explain the focused item, next to it."""
        focus = QApplication.focusWidget()
        if focus is not None:
            position = focus.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle).center()
            QWhatsThis.showText(focus.mapToGlobal(position), self.about(focus) or NO_HELP, focus)

    def point_and_ask(self) -> None:
        """Explain the next item you click."""
        QWhatsThis.enterWhatsThisMode()

    def about(self, widget: QWidget) -> str:
        """The explanation of a focused widget."""
        if isinstance(widget, HexView):
            return self.about_bytes()
        if (isinstance(widget, BytePanel) or widget is self._tree) and (field := self._field()):
            return field
        column = ""
        if isinstance(widget, QAbstractItemView) and widget is not self._tree:
            column = about_column(widget, widget.currentIndex().column())
        return paragraphs(filter(None, (column, inherited_help(widget))))


def inherited_help(widget: QWidget | None) -> str:
    """The help text or tool tip of a widget, or else of its nearest ancestor that has one."""
    while widget is not None:
        text = widget.whatsThis() or (widget.toolTip() if not isinstance(widget, QAbstractScrollArea) else "")
        if text:
            return text
        widget = widget.parentWidget()
    return ""


def _about_header(header: QWidget | None, position: QPoint) -> str:
    if not isinstance(header, QHeaderView):
        return ""
    view = header.parentWidget()
    return about_column(view, header.logicalIndexAt(position)) if isinstance(view, QAbstractItemView) else ""
