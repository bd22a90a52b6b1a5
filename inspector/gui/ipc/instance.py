"""Single instance: a later start hands its locations to the open window and ends.

A lock file decides which start is the first; it listens on a local socket for its user only. A message is its length
as four big-endian bytes, then that many bytes of JSON: ``{"locations": [...], "token": "..."}``, with absolute paths
and the desktop's activation token. The window answers ``ACKNOWLEDGED`` and the later start confirms with ``CONFIRMED``:
locations are opened only if the later start has not timed out and opened a window of its own.
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
LENGTH_BYTES = 4
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
        self._received: dict[QLocalSocket, bytearray] = {}

    def is_first(self) -> bool:
        """Whether there is no other instance, or none that can be reached."""
        return (
            self._lock.isLocked()
            or self._lock.tryLock(0)
            or self._lock.error() is not (QLockFile.LockError.LockFailedError)
        )

    # ---- later start -------------------------------------------------------------------------------------------

    def hand_over(self, locations: Sequence[str], timeout_ms: int = ANSWER_TIMEOUT_MS) -> bool:
        """Hand locations to the open window within ``timeout_ms``; returns whether it accepted them."""
        from PySide6.QtNetwork import QLocalSocket

        message = _encoded(locations)
        if message is None:
            return False
        deadline = monotonic() + timeout_ms / 1000
        while (left := int((deadline - monotonic()) * 1000)) > 0:
            socket = QLocalSocket()
            socket.connectToServer(self._path)
            if socket.waitForConnected(left):
                return _acknowledged(socket, message, deadline)
            sleep(RETRY_S)
        return False

    # ---- first start -------------------------------------------------------------------------------------------

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
            self._received[socket] = bytearray()
            socket.readyRead.connect(lambda socket=socket: self._read(socket))
            socket.disconnected.connect(lambda socket=socket: self._forget(socket))
            self._read(socket)

    def _forget(self, socket: QLocalSocket) -> None:
        if self._received.pop(socket, None) is not None:
            socket.deleteLater()

    def _read(self, socket: QLocalSocket) -> None:
        received = self._received.get(socket)
        new = bytes(socket.readAll().data())
        if received is None or not new:
            return
        received += new
        size = int.from_bytes(received[:LENGTH_BYTES], "big")
        if size > MAX_MESSAGE_BYTES:
            socket.abort()
        elif len(received) >= LENGTH_BYTES + size > LENGTH_BYTES:
            stop = LENGTH_BYTES + size
            self._answer(socket, _decoded(bytes(received[LENGTH_BYTES:stop])), bytes(received[stop:]))

    def _answer(self, socket: QLocalSocket, message: tuple[list[str], str] | None, rest: bytes) -> None:
        if message is None:
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
    folder = _folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return Instance(folder, name)


def _folder() -> Path:
    """The runtime folder of the user's session, or else a folder in the cache or temporary location."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and Path(runtime).is_dir():
        return Path(runtime)
    location = QStandardPaths.StandardLocation
    kind = location.GenericCacheLocation if sys.platform.startswith("linux") else location.TempLocation
    return Path(QStandardPaths.writableLocation(kind)) / "archive-inspector"


def bring_to_front(window: QWidget, token: str) -> None:
    """Raise and activate a window, as far as the desktop allows for the token."""
    if token:
        os.environ["XDG_ACTIVATION_TOKEN"] = token  # Qt reads it when a window is activated
    if window.isMinimized():
        window.showNormal()
    window.raise_()
    window.activateWindow()


def _encoded(locations: Sequence[str]) -> bytes | None:
    import json  # imported only when locations are handed over

    token = next((value for name in TOKEN_VARIABLES if (value := os.environ.get(name))), "")
    # Names that are not UTF-8 contain surrogates, which JSON escapes.
    text = json.dumps({"locations": [revealed(absolute(location)) for location in locations], "token": token})
    body = text.encode("ascii")
    return len(body).to_bytes(LENGTH_BYTES, "big") + body if len(body) <= MAX_MESSAGE_BYTES else None


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


def _acknowledged(socket: QLocalSocket, message: bytes, deadline: float) -> bool:
    socket.write(message)
    while not socket.bytesAvailable():
        left = int((deadline - monotonic()) * 1000)
        if left <= 0 or not (socket.waitForReadyRead(left) or socket.bytesAvailable()):
            return False
    if bytes(socket.readAll().data()) != ACKNOWLEDGED:
        return False
    socket.write(CONFIRMED)
    socket.flush()
    return socket.bytesToWrite() == 0
