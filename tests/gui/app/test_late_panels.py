"""Panels are made when they are first needed; nothing else tells that they were not there before."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.core.span import Span
from inspector.gui.app.tab import PANELS, Tab
from inspector.gui.app.window import Window
from inspector.gui.kit import help_texts
from tests.gui.conftest import Sample, Show, settle

LATE = {"Header", "Changes", "Repair", "Requests", "Reader", "Experiment"}


def made(tab: Tab) -> set[str]:
    return {name for name, dock in tab.docks.items() if name in LATE and dock.widget() is not None}


def test_an_archive_is_opened_without_the_panels_that_it_does_not_need(
    show: Show, window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    named: list[object] = []
    tab = show("plain.zip")
    assert made(tab) == set()
    saved = tab.arrangement()
    tab.reset_arrangement()
    assert tab.restore(saved)
    assert made(tab) == set()
    monkeypatch.setattr(help_texts, "QAccessible", type("Heard", (), {"isActive": staticmethod(lambda: True)}))
    monkeypatch.setattr(help_texts, "name_parts", named.append)
    for name in sorted(LATE - {"Header", "Requests"}):
        tab.docks[name].toggleViewAction().trigger()
        QApplication.processEvents()
        assert tab.docks[name].isAncestorOf(tab.docks[name].widget())
        assert named.pop() is window, name
        assert tab.docks[name].widget().isVisibleTo(tab), name
    tab.reset_arrangement()
    settle(qtbot, window)
    assert made(tab) == LATE - {"Header", "Requests"}


def test_a_header_has_what_it_says_in_the_background_and_knows_what_was_selected_before_it_was_there(
    show: Show, window: Window, qtbot: QtBot, sample: Sample
) -> None:
    first = show("plain.zip")
    window.open_location(str(sample("two-entries.tacozip")))
    window.tabs.setCurrentWidget(first)
    settle(qtbot, window)
    second = next(tab for tab in window.tabs.all() if tab is not first)
    assert made(first) == set()
    assert made(second) == {"Header"}
    assert second.header.model.rowCount() > 0

    window.tabs.setCurrentWidget(second)
    second.document.go_to(0, 20, 24)
    settle(qtbot, window)
    late = second._make(PANELS["Header"])
    qtbot.addWidget(late)
    assert late._target_span() == second.header._target_span() == Span(20, 24)
