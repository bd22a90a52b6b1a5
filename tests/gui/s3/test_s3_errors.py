"""Each kind of S3 error shows a message, and the archive can be opened with a retry."""

from __future__ import annotations

from threading import Event

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.core import limits
from inspector.core.verdict import State
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.operations.protocol.browse_views import ErrorAction
from inspector.operations.protocol.views import Stage
from inspector.sources.s3.connection import Connection
from tests.gui.conftest import WAIT, press, settle
from tests.gui.s3.s3_store import *  # noqa: F403 - its fixtures
from tests.gui.s3.s3_store import Store, opened_at
from tests.s3.bad_days import BAD_DAYS, MEMBERS, BadDay, wide
from tests.s3.proxy import Proxy, after, ignoring, silence, slow
from tests.sweeping import at_every_change

MIDDLE = 4_000_000
OPENING = 1


@pytest.fixture
def location(store: Store) -> str:
    return store.put("bad-day.zip", wide())


def shown(window: Window) -> Tab:
    tab = window.tab()
    assert tab is not None
    return tab


def reloaded(window: Window, qtbot: QtBot) -> Tab:
    press(window, "reload")
    settle(qtbot, window)
    return shown(window)


def is_whole(tab: Tab) -> bool:
    return tab.document.status.stage is Stage.READY and tab.document.status.members == MEMBERS


@pytest.mark.sweep
@pytest.mark.parametrize("day", BAD_DAYS, ids=lambda day: day.name)
def test_what_cannot_be_read_says_why_and_is_read_later(
    window: Window, qtbot: QtBot, store: Store, location: str, day: BadDay, monkeypatch: pytest.MonkeyPatch
) -> None:
    if day.patience:
        monkeypatch.setenv(limits.ANSWERING.variable, str(day.patience))
    with store.proxy.failing(day.fault):
        tab = opened_at(window, qtbot, store, location)
    assert tab.document.status.stage is Stage.FAILED
    assert day.opening in tab.banner.state.text()
    assert tab.error_actions.isVisible()
    tab = reloaded(window, qtbot)
    assert is_whole(tab)
    with store.proxy.failing(day.fault):
        tab.document.go_to(0, MIDDLE, MIDDLE)
        settle(qtbot, window)
        qtbot.waitUntil(tab.error_actions.isVisible, timeout=WAIT)
        assert day.reading in tab.error_actions.sentence.text()
        assert is_whole(tab), "what was read before stays"
        tab.document.go_to(0, 10, 10)
        settle(qtbot, window)
        assert tab.hex_pane.hex.caret() == 10
    tab = reloaded(window, qtbot)
    tab.document.go_to(0, MIDDLE, MIDDLE)
    settle(qtbot, window)
    assert is_whole(tab)


def what_is_of_no_use_any_more_may_wait_for_its_server(qtbot: QtBot, window: Window, store: Store, tab: Tab) -> None:
    """Who looks at another member before the first has come asks for nothing to be ended."""
    asked, gate = Event(), Event()
    lost: list[str] = []
    tab.document.lost.connect(lost.append)
    try:
        with store.proxy.failing(silence(asked, gate)), pytest.MonkeyPatch.context() as patched:
            patched.setattr("inspector.gui.ipc.client.CANCEL_TIMEOUT_MS", 1)
            tab.document.open_content(10)
            qtbot.waitUntil(asked.is_set, timeout=WAIT)
            (waiting,) = tab.document.client.jobs
            tab.document.open_content(20)
            assert waiting.cancelled
            gate.set()
            settle(qtbot, window)
    finally:
        gate.set()
    assert lost == []
    assert tab.document.content is not None
    assert tab.document.content.layer.member == 20


