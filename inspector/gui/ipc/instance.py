"""One window for all starts: a later start hands its locations to the window that is open already, and ends.

A lock file decides who is the first; it listens on a local socket that only its user may use. What is handed over is
a length of four bytes, the most significant first, and so many bytes of JSON: ``{"locations": [...], "token": "..."}``
with absolute paths and the token with which the desktop lets a window come to the front. ``ACKNOWLEDGED`` answers it,
and ``CONFIRMED`` that answer: only what the later start has not given up for a window of its own is opened here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QLockFile, QObject, QStandardPaths, Signal

from inspector.gui.kit.locations import absolute

if TYPE_CHECKING:  # loaded only once there is somebody to talk to
    from PySide6.QtNetwork import QLocalServer, QLocalSocket
    from PySide6.QtWidgets import QWidget

PATIENCE = 5_000
"""Milliseconds the other window has to answer; after them this start opens its own. A busy machine needs some."""
AGAIN = 0.02
"""Seconds between two tries to reach a window that has only just begun."""
ACKNOWLEDGED = b"+"
CONFIRMED = b"!"
LARGEST = 1 << 20
"""Bytes of a message; what claims to be longer is not read."""
HEAD = 4
TOKENS = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")
"""Environment variables in which desktops give the token."""
UNSEEN = ("offscreen", "minimal", "vnc")
"""Platforms on which no user sees a window that takes over."""


class Instance(QObject):
    """One start of the program among others of the same user on the same screen.

    Signals:
        asked(object, str): another start hands over locations, a list, and a token.
    """

    asked = Signal(object, str)

    def __init__(self, folder: Path, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = str(folder / name) if os.name == "posix" else name
        self._lock = QLockFile(str(folder / f"{name}.lock"))
        self._lock.setStaleLockTime(0)  # however long it runs; a lock whose process has gone counts for nothing
        self._server: QLocalServer | None = None
        self._heard: dict[QLocalSocket, bytearray] = {}

    def is_first(self) -> bool:
        """Whether there is no other; where that cannot be known there is none to speak to either."""
        return (
            self._lock.isLocked()
            or self._lock.tryLock(0)
            or self._lock.error() is not (QLockFile.LockError.LockFailedError)
        )

    # ---- the later start ---------------------------------------------------------------------------------------

    def hand_over(self, locations: Sequence[str], patience: int = PATIENCE) -> bool:
        """Give locations to the window that is open; whether it has said that it takes them, in milliseconds."""
        from PySide6.QtNetwork import QLocalSocket

        message = _packed(locations)
        if message is None:
            return False
        end = monotonic() + patience / 1000
        while (left := int((end - monotonic()) * 1000)) > 0:
            socket = QLocalSocket()
            socket.connectToServer(self._path)
            if socket.waitForConnected(left):
                return _acknowledged(socket, message, end)
            sleep(AGAIN)
        return False

    # ---- the first ---------------------------------------------------------------------------------------------

    def listen(self) -> None:
        """Take what later starts hand over, if this is the one that holds the lock."""
        if not self._lock.isLocked() or self._server is not None:
            return
        from PySide6.QtNetwork import QLocalServer

        QLocalServer.removeServer(self._path)  # what a crash has left: the lock says that nobody listens there
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._meet)
        self._server.listen(self._path)

    def close(self) -> None:
        """Listen no more, and let another be the first."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self._lock.unlock()

    def _meet(self) -> None:
        while self._server is not None and (socket := self._server.nextPendingConnection()) is not None:
            self._heard[socket] = bytearray()
            socket.readyRead.connect(lambda socket=socket: self._hear(socket))
            socket.disconnected.connect(lambda socket=socket: self._forget(socket))
            self._hear(socket)

    def _forget(self, socket: QLocalSocket) -> None:
        if self._heard.pop(socket, None) is not None:
            socket.deleteLater()

    def _hear(self, socket: QLocalSocket) -> None:
        heard = self._heard.get(socket)
        new = bytes(socket.readAll().data())
        if heard is None or not new:
            return
        heard += new
        size = int.from_bytes(heard[:HEAD], "big")
        if size > LARGEST:
            socket.abort()
        elif len(heard) >= HEAD + size > HEAD:
            self._answer(socket, _unpacked(bytes(heard[HEAD : HEAD + size])), bytes(heard[HEAD + size :]))

    def _answer(self, socket: QLocalSocket, message: tuple[list[str], str] | None, after: bytes) -> None:
        if message is None:
            socket.abort()
        elif not after:
            socket.write(ACKNOWLEDGED)
            socket.flush()
        elif after == CONFIRMED:
            socket.disconnectFromServer()
            self.asked.emit(*message)


def here() -> Instance | None:
    """The instance of this user on this screen; None where windows are not seen."""
    from zlib import crc32

    from PySide6.QtGui import QGuiApplication

    if QGuiApplication.platformName() in UNSEEN:
        return None
    screen = "|".join((sys.platform, os.environ.get("DISPLAY", ""), os.environ.get("WAYLAND_DISPLAY", "")))
    name = f"archive-inspector-{crc32(os.fsencode(f'{Path.home()}|{screen}')):08x}"
    folder = _folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return Instance(folder, name)


def _folder() -> Path:
    """A folder that is the user's own and goes with the session, where the system has one."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and Path(runtime).is_dir():
        return Path(runtime)
    where = QStandardPaths.StandardLocation
    kind = where.GenericCacheLocation if sys.platform.startswith("linux") else where.TempLocation
    return Path(QStandardPaths.writableLocation(kind)) / "archive-inspector"


def come_forward(window: QWidget, token: str) -> None:
    """Show a window above others, as far as the desktop lets it for the token."""
    if token:
        os.environ["XDG_ACTIVATION_TOKEN"] = token  # where Qt looks for it when a window asks to be active
    if window.isMinimized():
        window.showNormal()
    window.raise_()
    window.activateWindow()


def _packed(locations: Sequence[str]) -> bytes | None:
    import json  # a start that hands nothing over does not wait for it

    token = next((value for name in TOKENS if (value := os.environ.get(name))), "")
    # A name that is no UTF-8 has surrogates in it, which JSON writes as escapes.
    text = json.dumps({"locations": [absolute(location) for location in locations], "token": token})
    body = text.encode("ascii")
    return len(body).to_bytes(HEAD, "big") + body if len(body) <= LARGEST else None


def _unpacked(body: bytes) -> tuple[list[str], str] | None:
    """What a message says; None where it is none."""
    import json

    try:
        message: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    match message:
        case {"locations": list(locations), "token": str(token)} if all(isinstance(one, str) for one in locations):
            return locations, token
        case _:
            return None


def _acknowledged(socket: QLocalSocket, message: bytes, end: float) -> bool:
    socket.write(message)
    while not socket.bytesAvailable():
        left = int((end - monotonic()) * 1000)
        if left <= 0 or not (socket.waitForReadyRead(left) or socket.bytesAvailable()):
            return False
    if bytes(socket.readAll().data()) != ACKNOWLEDGED:
        return False
    socket.write(CONFIRMED)
    socket.flush()
    return socket.bytesToWrite() == 0
