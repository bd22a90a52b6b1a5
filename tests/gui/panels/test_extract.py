"""Extracting in the window: asked first, said afterwards, with the real worker writing real files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel
from PySide6.QtWidgets import QDialogButtonBox, QMenu
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.dialogs.extract import ExtractDialog, ExtractedDialog
from inspector.operations.protocol.extraction_views import OnConflict
from tests.gui.conftest import WAIT, Show, dialog_of, press, settle


def archive(path: Path, contents: dict[str, bytes]) -> Path:
    """A CAF archive of these members."""
    files, at = {}, 0
    for name, data in contents.items():
        files[name] = {"start_byte": at, "end_byte": at + len(data)}
        at += len(data)
    index = json.dumps({"format_version": "1.0", "files": files}).encode()
    path.write_bytes(b"".join(contents.values()) + index + len(index).to_bytes(4, "little"))
    return path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return archive(tmp_path / "small.caf", {"a.txt": b"alpha", "sub/b.txt": b"beta", "sub/deep/c.txt": b""})


def ask(window: Window, qtbot: QtBot) -> ExtractDialog:
    """Press Extract and wait until it is planned."""
    before = len(window.findChildren(ExtractDialog))
    press(window, "extract")
    qtbot.waitUntil(lambda: len(window.findChildren(ExtractDialog)) > before, timeout=WAIT)
    dialog = dialog_of(window, ExtractDialog)
    assert isinstance(dialog, ExtractDialog)
    planned(dialog, qtbot)
    return dialog


def planned(dialog: ExtractDialog, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: dialog.plan is not None, timeout=WAIT)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def extracted(dialog: ExtractDialog, folder: Path, window: Window, qtbot: QtBot) -> dict[str, bytes]:
    """Extract into a folder what the dialog was opened for."""
    dialog.folder.setText(str(folder))
    planned(dialog, qtbot)
    dialog.accept()
    settle(qtbot, window)
    return files(folder)


def banner(tab: Tab) -> str:
    return tab.banner.message.text.text()


def test_everything_is_extracted_beside_the_archive_unless_the_folder_cannot_be_written_to(
    show: Show, window: Window, qtbot: QtBot, small: Path
) -> None:
    tab = show(small)
    dialog = ask(window, qtbot)
    assert dialog.isVisible()
    assert dialog.all.isChecked()
    assert Path(dialog.folder.text()) == small.with_suffix("")
    assert dialog.summary.text().startswith("3 files, 9 B;")
    assert dialog.problems.isHidden()
    assert dialog.remove_unfinished.isHidden()
    assert not small.with_suffix("").exists()
    dialog.answer.click()
    settle(qtbot, window)
    assert files(small.with_suffix("")) == {"a.txt": b"alpha", "sub/b.txt": b"beta", "sub/deep/c.txt": b""}
    assert "3 files, 9 B, were extracted" in banner(tab)
    assert tab.banner.message.button.text() == "Open Folder"

    dialog = ask(window, qtbot)
    dialog.folder.setText("")
    qtbot.waitUntil(lambda: "Choose a folder" in dialog.summary.text(), timeout=WAIT)
    dialog.folder.setText(str(small / "beneath a file"))
    qtbot.waitUntil(lambda: "cannot be written to" in dialog.summary.text(), timeout=WAIT)
    assert not dialog.answer.isEnabled()
    dialog.reject()
    settle(qtbot, window)


# A menu raises itself and takes the keyboard; there is no screen.
@pytest.mark.qt_log_ignore("does not support raise", "does not support grabbing", extend=True)
def test_what_is_selected_in_the_tree_or_the_table_is_extracted_by_the_menu_too(
    show: Show, window: Window, qtbot: QtBot, small: Path, tmp_path: Path
) -> None:
    tab = show(small)
    members, tree = tab.members, tab.members.tree
    tree.setFocus()
    tree.setCurrentIndex(tab.members.tree_model.index(1, 0))
    settle(qtbot, window)
    # Away from every row, as when the key for menus is pressed.
    tree.customContextMenuRequested.emit(tree.viewport().rect().bottomRight())
    (menu,) = [menu for menu in window.findChildren(QMenu) if menu.isVisible()]
    assert window.actions_["extract"] in menu.actions()
    menu.close()

    tree.setFocus()
    tree.setCurrentIndex(members.tree_model.index(0, 0))  # a folder, whole
    dialog = ask(window, qtbot)
    assert "(2)" in dialog.chosen.text()
    assert set(extracted(dialog, tmp_path / "folder", window, qtbot)) == {"sub/b.txt", "sub/deep/c.txt"}

    members.as_table.click()
    settle(qtbot, window)
    select = members.table.selectionModel().select
    for row in (0, 2):
        select(
            members.table_model.index(row, 0),
            QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows,
        )
    settle(qtbot, window)
    dialog = ask(window, qtbot)
    assert dialog.chosen.isChecked()
    assert "(2)" in dialog.chosen.text()
    assert set(extracted(dialog, tmp_path / "out", window, qtbot)) == {"a.txt", "sub/deep/c.txt"}


def test_what_is_there_stays_unless_the_user_says_otherwise(
    show: Show, window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    show(archive(tmp_path / "one.caf", {"a.txt": b"alpha"}))
    (tmp_path / "one").mkdir()
    for way, expected in (
        (OnConflict.SKIP, {"a.txt": b"mine"}),
        (OnConflict.OVERWRITE, {"a.txt": b"alpha"}),
        (OnConflict.RENAME, {"a.txt": b"mine", "a (2).txt": b"alpha"}),
    ):
        (tmp_path / "one" / "a.txt").write_bytes(b"mine")
        dialog = ask(window, qtbot)
        assert dialog.choices().on_conflict is OnConflict.SKIP
        assert "a file is there already" in dialog.problems.model.texts(0)[2]
        dialog.on_conflict.setCurrentIndex(dialog.on_conflict.findData(way))
        planned(dialog, qtbot)
        # Where there is nothing to be extracted, the button cannot be pressed.
        assert dialog.answer.isEnabled() is (way is not OnConflict.SKIP)
        dialog.accept()
        settle(qtbot, window)
        assert files(tmp_path / "one") == expected, way


def test_names_that_leave_the_folder_are_refused_before_and_after(
    show: Show, window: Window, qtbot: QtBot, tmp_path: Path, qtmodeltester: ModelTester
) -> None:
    tab = show(archive(tmp_path / "bad.caf", {"../evil": b"1", "<b>good</b>": b"2", "un\u200bseen": b"3"}))
    dialog = ask(window, qtbot)
    qtmodeltester.check(dialog.problems.model)
    assert [dialog.problems.model.texts(row)[:2] for row in range(2)] == [
        ("refused", "../evil"),
        ("not confirmed", "un‹U+200B›seen"),
    ]
    dialog.problems.table.selectRow(0)
    assert "leads out of its folder" in dialog.problems.details.text()
    dialog.doubtful.click()
    planned(dialog, qtbot)
    dialog.accept()
    settle(qtbot, window)
    assert files(tmp_path / "bad") == {"<b>good</b>": b"2", "un\u200bseen": b"3"}
    assert not (tmp_path / "evil").exists()
    assert "1 member refused" in banner(tab)
    tab.banner.message.button.click()
    told = dialog_of(window, ExtractedDialog)
    assert isinstance(told, ExtractedDialog)
    assert "../evil" in told.problems.model.texts(0)[1]
    told.findChild(QDialogButtonBox).rejected.emit()  # type: ignore[union-attr]


def test_members_whose_place_is_in_doubt_are_extracted_only_on_a_word(
    show: Show, window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    path = archive(tmp_path / "shifted.caf", {"a": b"first", "b": b"second"})
    path.write_bytes(b"+" + path.read_bytes())
    show(path)
    dialog = ask(window, qtbot)
    assert [dialog.problems.model.texts(row)[:2] for row in range(2)] == [
        ("not confirmed", "a"),
        ("not confirmed", "b"),
    ]
    assert "bytes were lost or inserted" in dialog.problems.model.texts(0)[2]
    assert not dialog.answer.isEnabled()
    dialog.doubtful.click()
    planned(dialog, qtbot)
    dialog.accept()
    settle(qtbot, window)
    assert files(tmp_path / "shifted") == {"a": b"+firs", "b": b"tsecon"}


@pytest.mark.sweep
def test_members_that_are_damaged_are_kept_only_on_a_word(
    show: Show, window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    tab = show("flipped-blob-byte.rca")
    dialog = ask(window, qtbot)
    dialog.folder.setText(str(tmp_path / "out"))
    planned(dialog, qtbot)
    dialog.keep_damaged.click()
    dialog.accept()
    settle(qtbot, window)
    assert "1 member damaged" in banner(tab)
    assert any(name.endswith(".damaged") for name in files(tmp_path / "out"))


def test_cancelling_and_closing_leave_no_half_file(
    show: Show, window: Window, qtbot: QtBot, large: Path, tmp_path: Path
) -> None:
    tab, out = show(large), tmp_path / "out"
    link = tab.document.client.link

    def begin() -> None:
        dialog = ask(window, qtbot)
        dialog.folder.setText(str(out))
        planned(dialog, qtbot)
        dialog.accept()
        qtbot.waitUntil(lambda: any(out.glob(".part-*")), timeout=WAIT)

    begin()
    press(window, "cancel")
    settle(qtbot, window)
    qtbot.waitUntil(lambda: not any(out.iterdir()), timeout=WAIT)
    assert "cancelled" in tab.note.text.text()
    assert link.process is not None

    begin()
    tab.document.close()
    qtbot.waitUntil(lambda: link.process is None, timeout=WAIT)
    assert not any(out.iterdir())


def test_what_a_killed_run_has_left_is_removed_and_an_archive_that_changed_meanwhile_is_said_at_once(
    show: Show, window: Window, qtbot: QtBot, small: Path
) -> None:
    left = small.with_suffix("") / "sub" / ".part-0123456789abcdef"
    left.parent.mkdir(parents=True)
    left.write_bytes(bytes(10))
    tab = show(small)
    dialog = ask(window, qtbot)
    assert "1 unfinished file of a run that was killed" in dialog.summary.text()
    assert f"({dialog.remove_unfinished.text().replace('&', '')})" in dialog.summary.text()
    assert dialog.remove_unfinished.isVisible()
    dialog.remove_unfinished.click()
    os.utime(small, (5, 5))
    dialog.answer.click()
    settle(qtbot, window)
    assert files(small.with_suffix("")) == {"a.txt": b"alpha", "sub/b.txt": b"beta", "sub/deep/c.txt": b""}

    assert banner(tab).count("may mix old and new bytes") == 1
    tab.banner.message.button.click()
    details = dialog_of(window, ExtractedDialog)
    assert isinstance(details, ExtractedDialog)
    assert details.sentence.text().count("may mix old and new bytes") == 1
