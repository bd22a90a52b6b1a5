"""Nothing secret stays where the window keeps or shows things, and the library that signs is not in its process."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from inspector.core.verdict import State
from inspector.gui.app.window import Window
from inspector.gui.tabs.audit_tab import AuditTab
from inspector.operations.protocol.check_views import ReportKind
from inspector.sources.s3.connection import Connection
from tests.gui.conftest import WAIT, press, settle
from tests.gui.s3.s3_store import *  # noqa: F403 - its fixtures
from tests.gui.s3.s3_store import Store, wide
from tests.gui.tabs.test_s3_browser import browser
from tests.processes import arguments
from tests.s3.proxy import refuse

CANARIES = ("AKIACANARYPROFILE123", "canary/profile+secret", "canary-profile-token")
CREDENTIALS = """[canary]
aws_access_key_id = {}
aws_secret_access_key = {}
aws_session_token = {}
"""
WITHOUT_WINDOW = """
import sys
from PySide6.QtCore import QSettings
from inspector.gui.app.app import application, wait_until_settled
from inspector.gui.kit.preferences import Settings
from inspector.gui.app.window import Window
from inspector.sources.s3.connection import Connection
app = application()
location, endpoint, folder = sys.argv[1:]
window = Window(Settings(QSettings(folder + "/settings.ini", QSettings.Format.IniFormat)))
window.show()
tab = window.archives.open(location, Connection(endpoint=endpoint))
assert wait_until_settled(window)
assert tab.document.status.members == 2, tab.document.status
window.actions_["ask_location"].trigger()
window.actions_["browse"].trigger()
assert wait_until_settled(window)
window.end()
window.close()
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A profile whose secrets are canaries; nothing else is known."""
    path = tmp_path / "credentials"
    path.write_text(CREDENTIALS.format(*CANARIES))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(path))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)
    return "canary"


def test_secrets_of_a_profile_stay_where_they_are(
    window: Window,
    qtbot: QtBot,
    store: Store,
    profile: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    connection = Connection(profile, endpoint=store.proxy.url)
    tab = window.archives.open(store.put("canary.zip", wide(2)), connection)
    assert tab is not None
    settle(qtbot, window)
    assert tab.document.status.members == 2
    assert CANARIES[0] in store.proxy.log[-1].headers["Authorization"], "the profile was not used"
    tab.docks["Requests"].raise_()
    settle(qtbot, window)
    tab.request_panel.table.selectAll()
    tab.request_panel.table.copy()
    shown = [QGuiApplication.clipboard().text(), window.windowTitle(), tab.banner.state.text()]
    with store.proxy.failing(refuse(403, "SignatureDoesNotMatch", f"{CANARIES[0]} {CANARIES[2]}")):
        failed = window.archives.open("s3://archives/never.zip", connection)
        settle(qtbot, window)
        assert failed is not None
        shown += [failed.banner.state.text(), failed.error_actions.sentence.text()]
        press(window, "browse")
        browser(window).list_location()
        settle(qtbot, window)
        shown.append(browser(window).message.text.text())
    shown += [window.tabs.tabToolTip(at) for at in range(window.tabs.count())]
    shown += [*window.settings.recent, arguments(), *capfd.readouterr(), caplog.text]
    window.settings._store.sync()
    shown.append((tmp_path / "settings.ini").read_text())
    assert "canary" in shown[-1], "the name of the profile is remembered"
    for canary in CANARIES:
        assert not [text for text in shown if canary in text]


def test_what_is_written_for_others_holds_no_secret(
    window: Window,
    qtbot: QtBot,
    store: Store,
    profile: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Reports of what was found and of mistakes, results of an audit, and whatever is kept between two starts."""
    connection = Connection(profile, endpoint=store.proxy.url)
    store.put("given/good.zip", wide(2))
    tab = window.archives.open(store.put("given/bad.zip", wide(30)), connection)
    assert tab is not None
    settle(qtbot, window)
    with store.proxy.failing(refuse(403, "SignatureDoesNotMatch", f"{CANARIES[0]} {CANARIES[2]}")):
        press(window, "check")
        settle(qtbot, window)
    assert tab.document.status.state is State.UNREADABLE
    for kind in ReportKind:
        tab.save_flow.write_report(str(tmp_path / f"report.{kind}"), kind)
        settle(qtbot, window)
    press(window, "new_audit")
    audit = window.tabs.currentWidget()
    assert isinstance(audit, AuditTab)
    audit.place.setText("s3://archives/given/")
    audit.results.setText(str(tmp_path / "kept.sqlite"))
    audit.begin.click()
    qtbot.waitUntil(lambda: audit.settled, timeout=2 * WAIT)
    audit.table.with_rows(lambda rows: audit.table._write(str(tmp_path / "audit.csv"), rows))
    qtbot.waitUntil((tmp_path / "audit.csv").exists, timeout=WAIT)
    window.help.note(LookupError(" ".join(CANARIES)), "window")
    (mistakes,) = window.help.kept
    window.settings._store.sync()
    kept = {
        path.name: path.read_bytes().decode("latin-1")
        for folder in (tmp_path, Path(os.environ["XDG_CONFIG_HOME"]))
        for path in folder.rglob("*")
        if path.is_file() and path.name != "credentials"
    }
    assert {"report.html", "report.json", "report.text", "kept.sqlite", "audit.csv", "settings.ini"} <= set(kept)
    assert "bad.zip" in kept["report.html"]
    assert "good.zip" in kept["audit.csv"]
    assert "sound" in kept["audit.csv"], "the profile was not used"
    for canary in CANARIES:
        assert not [name for name, text in kept.items() if canary in text]
        assert canary not in "".join([mistakes, arguments(), *capfd.readouterr()])


@pytest.mark.sweep
def test_the_library_of_s3_is_not_loaded_in_the_windows_process(store: Store, tmp_path: Path) -> None:
    location = store.put("process.zip", wide(2))
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_WINDOW, location, store.proxy.url, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=WAIT / 1000 * 4,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert "PySide6" in loaded
    assert not loaded & {"boto3", "botocore", "urllib3", "s3transfer"}
