"""What the window asks and says while one works with it is in words of the catalogue too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QMessageBox
from pytestqt.qtbot import QtBot

from inspector.core.translation import use_file, use_first
from inspector.gui.app.bookmarks import Bookmark
from inspector.gui.app.command_palette import lines
from inspector.gui.app.job_notifications import TOLD
from inspector.gui.app.tab import Tab
from inspector.gui.app.toolbar import HEX
from inspector.gui.app.window import Window
from inspector.gui.flows.extract import told
from inspector.gui.hex.copying import CopyFormat
from inspector.gui.hex.inspector_values import readings
from inspector.gui.kit.eta import Pace
from inspector.gui.kit.preferences import EVERY
from inspector.operations.protocol.edit_views import Interrupted
from inspector.operations.protocol.extraction_views import ExtractionResult, Troubles
from inspector.operations.protocol.views import JobState
from tests.core.test_translation import catalogue as compiled
from tests.gui.conftest import Copied, Show, overwrite, press, previewed, settle
from tests.gui.test_translation import Bracketed, assert_translated, catalogue, left_over

__all__ = ["catalogue"]


def fill_menus(window: Window) -> None:
    for menu in window.findChildren(QMenu):
        menu.aboutToShow.emit()


def test_menus_that_are_filled_when_they_open(show: Show, window: Window, catalogue: Bracketed) -> None:
    fill_menus(window)
    assert_translated(window, catalogue)
    tab = show("two-entries.tacozip")
    window.bookmarks.kept.put(tab.document.location, tab.document.status.size, Bookmark(0, 4))
    window.layouts.save("1")
    fill_menus(window)
    assert "⟦&Remove⟧" in [menu.title() for menu in window.findChildren(QMenu)]
    assert_translated(window, catalogue)


def test_what_is_asked_before_something_is_lost_or_leaves(
    copied: Copied, window: Window, catalogue: Bracketed, qtbot: QtBot
) -> None:
    tab, path = copied("two-chunks.rca")
    window.making.take_dropped([str(path)])
    window.making.take_dropped([str(path)] * 2)
    press(window, "close_tab")  # which asks nothing yet
    tab, path = copied("two-chunks.rca")
    tab.document.select_member(0, "")
    settle(qtbot, window)
    press(window, "open_elsewhere")
    overwrite(window, tab, 3, "ff")
    previewed(qtbot, window, tab)
    press(window, "close_tab")
    window.reopen()
    tab.recovering.ask(Interrupted("1", "2", "3", "4", ()))
    assert len(window.findChildren(QMessageBox)) == 6
    assert_translated(window, catalogue)


def nothing_to_find(window: Window, _: Tab) -> None:
    press(window, "find_next")


def no_hex(window: Window, tab: Tab) -> None:
    window.tools.mode.setCurrentIndex(window.tools.mode.findData(HEX))
    window.tools.sought_text.setText("x")
    nothing_to_find(window, tab)


def not_there(_: Window, tab: Tab) -> None:
    tab.document.find(b"nothing like this")
    tab.document.find(b"nothing like this", backwards=True)


def no_bookmark(window: Window, _: Tab) -> None:
    press(window, "next_bookmark")


def no_layout(window: Window, _: Tab) -> None:
    window.layouts.choose("1")


def copies(window: Window, _: Tab) -> None:
    for how in CopyFormat:
        window.copy_as(how)


def a_paste_of_nothing(window: Window, tab: Tab) -> None:
    press(window, "edit_bytes")
    QGuiApplication.clipboard().setText("no hex")
    tab.hex_pane.hex.setFocus()
    QTest.keySequence(tab.hex_pane.hex, QKeySequence.StandardKey.Paste)


def a_checksum_of_nothing(window: Window, tab: Tab) -> None:
    overwrite(window, tab, 3, "ff")
    press(window, "mend_checksums")


@pytest.mark.parametrize(
    "does",
    [nothing_to_find, no_hex, not_there, no_bookmark, no_layout, copies, a_paste_of_nothing, a_checksum_of_nothing],
)
def test_what_is_said(
    show: Show, window: Window, catalogue: Bracketed, qtbot: QtBot, does: Callable[[Window, Tab], None]
) -> None:
    tab = show("journey.caf")
    said: list[str] = []
    tab.document.said.connect(said.append)
    does(window, tab)
    settle(qtbot, window)
    assert said
    assert [left_over(text) for text in said] == [""] * len(said)
    assert catalogue.unknown == set()


def test_what_the_window_says_of_itself(window: Window) -> None:
    QGuiApplication.clipboard().setText("")
    press(window, "paste_locations")
    assert left_over(window.message.text.text()) == ""
    press(window, "reopen_session")
    assert left_over(window.message.text.text()) == ""


def test_commands_and_settings_are_found_by_the_words_of_the_catalogue(window: Window) -> None:
    offered = [*lines(window.actions_), *window.configuring.lines()]
    assert len(offered) > len(EVERY)
    for line in offered:
        assert [left_over(text) for text in (line.text, line.menu, line.tip)] == [""] * 3, line


@pytest.mark.parametrize("paused", [True, False])
def test_how_far_work_is(paused: bool) -> None:
    pace = Pace(0)
    for now in (0, 100, 200):
        words = pace.tell(JobState("", 1, 5_000, "bytes", paused), now)
    assert left_over(words.replace("/s", "")) == ""


def test_what_an_extraction_came_to() -> None:
    one = Troubles((), 1)
    words = told(ExtractionResult("", 0, 0, 0, one, one, one, one, (), one, "", False, ""))
    assert left_over(words) == ""
    assert words.count("⟦1 member⟧") == 5


def test_the_end_of_work_is_told_in_marked_words(catalogue: Bracketed) -> None:
    assert [text for text in TOLD.values() if catalogue.gettext(text) == text] == []


def test_readings_of_bytes_are_called_by_words_of_the_catalogue() -> None:
    names = {value.name for value in readings(b"")}
    assert {"⟦binary⟧", "⟦Unix time 32⟧ LE", "⟦DOS time, date⟧"} <= names


@pytest.fixture
def german(tmp_path: Path) -> Iterator[None]:
    """A catalogue in a file, as workers read it; it knows two sentences that only they say."""
    texts = {
        "Nothing wrong was seen in the structure; contents are not verified.": "Am Aufbau war nichts falsch.",
        "{state}: {why}": "{state} – {why}",
        "Sound": "Heil",
    }
    compiled(tmp_path, "de", texts)
    use_first(["de"], tmp_path)
    yield
    use_file("")


@pytest.mark.usefixtures("german")
def test_workers_speak_the_language_of_the_window(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("journey.caf")
    assert tab.banner.sentence.text() == "Am Aufbau war nichts falsch."
    press(window, "check")
    settle(qtbot, window)
    assert tab.banner.sentence.text().startswith("Heil – ")
