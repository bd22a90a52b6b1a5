"""Making archives in the window, with real workers and real files."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtWidgets import QMessageBox
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import Window
from inspector.gui.tabs.new_archive import NewArchiveTab
from inspector.operations.protocol.create_views import ArchiveKind
from tests.gui.conftest import WAIT, answer, dialog_of, press, settle
from tests.gui.tabs.create_helpers import drop, dropped, new_archive, slow, tree
from tests.sweeping import in_the_sweep

__all__ = ["tree"]


def names(tab: NewArchiveTab) -> list[str]:
    return [tab.inputs.model.texts(row)[0] for row in range(tab.inputs.model.rowCount())]


@pytest.mark.parametrize(
    ("kind", "file", "title"),
    [
        in_the_sweep(ArchiveKind.CAF, "n.caf", "CAF"),
        in_the_sweep(ArchiveKind.RCA, "n.rca", "RCA"),
        (ArchiveKind.TACO, "n.tacozip", "TACO"),
    ],
)
def test_an_archive_is_made_and_opened(
    window: Window, qtbot: QtBot, tree: Path, tmp_path: Path, kind: ArchiveKind, file: str, title: str
) -> None:
    tab = new_archive(window, qtbot, kind, tree)
    assert names(tab) == ["1.txt", "sub/2.bin"]
    assert tab.sentence.text() == "Choose where to write it."
    assert not tab.begin.isEnabled()
    tab.target.setText(str(tmp_path / file))
    assert not (tmp_path / file).exists()
    tab.begin.click()
    settle(qtbot, window)
    assert "Created " in tab.message.text.text()
    tab.message.button.click()
    settle(qtbot, window)
    opened = window.tab()
    assert opened is not None
    assert title in opened.banner.state.text()
    # A TACO archive's header is a member too.
    assert f"{2 + (kind is ArchiveKind.TACO)} members" in opened.banner.state.text()


def test_a_dataset_is_packed_with_a_first_key(window: Window, qtbot: QtBot, tree: Path, tmp_path: Path) -> None:
    tab = new_archive(window, qtbot, ArchiveKind.DATAS3T, tree)
    root = tmp_path / "bucket"
    root.mkdir()
    tab.target.setText(str(root))
    assert tab.sentence.text() == "Name the dataset."
    page = tab.options.pages[ArchiveKind.DATAS3T]
    page.dataset.setText("weather")
    page.numbering.setChecked(True)
    page.first.setText("nine")
    assert "first key must be a number" in tab.missing()
    page.first.setText("9")
    page.per_range.setValue(1)
    settle(qtbot, window)
    assert "in 2 ranges, keys 9 to 10" in tab.inputs.sentence.text()
    tab.begin.click()
    settle(qtbot, window)
    assert len(list(root.rglob("*.tar"))) == 2
    tab.message.button.click()
    settle(qtbot, window)
    assert window.tab() is not None


def test_what_stands_against_it_is_marked_and_nothing_is_made(
    window: Window, qtbot: QtBot, tree: Path, tmp_path: Path, qtmodeltester: ModelTester
) -> None:
    (tmp_path / "link").symlink_to(tree)
    tab = new_archive(window, qtbot, ArchiveKind.CAF, tree, tree / "1.txt", tmp_path / "link")
    qtmodeltester.check(tab.inputs.model)
    tab.target.setText(str(tmp_path / "n.caf"))
    remarks = {tab.inputs.model.texts(row)[0]: tab.inputs.model.texts(row)[3] for row in range(4)}
    assert "is a link" in remarks["link"]
    assert "more than once" in remarks["1.txt"]
    assert not tab.begin.isEnabled()
    assert "is a link" in tab.sentence.text()
    tab.inputs.table.selectRow(0)
    tab.inputs.remove.click()
    settle(qtbot, window)
    assert "occurs twice" in tab.sentence.text()
    tab.inputs.clear.click()
    settle(qtbot, window)
    assert "Drop files and folders here" in tab.inputs.stack.shown_sentence()
    tab.create_archive()
    assert not (tmp_path / "n.caf").exists()


def test_what_a_killed_run_has_left_is_removed_and_what_is_there_replaced_only_when_that_is_said(
    window: Window, qtbot: QtBot, tree: Path, tmp_path: Path
) -> None:
    left = tmp_path / ".n.caf.0123456789abcdef.part"
    left.write_bytes(b"1")
    tab = new_archive(window, qtbot, ArchiveKind.CAF, tree)
    assert tab.remove_unfinished.isHidden()
    tab.target.setFocus()
    qtbot.keyClicks(tab.target, str(tmp_path / "n.caf"))
    qtbot.keyClick(tab.target, Qt.Key.Key_Return)
    qtbot.waitUntil(tab.remove_unfinished.isVisible, timeout=WAIT)
    assert "1 unfinished file of a run that was killed" in tab.message.text.text()
    assert left.exists()
    tab.remove_unfinished.setChecked(True)
    tab.begin.click()
    settle(qtbot, window)
    assert not left.exists()
    assert "was removed in" in tab.message.text.text()

    target = tmp_path / "n.caf"
    target.write_bytes(b"mine")
    tab.begin.click()
    settle(qtbot, window)
    assert "is there already" in tab.message.text.text()
    assert target.read_bytes() == b"mine"
    tab.overwrite.setChecked(True)
    tab.begin.click()
    settle(qtbot, window)
    assert "Created " in tab.message.text.text()
    assert target.read_bytes() != b"mine"


def test_cancelling_leaves_nothing_and_closing_asks_and_leaves_nothing(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    out = slow(tmp_path)
    tab = new_archive(window, qtbot, ArchiveKind.RCA, tmp_path / "big.bin")
    tab.target.setText(str(out / "n.rca"))
    tab.options.pages[ArchiveKind.RCA].level.setValue(19)
    settle(qtbot, window)
    tab.begin.click()
    qtbot.waitUntil(lambda: any(out.iterdir()), timeout=WAIT)
    assert tab.stop.isVisible()
    assert not window.settled
    qtbot.keyClick(tab, Qt.Key.Key_Escape)
    settle(qtbot, window)
    assert "no partial files are left" in tab.message.text.text()
    assert not any(out.iterdir())
    assert tab.begin.isVisible()

    tab.begin.click()
    qtbot.waitUntil(lambda: any(out.iterdir()), timeout=WAIT)
    link = tab.client.link
    press(window, "close_tab")
    box = dialog_of(window, QMessageBox)
    assert isinstance(box, QMessageBox)
    assert "“New Archive”" in box.text()
    answer(box, "Close")
    qtbot.waitUntil(lambda: link.process is None, timeout=WAIT)
    assert not any(out.iterdir())


def test_files_are_dropped_on_the_list_and_the_name_follows_the_kind(
    window: Window, qtbot: QtBot, tree: Path, tmp_path: Path
) -> None:
    tab = new_archive(window, qtbot, ArchiveKind.CAF)
    assert tab.sentence.text() == "Add files or folders."
    drop(tab.inputs, dropped(tree / "1.txt", tree / "sub"))
    settle(qtbot, window)
    assert names(tab) == ["1.txt", "2.bin"]
    web = QMimeData()
    web.setUrls([QUrl("https://example.org/x")])
    drop(tab.inputs, web)
    assert "not added" in tab.inputs.sentence.text()

    tab.target.setText(str(tmp_path / "n.caf"))
    tab.kind.setCurrentIndex(tab.kind.findData(ArchiveKind.RCA))
    settle(qtbot, window)
    assert tab.target.text() == str(tmp_path / "n.rca")
    assert tab.sentence.text() == ""
    tab.target.setText(str(tmp_path / "wrong.caf"))
    settle(qtbot, window)
    assert tab.sentence.text() == "The name ends in .caf, but archives of this kind end in .rca."
    assert tab.begin.isEnabled()
