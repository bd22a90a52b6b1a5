"""What was open comes back: kept while one works, offered at the next start, and each window keeps its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from inspector.gui.app.start_page import NO_SESSION, SESSION, Session, session_from_json
from inspector.gui.app.window import Window
from inspector.gui.kit.preferences import Settings
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


def crash(window: Window) -> None:
    """Leave what is left of a window whose process has gone: what it kept while it worked."""
    window.sessions.store()
    kept = window.settings.text(SESSION)
    window.close()
    window.settings.set_text(SESSION, kept)


# ---- what is kept ----------------------------------------------------------------------------------------------------


@given(st.lists(st.text(min_size=1), max_size=5).map(tuple), st.text())
def test_a_session_is_read_as_it_was_written(locations: tuple[str, ...], shown: str) -> None:
    kept = Session(locations, shown)
    assert session_from_json(json.dumps(kept)) == kept


@given(
    st.one_of(st.text(max_size=50), st.sampled_from(['[["/a", 1], "/a"]', '[[""], ""]', '[["/a"], 0]', '["/a", ""]']))
)
def test_what_is_no_session_is_nothing(stored: str) -> None:
    assert session_from_json(stored) == NO_SESSION


def test_no_more_tabs_are_opened_than_are_sensible() -> None:
    assert len(session_from_json(json.dumps(Session(("/a",) * 1000))).locations) == 50


def test_the_words_name_the_first_ones() -> None:
    assert Session(("/a/b.caf", "s3://bucket/c.rca", "/d", "/e", "/f")).words == "5 tabs: b.caf, c.rca, d, 2 more"


# ---- coming back -----------------------------------------------------------------------------------------------------


def test_tabs_come_back_in_their_order_also_those_that_were_never_shown(
    start: Start, sample: Sample, qtbot: QtBot
) -> None:
    first = start()
    assert not first.start_page.reopen.isVisible()
    first.open_locations([str(sample(name)) for name in ("journey.caf", "two-chunks.rca", "plain.zip")])
    settle(qtbot, first)
    first.close()
    start().close()  # without a file, which keeps what was there
    window = start()
    assert names(window) == []
    assert window.start_page.reopen.isVisible()
    window.start_page.reopen.click()
    settle(qtbot, window)
    assert names(window) == ["journey.caf", "two-chunks.rca", "plain.zip"]
    assert [tab.document.name for tab in window.tabs.all()] == ["plain.zip"]
    press(window, "reopen_session")
    assert len(names(window)) == 3
    assert "No session to reopen" in window.message.text.text()

    window.tabs.setCurrentIndex(1)
    settle(qtbot, window)
    window.tabs.tabBar().moveTab(2, 0)
    crash(window)

    again = start()
    press(again, "reopen_session")
    settle(qtbot, again)
    assert names(again) == ["plain.zip", "journey.caf", "two-chunks.rca"]
    assert [tab.document.name for tab in again.tabs.all()] == ["two-chunks.rca"]


def test_a_file_that_has_gone_says_so_and_closing_all_leaves_nothing(
    start: Start, sample: Sample, qtbot: QtBot, tmp_path: Path
) -> None:
    going = tmp_path / "here.caf"
    going.write_bytes(sample("journey.caf").read_bytes())
    window = start()
    window.open_location(str(going))
    settle(qtbot, window)
    window.close()
    going.unlink()

    again = start()
    again.start_page.reopen.click()
    settle(qtbot, again)
    tab = again.tab()
    assert tab is not None
    assert tab.document.status.stage is Stage.FAILED
    assert "here.caf" in tab.banner.state.text()
    again.sessions.store()
    press(again, "close_tab")
    again.close()
    assert start().sessions.last == NO_SESSION


def test_nothing_secret_is_kept(start: Start, settings: Settings, qtbot: QtBot) -> None:
    window = start()
    window.open_location("s3://key:verysecret@bucket/a.caf")
    window.sessions.store()
    kept = settings.text(SESSION)
    assert "bucket" in kept
    assert "verysecret" not in kept
    qtbot.waitUntil(lambda: window.settled, timeout=WAIT)
