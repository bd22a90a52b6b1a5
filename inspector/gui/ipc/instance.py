"""Single instance: a later start hands its locations to the open window and ends.

A lock file decides which start is the first; it listens on a local socket for its user only. A message is a line of
JSON: ``{"locations": [...], "token": "..."}``, with absolute paths and the desktop's activation token. The window
answers ``ACKNOWLEDGED`` and the later start confirms with ``CONFIRMED``: locations are opened only if the later start
has not timed out and opened a window of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QDeadlineTimer, QLockFile, QObject, QStandardPaths, Signal

from inspector.gui.kit.locations import absolute
from inspector.sources.web.address import revealed

if TYPE_CHECKING:  # imported only when there is another instance
    from PySide6.QtNetwork import QLocalServer, QLocalSocket
    from PySide6.QtWidgets import QWidget

ANSWER_TIMEOUT_MS = 5_000
"""How long to wait for the open window before this start opens its own; generous, for busy machines."""
RETRY_S = 0.02
"""Interval of attempts to reach a window that is just starting."""
ACKNOWLEDGED = b"+"
CONFIRMED = b"!"
MAX_MESSAGE_BYTES = 1 << 20
"""The longest message; longer ones are rejected."""
TOKEN_VARIABLES = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")
"""Environment variables with the activation token."""
INVISIBLE_PLATFORMS = ("offscreen", "minimal", "vnc")
"""Qt platforms without visible windows."""


class Instance(QObject):
    """One running program among those of the same user on the same screen.

    Signals:
        requested(object locations, str token): another start hands over a list of locations.
    """

    requested = Signal(object, str)

    def __init__(self, folder: Path, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = str(folder / name) if os.name == "posix" else name
        self._lock = QLockFile(str(folder / f"{name}.lock"))
        self._lock.setStaleLockTime(0)  # never stale by age; a lock of a dead process is ignored
        self._server: QLocalServer | None = None

    def is_first(self) -> bool:
        """Whether there is no other instance, or none that can be reached."""
        is_ours = self._lock.isLocked() or self._lock.tryLock(0)
        return is_ours or self._lock.error() is not QLockFile.LockError.LockFailedError

    def hand_over(self, locations: Sequence[str], timeout_ms: int = ANSWER_TIMEOUT_MS) -> bool:
        """Hand locations to the open window within ``timeout_ms``; returns whether it accepted them."""
        import json  # imported only when locations are handed over

        from PySide6.QtNetwork import QLocalSocket

        token = next((value for name in TOKEN_VARIABLES if (value := os.environ.get(name))), "")
        # Names that are not UTF-8 contain surrogates, which JSON escapes.
        text = json.dumps({"locations": [revealed(absolute(location)) for location in locations], "token": token})
        deadline = QDeadlineTimer(timeout_ms)
        while len(text) < MAX_MESSAGE_BYTES and not deadline.hasExpired():
            socket = QLocalSocket()
            socket.connectToServer(self._path)
            if not socket.waitForConnected(deadline.remainingTime()):
                sleep(RETRY_S)
                continue
            socket.write(text.encode("ascii") + b"\n")
            while not socket.bytesAvailable():
                # What has come meanwhile is not waited for.
                if not (socket.waitForReadyRead(deadline.remainingTime()) or socket.bytesAvailable()):
                    return False
            if bytes(socket.readAll().data()) != ACKNOWLEDGED:
                return False
            socket.write(CONFIRMED)
            socket.flush()
            return socket.bytesToWrite() == 0
        return False

    def listen(self) -> None:
        """Accept locations from later starts, if this instance holds the lock."""
        if not self._lock.isLocked() or self._server is not None:
            return
        from PySide6.QtNetwork import QLocalServer

        QLocalServer.removeServer(self._path)  # left by a crash: we hold the lock, so nobody listens
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._accept)
        self._server.listen(self._path)

    def close(self) -> None:
        """Stop listening and release the lock."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self._lock.unlock()

    def _accept(self) -> None:
        while self._server is not None and (socket := self._server.nextPendingConnection()) is not None:
            socket.setReadBufferSize(MAX_MESSAGE_BYTES)
            socket.readyRead.connect(partial(self._read, socket))
            socket.disconnected.connect(socket.deleteLater)
            self._read(socket)

    def _read(self, socket: QLocalSocket) -> None:
        """Take a message as soon as it is confirmed; until then it stays in the socket."""
        received = bytes(socket.peek(MAX_MESSAGE_BYTES).data())
        line, end, rest = received.partition(b"\n")
        message = _decoded(line) if end else None
        if message is None:
            if end or len(received) == MAX_MESSAGE_BYTES:
                socket.abort()
        elif not rest:
            socket.write(ACKNOWLEDGED)
            socket.flush()
        elif rest == CONFIRMED:
            socket.disconnectFromServer()
            self.requested.emit(*message)


def current_instance() -> Instance | None:
    """The instance for this user and screen; None without visible windows or a writable folder."""
    from zlib import crc32

    from PySide6.QtGui import QGuiApplication

    if QGuiApplication.platformName() in INVISIBLE_PLATFORMS:
        return None
    screen = "|".join((sys.platform, os.environ.get("DISPLAY", ""), os.environ.get("WAYLAND_DISPLAY", "")))
    name = f"archive-inspector-{crc32(os.fsencode(f'{Path.home()}|{screen}')):08x}"
    cache = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericCacheLocation)
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or f"{cache}/archive-inspector")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return Instance(folder, name)


def bring_to_front(window: QWidget, token: str) -> None:
    """Raise and activate a window, as far as the desktop allows for the token."""
    if token:
        os.environ["XDG_ACTIVATION_TOKEN"] = token  # Qt reads it when a window is activated
    if window.isMinimized():
        window.showNormal()
    window.raise_()
    window.activateWindow()


def _decoded(body: bytes) -> tuple[list[str], str] | None:
    """The locations and the token of a message; None if it is malformed."""
    import json

    try:
        message: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    match message:
        case {"locations": list(locations), "token": str(token)} if all(isinstance(each, str) for each in locations):
            return locations, token
        case _:
            return None
