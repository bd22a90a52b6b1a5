"""One document in the window, driven as a person drives it, with the real worker behind it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from inspector.core.span import Span
from inspector.gui.app.window import Window
from inspector.gui.hex.layer_bar import Mode
from inspector.gui.panels.members import NAME, SIZE
from inspector.operations.protocol.views import LayerKind
from tests.gui.conftest import WAIT, Show, press, settle

Sample = Callable[[str], Path]


def test_nothing_open_shows_the_start_page_with_samples(window: Window, qtbot: QtBot) -> None:
    assert window.start_page.isVisible()
    assert not window.actions_["find_next"].isEnabled()
    qtbot.waitUntil(lambda: bool(window.start_page.sample_entries), timeout=WAIT)
    titles = [label.text() for label in window.start_page.findChildren(QLabel) if label.isVisible()]
    assert "Recent" not in titles  # nothing has been opened yet
    with qtbot.waitSignal(window.start_page.chosen) as chosen:
        window.start_page.sample_entries[0].click()
    assert chosen.args is not None
    tab = window.tab()
    assert tab is not None
    assert tab.document.location == chosen.args[0]
    assert not window.start_page.isVisible()


def test_a_file_opens_with_members_fields_and_bytes(show: Show, window: Window) -> None:
    tab = show("journey.caf")
    assert "CAF" in tab.banner.state.text()
    assert "8 members" in tab.banner.state.text()
    assert tab.members.tree_model.rowCount() > 0
    assert [tab.structure.model.index(i, 0).data() for i in range(3)] == ["data section", "index", "footer"]
    assert tab.hex_pane.hex.model().size == tab.document.size
    assert window.windowTitle().startswith("journey.caf")
    assert window.settings.recent == [tab.document.location]


def test_selecting_a_member_moves_bytes_and_structure(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("journey.caf")
    tab.members.as_table.click()
    index = tab.members.table_model.index(2, NAME)
    name = index.data()
    tab.members.table.setCurrentIndex(index)
    settle(qtbot, window)
    selection = tab.document.selection
    assert selection.member == 2
    assert tab.hex_pane.hex.caret() == selection.caret > 0
    row = tab.structure.model.row(tab.structure.tree.currentIndex())
    assert row is not None
    assert (row.path, row.member) == (selection.field, 2)
    assert name in tab.byte.facts["Member"].plain_text()


def test_selecting_a_field_moves_bytes(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("journey.caf")
    footer = tab.structure.model.index(2, 0)
    tab.structure.tree.setCurrentIndex(footer)
    settle(qtbot, window)
    assert tab.hex_pane.hex.caret() == tab.document.size - 4
    assert tab.document.selection.spans == (Span(tab.document.size - 4, tab.document.size),)
    assert tab.structure.model.row(tab.structure.tree.currentIndex()).name == "footer"
    assert "footer" in window.status_line.path.text()
    assert tab.byte.title.text() == "footer"


def test_moving_the_caret_moves_field_and_member(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("journey.caf")
    view = tab.hex_pane.hex
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot, window)
    assert tab.document.selection.caret == tab.document.size - 1
    assert tab.structure.model.row(tab.structure.tree.currentIndex()).name == "footer"
    assert not tab.members.tree.currentIndex().isValid()
    qtbot.keyClick(view, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot, window)
    assert tab.document.selection.member == 0
    assert tab.members.tree_model.row(tab.members.tree.currentIndex()).member.index == 0
    assert window.status_line.offset.text() == "0x00000000 (0)"


def test_going_back_and_forth(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("journey.caf")
    press(window, "go_to")
    assert window.focusWidget() is window.tool_bar.go_to
    qtbot.keyClicks(window.tool_bar.go_to, "footer")
    qtbot.keyClick(window.tool_bar.go_to, Qt.Key.Key_Return)
    settle(qtbot, window)
    assert tab.hex_pane.hex.caret() == tab.document.size - 4
    assert window.actions_["back"].isEnabled()
    assert not window.actions_["forward"].isEnabled()
    press(window, "back")
    settle(qtbot, window)
    assert tab.hex_pane.hex.caret() == 0
    press(window, "forward")
    settle(qtbot, window)
    assert tab.hex_pane.hex.caret() == tab.document.size - 4


def test_nonsense_to_go_to_is_answered_with_a_sentence(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("journey.caf")
    window.tool_bar.go_to.setText("nowhere at all")
    qtbot.keyClick(window.tool_bar.go_to, Qt.Key.Key_Return)
    settle(qtbot, window)
    assert tab.note.isVisible()
    assert "nowhere at all" in tab.note.text.text()


@pytest.mark.parametrize(("mode", "typed"), [("Text", "start_byte"), ("Hex", "73 74 61 72 74 5f 62 79 74 65")])
def test_finding_text_and_hex(show: Show, window: Window, qtbot: QtBot, sample: Sample, mode: str, typed: str) -> None:
    tab = show("journey.caf")
    at = sample("journey.caf").read_bytes().index(b"start_byte")
    window.tool_bar.mode.setCurrentText(mode)
    press(window, "find_bytes")
    qtbot.keyClicks(window.tool_bar.find_text, typed)
    qtbot.keyClick(window.tool_bar.find_text, Qt.Key.Key_Return)
    settle(qtbot, window)
    assert tab.hex_pane.hex.selection() == Span(at, at + 10)
    assert window.status_line.selection.text() == "selection 10 bytes"


def test_hex_that_is_none_is_answered_with_a_sentence(show: Show, window: Window) -> None:
    tab = show("journey.caf")
    window.tool_bar.mode.setCurrentText("Hex")
    window.tool_bar.find_text.setText("5 G")
    press(window, "find_next")
    assert "pairs of digits" in tab.note.text.text()


def test_copying_bytes_in_every_form(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("two-entries.tacozip")
    tab.hex_pane.hex.goTo(0, 4)
    tab.hex_pane.hex.setFocus()
    clipboard = QGuiApplication.clipboard()
    press(window, "copy")
    qtbot.waitUntil(lambda: clipboard.text() == "50 4B 03 04", timeout=WAIT)
    copies = {action.text(): action for action in window.menus.copying.actions()}
    copies["Python Bytes"].trigger()
    qtbot.waitUntil(lambda: clipboard.text() == repr(b"PK\x03\x04"), timeout=WAIT)


def test_what_is_copied_from_the_byte_panel_is_what_it_says(show: Show, window: Window) -> None:
    tab = show("two-entries.tacozip")
    value = tab.byte.facts["Value"]
    assert value.plain_text() == "0x04034B50"
    value.setFocus()
    press(window, "copy")
    assert QGuiApplication.clipboard().text() == "0x04034B50"


def test_copying_from_a_list_copies_the_cell(show: Show, window: Window) -> None:
    tab = show("journey.caf")
    tab.structure.tree.setCurrentIndex(tab.structure.model.index(1, 0))
    tab.structure.tree.setFocus()
    press(window, "copy")
    assert QGuiApplication.clipboard().text() == "index"


def test_layers_switch(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("two-chunks.rca")
    bar = tab.hex_pane.bar
    bar.kinds[LayerKind.INNER].click()
    settle(qtbot, window)
    info = tab.document.layer_info(tab.document.layer)
    assert info is not None
    assert info.kind is LayerKind.INNER
    assert tab.hex_pane.hex.model().size == info.size < tab.document.layers[0].size
    tab.document.select_member(0, "test")
    settle(qtbot, window)
    bar.kinds[LayerKind.CONTENT].click()
    settle(qtbot, window)
    shown = tab.document.layer_info(tab.document.layer)
    assert shown is not None
    assert (shown.kind, shown.member) == (LayerKind.CONTENT, 0)
    bar.kinds[LayerKind.FILE].click()
    assert tab.document.layer == 0


def test_content_is_shown_as_text_or_as_an_image(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("journey.caf")
    for name, mode in ((".txt", Mode.TEXT), (".png", Mode.IMAGE)):
        rows = range(tab.members.table_model.rowCount())
        row = next(i for i in rows if tab.members.table_model.index(i, 0).data().endswith(name))
        tab.members.table.activated.emit(tab.members.table_model.index(row, 0))
        settle(qtbot, window)
        assert tab.hex_pane.bar.modes[mode].isChecked()
    assert "PNG image" in tab.hex_pane.image.sentence.text()
    assert not tab.hex_pane.image.image.pixmap().isNull()
    assert "lines" in tab.hex_pane.text.sentence.text()
    tab.hex_pane.bar.modes[Mode.HEX].click()
    assert tab.hex_pane.hex.isVisible()


def test_the_filter_filters_as_you_type(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("journey.caf")
    press(window, "filter_members")
    assert window.focusWidget() is tab.members.filter
    qtbot.keyClicks(tab.members.filter, ".png")
    qtbot.waitUntil(lambda: tab.members.table_model.rowCount() < 8, timeout=WAIT)
    settle(qtbot, window)
    model = tab.members.table_model
    assert model.rowCount() > 0
    assert all(".png" in model.index(row, 0).data() for row in range(model.rowCount()))
    tab.members.filter.setText("no such name")
    qtbot.waitUntil(lambda: tab.members.table_model.rowCount() == 0, timeout=WAIT)
    assert "No match" in tab.members.empty_sentence()
    tab.members.filter.clear()
    qtbot.waitUntil(lambda: tab.members.table_model.rowCount() == 8, timeout=WAIT)


def test_a_click_on_a_title_sorts_and_the_third_brings_the_old_order_back(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("journey.caf")
    tab.members.as_table.click()
    model = tab.members.table_model

    def sizes() -> list[int]:
        settle(qtbot, window)
        return [int(model.index(row, SIZE).data().replace(",", "")) for row in range(model.rowCount())]

    before = sizes()
    header = tab.members.table.horizontalHeader()
    header.sectionClicked.emit(SIZE)
    assert sizes() == sorted(before)
    header.sectionClicked.emit(SIZE)
    assert sizes() == sorted(before, reverse=True)
    header.sectionClicked.emit(SIZE)
    assert sizes() == before


def test_findings_lead_to_their_bytes(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("gap.caf")
    assert "1 warning in the structure" in tab.banner.state.text()
    assert tab.docks["Findings"].windowTitle() == "Findings (1)"
    press(window, "next_finding")
    settle(qtbot, window)
    row = tab.findings.model.row(tab.findings.model.index(0, 0))
    assert row is not None
    assert tab.hex_pane.hex.caret() == row.spans[0].start
    assert any(row.message.startswith(said) for said in tab.byte.finding_sentences())


def test_panes_take_the_keyboard_in_turn(show: Show, window: Window) -> None:
    tab = show("flipped-blob-byte.rca")
    tab.hex_pane.hex.setFocus()
    seen = []
    for _ in range(5):
        press(window, "next_pane")
        seen.append(window.focusWidget())
    assert len(set(map(id, seen))) == 5
    assert seen[-1] is tab.hex_pane.hex
