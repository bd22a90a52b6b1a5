"""Opening many at once: what is shown is opened at once, and each of the others when it is shown first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from inspector.gui.app.tabs import Tabs, WaitingTab
from inspector.gui.document.session import OpenTab, Sides

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab


class DeferredTabs(QObject):
    """Puts what is to be opened into ``tabs``. ``open_at`` opens a location in a place and shows it.

    ``remember`` takes each location once. ``sides`` open tabs that show no document, by what a session calls them,
    behind all others, and show them.
    """

    def __init__(
        self,
        tabs: Tabs,
        open_at: Callable[[str, int], Tab],
        remember: Callable[[str], object],
        sides: Sides,
    ) -> None:
        super().__init__(tabs)
        self._tabs = tabs
        self._open_at = open_at
        self._remember = remember
        self._sides = sides

    def open(self, wanted: Sequence[OpenTab], shown: int) -> None:
        """Open these behind what is open, in this order, and show that one; what is open already stays as it is."""
        known = [each for each in dict.fromkeys(wanted) if not each.side or each.side in self._sides]
        fresh = [each for each in known if each.side or self._tabs.place_of(each.location) < 0]
        for each in fresh:
            if not each.side:
                self._remember(each.location)
        first, at = wanted[shown], self._tabs.count()
        # The one that is shown comes first, so that no other one is shown, and thereby opened, on the way.
        if first in fresh:
            self._open(first, at)
        elif first in known:
            self._tabs.setCurrentIndex(self._tabs.place_of(first.location))
        for place, each in enumerate(fresh, at):
            if each != first:
                self._tabs.insert_waiting(place, WaitingTab(each))

    def wake(self) -> bool:
        """Open what the tab that is shown stands for; whether it stands for something."""
        tab = self._tabs.currentWidget()
        if not isinstance(tab, WaitingTab):
            return False
        self._open(tab.kept, self._tabs.indexOf(tab))
        self._tabs.take_away(self._tabs.indexOf(tab))
        return True

    def _open(self, kept: OpenTab, at: int) -> None:
        from inspector.gui.document.restore_position import go_back  # with it comes what shows documents

        if kept.side:
            self._sides[kept.side](kept)
            self._tabs.tabBar().moveTab(self._tabs.count() - 1, at)
        else:
            go_back(self._open_at(kept.location, at).document, kept)
