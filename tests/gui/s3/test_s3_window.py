"""Objects on S3 in the window: what they cost, and what helps when they cannot be read."""

from __future__ import annotations

from threading import Event
from typing import Any

import pytest
from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.document.watches import LABELS
from inspector.gui.kit.listing import Rows
from inspector.gui.kit.locations import from_mime
from inspector.gui.panels.requests import COLUMNS, LOCAL, RequestTotals, totals_details
from inspector.operations.protocol.browse_views import ErrorAction, RemoteState
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Stage
from inspector.sources.s3.request_log import OPEN_END, Phase, Request, Totals, Why
from tests.gui.conftest import WAIT, Show, press, settle
from tests.gui.s3.s3_store import *  # noqa: F403 - its fixtures
from tests.gui.s3.s3_store import Store, opened_at, wide
from tests.s3.bad_days import MEMBERS
from tests.s3.conftest import BUCKET
from tests.s3.proxy import refuse, stalling


def offered(tab: Tab) -> list[ErrorAction]:
    """The buttons that are there."""
    return (
        [remedy for remedy in LABELS if not tab.error_actions.buttons[remedy].isHidden()]
        if tab.error_actions.isVisible()
        else []
    )


def shown(window: Window) -> Tab:
    tab = window.tab()
    assert tab is not None
    return tab


# ---- what it costs -------------------------------------------------------------------------------------------------


def what_it_costs_is_listed_and_told_at_the_foot(window: Window, qtbot: QtBot, store: Store, tab: Tab) -> None:
    tab.docks["Requests"].raise_()
    settle(qtbot, window)
    model, made = tab.request_panel.model, len(store.proxy.log)
    assert model.rowCount() == made
    assert [model.index(0, column).data() for column in (1, 2, 5)] == [
        "GET",
        "last 1,048,576 bytes",
        "206",
    ]
    totals = window.findChild(RequestTotals)
    assert totals is not None
    assert totals.isVisible()
    assert totals.text().startswith(f"{made} requests, 1.")
    assert totals.text().endswith(" of 8.6 MiB")
    tab.request_panel.table.selectAll()
    tab.request_panel.table.setFocus()
    press(window, "copy")
    assert QGuiApplication.clipboard().text().count("GET") == made


