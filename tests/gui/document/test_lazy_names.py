"""Names of datapoints on S3 are fetched for the rows in view."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import Window
from inspector.gui.panels.members import NAME, SIZE, MembersPanel
from inspector.operations.protocol.views import MemberRow
from tests.gui.conftest import WAIT, settle
from tests.gui.s3.s3_store import *  # noqa: F403 - its fixtures
from tests.gui.s3.s3_store import Store, opened_at
from tests.s3.archives import dataset
from tests.s3.proxy import Forward, Reply, Seen, ignoring, refuse

LARGE = 70_000
"""Bytes of a datapoint whose header takes a request of its own."""


def tars(store: Store) -> int:
    return len([each for each in store.proxy.log if each.path.partition("?")[0].endswith(".tar")])


def panel(window: Window) -> MembersPanel:
    tab = window.tab()
    assert tab is not None
    return tab.members


def texts(panel: MembersPanel, rows: range, column: int) -> list[str]:
    return [panel.table_model.index(row, column).data() for row in rows]


def as_table(window: Window, qtbot: QtBot) -> MembersPanel:
    members = panel(window)
    members.as_table.click()
    settle(qtbot, window)
    return members


def named(qtbot: QtBot, members: MembersPanel, rows: range) -> None:
    """Wait until these rows have names."""
    qtbot.waitUntil(lambda: all(text.endswith(".txt") for text in texts(members, rows, NAME)), timeout=WAIT)


def in_view(members: MembersPanel) -> range:
    table = members.table
    last = table.rowAt(table.viewport().height() - 1)
    return range(table.rowAt(0), (last if last >= 0 else members.table_model.rowCount() - 1) + 1)


def test_rows_in_view_are_named_and_no_others(window: Window, qtbot: QtBot, store: Store) -> None:
    opened_at(window, qtbot, store, dataset(store, "rows", 12, size=LARGE))
    members = as_table(window, qtbot)
    shown = in_view(members)
    assert 2 < len(shown) < 60
    named(qtbot, members, shown)
    assert texts(members, range(2), NAME) == [f"weather/{1:020d}-{10:020d}.tar/{key:020d}.txt" for key in (1, 2)]
    assert texts(members, range(2), SIZE) == [f"{LARGE:,}"] * 2
    assert tars(store) <= len(shown) + 3, "with what the tree showed, and the bytes at the beginning"
    assert not row(members, 119).read
    members.table.scrollToBottom()
    named(qtbot, members, in_view(members))
    assert in_view(members).stop == 120
    assert not row(members, 60).read


def row(members: MembersPanel, number: int) -> MemberRow:
    found = members.table_model.row(members.table_model.index(number, 0))
    assert isinstance(found, MemberRow)
    return found


def test_until_its_name_arrives_a_row_shows_its_key(window: Window, qtbot: QtBot, store: Store) -> None:
    location = dataset(store, "keys", 2, size=LARGE)

    def no_tars(seen: Seen, forward: Forward) -> Reply:
        return (refuse(403, "AccessDenied") if ".tar bytes" in str(seen) else ignoring())(seen, forward)

    with store.proxy.failing(no_tars):
        opened_at(window, qtbot, store, location)
        members = as_table(window, qtbot)
        qtbot.waitUntil(lambda: tars(store) > 2, timeout=WAIT)
        settle(qtbot, window)
        assert texts(members, range(1), NAME) == [f"weather/{1:020d}-{10:020d}.tar/{1:020d}…"]
        assert texts(members, range(1), SIZE) == ["…"]
        asked = [tars(store)]
        while len(asked) < 20 and asked[-4:].count(asked[-1]) < 4:  # a busy machine answers its first askers late
            settle(qtbot, window)
            asked.append(tars(store))
        assert asked[-4:].count(asked[-1]) == 4, "what cannot be had is not asked for again and again"


def test_the_tree_is_named_in_its_place(window: Window, qtbot: QtBot, store: Store) -> None:
    opened_at(window, qtbot, store, dataset(store, "tree", 2))
    members = panel(window)
    model = members.tree_model
    index = QModelIndex()
    for _ in range(3):
        qtbot.waitUntil(lambda index=index: bool(model.rowCount(index)) or model.canFetchMore(index), timeout=WAIT)
        model.fetchMore(index)
        qtbot.waitUntil(lambda index=index: model.rowCount(index) > 0, timeout=WAIT)
        members.tree.expand(index)
        index = model.index(0, 0, index)
    qtbot.waitUntil(lambda: model.data(index) == f"{1:020d}.txt", timeout=WAIT)
    assert model.data(index.siblingAtColumn(SIZE)) == "1"
