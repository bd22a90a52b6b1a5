"""The window: start to first paint, the event loop while a million members are opened, and a very large file."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QEventLoop, QSettings, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from inspector.gui.app.app import application
from inspector.gui.app.window import Window
from inspector.gui.document.document import Document
from inspector.gui.hex.view import HexView
from inspector.gui.kit.preferences import Settings
from inspector.operations.protocol.views import Stage
from tests.benchmarks import checking, commands, inputs
from tests.benchmarks.formats import COUNT
from tests.benchmarks.measure import PRODUCT, Row, in_turn, timed

PATIENCE = 120_000
"""Milliseconds to wait for anything."""
CHECKED = 200_000
"""Members of the archive that is checked while frames are timed."""
CHECKS = 3
IDLE = 3.0
"""Seconds for which idle frames are timed."""
FURTHER = 5
"""Files opened beside a first one."""
FRAME = 16
"""Milliseconds between two frames."""

BARE = """
import os
from PySide6.QtWidgets import QApplication, QMainWindow
app = QApplication([])
window = QMainWindow()
window.resize(1280, 800)
window.show()
app.processEvents()
os._exit(0)
"""

FLOOR = """
import os, sys
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QPainter
from PySide6.QtWidgets import (
    QAbstractScrollArea, QApplication, QDockWidget, QLineEdit, QMainWindow, QTabWidget, QTableWidget, QTreeView,
    QVBoxLayout, QWidget,
)
from inspector.drawing.palette import Scheme
from inspector.gui.kit import theme

class Bytes(QAbstractScrollArea):
    def paintEvent(self, event):
        painter = QPainter(self.viewport())
        painter.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        for row in range(40):
            painter.drawText(0, 14 * row + 14, "00 " * 16 + "." * 16)
        painter.end()

app = QApplication(["floor", *theme.style_arguments()])
theme.apply(app, Scheme.LIGHT)
window, area, tabs = QMainWindow(), QMainWindow(), QTabWidget()
for number in range(8):
    menu = window.menuBar().addMenu(str(number))
    for action in range(17):
        menu.addAction(str(action))
bar = window.addToolBar("bar")
for action in range(10):
    bar.addAction(str(action))
bar.addWidget(QLineEdit())
bar.addWidget(QLineEdit())
area.setWindowFlags(Qt.WindowType.Widget)
area.setCentralWidget(Bytes())
left, right, bottom = (getattr(Qt.DockWidgetArea, f"{side}DockWidgetArea") for side in ("Left", "Right", "Bottom"))
docks = []
for number, side in enumerate((left, left, right, *[bottom] * 13)):
    docks.append(QDockWidget(str(number), area))
    docks[-1].setObjectName(str(number))
    area.addDockWidget(side, docks[-1])
    if number < 6:
        panel = QWidget(docks[-1])
        layout = QVBoxLayout(panel)
        layout.addWidget(QLineEdit())
        layout.addWidget(QTreeView() if number == 1 else QTableWidget(20, 5))
        docks[-1].setWidget(panel)
    elif number > 6:
        area.tabifyDockWidget(docks[3], docks[-1])
