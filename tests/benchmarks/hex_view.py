"""Painting the hex view, against a minimal loop of one drawText a row over merged background runs."""

from __future__ import annotations

import multiprocessing
import os
import random
import statistics
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication

from inspector.core.field import Run
from inspector.core.kinds import Kind, role_of
from inspector.drawing.colouring import fill_of
from inspector.formats._kinds import LOCAL_HEADER
from inspector.gui.app.app import application
from inspector.gui.hex.pages import HexModel
from inspector.gui.hex.view import HexView
from tests.benchmarks.measure import Row, timed

SIZE = 1 << 20
RUNS = 60
KINDS = (Kind.DATA, Kind.LENGTH, Kind.NAME, Kind.DIGEST, LOCAL_HEADER, Kind.OFFSET, Kind.GAP)
SCREENS = {"1200x1000": (1200, 1000), "4K": (3840, 2160)}


def content() -> tuple[bytes, list[Run]]:
    """Bytes with fields of 1 to 40 bytes: about as mixed as an archive's headers are."""
    chance = random.Random(1)
    found: list[Run] = []
    at = 0
    while at < SIZE:
        stop = min(at + chance.randint(1, 40), SIZE)
        kind = chance.choice(KINDS)
        found.append(Run(at, stop, kind, role_of(kind), len(found) & 1, (len(found),)))
        at = stop
    return chance.randbytes(SIZE), found


def view_of(data: bytes, runs: list[Run], width: int, height: int) -> HexView:
    """A view of those bytes, painted once."""

    def fetch(start: int, stop: int, deliver: Callable[[bytes, list[Run]], None]) -> None:
        deliver(data[start:stop], [run for run in runs if run.start < stop and start < run.stop])

    view = HexView()
    view.setModel(HexModel(SIZE, fetch, view))
    view.resize(width, height)
    view.show()
    QApplication.processEvents()
    view.repaint()
    return view


def reference_of(view: HexView, data: bytes) -> Callable[[], None]:
    """The minimal loop: the same rows, backgrounds and letters on an image, and nothing else."""
    look, columns = view.look, view.bytesPerRow()
    model = view.model
    assert model is not None
    shown = view.shown()
    rows = []
    for start in range(shown.start, shown.stop, columns):
        line = data[start : start + columns]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in line)
        runs = []
        for low, high, paint in model.tints_at(start, start + columns):
            left, right = look.x(10 + 3 * (low - start)), look.x(10 + 3 * (high - start))
            runs.append((left, right - left, QColor(fill_of(paint, look.colours))))
        rows.append((f"{start:08X}  {line.hex(' ').upper()}  {text}", runs))
    image = QImage(view.viewport().size(), QImage.Format.Format_RGB32)

    def paint() -> None:
        painter = QPainter(image)
        painter.setFont(look.font)
        painter.fillRect(QRect(0, 0, image.width(), image.height()), look.base)
        top = 0
        for text, runs in rows:
            for left, width, colour in runs:
                painter.fillRect(left, top, width, look.line, colour)
            painter.drawText(QPointF(8, top + look.baseline), text)
            top += look.line
        painter.end()

    return paint


def _pairs(reference: Callable[[], object], product: Callable[[], object]) -> tuple[list[float], list[float]]:
    pairs = [(timed(reference), timed(product)) for _ in range(RUNS)]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _scroll(view: HexView, by: int) -> Callable[[], None]:
    """Scrolling down and up in turn, until what is shown has been painted, the scrollbar included."""
    steps = cycle((by, -by))

    def scroll() -> None:
        view.scroll_rows(next(steps))
        QApplication.processEvents()

    return scroll


def _busy() -> None:
    """What a decode is to the window: another process that computes."""
    while True:
        sum(range(100_000))


def rows(folder: Path) -> Iterator[Row]:  # noqa: ARG001 - every suite is given a folder
    """See measure.Row."""
    app = application()
    data, runs = content()
    for name, (width, height) in SCREENS.items():
        view = view_of(data, runs, width, height)
        viewport = view.viewport()
        reference, product = _pairs(reference_of(view, data), viewport.repaint)
        idle = statistics.median(product)
        yield Row(f"hex full repaint {name} / minimal drawText loop", statistics.median(reference), idle, 2.0)
        p95 = statistics.quantiles(product, n=20)[-1]
        yield Row(f"hex full repaint {name}, 95th percentile / 8 ms", 0.008, p95, 1.0)
        jump, step = (_scroll(view, by) for by in (500, 3))
        reference, scrolled = (statistics.median(times) for times in _pairs(jump, step))
        yield Row(f"hex scroll by 3 rows {name} / by more than a page", reference, scrolled, 1.0)
        worker = multiprocessing.get_context("spawn").Process(target=_busy, daemon=True)
        worker.start()
        try:
            busy = [timed(viewport.repaint) for _ in range(RUNS)]
        finally:
            worker.kill()
            worker.join()
        yield Row(f"hex full repaint {name} beside a decode / idle", idle, statistics.median(busy), 3.0)
        view.close()
    del app


def main() -> None:
    """Print this suite's rows."""
    for row in rows(Path()):
        print(row.line())


if __name__ == "__main__":
    main()