def a_check_that_waits_for_a_server_is_cancelled_at_once(qtbot: QtBot, window: Window, store: Store, tab: Tab) -> None:
    """What is open stays so: its process need not be ended."""
    asked, gate = Event(), Event()
    try:
        with store.proxy.failing(silence(asked, gate)), pytest.MonkeyPatch.context() as patched:
            patched.setattr("inspector.gui.ipc.client.CANCEL_TIMEOUT_MS", 1000 * WAIT)
            press(window, "check")
            qtbot.waitUntil(asked.is_set, timeout=WAIT)
            QTest.keyClick(window, Qt.Key.Key_Escape)
            settle(qtbot, window)
    finally:
        gate.set()
    assert not tab.banner.message.isVisible()
    assert is_whole(tab)
    press(window, "check")
    settle(qtbot, window)
    assert tab.document.status.state is State.SOUND


@pytest.mark.parametrize(
    "day",
    at_every_change(
        [day for day in BAD_DAYS if day.name in ("503", "cut")], lambda day: day.name == "cut", lambda day: day.name
    ),
)
def test_a_check_that_cannot_go_on_calls_nothing_damaged_and_what_waits_is_cancelled(
    window: Window, qtbot: QtBot, store: Store, location: str, day: BadDay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(limits.ANSWERING.variable, "600")
    with store.proxy.failing(slow):
        tab = opened_at(window, qtbot, store, location)
    assert is_whole(tab), "slow is not wrong"
    a_check_that_waits_for_a_server_is_cancelled_at_once(qtbot, window, store, tab)

    tab = reloaded(window, qtbot)
    with store.proxy.failing(day.fault):
        press(window, "check")
        settle(qtbot, window)
    assert tab.document.status.state is State.UNREADABLE
    assert tab.document.status.judgement.startswith("Unreadable: not all of it could be read")
    assert not tab.banner.repair.isVisible()
    press(window, "check")
    settle(qtbot, window)
    assert tab.document.status.state is State.SOUND
    tab = reloaded(window, qtbot)
    what_is_of_no_use_any_more_may_wait_for_its_server(qtbot, window, store, tab)


def test_no_network(window: Window, qtbot: QtBot, moto: int, location: str) -> None:
    down = Proxy(moto)
    down.close()
    tab = window.archives.open(location, Connection(endpoint=down.url))
    assert tab is not None
    settle(qtbot, window)
    assert f"no connection to {down.url}" in tab.banner.state.text()
    offered = {each for each, button in tab.error_actions.buttons.items() if not button.isHidden()}
    assert offered == {ErrorAction.CONNECTION, ErrorAction.RETRY}
    up = Proxy(moto, down.port)
    try:
        assert is_whole(reloaded(window, qtbot))
    finally:
        up.close()


@pytest.mark.sweep
def test_another_object_from_a_server_that_ignores_if_match(
    window: Window, qtbot: QtBot, store: Store, location: str
) -> None:
    tab = opened_at(window, qtbot, store, location)
    store.put("bad-day.zip", wide(3))
    with store.proxy.failing(ignoring("If-Match")):
        tab.document.go_to(0, 500_000, 500_000)
        settle(qtbot, window)
        qtbot.waitUntil(tab.error_actions.isVisible, timeout=WAIT)
    assert "was replaced while it was open" in tab.error_actions.sentence.text()
    assert reloaded(window, qtbot).document.status.members == 3


def test_opening_that_waits_for_a_server_can_be_cancelled(
    window: Window, qtbot: QtBot, store: Store, location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(limits.ANSWERING.variable, "600")
    asked, gate = Event(), Event()
    try:
        with store.proxy.failing(after(OPENING, silence(asked, gate))):
            tab = window.archives.open(location, store.connection)
            assert tab is not None
            qtbot.waitUntil(asked.is_set, timeout=WAIT)
            QTest.keyClick(window, Qt.Key.Key_Escape)
            settle(qtbot, window)
    finally:
        gate.set()
    assert "Opening…" not in tab.banner.state.text(), "nobody opens it any more"
    assert not tab.banner.sentence.isVisible(), "nobody checks it any more"
    assert tab.banner.message.isVisible()
    assert "It may have been waiting for a server" in tab.banner.message.text.text()
    assert is_whole(reloaded(window, qtbot))
