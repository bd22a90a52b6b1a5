"""One document in the window, driven as a person drives it, with the real worker behind it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from inspector.core.span import Span
from inspector.gui.app.window import Window
from inspector.gui.hex.layer_bar import Mode
from inspector.gui.kit.widgets import SelectableLabel
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


def test_a_file_opens_and_what_is_selected_in_one_view_is_selected_in_all(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("journey.caf")
    view, document = tab.hex_pane.hex, tab.document
    assert "CAF" in tab.banner.state.text()
    assert "8 members" in tab.banner.state.text()
    assert tab.members.tree_model.rowCount() > 0
    assert [tab.structure.model.index(i, 0).data() for i in range(3)] == ["data section", "index", "footer"]
    assert view.model.size == document.size
    assert window.windowTitle().startswith("journey.caf")
    assert list(window.settings.recent) == [document.location]

    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot, window)
    assert document.selection.caret == document.size - 1
    assert tab.structure.model.row(tab.structure.tree.currentIndex()).name == "footer"
    assert not tab.members.tree.currentIndex().isValid()
    qtbot.keyClick(view, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot, window)
    assert document.selection.member == 0
    assert tab.members.tree_model.row(tab.members.tree.currentIndex()).member.index == 0
    assert window.status_line.offset.text() == "0x00000000 (0)"

    tab.structure.tree.setCurrentIndex(tab.structure.model.index(2, 0))
    settle(qtbot, window)
    assert view.caret() == document.size - 4
    assert document.selection.spans == (Span(document.size - 4, document.size),)
    assert tab.structure.model.row(tab.structure.tree.currentIndex()).name == "footer"
    assert "footer" in window.status_line.path.text()
    assert tab.byte.title.text() == "footer"

    tab.members.as_table.click()
    index = tab.members.table_model.index(2, NAME)
    name = index.data()
    tab.members.table.setCurrentIndex(index)
    settle(qtbot, window)
    selection = document.selection
    assert selection.member == 2
    assert view.caret() == selection.caret > 0
    row = tab.structure.model.row(tab.structure.tree.currentIndex())
    assert row is not None
    assert (row.path, row.member) == (selection.field, 2)
    assert name in tab.byte.facts["Member"].plain_text()


def test_going_back_and_forth_and_finding_text_and_hex(
    show: Show, window: Window, qtbot: QtBot, sample: Sample
) -> None:
    tab = show("journey.caf")
    view, tools = tab.hex_pane.hex, window.tool_bar
    press(window, "go_to")
    assert window.focusWidget() is tools.go_to
    qtbot.keyClicks(tools.go_to, "footer")
    qtbot.keyClick(tools.go_to, Qt.Key.Key_Return)
    settle(qtbot, window)
    assert view.caret() == tab.document.size - 4
    assert window.actions_["back"].isEnabled()
    assert not window.actions_["forward"].isEnabled()
    for action, caret in (("back", 0), ("forward", tab.document.size - 4)):
        press(window, action)
        settle(qtbot, window)
        assert view.caret() == caret, action

    tools.go_to.setText("nowhere at all")
    qtbot.keyClick(tools.go_to, Qt.Key.Key_Return)
    settle(qtbot, window)
    assert tab.note.isVisible()
    assert "nowhere at all" in tab.note.text.text()

    at = sample("journey.caf").read_bytes().index(b"start_byte")
    for mode, typed in (("Text", "start_byte"), ("Hex", "73 74 61 72 74 5f 62 79 74 65")):
        tab.document.go_to(0, 0, 0)
        settle(qtbot, window)
        tools.mode.setCurrentText(mode)
        press(window, "find_bytes")
        tools.find_text.clear()
        qtbot.keyClicks(tools.find_text, typed)
        qtbot.keyClick(tools.find_text, Qt.Key.Key_Return)
        settle(qtbot, window)
        assert view.selection() == Span(at, at + 10), mode
        assert window.status_line.selection.text() == "selection 10 bytes", mode
    tools.find_text.setText("5 G")
    press(window, "find_next")
    assert "pairs of digits" in tab.note.text.text()


def test_bytes_facts_and_cells_are_copied_as_they_are_shown(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("two-entries.tacozip")
    clipboard = QGuiApplication.clipboard()
    value = tab.byte.facts["Value"]
    assert value.plain_text() == "0x04034b50"
    value.setFocus()
    press(window, "copy")
    assert clipboard.text() == "0x04034b50"

    tab.hex_pane.hex.goTo(0, 4)
    tab.hex_pane.hex.setFocus()
    press(window, "copy")
    qtbot.waitUntil(lambda: clipboard.text() == "50 4B 03 04", timeout=WAIT)
    copies = {action.text(): action for action in window.menus.copying.actions()}
    copies["Text"].trigger()
    qtbot.waitUntil(lambda: clipboard.text() == "PK\x03\x04", timeout=WAIT)

    tab.structure.tree.setCurrentIndex(tab.structure.model.index(1, 0))
    tab.structure.tree.setFocus()
    press(window, "copy")
    assert clipboard.text() == "central directory"


def test_layers_switch(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("two-chunks.rca")
    bar = tab.hex_pane.bar
    bar.kinds[LayerKind.INNER].click()
    settle(qtbot, window)
    info = tab.document.layer_info(tab.document.layer)
    assert info is not None
    assert info.kind is LayerKind.INNER
    assert tab.hex_pane.hex.model.size == info.size < tab.document.layers[0].size
    tab.document.select_member(0, "test")
    settle(qtbot, window)
    bar.kinds[LayerKind.CONTENT].click()
    settle(qtbot, window)
    shown = tab.document.layer_info(tab.document.layer)
    assert shown is not None
    assert (shown.kind, shown.member) == (LayerKind.CONTENT, 0)
    bar.kinds[LayerKind.FILE].click()
    assert tab.document.layer == 0


def test_members_are_filtered_sorted_and_shown_as_text_or_as_an_image(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("journey.caf")
    members, model = tab.members, tab.members.table_model
    press(window, "filter_members")
    assert window.focusWidget() is members.filter
    qtbot.keyClicks(members.filter, ".png")
    qtbot.waitUntil(lambda: model.rowCount() < 8, timeout=WAIT)
    settle(qtbot, window)
    assert model.rowCount() > 0
    assert all(".png" in model.index(row, 0).data() for row in range(model.rowCount()))
    members.filter.setText("no such name")
    qtbot.waitUntil(lambda: model.rowCount() == 0, timeout=WAIT)
    assert "No match" in members.stack.shown_sentence()
    members.filter.clear()
    qtbot.waitUntil(lambda: model.rowCount() == 8, timeout=WAIT)

    def sizes() -> list[int]:
        settle(qtbot, window)
        return [int(model.index(row, SIZE).data().replace(",", "")) for row in range(model.rowCount())]

    members.as_table.click()
    before = sizes()
    header = members.table.horizontalHeader()
    for click, expected in enumerate((sorted(before), sorted(before, reverse=True), before)):
        header.sectionClicked.emit(SIZE)
        assert sizes() == expected, f"after click {click + 1} on the title"

    for name, mode in ((".txt", Mode.TEXT), (".png", Mode.IMAGE)):
        row = next(i for i in range(model.rowCount()) if model.index(i, 0).data().endswith(name))
        members.table.activated.emit(model.index(row, 0))
        settle(qtbot, window)
        assert tab.hex_pane.bar.modes[mode].isChecked()
    assert "PNG image" in tab.hex_pane.image.sentence.text()
    assert not tab.hex_pane.image.image.pixmap().isNull()
    assert "lines" in tab.hex_pane.text.sentence.text()
    tab.hex_pane.bar.modes[Mode.HEX].click()
    assert tab.hex_pane.hex.isVisible()


def test_findings_lead_to_their_bytes_and_panes_take_the_keyboard_in_turn(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("gap.caf")
    assert "1 warning in the structure" in tab.banner.state.text()
    assert tab.docks["Findings"].windowTitle() == "Findings (1)"
    press(window, "next_finding")
    settle(qtbot, window)
    row = tab.findings.model.row(tab.findings.model.index(0, 0))
    assert row is not None
    assert tab.hex_pane.hex.caret() == row.spans[0].start
    said = tab.byte.findings.itemAt(0).widget().findChild(SelectableLabel)
    assert isinstance(said, SelectableLabel)
    assert row.message.startswith(said.plain_text())

    tab.hex_pane.hex.setFocus()
    seen = []
    for _ in range(5):
        press(window, "next_pane")
        seen.append(window.focusWidget())
    assert len(set(map(id, seen))) == 5
    assert seen[-1] is tab.hex_pane.hex
