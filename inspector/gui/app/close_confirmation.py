"""Closing or reading again while something is unfinished asks first, in a box that nothing waits for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from inspector.core.numbers import plural
from inspector.gui.tabs.side_tab import SideTab

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab


def under_way(tabs: Iterable[QWidget]) -> list[str]:
    """What these tabs are busy with, a phrase for each that a user would miss."""
    return [phrase for tab in tabs if (phrase := _work(cast("Tab | SideTab", tab)))]


def _work(tab: Tab | SideTab) -> str:
    if isinstance(tab, SideTab):
        return "" if tab.settled else f"“{tab.title}”"
    if tab.editing.pending is not None:
        return f"an unwritten change of {tab.document.name}"
    is_busy = any(not job.only_shows for job in tab.document.client.jobs)
    return f"work under way on {tab.document.name}" if is_busy else ""


def waits(parent: QWidget, tabs: Iterable[QWidget], close: Callable[[], object], word: str = "") -> bool:
    """Whether work under way in these tabs stands against closing: then the user is asked, and may ``close``.

    ``word`` is on the button that does it, where it is not that of closing.
    """
    busy = under_way(tabs)
    if busy:
        _ask(parent, busy, close, word)
    return bool(busy)


def _ask(parent: QWidget, busy: Sequence[str], close: Callable[[], object], word: str) -> None:
    from PySide6.QtWidgets import QMessageBox  # the first paint does not wait for it

    text = f"There is still {busy[0]}."
    if len(busy) > 1:
        text = plural(
            "There is still {work} and {number} other thing.",
            "There is still {work} and {number} other things.",
            len(busy) - 1,
            work=busy[0],
        )
    box = QMessageBox(
        QMessageBox.Icon.Question,
        "Unsaved Work",
        text,
        QMessageBox.StandardButton.NoButton,
        parent,
    )
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setInformativeText("Unsaved changes and running jobs are lost.")
    keep = box.addButton("Keep Working", QMessageBox.ButtonRole.RejectRole)
    box.addButton(word or "Close", QMessageBox.ButtonRole.DestructiveRole).clicked.connect(close)
    box.setDefaultButton(keep)
    box.setEscapeButton(keep)
    box.open()
