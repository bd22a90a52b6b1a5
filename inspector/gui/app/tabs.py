"""The row of tabs: their titles and widths, and tabs that open when first shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QStackedWidget, QTabBar, QTabWidget, QToolButton, QWidget

from inspector.core.names import visible
from inspector.core.verdict import State
from inspector.gui.kit.building import dressed
from inspector.gui.kit.files import leave_drops
from inspector.gui.kit.icons import icon_of
from inspector.gui.kit.locations import name_of
from inspector.gui.kit.text import escaped, plain
from inspector.gui.tabs.side_tab import Page, SideTab

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab


MIN_TITLE_CHARS = 18
"""The fewest characters of a title that stay visible; if they do not fit, the bar scrolls."""
SCROLL_BUTTON_WIDTH = 22
"""The width of the buttons that scroll the bar."""
MAX_TITLE_CHARS = 40
"""The most characters of a name, and of the folder after it."""


class WaitingTab(SideTab):
    """A placeholder for a tab that opens when it is first shown, as an open archive costs a process."""

    location = ""
    state: State | None = None

    def __init__(self, location: str, state: State | None) -> None:
        super().__init__(name_of(location))
        self.location = location
        self.state = state


class Tabs(QTabWidget):
    """The row of tabs: movable, closable, with titles that tell them apart.

    Signals:
        titlesChanged(): a title, or the state beside it, may have changed.
        openRequested(object): open these locations, a list: one tab each, or one list of all if they are many.
        reloadRequested(bool): read the archive shown anew; True: with another connection, without its pending changes.
        said(str): a message about no particular document.
    """

    titlesChanged = Signal()
    openRequested = Signal(object)
    reloadRequested = Signal(bool)
    said = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.bar = TabBar()
        self.setTabBar(self.bar)
        self.currentChanged.connect(self.update_titles)
        for bar in (self, self.bar):
            bar.setAccessibleName("Open tabs")
        dressed(self, tabsClosable=True, movable=True, documentMode=True)
        self.setElideMode(Qt.TextElideMode.ElideMiddle)

    @property
    def holder(self) -> QWidget | None:
        """The widget that is the parent of each page."""
        return self.findChild(QStackedWidget)

    def page(self) -> Page | None:
        """The page shown."""
        return cast("Page | None", self.currentWidget())

    def pages(self) -> list[Page]:
        """All pages from left to right."""
        return [cast("Page", self.widget(at)) for at in range(self.count())]

    def shown(self) -> Tab | None:
        """The tab shown; None if it has no document."""
        return _with_document(self.page())

    def all(self) -> list[Tab]:
        """The tabs with a document, from left to right."""
        return [tab for page in self.pages() if (tab := _with_document(page)) is not None]

    def append(self, page: Page) -> None:
        """Append a page and show it."""
        self.insert(self.count(), page)
        self.setCurrentWidget(page)

    def insert(self, at: int, page: Page) -> None:
        """Insert a page without showing it."""
        self.insertTab(at, page, escaped(page.title))
        self.setTabToolTip(at, plain(page.location))
        leave_drops(page)

    def update_titles(self) -> None:
        """Update the titles so that they differ, and mark tabs with unwritten changes."""
        pages = self.pages()
        names = iter(distinct([page.location for page in pages if page.location]))
        for at, page in enumerate(pages):
            name, tab = next(names) if page.location else page.title, _with_document(page)
            if tab is not None and tab.document.in_experiment:
                name = f"{name} ({'replay' if tab.document.in_replay else 'experiment'})"
            self.bar.set_title(at, name, page.state, tab is not None and tab.editing.pending is not None)
        self.titlesChanged.emit()
        shown = self.shown()
        self.window().setWindowModified(shown is not None and shown.editing.pending is not None)

    def tabInserted(self, _: int) -> None:
        self.update_titles()

    def tabRemoved(self, _: int) -> None:
        self.update_titles()

    def remove(self, at: int) -> None:
        """Remove a tab and end its work."""
        page = self.pages()[at]
        page.end()
        self.removeTab(at)
        page.deleteLater()

    def index_of(self, location: str) -> int:
        """The index of the tab of a location; -1 if it is not open."""
        return next((at for at, page in enumerate(self.pages()) if page.location == location), -1)

    def shown_location(self) -> str:
        """The location of the tab shown; empty if it has none."""
        page = self.page()
        return page.location if page is not None else ""

    def step(self, step: int) -> None:
        """Show the tab ``step`` places to the right, wrapping around."""
        self.setCurrentIndex((self.currentIndex() + step) % max(1, self.count()))


def _with_document(page: Page | None) -> Tab | None:
    return None if isinstance(page, SideTab) else cast("Tab | None", page)


def distinct(locations: Sequence[str]) -> list[str]:
    """A title for each location: its last part, and as much of its folder as tells equal names apart."""
    names = [name_of(location) for location in locations]
    alike = Counter(names)
    return [
        f"{_cut(name)} — {_cut(_folder(location, locations))}"
        if alike[name] > 1 and len(_parts(location)) > 1
        else _cut(name)
        for name, location in zip(names, locations, strict=True)
    ]


def _folder(location: str, locations: Sequence[str]) -> str:
    """The folders of a location, from the first that tells it apart from others with the same name."""
    parts = _parts(location)
    others = {tuple(other) for each in locations if (other := _parts(each)) != parts and other[-1] == parts[-1]}
    length = next((n for n in range(2, len(parts)) if all(other[-n:] != tuple(parts[-n:]) for other in others)), 0)
    return visible("/".join(parts[-length:-1] if length else parts[:-1]))


def _parts(location: str) -> list[str]:
    return location.rstrip("/\\").replace("\\", "/").split("/")


def named_state(name: str, state: State | None) -> str:
    """A name followed by the state of what it names, if that is known."""
    return name if state is None else f"{name} · {state.value}"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TITLE_CHARS else text[: MAX_TITLE_CHARS - 1] + "…"


class TabBar(QTabBar):
    """A tab bar that scrolls before its titles become unreadable."""

    def __init__(self) -> None:
        super().__init__()
        self.setUsesScrollButtons(True)
        for button in self.findChildren(QToolButton):
            button.setFixedWidth(SCROLL_BUTTON_WIDTH)

    def minimumTabSizeHint(self, index: int) -> QSize:
        """Qt override: room for MIN_TITLE_CHARS characters, or for the whole title if it is shorter."""
        tabs = self.tabSizeHint(index)
        name = self.fontMetrics().horizontalAdvance(self.tabText(index))
        spare = max(0, name - self.fontMetrics().averageCharWidth() * MIN_TITLE_CHARS)
        return QSize(tabs.width() - spare, tabs.height())

    def set_title(self, at: int, name: str, state: State | None, changed: bool) -> None:
        """Set the title of a tab, with the state of its archive, and a mark for unwritten changes."""
        stated = named_state(name, state)
        text = escaped(f"* {stated}" if changed else stated)
        if self.tabText(at) != text:
            self.setTabText(at, text)
            self.setTabIcon(at, QIcon() if state is None else icon_of(state))
            self.setAccessibleTabName(at, f"{stated}, with unwritten changes" if changed else stated)
