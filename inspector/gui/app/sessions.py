"""Store the open archives, and offer to reopen them at the next start. Holds no secrets."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from PySide6.QtCore import QObject

from inspector.core.numbers import count
from inspector.gui.app.start_page import StartPage
from inspector.gui.app.tabs import OpenTab, Tabs, WaitingTab
from inspector.gui.kit import preferences
from inspector.gui.kit.locations import MAX_TABS_OPENED, name_of
from inspector.gui.kit.settings import Settings
from inspector.gui.kit.widgets import debounce
from inspector.gui.tabs.side_tab import Page
from inspector.sources.web.address import has_query

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab

SETTING = "session"
"""The setting that stores it, as JSON."""
DEBOUNCE_MS = 1_000
"""Changes within this time are stored together."""
_MAX_NAMES = 3
"""The most tabs that a session's description names."""


class Session(NamedTuple):
    """The tabs from left to right, and the index of the one shown. ``ended``: the program ended normally."""

    tabs: tuple[OpenTab, ...] = ()
    current: int = 0
    ended: bool = True

    @property
    def words(self) -> str:
        """A description: the number of tabs and the first names."""
        names = [name_of(tab.location) for tab in self.tabs[:_MAX_NAMES]]
        more = [f"{len(self.tabs) - _MAX_NAMES} more"] if len(self.tabs) > _MAX_NAMES else []
        return f"{count(len(self.tabs), 'tab')}: {', '.join(names + more)}"


NO_SESSION = Session()


def from_json(stored: str) -> Session:
    """The session in stored JSON, without its invalid tabs; an empty one if all of it is invalid."""
    try:
        found: Any = json.loads(stored)
    except (ValueError, RecursionError):
        return NO_SESSION
    match found:
        case [list(tabs), int(current), bool(ended)]:
            known = tuple(tab for each in tabs[:MAX_TABS_OPENED] if (tab := _tab(each)) is not None)
            return Session(known, min(max(0, current), max(0, len(known) - 1)), ended)
        case _:
            return NO_SESSION


def _tab(stored: Any) -> OpenTab | None:
    match stored:
        case [str(location), int(caret)] if location and caret >= 0:
            return OpenTab(location, caret)
        case _:
            return None


class Sessions(QObject):
    """The session of a window. Nothing is stored before ``begin``, which screenshots and tests do not call."""

    def __init__(
        self,
        settings: Settings,
        tabs: Tabs,
        page: StartPage,
        reopen: Callable[[Sequence[OpenTab], int], object],
        say: Callable[[str], object],
    ) -> None:
        super().__init__(tabs)
        self._settings = settings
        self._tabs = tabs
        self._page = page
        self._reopen = reopen
        self._say = say
        self._stored: Session | None = None
        """What was stored last; None before ``begin``."""
        self.last = NO_SESSION
        self._timer = debounce(self, DEBOUNCE_MS, self.store)
        page.sessionWanted.connect(self.reopen_session)

    def begin(self) -> None:
        """Offer the last session, and store the open tabs from now on."""
        self.last = from_json(self._settings.text(SETTING))
        self._stored = NO_SESSION
        self._offer()
        self._tabs.currentChanged.connect(self.store_soon)
        self._tabs.tabBar().tabMoved.connect(self.store_soon)

    def start(self) -> None:
        """Reopen the last session if the settings say so. After a crash only offer it: it may crash again."""
        wanted = self._settings.get(preferences.AT_START) == preferences.LAST_SESSION
        if wanted and self.last.tabs and self.last.ended:
            self.reopen_session()

    def end(self) -> None:
        """Store the open tabs for the next start, unless nothing was ever open."""
        if self._stored is not None:
            self._timer.stop()
            self.store(ended=True)
            self._stored = None

    def attach(self, tab: Tab) -> None:
        """Store the session when the caret of a tab moves."""
        tab.document.selected.connect(self.store_soon)

    def store_soon(self, *_: object) -> None:
        """Store the open tabs soon, so that a crash does not lose them."""
        if self._stored is not None and not self._timer.isActive():
            self._timer.start()

    def store(self, *, ended: bool = False) -> None:
        """Store the open tabs now."""
        pages = [page for page in self._tabs.pages() if page.location and not has_query(page.location)]
        current = next((at for at, page in enumerate(pages) if page is self._tabs.page()), 0)
        now = Session(tuple(map(_saved, pages)), current, ended)
        if self._stored not in (None, now):
            self._stored = now
            self._settings.set_text(SETTING, json.dumps(now))

    def _offer(self) -> None:
        note = "" if self.last.ended else "The last session ended unexpectedly."
        self._page.offer_session(*((self.last.words, note) if self.last.tabs else ("", "")))

    def reopen_session(self) -> None:
        """Reopen the tabs of the last session at their carets."""
        if not self.last.tabs:
            self._say("No session to reopen: it is open already, or it had no tabs.")
            return
        last, self.last = self.last, NO_SESSION
        self._offer()
        self._reopen(last.tabs, last.current)


def _saved(page: Page) -> OpenTab:
    """The archive of a tab; only a caret in the file itself is kept."""
    if isinstance(page, WaitingTab):
        return page.opens
    selection = cast("Tab", page).document.selection
    return OpenTab(page.location, 0 if selection.layer else selection.caret)
