"""Notes on spans: made from the selection, outlined and named, and in reports."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QInputDialog
from pytestqt.qtbot import QtBot

from inspector.core.span import Span
from inspector.gui.app.actions.bookmarks import Bookmark
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.operations.protocol.check_views import ReportKind
from tests.gui.conftest import Show, dialog_of, press, settle


def noted(tab: Tab, window: Window, qtbot: QtBot, start: int, stop: int, text: str) -> None:
    """Select bytes and keep a note on them."""
    tab.document.go_to(0, start, stop)
    settle(qtbot, window)
    press(window, "add_bookmark")
    dialog = dialog_of(window, QInputDialog)
    assert isinstance(dialog, QInputDialog)
    dialog.setTextValue(text)
    dialog.accept()
    settle(qtbot, window)


def kept(tab: Tab, window: Window) -> list[Bookmark]:
    return window.bookmarks.of(tab.document)


def test_a_note_on_selected_bytes_is_named_beside_them_and_keeps_its_span(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("journey.caf")
    noted(tab, window, qtbot, 20, 60, "strange\x07 bytes")
    assert kept(tab, window) == [Bookmark(0, 20, "strange\x07 bytes", 40)]
    brackets = [each for each in tab.hex_pane.hex.lane.brackets if each.structure.label.startswith("✎ strange")]
    assert [(each.structure.start, each.structure.stop) for each in brackets] == [(20, 60)]
    assert "\x07" not in brackets[0].structure.label

    tab.document.select_byte(0, 200, "test")
    settle(qtbot, window)
    tab.hex_pane.hex.lane.chosen.emit(brackets[0].structure)
    settle(qtbot, window)
    assert tab.hex_pane.hex.selection() == Span(20, 60)

    tab.document.select_byte(0, 20, "test")
    settle(qtbot, window)
    press(window, "add_bookmark")
    dialog = dialog_of(window, QInputDialog)
    assert isinstance(dialog, QInputDialog)
    assert dialog.textValue() == "strange\x07 bytes"
    dialog.setTextValue("two")
    dialog.accept()
    settle(qtbot, window)
    assert kept(tab, window) == [Bookmark(0, 20, "two", 40)]


def test_notes_stand_in_reports_unless_they_are_redacted(
    show: Show, window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    tab = show("journey.caf")
    noted(tab, window, qtbot, 20, 60, "odd <b> bytes")
    for redact in (False, True):
        path = tmp_path / f"report-{redact}.html"
        tab.save_flow.write_report(str(path), ReportKind.HTML, redact)
        settle(qtbot, window)
        text = path.read_text("utf-8")
        assert ("odd &lt;b&gt; bytes" in text) is not redact
        assert "0x14..0x3c" in text or redact
