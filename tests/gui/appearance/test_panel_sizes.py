"""The sizes of panels and columns: little is cut off, nothing moves without need."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QByteArray, QCoreApplication, QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, Qt
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QTableView, QTreeView
from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.kit.item_views import FirstColumnFitter, text_width
from inspector.gui.kit.preferences import Settings
from inspector.gui.kit.style import GRID
from inspector.gui.panels import findings, members, structure
from tests.gui.conftest import Show, press, settle

DAMAGED = "flipped-blob-byte.rca"
SMALL, LARGE = (1024, 700), (1600, 1000)


class Seen(QObject):
    """Writes down the events of what it filters."""

    def __init__(self, events: list[QEvent.Type]) -> None:
        super().__init__()
        self._events = events

    def eventFilter(self, _: QObject, event: QEvent) -> bool:
        self._events.append(event.type())
        return False


def scrolls_across(view: QAbstractItemView) -> bool:
    return view.horizontalScrollBar().maximum() > 0


# ---- trees, tables and bytes of one archive ----------------------------------------------------------------------


def columns_of_members_stay_when_their_verdict_comes(tree: QTreeView, qtbot: QtBot) -> None:
    assert tree.isVisible()
    qtbot.waitUntil(lambda: not tree.isColumnHidden(members.VERDICT))
    assert not tree.isColumnHidden(members.SIZE)
    assert not scrolls_across(tree)


def names_have_the_room_that_others_do_not_need(tree: QTreeView, window: Window, qtbot: QtBot) -> None:
    tree.expandAll()
    settle(qtbot, window)
    hint = tree.header().sectionSizeHint
    needed = sum(max(tree.sizeHintForColumn(each), hint(each)) for each in (members.VERDICT, members.SIZE))
    qtbot.waitUntil(lambda: tree.columnWidth(members.NAME) == tree.viewport().width() - needed)
    assert tree.columnWidth(members.VERDICT) < members.COLUMNS[members.VERDICT].width


def the_details_of_a_finding_scroll_where_they_are_long(tab: Tab, window: Window, qtbot: QtBot) -> None:
    press(window, "next_finding")
    about = tab.findings.about
    about.say("Much is to be said of this. " * 100)
    qtbot.waitUntil(lambda: about.verticalScrollBar().maximum() > 0)
    assert about.height() < tab.findings.height()
    assert about.label.width() <= about.viewport().width()
    assert tab.findings.table.height() >= tab.findings.table.rowHeight(0)


def a_column_is_set_by_hand_only_where_the_mouse_is_on_its_title(tree: QTreeView, window: Window, qtbot: QtBot) -> None:
    header = tree.header()
    qtbot.mousePress(window.start_page, Qt.MouseButton.LeftButton)  # what opens a tab may still be held
    tree.setColumnWidth(members.SIZE, 300)
    qtbot.mouseRelease(window.start_page, Qt.MouseButton.LeftButton)
    tree.resize(tree.width() + 1, tree.height())
    qtbot.waitUntil(lambda: not scrolls_across(tree))
    edge = QPoint(header.sectionPosition(members.SIZE) - 1, header.height() // 2)
    qtbot.mousePress(header.viewport(), Qt.MouseButton.LeftButton, pos=edge)
    qtbot.mouseMove(header.viewport(), edge - QPoint(60, 0))
    qtbot.mouseRelease(header.viewport(), Qt.MouseButton.LeftButton, pos=edge - QPoint(60, 0))
    by_hand = tree.columnWidth(members.NAME)
    tree.resize(tree.width() + 40, tree.height())
    assert tree.columnWidth(members.NAME) == by_hand


@pytest.mark.qt_log_ignore("does not support raise", extend=True)
def test_trees_need_not_be_scrolled_across_and_names_have_the_room_that_is_left(
    checked: Show, window: Window, qtbot: QtBot
) -> None:
    tab = checked(DAMAGED)
    tree = tab.members.tree
    columns_of_members_stay_when_their_verdict_comes(tree, qtbot)
    for size in (LARGE, SMALL):
        window.resize(*size)
        qtbot.waitUntil(lambda: not scrolls_across(tree) and not scrolls_across(tab.structure.tree))
        assert not tree.isColumnHidden(members.VERDICT)
        if size == LARGE:
            names_have_the_room_that_others_do_not_need(tree, window, qtbot)
    qtbot.waitUntil(lambda: tab.hex_pane.hex.horizontalScrollBar().maximum() == 0)
    tab.reset_arrangement()
    settle(qtbot, window)
    qtbot.waitUntil(lambda: tree.columnWidth(members.VERDICT) >= tree.sizeHintForColumn(members.VERDICT))
    assert not tree.isColumnHidden(members.VERDICT), "verdicts are read whole"
    the_details_of_a_finding_scroll_where_they_are_long(tab, window, qtbot)
    a_column_is_set_by_hand_only_where_the_mouse_is_on_its_title(tree, window, qtbot)


def test_columns_are_as_wide_as_their_texts_where_there_is_room_and_a_title_is_said_once(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    window.resize(3_840, 1_200)
    tab = show("wrong-reset-hash.rca")
    views: list[tuple[QTreeView | QTableView, tuple[int, ...]]] = [
        (tab.structure.tree, (0, structure.MEANING)),
        (tab.findings.table, (findings.BYTES, findings.CODE)),
    ]
    for view, columns in views:
        header = view.header() if isinstance(view, QTreeView) else view.horizontalHeader()
        for column in columns:
            qtbot.waitUntil(
                lambda view=view, header=header, column=column: header.sectionSize(column) >= text_width(view, column)
            )
    assert tab.banner.readers.x() - tab.banner.sentence.geometry().right() < 10 * GRID  # not across the screen

    window.resize(1280, 800)
    a_panel_behind_a_tab_says_its_title_once(tab, qtbot)


def a_panel_behind_a_tab_says_its_title_once(tab: Tab, qtbot: QtBot) -> None:
    findings, members_ = tab.docks["Findings"], tab.docks["Members"]
    qtbot.waitUntil(lambda: findings.titleBarWidget() is not None)
    assert findings.widget().mapTo(findings, QPoint(0, 0)).y() <= 1, "nothing stands above the panel"
    assert members_.titleBarWidget() is None
    for other in tab.area.tabifiedDockWidgets(findings):
        other.hide()
    qtbot.waitUntil(lambda: findings.titleBarWidget() is None)


@pytest.mark.parametrize("make", [QTreeView, QTableView])
def test_sharing_a_width_looks_at_the_rows_in_view_only(make: type[QTreeView | QTableView], qtbot: QtBot) -> None:
    looked_at: set[int] = set()

    class Rows(QStandardItemModel):
        def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
            looked_at.add(index.row())
            return "wide enough to be cut" if role == Qt.ItemDataRole.DisplayRole else None

    view = make()
    rows = Rows(5_000, 2)
    view.setModel(rows)
    qtbot.addWidget(view)
    view.resize(120, 240)
    view.show()
    fits = FirstColumnFitter(view, 1)
    looked_at.clear()
    fits.fit()
    assert looked_at == set(range(max(looked_at) + 1))
    assert 5 < len(looked_at) < 50

    view.hide()  # Qt takes every row of a hidden table for one in view
    looked_at.clear()
    if make is QTableView:  # a tree measures by itself what has changed
        rows.dataChanged.emit(rows.index(0, 0), rows.index(4_999, 1))
    view.resize(100, 240)
    QCoreApplication.processEvents()
    view.show()
    qtbot.waitUntil(lambda: bool(looked_at))
    assert len(looked_at) < 50


def test_the_first_window_fits_on_the_screen(settings: Settings, qtbot: QtBot) -> None:
    window = Window(settings)
    qtbot.addWidget(window)
    room = window.screen().availableSize()
    assert window.width() < room.width()
    assert window.height() < room.height()


# ---- what is said, another height, and panels that float ---------------------------------------------------------


def what_is_said_moves_nothing(tab: Tab, window: Window, qtbot: QtBot) -> None:
    before = tab.area.geometry(), tab.hex_pane.hex.geometry()
    tab.document.find(b"nothing like this is in it")
    settle(qtbot, window)
    assert tab.note.isVisible()
    assert "Not found" in tab.note.text.text()
    assert (tab.area.geometry(), tab.hex_pane.hex.geometry()) == before
    assert tab.hex_pane.rect().contains(tab.note.geometry())
    tab.document.go_to(0, 3, 5)
    assert not tab.note.isVisible()


def another_height_asks_for_the_map_and_counts_nothing_again(tab: Tab, window: Window, qtbot: QtBot) -> None:
    client = tab.document.client
    asked: list[str] = []
    start = client.start

    def starting(request: Any, *args: Any, **kwargs: Any) -> Any:
        asked.append(request.__name__)
        return start(request, *args, **kwargs)

    settle(qtbot, window)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(client, "start", starting)
        window.resize(window.width(), window.height() - 100)
        settle(qtbot, window)
    assert set(asked) == {"overview"}


def a_wider_tree_shows_more_columns(tree: QTreeView, qtbot: QtBot) -> None:
    assert tree.isColumnHidden(structure.OFFSET)
    tree.setParent(None)
    tree.resize(700, 300)
    tree.show()
    qtbot.waitUntil(lambda: not tree.isColumnHidden(structure.OFFSET))
    assert not scrolls_across(tree)
    tree.close()


def test_a_small_window_cuts_no_message_and_nothing_moves_for_what_is_said(
    show: Show, window: Window, qtbot: QtBot, sample: Callable[[str], Path]
) -> None:
    window.resize(*SMALL)
    tab = show("wrong-reset-hash.rca")
    table = tab.findings.table
    widths = [table.columnWidth(column) for column in (findings.BYTES, findings.CODE)]
    assert widths == [findings.COLUMNS[at].width for at in (findings.BYTES, findings.CODE)], (
        "else a message would be cut"
    )
    another_height_asks_for_the_map_and_counts_nothing_again(tab, window, qtbot)
    what_is_said_moves_nothing(tab, window, qtbot)
    window.tool_bar.go_to.setText("footer")
    tab = show("no-members.caf")
    assert window.tool_bar.go_to.text() == "", "where to go is not said of another tab"
    size = sample("no-members.caf").stat().st_size
    assert tab.hex_pane.map.accessibleDescription() == f"Bytes 0x0 to 0x{size:x} are shown."
    assert tab.hex_pane.map.framed == (0, size)
    a_wider_tree_shows_more_columns(tab.structure.tree, qtbot)


@pytest.mark.qt_log_ignore("does not support raise", extend=True)
def test_a_floating_panel_goes_with_its_tab_and_its_window_and_comes_back(
    show: Show, window: Window, settings: Settings, qtbot: QtBot
) -> None:
    tab = show("journey.caf")
    dock = tab.docks["Byte"]
    dock.setFloating(True)
    qtbot.waitUntil(lambda: dock.isWindow() and tab.byte.isVisible())
    tab.document.select_byte(0, 5, "test")
    settle(qtbot, window)
    assert tab.byte.title.text()
    tab.reset_arrangement()
    assert not dock.isFloating()
    assert tab.isAncestorOf(dock)

    dock.setFloating(True)
    qtbot.waitUntil(lambda: dock.isWindow() and dock.isVisible())
    press(window, "new_archive")
    qtbot.waitUntil(lambda: not dock.isVisible())
    press(window, "previous_tab")
    qtbot.waitUntil(lambda: dock.isWindow() and dock.isVisible())
    other = show("two-chunks.rca").docks["Byte"]
    assert not dock.isVisible()
    assert other.isFloating()
    assert other.isVisible()

    window.close()
    assert not other.isVisible()
    again = Window(settings)
    qtbot.addWidget(again)
    again.open_location(window.tabs.shown_location())
    settle(qtbot, again)
    fresh = again.tab()
    assert fresh is not None
    assert fresh.docks["Byte"].isFloating()
    assert not fresh.docks["Byte"].isHidden()
    again.end()


@pytest.mark.qt_log_ignore("does not support raise", extend=True)
def test_a_window_that_is_destroyed_while_it_is_seen_is_not_asked_how_it_is_arranged(
    settings: Settings, qtbot: QtBot, sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hides what is in it as it goes; its layout is gone by then, and what touches it may crash."""
    doomed = Window(settings)
    doomed.show()
    doomed.open_location(str(sample("journey.caf")))
    settle(qtbot, doomed)
    tab = doomed.tab()
    assert tab is not None
    tab.docks["Byte"].setFloating(True)
    qtbot.waitUntil(lambda: tab.docks["Byte"].isWindow() and tab.docks["Byte"].isVisible())
    touched: list[str] = []
    hidden: list[QEvent.Type] = []
    monkeypatch.setattr(tab.area, "saveState", lambda *_: touched.append("saveState") or QByteArray())
    for name, dock in tab.docks.items():
        monkeypatch.setattr(dock, "hide", lambda name=name: touched.append(name))
    seen = Seen(hidden)
    tab.area.installEventFilter(seen)
    doomed.end()

    shiboken6.delete(doomed)

    assert QEvent.Type.Hide in hidden
    assert touched == []
