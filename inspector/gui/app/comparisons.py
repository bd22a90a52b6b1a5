"""Compare two locations: ask for what is not known yet, and open a tab with the result."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from inspector.gui.app.tabs import Tabs
from inspector.gui.document.connections import Connections
from inspector.gui.document.session import OpenTab, Sides
from inspector.gui.kit.file_dialogs import ask_for_files
from inspector.gui.kit.locations import absolute
from inspector.gui.kit.settings import Settings

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.tabs.compare_tab import CompareTab


class Comparisons(QObject):
    """The actions that compare; ``say`` shows a message."""

    def __init__(self, parent: QWidget, tabs: Tabs, settings: Settings, say: Callable[[str], object]) -> None:
        super().__init__(parent)
        self._parent = parent
        self._tabs = tabs
        self._connections = Connections(settings)
        self._say = say

    def compare_with(self) -> None:
        """Ask what to compare the archive shown with; without one, ask for two files."""
        shown = self._tabs.shown_location()
        title = "Compare With" if shown else "Compare Two Files"
        ask_for_files(self._parent, title, partial(self._compare_chosen, shown), shown)

    def _compare_chosen(self, shown: str, chosen: list[str]) -> None:
        both = [shown, *chosen] if shown and len(chosen) == 1 else chosen
        if len(both) == 2:
            self.compare(*both)
        else:
            self._say("Choose one file to compare the archive shown with, or two files to compare with each other.")

    def compare(self, a: str, b: str) -> CompareTab:
        """Compare two locations in a new tab."""
        tab = self._new_tab(absolute(a), absolute(b))
        tab.start()
        return tab

    def _new_tab(self, a: str, b: str) -> CompareTab:
        from inspector.gui.tabs.compare_tab import CompareTab  # the first paint does not wait for it

        tab = CompareTab(a, b, self._connections.known)
        self._tabs.insert_side(tab)
        tab.setFocus()
        return tab

    @property
    def sides(self) -> Sides:
        """The function that reopens a comparison of a stored session; the user can repeat it."""
        return {"compare": self._reopen}

    def _reopen(self, saved: OpenTab) -> None:
        a, b = (*saved.places, saved.location, saved.location)[:2]
        self._new_tab(a, b).show_earlier()
