"""Icons: drawn once in black, coloured as the palette says."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer

from inspector.core.finding import Severity
from inspector.core.verdict import State, Verdict
from inspector.resources import resource

SIZES = (16, 20, 24, 32, 48)
LARGE = (*SIZES, 64)
FAINT = 0.35
"""Opacity of an icon of what cannot be done now."""
SEVERITY_COLOUR = {Severity.ERROR: "#C8432B", Severity.WARNING: "#C98A00", Severity.INFO: "#2F7FC1"}

_GOOD, _QUIET = "#1E8449", "#7A828C"
_STATES = {
    State.SOUND: ("verified", _GOOD),
    State.WARNING: ("warning", SEVERITY_COLOUR[Severity.WARNING]),
    State.TORN: ("torn", SEVERITY_COLOUR[Severity.WARNING]),
    State.DAMAGED: ("error", SEVERITY_COLOUR[Severity.ERROR]),
    State.UNREADABLE: ("error", SEVERITY_COLOUR[Severity.ERROR]),
}
_VERDICTS = {
    Verdict.VERIFIED: ("verified", _GOOD),
    Verdict.MISMATCH: ("error", SEVERITY_COLOUR[Severity.ERROR]),
    Verdict.NOT_CHECKABLE: ("not-checkable", _QUIET),
    Verdict.NOT_CHECKED: ("not-checked", _QUIET),
}


def icon(name: str) -> QIcon:
    """The icon of that name in the colour of text."""
    return coloured(name, QGuiApplication.palette().color(QPalette.ColorRole.WindowText).name())


def severity_icon(severity: Severity) -> QIcon:
    """The icon of a severity: another shape and another colour for each."""
    return coloured(severity.value, SEVERITY_COLOUR[severity])


def state_icon(state: State) -> QIcon:
    """The icon of a state."""
    return coloured(*_STATES[state])


def verdict_icon(verdict: Verdict) -> QIcon:
    """The icon of a verdict: another shape for each."""
    return coloured(*_VERDICTS[verdict])


def program_icon() -> QIcon:
    """The icon of the program itself, in its own colours."""
    return coloured("archive-inspector", "#1d2733", LARGE)


@cache
def coloured(name: str, colour: str, sizes: tuple[int, ...] = SIZES) -> QIcon:
    """The icon of that name in a colour."""
    drawing = resource("icons", f"{name}.svg").read_bytes().replace(b"#000", colour.encode())
    renderer = QSvgRenderer(QByteArray(drawing))
    found = QIcon()
    for size in sizes:
        picture = _drawn(renderer, size)
        found.addPixmap(picture)
        found.addPixmap(_faint(picture), QIcon.Mode.Disabled)
        found.addPixmap(picture, QIcon.Mode.Selected)
    return found


def _drawn(renderer: QSvgRenderer, size: int) -> QPixmap:
    picture = _empty(QSize(size, size))
    painter = QPainter(picture)
    try:
        renderer.render(painter, QRectF(0, 0, size, size))
    finally:
        painter.end()
    return picture


def _faint(picture: QPixmap) -> QPixmap:
    """The same picture, fainter: drawing it again from its description would take much longer."""
    fainter = _empty(picture.size())
    painter = QPainter(fainter)
    try:
        painter.setOpacity(FAINT)
        painter.drawPixmap(0, 0, picture)
    finally:
        painter.end()
    return fainter


def _empty(size: QSize) -> QPixmap:
    picture = QPixmap(size)
    picture.fill(QColor(Qt.GlobalColor.transparent))
    return picture
