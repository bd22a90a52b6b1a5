"""One visual language: rows of one height, one surface for all panels, native controls where the system has its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QTableView, QTreeView
from pytestqt.qtbot import QtBot

from inspector.drawing.palette import Scheme
from inspector.gui.app.window import Window
from inspector.gui.kit import style, theme
from inspector.gui.kit.style import GRID, row_height
from inspector.gui.kit.text import BREAK, DIGEST_GAP, DIGEST_GROUP, MAX_WORD, breakable, without_breaks
from tests.gui.conftest import Show, settle


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_controls_are_those_of_the_system_where_it_has_its_own(system: str) -> None:
    assert theme.is_native(system)
    assert theme.style_arguments(system) == ()
    assert theme.style_arguments("linux") == ("-style", "fusion")
    tokens = theme.tokens(Scheme.LIGHT)
    whole, ours = style.sheet(tokens, contrast=False, native=False), style.sheet(tokens, contrast=False, native=True)
    for control in ("QPushButton", "QLineEdit", "QComboBox", "QCheckBox", "QAbstractSpinBox", "QToolButton"):
        assert control in whole
        assert control not in ours
    assert "QHeaderView" in ours


def test_rows_and_icons_of_panels_have_one_height_no_frame_and_no_style_sheet_of_their_own(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("two-entries.tacozip")
    settle(qtbot, window)
    wanted = row_height(tab)
    assert wanted % GRID == 0
    for tree in (tab.members.tree, tab.structure.tree):
        assert tree.visualRect(tree.model().index(0, 0)).height() == wanted
    for dock in tab.docks.values():
        views = [*dock.findChildren(QTreeView), *dock.findChildren(QTableView)]
        assert {view.iconSize().height() for view in views} <= {style.ICON_PX, -1}
    roles = (QPalette.ColorRole.Base, QPalette.ColorRole.AlternateBase)
    surface = {window.palette().color(role).name() for role in roles}
    for panel in (tab.members, tab.structure):
        picture = panel.grab().toImage()
        tree = panel.tree
        edge = tree.mapTo(panel, tree.rect().bottomLeft())
        assert {picture.pixelColor(edge.x(), y).name() for y in range(edge.y() - 8, edge.y())} <= surface
    assert [each for each in QApplication.allWidgets() if each.styleSheet()] == [], "only the program has one"


# ---- line breaks in long words ---------------------------------------------------------------------------------------


TEXTS = st.text(st.characters(exclude_characters=BREAK), max_size=200)


@given(TEXTS)
def test_what_is_broken_is_whole_again(text: str) -> None:
    assert without_breaks(breakable(text)) == text


@given(TEXTS)
def test_no_word_stays_too_long(text: str) -> None:
    assert max((len(word) for word in breakable(text).replace(BREAK, " ").split()), default=0) <= MAX_WORD


@given(st.binary(min_size=16, max_size=64))
def test_digests_are_groups_of_digits(digest: bytes) -> None:
    text = "a0" + digest.hex()
    groups = breakable(f"hash {text}.").removeprefix("hash ").removesuffix(".").split(DIGEST_GAP)
    assert "".join(groups) == text
    assert {len(group) for group in groups[:-1]} == {DIGEST_GROUP}


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("specification", ["specification"]),
        ("incomprehensibility", ["incomprehensibility"]),
        ("a/folder/with/a-name.caf", ["a/", "folder/", "with/", "a-", "name.", "caf"]),
        ("0x0123456789abcdef0", ["0x0123456789abcdef0"]),
        ("1234567890123456789", ["1234567890123456789"]),
    ],
)
def test_words_are_broken_behind_separators_only(text: str, pieces: list[str]) -> None:
    assert breakable(text).split(BREAK) == pieces
