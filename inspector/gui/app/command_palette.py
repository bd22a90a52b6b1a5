"""The command palette: type part of a command's name, press Enter to run it. It is the table of shortcuts too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit, QTableView, QWidget

from inspector.core.names import visible
from inspector.gui.app.actions.actions import MENU_OF
from inspector.gui.app.tabs import Tabs
from inspector.gui.kit import preferences
from inspector.gui.kit.building import Dialog, dressed, in_column
from inspector.gui.kit.listing import ListView, Rows
from inspector.gui.kit.style import EDGE, GRID
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.text import without_marks
from inspector.gui.kit.widgets import Emptiable

SIZE = (620, 420)
_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class PaletteEntry(NamedTuple):
    """One entry of the palette, an action or a setting, and what runs it."""

    text: str
    keys: str
    menu: str
    tip: str
    run: Callable[[], object]


COLUMNS = (
    Column("Action", lambda entry: entry.text, tip=lambda entry: entry.tip),
    Column("Keys", lambda entry: entry.keys, 130),
    Column("Menu", lambda entry: entry.menu, 150),
)


def command_entries(actions: Mapping[str, QAction]) -> Iterator[PaletteEntry]:
    """All actions in the order of the menus, with their keys on this platform."""
    for name, action in actions.items():
        keys = ", ".join(key.toString(QKeySequence.SequenceFormat.NativeText) for key in action.shortcuts())
        text = without_marks(action.text()).rstrip("…")
        yield PaletteEntry(text, keys, MENU_OF[name], action.statusTip(), action.trigger)


def setting_entries(show: Callable[[str], object]) -> Iterator[PaletteEntry]:
    """An entry for each setting, which shows it in the dialog."""
    for setting in preferences.ALL:
        yield PaletteEntry(setting.label, "", f"Settings, {setting.page}", setting.tip, partial(show, setting.key))


def tab_entries(tabs: Tabs) -> Iterator[PaletteEntry]:
    """An entry for each tab, which shows it."""
    for at, page in enumerate(tabs.pages()):
        title = tabs.tabText(at).replace("&&", "&")
        yield PaletteEntry(title, "", "", visible(page.location), partial(tabs.setCurrentWidget, page))


def rank(query: str, entry: PaletteEntry) -> int | None:
    """How well an entry matches what was typed, lower is better; None unless it has all the words.

    Matches rank in this order: the start of the label, starts of its words, a part of it, the description.
    """
    words, label = query.casefold().split(), entry.text.casefold()
    description = f"{label} {entry.menu} {entry.tip}".casefold()
    if label.startswith(" ".join(words)):
        return 0
    if all(re.search(rf"\b{re.escape(word)}", label) for word in words):
        return 1
    if all(word in label for word in words):
        return 2
    return 3 if all(word in description for word in words) else None


class CommandPalette(Dialog):
    """A search field above a table of entries; the chosen one is run."""

    def __init__(self, parent: QWidget, title: str, entries: list[PaletteEntry]) -> None:
        super().__init__(parent, title)
        self.resize(*SIZE)
        self._entries = entries
        hint = "Type part of a command's name"
        self.query = dressed(QLineEdit(placeholderText=hint, clearButtonEnabled=True), "Command to find")
        self.matches = Rows(COLUMNS, self)
        self.table = ListView(self.matches, "Actions", stretched=0)
        self.table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.results = Emptiable(self.table)
        in_column(self.query, self.results, on=self, edge=EDGE, gap=2 * GRID)
        self.query.textChanged.connect(self._filter)
        self.query.returnPressed.connect(lambda: self._run(self.table.row()))
        self.query.installEventFilter(self)
        self.table.activated.connect(self.table.each_row(self._run))
        self.query.setFocus()
        self._filter("")

    def _filter(self, query: str) -> None:
        """Show the matching entries, best first, and select the first."""
        ranked = [(found, entry) for entry in self._entries if (found := rank(query, entry)) is not None]
        self.matches.show(entry for _, entry in sorted(ranked, key=lambda each: each[0]))
        if ranked:
            self.table.setCurrentIndex(self.matches.index(0, 0))
            self.results.show_view(self.table)
        else:
            self.results.show_sentence(f"No match: no command is called “{visible(query.strip())}”.")

    def _run(self, entry: PaletteEntry | None) -> None:
        if entry is not None:
            self.accept()
            entry.run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt override: pass keys that move in the table from the field on to it."""
        is_press = watched is self.query and event.type() is QEvent.Type.KeyPress
        if is_press and isinstance(event, QKeyEvent) and event.key() in _MOVES:
            self.table.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)
