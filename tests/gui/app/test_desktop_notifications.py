"""A click on a desktop notification shows the tab it is about: on a real bus, with a simulated desktop portal."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from jeepney import DBusAddress, HeaderFields, MessageType, new_error, new_method_return, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from PySide6.QtDBus import QDBusConnection
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from inspector.gui.app.notifications import DesktopNotifications
from inspector.gui.app.window import Window
from tests.gui.conftest import WAIT, Show

PORTAL = "org.freedesktop.portal.Desktop"
NOTIFICATION = DBusAddress("/org/freedesktop/portal/desktop", interface="org.freedesktop.portal.Notification")


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[str]:
    """The address of a bus of its own."""
    command = ["dbus-daemon", "--session", "--nofork", f"--address=unix:dir={tmp_path}", "--print-address=1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as daemon:
        assert daemon.stdout is not None
        yield daemon.stdout.readline().strip()
        daemon.kill()


class Desktop(threading.Thread):
    """Plays the portal: takes one message, and clicks on it; with ``refuses`` it knows no messages."""

    def __init__(self, address: str, refuses: bool = False) -> None:
        super().__init__(daemon=True)
        self._refuses = refuses
        self.told: tuple[str, dict[str, tuple[str, str]]] = ("", {})
        self._connection: DBusConnection = open_dbus_connection(address)
        self._connection.send_and_get_reply(message_bus.RequestName(PORTAL))
        self.start()

    def run(self) -> None:
        with self._connection as connection:
            message = connection.receive()
            while message.header.message_type is not MessageType.method_call:
                message = connection.receive()
            assert message.header.fields[HeaderFields.member] == "AddNotification"
            if self._refuses:
                connection.send(new_error(message, "org.freedesktop.DBus.Error.UnknownMethod"))
                return
            self.told = message.body
            connection.send(new_method_return(message))
            name, notice = self.told
            for clicked in ("another program's", name):
                action = notice["default-action"][1]
                connection.send(new_signal(NOTIFICATION, "ActionInvoked", "ssav", (clicked, action, [])))


@pytest.fixture
def notices(window: Window, bus: str) -> Iterator[DesktopNotifications]:
    yield DesktopNotifications(window, QDBusConnection.connectToBus(bus, bus))
    QDBusConnection.disconnectFromBus(bus)


@pytest.mark.qt_log_ignore("does not support raise", extend=True)
def test_a_click_brings_the_window_to_the_front(
    window: Window, show: Show, notices: DesktopNotifications, bus: str, qtbot: QtBot
) -> None:
    tab = show("journey.caf")
    other = QWidget()
    qtbot.addWidget(other)
    other.show()
    other.activateWindow()
    qtbot.waitUntil(lambda: bool(other.isActiveWindow()), timeout=WAIT)
    desktop = Desktop(bus)
    clicks: list[str] = []
    notices.show("Checked.", "All is well.", lambda: clicks.append(tab.document.name))
    qtbot.waitUntil(lambda: bool(clicks), timeout=WAIT)
    qtbot.waitUntil(lambda: bool(window.isActiveWindow()), timeout=WAIT)
    assert clicks == ["journey.caf"]  # once: what others show is not ours
    assert desktop.told[1]["title"] == ("s", "Checked.")
    assert desktop.told[1]["body"] == ("s", "All is well.")


def test_where_the_desktop_has_no_portal_the_tray_is_asked_and_reads_no_markup(
    notices: DesktopNotifications, bus: str, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(notices, "_show_in_tray", lambda *words: asked.append(words))
    Desktop(bus, refuses=True)
    notices.show("Checked.", "<b>a & b</b> is well.", lambda: None)
    shown = "&lt;b&gt;a &amp; b&lt;/b&gt; is well."
    qtbot.waitUntil(lambda: asked == [("Checked.", shown)], timeout=WAIT)
