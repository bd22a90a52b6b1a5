"""Widgets shared by panels, tabs and dialogs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QObject,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
    SignalInstance,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QFrame,
    QHeaderView,
    QLabel,
    QLayout,
    QLayoutItem,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QStyleOptionComboBox,
    QStylePainter,
    QTableView,
    QToolButton,
    QTreeView,
    QWidget,
)

from inspector.gui.kit.building import context_menu, dressed, in_column, in_row, page_of, scrolling
from inspector.gui.kit.icons import icon
from inspector.gui.kit.style import GRID, ICON_PX, Rows, row_height, secondary
from inspector.gui.kit.text import breakable, plain, without_breaks

INDENTATION = 3 * GRID
"""Indentation of a tree level in pixels; small, since fields nest deeply in narrow panels."""
NARROWS = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
"""For what is as wide as it may be, and never keeps what holds it from being narrower."""
MIN_DETAIL_LINES = 3
"""The least number of visible lines of details."""


def debounce(owner: QObject, milliseconds: int, call: Callable[[], object]) -> QTimer:
    """A timer that calls once, that long after its last start."""
    timer = QTimer(owner, singleShot=True, interval=milliseconds)
    timer.timeout.connect(call)
    return timer


def tree_view(model: QAbstractItemModel, widths: dict[int, int], name: str) -> QTreeView:
    """A tree with rows of one height; ``widths`` of columns in pixels."""
    view = dressed(
        QTreeView(),
        name,
        uniformRowHeights=True,
        indentation=INDENTATION,
        allColumnsShowFocus=True,
    )
    view.setItemDelegate(Rows(view))
    view.header().setSectionsMovable(True)
    view.header().setFirstSectionMovable(False)
    _dress_view(view, model, view.header(), widths)
    return view


def table_view(model: QAbstractItemModel, widths: dict[int, int], name: str) -> QTableView:
    """A table that selects whole rows; ``widths`` of columns in pixels."""
    view = QTableView()
    dress_table(view, model, widths, name)
    return view


def dress_table(view: QTableView, model: QAbstractItemModel, widths: dict[int, int], name: str) -> None:
    """Give a table the common look and behaviour."""
    dressed(
        view,
        name,
        showGrid=False,
        wordWrap=False,
        tabKeyNavigation=False,
        selectionBehavior=view.SelectionBehavior.SelectRows,
        selectionMode=view.SelectionMode.SingleSelection,
    )
    header, rows = view.horizontalHeader(), view.verticalHeader()
    dressed(
        header, highlightSections=False, defaultAlignment=Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    )
    rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    dressed(rows, defaultSectionSize=row_height(view), visible=False)
    _dress_view(view, model, header, widths)


def _dress_view(
    view: QAbstractItemView, model: QAbstractItemModel, header: QHeaderView, widths: dict[int, int]
) -> None:
    model.setObjectName(view.accessibleName())  # by which the words on its columns are found
    view.setModel(model)
    dressed(
        view,
        iconSize=QSize(ICON_PX, ICON_PX),
        alternatingRowColors=True,
        textElideMode=Qt.TextElideMode.ElideMiddle,
        horizontalScrollMode=view.ScrollMode.ScrollPerPixel,
        editTriggers=view.EditTrigger.NoEditTriggers,
    )
    header.setStretchLastSection(True)
    for column, width in widths.items():
        header.resizeSection(column, width)


def select_row(view: QAbstractItemView, index: QModelIndex, scroll: bool) -> None:
    """Make a row current; the view scrolls to it only with ``scroll``."""
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
    return QLabel(text, textFormat=Qt.TextFormat.PlainText, wordWrap=True)


def label_of(text: str, field: QWidget) -> QLabel:
    """A label whose mnemonic focuses ``field``."""
    label = QLabel(text)
    label.setBuddy(field)
    return label


def push_button(text: str, tip: str = "", pressed: Callable[[], object] | SignalInstance | None = None) -> QPushButton:
    """A button that Enter presses only while it has the focus, and what it does."""
    button = dressed(QPushButton(text, autoDefault=False), toolTip=tip)
    if pressed is not None:
        button.clicked.connect(pressed)
    return button


class Emptiable(QStackedWidget):
    """One of several views, or a sentence that says why there is nothing to show, with the next action below it."""

    def __init__(self, *views: QWidget) -> None:
        super().__init__()
        self._act: Callable[[], object] = bool
        self.sentence = secondary(dressed(sentence_label(), alignment=Qt.AlignmentFlag.AlignCenter, sizePolicy=NARROWS))
        self.sentence.setContentsMargins(4 * GRID, 2 * GRID, 4 * GRID, 2 * GRID)
        # Enter presses it.
        self.action = dressed(push_button("Next"), objectName="link", flat=True, autoDefault=True)
        self.action.clicked.connect(lambda _: self._act())
        self._empty = page_of(in_column(1, self.sentence, in_row(1, self.action, 1), 1))
        for view in views:
            self.addWidget(view)
        self.addWidget(self._empty)

    def show_view(self, view: QWidget) -> None:
        """Show one of the views."""
        self.setCurrentWidget(view)
        self.setAccessibleName(view.accessibleName())
        self.setFocusProxy(view)

    def shown_sentence(self) -> str:
        """The visible sentence; empty while a view is shown."""
        return self.sentence.text() if self.currentWidget() is self._empty else ""

    def show_sentence(self, sentence: str, action: str = "", act: Callable[[], object] = bool) -> None:
        """Show a sentence instead of a view, and a button named ``action`` that does what can be done next."""
        self.sentence.setText(sentence)
        self._act = act
        dressed(self.action, text=action or "Next", visible=bool(action))
        self.setAccessibleName(sentence)
        self.setCurrentWidget(self._empty)


class ElidedLabel(QLabel):
    """A line of plain text, elided if too long; its tooltip then has the full text."""

    def __init__(self, text: str = "", elide: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle) -> None:
        super().__init__(text, textFormat=Qt.TextFormat.PlainText)
        dressed(self, sizePolicy=NARROWS)
        self._elide = elide

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - always paints everything
        with QPainter(self) as painter:
            box = self.contentsRect()
            text = self.fontMetrics().elidedText(self.text(), self._elide, box.width())
            painter.setPen(self.palette().color(self.foregroundRole()))
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
            elided = text != self.text()
        if elided != bool(self.toolTip()):
            self.setToolTip(plain(self.text()) if elided else "")


class SelectableLabel(QLabel):
    """Wrapping plain text that can also break long words and is copied without these breaks."""

    def __init__(self) -> None:
        selectable = Qt.TextInteractionFlag.TextSelectableByMouse
        super().__init__(textFormat=Qt.TextFormat.PlainText, wordWrap=True, textInteractionFlags=selectable)

    def set_breakable(self, text: str) -> None:
        """Show a text with line break opportunities in long words."""
        self.setText(breakable(text))

    def plain_text(self) -> str:
        """The text without added line break opportunities."""
        return without_breaks(self.text())

    def copy(self) -> None:
        """Copy the selection, or else all text."""
        QGuiApplication.clipboard().setText(without_breaks(self.selectedText() or self.text()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = context_menu(self)
        menu.addAction("Copy").triggered.connect(self.copy)
        menu.popup(event.globalPos())


class Details(QScrollArea):
    """The full text of a selected row: as high as its text if there is room, otherwise it scrolls."""

    def __init__(self, name: str) -> None:
        super().__init__()
        top = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
        self.label = dressed(SelectableLabel(), name, alignment=top)
        self.label.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        never = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        dressed(scrolling(self.label, self), name, objectName="details", horizontalScrollBarPolicy=never, visible=False)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)

    def say(self, text: str) -> None:
        """Show a text; hide for an empty one."""
        self.label.set_breakable(text)
        self.verticalScrollBar().setValue(0)
        self.setVisible(bool(text))
        self.updateGeometry()

    def text(self) -> str:
        """The shown text."""
        return self.label.plain_text()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        edge = self.contentsMargins()
        return QSize(0, self.label.heightForWidth(self.viewport().width()) + edge.top() + edge.bottom())

    def minimumSizeHint(self) -> QSize:
        return QSize(0, min(self.sizeHint().height(), MIN_DETAIL_LINES * self.fontMetrics().lineSpacing()))


class MessageBar(QFrame):
    """A message that stays until it is closed, with an optional button.

    Signals:
        acted(): the button was pressed.
    """

    acted = Signal()

    def __init__(self, indent: int = 2 * GRID) -> None:
        super().__init__()
        self.text = dressed(sentence_label(), sizePolicy=NARROWS)
        self.button = dressed(QPushButton(), visible=False)
        self.button.clicked.connect(self.acted)
        tip = "Close this message"
        self.dismiss = dressed(QToolButton(autoRaise=True), tip, toolTip=tip, icon=icon("close"))
        self.dismiss.clicked.connect(self.hide)
        in_row((self.text, 1), self.button, self.dismiss, on=self, edge=(indent, 0, 0, 0))
        self.hide()

    def say(self, sentence: str, action: str = "") -> None:
        """Show a message, and a button if ``action`` is its label."""
        self.text.setText(sentence)
        dressed(self.button, text=action, visible=bool(action))
        self.show()


class ElidedBox(QComboBox):
    """A combo box that elides the current text in the middle; the owner sets the full text as tooltip."""

    def paintEvent(self, _: QPaintEvent) -> None:
        from PySide6.QtWidgets import QStyle  # its enums take as long to import as twenty modules

        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        place = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        middle = Qt.TextElideMode.ElideMiddle
        option.currentText = self.fontMetrics().elidedText(option.currentText, middle, place.width() - 4)
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()


class FlowLayout(QLayout):
    """A layout that wraps widgets into lines, at least as wide as the widest widget."""

    def __init__(self, margin: int, spacing: int) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(margin, margin, margin, margin)
        self.setSpacing(spacing)

    def add(self, *widgets: QWidget) -> None:
        """Append widgets."""
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
        """The layout never grows beyond its size hint."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def sizeHint(self) -> QSize:
        """The size of all items in one line."""
        width = sum(item.sizeHint().width() + self.spacing() for item in self._items)
        return QSize(width + 2 * self.contentsMargins().left(), self.minimumSize().height())

    def minimumSize(self) -> QSize:
        margin = 2 * self.contentsMargins().left()
        size = reduce(QSize.expandedTo, (item.minimumSize() for item in self._items), QSize(0, 0))
        return size + QSize(margin, margin)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def _place(self, rect: QRect, *, move: bool) -> int:
        """Arrange the items in lines if ``move`` is set; returns the total height."""
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


