"""The browser of buckets: listing only what is asked for, and taking things from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import Window
from inspector.gui.dialogs.extract import ExtractDialog, ExtractionChoices
from inspector.gui.tabs.audit_tab import AuditTab
from inspector.gui.tabs.browser_tab import HINT, BrowserModel, BrowserTab
from inspector.operations.protocol.browse_views import EntryKind, RemoteEntry, RemotePage
from inspector.operations.protocol.extraction_views import OnConflict
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.request_log import Totals
from tests.gui.conftest import WAIT, NoProcesses, press, settle
from tests.gui.s3.s3_store import *  # noqa: F403 - its fixtures
from tests.gui.s3.s3_store import Store, wide
from tests.s3.proxy import in_pages, refuse, silence


def browser(window: Window) -> BrowserTab:
    found = window.tabs.currentWidget()
    assert isinstance(found, BrowserTab)
    return found


def browsed(window: Window, qtbot: QtBot, store: Store, location: str) -> BrowserTab:
    """Open a browser at a location and wait for its first page."""
    window.archives._browse(location, store.connection)
    settle(qtbot, window)
    return browser(window)


def names(tab: BrowserTab, *path: int) -> list[str]:
    """What the rows beneath one say."""
    index = tab.tree.rootIndex()
    for row in path:
        index = tab.model.index(row, 0, index)
    return [tab.model.index(row, 0, index).data() for row in range(tab.model.rowCount(index))]


def choose(tab: BrowserTab, *rows: int) -> None:
    selection = tab.tree.selectionModel()
    selection.clear()
    for row in rows:
        selection.select(tab.model.index(row, 0), selection.SelectionFlag.Select | selection.SelectionFlag.Rows)


def test_nothing_is_listed_unasked(window: Window, qtbot: QtBot, store: Store) -> None:
    window.archives.connections.remember("s3://archives/", store.connection)
    press(window, "browse")
    settle(qtbot, window)
    tab = browser(window)
    assert tab.stack.shown_sentence() == HINT
    assert not store.proxy.log
    tab.address.setText("archives")
    tab.list_location()
    settle(qtbot, window)
    assert [each.listing for each in store.proxy.log] == [True]
    tab.list_buckets()
    settle(qtbot, window)
    assert "archives" in names(tab)


def test_a_long_listing_comes_page_by_page(window: Window, qtbot: QtBot, store: Store) -> None:
    for number in range(5):
        store.put(f"pages/{number}.bin", bytes(number))
    store.put("pages/deep/x.bin", b"x")
    with store.proxy.failing(in_pages(3)):
        tab = browsed(window, qtbot, store, "s3://archives/pages/")
        first = names(tab)
        assert first[-1] == "3 entries listed. Activate this row to list more."
        assert len(store.proxy.log) == 1
        tab.tree.activated.emit(tab.model.index(3, 0))
        settle(qtbot, window)
    assert sorted(names(tab)) == ["0.bin", "1.bin", "2.bin", "3.bin", "4.bin", "deep"]
    assert len(store.proxy.log) == 2
    row = names(tab).index("deep")
    tab.tree.activated.emit(tab.model.index(row, 0))
    settle(qtbot, window)
    assert names(tab, row) == ["x.bin"]


def test_what_cannot_be_listed_says_so_and_another_connection_lists_anew(
    window: Window, qtbot: QtBot, store: Store
) -> None:
    store.put("again/a.bin", b"a")
    store.proxy.fail(refuse(403, "AccessDenied"))
    tab = browsed(window, qtbot, store, "s3://archives/again/")
    assert "not allowed (403)" in names(tab)[0]
    assert "not allowed (403)" in tab.message.text.text()
    tab.tree.activated.emit(tab.model.index(0, 0))
    settle(qtbot, window)
    assert names(tab) == ["a.bin"]
    tab.use(Connection(endpoint=store.proxy.url, anonymous=True))
    settle(qtbot, window)
    assert names(tab) == ["a.bin"]
    assert "Authorization" not in store.proxy.log[-1].headers
    assert "without signing" in tab.sentence.text()
    assert window.archives.connections.of("s3://archives/x").anonymous
    tab.address.setText("s3://archives/nothing-here/")
    tab.list_location()
    settle(qtbot, window)
    assert names(tab) == ["Nothing here."]


def test_objects_open_with_the_connection_of_the_browser(window: Window, qtbot: QtBot, store: Store) -> None:
    store.put("open/two.zip", wide(2))
    tab = browsed(window, qtbot, store, "s3://archives/open/")
    tab.tree.activated.emit(tab.model.index(0, 0))
    settle(qtbot, window)
    opened = window.tab()
    assert opened is not None
    assert opened.document.status.members == 2
    assert opened.document.connection == store.connection


@pytest.mark.usefixtures("in_the_worker")
def test_all_beneath_a_prefix_is_checked(window: Window, qtbot: QtBot, store: Store) -> None:
    store.put("checks/in/two.zip", wide(2))
    store.put("checks/in/note.txt", b"no archive")
    tab = browsed(window, qtbot, store, "s3://archives/checks/")
    choose(tab, 0)
    tab.check.click()
    checks = window.tabs.currentWidget()
    assert isinstance(checks, AuditTab)
    qtbot.waitUntil(lambda: checks.settled, timeout=WAIT)
    assert checks.sentence.text() == "1 archive: 1 sound. 1 other file was skipped."


@pytest.mark.parametrize("pages", [0, 1])
def test_the_model_is_sound(qtmodeltester: Any, pages: int) -> None:
    coming: list[Callable[[], None]] = []

    def ask(location: str, after: str, done: Callable[[RemotePage], None], _: object) -> None:
        entries = (
            RemoteEntry(EntryKind.PREFIX, "p", f"{location}p/"),
            RemoteEntry(EntryKind.OBJECT, "<b>o</b>", f"{location}o", 10, 1.0),
        )
        page = RemotePage(entries, "next" if pages and not after else "", Totals())
        coming.append(lambda: done(page))

    model = BrowserModel(ask)
    model.begin("s3://b/")
    coming.pop(0)()
    model.list_first(model.index(0, 0))
    model.list_first(model.index(0, 0))  # which is on its way
    coming.pop(0)()
    qtmodeltester.check(model)
    assert model.rowCount(model.index(0, 0)) == 2 + pages
    model.list_more(model.index(2, 0))
    for each in tuple(coming):
        each()
    assert model.rowCount() == (4 if pages else 2)


def test_members_are_extracted_from_what_is_listed(window: Window, qtbot: QtBot, store: Store, tmp_path: Path) -> None:
    store.put("members/two.zip", wide(2))
    tab = browsed(window, qtbot, store, "s3://archives/members/")
    choose(tab, 0)
    tab.extract.click()
    qtbot.waitUntil(lambda: bool(window.findChildren(ExtractDialog)), timeout=WAIT)
    settle(qtbot, window)
    dialog = window.findChildren(ExtractDialog)[-1]
    opened = window.tab()
    assert opened is not None
    opened.extract_flow.start(
        ExtractionChoices(None, str(tmp_path / "into"), OnConflict.REFUSE, doubtful=False, keep_damaged=False)
    )
    dialog.reject()
    settle(qtbot, window)
    assert [path.name for path in sorted((tmp_path / "into").iterdir())] == ["000.bin", "001.bin"]


def test_a_listing_that_does_not_come_can_be_cancelled(
    window: Window, qtbot: QtBot, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.gui.ipc.client.CANCEL_TIMEOUT_MS", 1000 * WAIT)
    store.put("stalled/a.bin", b"a")
    asked, gate = Event(), Event()
    try:
        with store.proxy.failing(silence(asked, gate)):
            window.archives._browse("s3://archives/stalled/", store.connection)
            tab = browser(window)
            qtbot.waitUntil(lambda: names(tab) == ["Listing…"] and asked.is_set(), timeout=WAIT)
            assert tab.stop.isVisible()
            QTest.keyClick(tab.tree, Qt.Key.Key_Escape)
            qtbot.waitUntil(lambda: "cancelled" in names(tab)[0], timeout=WAIT)
    finally:
        gate.set()
    assert "process was ended" not in tab.message.text.text()
    tab.tree.activated.emit(tab.model.index(0, 0))
    settle(qtbot, window)
    assert names(tab) == ["a.bin"]


def test_a_listing_for_which_no_process_can_be_started_is_asked_for_again(
    window: Window, qtbot: QtBot, store: Store, no_processes: NoProcesses
) -> None:
    store.put("unstarted/a.bin", b"a")
    with no_processes():
        tab = browsed(window, qtbot, store, "s3://archives/unstarted/")
    assert "No process could be started to browse S3" in tab.message.text.text()
    assert "retry" in names(tab)[0]
    tab.tree.activated.emit(tab.model.index(0, 0))
    settle(qtbot, window)
    assert names(tab) == ["a.bin"]
