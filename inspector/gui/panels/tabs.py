"""The row of tabs, one document each."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QTabWidget, QWidget

from inspector.gui.app.tab_bar import AllTabs, TabBar, distinct
from inspector.gui.document.session import OpenTab
from inspector.gui.kit.dropping import leave_drops
from inspector.gui.kit.locations import name_of
from inspector.gui.kit.text import escaped, plain

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab


class SideTab(QWidget):
    """A tab that shows no document but is about several.

    Signals:
        keptChanged(): ``kept`` is another.
    """

    keptChanged = Signal()

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title

    @property
    def settled(self) -> bool:
        """Whether it has no work under way."""
        return True

    @property
    def kept(self) -> OpenTab | None:
        """What a session keeps of it, None where it is not to come back."""
        return None

    def cancel(self) -> None:
        """Stop its work."""

    def end(self) -> None:
        """Stop its work for good: it is closed."""
        self.cancel()

    def escape(self) -> None:
        """Stop the work that the user sees."""
        self.cancel()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """See QWidget."""
        if event.key() == Qt.Key.Key_Escape:
            self.escape()
        else:
            super().keyPressEvent(event)


class WaitingTab(SideTab):
    """Stands for what is opened when it is shown first: a process for each of many archives is dear."""

    def __init__(self, kept: OpenTab) -> None:
        super().__init__(kept.name)
        self._kept = kept

    @property
    def kept(self) -> OpenTab:
        """What is to be opened."""
        return self._kept


class Tabs(QTabWidget):
    """Tabs that can be moved and closed.

    Signals:
        sideChanged(): what a session keeps of a tab without a document is another.
    """

    sideChanged = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.bar = TabBar()
        self.setTabBar(self.bar)
        self.list = AllTabs(self.bar, self)
        self.setCornerWidget(self.list)
        self.bar.filled.connect(self.name_all)
        self.currentChanged.connect(self.name_all)
        self.setAccessibleName("What is open")
        self.tabBar().setAccessibleName("What is open")
        self.setTabsClosable(True)
        self.setMovable(True)
        self.setDocumentMode(True)
        self.setElideMode(Qt.TextElideMode.ElideMiddle)

    def shown(self) -> Tab | None:
        """The tab that is shown."""
        return self.document_tab(self.currentIndex())

    def document_tab(self, at: int) -> Tab | None:
        """The tab in a place, None where it shows no document."""
        widget = self.widget(at)
        return None if isinstance(widget, SideTab) else cast("Tab | None", widget)

    def every(self) -> list[QWidget]:
        """All tabs from the left."""
        return [tab for at in range(self.count()) if (tab := self.widget(at)) is not None]

    def all(self) -> list[Tab]:
        """All tabs with documents from the left."""
        return [tab for i in range(self.count()) if (tab := self.document_tab(i)) is not None]

    def sides(self) -> list[SideTab]:
        """All tabs without documents from the left."""
        return [widget for i in range(self.count()) if isinstance(widget := self.widget(i), SideTab)]

    def insert_side(self, tab: SideTab) -> None:
        """Put a tab without a document behind all others and show it."""
        tab.keptChanged.connect(self.sideChanged)
        self.addTab(tab, escaped(tab.title))
        self.setCurrentWidget(tab)

    def insert(self, at: int, tab: Tab) -> None:
        """Put a tab into a place and show it."""
        tab.editing.changed.connect(self.name_all)
        self._put(at, tab, tab.document.location)
        self.setCurrentIndex(at)

    def insert_waiting(self, at: int, tab: WaitingTab) -> None:
        """Put a tab into a place where others are; it is not shown yet."""
        self._put(at, tab, tab.kept.location)

    def _put(self, at: int, tab: QWidget, location: str) -> None:
        self.insertTab(at, tab, escaped(tab.title if isinstance(tab, SideTab) else name_of(location)))
        self.setTabToolTip(at, plain(location))

    def tabInserted(self, index: int) -> None:
        """See QTabWidget: what is dropped on a tab is for the window."""
        super().tabInserted(index)
        if (widget := self.widget(index)) is not None:
            leave_drops(widget)

    def title(self) -> str:
        """What the tab that is shown is called, empty where there is none."""
        widget = self.currentWidget()
        if isinstance(widget, SideTab):
            return widget.title
        tab = self.shown()
        return tab.document.name if tab is not None else ""

    def name_all(self) -> None:
        """Call every tab what tells it from the others, and mark those with changes that are not written."""
        places = [self._location(at) for at in range(self.count())]
        names = distinct([place for place in places if place])
        for at, place in enumerate(places):
            tab, side = self.document_tab(at), self.widget(at)
            name = names.pop(0) if place else side.title if isinstance(side, SideTab) else ""
            self.bar.call(at, name, tab is not None and tab.editing.pending is not None)
        shown = self.shown()
        self.window().setWindowModified(shown is not None and shown.editing.pending is not None)

    def take_away(self, at: int) -> None:
        """Remove a tab; the work of one without a document is stopped."""
        widget = self.widget(at)
        if isinstance(widget, SideTab):
            widget.end()
        self.removeTab(at)
        if widget is not None:
            widget.deleteLater()

    def place_of(self, location: str) -> int:
        """Where the tab of a location is, -1 for nowhere."""
        return next((i for i in range(self.count()) if self._location(i) == location), -1)

    def shown_location(self) -> str:
        """The location in the tab that is shown; empty where it shows none."""
        return self._location(self.currentIndex())

    def _location(self, at: int) -> str:
        """What is open, or is to be, in a place; empty for no document."""
        widget = self.widget(at)
        if isinstance(widget, WaitingTab):
            return "" if widget.kept.side else widget.kept.location
        tab = self.document_tab(at)
        return tab.document.location if tab is not None else ""

    def step(self, step: int) -> None:
        """Show the tab so many further to the right, round the end."""
        self.setCurrentIndex((self.currentIndex() + step) % max(1, self.count()))
