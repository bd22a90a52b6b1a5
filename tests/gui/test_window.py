"""The window, driven as a person drives it, with the real worker behind it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.core.span import Span
from inspector.gui import theme
from inspector.gui.models.members import NAME, SIZE
from inspector.gui.panels.layer_bar import Mode
from inspector.gui.settings import Settings
from inspector.gui.tab import Tab
from inspector.gui.theme import Theme
from inspector.gui.window import Window
from inspector.operations.views import LayerKind, Stage
from tests.gui.conftest import WAIT

Sample = Callable[[str], Path]


@pytest.fixture
def window(qtbot: QtBot, settings: Settings) -> Iterator[Window]:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    theme.apply(app, Theme.LIGHT)
    made = Window(settings)
    qtbot.addWidget(made)
    made.resize(1280, 800)
    with qtbot.waitExposed(made):
        made.show()
    yield made
    links = [tab.document.client.link for tab in made.tabs.all()]
    made.close()
    qtbot.waitUntil(lambda: all(link.process is None for link in links), timeout=WAIT)


@pytest.fixture
def show(window: Window, qtbot: QtBot, sample: Sample) -> Callable[[str | Path], Tab]:
    """Open a sample, or a path, in the window and wait until everything has arrived."""

    def open_tab(location: str | Path) -> Tab:
        window.open_location(str(location if isinstance(location, Path) else sample(location)))
        settle(qtbot, window)
        tab = window.tab()
        assert tab is not None
        return tab

    return open_tab


Show = Callable[[str | Path], Tab]


def settle(qtbot: QtBot, window: Window) -> None:
    """Wait until nothing is outstanding, painting included."""
    window.grab()
    qtbot.waitUntil(lambda: window.settled, timeout=WAIT)


def press(window: Window, name: str) -> None:
    window.actions_[name].trigger()


def test_nothing_open_shows_the_start_page_with_samples(window: Window, qtbot: QtBot) -> None:
    assert window.start_page.isVisible()
    assert not window.actions_["find_next"].isEnabled()
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
    assert name in tab.byte.facts["Member"].said()


def test_selecting_a_field_moves_bytes(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("journey.caf")
    footer = tab.structure.model.index(2, 0)
    tab.structure.tree.setCurrentIndex(footer)
    settle(qtbot, window)
    assert tab.hex_pane.hex.caret() == tab.document.size - 4
    assert tab.document.selection.spans == (Span(tab.document.size - 4, tab.document.size),)
    assert tab.structure.model.row(tab.structure.tree.currentIndex()).name == "footer"
    assert "footer" in window.line.path.text()
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
    assert window.line.offset.text() == "0x00000000 (0)"


def test_going_back_and_forth(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("journey.caf")
    press(window, "go_to")
    assert window.focusWidget() is window.tools.go_to
    qtbot.keyClicks(window.tools.go_to, "footer")
    qtbot.keyClick(window.tools.go_to, Qt.Key.Key_Return)
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
    window.tools.go_to.setText("nowhere at all")
    qtbot.keyClick(window.tools.go_to, Qt.Key.Key_Return)
    settle(qtbot, window)
    assert tab.banner.message.isVisible()
    assert "nowhere at all" in tab.banner.message.text.text()


@pytest.mark.parametrize(("mode", "typed"), [("Text", "start_byte"), ("Hex", "73 74 61 72 74 5f 62 79 74 65")])
def test_finding_text_and_hex(show: Show, window: Window, qtbot: QtBot, sample: Sample, mode: str, typed: str) -> None:
    tab = show("journey.caf")
    at = sample("journey.caf").read_bytes().index(b"start_byte")
    window.tools.mode.setCurrentText(mode)
    press(window, "find_bytes")
    qtbot.keyClicks(window.tools.sought_text, typed)
    qtbot.keyClick(window.tools.sought_text, Qt.Key.Key_Return)
    settle(qtbot, window)
    assert tab.hex_pane.hex.selection() == Span(at, at + 10)
    assert window.line.selection.text() == "selection 10 bytes"


def test_hex_that_is_none_is_answered_with_a_sentence(show: Show, window: Window) -> None:
    tab = show("journey.caf")
    window.tools.mode.setCurrentText("Hex")
    window.tools.sought_text.setText("5 G")
    press(window, "find_next")
    assert "pairs of digits" in tab.banner.message.text.text()


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
    assert value.said() == "0x04034B50"
    value.setFocus()
    press(window, "copy")
    assert QGuiApplication.clipboard().text() == "0x04034B50"


def test_copying_from_a_list_copies_the_cell(show: Show, window: Window) -> None:
    tab = show("journey.caf")
    tab.structure.tree.setCurrentIndex(tab.structure.model.index(1, 0))
    tab.structure.tree.setFocus()
    press(window, "copy")
    assert QGuiApplication.clipboard().text() == "index"


def test_dropped_files_open(window: Window, qtbot: QtBot, sample: Sample) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(sample(name))) for name in ("journey.caf", "plain.zip")])
    place, action = QPointF(10, 10), Qt.DropAction.CopyAction
    event = QDropEvent(place, action, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    window.dropEvent(event)
    assert event.isAccepted()
    settle(qtbot, window)
    assert [tab.document.name for tab in window.tabs.all()] == ["journey.caf", "plain.zip"]
    assert all(tab.document.status.stage is Stage.READY for tab in window.tabs.all())


def test_pasted_paths_open_and_other_text_is_refused(window: Window, qtbot: QtBot, sample: Sample) -> None:
    QGuiApplication.clipboard().setText("just some words")
    press(window, "paste_locations")
    assert window.message.isVisible()
    assert not window.tabs.all()
    QGuiApplication.clipboard().setText(f"'{sample('journey.caf')}'\n{sample('plain.tar').as_uri()}\n")
    press(window, "paste_locations")
    settle(qtbot, window)
    assert [tab.document.name for tab in window.tabs.all()] == ["journey.caf", "plain.tar"]


def test_opening_twice_shows_the_tab(show: Show, window: Window) -> None:
    first = show("journey.caf")
    show("plain.tar")
    assert show("journey.caf") is first
    assert window.tabs.count() == 2


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
    assert "No member" in tab.members.empty_sentence()
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
    assert "warning" in tab.banner.state.text()
    assert tab.docks["Findings"].windowTitle() == "Findings (1)"
    press(window, "next_finding")
    settle(qtbot, window)
    row = tab.findings.model.row(tab.findings.model.index(0, 0))
    assert row is not None
    assert tab.hex_pane.hex.caret() == row.spans[0].start
    assert row.message in tab.byte.finding_sentences()


def test_closing_a_tab_ends_its_worker(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("journey.caf")
    link = tab.document.client.link
    process = link.process
    assert process is not None
    assert process.is_alive()
    press(window, "close_tab")
    assert window.tabs.count() == 0
    assert window.start_page.isVisible()
    qtbot.waitUntil(lambda: link.process is None, timeout=WAIT)


def test_a_dead_worker_is_said_and_the_location_can_be_reopened(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("journey.caf")
    process = tab.document.client.link.process
    assert process is not None
    with qtbot.waitSignal(tab.document.lost, timeout=WAIT):
        process.kill()
    assert "ended unexpectedly" in tab.banner.message.text.text()
    tab.banner.message.button.click()
    settle(qtbot, window)
    fresh = window.tab()
    assert fresh is not None
    assert fresh is not tab
    assert fresh.document.status.stage is Stage.READY


def test_reloading_sees_what_changed_and_stays_in_place(
    show: Show, window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "notes"
    path.write_bytes(b"0123456789")
    tab = show(path)
    tab.document.go_to_expression("5")
    settle(qtbot, window)
    path.write_bytes(b"0123456789 and more")
    press(window, "reload")
    settle(qtbot, window)
    fresh = window.tab()
    assert fresh is not None
    assert (fresh.document.size, fresh.hex_pane.hex.caret()) == (19, 5)


def test_missing_and_unknown_and_empty_files_are_sentences(show: Show, tmp_path: Path) -> None:
    missing = show(tmp_path / "missing.rca")
    assert "missing.rca" in missing.banner.state.text()
    assert missing.members.empty_sentence() == "Nothing could be opened."
    unknown = tmp_path / "unknown"
    unknown.write_bytes(b"who knows")
    tab = show(unknown)
    assert "plain bytes" in tab.banner.sentence.text()
    assert tab.members.empty_sentence() == "These bytes have no members."
    empty = tmp_path / "empty"
    empty.touch()
    tab = show(empty)
    assert tab.byte.title.text() == "There is not a single byte here."


def test_names_are_never_rich_text(show: Show, tmp_path: Path) -> None:
    path = tmp_path / "<b>bold & bad<"
    path.write_bytes(b"x")
    tab = show(path)
    window = tab.window()
    assert isinstance(window, Window)
    assert window.tabs.tabText(0) == "<b>bold && bad<"
    assert "&lt;b&gt;" in window.tabs.tabToolTip(0)
    assert tab.banner.state.textFormat() is Qt.TextFormat.PlainText


def test_panes_take_the_keyboard_in_turn(show: Show, window: Window) -> None:
    tab = show("journey.caf")
    tab.hex_pane.hex.setFocus()
    seen = []
    for _ in range(5):
        press(window, "next_pane")
        seen.append(window.focusWidget())
    assert len(set(map(id, seen))) == 5
    assert seen[-1] is tab.hex_pane.hex


def test_looks_are_remembered(show: Show, window: Window, settings: Settings) -> None:
    tab = show("journey.caf")
    window.set_bytes_per_row(8)
    window.zoom_in()
    window.set_theme(Theme.DARK)
    tab.docks["Findings"].hide()
    window.close()
    assert settings.number("bytes_per_row", 16) == 8
    assert settings.theme is Theme.DARK
    again = Window(settings)
    again.open_location(tab.document.location)
    fresh = again.tab()
    assert fresh is not None
    assert again.menus.rows.actions()[1].isChecked()
    assert fresh.docks["Findings"].isHidden()
    assert not fresh.docks["Members"].isHidden()
    again.close()


def test_the_process_of_the_window_decodes_nothing() -> None:
    import subprocess

    code = """
import sys
from inspector.gui import app
heavy = {"numpy", "boto3", "msgspec", "zstandard", "charset_normalizer"} & set(sys.modules)
own = [name for name in sys.modules if name.startswith(("inspector.formats", "inspector.sources"))]
own += [name for name in sys.modules if name.startswith("inspector.operations.") and not name.endswith(".views")]
print(sorted(heavy), own)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] []"
