"""What tests of the hex view share: a layer in memory, and a view of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.core.field import Run
from inspector.core.kinds import Kind, role_of
from inspector.drawing.palette import Scheme
from inspector.formats._kinds import LOCAL_HEADER
from inspector.gui.hex.layout import Pane
from inspector.gui.hex.pages import Deliver, HexModel
from inspector.gui.hex.view import HexView
from inspector.gui.kit.theme import palette

PARTS = (
    (0, 4, LOCAL_HEADER, 0),
    (4, 20, Kind.LENGTH, 0),
    (20, 40, Kind.NAME, 0),
    (40, 100, Kind.DATA, 0),
    (100, 164, Kind.DATA, 1),
    (164, 170, Kind.GAP, 0),
    (170, 180, Kind.GARBAGE, 0),
    (180, 200, Kind.DIGEST, 0),
)
"""Fields at the start of the layer; what follows is member data."""


def byte_at(offset: int) -> int:
    """The byte of the layer at an offset."""
    return (offset * 7 + offset // 251) & 0xFF


def fetch(start: int, stop: int, deliver: Deliver) -> None:
    """Deliver at once, whatever the size of the layer."""
    runs = [
        Run(max(low, start), min(high, stop), kind, role_of(kind), shade, (low,))
        for low, high, kind, shade in (*PARTS, (200, max(stop, 201), Kind.DATA, 0))
        if low < stop and start < high
    ]
    deliver(bytes(map(byte_at, range(start, stop))), runs)


@dataclass
class Shown:
    """A view with its hands and eyes."""

    view: HexView

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.view, key, modifiers)

    def wheel(self, notches: int, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Turn the wheel, up for a positive number."""
        place = QPointF(50, 50)
        event = QWheelEvent(
            place,
            self.view.viewport().mapToGlobal(place),
            QPoint(),
            QPoint(0, 120 * notches),
            Qt.MouseButton.NoButton,
            modifiers,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(self.view.viewport(), event)

    def place(self, offset: int, pane: Pane = Pane.HEX) -> QPoint:
        return self.view.place_of(offset, pane).center()

    def picture(self) -> QImage:
        return self.view.viewport().grab().toImage()

    def colour(self, offset: int, pane: Pane = Pane.HEX) -> str:
        """The colour behind a byte: of the pixel between its frame and its first letter."""
        place = self.view.place_of(offset, pane)
        return QColor(self.picture().pixel(place.left() + 2, place.top() + 2)).name().upper()

    def colours(self, offset: int, pane: Pane = Pane.HEX) -> set[str]:
        """All colours of the cell of a byte."""
        picture, place = self.picture(), self.view.place_of(offset, pane)
        return {
            QColor(picture.pixel(x, y)).name().upper()
            for x in range(place.left(), place.right() + 1)
            for y in range(place.top(), place.bottom() + 1)
        }


@pytest.fixture
def show(qtbot: QtBot) -> Callable[..., Shown]:
    """Show a view of a layer of some size; the keyboard works in it."""

    def made(size: int = 4000, dark: bool = False, width: int = 760, height: int = 500) -> Shown:
        view = HexView()
        qtbot.addWidget(view)
        view.setPalette(palette(Scheme.DARK if dark else Scheme.LIGHT))
        view.resize(width, height)
        view.setModel(HexModel(size, fetch, view))
        view.show()
        qtbot.waitExposed(view).__enter__()
        view.activateWindow()
        view.setFocus()
        qtbot.waitUntil(view.hasFocus)
        return Shown(view)

    return made