def the_map_shades_what_is_kept(window: Window, qtbot: QtBot, tab: Tab) -> None:
    view = tab.hex_pane.map
    qtbot.waitUntil(lambda: "cached" in view.describe(view.height() - 1), timeout=WAIT)
    middle = view.height() // 2
    assert "not read yet" in view.describe(middle)
    tab.document.go_to(0, tab.document.size // 2, tab.document.size // 2)
    settle(qtbot, window)
    assert any("cached" in view.describe(y) for y in range(middle - 3, middle + 4))


def the_window_answers_while_bytes_are_late(window: Window, qtbot: QtBot, store: Store, tab: Tab) -> None:
    gate, told = Event(), []
    try:
        with store.proxy.failing(stalling(gate)):
            tab.document.go_to(0, 2_500_000, 2_500_000)
            tab.document.client.ask(ArchiveRequests.status).then(told.append)
            qtbot.waitUntil(lambda: bool(told), timeout=WAIT)
            assert tab.document.client.outstanding
            tab.document.go_to(0, 10, 10)
            assert tab.hex_pane.hex.caret() == 10
            gate.set()
            settle(qtbot, window)
    finally:
        gate.set()


def test_looking_at_an_archive_takes_few_requests_which_are_listed_and_mapped(
    window: Window, qtbot: QtBot, store: Store
) -> None:
    tab = opened_at(window, qtbot, store, store.put("cost.zip", wide()))
    assert tab.document.status.members == MEMBERS
    assert len(store.proxy.log) <= 2, "none for each member"
    what_it_costs_is_listed_and_told_at_the_foot(window, qtbot, store, tab)
    the_map_shades_what_is_kept(window, qtbot, tab)
    before = len(store.proxy.log)
    tab.document.select_member(20, "test")
    settle(qtbot, window)
    assert len(store.proxy.log) <= before + 2
    the_window_answers_while_bytes_are_late(window, qtbot, store, tab)


def test_what_is_on_this_computer_costs_nothing(show: Show, window: Window) -> None:
    tab = show("journey.caf")
    assert tab.request_panel.stack.shown_sentence() == LOCAL
    assert window.findChild(RequestTotals) is None


def test_requests_in_flight_stand_last_until_they_have_finished(qtmodeltester: Any) -> None:
    def made(number: int, phase: Phase) -> Request:
        status = 200 if phase is Phase.DONE else 0
        stop = 9 if phase is Phase.DONE else OPEN_END
        return Request(number, "GET", "s3://b/k", 0, stop, 5, 1.5, status, Why.READING, phase=phase)

    model = Rows(COLUMNS)
    qtmodeltester.check(model)
    model.renew((made(0, Phase.DONE), made(1, Phase.RECEIVING), made(2, Phase.WAITING)))
    assert [model.index(row, 5).data() for row in range(3)] == ["200", "receiving", "waiting"]
    assert model.index(1, 2).data() == "0.. to the end"
    model.renew((made(0, Phase.DONE), made(2, Phase.DONE)))
    assert [model.index(row, 5).data() for row in range(model.rowCount())] == ["200", "200"]


def test_the_totals_say_what_is_in_flight_waiting_and_retried() -> None:
    totals = Totals(requests=12, received=3_000, retried=2)
    said = totals_details(RemoteState(totals, 9_000, in_flight=5, waiting=3))
    assert said.endswith(", 5 in flight (3 waiting for the server), 2 retried")
    assert "flight" not in totals_details(RemoteState(Totals(), 9_000))


# ---- what helps ----------------------------------------------------------------------------------------------------


def a_failing_look_at_bytes_leaves_the_rest(window: Window, qtbot: QtBot, store: Store, tab: Tab) -> None:
    with store.proxy.failing(refuse(403, "AccessDenied")):
        tab.document.go_to(0, 4_000_000, 4_000_000)
        settle(qtbot, window)
        assert offered(tab) == [ErrorAction.UNSIGNED, ErrorAction.CONNECTION]
    assert tab.document.status.members == MEMBERS
    tab.document.go_to(0, 6_000_000, 6_000_000)
    settle(qtbot, window)
    qtbot.waitUntil(lambda: offered(tab) == [], timeout=WAIT)
    assert tab.hex_pane.hex.model is not None


def test_bytes_that_fail_leave_the_rest_and_what_was_replaced_can_be_read_again(
    window: Window, qtbot: QtBot, store: Store
) -> None:
    window.archives.connections.remember("s3://archives/", store.connection)
    store.put("replaced.zip", wide())
    window.open_location("s3://AKIACANARYCANARY:hush@archives/replaced.zip")
    settle(qtbot, window)
    tab = shown(window)
    assert tab.document.location == "s3://archives/replaced.zip", "credentials in an address are kept nowhere"
    assert list(window.settings.recent) == ["s3://archives/replaced.zip"]
    assert window.tabs.tabToolTip(0) == "s3://archives/replaced.zip"
    a_failing_look_at_bytes_leaves_the_rest(window, qtbot, store, tab)

    store.put("replaced.zip", wide(3))
    tab.document.go_to(0, 4_000_000, 4_000_000)
    settle(qtbot, window)
    qtbot.waitUntil(lambda: offered(tab) == [ErrorAction.RELOAD], timeout=WAIT)
    qtbot.waitUntil(lambda: not tab.note.isVisible(), timeout=WAIT)  # what is wrong is said once
    assert "was replaced while it was open" in tab.error_actions.sentence.text()
    values = tab.hex_pane.inspector.model()
    assert values.index(0, 1).data() == "–", "what stands elsewhere is no value of these bytes"
    assert tab.document.status.members == MEMBERS
    tab.error_actions.buttons[ErrorAction.RELOAD].click()
    settle(qtbot, window)
    assert shown(window).document.status.members == 3
    assert offered(shown(window)) == []


def test_a_pasted_address_opens_and_what_is_denied_can_be_asked_without_signing(
    window: Window, qtbot: QtBot, store: Store
) -> None:
    location = store.put("public.zip", wide(2))
    store.client.put_object_acl(Bucket=BUCKET, Key="public.zip", ACL="public-read")
    store.proxy.fail(refuse(403, "AccessDenied"))
    window.archives.connections.remember(location, store.connection)
    QGuiApplication.clipboard().setText(f"  {location}\n")
    press(window, "paste_locations")
    settle(qtbot, window)
    tab = shown(window)
    assert "not allowed (403)" in tab.banner.state.text()
    assert "--" not in tab.banner.state.text()
    assert offered(tab) == [ErrorAction.UNSIGNED, ErrorAction.CONNECTION]
    assert "Authorization" in store.proxy.log[-1].headers
    tab.error_actions.buttons[ErrorAction.UNSIGNED].click()
    settle(qtbot, window)
    fresh = shown(window)
    assert fresh.document.status.stage is Stage.READY
    assert fresh.document.status.members == 2
    assert fresh.document.connection.anonymous
    assert "Authorization" not in store.proxy.log[-1].headers
    assert offered(fresh) == []


def test_a_prefix_that_is_no_dataset_can_be_browsed(window: Window, qtbot: QtBot, store: Store) -> None:
    store.put("plain/a.txt", b"a")
    tab = opened_at(window, qtbot, store, "s3://archives/plain/")
    assert offered(tab) == [ErrorAction.BROWSE]
    tab.error_actions.buttons[ErrorAction.BROWSE].click()
    settle(qtbot, window)
    assert window.windowTitle().startswith("Browse S3")


# ---- ways in -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["s3://bucket/key.zip", "'s3://bucket/a key.zip'"])
def test_dropped_text_is_an_address(text: str) -> None:
    data = QMimeData()
    data.setText(text)
    assert from_mime(data) == [text.strip("'")]
