"""Draw states of the window into pictures: ``python -m tests.pictures.drawing FOLDER NAME=[SAMPLE]…``.

A process of its own, because how large a pixel is and which fonts there are is settled when a process starts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from inspector.drawing.palette import Scheme
from inspector.gui.app import app
from inspector.gui.app.window import Window
from inspector.gui.kit import theme
from inspector.gui.kit.preferences import Settings
from inspector.operations.protocol.browse_views import EntryKind, RemoteEntry, RemotePage
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.request_log import Totals

SIZE = (1024, 700)
FAST = 100
"""The quality of a PNG file that is not compressed, which takes longer than drawing it."""
AT = "s3://archives/2024/"
DAY = 1_717_200_000.0
"""A day in seconds since 1970."""


class State(NamedTuple):
    """What a picture shows: a sample, how it looks, what is done there, and how many pixels a point has."""

    sample: str
    look: Scheme = Scheme.LIGHT
    do: Callable[[Window], object] = bool
    scale: float = 1.0


def raise_dock(name: str) -> Callable[[Window], None]:
    def up(window: Window) -> None:
        tab = window.tab()
        assert tab is not None
        tab.docks[name].raise_()

    return up


def browse(window: Window) -> None:
    """A listing of S3 as a server would give it."""
    from inspector.gui.tabs.browser_tab import BrowserTab

    tab = BrowserTab(window.archives.connections, "", Connection(anonymous=True))
    months = [RemoteEntry(EntryKind.PREFIX, f"{month:02}/", f"{AT}{month:02}/") for month in range(1, 7)]
    objects = [
        RemoteEntry(EntryKind.OBJECT, name, AT + name, size, DAY + size % 1_000)
        for name, size in (("log.rca", 37_248), ("photos.caf", 10_529), ("tiles.tacozip", 1_288_490_188))
    ]
    page = RemotePage((*months, *objects), "further", Totals(requests=1))
    tab.model._request_page = lambda _location, _after, done, _failed: done(page)
    window.tabs.append(tab)
    tab.address.setText(AT)
    tab.list_location()


def check(window: Window) -> None:
    window.actions_["check"].trigger()


STATES = {
    "start-page": State(""),
    "archive": State("two-chunks.rca"),
    "archive-dark": State("two-chunks.rca", Scheme.DARK),
    "archive-contrast-light": State("two-chunks.rca", Scheme.CONTRAST_LIGHT),
    "archive-contrast-dark": State("two-chunks.rca", Scheme.CONTRAST_DARK),
    "archive-fine": State("two-chunks.rca", scale=1.5),
    "torn-and-findings": State("torn-after-write-2.tacozip"),
    "damaged-checked": State("flipped-blob-byte.rca", Scheme.DARK, check),
    "header": State("two-entries.tacozip", Scheme.LIGHT, raise_dock("Header")),
    "coverage": State("weather-overlap"),
    "s3": State("", Scheme.LIGHT, browse),
}


def draw(state: State, out: Path, locations: Sequence[str]) -> bool:
    """Draw it with locations open; whether the window came to rest and the picture was written."""
    application = app.application()
    application.setCursorFlashTime(0)
    theme.apply(application, state.look)
    with TemporaryDirectory() as folder:
        window = Window(Settings(QSettings(f"{folder}/settings.ini", QSettings.Format.IniFormat)))
        window.resize(*SIZE)
        window.show()
        window.open_locations(locations)
        settled = app.wait_until_settled(window)
        state.do(window)
        settled = app.wait_until_settled(window) and settled
        written = window.grab().save(str(out), "PNG", FAST)
        window.end()
        window.close()
        window.deleteLater()  # else each theme that follows is applied to it too
    QApplication.processEvents()
    return settled and written


def main(folder: str, *wanted: str) -> int:
    """Draw each state that is wanted as FOLDER/NAME.png; how many could not be drawn."""
    parts = [each.partition("=") for each in wanted]
    return sum(
        not draw(STATES[name], Path(folder, f"{name}.png"), [location] if location else [])
        for name, _, location in parts
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
