"""Shared by the tests that create archives in the window."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import Window
from inspector.gui.tabs.new_archive import NewArchiveTab
from inspector.operations.protocol.create_views import ArchiveKind
from tests.gui.conftest import press, settle


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "sub").mkdir(parents=True)
    (folder / "1.txt").write_bytes(b"alpha")
    (folder / "sub" / "2.bin").write_bytes(b"beta" * 100)
    return folder


def new_archive(window: Window, qtbot: QtBot, kind: ArchiveKind, *locations: Path) -> NewArchiveTab:
    press(window, "new_archive")
    tab = window.tabs.currentWidget()
    assert isinstance(tab, NewArchiveTab)
    tab.kind.setCurrentIndex(tab.kind.findData(kind))
    tab.inputs.add([str(location) for location in locations])
    settle(qtbot, window)
    return tab


def dropped(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def drop(widget: object, data: QMimeData) -> None:
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    event = QDropEvent(QPointF(QPoint(5, 5)), Qt.DropAction.CopyAction, data, left, none)
    widget.dropEvent(event)  # type: ignore[attr-defined]


def slow(tmp_path: Path) -> Path:
    """Something that takes long to be compressed, and an empty folder to write into."""
    (tmp_path / "big.bin").write_bytes(random.Random(1).randbytes(48 << 20))
    (tmp_path / "out").mkdir()
    return tmp_path / "out"
