"""The manual in the window."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import Window
from inspector.gui.dialogs.manual import ManualDialog
from inspector.resources import manual_pages
from tests.gui.conftest import press


def manual(window: Window) -> ManualDialog:
    press(window, "show_manual")
    (dialog,) = window.findChildren(ManualDialog)
    return dialog


def test_every_page_is_shown(window: Window) -> None:
    dialog = manual(window)
    assert dialog.pages.count() == len(manual_pages()) >= 4
    for row in range(dialog.pages.count()):
        dialog.pages.setCurrentRow(row)
        assert len(dialog.text.toPlainText()) > 500
        assert "](" not in dialog.text.toPlainText()


def test_a_text_is_found_in_this_page_and_then_in_the_others(window: Window, qtbot: QtBot) -> None:
    dialog = manual(window)
    qtbot.keyClicks(dialog.wanted, "--on-conflict")
    qtbot.keyClick(dialog.wanted, Qt.Key.Key_Return)
    assert dialog.pages.currentItem().text() == "Terminal"
    assert dialog.text.textCursor().selectedText() == "--on-conflict"
    dialog.wanted.setText("no such words anywhere")
    dialog.find_next()
    assert dialog.outcome.text() == "No page has this text."


def test_a_link_leads_to_its_page(window: Window) -> None:
    dialog = manual(window)
    dialog.text.anchorClicked.emit(QUrl("s3.md"))
    assert dialog.pages.currentItem().text() == "S3 and addresses on the web"