def _selected_lines(view: QTreeView | QTableView) -> Iterator[str]:
    """The selected rows from top to bottom, with a tab between the texts of visible columns."""
    rows = sorted(view.selectionModel().selectedRows(), key=lambda index: view.visualRect(index).y())
    columns = [at for at in range(view.model().columnCount()) if not view.isColumnHidden(at)]
    for row in rows:
        yield "\t".join(str(row.siblingAtColumn(at).data() or "") for at in columns)


def copy_cells(focus: QWidget | None) -> bool:
    """Copy the selected rows, or the current cell, of a view; returns whether ``focus`` is one."""
    several = QAbstractItemView.SelectionMode.ExtendedSelection
    if callable(own := getattr(focus, "copy", None)):
        own()
    elif isinstance(focus, QTreeView | QTableView) and focus.selectionMode() is several:
        QGuiApplication.clipboard().setText("\n".join(_selected_lines(focus)))
    elif isinstance(focus, QAbstractItemView):
        index = focus.currentIndex()
        text = index.data(Qt.ItemDataRole.DisplayRole) if index.isValid() else None
        QGuiApplication.clipboard().setText(str(text or ""))
    else:
        return False
    return True


# ---- the line above a list that filters it ---------------------------------------------------------------------------


_TYPING_MS = 200
"""Milliseconds without typing after which the filter is applied."""


