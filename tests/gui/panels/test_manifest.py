"""Digest manifests."""

from __future__ import annotations

import shutil
from pathlib import Path

from PySide6.QtWidgets import QInputDialog
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import Window
from tests.gui.conftest import Sample, Show, dialog_of, press, settle


def test_a_manifest_is_written_and_replaced_only_when_that_is_confirmed(
    show: Show, window: Window, qtbot: QtBot, sample: Sample, tmp_path: Path
) -> None:
    archive = tmp_path / "plain.zip"
    shutil.copyfile(sample("plain.zip"), archive)
    tab = show(archive)
    press(window, "write_manifest")
    dialog = dialog_of(window, QInputDialog)
    assert isinstance(dialog, QInputDialog)
    assert dialog.isVisible()
    assert dialog.comboBoxItems()[0] == "SHA-256"
    dialog.accept()
    settle(qtbot, window)
    manifest = tmp_path / "plain.zip.sha256"
    lines = manifest.read_text().splitlines()
    assert len(lines) == 4
    assert "4 digests written to plain.zip.sha256" in tab.note.text.text()
    manifest.write_text("mine")
    tab.export_flow.write_manifest("SHA-256")
    settle(qtbot, window)
    assert manifest.read_text() == "mine"
    assert "already" in tab.banner.message.text.text()
    assert tab.banner.message.button.text() == "Replace It"
    tab.banner.message.button.click()
    settle(qtbot, window)
    assert manifest.read_text().splitlines() == lines
