"""The bar of tabs: how wide a tab is at least, what the tabs are called, and a list of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtWidgets import QMenu, QTabBar, QToolButton, QWidget

from inspector.core.names import visible
from inspector.gui.kit.locations import name_of
from inspector.gui.kit.text import escaped, plain

LEAST = 18
"""Characters of a name that are seen at least; where tabs have no room for that the bar scrolls."""
SCROLLER = 22
"""Pixels of a button that scrolls the tabs."""
LONGEST = 40
"""The most characters of a name or of a folder."""


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
        """See QTabBar."""
        super().tabInserted(index)
        self.filled.emit()

    def tabRemoved(self, index: int) -> None:
        """See QTabBar."""
        super().tabRemoved(index)
        self.filled.emit()

    def call(self, at: int, name: str, changed: bool) -> None:
        """Name a tab, with a mark where it has changes that are not written."""
        text = escaped(f"* {name}" if changed else name)
        if self.tabText(at) != text:
            self.setTabText(at, text)
            self.setAccessibleTabName(at, f"{name}, with changes not written" if changed else name)


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
