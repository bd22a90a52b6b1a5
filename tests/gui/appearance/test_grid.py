"""Every distance of the window and its dialogs is on the grid."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtWidgets import (
    QAbstractScrollArea,
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
    QToolBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import Window
from inspector.gui.flows.hex_overlays import OverlayLabel
from inspector.gui.kit.style import GRID
from inspector.gui.tabs.browser_tab import BrowserTab
from inspector.sources.s3.connection import Connection
from tests.gui.conftest import Show, every_panel, press, settle

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
    window.tabs.append(BrowserTab(window.archives.connections, "", Connection(anonymous=True)))
    first = str(Path("resources/samples/two-chunks.rca").resolve())
    window.comparisons.compare(first, first)
    settle(qtbot, window)
    assert "\n".join(off_grid(window)) == ""


def test_every_distance_in_dialogs_is_on_the_grid(show: Show, window: Window, qtbot: QtBot) -> None:
    window.resize(1_600, 1_200)
    show("flipped-blob-byte.rca")
    for name in DIALOGS:
        press(window, name)
        qtbot.waitUntil(lambda: bool(window.findChildren(QDialog)))
        dialog = window.findChildren(QDialog)[-1]
        assert off_grid(dialog) == [], name
        dialog.close()
        dialog.deleteLater()
        qtbot.waitUntil(lambda: not window.findChildren(QDialog))
