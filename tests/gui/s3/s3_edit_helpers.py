"""Shared by the tests that edit archives on S3 in the window."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.dialogs.save import SendDialog
from tests.gui.conftest import WAIT, press, previewed, settle
from tests.gui.s3.s3_store import Store, opened_at
from tests.s3.writing.writing import MEBI, taco

KEY = "window/archive.tacozip"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return taco(tmp_path_factory.mktemp("taco"), [6 * MEBI, 7 * MEBI])


@pytest.fixture
def tab(window: Window, qtbot: QtBot, store: Store, data: bytes) -> Tab:
    return opened_at(window, qtbot, store, store.put(KEY, data))


def point_to(window: Window, qtbot: QtBot, tab: Tab, offset: int) -> None:
    """Let the first entry of the header point elsewhere, as typing a number does."""
    tab.header.model.typed.emit(0, 1, offset)
    qtbot.waitUntil(lambda: tab.editing.pending is not None, timeout=WAIT)
    previewed(qtbot, window, tab)


def asked(window: Window, qtbot: QtBot, name: str = "write") -> SendDialog:
    """Press an action and wait for the question."""
    press(window, name)
    return question(window, qtbot)


def question(window: Window, qtbot: QtBot) -> SendDialog:
    def open_ones() -> list[SendDialog]:
        return [each for each in window.findChildren(SendDialog) if each.isVisible()]

    qtbot.waitUntil(lambda: bool(open_ones()), timeout=WAIT)
    return open_ones()[-1]


def agree(window: Window, qtbot: QtBot, tab: Tab, dialog: SendDialog) -> None:
    """Press Send and wait until it is over, however it ends."""
    with qtbot.waitSignal(tab.document.reported, timeout=WAIT):
        dialog.answer.click()
    settle(qtbot, window)


def entry(tab: Tab) -> int:
    view = tab.header.model.view
    assert view is not None
    return view.entries[0].offset


def note(tab: Tab) -> str:
    return tab.note.text.text()


def writes(store: Store) -> list[str]:
    return [seen.method for seen in store.proxy.log if seen.method not in ("GET", "HEAD")]