class FilterLine(QLineEdit):
    """Filters what ``view`` shows; Down leads into the view ``into``, which is the same one at first.

    Signals:
        applied(str): show what contains this text; empty for all.
    """

    applied = Signal(str)

    def __init__(self, view: QAbstractItemView, placeholder: str, name: str) -> None:
        super().__init__()
        dressed(self, name, placeholderText=placeholder, clearButtonEnabled=True)
        self._view = self.into = view
        self.wanted = ""
        self._comes_and_goes = False
        self._timer = debounce(self, _TYPING_MS, self.apply)
        self.textChanged.connect(self._timer.start)

    def no_match(self, searched: str = "") -> str:
        """The sentence of a list in which nothing is left; ``searched``: of what, if not of all."""
        where = f" among {searched}" if searched else ""
        return f"No match for “{self.wanted}”{where}. Esc shows all."

    def appear_on_typing(self, *lists: QWidget) -> None:
        """Take no room until the user types in one of these lists, and go when the filter is cleared."""
        self._comes_and_goes = True
        self.hide()
        for each in lists:
            each.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt override: what is typed in a list goes here."""
        if not isinstance(event, QKeyEvent) or event.type() is not QEvent.Type.KeyPress or not _is_text(event):
            return super().eventFilter(watched, event)
        self.show()
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.end(False)  # what is typed goes on behind what stands here
        self.insert(event.text())
        return True

    def apply(self) -> None:
        """Filter now."""
        self._timer.stop()
        text = self.text().strip()
        if text != self.wanted:
            self.wanted = text
            self.applied.emit(text)

    def event(self, event: QEvent) -> bool:
        """Qt override: Escape is for this line before it cancels anything else."""
        is_override = event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if is_override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape and self.text():
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Down: into the results. Enter: the first of them, as Enter in the list does. Escape: all again."""
        model = self._view.model()
        if event.key() == Qt.Key.Key_Down:
            self.apply()
            self._enter_list(self.into.model())
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            is_applied = not self._timer.isActive()
            self.apply()
            if is_applied and model.rowCount() == 1:
                self._view.setCurrentIndex(model.index(0, 0))
                self._view.activated.emit(model.index(0, 0))
            elif is_applied:
                self._enter_list(self.into.model())
        elif event.key() == Qt.Key.Key_Escape and (self.text() or self._comes_and_goes):
            self.clear()
            self.apply()
            if self._comes_and_goes:
                self._view.setFocus(Qt.FocusReason.ShortcutFocusReason)
                self.hide()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Go if nothing is typed."""
        super().focusOutEvent(event)
        if self._comes_and_goes and not self.text():
            self.hide()

    def _enter_list(self, model: QAbstractItemModel) -> None:
        if model.rowCount():
            self.into.setFocus(Qt.FocusReason.ShortcutFocusReason)
            if not self.into.currentIndex().isValid():
                self.into.setCurrentIndex(model.index(0, 0))


def _is_text(event: QKeyEvent) -> bool:
    """Whether a key types something; a space selects in lists."""
    plain = not event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
    return plain and event.text().isprintable() and bool(event.text().strip())
