"""What was open comes back: kept while one works, offered at the next start, and each window keeps its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from inspector.gui.app.sessions import NO_SESSION, SETTING, Session, from_json
from inspector.gui.app.tab import Tab
from inspector.gui.app.tabs import OpenTab
from inspector.gui.app.window import Window
from inspector.gui.kit import preferences
from inspector.gui.kit.settings import Settings
from inspector.operations.protocol.views import Stage
from tests.gui.conftest import WAIT, Sample, press, settle

Start = Callable[[], Window]


@pytest.fixture
def start(qtbot: QtBot, settings: Settings) -> Iterator[Start]:
    """Start a window as the program does."""
    windows: list[Window] = []

    def begin() -> Window:
        made = Window(settings)
        qtbot.addWidget(made)
        windows.append(made)
        made.resize(1280, 800)
        made.sessions.begin()
        with qtbot.waitExposed(made):
            made.show()
        made.sessions.start()
        settle(qtbot, made)
        return made

    yield begin
    for made in windows:
        links = [tab.document.client.link for tab in made.tabs.all()]
        made.end()
        made.close()
        qtbot.waitUntil(lambda links=links: all(link.process is None for link in links), timeout=WAIT)


def names(window: Window) -> list[str]:
    return [window.tabs.tabText(at) for at in range(window.tabs.count())]


def every(window: Window, qtbot: QtBot) -> list[Tab]:
    """All tabs, after each has been shown once."""
    shown = window.tabs.currentIndex()
    for at in (*range(window.tabs.count()), shown):
        window.tabs.setCurrentIndex(at)
        settle(qtbot, window)
    return window.tabs.all()


def crash(window: Window) -> None:
    """Leave what is left of a window whose process has gone: what it kept while it worked."""
    window.sessions.store()
    kept = window.settings.text(SETTING)
    window.close()
    window.settings.set_text(SETTING, kept)


# ---- what is kept ----------------------------------------------------------------------------------------------------


documents = st.builds(OpenTab, st.text(min_size=1), st.integers(0, 1 << 48))


@given(st.lists(documents, max_size=5).map(tuple), st.integers(0, 9), st.booleans())
def test_a_session_is_read_as_it_was_written(tabs: tuple[OpenTab, ...], at: int, ended: bool) -> None:
    kept = Session(tabs, min(at, max(0, len(tabs) - 1)), ended)
    assert from_json(json.dumps(kept)) == kept


@given(st.one_of(st.text(max_size=50), st.just('[[{}, 1, null, ["/a", -1]], 9, true]')))
def test_what_is_no_session_is_nothing(stored: str) -> None:
    assert from_json(stored) == NO_SESSION


def test_no_more_tabs_are_opened_than_are_sensible() -> None:
    assert len(from_json(json.dumps(Session((OpenTab("/a"),) * 1000, 999))).tabs) == 50


def test_the_words_name_the_first_ones() -> None:
    tabs = tuple(map(OpenTab, ("/a/b.caf", "s3://bucket/c.rca", "/d", "/e", "/f")))
    assert Session(tabs).words == "5 tabs: b.caf, c.rca, d, 2 more"


# ---- coming back -----------------------------------------------------------------------------------------------------


def test_tabs_come_back_in_their_order_with_carets_also_those_that_were_never_shown(
    start: Start, sample: Sample, settings: Settings, qtbot: QtBot
) -> None:
    settings.put(preferences.AT_START, preferences.LAST_SESSION)
    first = start()
    assert first.tabs.count() == 0
    first.open_locations([str(sample(name)) for name in ("journey.caf", "two-chunks.rca", "plain.zip")])
    settle(qtbot, first)
    first.close()
    start().close()
    window = start()
    assert names(window) == ["journey.caf", "two-chunks.rca", "plain.zip"]
    assert [tab.document.name for tab in window.tabs.all()] == ["plain.zip"]

    caf, rca, _ = every(window, qtbot)
    caf.hex_pane.hex.goTo(100)
    window.tabs.setCurrentWidget(rca)
    settle(qtbot, window)
    rca.hex_pane.hex.goTo(40, 8)
    settle(qtbot, window)
    window.tabs.tabBar().moveTab(2, 0)
    window.close()

    again = start()
    assert names(again) == ["plain.zip", "journey.caf", "two-chunks.rca"]
    shown = again.tab()
    assert shown is not None
    assert (shown.document.name, shown.document.selection.caret) == ("two-chunks.rca", 40)
    again.tabs.setCurrentIndex(1)
    settle(qtbot, again)
    caf_again = again.tab()
    assert caf_again is not None
    assert caf_again.document.selection.caret == 100


def test_a_file_that_has_gone_says_so_and_one_that_is_shorter_is_shown_at_its_end(
    start: Start, sample: Sample, settings: Settings, qtbot: QtBot, tmp_path: Path
) -> None:
    settings.put(preferences.AT_START, preferences.LAST_SESSION)
    going, changing = tmp_path / "here.caf", tmp_path / "changing.zip"
    going.write_bytes(sample("journey.caf").read_bytes())
    changing.write_bytes(sample("plain.zip").read_bytes())
    window = start()
    window.open_locations([str(going), str(changing)])
    settle(qtbot, window)
    tab = window.tab()
    assert tab is not None
    tab.hex_pane.hex.goTo(100)
    settle(qtbot, window)
    window.close()
    going.unlink()
    changing.write_bytes(sample("plain.zip").read_bytes()[:50])

    gone, changed = every(start(), qtbot)
    assert gone.document.status.stage is Stage.FAILED
    assert "here.caf" in gone.banner.state.text()
    assert (changed.document.status.stage, changed.document.selection.caret) == (Stage.READY, 49)


def test_it_is_only_offered_unless_it_is_to_come_back_by_itself_and_was_no_crash(
    start: Start, sample: Sample, settings: Settings, qtbot: QtBot
) -> None:
    window = start()
    assert not window.start_page.reopen.isVisible()
    window.open_location(str(sample("journey.caf")))
    settle(qtbot, window)
    window.close()
    start().close()  # without a file, which keeps what was there

    again = start()
    assert [tab.location for tab in again.sessions.last.tabs] == [str(sample("journey.caf"))]
    assert names(again) == []
    assert again.start_page.reopen.isVisible()
    again.start_page.reopen.click()
    settle(qtbot, again)
    assert names(again) == ["journey.caf"]
    press(again, "reopen_session")
    assert names(again) == ["journey.caf"]
    assert "No session to reopen" in again.message.text.text()

    settings.put(preferences.AT_START, preferences.LAST_SESSION)
    crash(again)
    after = start()
    assert names(after) == []
    assert after.start_page.reopen.isVisible()
    assert not after.sessions.last.ended

    # Closing all tabs leaves nothing to come back.
    after.start_page.reopen.click()
    settle(qtbot, after)
    assert names(after) == ["journey.caf"]
    after.sessions.store()
    press(after, "close_tab")
    after.close()
    assert start().sessions.last.tabs == ()


def test_nothing_secret_is_kept(start: Start, settings: Settings, qtbot: QtBot) -> None:
    window = start()
    window.open_location("s3://key:verysecret@bucket/a.caf")
    window.sessions.store()
    kept = settings.text(SETTING)
    assert "bucket" in kept
    assert "verysecret" not in kept
    qtbot.waitUntil(lambda: window.settled, timeout=WAIT)
