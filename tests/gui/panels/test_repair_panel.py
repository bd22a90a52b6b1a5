"""Repairing: offered where something was found, planned first, then made in place, in a copy, or as pending changes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import tacozip
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidgetItem, QMenu
from pytestqt.qtbot import QtBot

from inspector.core.verdict import State
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.panels.changing.repair import COLLECTION, NOT_PLANNED, NOTHING
from tests.gui.conftest import WAIT, Copied, Sample, Show, press, previewed, save_to, settle
from tests.operations.extract.extracting import caf

Found = Callable[[str], tuple[Tab, Path]]
TORN = "torn-after-write-2.tacozip"


@pytest.fixture
def found(copied: Copied, window: Window, qtbot: QtBot) -> Found:
    """Open a copy of a sample, check it, and go to its first finding."""

    def check(name: str) -> tuple[Tab, Path]:
        tab, path = copied(name)
        press(window, "check")
        settle(qtbot, window)
        press(window, "next_finding")
        settle(qtbot, window)
        return tab, path

    return check


@pytest.fixture
def planned(copied: Copied, window: Window, qtbot: QtBot) -> Found:
    """Open a copy of a sample and plan how to repair it."""

    def plan(name: str) -> tuple[Tab, Path]:
        tab, path = copied(name)
        press(window, "plan_repairs")
        settle(qtbot, window)
        return tab, path

    return plan


def titles(tab: Tab) -> list[str]:
    return [tab.repair.list.item(row).text() for row in range(tab.repair.list.count())]


def tickable(tab: Tab) -> list[QListWidgetItem]:
    """The repairs that rest on the user's word."""
    items = [tab.repair.list.item(row) for row in range(tab.repair.list.count())]
    return [item for item in items if item.data(Qt.ItemDataRole.CheckStateRole) is not None]


def make_small(tab: Tab, window: Window, qtbot: QtBot) -> None:
    """Make the window small: all of the panel is still seen."""
    window.resize(1024, 700)
    settle(qtbot, window)
    panel = tab.repair
    assert window.width() == 1024
    assert not panel.list.horizontalScrollBar().isVisible()
    for widget in (*panel.buttons.values(), panel.sentence, panel.list, panel.about):
        assert panel.rect().contains(widget.rect().translated(widget.mapTo(panel, widget.rect().topLeft())))
    assert panel.sentence.height() >= panel.sentence.heightForWidth(panel.sentence.width())


# ---- where something was found -------------------------------------------------------------------------------------


def test_a_finding_and_its_menu_offer_the_repair_that_answers_it(found: Found, window: Window, qtbot: QtBot) -> None:
    tab, _ = found("truncated.tacozip")
    menu = QMenu()
    tab.findings.table.extend_menu(menu)
    with_repair = [action.text() for action in menu.actions()]
    assert with_repair[0] == "&Repair…"
    assert tab.findings.repairing.isEnabled()
    tab.findings.repairing.click()
    settle(qtbot, window)
    assert not tab.repair.visibleRegion().isEmpty()
    qtbot.waitUntil(tab.repair.list.hasFocus, timeout=WAIT)
    assert "zip-rebuild-end" in tab.repair.about.text()


@pytest.mark.sweep
def test_the_repair_of_the_finding_is_the_one_selected(found: Found, window: Window, qtbot: QtBot) -> None:
    tab, _ = found("wrong-reset-hash.rca")
    code = tab.findings.model.row(tab.findings.table.currentIndex()).repair
    tab.findings.repair()
    settle(qtbot, window)
    item = tab.repair.list.currentItem()
    assert item is not None
    assert tab.repair.about.text().endswith(code)


