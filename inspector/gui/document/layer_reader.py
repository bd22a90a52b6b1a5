"""Reading more bytes of a layer than one answer of the worker holds, and waiting for a document to be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.document.document import Document
    from inspector.gui.ipc.client import Client
    from inspector.operations.protocol.requests import ArchiveRequests

PIECE = 1 << 20
"""The most bytes of one answer."""


def read_start(client: Client[ArchiveRequests], layer: int, length: int, done: Callable[[bytes], None]) -> None:
    """Give ``done`` the first ``length`` bytes of a layer, fewer where it ends before; piece by piece."""
    from inspector.operations.protocol.requests import ArchiveRequests

    found = bytearray()

    def take(piece: bytes) -> None:
        found.extend(piece)
        if piece and len(found) < length:
            ask()
        else:
            done(bytes(found))

    def ask() -> None:
        asked = client.ask(ArchiveRequests.read, layer, len(found), min(PIECE, length - len(found)))
        asked.then(take, lambda _: take(b""))

    ask()


def when_read(document: Document, then: Callable[[], object]) -> None:
    """Do something with a document as soon as it has been read and its members are arranged."""
    from inspector.operations.protocol.views import Stage

    if document.status.stage is Stage.READY and document.settled:
        then()
    else:
        document.arranged.connect(then, Qt.ConnectionType.SingleShotConnection)
