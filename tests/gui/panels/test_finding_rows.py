"""Findings have two lines, the cause first; all of one is read beside them, and digests are copied whole."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from inspector.core.finding import Severity
from inspector.drawing.palette import MARKS, Mark, Scheme
from inspector.gui.app.window import Window
from inspector.gui.kit.style import STRIPE_PX
from inspector.gui.kit.widgets import Emptiable
from inspector.gui.panels.findings import MESSAGE, MIN_WIDTH_BESIDE_PX
from tests.gui.conftest import Show, settle

DAMAGED = "two-changed-bytes.rca"
DIGEST = "917fdc32835dad9e"
LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def test_rows_have_a_stripe_and_two_lines_and_a_step_or_a_click_leads_to_the_bytes_and_to_all_that_is_said(
    checked: Show, window: Window, qtbot: QtBot
) -> None:
    tab = checked(DAMAGED)
    panel, table, model = tab.findings, tab.findings.table, tab.findings.model
    text = str(model.index(1, MESSAGE).data())
    assert text.startswith("Hash mismatch at the reset block of segment 1.\nIt hashes to")
    assert table.wordWrap()
    assert table.rowHeight(0) >= 2 * table.fontMetrics().lineSpacing()

    assert panel.width() >= MIN_WIDTH_BESIDE_PX
    assert panel.about.isHidden()  # details take no room before a finding is selected
    assert table.width() == panel.width()
    place = table.visualRect(model.index(0, 0))
    picture = table.viewport().grab().toImage()
    stripe = picture.pixelColor(place.left() + STRIPE_PX // 2, place.center().y()).name()
    assert stripe == MARKS[Scheme.LIGHT][Mark.ERROR].lower()
    assert model.index(0, 0).data() == Severity.ERROR.value  # and the word, not the colour alone

    panel.step(1)
    qtbot.waitUntil(panel.about.isVisible)
    settle(qtbot, window)
    row = model.row(model.index(1, 0))
    table.scrollTo(model.index(1, 0))
    at = table.visualRect(model.index(1, MESSAGE)).center()
    qtbot.mouseClick(table.viewport(), LEFT, NONE, at)
    settle(qtbot, window)
    assert row is not None
    assert tab.hex_pane.hex.caret() == row.spans[0].start
    assert panel.about.text().startswith(row.message)
    qtbot.waitUntil(lambda: panel.about.x() >= table.width())  # beside the rows
    assert panel.about.height() >= table.height()

    qtbot.mouseClick(panel.repairing, LEFT)
    settle(qtbot, window)
    assert tab.repair.plan is not None

    tab.docks["Findings"].raise_()
    window.resize(800, 700)
    panel.step(1)
    settle(qtbot, window)
    qtbot.waitUntil(lambda: panel.about.isVisible() and panel.about.y() >= panel.table.height())
    assert panel.about.x() == 0

    panel.model.refetch()
    panel.stack.show_sentence("")
    assert "No match" not in panel.why_empty(), "while rows are on their way, none is hidden"
    for button in panel.severities.values():
        button.setChecked(False)
    settle(qtbot, window)
    action = panel.findChild(Emptiable).action
    assert panel.stack.shown_sentence().startswith("No match")
    assert action.isVisible()
    qtbot.keyClick(action, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not panel.stack.shown_sentence())
