"""The command palette: type part of a command's name, press Enter to run it. And the table of shortcuts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct
from PySide6.QtCore import QEvent, QObject, QSortFilterProxyModel, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QTreeView,
    QWidget,
)

from inspector.core.names import visible
from inspector.gui.app.actions.actions import menu_of
from inspector.gui.kit.building import Dialog, dressed, in_column
from inspector.gui.kit.style import EDGE, GRID
from inspector.gui.kit.text import without_marks
from inspector.gui.kit.widgets import Emptiable

SIZE = (620, 420)
HEADINGS = ("Action", "Keys", "Menu")
IN_DESCRIPTION, SCATTERED_LETTERS = 1_000, 10_000
"""Added to the score of a match in the description, and of one of scattered letters."""
NATIVE_TEXT = QKeySequence.SequenceFormat.NativeText


class PaletteEntry(Struct, frozen=True):
    """One entry of the palette: an action or a setting."""

    name: str
    text: str
    keys: str
    menu: str
    tip: str


def command_entries(actions: Mapping[str, QAction]) -> list[PaletteEntry]:
    """All actions in the order of the menus, with their keys on this platform."""
    return [
        PaletteEntry(
            name,
            without_marks(action.text()).rstrip("…"),
            ", ".join(key.toString(NATIVE_TEXT) for key in action.shortcuts()),
            menu_of(name),
            action.statusTip(),
        )
        for name, action in actions.items()
    ]


def score(query: str, text: str) -> int | None:
    """How well a text matches what was typed, lower is better; None unless it contains all letters in this order.

    Letters that start a word or follow the previous match score best, scattered ones worst.
    """
    query, text = query.casefold().replace(" ", ""), text.casefold()
    if not query:
        return 0
    total, at, before = 0, -1, -1
    for letter in query:
        at = text.find(letter, before + 1)
        if at < 0:
            return None
        starts_word = at == 0 or not text[at - 1].isalnum()
        total += 0 if at == before + 1 and before >= 0 else 1 if starts_word else 3 + at - before
        before = at
    return total


def _split_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def match_score(query: str, entry: PaletteEntry) -> int | None:
    """The score of an entry, lower is better; None for no match.

    Matches rank in this order: starts of words of the label, a part of it, the description, scattered letters.
    """
    query_words = _split_words(query)
    if all(any(name.startswith(word) for name in _split_words(entry.text)) for word in query_words):
        return -1 if entry.text.casefold().startswith(query.casefold().strip()) else 0
    in_label = score(query, entry.text)
    if in_label is not None and "".join(query_words) in "".join(_split_words(entry.text)):
        return 1 + in_label
    description = f"{entry.menu} {entry.tip}"
    in_description = score(query, description) if query.casefold() in description.casefold() else None
    if in_description is not None:
        return IN_DESCRIPTION + in_description
    return None if in_label is None else SCATTERED_LETTERS + in_label


class _MatchModel(QSortFilterProxyModel):
    """The entries that match what was typed, best first."""

    def __init__(self, entries: list[PaletteEntry], parent: QObject) -> None:
        super().__init__(parent)
        self._entries = entries
        self._scores: list[int | None] = [0] * len(entries)
        model = QStandardItemModel(0, len(HEADINGS), self)
        model.setHorizontalHeaderLabels(list(HEADINGS))
        for entry in entries:
            model.appendRow([_item(text, entry.tip) for text in (entry.text, entry.keys, entry.menu)])
        self.setSourceModel(model)
        self.setDynamicSortFilter(True)
        self.sort(0)

    def filter(self, query: str) -> None:
        self._scores = [match_score(query, entry) for entry in self._entries]
        self.invalidate()

    def name(self, row: int) -> str:
        return self._entries[self.mapToSource(self.index(row, 0)).row()].name

    def filterAcceptsRow(self, row: int, _: object) -> bool:
        return self._scores[row] is not None

    def lessThan(self, left: object, right: object) -> bool:
        rows = (left.row(), right.row())  # type: ignore[attr-defined]
        return (self._scores[rows[0]] or 0, rows[0]) < (self._scores[rows[1]] or 0, rows[1])


def _item(text: str, tip: str) -> QStandardItem:
    item = QStandardItem(text)
    item.setEditable(False)
    item.setToolTip(tip)
    return item


class _Table(QTreeView):
    """The table of matching entries."""

    def __init__(self, entries: list[PaletteEntry]) -> None:
        super().__init__()
        self.matches = _MatchModel(entries, self)
        self.setModel(self.matches)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.header().setStretchLastSection(False)
        self.filter("")

    def filter(self, query: str) -> None:
        """Show the matching entries and select the best."""
        self.matches.filter(query)
        self.setCurrentIndex(self.matches.index(0, 0))
        self.scrollToTop()


class _PaletteDialog(Dialog):
    """A dialog with a search field above a table of entries."""

    def __init__(self, parent: QWidget, title: str, entries: list[PaletteEntry], *, closes: bool = False) -> None:
        super().__init__(parent, title)
        self.resize(*SIZE)
        hint = "Type part of a command's name"
        self.query = dressed(QLineEdit(placeholderText=hint, clearButtonEnabled=True), "Command to find")
        self.table = dressed(_Table(entries), "Actions")
        self.results = Emptiable(self.table)
        self.results.show_view(self.table)
        self.query.textChanged.connect(self._filter)
        self.query.installEventFilter(self)
        in_column(self.query, self.results, *([self.buttons] if closes else ()), on=self, edge=EDGE, gap=2 * GRID)
        self.query.setFocus()

    def _filter(self, query: str) -> None:
        self.table.filter(query)
        if self.table.matches.rowCount():
            self.results.show_view(self.table)
        else:
            self.results.show_sentence(f"No match: no command is called “{visible(query.strip())}”.")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt override: pass keys that move in the table from the field on to it."""
        moves = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
        is_press = watched is self.query and event.type() is QEvent.Type.KeyPress
        if is_press and isinstance(event, QKeyEvent) and event.key() in moves:
            self.table.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)


class CommandPalette(_PaletteDialog):
    """Runs the chosen command or setting. Disabled actions are left out."""

    def __init__(
        self, parent: QWidget, actions: Mapping[str, QAction], extra: Mapping[PaletteEntry, Callable[[], object]] = {}
    ) -> None:
        enabled = [entry for entry in command_entries(actions) if actions[entry.name].isEnabled()]
        super().__init__(parent, "Commands", [*enabled, *extra])
        self._calls: dict[str, Callable[[], object]] = {entry.name: actions[entry.name].trigger for entry in enabled}
        self._calls |= {entry.name: call for entry, call in extra.items()}
        self.query.returnPressed.connect(self._run)
        self.table.activated.connect(lambda _: self._run())

    def _run(self) -> None:
        index = self.table.currentIndex()
        if index.isValid():
            call = self._calls[self.table.matches.name(index.row())]
            self.accept()
            call()


class KeysTable(_PaletteDialog):
    """A table of all actions with their keys."""

    def __init__(self, parent: QWidget, actions: Mapping[str, QAction]) -> None:
        super().__init__(parent, "Keyboard Shortcuts", command_entries(actions), closes=True)
