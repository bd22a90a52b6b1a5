"""A format of one's own in the window: its workers run it, the window does not."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from inspector.core.limits import FORMAT_FILES
from inspector.gui.app.window import Window

PAGE = Path(__file__).parents[3] / "resources" / "manual" / "own-format.md"


@pytest.fixture
def format_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The manual's example as a file; the environment is as before afterwards."""
    monkeypatch.setenv(FORMAT_FILES, "")
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    path = tmp_path / "pak.py"
    path.write_text(found[1], encoding="utf-8")
    entry = struct.pack("<56sII", b"a.txt", 12, 5)
    (tmp_path / "id1.pak").write_bytes(b"PACK" + struct.pack("<II", 17, len(entry)) + b"hello" + entry)
    return path


def test_what_is_shown_is_read_with_a_format_file(window: Window, qtbot: QtBot, format_file: Path) -> None:
    window.open_location(str(format_file.with_name("id1.pak")))

    def shows(title: str) -> bool:
        tab = window.tab()
        return tab is not None and tab.document.status is not None and tab.document.status.title == title

    qtbot.waitUntil(lambda: shows("plain bytes"))
    window.archives.try_format(str(format_file))
    qtbot.waitUntil(lambda: shows("Quake PAK"))
    assert not [name for name in sys.modules if name.startswith("archive_inspector_format")]


def test_a_file_that_cannot_be_used_is_a_sentence(window: Window, qtbot: QtBot, format_file: Path) -> None:
    format_file.write_text("FORMAT = 1 / 0\n", encoding="utf-8")
    window.archives.try_format(str(format_file))
    qtbot.waitUntil(lambda: bool(window.findChildren(QMessageBox)))
    (box,) = window.findChildren(QMessageBox)
    assert "cannot be used: ZeroDivisionError in line 1" in box.text()
    box.close()


def test_the_window_starts_with_one(format_file: Path, tmp_path: Path) -> None:
    picture = tmp_path / "out.png"
    command = [sys.executable, "-m", "inspector", "--screenshot", str(picture), "--format-file", str(format_file)]
    subprocess.run([*command, str(format_file.with_name("id1.pak"))], check=True, capture_output=True)
    assert picture.exists()
    format_file.write_text("FORMAT = 1\n", encoding="utf-8")
    failed = subprocess.run(command, check=False, capture_output=True)
    assert failed.returncode == 2
    assert b"has no FORMAT" in failed.stderr
