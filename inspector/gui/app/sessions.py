"""Store the open tabs of a window, and offer to reopen them at the next start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from inspector.gui.app.start_page import StartPage
from inspector.gui.app.tabs import Tabs
from inspector.gui.document.session import NO_SESSION, OpenTab, Session, SessionFiles
from inspector.gui.kit import preferences
from inspector.gui.kit.actions import action
from inspector.gui.kit.settings import Settings
from inspector.gui.kit.widgets import debounce
from inspector.gui.tabs.side_tab import SideTab
from inspector.sources.web.address import has_query

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab

DEBOUNCE_MS = 1_000
"""Changes within this time are stored together."""


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
        self._files: SessionFiles | None = None
        self._last_stored = NO_SESSION
        self.last = NO_SESSION
        self._timer = debounce(self, DEBOUNCE_MS, self.store)
        page.sessionWanted.connect(self.reopen_session)

    # ---- start and end -----------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Offer the last session, and store the open tabs from now on."""
        self._files = SessionFiles(self._settings.folder / "sessions")
        self.last = self._files.take()
        self._offer()
        self._tabs.currentChanged.connect(self.store_soon)
        self._tabs.tabBar().tabMoved.connect(self.store_soon)
        self._tabs.sideChanged.connect(self.store_soon)

    def start(self) -> None:
        """Reopen the last session if the settings say so. After a crash only offer it: it may crash again."""
        wanted = self._settings.get(preferences.AT_START) == preferences.LAST_SESSION
        if wanted and self.last.tabs and self.last.ended:
            self.reopen_session()

    def end(self) -> None:
        """Store the open tabs for the next start, unless nothing was ever open."""
        if self._files is not None:
            self._timer.stop()
            if self._tabs.widgets() or self._last_stored is not NO_SESSION:
                self._files.store(self._current(ended=True))
            self._files.release()
            self._files = None

    # ---- storing -----------------------------------------------------------------------------------------------

    def attach(self, tab: Tab) -> None:
        """Store the session when the caret of a tab moves."""
        tab.document.selected.connect(self.store_soon)

    def store_soon(self, *_: object) -> None:
        """Store the open tabs soon, so that a crash does not lose them."""
        if self._files is not None and not self._timer.isActive():
            self._timer.start()

    def store(self) -> None:
        """Store the open tabs now."""
        now = self._current(ended=False)
        if self._files is not None and now != self._last_stored:
            self._last_stored = now
            self._files.store(now)

    def _current(self, *, ended: bool) -> Session:
        every = [(tab, saved) for tab in self._tabs.widgets() if (saved := _saved(tab)) is not None and saved.fits]
        shown = self._tabs.currentWidget()
        current = next((at for at, (tab, _) in enumerate(every) if tab is shown), 0)
        return Session(tuple(saved for _, saved in every), current, ended)

    # ---- reopening ---------------------------------------------------------------------------------------------

    def _offer(self) -> None:
        if not self.last.tabs:
            self._page.offer_session("", "")
        elif self.last.ended:
            self._page.offer_session(self.last.words, "")
        else:
            self._page.offer_session(self.last.words, "The last session ended unexpectedly.")

    @action("Reopen Last Sess&ion", tip="Reopen the tabs of the last session")
    def reopen_session(self) -> None:
        """Reopen the tabs of the last session at their carets."""
        if not self.last.tabs:
            self._say("No session to reopen: it is open already, or it had no tabs.")
            return
        last, self.last = self.last, NO_SESSION
        self._offer()
        self._reopen(last.tabs, last.current)


def _saved(widget: QWidget) -> OpenTab | None:
    """A tab as stored in a session; None for a tab that is not stored."""
    if isinstance(widget, SideTab):
        return widget.kept
    tab = cast("Tab", widget)
    return None if has_query(tab.document.location) else _open_tab(tab)


def _open_tab(tab: Tab) -> OpenTab:
    document, view = tab.document, tab.hex_pane.hex
    caret = document.selection.caret
    start, stop = view.selection()
    if not start <= caret <= stop:  # the view shows another layer, or is not updated yet
        start = stop = caret
    if start == stop:
        start = stop = caret
    info = document.layer_info(document.layer)
    member = info.member if info is not None and info.member is not None else -1
    return OpenTab(document.location, document.layer, start, stop, member, document.status.stamp)
