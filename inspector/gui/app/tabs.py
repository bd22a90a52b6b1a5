"""The row of tabs, one document each: what they are called, how wide they are at least, and a list of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtWidgets import QMenu, QTabBar, QTabWidget, QToolButton, QWidget

from inspector.core.names import visible
from inspector.gui.document.session import OpenTab
from inspector.gui.kit.dropping import leave_drops
from inspector.gui.kit.locations import name_of
from inspector.gui.kit.text import escaped, plain
from inspector.gui.tabs.side_tab import SideTab

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab

LEAST = 18
"""Characters of a name that are seen at least; where tabs have no room for that the bar scrolls."""
SCROLLER = 22
"""Pixels of a button that scrolls the tabs."""
LONGEST = 40
"""The most characters of a name or of a folder."""


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
        self.setAccessibleName("Open tabs")
        self.tabBar().setAccessibleName("Open tabs")
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


def distinct(locations: Sequence[str]) -> list[str]:
    """What to call each location: its last part, with as much of what it lies in as tells it from one called alike."""
    names = [name_of(location) for location in locations]
    alike = Counter(names)
    return [
        f"{_cut(name)} — {_cut(_folder(location, locations))}"
        if alike[name] > 1 and len(_parts(location)) > 1
        else _cut(name)
        for name, location in zip(names, locations, strict=True)
    ]


def _folder(location: str, locations: Sequence[str]) -> str:
    """The folders above a location, from the first that tells it from the others of its name."""
    parts = _parts(location)
    others = {tuple(other) for each in locations if (other := _parts(each)) != parts and other[-1] == parts[-1]}
    length = next((n for n in range(2, len(parts)) if all(other[-n:] != tuple(parts[-n:]) for other in others)), 0)
    return visible("/".join(parts[-length:-1] if length else parts[:-1]))


def _parts(location: str) -> list[str]:
    return location.rstrip("/\\").replace("\\", "/").split("/")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


class TabBar(QTabBar):
    """A bar that scrolls before its names say nothing any more.

    Signals:
        filled(): a tab has come or gone.
    """

    filled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setUsesScrollButtons(True)
        for button in self.findChildren(QToolButton):
            button.setFixedWidth(SCROLLER)

    def minimumTabSizeHint(self, index: int) -> QSize:
        """See QTabBar: as much of the name as is needed to know it, or all of it where it is shorter."""
        wanted = self.tabSizeHint(index)
        name = self.fontMetrics().horizontalAdvance(self.tabText(index))
        spared = max(0, name - self.fontMetrics().averageCharWidth() * LEAST)
        return QSize(wanted.width() - spared, wanted.height())

    def tabInserted(self, index: int) -> None:
        super().tabInserted(index)
        self.filled.emit()

    def tabRemoved(self, index: int) -> None:
        super().tabRemoved(index)
        self.filled.emit()

    def call(self, at: int, name: str, changed: bool) -> None:
        """Name a tab, with a mark where it has changes that are not written."""
        text = escaped(f"* {name}" if changed else name)
        if self.tabText(at) != text:
            self.setTabText(at, text)
            self.setAccessibleTabName(at, f"{name}, with unwritten changes" if changed else name)


class AllTabs(QToolButton):
    """A button with a menu of all tabs, to go to one that is scrolled away; there where there are several."""

    def __init__(self, bar: TabBar, parent: QWidget) -> None:
        super().__init__(parent)
        self._bar = bar
        self.setAutoRaise(True)
        self.setFixedWidth(SCROLLER)
        self.setArrowType(Qt.ArrowType.DownArrow)
        self.setStyleSheet("QToolButton::menu-indicator { image: none; }")  # one arrow is enough
        self.setToolTip("All tabs")
        self.setAccessibleName("All tabs")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.tabs = QMenu(self)
        self.tabs.setToolTipsVisible(True)
        self.tabs.aboutToShow.connect(self.fill)
        self.setMenu(self.tabs)
        self.hide()
        bar.filled.connect(lambda: self.setVisible(bar.count() > 1))

    def fill(self) -> None:
        """List the tabs that there are now."""
        self.tabs.clear()
        for at in range(self._bar.count()):
            action = self.tabs.addAction(self._bar.tabText(at))
            action.setToolTip(plain(self._bar.tabToolTip(at)))
            action.setCheckable(True)
            action.setChecked(at == self._bar.currentIndex())
            action.triggered.connect(lambda _=False, at=at: self._bar.setCurrentIndex(at))

    def open(self) -> None:
        """Open the menu where the button is."""
        self.tabs.popup(self.mapToGlobal(QPoint(0, self.height())))
        if self.tabs.actions():
            self.tabs.setActiveAction(self.tabs.actions()[max(0, self._bar.currentIndex())])
