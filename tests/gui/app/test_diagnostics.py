"""Help > Copy Diagnostics: what a bug report needs, and nothing private."""

from __future__ import annotations

import pytest
from PySide6.QtCore import qVersion
from PySide6.QtGui import QGuiApplication

from inspector import __version__
from inspector.formats import FORMATS
from inspector.gui.app.window import Window
from inspector.gui.kit import preferences
from tests.gui.conftest import Show, press


def copied(window: Window) -> list[str]:
    press(window, "copy_diagnostics")
    return QGuiApplication.clipboard().text().splitlines()


def test_diagnostics_name_versions_and_formats_and_say_so(window: Window) -> None:
    lines = copied(window)
    assert lines[0] == f"Archive Inspector {__version__}, diagnostics"
    assert f"Qt {qVersion()}" in lines[1]
    assert f"Formats: {', '.join(sorted({known.name.split('-')[0] for known in FORMATS}))}" in lines
    assert "zstandard " in next(line for line in lines if line.startswith("Libraries: "))
    assert "Settings: as they are at first" in lines
    assert window.message.text.text().startswith("Diagnostics were copied")


def test_an_open_archive_is_described_and_not_named(show: Show, window: Window) -> None:
    show("journey.caf")
    lines = copied(window)
    assert "Open: caf, 10,529 bytes, 8 members, no error found yet" in lines
    assert "journey" not in "\n".join(lines)


def test_settings_are_told_without_what_is_private(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCHIVE_INSPECTOR_REPORT", "/home/somebody/report")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")
    window.settings.put(preferences.PROFILE, "customer-nine")
    window.settings.put(preferences.ENDPOINT, "https://somebody:hunter2@inside.invalid")
    window.settings.put(preferences.OFFSETS, "10")
    text = "\n".join(copied(window))
    assert "  s3_profile: set\n  s3_endpoint: set" in text
    assert "  offsets: 10" in text
    assert "ARCHIVE_INSPECTOR_REPORT is set" in text
    assert [each for each in ("somebody", "customer", "hunter2", "inside", "canary") if each in text] == []
