"""Icons: black drawings, coloured by the palette when they are painted."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QIconEngine, QPainter, QPaintEvent, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QWidget

from inspector.core.finding import Severity
from inspector.core.verdict import State, Verdict
from inspector.drawing.palette import CONTRAST, MARKS, Mark
from inspector.gui.kit.style import scheme_for
from inspector.resources import resource

SIZES = (16, 20, 24, 32, 48, 64, 96, 128)
"""Sizes of the program icon."""
DISABLED_OPACITY = 0.35
"""Opacity of a disabled icon."""
INNER_COLOUR = "#ffffff"
"""The colour of strokes inside a filled shape."""

_R = QPalette.ColorRole
_DRAWN = {
    Severity.ERROR: ("error", Mark.ERROR),
    Severity.WARNING: ("warning", Mark.WARNING),
    Severity.INFO: ("info", Mark.INFO),
    State.SOUND: ("verified", Mark.GOOD),
    State.TORN: ("torn", Mark.WARNING),
    State.DAMAGED: ("error", Mark.ERROR),
    State.UNREADABLE: ("error", Mark.ERROR),
    Verdict.VERIFIED: ("verified", Mark.GOOD),
    Verdict.MISMATCH: ("error", Mark.ERROR),
    Verdict.DOUBTFUL: ("warning", Mark.WARNING),
    Verdict.NOT_CHECKABLE: ("not-checkable", Mark.QUIET),
    Verdict.NOT_CHECKED: ("not-checked", Mark.QUIET),
}
"""The drawing and the mark of each word; that of a warning is one word of severities and of states."""


def icon_of(word: Severity | State | Verdict) -> QIcon:
    """The icon of a severity, a state or a verdict; shapes and colours differ."""
    return icon(*_DRAWN[word])


def mark_of(word: Severity | State) -> Mark:
    """The mark whose colour a severity or a state has."""
    return _DRAWN[word][1]


def program_icon() -> QIcon:
    """The program icon, in its own colours."""
    return coloured("archive-inspector", "#1d2733")


@cache
def coloured(name: str, colour: str, sizes: tuple[int, ...] = SIZES) -> QIcon:
    """An icon in a fixed colour."""
    found = QIcon()
    for size in sizes:
        found.addPixmap(_drawn(name, colour, size))
    return found


@cache
def icon(name: str, mark: Mark | None = None) -> QIcon:
    """An icon in the colour of a mark, or of text, that follows the palette."""
    return QIcon(_Engine(name, mark))


class _Engine(QIconEngine):
    """Paints a drawing in the current size and palette, so that icons follow a change of theme by themselves."""

    _engines: list[_Engine] = []  # noqa: RUF012 - shared: QIcon keeps no reference to a Python engine

    def __init__(self, name: str, mark: Mark | None) -> None:
        super().__init__()
        self._name = name
        self._mark = mark
        self._engines.append(self)

    def clone(self) -> QIconEngine:
        return _Engine(self._name, self._mark)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        device = painter.device()
        scale = device.devicePixelRatio() if device is not None else 1.0
        painter.drawPixmap(rect.topLeft(), self.scaledPixmap(rect.size(), mode, state, scale))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float) -> QPixmap:  # noqa: ARG002
        """The pixmap for ``size`` logical pixels of ``scale`` device pixels each."""
        side, (colour, inside) = round(min(size.width(), size.height()) * scale), self._inks(mode)
        return _drawn(self._name, colour, side, inside, scale, disabled=mode is QIcon.Mode.Disabled)

    def _inks(self, mode: QIcon.Mode) -> tuple[str, str]:
        """The colour, and that of strokes inside a shape: in high contrast, that of the selected row."""
        palette, selected = QGuiApplication.palette(), mode is QIcon.Mode.Selected
        scheme = scheme_for(palette)
        sharp = selected and scheme in CONTRAST
        inside = palette.color(_R.Highlight).name() if sharp else INNER_COLOUR
        if self._mark is None or sharp or (selected and self._mark is Mark.QUIET):
            return palette.color(_R.HighlightedText if selected else _R.WindowText).name(), inside
        return MARKS[scheme][self._mark], inside


class Picture(QWidget):
    """A widget that shows an icon, ``side`` pixels wide and high."""

    def __init__(self, shown: QIcon, side: int) -> None:
        super().__init__()
        self._icon = shown
        self.setFixedSize(side, side)

    def show_icon(self, shown: QIcon) -> None:
        """Replace the icon."""
        self._icon = shown
        self.update()

    def paintEvent(self, _: QPaintEvent) -> None:
        with QPainter(self) as painter:
            self._icon.paint(painter, self.rect())


@cache
def _renderer(name: str, colour: str, inside: str) -> QSvgRenderer:
    drawing = resource("icons", f"{name}.svg").read_bytes()
    drawing = drawing.replace(b"#fff", b"inside").replace(b"#000", colour.encode()).replace(b"inside", inside.encode())
    return QSvgRenderer(QByteArray(drawing))


@cache
def _drawn(
    name: str, colour: str, side: int, inside: str = INNER_COLOUR, scale: float = 1.0, disabled: bool = False
) -> QPixmap:
    picture = QPixmap(side, side)
    picture.fill(Qt.GlobalColor.transparent)
    with QPainter(picture) as painter:
        _renderer(name, colour, inside).render(painter, QRectF(0, 0, side, side))
        if disabled:
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_DestinationIn)
            painter.fillRect(0, 0, side, side, QColor.fromRgbF(0, 0, 0, DISABLED_OPACITY))
    picture.setDevicePixelRatio(scale)
    return picture
