"""The Reader panel: its steps select bytes everywhere; moves go where they should; the table names all readers."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.core import verdict
from inspector.core.reader import ReaderKind
from inspector.core.span import Span
from inspector.drawing.palette import COLOURS, Scheme
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.hex.beside.legend import NEVER_READ
from inspector.gui.kit.icons import icon_of
from inspector.gui.panels.reader import KIND_LABELS, MARKS, NOT_YET, ReaderPanel, StepsModel, reads_text
from inspector.operations.protocol.check_views import ReaderVerdict
from tests.formats.rca import build
from tests.gui.conftest import Copied, Show, press, previewed, settle
from tests.sweeping import in_the_sweep


def followed(qtbot: QtBot, window: Window, tab: Tab, name: str = "") -> ReaderPanel:
    """The panel of a tab after a reader was followed to its end."""
    press(window, "show_reader")
    settle(qtbot, window)
    if name:
        tab.reader.choose(name)
        settle(qtbot, window)
    assert tab.reader.result is not None
    return tab.reader


def test_the_two_kinds_are_told_apart_and_the_table_names_all(show: Show, window: Window, qtbot: QtBot) -> None:
    panel = followed(qtbot, window, show("two-entries.tacozip"))

    offered = [panel.chooser.itemText(at) for at in range(panel.chooser.count())]
    assert [text.rpartition("(")[2] for text in offered if text] == sorted(
        [text.rpartition("(")[2] for text in offered if text], key="runs)simulated)".index
    )
    assert "" in offered  # the line between the two kinds
    rows = [panel.readers.texts(at) for at in range(panel.readers.rowCount())]
    assert [row[0] for row in rows][:2] == ["the specification", "tacozip"]
    assert {row[1] for row in rows} == set(KIND_LABELS.values())
    assert [row.verdict for row in panel.readers.rows if row.reader.name == "zipfile"] == [ReaderVerdict.ACCEPTS]
    assert set(MARKS) == set(ReaderVerdict), "those that are not installed have one too"
    assert panel.result is not None
    assert panel.result.reader.kind is ReaderKind.DESCRIBED
    assert "simulated" in panel.about.text()


def test_steps_nest_and_select_their_bytes_and_lead_to_the_failure_and_to_a_byte(
    show: Show, window: Window, qtbot: QtBot, qtmodeltester: object
) -> None:
    tab = show("two-resets-spec.rca")
    panel = followed(qtbot, window, tab, "rcarch")
    qtmodeltester.check(panel.model)  # type: ignore[attr-defined]

    press(window, "reader_to_failure")
    settle(qtbot, window)
    step = panel.model.steps[panel.at]
    assert (step.action, step.ok, step.span) == ("compare the hash of segment 2", False, (0x3E7, 0x3EF))
    assert tab.document.selection.spans == (Span(0x3E7, 0x3EF),)
    assert tab.document.selection.wrong
    assert tab.document.selection.field is not None
    above = panel.model.parent(panel.tree.currentIndex())
    assert panel.model.steps[panel.model.position(above)].action == "segment 3"
    assert "final checksum mismatch" in panel.end.text()
    assert "with the reset block's own bytes" in panel.end.text()
    assert "segment: 2" in panel.variables.text()

    panel.go(0)
    tab.document.go_to(0, 0x201, 0x203)
    settle(qtbot, window)
    press(window, "reader_to_byte")
    assert panel.model.steps[panel.at].action == "varint at 513: blob"


def test_the_banner_leads_to_the_table_of_all_readers_and_that_to_the_steps_of_each(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("two-resets-spec.rca")
    assert not tab.is_made("Reader")  # opening a tab asks no reader
    tab.banner.readers.setFocus()
    qtbot.keyClick(tab.banner.readers, Qt.Key.Key_Space)
    settle(qtbot, window)
    panel = tab.reader
    table, rows = panel.readers_table, panel.readers
    assert table.isVisible()
    texts = {row[0]: row[1:] for row in map(rows.texts, range(rows.rowCount()))}
    assert texts["rcarch"][1] == ReaderVerdict.REJECTS.value
    assert texts["rcarch"][2].startswith("step ")
    assert texts["the specification"][1] == ReaderVerdict.ACCEPTS.value
    icons = {rows.texts(at)[0]: rows.index(at, 0).data(Qt.ItemDataRole.DecorationRole) for at in range(rows.rowCount())}
    assert icons["the specification"].cacheKey() == icon_of(verdict.Verdict.VERIFIED).cacheKey()
    assert all(icon is not None for icon in icons.values())

    described(panel, window, qtbot)
    panel.readers_table.setCurrentIndex(panel.readers.index(1, 0))
    panel.readers_table.setFocus()
    QApplication.processEvents()
    panel.readers_table.activated.emit(panel.readers.index(1, 0))
    settle(qtbot, window)
    assert panel.result is not None
    assert panel.result.reader.name == "rcarch"

    described(panel, window, qtbot)
    panel.choose("rcarch")
    press(window, "cancel")
    settle(qtbot, window)
    assert panel.result is None or panel.result.reader.name == "rcarch"
    assert panel.stack.shown_sentence() in ("", NOT_YET), "no steps of another reader are left"


def described(panel: ReaderPanel, window: Window, qtbot: QtBot) -> None:
    """Follow the reader that does as the specification says."""
    panel.choose("spec")
    settle(qtbot, window)
    assert panel.result is not None
    assert panel.result.reader.name == "spec"


def test_next_and_previous_and_this_byte(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("journey.caf")
    panel = followed(qtbot, window, tab)
    assert panel.at == 0
    press(window, "reader_next")
    assert panel.at == 1
    press(window, "reader_previous")
    press(window, "reader_previous")
    assert panel.at == 0

    tab.document.select_byte(0, 0, "test")
    settle(qtbot, window)
    press(window, "reader_to_byte")
    step = panel.model.steps[panel.at]
    assert step.span is not None
    assert (step.span.start, step.read) == (0, True)
    with qtbot.waitSignal(tab.document.reported) as said:
        press(window, "reader_to_failure")
    assert said.args == ["No step of this reader fails."]


def test_bytes_that_a_reader_never_reads_are_counted_and_grey_while_its_steps_are_seen(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("two-resets-spec.rca")
    hex_view, never = tab.hex_pane.hex, Span(1_007, 1_503)
    panel = followed(qtbot, window, tab, "rcarch")
    result = panel.result
    assert result is not None
    assert (result.reads, result.total, result.twice_bytes, result.never_bytes) == (19, 1_007, 0, 496)
    assert result.never == (Span(1_007, 1_503),)
    assert reads_text(result) == "19 reads of 1,007 bytes; 0 bytes read twice, 496 bytes never read."
    assert reads_text(result) in panel.about.text()
    assert hex_view.scene.unread == [never]
    assert NEVER_READ in tab.hex_pane.legend.labels()
    tab.docks["Reader"].hide()
    qtbot.waitUntil(lambda: not hex_view.scene.unread)
    assert NEVER_READ not in tab.hex_pane.legend.labels()
    tab.document.select_byte(0, never.start + 64, "test")
    settle(qtbot, window)
    plain, plain_map = hex_view.viewport().grab().toImage(), tab.hex_pane.map.grab().toImage()
    tab.hex_pane.mark(unread=(0, (never,)))
    greyed = hex_view.viewport().grab().toImage()
    assert greyed.size() == plain.size()
    base = QColor(COLOURS[Scheme.LIGHT].base)
    rows = hex_view.shown()
    assert rows.start < never.stop
    assert never.start < rows.stop
    assert greyed != plain
    assert tab.hex_pane.map.grab().toImage() != plain_map
    # Paler, and ruled: one tint under a byte has several shades, so that it is not told by its colour alone.
    lightness = [
        (plain.pixelColor(x, y).lightness(), greyed.pixelColor(x, y).lightness())
        for x in range(0, plain.width(), 3)
        for y in range(0, plain.height(), 3)
        if plain.pixel(x, y) != greyed.pixel(x, y)
    ]
    assert lightness
    assert sum(after > before for before, after in lightness) > len(lightness) // 2
    assert base.lightness() > max(before for before, _ in lightness) - 1
    tip = tab.hex_pane.map.describe((never.start + 50) * tab.hex_pane.map.height() // tab.document.size)
    assert "never read by the reader that is followed" in tip


@pytest.mark.sweep
def test_very_many_steps_are_folded_and_said_to_be(show: Show, window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "many.rca"
    path.write_bytes(build.archive([(b"%d" % number, b"x") for number in range(5_000)]))

    panel = followed(qtbot, window, show(path))
    assert panel.result is not None
    assert (panel.result.folded, len(panel.model.steps)) == (10_004 - 8_000, 8_001)
    assert panel.result.outcome.members == 5_000
    assert "2,004 steps in the middle are not kept here." in panel.end.text()


@pytest.mark.sweep
def test_a_format_without_other_readers_says_so(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("library.a")
    press(window, "show_reader")
    settle(qtbot, window)

    assert tab.reader.stack.shown_sentence() == "No other reader of this format is known."


def test_with_a_pending_repair_the_readers_read_what_it_would_make(
    copied: Copied, window: Window, qtbot: QtBot
) -> None:
    tab, _ = copied("torn-after-write-2.tacozip")
    panel = followed(qtbot, window, tab)
    assert [row.verdict for row in panel.readers.rows if row.reader.name == "zipfile"] == [ReaderVerdict.REJECTS]

    press(window, "plan_repairs")
    settle(qtbot, window)
    tab.repair.buttons["show"].click()
    previewed(qtbot, window, tab)
    press(window, "show_reader")
    qtbot.waitUntil(
        lambda: [row.verdict for row in panel.readers.rows if row.reader.name == "zipfile"] == [ReaderVerdict.ACCEPTS]
    )
    settle(qtbot, window)


def test_an_empty_tree_of_steps(qtmodeltester: object) -> None:
    model = StepsModel()
    model.show_steps(())
    qtmodeltester.check(model)  # type: ignore[attr-defined]
    assert not model.index_of(0).isValid()


@pytest.mark.parametrize(
    "name",
    [*map(in_the_sweep, ("plain.zip", "plain.tar", "journey.caf", "damaged-footer.caf")), "two-chunks.rca"],
)
def test_the_reads_of_the_first_reader_are_shown_and_all_of_the_panel_is_seen_in_a_small_window(
    show: Show, window: Window, qtbot: QtBot, name: str
) -> None:
    window.resize(1024, 700)
    panel = followed(qtbot, window, show(name))
    assert panel.result is not None
    assert panel.result.reads > 0
    panel.tree.setFocus()
    settle(qtbot, window)
    for part in (panel.about, panel.end):
        assert part.visibleRegion().boundingRect() == part.rect(), part.accessibleName()
