"""The row of tabs, one document each."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTabWidget

from inspector.gui.words import escaped, plain

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.tab import Tab

LONGEST_TITLE = 40


class Tabs(QTabWidget):
    """Tabs that can be moved and closed."""

    def __init__(self) -> None:
        super().__init__()
        self.setTabsClosable(True)
        self.setMovable(True)
        self.setDocumentMode(True)
        self.setElideMode(Qt.TextElideMode.ElideMiddle)

    def shown(self) -> Tab | None:
        """The tab that is shown."""
        return cast("Tab | None", self.currentWidget())

    def all(self) -> list[Tab]:
        """All tabs from the left."""
        return [cast("Tab", self.widget(i)) for i in range(self.count())]

    def insert(self, at: int, tab: Tab) -> None:
        """Put a tab into a place and show it."""
        name = tab.document.name
        title = name if len(name) <= LONGEST_TITLE else name[: LONGEST_TITLE - 1] + "…"
        self.insertTab(at, tab, escaped(title))
        self.setTabToolTip(at, plain(tab.document.location))
        self.setCurrentIndex(at)

    def place_of(self, location: str) -> int:
        """Where the tab of a location is, -1 for nowhere."""
        return next((i for i, tab in enumerate(self.all()) if tab.document.location == location), -1)

    def step(self, step: int) -> None:
        """Show the tab so many further to the right, round the end."""
        self.setCurrentIndex((self.currentIndex() + step) % max(1, self.count()))
