"""Reading more bytes of a layer than one answer of the worker holds."""

from __future__ import annotations

from collections.abc import Callable

from inspector.gui.client import Client

PIECE = 1 << 20
"""The most bytes of one answer."""


def read_start(client: Client, layer: int, length: int, done: Callable[[bytes], None]) -> None:
    """Give ``done`` the first ``length`` bytes of a layer, fewer where it ends before; piece by piece."""
    found = bytearray()

    def take(piece: bytes) -> None:
        found.extend(piece)
        if piece and len(found) < length:
            ask()
        else:
            done(bytes(found))

    def ask() -> None:
        client.call("read", layer, len(found), min(PIECE, length - len(found)), done=take, failed=lambda _: take(b""))

    ask()
