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
from inspector.gui.kit.settings import Settings
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
    form.anonymous.setChecked(True)
    assert form.connection().profile == ""
    assert not form.profile.isEnabled()


def test_profiles_that_arrive_are_no_edit(qtbot: QtBot) -> None:
    """Else a bucket that is typed afterwards would not get its remembered connection."""
    form = ConnectionForm()
    qtbot.addWidget(form)
    with qtbot.assertNotEmitted(form.changed):
        form.offer_profiles([Profile("work"), Profile("play")])
        form.offer_endpoints(["https://s3.example.org"])
    with qtbot.waitSignal(form.changed):
        form.profile.setEditText("work")


def test_an_address_is_typed_and_opened(window: Window, qtbot: QtBot, store: Store) -> None:
    location = store.put("typed.zip", wide(2))
    press(window, "ask_location")
    dialog = dialog_of(window, OpenLocationDialog)
    assert isinstance(dialog, OpenLocationDialog)
    assert dialog.remark.text() == HINT
    assert not dialog.open_.isEnabled()
    dialog.location.selectAll()
    QTest.keyClicks(dialog.location, location)
    dialog.form.endpoint.setEditText(store.proxy.url)
    QTest.keyClick(dialog.location, Qt.Key.Key_Return)
    settle(qtbot, window)
    tab = window.tab()
    assert tab is not None
    assert tab.document.status.members == 2
    assert window.settings.recent == [location]
    assert window.s3_actions.connections.of(location) == Connection(endpoint=store.proxy.url)


def test_a_connection_is_tested_before_it_is_used(window: Window, qtbot: QtBot, store: Store) -> None:
    location = store.put("tested.zip", wide(1))
    dialog = window.s3_actions._ask(location)
    dialog.open()
    form = dialog.form
    form.endpoint.setEditText(store.proxy.url)
    form.addressing.setCurrentIndex(form.addressing.findData("path"))
    assert form.outcome.isHidden()
    QTest.keyClick(form.test, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: "reached" in form.outcome.text(), timeout=WAIT)
    assert form.outcome.text().startswith("It works. The bucket archives can be listed. It was reached at ")
    assert form.connection().addressing == "path"
    with store.proxy.failing(refuse(403, "AccessDenied")):
        QTest.keyClick(form.test, Qt.Key.Key_Space)
        qtbot.waitUntil(lambda: "(403)" in form.outcome.text(), timeout=WAIT)
    assert form.outcome.text().startswith("It does not work. Reading s3://archives/tested.zip is not allowed")
    form.region.setText("eu-west-9")
    assert form.outcome.isHidden(), "what was told of another connection is gone"
    dialog.reject()
    assert window.settings.recent == []


def test_the_dialog_knows_a_bucket_again(window: Window, qtbot: QtBot) -> None:
    window.s3_actions.connections.remember("s3://one/", WORK)
    window.s3_actions.connections.remember("s3://two/", DEFAULT)
    dialog = window.s3_actions._ask("/a/path")
    dialog.open()
    assert dialog.remark.text() == LOCAL_PATH
    assert not dialog.form.isEnabled()
    dialog.location.setText("s3://one/key")
    assert dialog.form.connection() == WORK
    dialog.form.region.setText("us-east-2")
    dialog.location.setText("s3://two/key")
    assert dialog.form.connection().region == "us-east-2"
    dialog.reject()
    qtbot.waitUntil(lambda: dialog.client.link.process is None, timeout=WAIT)


def test_profiles_come_from_the_configuration(
    window: Window, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.write_text("[profile work]\nregion = eu-west-1\nendpoint_url = https://s3.example.org\n[default]\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    dialog = window.s3_actions._ask()
    dialog.open()
    box = dialog.form.profile
    qtbot.waitUntil(lambda: box.count() == 2, timeout=WAIT)
    assert [box.itemText(row) for row in range(2)] == ["default", "work"]
    box.setCurrentIndex(1)
    assert dialog.form.note.text() == "This profile sets region eu-west-1 and endpoint https://s3.example.org."
    dialog.reject()


def test_an_endpoint_that_was_used_brings_its_profile_along(window: Window) -> None:
    window.s3_actions.connections.remember("s3://one/", WORK)
    window.s3_actions.connections.remember("s3://two/", DEFAULT)
    dialog = window.s3_actions._ask("s3://new/key")
    dialog.open()
    assert dialog.location.selectedText() == "s3://new/key", "typing replaces it"
    assert dialog.form.connection() == DEFAULT
    dialog.form.endpoint.setCurrentIndex(0)
    dialog.form.endpoint.activated.emit(0)
    assert dialog.form.connection() == WORK
    dialog.reject()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("s3:///home/me/a.caf", "/home/me/a.caf"),
        ("s3://~/a.caf", "~/a.caf"),
        ("s3://../a.caf", "../a.caf"),
        ("s3://C:\\a.caf", "C:\\a.caf"),
        ("s3://s3://bucket/key", "s3://bucket/key"),
        ("s3://bucket/key", "s3://bucket/key"),
    ],
)
def test_a_path_behind_the_scheme_is_a_path(window: Window, qtbot: QtBot, typed: str, meant: str) -> None:
    dialog = window.s3_actions._ask()
    with qtbot.waitSignal(dialog.chosen) as chosen:
        dialog.location.setText(typed)
        dialog.accept()
    assert chosen.args is not None
    assert chosen.args[0] == meant


def test_typing_takes_the_place_of_what_the_dialog_begins_with(window: Window) -> None:
    dialog = window.s3_actions._ask()
    QTest.keyClicks(dialog.location, "/a/path")
    assert dialog.text() == "/a/path"
    assert dialog.remark.text() == LOCAL_PATH
    assert dialog.open_.isEnabled()


@pytest.mark.parametrize("typed", ["s3://", "", "s3://bucket:hush/key"])
def test_it_is_said_why_nothing_can_be_opened(window: Window, typed: str) -> None:
    dialog = window.s3_actions._ask()
    dialog.location.setText(typed)
    assert not dialog.open_.isEnabled()
    assert dialog.open_.toolTip() == dialog.remark.text() != ""
    assert "hush" not in dialog.remark.text()
