"""The coverage of a collection in the window: bands that are seen, clicked and stepped through."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.panels.coverage.panel import CoveragePanel
from inspector.gui.panels.coverage.view import BandView
from inspector.operations.protocol.views import RANGE_STATES, RangeState
from tests.gui.conftest import WAIT, Show, press, settle
from tests.operations.session.test_coverage import put

Opened = Callable[[], Tab]


@pytest.fixture
def bucket(tmp_path: Path) -> Path:
    """Two datasets: one of three ranges with a gap and a damaged one, one of two ranges and an orphan."""
    root = tmp_path / "bucket"
    for first in (1, 4, 11):
        path = put(root, "rain", first, first + 2)
    data = bytearray(path.read_bytes())
    data[512] ^= 1
    path.write_bytes(data)
    put(root, "wind", 1, 2)
    put(root, "wind", 3, 4, metadata=False)
    put(root, "wind", 9, 9).unlink()
    return root


@pytest.fixture
def shown(show: Show, qtbot: QtBot, bucket: Path) -> Tab:
    """The bucket in a window, with all that its bands show."""
    tab = show(bucket)
    qtbot.waitUntil(lambda: panel_of(tab).settled and bool(bands_of(tab)[0].states), timeout=WAIT)
    return tab


def panel_of(tab: Tab) -> CoveragePanel:
    assert tab.is_made("Coverage")
    return tab.coverage


def bands_of(tab: Tab) -> list[BandView]:
    return panel_of(tab).bands


def states(band: BandView) -> list[RangeState]:
    return [RANGE_STATES[code] for code in band.states]


def place_of(band: BandView, key: int) -> QPoint:
    """Where a key is in the band, in its middle."""
    keys = band.keys
    box = band._box()
    return QPoint(box.left() + (keys.x(key) + keys.x(key + 1)) // 2, box.center().y())


def test_a_band_for_each_dataset_tells_each_range_by_pointer_and_keyboard_and_is_zoomed_and_panned(
    shown: Tab, window: Window, qtbot: QtBot
) -> None:
    assert shown.docks["Coverage"].isVisible()
    rain, wind = bands_of(shown)
    assert rain.accessibleName() == "Coverage of rain"
    assert "3 ranges" in rain.accessibleDescription()
    assert "1 gap, with metadata" in rain.accessibleDescription()
    words = wind.accessibleDescription()
    assert "1 orphan, 1 with metadata, 1 without metadata" in words
    assert f"{9:020d}-{9:020d}.tar.metadata" in words

    qtbot.mouseMove(rain, place_of(rain, 2))
    qtbot.mouseMove(rain, place_of(rain, 5))
    qtbot.waitUntil(lambda: panel_of(shown).description.text().startswith("Range 2 of 3: keys 4 to 6;"), timeout=WAIT)
    assert "Gap: the keys 7 to 10" in rain.text_at(place_of(rain, 8))
    assert "Orphan: the archive of the key 9 is missing" in wind.text_at(place_of(wind, 9))
    assert "without metadata" in wind.text_at(place_of(wind, 3))

    rain.setFocus()
    qtbot.keyClick(rain, Qt.Key.Key_Home)
    qtbot.keyClick(rain, Qt.Key.Key_Right)
    assert rain.at == 1
    assert panel_of(shown).description.text().startswith("Range 2 of 3")
    assert rain.accessibleDescription().startswith("Range 2 of 3")
    qtbot.keyClick(rain, Qt.Key.Key_End)
    qtbot.keyClick(rain, Qt.Key.Key_Right)
    assert rain.at == 2
    qtbot.keyClick(rain, Qt.Key.Key_Left)
    qtbot.keyClick(rain, Qt.Key.Key_Return)
    settle(qtbot, window)
    assert shown.document.layer == 1
    whole = rain.keys
    rain.setFocus()
    qtbot.keyClicks(rain, "+")
    assert rain.keys.size == whole.size // 2
    rain.pan(50)
    assert rain.keys.start > whole.start
    qtbot.keyClicks(rain, "-")
    assert rain.keys.size in (whole.size, whole.size - 1)
    qtbot.keyClicks(rain, "+0")
    assert rain.keys == whole
    turn(rain, place_of(rain, 12), 120)
    assert rain.keys.size == whole.size // 2
    assert rain.keys.start <= 12 < rain.keys.stop


def turn(band: BandView, place: QPoint, by: int) -> None:
    event = QWheelEvent(
        QPointF(place),
        QPointF(band.mapToGlobal(place)),
        QPoint(),
        QPoint(0, by),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(band, event)


def test_a_click_a_member_and_a_key_lead_to_a_range_and_the_dock_is_reached_with_f6_or_stays_closed(
    shown: Tab, window: Window, qtbot: QtBot
) -> None:
    rain, wind = bands_of(shown)
    qtbot.mouseClick(rain, Qt.MouseButton.LeftButton, pos=place_of(rain, 12))
    settle(qtbot, window)
    document = shown.document
    assert (document.layer, document.selection.member) == (2, 6)
    assert (rain.at, wind.at) == (2, None)
    qtbot.mouseClick(wind, Qt.MouseButton.LeftButton, pos=place_of(wind, 3))
    settle(qtbot, window)
    assert (document.layer, rain.at, wind.at) == (4, None, 1)

    shown.document.select_member(9, "members")
    settle(qtbot, window)
    assert [band.at for band in bands_of(shown)] == [None, 0]

    window.tool_bar.go_to.setText("key rain/12")
    qtbot.keyClick(window.tool_bar.go_to, Qt.Key.Key_Return)
    settle(qtbot, window)
    assert (shown.document.layer, shown.document.selection.caret) == (2, 1536)
    assert bands_of(shown)[0].at == 2
    window.tool_bar.go_to.setText("key 8")
    qtbot.keyClick(window.tool_bar.go_to, Qt.Key.Key_Return)
    settle(qtbot, window)
    assert "No range holds key 8" in shown.note.text.text()

    shown.hex_pane.hex.setFocus()
    assert reached_with_f6(shown)
    shown.docks["Coverage"].close()
    shown.document.refresh_status()
    assert shown.docks["Coverage"].isHidden()
    shown.docks["Coverage"].toggleViewAction().trigger()
    assert shown.docks["Coverage"].isVisible()


def reached_with_f6(tab: Tab) -> bool:
    """Whether the coverage gets the keyboard in turn."""
    for _ in range(12):
        tab.panes.step(1)
        if tab.docks["Coverage"].isAncestorOf(QApplication.focusWidget()):
            return True
    return False


def test_a_check_is_told_range_by_range_with_damage_outlined_and_gaps_hatched(
    shown: Tab, window: Window, qtbot: QtBot
) -> None:
    rain, wind = bands_of(shown)
    assert states(rain) == [RangeState.NOT_CHECKED] * 3
    press(window, "check")
    qtbot.waitUntil(lambda: states(rain) == [*[RangeState.VERIFIED] * 2, RangeState.DAMAGED], timeout=WAIT)
    qtbot.waitUntil(lambda: RangeState.NOT_CHECKED not in states(wind), timeout=WAIT)
    settle(qtbot, window)
    legend = panel_of(shown).legend
    assert {"verified", "damaged", "gap", "orphan"} <= set(legend.labels())
    assert len({legend.place_of(label).top() for label in legend.labels()}) == 1, "all are in the one line"
    assert "damaged" in rain.text_at(place_of(rain, 12))

    rain.select(None)
    picture = rain.grab().toImage()

    def colours(first: int, last: int) -> set[str]:
        box, keys = rain._box(), rain.keys
        columns = range(box.left() + keys.x(first) + 2, box.left() + keys.x(last + 1) - 2)
        return {picture.pixelColor(x, y).name() for x in columns for y in range(box.top(), box.bottom())}

    assert "#b3001b" in colours(11, 13)
    assert "#b3001b" not in colours(1, 6)
    assert "#c2c6cc" in colours(7, 10)
    assert "#c2c6cc" not in colours(1, 6)


def test_what_is_no_collection_has_no_coverage_and_one_of_which_only_metadata_is_left_says_what_is_lost(
    show: Show, window: Window, qtbot: QtBot, bucket: Path
) -> None:
    tab = show("journey.caf")
    assert tab.docks["Coverage"].isHidden()
    assert not tab.docks["Coverage"].toggleViewAction().isVisible()
    tab.reset_arrangement()
    assert tab.docks["Coverage"].isHidden()
    assert show(bucket).docks["Coverage"].isVisible()
    window.tabs.setCurrentIndex(0)
    settle(qtbot, window)
    assert tab.docks["Coverage"].isHidden()
    window.tabs.setCurrentIndex(1)
    assert window.tab() is not None
    assert window.tab().docks["Coverage"].isVisible()  # type: ignore[union-attr]  # see above

    for tar in bucket.rglob("*.tar"):
        tar.unlink()
    press(window, "close_tab")
    tab = show(bucket)
    assert tab.banner.state.text().startswith("Damaged: ")
    assert tab.docks["Coverage"].isVisible()
    assert ["0 ranges" in band.accessibleDescription() for band in bands_of(tab)] == [True, True]
    assert "3 orphans" in bands_of(tab)[0].accessibleDescription()
