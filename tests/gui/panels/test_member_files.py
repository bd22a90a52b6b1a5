"""Members exported to other programs: what a drag contains, where the files are, and what is never opened."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import Window
from inspector.gui.flows.extract import MemberFiles
from tests.gui.conftest import Show, settle
from tests.gui.panels.test_extract import archive


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return archive(
        tmp_path / "small.caf", {"a.txt": b"alpha", "sub/b.txt": b"beta", "../evil": b"", "run.txt": b"#!/bin/sh\n"}
    )


def drag(tab: object, row: int) -> MemberFiles:
    """What a drag of a row of the table carries."""
    members = tab.members  # type: ignore[attr-defined]
    members.as_table.click()
    members.table.setCurrentIndex(members.table_model.index(row, 0))
    data = members.table_model.mimeData(members.table.selectedIndexes())
    assert isinstance(data, MemberFiles)
    return data


def test_a_drag_carries_what_is_selected_as_files_in_a_private_folder_unless_it_is_refused(
    show: Show, window: Window, qtbot: QtBot, small: Path
) -> None:
    tab = show(small)
    tree = tab.members.tree_model
    row = next(row for row in range(tree.rowCount()) if tree.index(row, 0).data() == "sub")
    tab.members.tree.setCurrentIndex(tree.index(row, 0))
    (url,) = tree.mimeData([]).urls()
    assert [path.name for path in Path(url.toLocalFile()).iterdir()] == ["b.txt"]  # a folder is dragged as a folder
    settle(qtbot, window)

    data = drag(tab, 2)
    assert data.urls() == []
    settle(qtbot, window)
    assert "../evil" in tab.note.text.text()
    tab.members.table.clearSelection()
    assert tab.members.table_model.mimeData([]) is None

    data = drag(tab, 0)
    assert data.hasUrls()
    assert data.formats() == ["text/uri-list"]
    (url,) = data.urls()
    path = Path(url.toLocalFile())
    assert (path.name, path.read_bytes()) == ("a.txt", b"alpha")
    root = path.parents[1]
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert not stat.S_IMODE(path.stat().st_mode) & 0o111
    settle(qtbot, window)
    assert path.exists()
    window.end()
    assert not root.exists()


def test_what_is_large_is_extracted_only_when_it_is_asked_for(
    show: Show, window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    tab = show(archive(tmp_path / "big.caf", {"big.bin": b"x" * (17 << 20)}))
    data = drag(tab, 0)
    settle(qtbot, window)
    assert not Path(data._folder).exists()
    (url,) = data.urls()
    assert Path(url.toLocalFile()).stat().st_size == 17 << 20
    assert data.urls() == [url]
