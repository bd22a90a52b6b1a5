"""Archives on S3 that are changed in the window: asked before anything is sent, and nothing lost where it fails."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.operations.protocol.browse_views import ErrorAction
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Stage
from tests.gui.conftest import WAIT, answer, overwrite, press, previewed, settle
from tests.gui.panels.repair_consent import agree_to_all
from tests.gui.s3.s3_edit_helpers import KEY, agree, asked, data, entry, note, point_to, question, tab, writes
from tests.gui.s3.s3_store import *  # noqa: F403 - its fixtures
from tests.gui.s3.s3_store import Store, opened_at
from tests.s3.conftest import BUCKET, forget_conditions
from tests.s3.proxy import Fault, Forward, Reply, Seen, refuse, silence, silent
from tests.s3.writing.writing import MEBI, content, taco, unfinished

__all__ = ["data", "tab"]


def a_header_is_sent_once_that_is_agreed_to(window: Window, qtbot: QtBot, store: Store, tab: Tab) -> None:
    point_to(window, qtbot, tab, 200)
    assert entry(tab) == 200
    assert tab.request_watch.state is not None, "what it costs is told while something is pending too"
    asked(window, qtbot).reject()
    settle(qtbot, window)
    assert writes(store) == []
    assert tab.editing.pending is not None

    dialog = asked(window, qtbot)
    told = dialog.lines.toPlainText()
    assert "bytes 0 to 5,242,880: 5.0 MiB, read and sent again" in told
    assert "a multipart upload of 3 parts" in told
    assert str(store.client.head_object(Bucket=BUCKET, Key=KEY)["ETag"]) in told
    assert "Set the TACO header" in dialog.sentence.text()
    assert writes(store) == []
    agree(window, qtbot, tab, dialog)
    assert "copied by the server" in note(tab)
    assert tab.editing.pending is None
    assert entry(tab) == 200
    assert tab.document.status.stage is Stage.READY
    assert tab.request_watch.state is not None
    assert tab.request_watch.state.totals.sent > 5 * MEBI, "the log goes on over the writing"
    assert content(store, KEY)[13:15] != b""

    tab.document.go_to(0, 3 * MEBI, 3 * MEBI + 4)
    settle(qtbot, window)
    assert not tab.error_actions.isVisible(), "the tab shows the new object"


def bytes_are_typed_over_and_sent(window: Window, qtbot: QtBot, store: Store, tab: Tab, data: bytes) -> None:
    tab.document.go_to(0, 1 * MEBI, 1 * MEBI)
    settle(qtbot, window)
    overwrite(window, tab, 1 * MEBI, "ff")
    previewed(qtbot, window, tab)
    agree(window, qtbot, tab, asked(window, qtbot))
    expected = bytearray(data)
    expected[1 * MEBI] = 0xFF
    assert content(store, KEY) == expected


def test_what_is_agreed_to_is_sent_once_and_can_be_taken_back(
    window: Window, qtbot: QtBot, store: Store, tab: Tab, data: bytes
) -> None:
    a_header_is_sent_once_that_is_agreed_to(window, qtbot, store, tab)
    assert content(store, KEY) != data
    assert tab.editing.can_take_back
    agree(window, qtbot, tab, asked(window, qtbot, "take_back"))
    assert content(store, KEY) == data
    assert entry(tab) == 1
    bytes_are_typed_over_and_sent(window, qtbot, store, tab, data)


@pytest.mark.sweep
def test_what_was_sent_is_listed_and_taken_back_by_a_later_session(
    window: Window, qtbot: QtBot, store: Store, data: bytes
) -> None:
    key = "window/history.tacozip"
    location = store.put(key, data)
    tab = opened_at(window, qtbot, store, location)
    assert tab.editing.past == ()
    point_to(window, qtbot, tab, 200)
    agree(window, qtbot, tab, asked(window, qtbot))
    sent = content(store, key)
    press(window, "close_tab")
    tab = opened_at(window, qtbot, store, location)

    qtbot.waitUntil(lambda: [each.can_take_back for each in tab.editing.past] == [True])
    assert tab.changes.past.index(0, 1).data().startswith("Set the TACO header")
    agree(window, qtbot, tab, asked(window, qtbot, "take_back"))
    assert content(store, key) == data != sent
    qtbot.waitUntil(lambda: len(tab.editing.past) == 2)

    other = data[:13] + b"?" + data[14:]
    store.put(key, other)  # by another program
    agree(window, qtbot, tab, asked(window, qtbot, "take_back"))
    assert content(store, key) == other
    tab.editing.forget_past()
    settle(qtbot, window)
    assert tab.editing.past == ()


def a_change_is_kept_until_the_object_is_read_again(
    window: Window, qtbot: QtBot, store: Store, tab: Tab, data: bytes
) -> None:
    point_to(window, qtbot, tab, 200)
    theirs = data.replace(b"\1" * 99, b"\7" * 99)
    store.put(KEY, theirs)

    agree(window, qtbot, tab, asked(window, qtbot))

    qtbot.waitUntil(tab.error_actions.isVisible, timeout=WAIT)
    assert "was not changed" in tab.error_actions.sentence.text()
    assert tab.editing.pending is not None
    assert content(store, KEY) == theirs
    tab.error_actions.buttons[ErrorAction.RELOAD].click()
    previewed(qtbot, window, tab)
    assert window.tab() is tab
    assert tab.editing.pending is not None
    assert not tab.error_actions.isVisible()
    agree(window, qtbot, tab, asked(window, qtbot))
    assert tab.editing.pending is None
    after = content(store, KEY)
    assert after != theirs
    assert after[300:] != data[300:], "the bytes of the others stay"


def a_change_that_fits_no_more_is_not_lost(
    window: Window, qtbot: QtBot, store: Store, tab: Tab, tmp_path: Path
) -> None:
    point_to(window, qtbot, tab, 300)
    store.put(KEY, b"something else")
    agree(window, qtbot, tab, asked(window, qtbot))
    qtbot.waitUntil(tab.error_actions.isVisible, timeout=WAIT)

    with qtbot.waitSignal(tab.document.reported, timeout=WAIT) as said:
        tab.error_actions.buttons[ErrorAction.RELOAD].click()

    assert said.args is not None
    assert "is for a file of" in said.args[0]
    settle(qtbot, window)
    pending = tab.editing.pending
    assert pending is not None
    with qtbot.waitSignal(tab.document.reported, timeout=WAIT):
        tab.document.start(ArchiveRequests.export_patch, pending, str(tmp_path / "kept.json")).then(
            tab.document.reported.emit
        )
    assert (tmp_path / "kept.json").exists()


def test_nothing_is_lost_of_a_change_to_an_object_that_was_replaced(
    window: Window, qtbot: QtBot, store: Store, tab: Tab, tmp_path: Path, data: bytes
) -> None:
    a_change_is_kept_until_the_object_is_read_again(window, qtbot, store, tab, data)
    a_change_that_fits_no_more_is_not_lost(window, qtbot, store, tab, tmp_path)


def sending_can_be_cancelled(window: Window, qtbot: QtBot, store: Store, tab: Tab, data: bytes) -> None:
    reached, gate = Event(), Event()

    def sends(seen: Seen) -> bool:
        return seen.method == "PUT" and not any(name.lower() == "x-amz-copy-source" for name in seen.headers)

    dialog = asked(window, qtbot)
    with store.proxy.failing(silence(reached, gate, sends)):
        dialog.answer.click()
        qtbot.waitUntil(reached.is_set, timeout=WAIT)
        with qtbot.waitSignal(tab.document.reported, timeout=WAIT):
            press(window, "cancel")
            gate.set()
        settle(qtbot, window)

    assert "writing it was cancelled" in note(tab)
    assert tab.editing.pending is not None
    assert content(store, KEY) == data
    assert unfinished(store) == []


def test_sending_is_cancelled_and_all_of_it_is_sent_only_when_that_is_agreed_to_too(
    window: Window, qtbot: QtBot, store: Store, tab: Tab, data: bytes
) -> None:
    point_to(window, qtbot, tab, 200)
    sending_can_be_cancelled(window, qtbot, store, tab, data)

    def failing(seen: Seen, forward: Forward) -> Reply:
        copies = any(name.lower() == "x-amz-copy-source" for name in seen.headers)
        return refuse(501, "NotImplemented")(seen, forward) if copies else forward()

    forget_conditions()
    store.proxy.enforces = False
    with store.proxy.failing(failing):
        dialog = asked(window, qtbot)
        dialog.answer.click()
        qtbot.waitUntil(lambda: not dialog.isVisible(), timeout=WAIT)
        risky = question(window, qtbot)
        assert "does not refuse to overwrite an object that someone else replaced" in risky.sentence.text()
        assert "(Send Anyway)" in risky.sentence.text()
        assert risky.answer.text().replace("&", "") == "Send Anyway"
        assert not risky.answer.isDefault()
        assert content(store, KEY) == data
        risky.answer.click()
        qtbot.waitUntil(lambda: not risky.isVisible(), timeout=WAIT)
        again = question(window, qtbot)
        assert "this server cannot copy parts of objects" in again.sentence.text()
        assert "(Send All of It)" in again.sentence.text()
        assert again.answer.text().replace("&", "") == "Send All of It"
        assert "bytes 0 to 13," in again.lines.toPlainText()
        assert content(store, KEY) == data
        agree(window, qtbot, tab, again)
    assert tab.editing.pending is None
    assert content(store, KEY) != data


@pytest.mark.sweep
def test_an_answer_that_is_lost_does_not_hide_that_it_is_written(
    window: Window, qtbot: QtBot, store: Store, tab: Tab, data: bytes
) -> None:
    point_to(window, qtbot, tab, 200)

    def losing(seen: Seen, forward: Forward) -> Reply:
        reply = forward()
        if seen.method == "POST" and "uploadId" in seen.path:
            reply.sent = 20
        return reply

    dialog = asked(window, qtbot)
    with store.proxy.failing(losing):
        agree(window, qtbot, tab, dialog)
    assert tab.editing.pending is None
    assert "copied by the server" in note(tab)
    assert content(store, KEY) != data
    assert entry(tab) == 200


@pytest.mark.sweep
@pytest.mark.parametrize("method", ["PUT", "POST"])
@pytest.mark.parametrize(
    "fault",
    [silent, refuse(403, "AccessDenied"), refuse(500, "InternalError"), refuse(404, "NoSuchKey")],
    ids=["silent", "403", "500", "404"],
)
def test_a_failure_is_a_sentence_and_the_next_try_succeeds(
    window: Window, qtbot: QtBot, store: Store, tab: Tab, data: bytes, fault: Fault, method: str
) -> None:
    point_to(window, qtbot, tab, 200)

    def failing(seen: Seen, forward: Forward) -> Reply:
        return fault(seen, forward) if seen.method == method else forward()

    dialog = asked(window, qtbot)
    with store.proxy.failing(failing):
        agree(window, qtbot, tab, dialog)
    assert "was not changed" in note(tab)
    assert "--" not in note(tab)
    assert tab.editing.pending is not None
    assert content(store, KEY) == data
    assert unfinished(store) == []

    agree(window, qtbot, tab, asked(window, qtbot))
    assert tab.editing.pending is None
    assert content(store, KEY) != data


@pytest.mark.sweep
def test_closing_the_tab_while_it_is_sent_leaves_nothing(
    window: Window, qtbot: QtBot, store: Store, tab: Tab, data: bytes
) -> None:
    point_to(window, qtbot, tab, 200)
    reached, gate = Event(), Event()
    dialog = asked(window, qtbot)
    with store.proxy.failing(silence(reached, gate, lambda seen: seen.method == "PUT")):
        dialog.answer.click()
        qtbot.waitUntil(reached.is_set, timeout=WAIT)
        press(window, "close_tab")
        link = tab.document.client.link
        answer(window.findChildren(QMessageBox)[-1], "Close")
        gate.set()
        qtbot.waitUntil(lambda: link.process is None, timeout=WAIT)

    assert content(store, KEY) == data
    assert unfinished(store) == []


@pytest.mark.sweep
def test_repairing_in_place_asks_too(window: Window, qtbot: QtBot, store: Store, tmp_path: Path) -> None:
    whole = taco(tmp_path, [1000])
    tab = opened_at(window, qtbot, store, store.put("window/torn.tacozip", whole + b"garbage"))
    press(window, "plan_repairs")
    settle(qtbot, window)
    agree_to_all(tab, window, qtbot)
    assert tab.repair.buttons["make"].isEnabled()
    tab.repair.buttons["make"].click()
    dialog = question(window, qtbot)
    assert "7 bytes cut off" in dialog.sentence.text()
    assert writes(store) == []
    agree(window, qtbot, tab, dialog)
    assert content(store, "window/torn.tacozip") == whole
    assert tab.document.status.state == "sound"
