"""Keeping what is open in the window, offering it at the next start, and going where one was."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer

from inspector.core.translation import marked, tr
from inspector.gui import preferences
from inspector.gui.reading import when_read
from inspector.gui.session import NOTHING, OpenTab, Session, Slots
from inspector.gui.settings import Settings
from inspector.gui.start_page import StartPage
from inspector.gui.tabs import Tabs

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.document import Document
    from inspector.gui.tab import Tab
    from inspector.operations.showing.views import ContentInfo

PAUSE = 1_000
"""Milliseconds in which several changes are kept as one."""
CHANGED = marked("This archive has changed since the last session: what is at the caret may be something else.")


class Sessions(QObject):
    """The session of a window. Nothing is kept before it is begun: pictures and tests are no sessions."""

    def __init__(
        self,
        settings: Settings,
        tabs: Tabs,
        page: StartPage,
        open_location: Callable[[str], object],
        say: Callable[[str], object],
    ) -> None:
        super().__init__(tabs)
        self._settings = settings
        self._tabs = tabs
        self._page = page
        self._open_location = open_location
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

    def start(self) -> None:
        """Open the last session where that is set. After a crash it is only offered: it may crash again."""
        wanted = self._settings.get(preferences.AT_START) == preferences.LAST_SESSION
        if wanted and self.last.tabs and self.last.ended:
            self.reopen_session()

    def end(self) -> None:
        """Keep what is open for the next start, if anything has been."""
        if self._slots is not None:
            self._timer.stop()
            if self._tabs.all() or self._kept is not NOTHING:
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
        every = self._tabs.all()
        shown = self._tabs.shown()
        return Session(tuple(map(_open_tab, every)), every.index(shown) if shown in every else 0, ended)

    # ---- reopening ---------------------------------------------------------------------------------------------

    def _offer(self) -> None:
        if not self.last.tabs:
            self._page.offer_session("", "")
        elif self.last.ended:
            self._page.offer_session(self.last.words, "")
        else:
            self._page.offer_session(self.last.words, tr("The program did not come to its end as it should."))

    def reopen_session(self) -> None:
        """Open what was open when the program ended last, and go where one was."""
        if not self.last.tabs:
            self._say(
                tr("There is no session to reopen: it is open already, or nothing was open when the program ended.")
            )
            return
        last, self.last = self.last, NOTHING
        self._offer()
        opened = []
        for kept in last.tabs:
            self._open_location(kept.location)
            tab = self._tabs.shown()
            opened.append(tab)
            if tab is not None:
                _go_back(tab.document, kept)
        if (shown := opened[last.current]) is not None:
            self._tabs.setCurrentWidget(shown)


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


def _go_back(document: Document, kept: OpenTab) -> None:
    """Go where one was, at once as far as that is possible, and else when the archive has been read."""
    if kept.layer == 0:
        document.first_caret = kept.start
    when_read(document, partial(_go_on, document, kept))


def _go_on(document: Document, kept: OpenTab) -> None:
    stamp = document.status.stamp
    if kept.stamp and stamp and stamp != kept.stamp:
        document.said.emit(tr(CHANGED))
    elif document.selection.caret not in (0, document.first_caret):
        return  # the user has gone elsewhere meanwhile
    elif kept.member >= 0:
        _show_content(document, kept)
    elif kept.layer or kept.stop > kept.start:
        document.go_to(kept.layer, kept.start, kept.stop, "session")


def _show_content(document: Document, kept: OpenTab) -> None:
    if kept.member < document.status.members:

        def there(content: ContentInfo) -> None:
            document.go_to(content.layer.layer, kept.start, kept.stop, "session")

        document.contentReady.connect(there, Qt.ConnectionType.SingleShotConnection)
        document.open_content(kept.member)
