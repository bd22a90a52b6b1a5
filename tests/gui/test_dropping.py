"""What is dropped is taken as a copy, whatever the other program proposes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from inspector.gui.panels.new_archive import NewArchiveTab
from inspector.gui.window import Window
from tests.gui.conftest import Show, settle
from tests.gui.making import dropped

COPY, MOVE = Qt.DropAction.CopyAction, Qt.DropAction.MoveAction
Sample = Callable[[str], Path]


@pytest.fixture(params=["window", "new archive"])
def place(request: pytest.FixtureRequest, window: Window) -> QWidget:
    if request.param == "window":
        return window
    window.making.new_archive()
    tab = window.tabs.currentWidget()
    assert isinstance(tab, NewArchiveTab)
    return tab.inputs


def held(path: Path, offered: Qt.DropAction, place: QWidget) -> list[QDropEvent]:
    """What is sent while a file is dragged over a place and let go there, a move where that is offered."""
    data = dropped(path)
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    at = QPoint(5, 5)
    found = [
        QDragEnterEvent(at, offered, data, left, none),
        QDragMoveEvent(at, offered, data, left, none),
        QDropEvent(QPointF(at), offered, data, left, none),
    ]
    for event, name in zip(found, ("dragEnterEvent", "dragMoveEvent", "dropEvent"), strict=True):
        event.setDropAction(MOVE)
        event.accept()
        getattr(place, name)(event)
    return found


def test_a_file_is_copied_where_it_could_be_moved(place: QWidget, window: Window, qtbot: QtBot, sample: Sample) -> None:
    events = held(sample("journey.caf"), COPY | MOVE, place)
    settle(qtbot, window)
    assert [(event.isAccepted(), event.dropAction()) for event in events] == [(True, COPY)] * 3


def test_what_could_only_be_moved_is_refused(place: QWidget, sample: Sample) -> None:
    events = held(sample("journey.caf"), MOVE, place)
    assert not any(event.isAccepted() for event in events)


def test_no_field_takes_what_is_dropped_by_itself(show: Show, window: Window) -> None:
    show("journey.caf")
    window.making.new_archive()
    assert [each for each in window.findChildren(QLineEdit) if each.acceptDrops()] == []
