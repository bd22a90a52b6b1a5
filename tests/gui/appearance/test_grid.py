"""Every distance of the window and its dialogs is on the grid, and the row under the pointer lights up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QDialog,
    QDialogButtonBox,
    QDockWidget,
    QFormLayout,
    QGridLayout,
    QGroupBox,
    QLayout,
    QMainWindow,
    QStackedWidget,
    QStatusBar,
    QTableView,
    QToolBar,
    QTreeView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import Window
from inspector.gui.flows.hex_overlays import OverlayLabel
from inspector.gui.kit import theme
from inspector.gui.kit.listing import ListView, Rows
from inspector.gui.kit.style import GRID, STRIPE_PX
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.theme import Theme
from inspector.gui.kit.widgets import table_view
from inspector.gui.tabs.browser_tab import BrowserTab
from inspector.sources.s3.connection import Connection
from tests.gui.conftest import Show, every_panel, press, settle
from tests.sweeping import in_the_sweep

OF_THE_SYSTEM = (QDialogButtonBox, QDockWidget, QMainWindow, QStackedWidget, QStatusBar, QToolBar)
"""Widgets whose layouts Qt makes."""
FRAMED = (QAbstractScrollArea, QGroupBox, OverlayLabel)
"""Widgets whose margins are the frame that the style draws."""
DIALOGS = (
    *("show_settings", "show_manual", "show_keys", "show_commands"),
    *("ask_location", "extract", "append"),
)


def distances(layout: QLayout) -> Iterator[int]:
    margins = layout.contentsMargins()
    yield from (margins.left(), margins.top(), margins.right(), margins.bottom())
    if isinstance(layout, QFormLayout | QGridLayout):
        yield from (layout.horizontalSpacing(), layout.verticalSpacing())
    else:
        yield layout.spacing()
    for at in range(layout.count()):
        item = layout.itemAt(at)
        assert item is not None
        if (within := item.layout()) is not None:
            yield from distances(within)
        elif (space := item.spacerItem()) is not None and not space.expandingDirections():
            yield from (space.sizeHint().width(), space.sizeHint().height())


def off_grid(root: QWidget) -> list[str]:
    """Each widget of our own with a distance beside the grid, and its distances."""
    found = []
    for widget in (root, *root.findChildren(QWidget)):
        margins, layout = widget.contentsMargins(), widget.layout()
        around = [margins.left(), margins.top(), margins.right(), margins.bottom()]
        ours = type(widget).__module__.startswith("inspector") and not isinstance(widget, FRAMED)
        inside = list(distances(layout)) if layout is not None and not isinstance(widget, OF_THE_SYSTEM) else []
        if any(each % GRID for each in [*(around if ours else ()), *inside]):
            found.append(f"{type(widget).__name__} {widget.accessibleName()!r}: {around} {inside}")
    return found


def test_every_distance_in_the_window_is_on_the_grid(show: Show, window: Window, qtbot: QtBot) -> None:
    for name in ("two-entries.tacozip", "weather-overlap"):
        every_panel(show(name))
    press(window, "new_archive")
    press(window, "new_audit")
    window.tabs.append(BrowserTab(window.s3_actions.connections, "", Connection(anonymous=True)))
    first = str(Path("resources/samples/two-chunks.rca").resolve())
    window.comparisons.compare(first, first)
    settle(qtbot, window)
    assert "\n".join(off_grid(window)) == ""


def point_at(viewport: QWidget, place: QPoint) -> None:
    """Move the pointer with no button; QTest would go on with one that an earlier test left pressed, and so drag."""
    none = Qt.MouseButton.NoButton
    there, on_screen = QPointF(place), QPointF(viewport.mapToGlobal(place))
    move = QMouseEvent(QEvent.Type.MouseMove, there, on_screen, none, none, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(viewport, move)


def every_distance_in_dialogs_is_on_the_grid(window: Window, qtbot: QtBot) -> None:
    for name in DIALOGS:
        press(window, name)
        qtbot.waitUntil(lambda: bool(window.findChildren(QDialog)))
        dialog = window.findChildren(QDialog)[-1]
        assert off_grid(dialog) == [], name
        dialog.close()
        dialog.deleteLater()
        qtbot.waitUntil(lambda: not window.findChildren(QDialog))


def test_dialogs_are_on_the_grid_and_the_row_under_the_pointer_lights_up_in_every_view(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    window.resize(1_600, 1_200)
    tab = show("flipped-blob-byte.rca")
    every_distance_in_dialogs_is_on_the_grid(window, qtbot)
    every_panel(tab)
    settle(qtbot, window)
    seen = set()
    for view in window.findChildren(QAbstractItemView):
        model = view.model()
        if type(view) not in (QTreeView, QTableView, ListView) or not view.isVisible() or model.rowCount() < 2:
            continue
        viewport, row = view.viewport(), view.visualRect(model.index(min(2, model.rowCount() - 1), 0))
        plain = view.grab().toImage()
        if not viewport.rect().contains(row.center()):
            continue
        point_at(viewport, row.center())
        lit = view.grab().toImage()
        ends = [viewport.mapTo(view, QPoint(x, row.top() + 1)) for x in (STRIPE_PX + 1, viewport.width() - 2)]
        surface = view.palette().color(QPalette.ColorRole.Midlight)
        assert [lit.pixelColor(end) for end in ends] == [surface, surface], view.accessibleName()
        QApplication.sendEvent(viewport, QEvent(QEvent.Type.Leave))
        assert view.grab().toImage() == plain
        seen.add(view.accessibleName())
    assert {"Members as a tree", "Fields", "Findings"} <= seen


@pytest.mark.parametrize(
    "look", [Theme.LIGHT, in_the_sweep(Theme.DARK), in_the_sweep(Theme.CONTRAST_LIGHT), Theme.CONTRAST_DARK]
)
def test_text_and_selected_rows_stay_as_they_are_under_the_pointer(
    look: Theme, qtbot: QtBot, qapp: QApplication
) -> None:
    theme.apply(qapp, look)
    model = Rows((Column("A", lambda row: row[0]), Column("B", lambda row: row[1])))
    model.show((("one", "1"), ("two", "2")))
    view = table_view(model, {}, "Rows")
    qtbot.addWidget(view)
    view.setCurrentIndex(model.index(0, 0))
    with qtbot.waitExposed(view):
        view.show()
    before = view.grab().toImage()
    for row, changes in ((0, False), (1, True)):
        place = view.visualRect(model.index(row, 1))
        point_at(view.viewport(), place.center())
        lit = view.grab().toImage()
        assert (lit != before) is changes
        text = view.palette().color(QPalette.ColorRole.Text)
        across = [view.viewport().mapTo(view, QPoint(x, place.center().y())) for x in range(view.viewport().width())]
        assert [each for each in across if lit.pixelColor(each) == text] == [
            each for each in across if before.pixelColor(each) == text
        ]
