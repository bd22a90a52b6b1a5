"""Widgets, layouts and dialogs said in one expression, in the order in which they stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from PySide6.QtCore import Qt, SignalInstance
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLayout,
    QMenu,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from inspector.gui.kit.style import EDGE, GRID

if TYPE_CHECKING:  # the first paint does not wait for it
    from PySide6.QtWidgets import QMessageBox

W = TypeVar("W", bound=QWidget)
B = TypeVar("B", bound=QBoxLayout)
Part = QWidget | QLayout | int | tuple[QWidget | QLayout, int]
"""What stands in a row or column; with a number, how much of the room it takes. A number alone is room."""
Edges = int | tuple[int, int, int, int]
"""Pixels around what stands in a layout: on all sides, or left, above, right and below."""
LINE = (2 * GRID, GRID, 2 * GRID, GRID)
"""The edges of a line of buttons or words."""
PROGRESS_PX = 160
"""Pixels: the width of a progress bar in a line."""


def in_column(*parts: Part, on: QWidget | None = None, edge: Edges = 0, gap: int = 0) -> QVBoxLayout:
    """Parts from top to bottom, as the layout of ``on`` if that is given."""
    return _filled(QVBoxLayout() if on is None else QVBoxLayout(on), parts, edge, gap)


def in_row(*parts: Part, on: QWidget | None = None, edge: Edges = 0, gap: int = 2 * GRID) -> QHBoxLayout:
    """Parts from left to right, as the layout of ``on`` if that is given."""
    return _filled(QHBoxLayout() if on is None else QHBoxLayout(on), parts, edge, gap)


def _filled(layout: B, parts: tuple[Part, ...], edge: Edges, gap: int) -> B:
    layout.setContentsMargins(*((edge,) * 4 if isinstance(edge, int) else edge))
    layout.setSpacing(gap)
    for part in parts:
        what, stretch = part if isinstance(part, tuple) else (part, 0)
        if isinstance(what, int):
            layout.addStretch(what)
        elif isinstance(what, QLayout):
            layout.addLayout(what, stretch)
        else:
            layout.addWidget(what, stretch)
    return layout


def in_form(*rows: tuple[str | QWidget, QWidget] | QWidget, on: QWidget | None = None, edge: int = 0) -> QFormLayout:
    """Fields below each other, each with its label, or alone over the whole width."""
    form = QFormLayout() if on is None else QFormLayout(on)
    form.setContentsMargins(edge, edge, edge, edge)
    form.setSpacing(2 * GRID)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    for each in rows:
        form.addRow(*(each if isinstance(each, tuple) else (each,)))
    return form


def page_of(layout: QLayout, name: str = "") -> QWidget:
    """A widget that holds a layout."""
    page = dressed(QWidget(), name)
    page.setLayout(layout)
    return page


def scrolling(body: QWidget, area: QScrollArea | None = None) -> QScrollArea:
    """An area without a frame in which a widget scrolls from top to bottom."""
    area = dressed(area or QScrollArea(), widgetResizable=True, frameShape=QFrame.Shape.NoFrame)
    area.setWidget(body)
    return area


def side_by_side(
    *parts: tuple[QWidget, int], down: bool = False, collapses: bool = True, sized: bool = False
) -> QSplitter:
    """Widgets whose shares of the room the user can change, beside each other or, with ``down``, below each other.

    ``sized``: they have these shares from the beginning, whatever size each would like to have.
    """
    split = QSplitter(Qt.Orientation.Vertical if down else Qt.Orientation.Horizontal)
    split.setChildrenCollapsible(collapses)
    for at, (widget, share) in enumerate(parts):
        split.addWidget(widget)
        split.setStretchFactor(at, share)
    if sized:
        split.setSizes([1_000 * share for _, share in parts])
    return split


def dressed(widget: W, name: str = "", **properties: Any) -> W:
    """The widget with an accessible name and these properties of Qt."""
    if name:
        widget.setAccessibleName(name)
    for each, value in properties.items():
        known = widget.setProperty(each, value)
        assert known, each
    return widget


def choice_of(name: str, labels: Mapping[Any, str], **properties: Any) -> QComboBox:
    """A box to choose one of some values by its label."""
    box = dressed(QComboBox(), name, **properties)
    for value, label in labels.items():
        box.addItem(label, value)
    return box


def number_of(name: str, least: int, most: int, value: int, **properties: Any) -> QSpinBox:
    """A field for a number."""
    return dressed(QSpinBox(minimum=least, maximum=most, value=value), name, **properties)


def edited(field: QWidget) -> SignalInstance:
    """The signal that tells that the value of a field is another."""
    name = field.metaObject().userProperty().notifySignal().name().toStdString()
    signal: SignalInstance = getattr(field, name)
    return signal


def value_of(field: QWidget) -> Any:
    """The value of a field: a text without spaces around it, a number, whether it is ticked, or what is chosen."""
    if isinstance(field, QComboBox) and not field.isEditable():
        return field.currentData()
    value = field.metaObject().userProperty().read(field)
    return value.strip() if isinstance(value, str) else value


def set_value(field: QWidget, value: Any) -> None:
    """Show a value in a field; of a choice, the first one stands for what is none of it."""
    if isinstance(field, QComboBox) and not field.isEditable():
        field.setCurrentIndex(max(0, field.findData(value)))
    else:
        field.metaObject().userProperty().write(field, value)


def tool_button(
    text: str,
    tip: str,
    pressed: Callable[[], object] | SignalInstance | None = None,
    shown: QIcon | None = None,
    menu: QMenu | None = None,
) -> QToolButton:
    """A flat button with words, and before them an icon if one is given."""
    focus = Qt.FocusPolicy.StrongFocus
    button = dressed(QToolButton(autoRaise=True), text=text, toolTip=tip, focusPolicy=focus)
    if shown is not None:
        button.setIcon(shown)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    if menu is not None:
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setMenu(menu)
    if pressed is not None:
        button.clicked.connect(pressed)
    return button


def progress_bar(name: str) -> QProgressBar:
    """A bar without words, beside a sentence that has them."""
    return dressed(QProgressBar(textVisible=False), name, minimumWidth=PROGRESS_PX, maximumWidth=PROGRESS_PX)


class Dialog(QDialog):
    """A dialog that blocks nothing and is deleted when it is closed.

    Its one answer is the button ``answer``, which accepts it; without one it only shows something.
    """

    def __init__(self, parent: QWidget, title: str, answer: str = "") -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        standard = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(standard.Cancel if answer else standard.Close)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.answer = self.add_button(answer, accepts=True) if answer else self.buttons.button(standard.Close)
        self.answer.setDefault(bool(answer))

    def accept(self) -> None:
        """Accept it, if it can be answered as it stands."""
        if self.answer.isEnabled():
            super().accept()

    def add_button(self, text: str, tip: str = "", *, accepts: bool = False) -> QPushButton:
        """Add a button at the foot."""
        role = QDialogButtonBox.ButtonRole.AcceptRole if accepts else QDialogButtonBox.ButtonRole.ActionRole
        return dressed(self.buttons.addButton(text, role), toolTip=tip)

    def lay_out(self, *parts: Part) -> None:
        """Parts from top to bottom, and the buttons below them."""
        in_column(*parts, self.buttons, on=self, edge=EDGE, gap=2 * GRID)


class Answer(NamedTuple):
    """A button of a question, and what it does; one that does nothing is what Escape presses."""

    text: str
    does: Callable[[], object] | None = None
    is_default: bool = False


def ask(parent: QWidget, title: str, text: str, *answers: Answer, more: str = "", warns: bool = False) -> QMessageBox:
    """Ask a question in a box that blocks nothing; without answers it only says something."""
    from PySide6.QtWidgets import QMessageBox  # the first paint does not wait for it

    icon, plain = QMessageBox.Icon.Warning if warns else QMessageBox.Icon.Question, Qt.TextFormat.PlainText
    box = dressed(QMessageBox(parent), icon=icon, textFormat=plain, windowTitle=title, text=text, informativeText=more)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for answer in answers:
        role = QMessageBox.ButtonRole.RejectRole if answer.does is None else QMessageBox.ButtonRole.ActionRole
        button = box.addButton(answer.text, role)
        if answer.does is None:
            box.setEscapeButton(button)
        else:
            button.clicked.connect(lambda _=False, does=answer.does: does())
        if answer.is_default:
            box.setDefaultButton(button)
    box.open()
    return box


def ask_for_text(
    parent: QWidget,
    title: str,
    label: str,
    take: Callable[[str], object],
    items: Sequence[str] = (),
    accept: str = "&OK",
    text: str = "",
) -> None:
    """Ask for a text, or for one of the items."""
    from PySide6.QtWidgets import QInputDialog  # the first paint does not wait for it

    dialog = dressed(QInputDialog(parent), windowTitle=title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setLabelText(label)
    dialog.setTextValue(text)
    dialog.setComboBoxItems(items)
    dialog.setOkButtonText(accept)
    dialog.textValueSelected.connect(take)
    dialog.open()


def context_menu(parent: QWidget) -> QMenu:
    """A menu that is deleted when it is closed."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return menu
