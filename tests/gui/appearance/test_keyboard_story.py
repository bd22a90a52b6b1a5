"""One piece of work from opening an archive to closing it, with nothing but keys.

Keys go to whatever has the keyboard at the time: what they did is looked at, but nothing is set or called.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QWidget
from pytestqt.qtbot import QtBot

from inspector.gui.app.command_palette import CommandPalette
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.dialogs.extract import ExtractDialog
from inspector.gui.dialogs.open_location import OpenLocationDialog
from inspector.gui.panels.members import MembersPanel
from inspector.operations.protocol.views import LayerKind
from tests.gui.conftest import WAIT, settle

K, M = Qt.Key, Qt.KeyboardModifier
STORED = 45
"""The offset in the first entry of the TACO header."""


class Hands:
    """Two hands on a keyboard, and eyes on the window."""

    def __init__(self, window: Window, qtbot: QtBot) -> None:
        self.window = window
        self.qtbot = qtbot

    @property
    def at(self) -> QWidget:
        """What has the keyboard."""
        found = QApplication.activePopupWidget() or QApplication.focusWidget()
        assert found is not None
        return found

    @property
    def tab(self) -> Tab:
        found = self.window.tab()
        assert found is not None
        return found

    def press(self, key: K, modifiers: M = M.NoModifier, times: int = 1) -> None:
        for _ in range(times):
            QTest.keyClick(self.at, key, modifiers)
        QApplication.processEvents()

    def write(self, text: str) -> None:
        QTest.keyClicks(self.at, text)

    def replace(self, text: str) -> None:
        self.press(K.Key_A, M.ControlModifier)
        self.write(text)

    def wait(self, until: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(until, timeout=WAIT)

    def settle(self) -> None:
        settle(self.qtbot, self.window)

    def holds(self, kind: type[QWidget]) -> bool:
        """Whether the keyboard is in a window of a kind."""
        if QApplication.activeWindow() is None:
            self.window.activateWindow()  # what a window manager does when a dialog goes
        found = QApplication.activePopupWidget() or QApplication.focusWidget()
        return found is not None and isinstance(found.window(), kind)

    def dialog(self, kind: type[QWidget]) -> QWidget:
        """The dialog of a kind, once it has the keyboard."""
        self.wait(lambda: self.holds(kind))
        return self.at.window()

    def command(self, words: str) -> None:
        """Find an action by its name and do it."""
        self.press(K.Key_P, M.ControlModifier | M.ShiftModifier)
        self.dialog(CommandPalette)
        self.write(words)
        self.press(K.Key_Return)
        self.wait(lambda: self.holds(Window))
        self.settle()

    def tab_to(self, widget: QWidget, backwards: bool = False) -> None:
        """Go on with Tab until a widget has the keyboard."""
        for _ in range(60):
            if widget.hasFocus():
                return
            self.press(K.Key_Backtab if backwards else K.Key_Tab)
        raise AssertionError(f"Tab does not lead to {widget.accessibleName() or type(widget).__name__}.")


@pytest.fixture
def hands(window: Window, qtbot: QtBot) -> Hands:
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)
    return Hands(window, qtbot)


@pytest.fixture
def archive(tmp_path: Path, sample: Callable[[str], Path]) -> Path:
    path = tmp_path / "tiles.tacozip"
    shutil.copyfile(sample("flipped-member-byte.tacozip"), path)
    return path


def opens(hands: Hands, archive: Path) -> None:
    hands.press(K.Key_L, M.ControlModifier)
    hands.dialog(OpenLocationDialog)
    hands.replace(str(archive))
    hands.press(K.Key_Return)
    hands.wait(lambda: hands.window.tab() is not None and hands.holds(Window))
    hands.settle()


def finds_a_member(hands: Hands) -> None:
    hands.press(K.Key_F, M.ControlModifier | M.ShiftModifier)
    hands.write("tile_0002")
    panel: MembersPanel = hands.tab.members
    hands.wait(lambda: hands.tab.document.filter == "tile_0002")
    hands.settle()
    hands.tab_to(panel.view)
    hands.press(K.Key_Down)
    hands.press(K.Key_Right, times=2)  # open its folder, and go to what is in it
    hands.settle()
    assert hands.tab.document.selection.member is not None
    hands.press(K.Key_F, M.ControlModifier | M.ShiftModifier)
    hands.press(K.Key_A, M.ControlModifier)
    hands.press(K.Key_Delete)
    hands.wait(lambda: hands.tab.document.filter == "")
    hands.settle()


def shows_content_and_comes_back(hands: Hands) -> None:
    hands.press(K.Key_Return, M.ControlModifier)
    document = hands.tab.document
    hands.wait(lambda: document.content is not None)
    hands.settle()
    info = document.layer_info(document.layer)
    assert info is not None
    assert info.kind is LayerKind.CONTENT
    hands.press(K.Key_Left, M.AltModifier)
    hands.settle()
    assert document.layer == 0


def goes_through_fields_and_bytes(hands: Hands) -> None:
    hands.press(K.Key_2, M.AltModifier)
    hands.press(K.Key_Home)
    hands.press(K.Key_Right, times=2)
    hands.settle()
    tab = hands.tab
    assert tab.document.selection.field is not None
    for _ in range(9):
        if tab.hex_pane.hex.hasFocus():
            break
        hands.press(K.Key_F6)
    caret = tab.hex_pane.hex.caret()
    hands.press(K.Key_Down)
    assert tab.hex_pane.hex.caret() == caret + tab.hex_pane.hex.bytesPerRow()


def follows_a_reference(hands: Hands) -> None:
    hands.press(K.Key_G, M.ControlModifier)
    hands.replace(str(STORED))
    hands.press(K.Key_Return)
    hands.settle()
    document = hands.tab.document
    assert document.selection.caret == STORED
    hands.press(K.Key_F12)
    hands.settle()
    assert document.selection.caret > STORED
    hands.press(K.Key_F12, M.ShiftModifier)
    hands.settle()
    assert document.selection.caret == STORED


def checks_and_sees_what_is_wrong(hands: Hands) -> None:
    hands.press(K.Key_K, M.ControlModifier)
    hands.wait(lambda: hands.tab.document.status.checked)
    hands.settle()
    hands.press(K.Key_F4)
    hands.settle()
    assert hands.tab.document.selection.wrong
    hands.press(K.Key_5, M.AltModifier)
    hands.press(K.Key_Down)
    hands.settle()
    assert hands.tab.docks["Digests"].isAncestorOf(hands.at)
    assert hands.tab.document.selection.stored


def edits_the_header(hands: Hands) -> None:
    hands.press(K.Key_H, M.ControlModifier | M.ShiftModifier)
    hands.settle()
    hands.press(K.Key_Home)
    hands.press(K.Key_Right)
    hands.press(K.Key_F2)
    hands.wait(lambda: isinstance(hands.at, QLineEdit))
    hands.replace("4242")
    hands.press(K.Key_Return)
    hands.wait(lambda: hands.tab.editing.pending is not None and not hands.tab.editing.previewing)
    hands.settle()
    hands.press(K.Key_7, M.AltModifier)
    assert hands.tab.docks["Changes"].isAncestorOf(hands.at)
    assert hands.tab.changes.stack.shown_sentence() == ""


def undoes_redoes_writes_and_takes_back(hands: Hands, archive: Path) -> None:
    before = archive.read_bytes()
    editing = hands.tab.editing
    hands.press(K.Key_Z, M.ControlModifier)
    hands.wait(lambda: editing.pending is None and not editing.previewing)
    hands.press(K.Key_Y, M.ControlModifier)
    hands.wait(lambda: editing.pending is not None and not editing.previewing)
    hands.settle()
    hands.press(K.Key_S, M.ControlModifier)
    hands.settle()
    assert archive.read_bytes() == before, "the writes are shown first"
    hands.press(K.Key_S, M.ControlModifier)
    hands.wait(lambda: editing.pending is None)
    hands.settle()
    assert (4242).to_bytes(8, "little") in archive.read_bytes()
    hands.command("take back")
    hands.wait(lambda: archive.read_bytes() == before)
    hands.settle()


def extracts(hands: Hands, folder: Path) -> None:
    hands.press(K.Key_E, M.ControlModifier)
    dialog = hands.dialog(ExtractDialog)
    assert isinstance(dialog, ExtractDialog)
    hands.tab_to(dialog.folder)
    hands.replace(str(folder))
    hands.wait(lambda: dialog.plan is not None and dialog.answer.isEnabled())
    hands.press(K.Key_Return)
    hands.wait(lambda: hands.holds(Window))
    hands.wait((folder / "COLLECTION.json").exists)
    hands.settle()


def closes(hands: Hands) -> None:
    hands.press(K.Key_F, M.AltModifier)
    hands.wait(lambda: isinstance(hands.at, QMenu))
    hands.press(K.Key_C)
    hands.wait(lambda: hands.window.tab() is None)


@pytest.mark.qt_log_ignore("does not support raise", "does not support grabbing", extend=True)
def test_from_opening_to_closing_with_keys_alone(hands: Hands, archive: Path, tmp_path: Path) -> None:
    opens(hands, archive)
    finds_a_member(hands)
    shows_content_and_comes_back(hands)
    goes_through_fields_and_bytes(hands)
    follows_a_reference(hands)
    checks_and_sees_what_is_wrong(hands)
    edits_the_header(hands)
    undoes_redoes_writes_and_takes_back(hands, archive)
    extracts(hands, tmp_path / "out")
    closes(hands)
