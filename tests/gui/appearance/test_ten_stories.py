"""Questions that people come with are answered in few actions: a key, a typed text, a drop or a click is one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.dialogs.extract import ExtractDialog
from inspector.gui.kit.text import without_breaks
from inspector.gui.tabs.audit_tab import LOCATION, STATE, AuditTab
from inspector.gui.tabs.compare_tab import CompareTab
from inspector.operations.protocol.views import LayerKind
from tests.gui.appearance.test_keyboard_story import Hands, K, M
from tests.gui.conftest import WAIT, Copied, Sample, Show
from tests.gui.tabs.create_helpers import drop, dropped
from tests.sweeping import in_the_sweep

BAD = (3, 7)
"""Which of the copies are damaged."""
pytestmark = pytest.mark.qt_log_ignore("does not support raise", "does not support grabbing", extend=True)


class CountingHands(Hands):
    """Counts what the hands do."""

    actions = 0

    def begin(self) -> None:
        self.actions = 0
        self.wait(lambda: self.holds(Window))

    def press(self, key: K, modifiers: M = M.NoModifier, times: int = 1) -> None:
        self.actions += times
        super().press(key, modifiers, times)

    def write(self, text: str) -> None:
        self.actions += 1
        super().write(text)

    def drop(self, *paths: Path) -> None:
        self.actions += 1
        drop(self.window, dropped(*paths))
        self.settle()


@pytest.fixture
def hands(window: Window, qtbot: QtBot) -> CountingHands:
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)
    return CountingHands(window, qtbot)


def which_member_holds_a_byte(hands: CountingHands, show: Show) -> None:
    hands.begin()
    tab = show("two-chunks.rca")
    hands.press(K.Key_G, M.ControlModifier)
    hands.write("0x5000")
    hands.press(K.Key_Return)
    hands.settle()
    assert without_breaks(tab.byte.facts["Member"].text()).startswith("photos/noise.bin\n")
    assert hands.actions <= 3


def whether_two_copies_are_the_same(hands: CountingHands, sample: Sample, tmp_path: Path) -> None:
    hands.begin()
    copy = tmp_path / "copy.rca"
    shutil.copyfile(sample("two-chunks.rca"), copy)
    hands.press(K.Key_C, M.ControlModifier | M.ShiftModifier)
    hands.dialog(QFileDialog)
    hands.write(str(copy))
    hands.press(K.Key_Return)
    hands.wait(lambda: isinstance(hands.window.tabs.currentWidget(), CompareTab))
    hands.settle()
    compared = hands.window.tabs.currentWidget()
    assert isinstance(compared, CompareTab)
    assert compared.sentence.text() == "Equal."
    assert hands.actions <= 3


def why_another_program_rejects_it(hands: CountingHands, tab: Tab) -> None:
    hands.begin()
    hands.press(K.Key_R, M.ControlModifier | M.ShiftModifier)
    hands.settle()
    hands.wait(lambda: bool(tab.reader.readers.rows))
    table = tab.reader.readers
    rows = [table.texts(row) for row in range(table.rowCount())]
    assert any(name == "rcarch" and verdict == "rejects" and "step" in why for name, _, verdict, why in rows)
    assert tab.reader.readers_table.isVisible()
    assert hands.actions <= 2


def a_report_is_handed_over(hands: CountingHands, path: Path) -> None:
    hands.begin()
    hands.press(K.Key_P, M.ControlModifier)
    hands.dialog(QFileDialog)
    hands.press(K.Key_Return)
    report = Path(f"{path}.report.html")
    hands.wait(report.exists)
    hands.settle()
    assert "<svg" in report.read_text(encoding="utf-8")
    assert hands.actions <= 2


def test_what_is_in_an_archive_who_reads_it_and_a_report_take_few_actions(
    hands: CountingHands, show: Show, copied: Copied, sample: Sample, tmp_path: Path
) -> None:
    which_member_holds_a_byte(hands, show)
    whether_two_copies_are_the_same(hands, sample, tmp_path)
    tab, path = copied("two-resets-spec.rca")
    why_another_program_rejects_it(hands, tab)
    a_report_is_handed_over(hands, path)


def whether_a_crash_is_recoverable(hands: CountingHands, sample: Sample) -> None:
    hands.begin()
    hands.drop(sample("torn-after-write-2.tacozip"))
    banner = hands.tab.banner
    assert banner.sentence.text() == "An update of the TACO header was interrupted after its second write."
    assert banner.repair.isVisible()
    assert hands.actions <= 1


def which_range_is_missing(hands: CountingHands, sample: Sample) -> None:
    hands.begin()
    hands.drop(sample("weather-gap"))
    assert hands.tab.banner.sentence.text() == "No range of the dataset weather has the keys 3 to 6."
    assert hands.actions <= 1


def one_file_among_very_many(hands: CountingHands, tmp_path: Path, count: int) -> None:
    hands.begin()
    path, names = tmp_path / "many.caf", [f"photos/{number:06}.txt" for number in range(count)]
    files = {name: {"start_byte": 6 * at, "end_byte": 6 * at + 6} for at, name in enumerate(names)}
    index = json.dumps({"format_version": "1.0", "files": files}).encode()
    data = "".join(name[7:13] for name in names).encode()
    path.write_bytes(data + index + len(index).to_bytes(4, "little"))
    hands.drop(path)
    hands.press(K.Key_F, M.ControlModifier | M.ShiftModifier)
    hands.write("001234")
    document = hands.tab.document
    hands.wait(lambda: document.filter == "001234")
    hands.settle()
    hands.press(K.Key_Return)
    hands.wait(lambda: document.content is not None)
    hands.settle()
    info = document.layer_info(document.layer)
    assert info is not None
    assert (info.kind, info.size) == (LayerKind.CONTENT, 6)
    assert "001234" in info.title
    assert hands.actions <= 4


def which_of_them_are_bad(hands: CountingHands, sample: Sample, tmp_path: Path, count: int) -> None:
    hands.begin()
    copies = [tmp_path / f"{at:02}.rca" for at in range(count)]
    for at, copy in enumerate(copies):
        shutil.copyfile(sample("flipped-blob-byte.rca" if at in BAD else "one-blob.rca"), copy)
    hands.drop(*copies)
    tab = hands.window.tabs.currentWidget()
    assert isinstance(tab, AuditTab)
    hands.qtbot.waitUntil(lambda: tab.settled, timeout=4 * WAIT)
    assert tab.sentence.text() == f"{count} archives: {count - 2} sound, 2 damaged."
    header = tab.table.horizontalHeader()
    hands.actions += 1
    title = QPoint(header.sectionViewportPosition(STATE) + 8, header.height() // 2)
    hands.qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=title)
    hands.wait(lambda: tab.settled and tab.model.index(0, STATE).data() == "damaged")
    assert {tab.model.index(row, LOCATION).data() for row in (0, 1)} == {f"{at:02}.rca" for at in BAD}
    assert hands.actions <= 2


@pytest.mark.parametrize(("members", "archives"), [(2_000, 10), in_the_sweep(100_000, 40)])
def test_what_is_dropped_is_judged_and_searched_in_few_actions(
    hands: CountingHands, sample: Sample, tmp_path: Path, members: int, archives: int
) -> None:
    whether_a_crash_is_recoverable(hands, sample)
    which_range_is_missing(hands, sample)
    one_file_among_very_many(hands, tmp_path, members)
    which_of_them_are_bad(hands, sample, tmp_path, archives)


def what_an_edit_of_the_header_would_write(hands: CountingHands, copied: Copied) -> None:
    hands.begin()
    tab, _ = copied("two-entries.tacozip")
    hands.press(K.Key_H, M.ControlModifier | M.ShiftModifier)
    hands.press(K.Key_Right)
    hands.press(K.Key_F2)
    hands.write("4242")
    hands.press(K.Key_Return)
    hands.wait(lambda: tab.editing.pending is not None and not tab.editing.previewing)
    hands.settle()
    assert tab.header.writes.isVisible()
    assert "3 of 3" in tab.header.writes.label.text()
    assert hands.actions <= 6


def everything_that_is_whole_is_got_out(hands: CountingHands, copied: Copied) -> None:
    hands.begin()
    _, path = copied("flipped-blob-byte.rca")
    hands.press(K.Key_E, M.ControlModifier)
    dialog = hands.dialog(ExtractDialog)
    assert isinstance(dialog, ExtractDialog)
    hands.wait(lambda: dialog.plan is not None and dialog.answer.isEnabled())
    hands.press(K.Key_Return)
    whole = path.with_suffix("") / "station-4" / "2024-05.log"
    hands.wait(whole.exists)
    hands.settle()
    assert hands.actions <= 2


@pytest.mark.sweep
def test_an_edit_is_planned_and_everything_whole_got_out_in_few_actions(hands: CountingHands, copied: Copied) -> None:
    what_an_edit_of_the_header_would_write(hands, copied)
    everything_that_is_whole_is_got_out(hands, copied)
