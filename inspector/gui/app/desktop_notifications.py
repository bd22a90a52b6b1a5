"""A message of the desktop, in the way that the desktop has; the window asks for attention too."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import SLOT, QObject, Qt, Slot
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from inspector.gui.ipc.instance import come_forward

if TYPE_CHECKING:  # loaded only where it is needed
    from PySide6.QtDBus import QDBusConnection, QDBusPendingCall

PATIENCE = 5_000
"""Milliseconds that the desktop has to answer."""
_PORTAL = ("/org/freedesktop/portal/desktop", "org.freedesktop.portal.Notification")
_SERVICE = "org.freedesktop.portal.Desktop"
_ID = "work"
"""A later message takes the place of an earlier one."""
_CLICKED = "show"
"""What the portal calls a click on the message, by our word for it."""


def show_notice(window: QWidget, title: str, sentence: str, then: Callable[[], object]) -> None:
    """Show a message outside of the window; a click on it brings the window to the front and does ``then``."""
    found = window.findChildren(DesktopNotifications, options=Qt.FindChildOption.FindDirectChildrenOnly)
    (found[0] if found else DesktopNotifications(window, _session_bus())).show(title, sentence, then)


class DesktopNotifications(QObject):
    """Messages about a window: by the portal on ``bus``, or else by the tray. The latest takes the place of others."""

    def __init__(self, window: QWidget, bus: QDBusConnection | None) -> None:
        super().__init__(window)
        self._window = window
        self._bus = bus
        self._then: Callable[[], object] = lambda: None
        self._tray: QSystemTrayIcon | None = None
        if bus is not None:
            bus.connect(_SERVICE, *_PORTAL, "ActionInvoked", self, SLOT("invoked(QString,QString)"))  # type: ignore[call-overload]

    def show(self, title: str, sentence: str, then: Callable[[], object]) -> None:
        """Show a message by the first way that there is."""
        self._then = then
        QApplication.alert(self._window)
        if self._bus is None:
            self._by_tray(title, sentence)
            return
        from PySide6.QtDBus import QDBusPendingCallWatcher

        watcher = QDBusPendingCallWatcher(_asked(self._bus, title, sentence), self)

        def answered() -> None:
            if watcher.isError():
                self._by_tray(title, sentence)
            watcher.deleteLater()

        watcher.finished.connect(answered)

    @Slot(str, str)
    def invoked(self, name: str, action: str) -> None:
        """A message of some program was clicked."""
        if (name, action) == (_ID, _CLICKED):
            self._come()

    def _come(self) -> None:
        come_forward(self._window, "")
        self._then()

    def _by_tray(self, title: str, sentence: str) -> None:
        """A message at an icon in the tray, which is there only as long as the window is in the background."""
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            return
        self._tray = self._tray or self._new_tray()
        self._tray.show()
        self._tray.showMessage(title, sentence, self._window.windowIcon())

    def _new_tray(self) -> QSystemTrayIcon:
        tray = QSystemTrayIcon(self._window.windowIcon(), self)
        tray.messageClicked.connect(tray.hide)
        tray.messageClicked.connect(self._come)
        tray.activated.connect(tray.hide)
        tray.activated.connect(self._come)
        QApplication.instance().focusWindowChanged.connect(lambda focus: tray.hide() if focus is not None else None)  # type: ignore[union-attr]
        return tray


def _session_bus() -> QDBusConnection | None:
    """The bus of the user's desktop; None where there is none."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        from PySide6.QtDBus import QDBusConnection
    except ImportError:  # not in every build
        return None
    bus = QDBusConnection.sessionBus()
    return bus if bus.isConnected() else None


def _asked(bus: QDBusConnection, title: str, sentence: str) -> QDBusPendingCall:
    from PySide6.QtDBus import QDBusMessage

    call = QDBusMessage.createMethodCall(_SERVICE, *_PORTAL, "AddNotification")
    call.setArguments([_ID, {"title": title, "body": sentence, "default-action": _CLICKED}])
    return bus.asyncCall(call, PATIENCE)