def test_before_a_check_the_plan_says_what_answers_a_finding_and_what_stays_as_it_is(
    copied: Copied, window: Window, qtbot: QtBot
) -> None:
    tab, _ = copied("truncated.caf")
    press(window, "next_finding")  # the cause
    settle(qtbot, window)
    press(window, "next_finding")
    settle(qtbot, window)
    row = tab.findings.model.row(tab.findings.table.currentIndex())
    assert (row.code, row.repair) == ("caf-footer", None)
    tab.findings.repairing.click()
    settle(qtbot, window)
    assert not tab.repair.visibleRegion().isEmpty()
    assert "caf-footer" in tab.repair.about.text()

    plan = tab.repair.plan
    assert plan is not None
    assert [text for text in titles(tab) if text.startswith("Stays as it is: ")][: len(plan.left)]
    assert len(titles(tab)) == len(plan.repairs) + len(plan.waiting) + (plan.salvage is not None) + len(plan.left)
    make_small(tab, window, qtbot)


def test_where_nothing_can_be_repaired_nothing_is_offered_and_a_sentence_stands_there(
    found: Found, copied: Copied, show: Show, sample: Sample, window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    tab, _ = found("gap.caf")
    assert tab.findings.model.row(tab.findings.table.currentIndex()).code == "caf-gap"
    assert not tab.findings.repairing.isEnabled()
    menu = QMenu()
    tab.findings.table.extend_menu(menu)
    assert not menu.actions()

    sound, _ = copied("journey.caf")
    assert sound.repair.stack.shown_sentence() == NOT_PLANNED
    press(window, "check")
    settle(qtbot, window)
    press(window, "next_finding")
    settle(qtbot, window)
    assert not sound.findings.repairing.isEnabled()
    assert sound.banner.repair.isHidden()
    press(window, "plan_repairs")
    settle(qtbot, window)
    assert sound.repair.stack.shown_sentence() == NOTHING

    folder = tmp_path / "weather-missing-row"
    shutil.copytree(sample("weather-missing-row"), folder)
    several = show(folder)
    press(window, "plan_repairs")
    settle(qtbot, window)
    assert several.repair.stack.shown_sentence() == COLLECTION
    assert several.banner.repair.isHidden()
    assert several.note.text.text().startswith("This is a folder of several files")


# ---- the plan ------------------------------------------------------------------------------------------------------


def test_a_plan_writes_nothing_but_a_copy_and_is_looked_at_as_pending_changes(
    planned: Found, window: Window, qtbot: QtBot, tmp_path: Path, sample: Sample
) -> None:
    tab, path = planned(TORN)
    torn, panel = sample(TORN).read_bytes(), tab.repair
    assert path.read_bytes() == torn
    assert panel.sentence.text() == "1 repair would make this torn archive sound."
    assert len(titles(tab)) == 1
    assert "Nothing is lost: " in panel.about.text()

    panel.buttons["copy"].click()
    copy = tmp_path / "repaired.tacozip"
    save_to(window, copy)
    settle(qtbot, window)
    assert path.read_bytes() == torn
    assert tacozip.read_header(str(copy))
    assert str(copy) in tab.banner.message.text.text()
    assert tab.banner.message.button.text() == "Open It"
    tab.banner.message.button.click()
    settle(qtbot, window)
    opened = window.tab()
    assert opened is not None
    assert opened.document.location == str(copy)
    press(window, "close_tab")
    assert window.tab() is tab

    panel.buttons["show"].click()
    previewed(qtbot, window, tab)
    assert tab.editing.pending is not None
    assert not tab.changes.visibleRegion().isEmpty()
    assert tab.docks["Changes"].windowTitle() == f"Changes ({tab.changes.model.count})"
    assert tab.document.status.state is State.SOUND
    assert path.read_bytes() == torn
    panel.buttons["make"].click()
    assert "Write or discard the pending changes first" in tab.note.text.text()
    press(window, "write")
    settle(qtbot, window)
    assert tacozip.read_header(str(path))


def test_repairing_in_place_is_read_by_the_reference(planned: Found, window: Window, qtbot: QtBot) -> None:
    tab, path = planned(TORN)
    size = path.stat().st_size
    tab.repair.buttons["make"].click()
    settle(qtbot, window)
    assert tacozip.read_header(str(path))
    assert path.stat().st_size == size
    assert tab.document.status.state in (State.SOUND, None)
    assert tab.repair.plan is None
    qtbot.waitUntil(lambda: tab.repair.stack.shown_sentence() == NOTHING)
    press(window, "check")
    settle(qtbot, window)
    assert tab.document.status.state is State.SOUND
    assert tab.banner.repair.isHidden()


def test_nothing_points_behind_the_end_when_the_end_was_cut_off(found: Found, window: Window, qtbot: QtBot) -> None:
    tab, path = found("torn-at-boundary.rca")
    end = tab.document.selection.caret
    assert tab.hex_pane.hex.scene.damage
    press(window, "plan_repairs")
    settle(qtbot, window)
    tab.repair.buttons["make"].click()
    settle(qtbot, window)
    assert path.stat().st_size == end
    assert tab.note.text.text().startswith(f"Done: Cut off the 112 bytes of garbage from byte {end:,} on")
    assert tab.document.selection.caret == tab.hex_pane.hex.caret() == end - 1
    assert tab.byte.title.text() != "No field explains this byte."
    assert not tab.hex_pane.hex.scene.damage
    assert tab.hex_pane.map.framed == tab.hex_pane.hex.shown()


def test_an_assumption_waits_for_a_tick(planned: Found, window: Window, qtbot: QtBot) -> None:
    tab, _ = planned("wrong-metadata.rca")
    panel = tab.repair
    make_small(tab, window, qtbot)
    assert panel.plan is not None
    assert panel.plan.waiting
    item, *_ = tickable(tab)
    before = len(panel.plan.repairs)
    item.setCheckState(Qt.CheckState.Checked)
    settle(qtbot, window)
    assert len(panel.plan.repairs) == before + 1
    assert panel.accepted()
    assert panel.buttons["make"].isEnabled()


# ---- salvaging -----------------------------------------------------------------------------------------------------


def test_what_is_whole_is_salvaged_and_more_on_the_users_word_which_stays_ticked(
    planned: Found, window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    tab, path = planned("two-changed-bytes.rca")
    panel, before = tab.repair, path.read_bytes()
    assert panel.buttons["salvage"].isEnabled()
    panel.buttons["salvage"].click()
    out = tmp_path / "whole.rca"
    save_to(window, out)
    settle(qtbot, window)
    assert path.read_bytes() == before
    assert str(out) in tab.banner.message.text.text()
    assert tab.banner.message.button.text() == "Open It"
    window.open_location(str(out))
    settle(qtbot, window)
    press(window, "check")
    settle(qtbot, window)
    saved = window.tab()
    assert saved is not None
    assert saved.document.status.state is State.SOUND
    press(window, "close_tab")

    (item,) = tickable(tab)
    title = item.text()
    item.setCheckState(Qt.CheckState.Checked)
    settle(qtbot, window)
    assert [(each.text(), each.checkState()) for each in tickable(tab)] == [(title, Qt.CheckState.Checked)]
    assert panel.accepted()
    panel.buttons["salvage"].click()
    out = tmp_path / "readable.rca"
    save_to(window, out)
    settle(qtbot, window)
    window.open_location(str(out))
    settle(qtbot, window)
    saved = window.tab()
    assert saved is not None
    assert saved.document.status.members == tab.document.status.members


@pytest.mark.sweep
def test_members_of_a_shifted_archive_are_salvaged_only_after_a_tick(
    show: Show, window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    files = [(f"{number}.png", b"\x89PNG\r\n\x1a\n" + b"%d" % number * 90) for number in range(4)]
    path = tmp_path / "shifted.caf"
    second = len(files[0][1])
    path.write_bytes(caf(files)[:second] + b"text in between\n" + caf(files)[second:])
    tab = show(path)
    press(window, "plan_repairs")
    settle(qtbot, window)
    assert not tab.repair.buttons["salvage"].isEnabled()
    assert not tab.repair.buttons["make"].isEnabled()
    item = next(each for each in tickable(tab) if "from where they now begin" in each.text())
    item.setCheckState(Qt.CheckState.Checked)
    settle(qtbot, window)
    tab.repair.buttons["salvage"].click()
    out = tmp_path / "saved.caf"
    save_to(window, out)
    settle(qtbot, window)
    assert out.read_bytes() == caf(files[1:])