tabs.addTab(area, "tab")
window.setCentralWidget(tabs)
window.resize(1280, 800)
window.show()
app.processEvents()
window.grab().save(sys.argv[1], "PNG")
os._exit(0)
"""
"""As many menus, docks and views as the product has, in its style sheet, with a picture: Qt alone decodes nothing."""

WINDOW = """
import gc, os, sys
gc.disable()  # as the program does
from PySide6.QtCore import QSettings
from inspector.drawing.palette import Scheme
from inspector.gui.kit import theme
from inspector.gui.app.app import application
from inspector.gui.kit.preferences import Settings
from inspector.gui.app.window import Window
app = application()
settings = Settings(QSettings(sys.argv[1], QSettings.Format.IniFormat))
theme.apply(app, settings.theme)
window = Window(settings)
window.resize(1280, 800)
window.show()
app.processEvents()
assert not {"numpy", "boto3", "inspector.gui.app.tab"} & set(sys.modules)
os._exit(0)
"""


def start_rows(folder: Path) -> Iterator[Row]:
    """Start to first paint, and the first file until its window has settled; see measure.Row."""
    settings = str(folder / "settings.ini")
    # An installed program has its bytecode beside it; here the first, uncounted start writes it.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", WINDOW, settings], check=True, env=environment)
    bare: list[float] = []
    product: list[float] = []
    for _ in range(7):
        bare.append(timed(lambda: subprocess.run([sys.executable, "-c", BARE], check=True, env=environment)))
        product.append(
            timed(lambda: subprocess.run([sys.executable, "-c", WINDOW, settings], check=True, env=environment))
        )
    yield Row("start to first paint / bare PySide6 window", statistics.median(bare), statistics.median(product), 1.5)
    small = folder / "small.zip"
    commands.write(small, 20)
    picture: list[str | Path] = ["--screenshot", folder / "picture.png", small]
    times = in_turn([sys.executable, "-c", BARE], [*PRODUCT, *picture])
    yield Row("first file in a window, with its picture / bare window, processor time of the window", *times, 2.5)
    imported = [sys.executable, "-c", f"import {commands.loaded(picture)}"]
    times = in_turn([sys.executable, "-c", BARE], imported)
    yield Row("... of which importing the modules that it loads / bare window", *times, 2.5)
    times = in_turn([sys.executable, "-c", BARE], [sys.executable, "-c", FLOOR, folder / "picture.png"])
    yield Row("... of which Qt alone with as many docks, views and actions / bare window", *times, 2.5)


def rows(folder: Path) -> Iterator[Row]:
    """See measure.Row."""
    settings = str(folder / "settings.ini")
    app = application()
    yield from _further_files(folder, settings)
    yield from _million(folder, settings)
    yield from _frames_while_checking(folder, settings)
    small = inputs.sparse_caf(folder, 1 << 20)
    reference = statistics.median(_show_last_byte(small, settings) for _ in range(5))
    small.unlink()
    large = inputs.sparse_caf(folder, 64 << 30)
    product_seconds = statistics.median(_show_last_byte(large, settings) for _ in range(5))
    yield Row("open and show the last byte: 64 GiB CAF / 1 MiB CAF", reference, product_seconds, 1.25)
    del app


def open_window(settings: str) -> Window:
    window = Window(Settings(QSettings(settings, QSettings.Format.IniFormat)))
    window.resize(1280, 800)
    window.show()
    return window


def _document(window: Window) -> Document:
    """The first document, once its tab is there."""
    wait(lambda: bool(window.tabs.all()))
    return window.tabs.all()[0].document


def wait(ready: Callable[[], bool], gaps: list[float] | None = None) -> None:
    """Run the event loop until ``ready``; ``gaps`` receives the seconds between two ticks of a watchdog."""
    loop = QEventLoop()
    last = time.perf_counter()

    def tick() -> None:
        nonlocal last
        now = time.perf_counter()
        if gaps is not None:
            gaps.append(now - last)
        last = now
        if ready():
            loop.quit()

    timer = QTimer()
    timer.timeout.connect(tick)
    timer.start(1)
    end = QTimer()
    end.setSingleShot(True)
    end.timeout.connect(loop.quit)
    end.start(PATIENCE)
    loop.exec()
    timer.stop()


def _further_files(folder: Path, settings: str) -> Iterator[Row]:
    """Small files in a window that has one open: to a tab with its panels, and to the bytes."""
    window = open_window(settings)
    tabs: list[float] = []
    times: list[float] = []
    for number in range(FURTHER + 1):
        path = folder / f"small{number}.zip"
        commands.write(path, 20)
        began = time.perf_counter()
        window.open_locations([str(path)])
        wait(lambda: len(window.tabs.all()) > number)  # noqa: B023 - it is over in the same turn
        tabs.append(time.perf_counter() - began)
        view = window.tabs.all()[-1].hex_pane.hex
        wait(lambda: bool(view.model and view.model.bytes_at(0, 1)))  # noqa: B023
        view.viewport().repaint()
        times.append(time.perf_counter() - began)
        wait(lambda: window.settled)
        path.unlink()
    yield Row("a second file in a window, to its bytes / 60 ms", 0.06, statistics.median(times[1:]), 1.0)
    yield Row("... of which the widgets of its tab / 60 ms", 0.06, statistics.median(tabs[1:]), 1.0)
    window.close()


def _million(folder: Path, settings: str) -> Iterator[Row]:
    path = inputs.caf(folder, COUNT)
    window = open_window(settings)
    QApplication.processEvents()
    gaps: list[float] = []
    began = time.perf_counter()
    window.open_locations([str(path)])
    document = _document(window)
    wait(lambda: document.size > 0 and bool(document.layers), gaps)
    yield Row(f"first bytes of a CAF of {COUNT:,} members / 0.5 s", 0.5, time.perf_counter() - began, 1.0)
    wait(lambda: document.status.stage is Stage.READY, gaps)
    decoded = time.perf_counter()
    yield Row(f"all of its members / 3 s, while {COUNT:,} are opened", 3.0, decoded - began, 1.0)
    wait(lambda: window.settled, gaps)
    yield Row("longest stall of the event loop meanwhile / 50 ms", 0.05, max(gaps), 1.0)
    window.close()
    path.unlink()


def _frames_while_checking(folder: Path, settings: str) -> Iterator[Row]:
    """Full repaints of the hex view in the real window, idle and while its worker checks every member."""
    path = folder / "checked.zip"
    checking.write_zip(path, CHECKED, 1 << 10)
    window = open_window(settings)
    window.open_locations([str(path)])
    document = _document(window)
    wait(lambda: document.status.stage is Stage.READY)
    wait(lambda: window.settled)
    tab = window.tabs.all()[0]
    viewport = tab.hex_pane.findChildren(HexView)[0].viewport()
    end = time.perf_counter() + IDLE
    idle = _frames(viewport, lambda: time.perf_counter() > end)
    busy: list[float] = []
    gaps: list[float] = []
    for _ in range(CHECKS):
        tab.checking.start()
        assert tab.checking.running
        busy += _frames(viewport, lambda: not tab.checking.running, gaps)
        wait(lambda: window.settled)
    work = f"frame while {CHECKED:,} members are checked"
    for name, at in (("median", 50), ("95th percentile", 95)):
        reference, product = (statistics.quantiles(times, n=100)[at - 1] for times in (idle, busy))
        yield Row(f"{work} / idle, {name}", reference, product, 3.0)
    yield Row(f"longest {work} / 50 ms", 0.05, max(busy), 1.0)
    yield Row("longest stall of the event loop meanwhile / 50 ms", 0.05, max(gaps), 1.0)
    window.close()
    path.unlink()


def _frames(viewport: QWidget, over: Callable[[], bool], gaps: list[float] | None = None) -> list[float]:
    """The seconds that full repaints take, one every 16 ms or so, until ``over``; see ``wait`` for ``gaps``."""
    times: list[float] = []

    def paint() -> None:
        began = time.perf_counter()
        viewport.repaint()
        times.append(time.perf_counter() - began)

    timer = QTimer()
    timer.timeout.connect(paint)
    timer.start(FRAME)
    wait(over, gaps)
    timer.stop()
    return times


def _show_last_byte(path: Path, settings: str) -> float:
    window = open_window(settings)

    def work() -> None:
        window.open_locations([str(path)])
        document = _document(window)
        wait(lambda: document.status.stage is Stage.READY)
        document.go_to(0, path.stat().st_size - 1, path.stat().st_size)
        wait(lambda: window.settled)

    seconds = timed(work)
    window.close()
    return seconds
