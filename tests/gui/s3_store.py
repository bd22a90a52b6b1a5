"""The server, the proxy before it and the buckets of the tests of S3, for tests of the window."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZIP_STORED, ZipFile

from pytestqt.qtbot import QtBot

from inspector.gui.tab import Tab
from inspector.gui.window import Window
from tests.gui.conftest import settle
from tests.s3.conftest import Store, credentials, moto, proxy, session_proxy, store, straight

__all__ = ["Store", "credentials", "moto", "opened_at", "proxy", "session_proxy", "store", "straight", "wide"]

MEMBER = 300_000


def wide(count: int = 30) -> bytes:
    """A ZIP archive whose members lie far from each other."""
    made = BytesIO()
    with ZipFile(made, "w", ZIP_STORED) as archive:
        for number in range(count):
            archive.writestr(f"{number:03}.bin", bytes([number]) * MEMBER)
    return made.getvalue()


def opened_at(window: Window, qtbot: QtBot, store: Store, location: str) -> Tab:
    """Open a location in the window and wait until everything has arrived."""
    tab = window.remote.open(location, store.connection)
    assert tab is not None
    settle(qtbot, window)
    return tab
