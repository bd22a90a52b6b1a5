"""Checking an archive in the window, with the real worker: what is said, shown, lit up and written."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QDir, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QToolButton
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.core.finding import Severity
from inspector.core.program.progress import Eta
from inspector.core.span import Span
from inspector.core.verdict import State
from inspector.gui.app.window import Window
from inspector.gui.hex.beside.strip import VERDICT_TEXTS
from inspector.gui.panels import findings
from inspector.gui.panels.members import VERDICT
from inspector.operations.protocol.check_views import ReportKind
from inspector.operations.protocol.views import JobState, Judged, LayerKind
from tests.gui.conftest import WAIT, Show, dialog_of, press, settle

DAMAGED = "two-changed-bytes.rca"


# ---- one archive -------------------------------------------------------------------------------------------------


def test_the_banner_never_calls_sound_what_was_not_read(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("two-chunks.rca")
    assert tab.document.status.state is None
    assert "contents are not verified" in tab.banner.sentence.text()
    window.actions_["check"].trigger()
    settle(qtbot, window)
    assert tab.document.status.state is State.SOUND
    assert tab.banner.sentence.text().startswith("Sound: 2 segments")
    assert tab.banner.sentence.isVisible()


def test_a_check_says_what_is_damaged_in_rows_that_are_filtered_and_copied_and_mark_all_their_bytes(
    checked: Show, window: Window, qtbot: QtBot
) -> None:
    tab = checked(DAMAGED)
    assert tab.banner.sentence.text() == "The blob at byte 280 cannot be decoded."
    assert tab.banner.state.text().endswith("Damaged: 1 of 3 segments is damaged; 4 of 6 blobs are proved whole.")
    panel = tab.findings
    assert "(2)" in panel.severities[Severity.ERROR].text()
    view = tab.hex_pane.hex
    for _ in range(2):
        press(window, "next_finding")
        settle(qtbot, window)
    row = panel.model.row(panel.table.currentIndex())
    assert row is not None
    assert len(row.spans) > 1
    assert tab.document.selection.spans == row.spans
    assert view.caret() == row.spans[0].start
    assert view.scene.outline == list(row.spans)
    assert all(any(low <= span.start < high for low, high in view.scene.damage) for span in row.spans)
    said, where = panel.about.text().split("\n")
    assert said == row.message
    assert f"0x{row.spans[0].start:x}..0x{row.spans[0].stop:x} ({row.spans[0].start:,}..{row.spans[0].stop:,})" in where
    assert row.code in where

    in_file = list(view.scene.damage)
    inner = next(info for info in tab.document.layers if info.kind is LayerKind.INNER)
    tab.document.show_layer(inner.layer)
    settle(qtbot, window)
    marked = view.scene.damage
    assert marked
    # The header of the only chunk, 10 bytes, is not in the inner stream: what follows it moves to the front.
    assert [span.start for span in marked] == [span.start - 10 for span in in_file]

    before = panel.model.rowCount()
    panel.severities[Severity.ERROR].click()
    qtbot.waitUntil(lambda: panel.model.rowCount() == before - 2, timeout=WAIT)
    for severity in (Severity.WARNING, Severity.INFO):
        panel.severities[severity].click()
    qtbot.waitUntil(lambda: "hidden" in panel.stack.shown_sentence(), timeout=WAIT)
    for button in panel.severities.values():
        button.click()
    qtbot.waitUntil(lambda: panel.model.rowCount() == before, timeout=WAIT)

    row = panel.model.row(panel.model.index(0, 0))
    panel.table.selectRow(0)
    panel.table.setFocus()
    press(window, "copy")
    assert QGuiApplication.clipboard().text() == findings.line_text(row)
    assert "rca-zstd" in findings.line_text(row)
    panel.table.copy_all()
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text().count("\n") == before - 1, timeout=WAIT)

    for shown in (tab.findings, tab.digests):
        buttons = [button for button in shown.findChildren(QToolButton) if button.parent() is shown]
        assert all(button.text() and button.toolTip() for button in buttons)
        assert shown.table.accessibleName()
        assert shown.about.accessibleName()


def test_a_report_is_exported_in_a_kind_to_choose_and_never_replaces_the_archive(
    checked: Show, window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    tab = checked("flipped-member-byte.tacozip")
    for suffix, start in ((".html", "<!doctype html>"), (".json", "{"), (".txt", "/")):
        tab.findings.exporting.click()
        dialog = dialog_of(window, QFileDialog)
        assert dialog.isVisible()
        target = tmp_path / f"report{suffix}"
        assert isinstance(dialog, QFileDialog)
        assert dialog.directory() == QDir(str(Path(tab.document.location).parent))
        dialog.fileSelected.emit(str(target))
        settle(qtbot, window)
        assert target.read_text().startswith(start)
        assert "cause-flipped-bit" in target.read_text()
        assert f"report{suffix}" in tab.note.text.text()
        dialog.reject()

    press(window, "export_report")
    dialog = dialog_of(window, QFileDialog)
    assert isinstance(dialog, QFileDialog)
    assert [kind.split()[0] for kind in dialog.nameFilters()[:2]] == ["HTML", "PDF"]
    dialog.selectNameFilter(next(kind for kind in dialog.nameFilters() if "HTML page without names" in kind))
    dialog.fileSelected.emit(str(tmp_path / "nameless.html"))
    settle(qtbot, window)
    page = (tmp_path / "nameless.html").read_text()
    assert "cause-flipped-bit" in page
    assert "tile_0001" not in page
    assert tab.document.name not in page
    dialog.reject()

    archive = Path(tab.document.location)
    before = archive.read_bytes()
    tab.save_flow.write_report(str(archive), ReportKind.TEXT)
    settle(qtbot, window)
    assert "is the archive itself" in tab.note.text.text()
    assert archive.read_bytes() == before


# ---- verdicts and digests ----------------------------------------------------------------------------------------


def test_a_check_gives_members_and_the_map_their_verdicts_and_a_checksum_lights_up_what_it_covers(
    show: Show, window: Window, qtbot: QtBot, qtmodeltester: ModelTester
) -> None:
    tab = show(DAMAGED)
    assert tab.members.tree.isColumnHidden(VERDICT)
    assert tab.members.table.isColumnHidden(VERDICT)
    press(window, "check")
    settle(qtbot, window)
    assert not tab.members.tree.isColumnHidden(VERDICT)
    table, tree = tab.members.table_model, tab.members.tree_model
    told = {table.index(row, VERDICT).data() for row in range(table.rowCount())}
    assert told == {"doubtful", "verified"}
    tab.document.select_member(0, "test")
    settle(qtbot, window)
    qtbot.waitUntil(lambda: tab.members.tree.currentIndex().isValid(), timeout=WAIT)
    folder = tab.members.tree.currentIndex().parent()
    in_tree = {tree.index(row, VERDICT, folder).data() for row in range(tree.rowCount(folder))}
    assert in_tree
    assert in_tree <= told
    assert not table.index(0, VERDICT).data(Qt.ItemDataRole.DecorationRole).isNull()

    file_map = tab.hex_pane.map
    said = {line for y in range(file_map.height()) for line in file_map.describe(y).split("\n")}
    assert {VERDICT_TEXTS[Judged.VERIFIED], VERDICT_TEXTS[Judged.UNCHECKED]} < said
    assert "verified" in tab.hex_pane.legend.labels()

    tab.docks["Digests"].raise_()
    qtmodeltester.check(tab.digests.model)
    states = [tab.digests.model.index(row, 1).data() for row in range(3)]
    assert states == ["mismatch", "verified", "verified"]
    tab.digests.table.setCurrentIndex(tab.digests.model.index(1, 0))
    settle(qtbot, window)
    row = tab.digests.model.row(tab.digests.model.index(1, 0))
    assert row is not None
    view = tab.hex_pane.hex
    assert view.scene.outline == list(row.covers) == [Span(503, 505), Span(513, 997)]
    assert view.scene.stored == list(row.place)
    assert view.scene.omitted == list(row.omits) == [Span(505, 513)]
    assert "It leaves out bytes 0x1f9 to 0x201" in tab.digests.about.text()
    tab.digests.table.activated.emit(tab.digests.model.index(1, 0))
    settle(qtbot, window)
    assert view.selection() == row.place[0]
    assert tab.digests.line(row).startswith("verified: hash of segment 2")


@pytest.mark.sweep
def test_what_records_no_checksums_says_so(checked: Show) -> None:
    assert checked("library.a").digests.stack.shown_sentence() == (
        "The format records no checksums. A digest manifest next to the archive would be compared."
    )


# ---- pausing and cancelling --------------------------------------------------------------------------------------


def test_a_check_is_paused_while_the_window_answers_goes_on_and_is_cancelled(
    show: Show, window: Window, qtbot: QtBot, large: Path
) -> None:
    tab = show(large)
    press(window, "check")
    tab.checking._job.pause()  # the worker gets it right after the order to check
    qtbot.waitUntil(lambda: "paused" in window.status_line.work.text(), timeout=WAIT)
    assert tab.checking.running
    job = tab.checking._job
    at = job.state.done
    with qtbot.waitSignal(job.progressed, timeout=WAIT):
        pass
    assert job.state.done == at
    rounds = []
    beat = QTimer()
    beat.timeout.connect(lambda: rounds.append(None))
    beat.start(0)
    tab.document.go_to_expression("footer")
    qtbot.waitUntil(lambda: tab.hex_pane.hex.caret() == tab.document.size - 4, timeout=WAIT)
    qtbot.waitUntil(lambda: len(rounds) > 200, timeout=WAIT)
    assert tab.checking.running
    beat.stop()

    job.pause(False)
    settle(qtbot, window)
    assert tab.document.status.checked
    assert tab.document.status.state is State.DAMAGED
    press(window, "check")
    tab.checking._job.pause()
    qtbot.waitUntil(window.status_line.stop.isVisible, timeout=WAIT)
    window.status_line.stop.click()
    settle(qtbot, window)
    assert not tab.checking.running
    assert not tab.document.status.checked
    assert "The check was cancelled" in tab.banner.sentence.text()


def test_rate_and_time_left_leave_out_what_was_paused() -> None:
    pace = Eta(0.0)
    mebi = 1 << 20
    assert pace.text(JobState("Checking", 0, 100 * mebi, "bytes"), 0.0) == "Checking: 0 B of 100 MiB"
    assert "/s" not in pace.text(JobState("Checking", mebi, 100 * mebi, "bytes"), 0.5)
    assert "left" not in pace.text(JobState("Checking", 10 * mebi, 100 * mebi, "bytes"), 2.0)
    assert pace.text(JobState("Checking", 10 * mebi, 100 * mebi, "bytes", paused=True), 50.0).endswith("paused")
    told = pace.text(JobState("Checking", 20 * mebi, 100 * mebi, "bytes"), 52.0, "3 of 9 members")
    assert told == "Checking: 20.0 MiB of 100 MiB · 3 of 9 members · 5.0 MiB/s · 16 s left"
