"""How S3 is to be reached: the form, the dialog, and what is remembered."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import Window
from inspector.gui.dialogs.open_location import HINT, LOCAL_PATH, OpenLocationDialog
from inspector.gui.document.connections import SETTING, Connections
from inspector.gui.kit.preferences import Settings
from inspector.gui.panels.s3_connection import INVALID_URL, NO_SECRETS, UNENCRYPTED, ConnectionForm, endpoint_problem
from inspector.sources.s3.connection import DEFAULT, Connection, Profile
from tests.gui.conftest import WAIT, dialog_of, press, settle
from tests.gui.s3.s3_store import *  # noqa: F403 - its fixtures
from tests.gui.s3.s3_store import Store, wide
from tests.s3.proxy import refuse

WORK = Connection("work", "eu-west-1", "https://s3.example.org", requester_pays=True)


def test_a_bucket_is_reached_as_it_was_before(settings: Settings) -> None:
    Connections(settings).remember("s3://one/key", WORK)
    Connections(settings).remember("s3://two/", Connection(anonymous=True))
    fresh = Connections(settings)
    assert fresh.of("s3://one/other") == WORK
    assert fresh.of("s3://two/other").anonymous
    assert fresh.of("s3://three/") == DEFAULT
    assert fresh.of("/a/path") == DEFAULT
    assert fresh.known("s3://three/") == fresh.latest() == Connection(anonymous=True)
    assert fresh.endpoints() == [WORK.endpoint]
    assert fresh.at(WORK.endpoint) == WORK
    fresh.remember("s3://one/", DEFAULT)
    assert fresh.known("s3://one/") == DEFAULT


@pytest.mark.parametrize(
    "stored", ["{", "3", "[1]", '[{"bucket": "b", "anonymous": "yes", "region": 4, "more": 1, "addressing": "x"}]']
)
def test_settings_that_make_no_sense_are_left_out(settings: Settings, stored: str) -> None:
    settings.set_text(SETTING, stored)
    assert Connections(settings).of("s3://b/") == DEFAULT


def test_an_endpoint_is_remembered_without_credentials(settings: Settings) -> None:
    Connections(settings).remember("s3://b/", Connection(endpoint="https://user:hush@host:9000"))
    assert "hush" not in settings.text(SETTING)
    assert Connections(settings).of("s3://b/").endpoint == "https://host:9000"


@pytest.mark.parametrize(
    ("endpoint", "trouble"),
    [
        ("", ""),
        ("https://s3.example.org", ""),
        ("http://127.0.0.1:9000", ""),
        ("host:9000", INVALID_URL),
        ("https://", INVALID_URL),
        ("https://host:port", INVALID_URL),
        ("http://[", INVALID_URL),
        ("https://user:hush@host", NO_SECRETS),
    ],
)
def test_an_endpoint_is_the_address_of_a_server(endpoint: str, trouble: str) -> None:
    assert endpoint_problem(endpoint) == trouble


def test_sending_in_the_clear_needs_a_word(qtbot: QtBot) -> None:
    form = ConnectionForm()
    qtbot.addWidget(form)
    form.show_connection(Connection(endpoint="http://s3.example.org"))
    assert form.problem() == form.note.text() == UNENCRYPTED
    form.exposed.setChecked(True)
    assert form.problem() == ""
    form.show_connection(Connection(endpoint="http://localhost:9000"))
    assert form.exposed.isHidden()


def test_a_form_gives_what_was_shown(qtbot: QtBot) -> None:
    form = ConnectionForm()
    qtbot.addWidget(form)
    form.show_connection(WORK)
    form.offer_profiles([Profile("work", "eu-west-1"), Profile("<b>play</b>")])
    assert form.connection() == WORK
    assert form.note.text() == "This profile sets region eu-west-1."
    form.fields["anonymous"].setChecked(True)
    assert form.connection().profile == ""
    assert not form.profile.isEnabled()


def test_profiles_that_arrive_are_no_edit(qtbot: QtBot) -> None:
    """Else a bucket that is typed afterwards would not get its remembered connection."""
    form = ConnectionForm()
    qtbot.addWidget(form)
    with qtbot.assertNotEmitted(form.changed):
        form.offer_profiles([Profile("work"), Profile("play")])
    with qtbot.waitSignal(form.changed):
        form.profile.setEditText("work")


def a_path_behind_the_scheme_is_a_path(window: Window, qtbot: QtBot) -> None:
    typed = {
        "s3:///home/me/a.caf": "/home/me/a.caf",
        "s3://~/a.caf": "~/a.caf",
        "s3://../a.caf": "../a.caf",
        "s3://C:\\a.caf": "C:\\a.caf",
        "s3://s3://bucket/key": "s3://bucket/key",
        "s3://bucket/key": "s3://bucket/key",
    }
    for text, meant in typed.items():
        dialog = window.archives._ask()
        with qtbot.waitSignal(dialog.chosen) as chosen:
            dialog.location.setText(text)
            dialog.accept()
        assert chosen.args is not None
        assert chosen.args[0] == meant


def it_is_said_why_nothing_can_be_opened(dialog: OpenLocationDialog) -> None:
    for typed in ("s3://", "", "s3://bucket:hush/key"):
        dialog.location.setText(typed)
        assert not dialog.answer.isEnabled()
        assert dialog.answer.toolTip() == dialog.remark.text() != ""
        assert "hush" not in dialog.remark.text()


def typing_takes_the_place_of_what_the_dialog_begins_with(dialog: OpenLocationDialog) -> None:
    QTest.keyClicks(dialog.location, "/a/path")
    assert dialog.text() == "/a/path"
    assert dialog.remark.text() == LOCAL_PATH
    assert dialog.answer.isEnabled()


def the_dialog_knows_a_bucket_again(dialog: OpenLocationDialog) -> None:
    assert dialog.remark.text() == LOCAL_PATH
    assert not dialog.form.isEnabled()
    dialog.location.setText("s3://one/key")
    assert dialog.form.connection() == WORK
    dialog.form.fields["region"].setText("us-east-2")
    dialog.location.setText("s3://two/key")
    assert dialog.form.connection().region == "us-east-2"


def an_endpoint_that_was_used_brings_its_profile_along(dialog: OpenLocationDialog) -> None:
    assert dialog.location.selectedText() == "s3://new/key", "typing replaces it"
    assert dialog.form.connection() == DEFAULT
    dialog.form.endpoint.setCurrentIndex(0)
    dialog.form.endpoint.activated.emit(0)
    assert dialog.form.connection() == WORK


def test_what_is_typed_is_understood_and_a_bucket_known_again(window: Window, qtbot: QtBot) -> None:
    typing_takes_the_place_of_what_the_dialog_begins_with(window.archives._ask())
    it_is_said_why_nothing_can_be_opened(window.archives._ask())
    a_path_behind_the_scheme_is_a_path(window, qtbot)
    window.archives.connections.remember("s3://one/", WORK)
    window.archives.connections.remember("s3://two/", DEFAULT)
    for begun_with, holds in (
        ("/a/path", the_dialog_knows_a_bucket_again),
        ("s3://new/key", an_endpoint_that_was_used_brings_its_profile_along),
    ):
        dialog = window.archives._ask(begun_with)
        dialog.open()
        holds(dialog)
        dialog.reject()
        qtbot.waitUntil(lambda dialog=dialog: dialog.client.link.process is None, timeout=WAIT)


def a_connection_is_tested_before_it_is_used(
    dialog: OpenLocationDialog, window: Window, qtbot: QtBot, store: Store
) -> None:
    form = dialog.form
    form.endpoint.setEditText(store.proxy.url)
    form.fields["addressing"].setCurrentIndex(form.fields["addressing"].findData("path"))
    assert form.outcome.isHidden()
    QTest.keyClick(form.test, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: "reached" in form.outcome.text(), timeout=WAIT)
    assert form.outcome.text().startswith("It works. The bucket archives can be listed. It was reached at ")
    assert form.connection().addressing == "path"
    with store.proxy.failing(refuse(403, "AccessDenied")):
        QTest.keyClick(form.test, Qt.Key.Key_Space)
        qtbot.waitUntil(lambda: "(403)" in form.outcome.text(), timeout=WAIT)
    assert form.outcome.text().startswith("It does not work. Reading s3://archives/tested.zip is not allowed")
    form.fields["region"].setText("eu-west-9")
    assert form.outcome.isHidden(), "what was told of another connection is gone"
    dialog.reject()
    assert not window.settings.recent


def test_an_address_is_tried_with_a_profile_and_opened(
    window: Window, qtbot: QtBot, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.write_text("[profile work]\nregion = eu-west-1\nendpoint_url = https://s3.example.org\n[default]\n")
    with monkeypatch.context() as patched:
        patched.setenv("AWS_CONFIG_FILE", str(config))
        dialog = window.archives._ask()
        dialog.open()
        box = dialog.form.profile
        qtbot.waitUntil(lambda: box.count() == 2, timeout=WAIT)
    assert [box.itemText(row) for row in range(2)] == ["default", "work"]
    box.setCurrentIndex(1)
    assert dialog.form.note.text() == "This profile sets region eu-west-1 and endpoint https://s3.example.org."
    dialog.reject()

    dialog = window.archives._ask(store.put("tested.zip", wide(1)))
    dialog.open()
    a_connection_is_tested_before_it_is_used(dialog, window, qtbot, store)

    location = store.put("typed.zip", wide(2))
    press(window, "ask_location")
    asked = dialog_of(window, OpenLocationDialog)
    assert isinstance(asked, OpenLocationDialog)
    assert asked.remark.text() == HINT
    assert not asked.answer.isEnabled()
    asked.location.selectAll()
    QTest.keyClicks(asked.location, location)
    asked.form.endpoint.setEditText(store.proxy.url)
    QTest.keyClick(asked.location, Qt.Key.Key_Return)
    settle(qtbot, window)
    tab = window.tab()
    assert tab is not None
    assert tab.document.status.members == 2
    assert list(window.settings.recent) == [location]
    assert window.archives.connections.of(location) == Connection(endpoint=store.proxy.url)
