"""A session restores tabs without a document: audits, check lists, buckets, drafts of new archives."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from inspector.gui.kit import preferences
from inspector.gui.kit.settings import Settings
from inspector.gui.tabs.audit_model import STATE
from inspector.gui.tabs.audit_tab import AuditTab
from inspector.gui.tabs.browser_tab import BrowserTab
from inspector.gui.tabs.new_archive import NewArchiveTab
from inspector.operations.protocol.create_views import ArchiveKind
from inspector.sources.s3.connection import Connection
from tests.gui.app.test_sessions import Start, crash, names, start
from tests.gui.conftest import WAIT, Sample, press, settle

__all__ = ["start"]


def stored(settings: Settings) -> list[bytes]:
    """What is kept of sessions."""
    return [path.read_bytes() for path in (settings.folder / "sessions").glob("*.json")]


def test_tabs_beside_documents_come_back(start: Start, settings: Settings, qtbot: QtBot, tmp_path: Path) -> None:
    settings.put(preferences.AT_START, preferences.LAST_SESSION)
    window = start()
    press(window, "new_audit")
    audit = window.tabs.currentWidget()
    assert isinstance(audit, AuditTab)
    audit.options.place.setText(str(tmp_path))
    audit.options.results.setText(str(tmp_path / "kept.audit"))
    audit.options.quick.setChecked(True)
    audit.options.sample.setValue(12.5)
    nobody = Connection(endpoint="http://127.0.0.1:9", anonymous=True)
    window.s3_actions.connections.remember("s3://bucket/", nobody)
    press(window, "browse")
    browser = window.tabs.currentWidget()
    assert isinstance(browser, BrowserTab)
    browser.location.setText("s3://user:hush@bucket/prefix/")
    press(window, "new_audit")  # nothing was said in it: there is nothing to come back to
    window.tabs.setCurrentWidget(audit)
    settle(qtbot, window)
    window.close()

    again = start()
    assert names(again) == ["Audit", "Browse S3"]
    back = again.tabs.currentWidget()
    assert isinstance(back, AuditTab)
    assert (back.options.place.text(), back.options.results.text()) == (str(tmp_path), str(tmp_path / "kept.audit"))
    assert (back.options.quick.isChecked(), back.options.sample.value()) == (True, 12.5)
    assert not back.running
    again.tabs.setCurrentIndex(1)
    listed = again.tabs.currentWidget()
    assert isinstance(listed, BrowserTab)
    assert listed.location.text() == "s3://bucket/prefix/"
    assert names(again) == ["Audit", "Browse S3"]


@pytest.mark.usefixtures("in_the_worker")
def test_a_list_of_checks_comes_back_and_is_checked_when_that_is_wanted(
    start: Start, sample: Sample, settings: Settings, qtbot: QtBot, tmp_path: Path
) -> None:
    settings.put(preferences.AT_START, preferences.LAST_SESSION)
    copies = [tmp_path / name for name in ("journey.caf", "plain.zip")]
    for copy in copies:
        copy.write_bytes(sample(copy.name).read_bytes())
    window = start()
    window.audits.audit(list(map(str, copies)))
    qtbot.waitUntil(lambda: window.settled, timeout=WAIT)
    window.close()
    copies[1].write_bytes(sample("flipped-blob-byte.rca").read_bytes())

    tab = start().tabs.currentWidget()
    assert isinstance(tab, AuditTab)
    assert not tab.running
    assert tab.options.places == tuple(map(str, copies))
    assert "earlier session" in tab.message.text.text()

    def states() -> list[str]:
        tab.begin.click()
        qtbot.waitUntil(lambda: tab.settled, timeout=WAIT)
        tab.table.viewport().grab()
        qtbot.waitUntil(lambda: tab.settled, timeout=WAIT)
        return [tab.model.index(row, STATE).data() for row in range(2)]

    assert states() == ["sound", "damaged"]
    copies[1].unlink()
    assert states() == ["sound", "unreadable"]  # now, too, and as often as it is wanted


def test_what_an_archive_was_to_be_made_of_comes_back(
    start: Start, settings: Settings, qtbot: QtBot, tmp_path: Path
) -> None:
    settings.put(preferences.AT_START, preferences.LAST_SESSION)
    file = tmp_path / "1.bin"
    file.write_bytes(b"1")
    window = start()
    press(window, "new_archive")  # nothing is said in it
    press(window, "new_archive")
    draft = window.tabs.currentWidget()
    assert isinstance(draft, NewArchiveTab)
    draft.kind.setCurrentIndex(draft.kind.findData(ArchiveKind.RCA))
    draft.options.rca.level.setValue(19)
    draft.options.taco.entries[2].setEditText("1,2")
    draft.target.setText("s3://user:hush@bucket/new.rca")
    draft.overwrite.setChecked(True)
    draft.inputs.add([str(file)])
    settle(qtbot, window)
    qtbot.waitUntil(lambda: any(b"1.bin" in kept for kept in stored(settings)), timeout=WAIT)  # without being asked to
    crash(window)
    settings.put(preferences.AT_START, preferences.START_PAGE)
    assert b"hush" not in b"".join(stored(settings))

    again = start()
    again.start_page.reopen.click()
    settle(qtbot, again)
    assert names(again) == ["New Archive"]
    back = again.tabs.currentWidget()
    assert isinstance(back, NewArchiveTab)
    made = back.draft()
    assert (made.kind, made.target, made.locations) == (ArchiveKind.RCA, "s3://bucket/new.rca", (str(file),))
    assert (made.level, back.options.taco.entries[2].currentText()) == (19, "1,2")
    assert not made.overwrite
    assert back.inputs.contents is not None


def test_a_tab_about_very_many_places_does_not_come_back_and_the_others_do(
    start: Start, sample: Sample, qtbot: QtBot
) -> None:
    window = start()
    window.open_location(str(sample("journey.caf")))
    settle(qtbot, window)
    press(window, "new_archive")
    draft = window.tabs.currentWidget()
    assert isinstance(draft, NewArchiveTab)
    settle(qtbot, window)
    draft.inputs.locations = [f"/folder/{number:060}" for number in range(3_000)]
    window.close()
    assert [tab.location for tab in start().sessions.last.tabs] == [str(sample("journey.caf"))]
