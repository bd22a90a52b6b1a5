"""Telling that long work has ended while the user is elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

from inspector.gui.app.tabs import Tabs
from inspector.gui.kit import preferences
from inspector.gui.kit.settings import Settings
from inspector.gui.tabs.side_tab import SideTab

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab
    from inspector.gui.document.check_many import ManyChecks
    from inspector.gui.ipc.client import Client, Job, Request

LONG = 10.0
"""Seconds of work whose end is worth telling."""
Tell = Callable[[QWidget, str, str, Callable[[], object]], None]
"""Shows, outside of a window, a title and a sentence; the last is done when they are clicked."""


@cache
def _titles() -> dict[Request, str]:
    """What is told of each kind of work that has ended; others are of no interest to somebody who is elsewhere."""
    from inspector.operations.protocol.requests import ArchiveRequests, AuditRequests, BrowseRequests, CreateRequests

    return {
        ArchiveRequests.decode: "{name} has been read.",
        ArchiveRequests.check: "{name} has been checked.",
        ArchiveRequests.search: "Searching {name} has ended.",
        ArchiveRequests.extract: "Extracting from {name} has ended.",
        ArchiveRequests.save_copy: "Writing a copy of {name} has ended.",
        ArchiveRequests.make_repairs: "Repairing {name} has ended.",
        ArchiveRequests.salvage: "Salvaging {name} has ended.",
        ArchiveRequests.write: "Writing {name} has ended.",
        ArchiveRequests.write_manifest: "Writing digests of {name} has ended.",
        ArchiveRequests.append: "Adding to {name} has ended.",
        CreateRequests.create: "Creating the archive has ended.",
        BrowseRequests.download: "The download has ended.",
        AuditRequests.audit: "The audit has ended.",
    }


def is_away(window: QWidget) -> bool:
    """Whether the user works in another program, or does not see the window."""
    active = QApplication.activeWindow()
    while active is not None and active is not window:  # a dialog belongs to its window
        active = active.parentWidget()
    return window.isMinimized() or active is None


class JobNotifications(QObject):
    """Watches the work of all tabs. ``tell`` shows a title and a sentence where they are seen from elsewhere."""

    def __init__(
        self,
        window: QWidget,
        tabs: Tabs,
        settings: Settings,
        tell: Tell | None = None,
        now: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._tabs = tabs
        self._settings = settings
        self._tell = tell or _tell
        self._now = now
        self._since: dict[Job[Any], float] = {}
        self._checks_since: dict[ManyChecks, float] = {}
        self._followed: set[SideTab] = set()
        tabs.currentChanged.connect(self._follow_sides)

    def dress(self, tab: Tab) -> None:
        """Follow the work on a document."""
        self._follow(tab, tab.document.client, tab.document.name)

    def _follow_sides(self) -> None:
        for side in self._tabs.sides():
            if side not in self._followed:
                self._followed.add(side)
                side.destroyed.connect(lambda _=None, side=side: self._followed.discard(side))
                self._follow_side(side)

    def _follow_side(self, side: SideTab) -> None:
        from inspector.gui.document.check_many import ManyChecks  # whoever opens such a tab has loaded both
        from inspector.gui.ipc.client import Client

        for client in side.findChildren(Client):
            self._follow(side, client, side.title)
        for checks in side.findChildren(ManyChecks):
            checks.started.connect(partial(self._began, checks))
            checks.finished.connect(partial(self._checked, side, checks))

    def _follow(self, tab: QWidget, client: Client[Any], name: str) -> None:
        client.jobsChanged.connect(partial(self._look, tab, client, name))
        self._look(tab, client, name)

    def _look(self, tab: QWidget, client: Client[Any], name: str) -> None:
        for job in client.jobs:
            if job.request in _titles() and job not in self._since:
                self._since[job] = self._now()
                job.finished.connect(partial(self._over, tab, client, job, name))

    def _over(self, tab: QWidget, client: Client[Any], job: Job[Any], name: str) -> None:
        from inspector.operations.protocol.requests import ArchiveRequests

        since, title = self._since.pop(job), _titles()[job.request].format(name=name)
        if job.cancelled or not self._is_worth_it(since):
            return
        if job.request in (ArchiveRequests.decode, ArchiveRequests.check):
            tell = partial(self._say, tab, title)
            client.ask(ArchiveRequests.status).then(lambda status: tell(status.judgement), tell)
        else:
            self._say(tab, title, "")

    def _say(self, tab: QWidget, title: str, sentence: str) -> None:
        self._tell(self._window, title, sentence, partial(self._show, tab))

    def _show(self, tab: QWidget) -> None:
        """Show the tab that it was about, if that is still there."""
        if tab in self._tabs.every():
            self._tabs.setCurrentWidget(tab)

    def _began(self, checks: ManyChecks) -> None:
        self._checks_since[checks] = self._now()

    def _checked(self, side: SideTab, checks: ManyChecks) -> None:
        if self._is_worth_it(self._checks_since.pop(checks)):
            self._say(side, "The check of several archives has ended.", "")

    def _is_worth_it(self, since: float) -> bool:
        wanted = self._settings.get(preferences.NOTIFY)
        return wanted and self._now() - since >= LONG and is_away(self._window)


def _tell(window: QWidget, title: str, sentence: str, then: Callable[[], object]) -> None:
    from inspector.gui.app.desktop_notifications import show_notice  # most sessions need none

    show_notice(window, title, sentence, then)
