"""Questions that people come with are answered in few actions: a key, a typed text, a drop or a click is one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import Window
from inspector.gui.dialogs.extract import ExtractDialog
from inspector.gui.kit.text import without_breaks
from inspector.gui.tabs.audit_model import LOCATION, STATE
from inspector.gui.tabs.audit_tab import AuditTab
from inspector.gui.tabs.compare_tab import CompareTab
from inspector.operations.protocol.views import LayerKind
from tests.gui.appearance.test_keyboard_story import Hands, K, M
from tests.gui.conftest import WAIT, Copied, Sample, Show
from tests.gui.tabs.create_helpers import drop, dropped

MANY = 100_000
pytestmark = pytest.mark.qt_log_ignore("does not support raise", "does not support grabbing", extend=True)


class CountingHands(Hands):
    """Counts what the hands do."""

    actions = 0

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


def test_1_which_member_holds_a_byte(hands: CountingHands, show: Show) -> None:
    tab = show("two-chunks.rca")
    hands.press(K.Key_G, M.ControlModifier)
    hands.write("0x5000")
    hands.press(K.Key_Return)
    hands.settle()
    assert without_breaks(tab.byte.facts["Member"].text()).startswith("photos/noise.bin\n")
    assert hands.actions <= 3


def test_2_why_another_program_rejects_it(hands: CountingHands, show: Show) -> None:
    tab = show("two-resets-spec.rca")
    hands.press(K.Key_R, M.ControlModifier | M.ShiftModifier)
    hands.settle()
    hands.wait(lambda: bool(tab.reader.rows))
    table = tab.reader.table_model
    rows = [table.texts(row) for row in range(table.rowCount())]
    assert any(name == "rcarch" and verdict == "rejects" and "step" in why for name, _, verdict, why in rows)
    assert tab.reader.table.isVisible()
    assert hands.actions <= 2


def test_3_whether_a_crash_is_recoverable(hands: CountingHands, sample: Sample) -> None:
    hands.drop(sample("torn-after-write-2.tacozip"))
    banner = hands.tab.banner
    assert banner.sentence.text() == "An update of the TACO header was interrupted after its second write."
    assert banner.repair.isVisible()
    assert hands.actions <= 1


def test_4_what_an_edit_of_the_header_would_write(hands: CountingHands, copied: Copied) -> None:
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


def test_5_which_range_is_missing(hands: CountingHands, sample: Sample) -> None:
    hands.drop(sample("weather-gap"))
    assert hands.tab.banner.sentence.text() == "No range of the dataset weather has the keys 3 to 6."
    assert hands.actions <= 1


def test_6_one_file_among_very_many(hands: CountingHands, tmp_path: Path) -> None:
    path, names = tmp_path / "many.caf", [f"photos/{number:06}.txt" for number in range(MANY)]
    files = {name: {"start_byte": 6 * at, "end_byte": 6 * at + 6} for at, name in enumerate(names)}
    index = json.dumps({"format_version": "1.0", "files": files}).encode()
    data = "".join(name[7:13] for name in names).encode()
    path.write_bytes(data + index + len(index).to_bytes(4, "little"))
    hands.drop(path)
    hands.press(K.Key_F, M.ControlModifier | M.ShiftModifier)
    hands.write("050123")
    document = hands.tab.document
    hands.wait(lambda: document.filter == "050123")
    hands.settle()
    hands.press(K.Key_Return)
    hands.wait(lambda: document.content is not None)
    hands.settle()
    info = document.layer_info(document.layer)
    assert info is not None
    assert (info.kind, info.size) == (LayerKind.CONTENT, 6)
    assert "050123" in info.title
    assert hands.actions <= 4


def test_7_whether_two_copies_are_the_same(hands: CountingHands, show: Show, sample: Sample, tmp_path: Path) -> None:
    show("two-chunks.rca")
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


def test_8_which_of_forty_are_bad(hands: CountingHands, sample: Sample, tmp_path: Path) -> None:
    copies = [tmp_path / f"{at:02}.rca" for at in range(40)]
    for at, copy in enumerate(copies):
        shutil.copyfile(sample("flipped-blob-byte.rca" if at in (7, 31) else "one-blob.rca"), copy)
    hands.drop(*copies)
    tab = hands.window.tabs.currentWidget()
    assert isinstance(tab, AuditTab)
    hands.qtbot.waitUntil(lambda: tab.settled, timeout=4 * WAIT)
    assert tab.sentence.text() == "40 archives: 38 sound, 2 damaged."
    header = tab.table.horizontalHeader()
    hands.actions += 1
    title = QPoint(header.sectionViewportPosition(STATE) + 8, header.height() // 2)
    hands.qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=title)
    hands.wait(lambda: tab.settled and tab.model.index(0, STATE).data() == "damaged")
    assert {tab.model.index(row, LOCATION).data() for row in (0, 1)} == {"07.rca", "31.rca"}
    assert hands.actions <= 2


def test_9_everything_that_is_whole_is_got_out(hands: CountingHands, copied: Copied) -> None:
    _, path = copied("flipped-blob-byte.rca")
    hands.press(K.Key_E, M.ControlModifier)
    dialog = hands.dialog(ExtractDialog)
    assert isinstance(dialog, ExtractDialog)
    hands.wait(lambda: dialog.plan is not None and dialog.extract.isEnabled())
    hands.press(K.Key_Return)
    whole = path.with_suffix("") / "station-4" / "2024-05.log"
    hands.wait(whole.exists)
    hands.settle()
    assert hands.actions <= 2


def test_10_a_report_is_handed_over(hands: CountingHands, copied: Copied) -> None:
    _, path = copied("two-resets-spec.rca")
    hands.press(K.Key_P, M.ControlModifier)
    hands.dialog(QFileDialog)
    hands.press(K.Key_Return)
    report = Path(f"{path}.report.html")
    hands.wait(report.exists)
    hands.settle()
    assert "<svg" in report.read_text(encoding="utf-8")
    assert hands.actions <= 2
