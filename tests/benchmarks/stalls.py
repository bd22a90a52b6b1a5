"""The longest times that the window does not answer while it does what people do with it, against 50 ms."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtWidgets import QApplication

from inspector.gui.app.app import application
from tests.benchmarks import inputs
from tests.benchmarks.measure import Row
from tests.benchmarks.stall_meter import LIMIT_S, Stall, StallMeter
from tests.benchmarks.window import open_window, wait

SPARSE = 4 << 30


def rows(folder: Path) -> Iterator[Row]:
    """Opening, checking, byte bands of 4 GiB; each story in a window that has opened its first tab before."""
    app = application()
    settings = str(folder / "settings.ini")
    small = folder / "small.zip"
    with zipfile.ZipFile(small, "w") as archive:
        for number in range(20_000):
            archive.writestr(zipfile.ZipInfo(f"{number}.txt"), b"x" * 100)
    window = open_window(settings)
    window.open_locations([str(small)])
    wait(lambda: window.settled)
    large, sparse = str(inputs.caf(folder, 100_000)), str(inputs.sparse_caf(folder, SPARSE))
    window.open_locations([sparse])
    wait(lambda: window.settled)
    first, second = window.tabs.all()
    stories: dict[str, tuple[Callable[[], object], Callable[[], bool]]] = {
        "byte bands of a sparse 4 GiB": (
            lambda: second.hex_pane.show_bands(True),
            lambda: second.hex_pane.band.bands is not None and window.settled,
        ),
        "check a ZIP of 20,000 members": (first.checking.start, lambda: not first.checking.running and window.settled),
        "open a CAF of 100,000 members": (
            lambda: window.open_locations([large]),
            lambda: len(window.tabs.all()) == 3 and window.settled,
        ),
    }
    for name, (story, is_done) in stories.items():
        found: list[Stall] = []
        meter = StallMeter(found.append)
        story()
        wait(is_done)
        meter.stop()
        longest = max(found, key=lambda stall: stall.seconds, default=Stall(0.0, 0.0, ""))
        yield Row(f"longest stall: {name} / 50 ms", LIMIT_S, longest.seconds, 1.0)
        yield Row(f"the same, of which computing: {name} / 50 ms", LIMIT_S, longest.computing, 1.0)
    window.end()
    window.close()
    QApplication.processEvents()
    del app
