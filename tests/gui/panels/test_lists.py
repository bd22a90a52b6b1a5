"""What all lists do, because they are declared as columns: titles, texts, tips, copying, saving, filtering, keys."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMessageBox
from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.kit.listing import ListView, Rows
from inspector.gui.kit.table_models import Column, PagedTable
from inspector.operations.protocol.views import Page
from tests.gui.conftest import Show, dialog_of, settle

COLUMNS = (
    Column("Name", lambda row: row[0], 80, lambda row: f"called {row[0]}", sort="name"),
    Column("Size", lambda row: f"{row[1]:,}", is_number=True),
)
PEOPLE = (("Ada", 1_815), ("Blaise", 1_623), ("Carl", 1_777))


def in_memory() -> Rows:
    model = Rows(COLUMNS)
    model.show(PEOPLE)
    return model


def fetched() -> PagedTable:
    def fetch(first: int, count: int, deliver: Callable[[Page[Any]], None]) -> None:
        deliver(Page(len(PEOPLE), first, PEOPLE[first : first + min(2, count)]))

    model = PagedTable(COLUMNS, fetch)
    model._take(0, Page(len(PEOPLE), 0, PEOPLE))
    return model


@pytest.mark.parametrize("make", [in_memory, fetched])
def test_a_list_shows_copies_and_saves_what_its_columns_say(
    make: Callable[[], Rows | PagedTable], qtbot: QtBot, tmp_path: Path, qtmodeltester: Any
) -> None:
    model = make()
    qtmodeltester.check(model)
    view = ListView(model, "People")
    qtbot.addWidget(view)
    role = Qt.ItemDataRole
    assert [model.headerData(at, Qt.Orientation.Horizontal) for at in range(2)] == ["Name", "Size"]
    assert [model.index(1, at).data() for at in range(2)] == ["Blaise", "1,623"]
    assert "called Blaise" in model.index(1, 0).data(role.ToolTipRole)
    assert model.index(0, 0).data(role.TextAlignmentRole) is None
    assert model.index(0, 1).data(role.TextAlignmentRole) & Qt.AlignmentFlag.AlignRight

    for row in (2, 0):
        view.selectionModel().select(
            model.index(row, 0), view.selectionModel().SelectionFlag.Select | view.selectionModel().SelectionFlag.Rows
        )
    view.copy()
    assert QGuiApplication.clipboard().text() == "Ada\t1,815\nCarl\t1,777"
    view.copy_all()
    assert QGuiApplication.clipboard().text() == "Ada\t1,815\nBlaise\t1,623\nCarl\t1,777"

    view.save_all()
    dialog = dialog_of(view, QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "people.csv"))
    dialog.close()
    with (tmp_path / "people.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["Name", "Size"], ["Ada", "1,815"], ["Blaise", "1,623"], ["Carl", "1,777"]]

    archive = tmp_path / "photos.caf"
    archive.write_bytes(b"what is there is never replaced")
    view._write(str(archive), (("=1+1", 1),))
    assert "photos.caf" in dialog_of(view, QMessageBox).text()
    assert archive.read_bytes() == b"what is there is never replaced"
    dialog_of(view, QMessageBox).close()
    view._write(str(tmp_path / "nowhere" / "new.csv"), ())
    assert dialog_of(view, QMessageBox).text()
    view._write(str(tmp_path / "formula.csv"), (("=1+1", 1),))
    assert (tmp_path / "formula.csv").read_text(encoding="utf-8").splitlines() == ["Name,Size", "'=1+1,1"]

    done: list[Sequence[str]] = []
    view.activated.connect(view.each_row(done.append))
    view.activated.emit(model.index(2, 1))
    view.activated.emit(QModelIndex())
    assert done == [PEOPLE[2]]


def test_rows_are_filtered_by_all_their_texts_and_renewed_in_place() -> None:
    model = in_memory()
    model.show(PEOPLE, "ca")
    assert [row[0] for row in model.rows] == ["Carl"]
    model.show(PEOPLE, "1,6")
    assert [row[0] for row in model.rows] == ["Blaise"]
    model.show(PEOPLE)

    resets: list[int] = []
    model.modelReset.connect(lambda: resets.append(1))
    model.renew((*PEOPLE[1:], ("Dirk", 1_930)))
    assert [model.texts(at)[0] for at in range(model.rowCount())] == ["Blaise", "Carl", "Dirk"]
    model.renew((PEOPLE[1], ("Emmy", 1_882)))
    assert [row[0] for row in model.rows] == ["Blaise", "Emmy"]
    model.renew(())
    assert not model.rowCount()
    assert not resets


LISTS: dict[str, Callable[[Tab], ListView]] = {
    "Findings": lambda tab: tab.findings.table,
    "Digests": lambda tab: tab.digests.table,
    "Changes": lambda tab: tab.changes.table,
    "Experiment": lambda tab: tab.experiment_panel.table,
    "Replay": lambda tab: tab.replay_panel.steps,
    "Requests": lambda tab: tab.request_panel.table,
    "Reader": lambda tab: tab.reader.readers_table,
}


def test_every_list_of_a_tab_is_one_of_these_and_says_its_name(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("flipped-blob-byte.rca")
    settle(qtbot, window)
    for name, table_of in LISTS.items():
        table = table_of(tab)
        assert isinstance(table, ListView), name
        assert table.accessibleName(), name
        model = table.model()
        assert all(model.headerData(at, Qt.Orientation.Horizontal) for at in range(model.columnCount())), name

    findings, digests = tab.findings.table, tab.digests.table
    for table in (findings, digests):
        table.setFocus()
        QTest.keyClick(table, Qt.Key.Key_Down)
        QTest.keyClick(table, Qt.Key.Key_Home)
        settle(qtbot, window)
        table.selectRow(0)
        table.copy()
        assert QGuiApplication.clipboard().text()
