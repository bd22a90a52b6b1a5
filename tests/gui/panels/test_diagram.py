"""The Diagram panel: in step with the bytes both ways, by pointer and by keyboard, and small for big archives."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from inspector.core.span import Span
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.panels.diagram import DiagramPanel
from tests.gui.conftest import Show, press, settle
from tests.operations.archives import caf


def drawn(tab: Tab, window: Window, qtbot: QtBot) -> DiagramPanel:
    """The panel with its diagram."""
    press(window, "show_diagram")
    qtbot.waitUntil(lambda: bool(tab.diagram.view.diagram.boxes))
    settle(qtbot, window)
    return tab.diagram


def label(panel: DiagramPanel, at: int | None) -> str:
    assert at is not None
    return panel.view.diagram.boxes[at].label


def box(panel: DiagramPanel, text: str) -> int:
    return next(at for at, each in enumerate(panel.view.diagram.boxes) if each.label == text)


def test_boxes_and_bytes_are_in_step(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("two-chunks.rca")
    before = tab.document.selection
    panel = drawn(tab, window, qtbot)
    assert tab.document.selection == before  # opening the panel moves nothing
    place = panel.view.place(box(panel, "segment 2"))
    qtbot.mouseClick(panel.view, Qt.MouseButton.LeftButton, pos=QPoint(place.center().x(), place.top() + 5))
    settle(qtbot, window)
    assert tab.document.selection.spans == (Span(0x8F87, 0x9180),)
    assert panel.about.text().startswith("Segments: segment 2, 505 B, bytes 36,743 to 37,248.")

    tab.document.go_to(0, 700, 701)
    settle(qtbot, window)
    assert label(panel, panel.view.current) == "station-3/2024-05.log"
    assert {label(panel, each) for each in panel.view._marked} == {"payload", "segment 1", "station-3/2024-05.log"}


def test_keys_go_from_box_to_box_along_links(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("journey.caf")
    panel = drawn(tab, window, qtbot)
    view = panel.view
    for key, expected in (
        (Qt.Key.Key_Home, "readme.txt"),
        (Qt.Key.Key_Down, "photos/tile_0001.png"),
        (Qt.Key.Key_Right, "photos/tile_0001.png"),
        (Qt.Key.Key_End, "track/points.csv"),
        (Qt.Key.Key_Left, "track/points.csv"),
    ):
        qtbot.keyClick(view, key)
        settle(qtbot, window)
        assert label(panel, view.current) == expected, key
    assert tab.document.selection.spans == (Span(9524, 9983),)  # the data, not the entry
    assert "track/points.csv" in view.accessibleDescription()


def test_what_is_left_out_of_a_big_archive_is_shown_on_enter(
    tmp_path: Path, show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show(caf(tmp_path / "many.caf", {f"file-{number:05}": b"data" for number in range(1_000)}))
    panel = drawn(tab, window, qtbot)
    assert len(panel.view.diagram.boxes) < 400
    more = next(at for at, each in enumerate(panel.view.diagram.boxes) if each.more)
    shown = panel.view.diagram
    panel.view.mark({more}, more)
    qtbot.keyClick(panel.view, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.view.diagram != shown)
    assert any(each.label.startswith("file-005") for each in panel.view.diagram.boxes)


@pytest.mark.sweep
def test_what_is_wrong_is_said_in_words(show: Show, window: Window, qtbot: QtBot) -> None:
    panel = drawn(show("gap.caf"), window, qtbot)
    panel.view._go(box(panel, "gap"))
    assert "Wrong: There is a gap" in panel.about.text()
