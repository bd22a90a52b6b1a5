"""Keeping what is open in the window, offering it at the next start, and going where one was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from inspector.gui.app.start_page import StartPage
from inspector.gui.app.tabs import Tabs
from inspector.gui.document.session import NOTHING, OpenTab, Session, Slots
from inspector.gui.kit import preferences
from inspector.gui.kit.settings import Settings
from inspector.gui.tabs.side_tab import SideTab

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab

PAUSE = 1_000
"""Milliseconds in which several changes are kept as one."""


class Sessions(QObject):
    """The session of a window. Nothing is kept before it is begun: pictures and tests are no sessions."""

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
        self._slots: Slots | None = None
        self._kept = NOTHING
        self.last = NOTHING
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE)
        self._timer.timeout.connect(self.keep)
        page.sessionWanted.connect(self.reopen_session)

    # ---- the beginning and the end -----------------------------------------------------------------------------

    def begin(self) -> None:
        """Look for the last session and offer it; from now on what is open here is kept."""
        self._slots = Slots(self._settings.folder / "sessions")
        self.last = self._slots.take()
        self._offer()
        self._tabs.currentChanged.connect(self.change)
        self._tabs.tabBar().tabMoved.connect(self.change)
        self._tabs.sideChanged.connect(self.change)

    def start(self) -> None:
        """Open the last session where that is set. After a crash it is only offered: it may crash again."""
        wanted = self._settings.get(preferences.AT_START) == preferences.LAST_SESSION
        if wanted and self.last.tabs and self.last.ended:
            self.reopen_session()

    def end(self) -> None:
        """Keep what is open for the next start, if anything has been."""
        if self._slots is not None:
            self._timer.stop()
            if self._tabs.every() or self._kept is not NOTHING:
                self._slots.keep(self._now(ended=True))
            self._slots.leave()
            self._slots = None

    # ---- keeping -----------------------------------------------------------------------------------------------

    def dress(self, tab: Tab) -> None:
        """Keep where one is in a tab."""
        tab.document.selected.connect(self.change)

    def change(self, *_: object) -> None:
        """Keep what is open soon: also a crash shall not lose it."""
        if self._slots is not None and not self._timer.isActive():
            self._timer.start()

    def keep(self) -> None:
        """Keep what is open now."""
        now = self._now(ended=False)
        if self._slots is not None and now != self._kept:
            self._kept = now
            self._slots.keep(now)

    def _now(self, *, ended: bool) -> Session:
        every = [(tab, kept) for tab in self._tabs.every() if (kept := _kept(tab)) is not None and kept.fits]
        shown = self._tabs.currentWidget()
        current = next((at for at, (tab, _) in enumerate(every) if tab is shown), 0)
        return Session(tuple(kept for _, kept in every), current, ended)

    # ---- reopening ---------------------------------------------------------------------------------------------

    def _offer(self) -> None:
        if not self.last.tabs:
            self._page.offer_session("", "")
        elif self.last.ended:
            self._page.offer_session(self.last.words, "")
        else:
            self._page.offer_session(self.last.words, "The last session ended unexpectedly.")

    def reopen_session(self) -> None:
        """Reopen the tabs of the last session, and go where one was."""
        if not self.last.tabs:
            self._say("There is no session to reopen: it is open already, or it had no tabs.")
            return
        last, self.last = self.last, NOTHING
        self._offer()
        self._reopen(last.tabs, last.current)


def _kept(widget: QWidget) -> OpenTab | None:
    """What is kept of a tab, None for nothing."""
    return widget.kept if isinstance(widget, SideTab) else _open_tab(cast("Tab", widget))


def _open_tab(tab: Tab) -> OpenTab:
    document, view = tab.document, tab.hex_pane.hex
    caret = document.selection.caret
    start, stop = view.selection()
    if not start <= caret <= stop:  # the view shows another layer, or has not followed yet
        start = stop = caret
    if start == stop:
        start = stop = caret
    info = document.layer_info(document.layer)
    member = info.member if info is not None and info.member is not None else -1
    return OpenTab(document.location, document.layer, start, stop, member, document.status.stamp)
