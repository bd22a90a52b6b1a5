"""Notify the user on the desktop when a long job ends while the window is in the background."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial
from html import escape
from time import monotonic
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import SLOT, QObject, Qt, Slot
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from inspector.gui.app.tabs import Tabs
from inspector.gui.ipc.instance import bring_to_front
from inspector.gui.kit import preferences
from inspector.gui.kit.settings import Settings
from inspector.gui.tabs.side_tab import SideTab

if TYPE_CHECKING:  # not for the first paint to wait for
    from PySide6.QtDBus import QDBusConnection, QDBusPendingCall

    from inspector.gui.app.tab import Tab
    from inspector.gui.ipc.client import Client, Job, Request


MIN_SECONDS = 10.0
"""Shorter jobs are not notified."""
Notify = Callable[[QWidget, str, str, Callable[[], object]], None]
"""Shows a title and a message outside of the window; the last argument is called when they are clicked."""


@cache
def _titles() -> dict[Request, str]:
    """The notification titles, by request; jobs of other requests are not notified."""
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
    """Whether the window is inactive or minimized."""
    active = QApplication.activeWindow()
    while active is not None and active is not window:  # a dialog belongs to its window
        active = active.parentWidget()
    return window.isMinimized() or active is None


class JobNotifications(QObject):
    """Watches the jobs of all tabs and notifies the user of those that end; ``notify`` shows a notification."""

    def __init__(
        self,
        window: QWidget,
        tabs: Tabs,
        settings: Settings,
        notify: Notify | None = None,
        now: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._tabs = tabs
        self._settings = settings
        self._notify = notify or show_notification
        self._now = now
        self._started_at: dict[Job[Any], float] = {}
        self._watched_sides: set[SideTab] = set()
        tabs.currentChanged.connect(self._watch_sides)

    def attach(self, tab: Tab) -> None:
        """Watch the jobs of a document."""
        self._watch(tab, tab.document.client, tab.document.name)

    def _watch_sides(self) -> None:
        for side in self._tabs.sides():
            if side not in self._watched_sides:
                from inspector.gui.ipc.client import Client  # a side tab has loaded it already

                self._watched_sides.add(side)
                side.destroyed.connect(lambda _=None, side=side: self._watched_sides.discard(side))
                for client in side.findChildren(Client):
                    self._watch(side, client, side.title)

    def _watch(self, tab: QWidget, client: Client[Any], name: str) -> None:
        client.jobsChanged.connect(partial(self._track_jobs, tab, client, name))
        self._track_jobs(tab, client, name)

    def _track_jobs(self, tab: QWidget, client: Client[Any], name: str) -> None:
        for job in client.jobs:
            if job.request in _titles() and job not in self._started_at:
                self._started_at[job] = self._now()
                job.finished.connect(partial(self._job_over, tab, client, name))

    def _job_over(self, tab: QWidget, client: Client[Any], name: str, job: Job[Any]) -> None:
        from inspector.operations.protocol.requests import ArchiveRequests

        started, title = self._started_at.pop(job), _titles()[job.request].format(name=name)
        is_long = self._now() - started >= MIN_SECONDS
        if job.cancelled or not (is_long and self._settings.get(preferences.NOTIFY) and is_away(self._window)):
            return
        if job.request in (ArchiveRequests.decode, ArchiveRequests.check):
            notify = partial(self._show, tab, title)
            client.ask(ArchiveRequests.status).then(lambda status: notify(status.judgement), notify)
        else:
            self._show(tab, title, "")

    def _show(self, tab: QWidget, title: str, sentence: str) -> None:
        self._notify(self._window, title, sentence, partial(self._show_tab, tab))

    def _show_tab(self, tab: QWidget) -> None:
        """Show the tab that a notification is about, if it is still open."""
        if tab in self._tabs.widgets():
            self._tabs.setCurrentWidget(tab)


DBUS_TIMEOUT_MS = 5_000
_PORTAL = ("/org/freedesktop/portal/desktop", "org.freedesktop.portal.Notification")
_SERVICE = "org.freedesktop.portal.Desktop"
_NOTIFICATION_ID = "work"
"""One ID for all notifications, so that a new one replaces the last."""
_CLICK_ACTION = "show"
"""The action that the portal reports when the notification is clicked."""


def show_notification(window: QWidget, title: str, sentence: str, then: Callable[[], object]) -> None:
    """Show a desktop notification; a click on it brings the window to the front and calls ``then``."""
    found = window.findChildren(DesktopNotifications, options=Qt.FindChildOption.FindDirectChildrenOnly)
    (found[0] if found else DesktopNotifications(window, _session_bus())).show(title, sentence, then)


class DesktopNotifications(QObject):
    """Notifications of a window, through the portal on ``bus`` or else the tray. A new one replaces the last."""

    def __init__(self, window: QWidget, bus: QDBusConnection | None) -> None:
        super().__init__(window)
        self._window = window
        self._bus = bus
        self._then: Callable[[], object] = lambda: None
        self._tray: QSystemTrayIcon | None = None
        if bus is not None:
            bus.connect(_SERVICE, *_PORTAL, "ActionInvoked", self, SLOT("invoked(QString,QString)"))  # type: ignore[call-overload]

    def show(self, title: str, sentence: str, then: Callable[[], object]) -> None:
        """Show a notification through the portal or, if that fails, the tray; also alert the task bar."""
        self._then = then
        QApplication.alert(self._window)
        if self._bus is None:
            self._show_in_tray(title, sentence)
            return
        from PySide6.QtDBus import QDBusPendingCallWatcher

        watcher = QDBusPendingCallWatcher(_send(self._bus, title, sentence), self)

        def answered() -> None:
            if watcher.isError():
                # Desktops may read markup in the message of a tray icon, and names of archives are in it.
                self._show_in_tray(title, escape(sentence, quote=False))
            watcher.deleteLater()

        watcher.finished.connect(answered)

    @Slot(str, str)
    def invoked(self, name: str, action: str) -> None:
        """The portal reports a click on a notification of some program."""
        if (name, action) == (_NOTIFICATION_ID, _CLICK_ACTION):
            self._activate()

    def _activate(self) -> None:
        bring_to_front(self._window, "")
        self._then()

    def _show_in_tray(self, title: str, sentence: str) -> None:
        """Show a message at a tray icon, which is hidden again when the window gets the focus."""
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            return
        self._tray = self._tray or self._new_tray()
        self._tray.show()
        self._tray.showMessage(title, sentence, self._window.windowIcon())

    def _new_tray(self) -> QSystemTrayIcon:
        tray = QSystemTrayIcon(self._window.windowIcon(), self)
        tray.messageClicked.connect(tray.hide)
        tray.messageClicked.connect(self._activate)
        tray.activated.connect(tray.hide)
        tray.activated.connect(self._activate)
        QApplication.instance().focusWindowChanged.connect(lambda focus: tray.hide() if focus is not None else None)  # type: ignore[union-attr]
        return tray


def _session_bus() -> QDBusConnection | None:
    """The D-Bus session bus; None if there is none."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        from PySide6.QtDBus import QDBusConnection
    except ImportError:  # not in every build
        return None
    bus = QDBusConnection.sessionBus()
    return bus if bus.isConnected() else None


def _send(bus: QDBusConnection, title: str, sentence: str) -> QDBusPendingCall:
    from PySide6.QtDBus import QDBusMessage

    call = QDBusMessage.createMethodCall(_SERVICE, *_PORTAL, "AddNotification")
    call.setArguments([_NOTIFICATION_ID, {"title": title, "body": sentence, "default-action": _CLICK_ACTION}])
    return bus.asyncCall(call, DBUS_TIMEOUT_MS)
