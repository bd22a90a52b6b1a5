"""The tab that compares two locations, with its real worker and real keys."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.__main__ import main
from inspector.core.kinds import Role
from inspector.gui.app.comparisons import Comparisons
from inspector.gui.app.window import Window
from inspector.gui.document.session import OpenTab, Session, from_json, to_json
from inspector.gui.tabs.aligned_view import ROLES, AlignedModel
from inspector.gui.tabs.compare_tab import EARLIER, IN_A, KIND, NOT_ALIGNED, RIGHT, WHAT, CompareTab
from inspector.operations.protocol.compare_views import A, B, Change
from tests.gui.conftest import WAIT, Sample, Show, dialog_of, press, settle

LOST = 512
"""Bytes cut out of the second copy, at byte 1,024."""
FLIPPED = 3_000
"""The byte of the first copy that is flipped in the second."""


@pytest.fixture
def damaged(sample: Callable[[str], Path], tmp_path: Path) -> Path:
    """A copy of two-entries.tacozip that lost a block and has a flipped bit."""
    data = bytearray(sample("two-entries.tacozip").read_bytes())
    data[FLIPPED] ^= 1
    path = tmp_path / "damaged.tacozip"
    path.write_bytes(data[:1_024] + data[1_024 + LOST :])
    return path


def shown(window: Window) -> CompareTab:
    tab = window.tabs.currentWidget()
    assert isinstance(tab, CompareTab)
    return tab


def compared(window: Window, qtbot: QtBot, a: Path, b: Path) -> CompareTab:
    window.comparisons.compare(str(a), str(b))
    settle(qtbot, window)
    settle(qtbot, window)
    return shown(window)


def rows(tab: CompareTab) -> list[tuple[str, ...]]:
    model = tab.model
    return [tuple(model.index(row, column).data() for column in range(5)) for row in range(model.rowCount())]


def carets(tab: CompareTab) -> list[int]:
    return [tab.views[side].caret() for side in (A, B)]


def model_of(tab: CompareTab, side: str) -> AlignedModel:
    model = tab.views[side].aligned_model()
    assert model is not None
    return model


# ---- what is shown -------------------------------------------------------------------------------------------------


def test_both_sides_stand_aligned_with_gaps_and_colours(
    window: Window, qtbot: QtBot, sample: Sample, damaged: Path, qtmodeltester: ModelTester
) -> None:
    tab = compared(window, qtbot, sample("two-entries.tacozip"), damaged)

    qtmodeltester.check(tab.model)
    assert tab.sentence.text().endswith("2 runs of bytes differ (513 bytes); A is right.")
    assert tab.captions[A].text() == "A: two-entries.tacozip (sound)"
    assert tab.captions[B].text() == "B: damaged.tacozip (damaged)"
    a, b = model_of(tab, A), model_of(tab, B)
    assert a.size == b.size == sample("two-entries.tacozip").stat().st_size
    assert b.bytes_at(1_000, 1_600) == [
        (1_000, damaged.read_bytes()[1_000:1_024]),
        (1_024 + LOST, damaged.read_bytes()[1_024 : 1_024 + 64]),
    ]
    assert [(each.start, each.stop, each.paint.what) for each in b.tints_at(1_000, 1_600)] == [(1_024, 1_536, Role.GAP)]
    assert [each.paint.what for each in a.tints_at(1_000, 1_600)] == [ROLES[Change.REMOVED]]
    found = rows(tab)
    assert [(row[KIND], row[IN_A], row[RIGHT]) for row in found[2:]] == [
        ("bytes only in A", "1,024..1,536", "A"),
        ("bytes changed", "3,000..3,001", "A"),
    ]
    assert tab.legend.labels() == ["only in A", "only in B", "changed", "nothing here", "the other side is right"]


def test_equal_files_have_no_list(window: Window, qtbot: QtBot, sample: Sample, tmp_path: Path) -> None:
    shutil.copyfile(sample("plain.zip"), tmp_path / "b.zip")

    tab = compared(window, qtbot, sample("plain.zip"), tmp_path / "b.zip")

    assert tab.sentence.text() == "Equal."
    assert tab._list_stack.shown_sentence() == "Equal."
    assert not tab.next.isEnabled()
    assert tab.views[A].isVisible()


def test_different_formats_have_a_list_and_no_bytes(window: Window, qtbot: QtBot, sample: Sample) -> None:
    tab = compared(window, qtbot, sample("plain.zip"), sample("plain.tar"))

    assert tab._byte_stack.shown_sentence() == NOT_ALIGNED
    assert {row[KIND] for row in rows(tab)} == {"member only in A", "member only in B"}


def test_what_cannot_be_read_is_a_sentence(window: Window, qtbot: QtBot, sample: Sample, tmp_path: Path) -> None:
    tab = compared(window, qtbot, sample("plain.zip"), tmp_path / "nothing.zip")

    assert "does not exist" in tab.sentence.text()
    assert tab.again.isEnabled()
    shutil.copyfile(sample("plain.zip"), tmp_path / "nothing.zip")
    qtbot.mouseClick(tab.again, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert tab.sentence.text() == "Equal."


# ---- moving --------------------------------------------------------------------------------------------------------


def test_keys_lead_from_difference_to_difference(window: Window, qtbot: QtBot, sample: Sample, damaged: Path) -> None:
    tab = compared(window, qtbot, sample("two-entries.tacozip"), damaged)
    view = tab.views[A]
    view.setFocus()

    assert carets(tab) == [1_024, 1_024]
    qtbot.keyClick(view, Qt.Key.Key_F8)
    assert carets(tab) == [FLIPPED, FLIPPED]
    settle(qtbot, window)
    assert tab.caret.text().startswith("A: 0xBB8 (3,000)")
    assert "B: 0x9B8 (2,488)" in tab.caret.text()
    qtbot.keyClick(view, Qt.Key.Key_F8)
    assert carets(tab) == [1_024, 1_024]
    qtbot.keyClick(view, Qt.Key.Key_F7)
    assert carets(tab) == [FLIPPED, FLIPPED]
    tab.views[B].setFocus()
    qtbot.keyClick(tab.views[B], Qt.Key.Key_F7)
    assert carets(tab) == [1_024, 1_024]


def test_both_sides_scroll_in_step_until_told_otherwise(
    window: Window, qtbot: QtBot, sample: Sample, damaged: Path
) -> None:
    tab = compared(window, qtbot, sample("two-entries.tacozip"), damaged)
    one, other = tab.views[A], tab.views[B]
    assert one.bytesPerRow() == other.bytesPerRow()

    QTest.keyClick(one, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    assert other.top() == one.top() > 0
    assert other.caret() == one.caret() == model_of(tab, A).size - 1
    tab.in_step.click()
    QTest.keyClick(one, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    assert one.top() == 0
    assert other.top() > 0


def test_both_sides_are_enlarged_together(window: Window, qtbot: QtBot, sample: Sample, damaged: Path) -> None:
    tab = compared(window, qtbot, sample("two-entries.tacozip"), damaged)
    before = tab.views[A].look.cell

    tab.views[B].zoomRequested.emit(6)

    assert tab.views[A].look.cell == tab.views[B].look.cell > before
    assert tab.views[A].bytesPerRow() == tab.views[B].bytesPerRow() == 8


def test_a_row_of_the_list_leads_to_its_bytes(window: Window, qtbot: QtBot, sample: Sample, damaged: Path) -> None:
    tab = compared(window, qtbot, sample("two-entries.tacozip"), damaged)
    row = next(at for at, texts in enumerate(rows(tab)) if texts[KIND] == "bytes changed")

    place = tab.table.visualRect(tab.model.index(row, WHAT)).center()
    qtbot.mouseClick(tab.table.viewport(), Qt.MouseButton.LeftButton, pos=place)

    assert carets(tab) == [FLIPPED, FLIPPED]
    assert tab.about.text().startswith("One bit differs at byte 3,000 (2,488 in B)")


def test_the_map_leads_to_its_bytes(window: Window, qtbot: QtBot, sample: Sample, damaged: Path) -> None:
    tab = compared(window, qtbot, sample("two-entries.tacozip"), damaged)

    height = tab.map.height()
    at = height * FLIPPED // model_of(tab, A).size
    assert tab.map.describe(at) == "changed"
    assert tab.map.describe(height - 1) == ""
    qtbot.mouseClick(tab.map, Qt.MouseButton.LeftButton, pos=QPoint(10, height - 2))
    assert carets(tab)[0] == carets(tab)[1] > 5_000


# ---- the list ------------------------------------------------------------------------------------------------------


def test_the_list_is_filtered_and_sorted(window: Window, qtbot: QtBot, sample: Sample, damaged: Path) -> None:
    tab = compared(window, qtbot, sample("two-entries.tacozip"), damaged)

    tab.levels[next(iter(tab.levels))].click()
    qtbot.waitUntil(lambda: tab.model.rowCount() == 2)
    assert {row[KIND] for row in rows(tab)} == {"bytes only in A", "bytes changed"}
    qtbot.keyClicks(tab.filter, "one bit")
    qtbot.waitUntil(lambda: tab.model.rowCount() == 1)
    tab.filter.clear()
    qtbot.waitUntil(lambda: tab.model.rowCount() == 2)
    tab.table.sortByColumn(IN_A, Qt.SortOrder.DescendingOrder)
    qtbot.waitUntil(lambda: rows(tab)[0][IN_A] == "3,000..3,001")


def test_bytes_are_copied_without_the_gap(window: Window, qtbot: QtBot, sample: Sample, damaged: Path) -> None:
    tab = compared(window, qtbot, sample("two-entries.tacozip"), damaged)
    view = tab.views[B]

    view.goTo(1_020, LOST + 8)
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot, window)

    assert QGuiApplication.clipboard().text().split() == damaged.read_bytes()[1_020:1_028].hex(" ").upper().split()


# ---- ways in, and the end ------------------------------------------------------------------------------------------


def test_the_archive_shown_is_compared_with_a_chosen_file(
    show: Show, window: Window, qtbot: QtBot, damaged: Path
) -> None:
    show("two-entries.tacozip")
    press(window, "compare_with")
    dialog = dialog_of(window, QFileDialog)
    assert isinstance(dialog, QFileDialog)
    dialog.filesSelected.emit([str(damaged)])
    dialog.reject()
    settle(qtbot, window)

    tab = shown(window)
    assert tab.sentence.text().endswith("A is right.")
    assert tab.captions[B].text().startswith("B: damaged.tacozip")


def test_one_file_is_not_compared_with_nothing(window: Window, damaged: Path) -> None:
    press(window, "compare_with")
    dialog = dialog_of(window, QFileDialog)
    assert isinstance(dialog, QFileDialog)
    dialog.filesSelected.emit([str(damaged)])
    dialog.reject()

    assert window.tabs.count() == 0
    assert "two files" in window.message.text.text()


def test_sides_are_swapped(window: Window, qtbot: QtBot, sample: Sample, damaged: Path) -> None:
    tab = compared(window, qtbot, sample("two-entries.tacozip"), damaged)

    qtbot.mouseClick(tab.swap, Qt.MouseButton.LeftButton)
    settle(qtbot, window)

    assert tab.captions[A].text() == "A: damaged.tacozip (damaged)"
    assert tab.sentence.text().endswith("B is right.")


def test_a_comparison_is_cancelled_and_leaves_no_worker(window: Window, qtbot: QtBot, large: Path) -> None:
    other = large.with_name("other.caf")
    shutil.copyfile(large, other)
    with other.open("r+b") as file:
        file.write(b"x")
    window.comparisons.compare(str(large), str(other))
    tab = shown(window)
    qtbot.waitUntil(lambda: tab.sentence.text() != "Comparing…", timeout=WAIT)
    qtbot.keyClick(tab, Qt.Key.Key_Escape)

    qtbot.waitUntil(lambda: window.settled, timeout=WAIT)
    assert tab.sentence.text() == "Cancelled."
    assert tab.again.isEnabled()
    press(window, "close_tab")
    assert window.start_page.isVisible()


def test_a_comparison_is_offered_again_by_the_next_session(
    window: Window, qtbot: QtBot, sample: Sample, damaged: Path
) -> None:
    tab = compared(window, qtbot, sample("two-entries.tacozip"), damaged)
    kept = tab.kept
    assert from_json(to_json(Session((kept,), 0))).tabs == (kept,)
    press(window, "close_tab")

    window.deferred_tabs.open([OpenTab(kept.location, side="compare", places=kept.places)], 0)
    settle(qtbot, window)
    again = shown(window)
    assert again.sentence.text() == EARLIER
    qtbot.mouseClick(again.again, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert again.sentence.text().endswith("A is right.")


def test_a_worker_that_dies_is_replaced(window: Window, qtbot: QtBot, sample: Sample, damaged: Path) -> None:
    tab = compared(window, qtbot, sample("two-entries.tacozip"), damaged)
    assert tab.client.link.process is not None
    tab.client.link.process.kill()
    qtbot.waitUntil(lambda: not tab.client.is_open, timeout=WAIT)

    assert "ended unexpectedly" in tab.sentence.text()
    qtbot.mouseClick(tab.again, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert tab.sentence.text().endswith("A is right.")


def test_two_locations_on_the_command_line_are_compared(
    sample: Sample, damaged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []
    before = Comparisons.compare

    def noted(comparisons: Comparisons, a: str, b: str) -> CompareTab:
        asked.append((a, b))
        return before(comparisons, a, b)

    monkeypatch.setattr(Comparisons, "compare", noted)
    pair = (str(sample("two-entries.tacozip")), str(damaged))

    assert main(["--screenshot", str(tmp_path / "out.png"), "--compare", *pair]) == 0
    assert asked == [pair]
    assert (tmp_path / "out.png").stat().st_size > 10_000
