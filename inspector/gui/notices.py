"""A message of the desktop, in the way that the desktop has; the window asks for attention too."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from inspector.gui.instance import come_forward

if TYPE_CHECKING:  # loaded only where it is needed
    from PySide6.QtDBus import QDBusPendingCall

PATIENCE = 5_000
"""Milliseconds that the desktop has to answer."""
_SERVICE = "org.freedesktop.portal.Desktop"
_ID = "work"
"""A later message takes the place of an earlier one."""


def show_notice(window: QWidget, title: str, sentence: str) -> None:
    """Show a message outside of the window, by the first way that there is: the desktop's own service, or the tray."""
    QApplication.alert(window)
    call = _asked(title, sentence)
    if call is None:
        _by_tray(window, title, sentence)
        return
    from PySide6.QtDBus import QDBusPendingCallWatcher

    watcher = QDBusPendingCallWatcher(call, window)

    def answered() -> None:
        if watcher.isError():
            _by_tray(window, title, sentence)
        watcher.deleteLater()

    watcher.finished.connect(answered)


def _asked(title: str, sentence: str) -> QDBusPendingCall | None:
    """The desktop's service is asked; None where there is no way to."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        from PySide6.QtDBus import QDBusConnection, QDBusMessage
    except ImportError:  # not in every build
        return None
    bus = QDBusConnection.sessionBus()
    if not bus.isConnected():
        return None
    call = QDBusMessage.createMethodCall(
        _SERVICE, "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Notification", "AddNotification"
    )
    call.setArguments([_ID, {"title": title, "body": sentence}])
    return bus.asyncCall(call, PATIENCE)


def _by_tray(window: QWidget, title: str, sentence: str) -> None:
    """A message at an icon in the tray, which is there only as long as the window is in the background."""
    if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
        return
    found = window.findChildren(QSystemTrayIcon, _ID, Qt.FindChildOption.FindDirectChildrenOnly)
    tray = found[0] if found else _tray(window)
    tray.show()
    tray.showMessage(title, sentence, window.windowIcon())


def _tray(window: QWidget) -> QSystemTrayIcon:
    tray = QSystemTrayIcon(window.windowIcon(), window)
    tray.setObjectName(_ID)

    def back() -> None:
        tray.hide()
        come_forward(window, "")

    tray.messageClicked.connect(back)
    tray.activated.connect(back)
    QApplication.instance().focusWindowChanged.connect(lambda focus: tray.hide() if focus is not None else None)  # type: ignore[union-attr]
    return tray
