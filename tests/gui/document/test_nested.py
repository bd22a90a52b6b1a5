"""Archives in archives, in the window: opened from the list of members, and the way back out."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.kit.locations import absolute, name_of, outer_locations
from inspector.operations.protocol.views import Stage
from tests.gui.conftest import Show, settle
from tests.operations.extract.extracting import tar, zipped


def shown(window: Window) -> Tab:
    tab = window.tab()
    assert tab is not None
    return tab


def test_locations_of_what_lies_in_archives() -> None:
    assert absolute("/a/./outer.tar!/../x//y") == "/a/outer.tar!/../x//y"
    assert absolute("/a/b.tar.gz!/") == "/a/b.tar.gz!/"
    assert name_of("/a/b.tar.gz!/") == "b.tar.gz!/"
    assert outer_locations("/a/b.tar") == []
    assert outer_locations("/a/b.tar.gz!/!/x!/y") == ["/a/b.tar.gz", "/a/b.tar.gz!/", "/a/b.tar.gz!/!/x"]


def test_an_archive_in_compressed_bytes_is_opened_and_left_again(
    show: Show, window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "outer.tar.gz"
    path.write_bytes(gzip.compress(tar([("f/inner.zip", zipped([("a.txt", b"hello")])), ("f/plain", b"text")])))
    outer = show(path)
    assert [button.text() for button in outer.hex_pane.bar.outer] == []
    for location, members in ((f"{path}!/", 2), (f"{path}!/!/f/inner.zip", 1)):
        window.actions_["open_inside"].trigger()
        settle(qtbot, window)
        tab = shown(window)
        assert (tab.document.location, tab.document.status.stage) == (location, Stage.READY)
        assert tab.document.status.members == members
        tab.members.as_table.click()
        tab.members.table.setCurrentIndex(tab.members.table_model.index(0, 0))
        settle(qtbot, window)
    crumbs = shown(window).hex_pane.bar.outer
    assert [button.text() for button in crumbs] == ["outer.tar.gz", "outer.tar.gz!/"]
    assert window.tabs.count() == 3
    crumbs[0].click()
    settle(qtbot, window)
    assert (shown(window), window.tabs.count()) == (outer, 3)


@pytest.mark.sweep
def test_archives_open_sixteen_deep_and_say_so_below(show: Show, window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    data = b"the end"
    for _ in range(18):
        data = tar([("x.tar", data)])
    path = tmp_path / "outer.tar"
    path.write_bytes(data)
    tab = show(Path(f"{path}{'!/x.tar' * 16}"))
    assert (tab.document.status.stage, tab.document.status.members) == (Stage.READY, 1)
    assert len(tab.hex_pane.bar.outer) == 16
    tab.members.as_table.click()
    tab.members.table.setCurrentIndex(tab.members.table_model.index(0, 0))
    settle(qtbot, window)
    window.actions_["open_inside"].trigger()
    settle(qtbot, window)
    below = shown(window).document
    assert (below.location, below.status.stage) == (f"{path}{'!/x.tar' * 17}", Stage.FAILED)
    assert "lies 16 archives deep" in below.status.sentence


def test_what_is_no_archive_inside_says_so(show: Show, window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "plain.gz"
    path.write_bytes(b"not compressed")
    show(path)
    window.actions_["open_inside"].trigger()
    settle(qtbot, window)
    status = shown(window).document.status
    assert status.stage is Stage.FAILED
    assert "not compressed by gzip" in status.sentence
