"""Addresses on the web in the window: opened like files, and their queries are nowhere."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from inspector.core.verdict import State
from inspector.gui.app.start_page import NO_SESSION, SESSION, session_from_json
from inspector.gui.app.window import Window
from inspector.gui.dialogs.open_location import OpenLocationDialog
from inspector.gui.kit.locations import from_mime, name_of
from inspector.sources.web.address import enter
from tests.gui.conftest import dialog_of, press, settle
from tests.processes import arguments
from tests.s3.bad_days import wide
from tests.s3.conftest import credentials, server, site
from tests.s3.proxy import refuse
from tests.s3.site import SECRET, Site

__all__ = ["credentials", "server", "site"]


def asked(window: Window) -> OpenLocationDialog:
    press(window, "ask_location")
    dialog = dialog_of(window, OpenLocationDialog)
    assert isinstance(dialog, OpenLocationDialog)
    return dialog


def test_a_signed_address_is_opened_and_kept_nowhere_one_without_a_query_is_among_the_recent(
    window: Window, qtbot: QtBot, site: Site, tmp_path: Path
) -> None:
    window.sessions.begin()
    dialog = asked(window)
    dialog.location.setText(site.put("signed.zip", wide(12)))
    assert dialog.answer.isEnabled()
    assert "only read" in dialog.remark.text()
    dialog.answer.click()
    settle(qtbot, window)

    tab = window.tab()
    assert tab is not None
    assert tab.document.status.members == 12
    assert tab.request_watch.is_remote
    press(window, "check")
    settle(qtbot, window)
    assert tab.document.status.state is State.SOUND
    tab.docks["Requests"].raise_()
    settle(qtbot, window)
    tab.request_panel.table.selectAll()
    tab.request_panel.table.copy()
    shown = [QGuiApplication.clipboard().text(), window.windowTitle(), tab.banner.state.text(), arguments()]
    with site.proxy.failing(refuse(403)):
        window.open_location(site.address("other.zip"))
        settle(qtbot, window)
    failed = window.tab()
    assert failed is not None
    assert "not allowed (403)" in failed.document.status.sentence
    shown += [failed.banner.state.text(), failed.error_actions.sentence.text(), window.windowTitle()]
    shown += [window.tabs.tabToolTip(at) + window.tabs.tabText(at) for at in range(window.tabs.count())]
    assert not window.settings.recent
    window.sessions.store()
    assert session_from_json(window.settings.text(SESSION)) == NO_SESSION
    window.settings._store.sync()
    folders = (tmp_path, *(Path(os.environ[name]) for name in os.environ if name.startswith("XDG_")))
    kept = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    shown += [path.read_bytes().decode("latin-1") for path in kept]
    assert any("signed.zip" in text for text in shown)
    assert [text for text in shown if SECRET in text] == []

    location = f"{site.proxy.url}/public.zip"
    window.open_location(location)
    settle(qtbot, window)
    assert list(window.settings.recent) == [location], "it has no query"


def test_the_address_shown_is_selected_and_one_with_credentials_is_refused_with_a_sentence(
    window: Window, qtbot: QtBot, site: Site
) -> None:
    window.open_location(site.put("shown.zip", wide(2)))
    settle(qtbot, window)
    dialog = asked(window)
    assert dialog.location.text() == f"{site.proxy.url}/shown.zip?***"
    assert dialog.location.selectedText() == dialog.location.text()
    assert dialog.answer.isEnabled()

    dialog.location.setText(f"https://user:{SECRET}@host.example/a.zip")
    assert not dialog.answer.isEnabled()
    assert "contains a user or a password, which were not used" in dialog.remark.text()
    assert SECRET not in dialog.remark.text()
    dialog.reject()
    window.open_location(f"https://user:{SECRET}@host.example/a.zip")
    settle(qtbot, window)
    tab = window.tab()
    assert tab is not None
    said = tab.document.status.sentence + tab.banner.state.text()
    assert "contains a user or a password" in said
    assert SECRET not in said + tab.error_actions.sentence.text() + window.windowTitle() + tab.document.location


def test_what_is_pasted_or_dropped_keeps_its_query_until_it_is_opened() -> None:
    url = "https://host.example/a%20b.zip?sig=a%2Fb"
    data = QMimeData()
    data.setUrls([QUrl(url)])

    assert from_mime(data) == [url]
    assert name_of(enter(url)) == "a%20b.zip"
