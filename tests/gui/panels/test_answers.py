"""The answer comes first: the banner in words with what can be done, and no panel that has nothing to say."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import FOOT, PANELS, Tab
from inspector.gui.app.window import Window
from tests.damage.generator import make
from tests.gui.conftest import Show, overwrite, press, previewed, settle

TORN = "torn-after-write-2.tacozip"
DAMAGED = "two-changed-bytes.rca"


def click(qtbot: QtBot, button: QPushButton) -> None:
    assert button.isVisible()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def at_the_foot(tab: Tab) -> set[str]:
    return {name for name, row in PANELS.items() if row.side is FOOT and not tab.docks[name].isHidden()}


def in_front(tab: Tab, name: str) -> bool:
    return not tab.docks[name].visibleRegion().isEmpty()


# ---- the banner --------------------------------------------------------------------------------------------------


def test_the_cause_is_the_answer_before_a_check(show: Show, tmp_path: Path) -> None:
    made = make("taco", Random(5))
    path = tmp_path / "cut.tacozip"
    path.write_bytes(made.data[: made.structure[0]])
    tab = show(path)
    assert tab.banner.sentence.text().startswith("The file is cut off after")
    assert not tab.document.status.checked
    assert tab.banner.check.isVisible()


def test_the_banner_answers_in_words_and_what_can_be_done_is_a_button(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show(TORN)
    assert tab.banner.sentence.text() == "An update of the TACO header was interrupted after its second write."
    assert at_the_foot(tab) == {"Findings", "Digests", "Header"}
    click(qtbot, tab.banner.show_)
    settle(qtbot, window)
    assert tab.hex_pane.hex.caret() == 0x29
    assert tab.findings.table.currentIndex().row() == 0
    assert in_front(tab, "Findings")
    click(qtbot, tab.banner.check)
    settle(qtbot, window)
    assert tab.document.status.checked
    assert not tab.banner.check.isVisible()
    click(qtbot, tab.banner.repair)
    settle(qtbot, window)
    assert tab.repair.plan is not None
    assert in_front(tab, "Repair")


# ---- panels ------------------------------------------------------------------------------------------------------


def test_a_sound_archive_offers_its_check_alone_and_panels_with_nothing_to_say_take_no_room(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("journey.caf")
    banner = tab.banner
    assert banner.sentence.text() == "The structure has no errors; contents are not verified."
    assert at_the_foot(tab) == set()
    bottom = tab.hex_pane.mapTo(tab, tab.hex_pane.rect().bottomLeft()).y()
    assert tab.height() - bottom < 10
    assert [banner.show_.isVisible(), banner.repair.isVisible(), banner.check.isVisible()] == [False, False, True]
    click(qtbot, banner.check)
    settle(qtbot, window)
    assert not banner.check.isVisible()
    assert tab.digests.stack.shown_sentence() == (
        "The format records no checksums. A digest manifest next to the archive would be compared."
    )

    press(window, "show_header")
    settle(qtbot, window)
    assert tab.docks["Header"].isHidden(), "only a TACO archive has a header to edit"
    assert "Only TACO archives" in tab.note.text.text()
    ghost = show("ghost.taco")
    press(window, "show_header")
    settle(qtbot, window)
    assert in_front(ghost, "Header")


@pytest.mark.sweep
def test_a_gap_is_the_answer_and_brings_up_the_findings(show: Show) -> None:
    tab = show("gap.caf")
    assert tab.banner.sentence.text() == "There is a gap: 50 bytes at byte 4,696 belong to no member."
    assert at_the_foot(tab) == {"Findings"}


def test_findings_rise_when_something_is_found_and_a_panel_that_was_closed_stays_closed(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    first = show("two-chunks.rca")
    first.docks["Digests"].raise_()
    settle(qtbot, window)
    assert not in_front(first, "Findings")

    other = show(DAMAGED)
    assert at_the_foot(other) == {"Findings", "Digests"}
    other.docks["Digests"].raise_()
    press(window, "check")
    settle(qtbot, window)
    assert in_front(other, "Findings")
    assert other.banner.sentence.text() == "The blob at byte 280 cannot be decoded."
    press(window, "close_tab")

    assert "Digests" in at_the_foot(first)
    first.docks["Digests"].close()
    silent = show("journey.caf")
    assert at_the_foot(silent) == set()
    assert at_the_foot(show(DAMAGED)) == {"Findings"}
    tab = window.tab()
    assert tab is not None
    tab.reset_arrangement()
    assert at_the_foot(tab) == {"Findings", "Digests"}


def test_what_is_pending_is_not_hidden_by_findings(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("two-entries.tacozip")
    make_narrow(tab, window, qtbot)
    window.resize(1280, 800)
    overwrite(window, tab, 0x2A, "ff")
    assert "Changes" in at_the_foot(tab)
    tab.docks["Changes"].raise_()
    previewed(qtbot, window, tab)
    assert tab.document.status.counts
    assert in_front(tab, "Changes")


# ---- room --------------------------------------------------------------------------------------------------------


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["weather", DAMAGED])
def test_a_window_fits_on_half_of_a_screen(show: Show, window: Window, qtbot: QtBot, name: str) -> None:
    make_narrow(show(name), window, qtbot)


def make_narrow(tab: Tab, window: Window, qtbot: QtBot) -> None:
    """Make the window half as wide as a screen and narrower: rows of 16 bytes fit, then of 8."""
    assert window.minimumSizeHint().width() <= 800
    for width, in_a_row in ((960, 16), (800, 8)):
        window.resize(width, 700)
        settle(qtbot, window)
        assert window.width() == width
        assert tab.hex_pane.hex.bytesPerRow() == in_a_row
