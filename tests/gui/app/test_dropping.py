"""A drop is always taken as a copy, whatever action the other program proposes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import Window
from inspector.gui.kit.files import PathField
from inspector.gui.tabs.new_archive import NewArchiveTab
from tests.gui.conftest import Show, every_panel, press, settle
from tests.gui.tabs.create_helpers import drop, dropped

COPY, MOVE = Qt.DropAction.CopyAction, Qt.DropAction.MoveAction
Sample = Callable[[str], Path]


@pytest.fixture(params=["window", "new archive"])
def place(request: pytest.FixtureRequest, window: Window) -> QWidget:
    if request.param == "window":
        return window
    window.archives.new_archive()
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


def test_a_file_is_copied_where_it_could_be_moved_and_refused_where_it_could_not_be_copied(
    place: QWidget, window: Window, qtbot: QtBot, sample: Sample
) -> None:
    events = held(sample("journey.caf"), MOVE, place)
    assert not any(event.isAccepted() for event in events)
    events = held(sample("journey.caf"), COPY | MOVE, place)
    settle(qtbot, window)
    assert [(event.isAccepted(), event.dropAction()) for event in events] == [(True, COPY)] * 3


def test_no_field_takes_what_is_dropped_by_itself(show: Show, window: Window) -> None:
    every_panel(show("journey.caf"))
    window.archives.new_archive()
    taking = [each for each in window.findChildren(QLineEdit) if each.acceptDrops()]
    assert [each for each in taking if not isinstance(each, PathField)] == []


def test_a_field_for_a_path_takes_the_path_of_what_is_dropped(window: Window, sample: Sample) -> None:
    path = sample("journey.caf")
    press(window, "ask_location")
    window.archives.new_archive()
    fields = window.findChildren(PathField)
    assert {type(each.window()).__name__ for each in fields} == {"Window", "OpenLocationDialog"}
    for field in fields:
        events = held(path, COPY | MOVE, field)
        assert [(event.isAccepted(), event.dropAction()) for event in events] == [(True, COPY)] * 3
        assert field.text() == str(path)
    others = [each for each in window.findChildren(QLineEdit) if not isinstance(each, PathField)]
    assert not any(each.acceptDrops() for each in others)


def test_a_field_for_a_path_takes_no_text_that_is_none(qtbot: QtBot, sample: Sample) -> None:
    field = PathField("kept")
    qtbot.addWidget(field)
    assert not any(event.isAccepted() for event in held(sample("journey.caf"), MOVE, field))
    data = QMimeData()
    data.setText("no path")
    drop(field, data)
    assert field.text() == "kept"
    data.setText("file:///a%20b.caf")
    drop(field, data)
    assert field.text() == "/a b.caf"
