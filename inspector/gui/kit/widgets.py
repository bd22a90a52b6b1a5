"""The widgets that several panels are made of."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QSize, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QTableView,
    QTreeView,
    QWidget,
)

from inspector.gui.kit.line_breaks import breakable, whole
from inspector.gui.kit.text import plain

INDENTATION = 15
"""Pixels a level of a tree is moved to the right: fields lie deep, panels are narrow."""
LEAST_LINES = 3
"""Lines of details that are seen at least."""
ROW_SPACE = 6
"""Pixels added to the height of a line of text for a row of a table."""


@runtime_checkable
class Copies(Protocol):
    """A widget that knows what to copy of it."""

    def copy(self) -> None:
        """Copy what is selected in it."""


def tree_view(model: QAbstractItemModel, widths: dict[int, int], name: str) -> QTreeView:
    """A tree with rows of one height; ``widths`` of columns in pixels."""
    view = QTreeView()
    view.setAccessibleName(name)
    view.setModel(model)
    view.setUniformRowHeights(True)
    view.setIndentation(INDENTATION)
    view.setAlternatingRowColors(True)
    view.setAllColumnsShowFocus(True)
    view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.header().setSectionsMovable(True)
    view.header().setFirstSectionMovable(False)
    _set_widths(view.header(), widths)
    return view


def table_view(model: QAbstractItemModel, widths: dict[int, int], name: str) -> QTableView:
    """A table that selects whole rows; ``widths`` of columns in pixels."""
    view = QTableView()
    dress_table(view, model, widths, name)
    return view


def dress_table(view: QTableView, model: QAbstractItemModel, widths: dict[int, int], name: str) -> None:
    """Make a table look and behave like all others."""
    view.setAccessibleName(name)
    view.setModel(model)
    view.setShowGrid(False)
    view.setWordWrap(False)
    view.setAlternatingRowColors(True)
    view.setTabKeyNavigation(False)
    view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    rows = view.verticalHeader()
    rows.hide()
    rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    rows.setDefaultSectionSize(view.fontMetrics().height() + ROW_SPACE)
    header = view.horizontalHeader()
    header.setHighlightSections(False)
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    _set_widths(header, widths)


def _set_widths(header: QHeaderView, widths: dict[int, int]) -> None:
    header.setStretchLastSection(True)
    for column, width in widths.items():
        header.resizeSection(column, width)


def select_row(view: QAbstractItemView, index: QModelIndex, scroll: bool) -> None:
    """Make a row the current one; the view scrolls to it only where that is wanted."""
    automatic = view.hasAutoScroll()
    view.setAutoScroll(False)
    view.setCurrentIndex(index)
    view.setAutoScroll(automatic)
    if scroll and index.isValid():
        across = view.horizontalScrollBar().value()
        view.scrollTo(index)
        view.horizontalScrollBar().setValue(across)


def sentence_label(text: str = "") -> QLabel:
    """A label for plain text that wraps."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    return label


def label_of(text: str, field: QWidget) -> QLabel:
    """What a field is called, beside it: Alt and the letter that is marked in it go to the field."""
    label = QLabel(text)
    label.setBuddy(field)
    return label


def push_button(text: str, tip: str) -> QPushButton:
    """A button that Enter presses only where the keyboard is on it."""
    button = QPushButton(text)
    button.setToolTip(tip)
    button.setAutoDefault(False)
    return button


class Emptiable(QStackedWidget):
    """A view, or in its place a sentence that says why it has nothing to show."""

    def __init__(self, *views: QWidget) -> None:
        super().__init__()
        self.sentence = sentence_label()
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.sentence.setForegroundRole(self.sentence.palette().ColorRole.PlaceholderText)
        self.sentence.setContentsMargins(16, 16, 16, 16)
        self.sentence.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        for view in views:
            self.addWidget(view)
        self.addWidget(self.sentence)

    def show_view(self, view: QWidget) -> None:
        """Show one of the views."""
        self.setCurrentWidget(view)
        self.setAccessibleName(view.accessibleName())
        self.setFocusProxy(view)

    def shown_sentence(self) -> str:
        """The sentence that is shown, empty where a view is."""
        return self.sentence.text() if self.currentWidget() is self.sentence else ""

    def show_sentence(self, sentence: str) -> None:
        """Show why there is nothing."""
        self.sentence.setText(sentence)
        self.setAccessibleName(sentence)
        self.setCurrentWidget(self.sentence)


class ElidedLabel(QLabel):
    """A line of plain text that has an ellipsis where it is too long; its tooltip has all of it."""

    def __init__(self, text: str = "", elide: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle) -> None:
        super().__init__(text)
        self._elide = elide
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - all of it is painted
        painter = QPainter(self)
        try:
            box = self.contentsRect()
            text = self.fontMetrics().elidedText(self.text(), self._elide, box.width())
            painter.setPen(self.palette().color(self.foregroundRole()))
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
            elided = text != self.text()
        finally:
            painter.end()
        if elided != bool(self.toolTip()):
            self.setToolTip(plain(self.text()) if elided else "")


class SelectableLabel(QLabel):
    """Plain text that wraps, inside words too where it has to, and can be selected and copied as it is."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    def set_breakable(self, text: str) -> None:
        """Show a text whose long words may be broken."""
        self.setText(breakable(text))

    def said(self) -> str:
        """The text without the places where it may be broken."""
        return whole(self.text())

    def copy(self) -> None:
        """Copy what is selected, or else all of it."""
        QGuiApplication.clipboard().setText(whole(self.selectedText() or self.text()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Copy").triggered.connect(self.copy)
        menu.popup(event.globalPos())


class Details(QScrollArea):
    """What a table says of its selected row in full: as high as its text where there is room, or else it scrolls."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.label = SelectableLabel()
        self.label.setAccessibleName(name)
        self.label.setContentsMargins(8, 4, 8, 4)
        self.label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidgetResizable(True)
        self.setWidget(self.label)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
        self.hide()

    def say(self, text: str) -> None:
        """Show a text, or nothing where there is none."""
        self.label.set_breakable(text)
        self.verticalScrollBar().setValue(0)
        self.setVisible(bool(text))
        self.updateGeometry()

    def text(self) -> str:
        """What is said."""
        return self.label.said()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(0, self.label.heightForWidth(self.viewport().width()))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, min(self.sizeHint().height(), LEAST_LINES * self.fontMetrics().lineSpacing()))
