"""The palette of commands: type a part of what an action is called, Enter does it. And all keys as a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, QSortFilterProxyModel, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLineEdit,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from inspector.core.names import visible
from inspector.gui.app.actions import COMMANDS, Command, menu_called
from inspector.gui.kit.widgets import Emptiable

SIZE = (620, 420)
HEADINGS = ("Action", "Keys", "Menu")
TOLD, SCATTERED = 1_000, 10_000
"""Added to how well an action fits: by what it does, and by letters that are only there in their order."""
NATIVE = QKeySequence.SequenceFormat.NativeText


class Line(NamedTuple):
    """One action in words."""

    name: str
    text: str
    keys: str
    menu: str
    tip: str


def lines(actions: Mapping[str, QAction], commands: Iterable[Command] = COMMANDS) -> list[Line]:
    """All actions in the order of the menus, with the keys that they have here."""
    return [
        Line(
            command.name,
            command.called,
            ", ".join(key.toString(NATIVE) for key in actions[command.name].shortcuts()),
            menu_called(command.menu),
            command.told,
        )
        for command in commands
    ]


def score(sought: str, text: str) -> int | None:
    """How well a text fits what was typed, less is better; None where its letters are not all there in their order.

    Best is what begins a word, then what stands together, then what is merely there in order.
    """
    sought, text = sought.casefold().replace(" ", ""), text.casefold()
    if not sought:
        return 0
    total, at, before = 0, -1, -1
    for letter in sought:
        at = text.find(letter, before + 1)
        if at < 0:
            return None
        starts_word = at == 0 or not text[at - 1].isalnum()
        total += 0 if at == before + 1 and before >= 0 else 1 if starts_word else 3 + at - before
        before = at
    return total


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def fit(sought: str, line: Line) -> int | None:
    """How well an action fits: by the beginnings of words of its name, by a part of it, by what it does, by letters."""
    wanted = _words(sought)
    if all(any(name.startswith(word) for name in _words(line.text)) for word in wanted):
        return -1 if line.text.casefold().startswith(sought.casefold().strip()) else 0
    called = score(sought, line.text)
    if called is not None and "".join(wanted) in "".join(_words(line.text)):
        return 1 + called
    told = f"{line.menu} {line.tip}"
    does = score(sought, told) if sought.casefold() in told.casefold() else None
    if does is not None:
        return TOLD + does
    return None if called is None else SCATTERED + called


class _Fitting(QSortFilterProxyModel):
    """The lines that fit what was typed, the best first."""

    def __init__(self, every: list[Line], parent: QObject) -> None:
        super().__init__(parent)
        self._every = every
        self._fits: list[int | None] = [0] * len(every)
        model = QStandardItemModel(0, len(HEADINGS), self)
        model.setHorizontalHeaderLabels(list(HEADINGS))
        for line in every:
            model.appendRow([_item(text, line.tip) for text in (line.text, line.keys, line.menu)])
        self.setSourceModel(model)
        self.setDynamicSortFilter(True)
        self.sort(0)

    def seek(self, sought: str) -> None:
        self._fits = [fit(sought, line) for line in self._every]
        self.invalidate()

    def name(self, row: int) -> str:
        return self._every[self.mapToSource(self.index(row, 0)).row()].name

    def filterAcceptsRow(self, row: int, _: object) -> bool:
        return self._fits[row] is not None

    def lessThan(self, left: object, right: object) -> bool:
        rows = (left.row(), right.row())  # type: ignore[attr-defined]
        return (self._fits[rows[0]] or 0, rows[0]) < (self._fits[rows[1]] or 0, rows[1])


def _item(text: str, tip: str) -> QStandardItem:
    item = QStandardItem(text)
    item.setEditable(False)
    item.setToolTip(tip)
    return item


class _Table(QTreeView):
    """Lines of actions with a field that narrows them down."""

    def __init__(self, every: list[Line]) -> None:
        super().__init__()
        self.fitting = _Fitting(every, self)
        self.setModel(self.fitting)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.header().setStretchLastSection(False)
        self.seek("")

    def seek(self, sought: str) -> None:
        """Show what fits, and choose the best."""
        self.fitting.seek(sought)
        self.setCurrentIndex(self.fitting.index(0, 0))
        self.scrollToTop()


class _Lines(QDialog):
    """A field to type in above a table of actions."""

    def __init__(self, parent: QWidget, title: str, every: list[Line]) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.resize(*SIZE)
        self.sought = QLineEdit()
        self.sought.setPlaceholderText("Type part of a command's name")
        self.sought.setAccessibleName("Command to find")
        self.sought.setClearButtonEnabled(True)
        self.table = _Table(every)
        self.table.setAccessibleName("Actions")
        self.found = Emptiable(self.table)
        self.found.show_view(self.table)
        self.sought.textChanged.connect(self._seek)
        self.sought.installEventFilter(self)
        layout = QVBoxLayout(self)
        layout.addWidget(self.sought)
        layout.addWidget(self.found)
        self.sought.setFocus()

    def _seek(self, sought: str) -> None:
        self.table.seek(sought)
        if self.table.fitting.rowCount():
            self.found.show_view(self.table)
        else:
            self.found.show_sentence(f"No matching command for “{visible(sought.strip())}”.")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys that move in the table do so from the field too."""
        moves = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
        is_press = watched is self.sought and event.type() is QEvent.Type.KeyPress
        if is_press and isinstance(event, QKeyEvent) and event.key() in moves:
            self.table.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)


class CommandPalette(_Lines):
    """Runs the action that is chosen, or what else is offered. What cannot be done now is not there."""

    def __init__(
        self, parent: QWidget, actions: Mapping[str, QAction], more: Mapping[Line, Callable[[], object]] = {}
    ) -> None:
        possible = [line for line in lines(actions) if actions[line.name].isEnabled()]
        super().__init__(parent, "Commands", [*possible, *more])
        self._calls: dict[str, Callable[[], object]] = {line.name: actions[line.name].trigger for line in possible}
        self._calls |= {line.name: call for line, call in more.items()}
        self.sought.returnPressed.connect(self._run)
        self.table.activated.connect(lambda _: self._run())

    def _run(self) -> None:
        index = self.table.currentIndex()
        if index.isValid():
            call = self._calls[self.table.fitting.name(index.row())]
            self.accept()
            call()


class KeysTable(_Lines):
    """All actions with their keys, to look them up."""

    def __init__(self, parent: QWidget, actions: Mapping[str, QAction]) -> None:
        super().__init__(parent, "Keyboard Shortcuts", lines(actions))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = self.layout()
        assert layout is not None
        layout.addWidget(buttons)
