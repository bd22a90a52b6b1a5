"""Actions: each in one menu, explained, and possible when what it needs is there; and menus that messages name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QMenu,
    QMenuBar,
    QTableView,
    QTreeView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector.core.kinds import declared_kinds
from inspector.core.program.hints import Hint
from inspector.gui.app.actions.actions import ACTIONS, MENU_OF
from inspector.gui.app.command_palette import command_entries, rank, setting_entries
from inspector.gui.app.window import Window
from inspector.gui.ipc.worker import HINT_TEXTS
from inspector.gui.kit.help_texts import COLUMNS, PANEL_LABELS, PANELS
from inspector.gui.panels.s3_connection import ConnectionForm
from inspector.gui.tabs.new_archive import NewArchiveTab
from tests.gui.conftest import Show, every_panel, press, settle


def test_each_has_a_name_of_its_own_and_what_it_does_is_there(window: Window) -> None:
    names = [row.name for row in ACTIONS]
    assert sorted(names) == sorted(set(names))
    named = [each for row in ACTIONS for each in (row.does, row.enabled) if isinstance(each, str)]
    assert len(named) > 30
    for each in named:
        attrgetter(each)(window)


def test_each_can_be_done_when_what_it_needs_is_there(window: Window, show: Show, qtbot: QtBot) -> None:
    def possible(*names: str) -> list[bool]:
        return [window.actions_[name].isEnabled() for name in names]

    assert possible("open_files", "close_tab", "check", "reload", "write", "show_content") == [True, *[False] * 5]
    press(window, "new_audit")
    assert possible("close_tab", "check", "reload") == [True, False, False]
    tab = show("journey.caf")
    assert possible("close_tab", "check", "reload", "write", "back") == [True, True, True, False, False]
    tab.document.go_to(0, 500, 501)
    tab.document.select_member(0, "test")
    settle(qtbot, window)
    assert possible("show_content", "back") == [True, True]


# ---- what messages name ----------------------------------------------------------------------------------------------


TITLES = {f"{MENU_OF[command.name]} > {command.text.replace('&', '').rstrip('…')}" for command in ACTIONS}


def test_every_menu_named_exists() -> None:
    named = {part for word in HINT_TEXTS.values() for part in word.split(", in ") if " > " in part}
    assert named
    assert named <= TITLES


def entries(menu: QMenu | QMenuBar, path: str = "") -> Iterator[str]:
    """The path of each entry, "Debug > Reader > Next Step", with what is filled in when a menu opens."""
    if isinstance(menu, QMenu):
        menu.aboutToShow.emit()
    for action in menu.actions():
        here = f"{path}{action.text().replace('&', '').rstrip('…')}"
        yield here
        if (inner := action.menu()) is not None:
            assert isinstance(inner, QMenu)
            yield from entries(inner, f"{here} > ")


def test_what_documents_and_sentences_call_a_menu_and_its_item_is_there(window: Window, show: Show) -> None:
    show("journey.caf")
    there = tuple(entries(window.menuBar()))
    top = [f"{action.text().replace('&', '')} > " for action in window.menuBar().actions()]
    root = ROOT.parents[1]
    named = 0
    pages = (root / "README.md", *(root / "resources" / "manual").glob("*.md"))
    for path in (*pages, *(root / "inspector" / "gui").rglob("*.py")):
        text = path.read_text(encoding="utf-8").replace("*", "")
        for begin in re.finditer(rf"(?<![\w>] )\b({'|'.join(top)})(?=[A-Z])", text):
            said = text[begin.start() : begin.start() + 80]
            assert said.startswith(tuple(each for each in there if " > " in each)), f"{path.name}: {said}"
            named += 1
    assert named > 25


def test_the_menus_are_short_and_begin_with_what_is_done_most(window: Window) -> None:
    """A menu is read, not searched: at most 65 entries in those of the bar, submenus counted as one."""
    tops = {action.text().replace("&", ""): action.menu() for action in window.menuBar().actions()}
    listed = {
        name: [each.text().replace("&", "").rstrip("…") for each in menu.actions() if not each.isSeparator()]
        for name, menu in tops.items()
        if isinstance(menu, QMenu)
    }
    assert list(listed) == ["File", "Edit", "View", "Go", "Archive", "Debug", "Help"]
    assert sum(map(len, listed.values())) <= 65
    assert listed["Archive"][:4] == ["Check", "Extract", "Plan Repairs", "TACO Header"]
    assert set(listed["Debug"]) == {"Show Diagram", "Byte Bands", "Reader", "Replay", "Experiment"}


def test_f11_fills_the_screen_and_gives_it_back(window: Window) -> None:
    press(window, "toggle_full_screen")
    assert window.isFullScreen()
    press(window, "toggle_full_screen")
    assert not window.isFullScreen()


def test_chords_of_the_program_win_in_its_fields_and_those_that_edit_text_do_not(window: Window, show: Show) -> None:
    tab = show("journey.caf")
    window.activateWindow()
    for field in (tab.members.filter, window.tool_bar.go_to, window.tool_bar.find_text):
        field.setFocus()
        taken = {}
        for key in (Qt.Key.Key_E, Qt.Key.Key_K, Qt.Key.Key_A, Qt.Key.Key_Z):
            event = QKeyEvent(QEvent.Type.ShortcutOverride, key, Qt.KeyboardModifier.ControlModifier)
            event.ignore()
            QApplication.sendEvent(field, event)
            taken[key] = event.isAccepted()
        assert list(taken.values()) == [False, False, True, True], field.accessibleName()


def test_the_palette_finds_what_is_called_otherwise(window: Window) -> None:
    entries = [*command_entries(window.actions_), *setting_entries(print)]
    for word, wanted in (("revert", "Take Back Last Write"), ("roll back", "Take Back Last Write"), ("crc", "Check")):
        ranked = sorted((found, at) for at, each in enumerate(entries) if (found := rank(word, each)) is not None)
        assert entries[ranked[0][1]].text == wanted, word


def test_every_box_named_exists(window: Window) -> None:
    window.archives.new_archive()
    tab = window.tabs.currentWidget()
    assert isinstance(tab, NewArchiveTab)
    labels = [button.text().replace("&", "") for button in tab.findChildren(QAbstractButton)]
    for hint in (Hint.OVERWRITE, Hint.FIRST_KEY):
        assert any(label.startswith(HINT_TEXTS[hint]) for label in labels), hint


def test_the_form_says_how_to_ask_without_signing(window: Window) -> None:
    form = ConnectionForm()
    form.setParent(window)
    assert form.fields["anonymous"].text().replace("&", "").startswith(HINT_TEXTS[Hint.UNSIGNED].partition(",")[0])


# ---- explanations ----------------------------------------------------------------------------------------------------


ROOT = Path(__file__).parents[3] / "resources" / "samples"


def views(root: QWidget) -> Iterator[QAbstractItemView]:
    for view in (*root.findChildren(QTreeView), *root.findChildren(QTableView)):
        if view.model() is not None and view.model().objectName() and not isinstance(view.model(), QStandardItemModel):
            yield view


def test_every_column_of_every_view_is_explained(show: Show, window: Window) -> None:
    every_panel(show(ROOT / "weather"))
    for name in ("new_archive", "new_audit", "show_keys"):
        press(window, name)
    seen = set()
    for view in views(window):
        model = view.model()
        seen.add(view.accessibleName())
        for column in range(model.columnCount()):
            title, tip = (
                model.headerData(column, Qt.Orientation.Horizontal, role)
                for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
            )
            where = f"COLUMNS[{view.accessibleName()!r}] of inspector/gui/kit/help_texts.py"
            assert tip, f"{where} does not say what {title!r} holds."
    assert seen >= set(COLUMNS)


def test_every_action_panel_and_kind_of_field_says_what_it_is(window: Window) -> None:
    assert [action.name for action in ACTIONS if not window.actions_[action.name].toolTip()] == []
    assert set(PANELS) == set(PANEL_LABELS)
    assert all(text.endswith(".") for text in (*(kind.meaning for kind in declared_kinds()), *PANELS.values()))
