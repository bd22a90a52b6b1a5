"""The server, the proxy before it and the buckets of the tests of S3, for tests of the window."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from tests.gui.conftest import settle
from tests.s3.bad_days import wide
from tests.s3.conftest import Store, credentials, moto, proxy, session_proxy, store, straight

__all__ = ["Store", "credentials", "moto", "opened_at", "proxy", "session_proxy", "store", "straight", "wide"]


def opened_at(window: Window, qtbot: QtBot, store: Store, location: str) -> Tab:
    """Open a location in the window and wait until everything has arrived."""
    tab = window.archives.open(location, store.connection)
    assert tab is not None
    settle(qtbot, window)
    return tab
