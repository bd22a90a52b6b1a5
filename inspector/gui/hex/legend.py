"""What the colours of the hex view mean, in words."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from inspector.core.kinds import ROLES, Role
from inspector.gui.hex.file_map import VERDICT_LEGEND, fill_judged, judged_in, roles_in
from inspector.gui.hex.painting import UNDER, hatching, scheme_for
from inspector.gui.kit.palette import COLOURS, Colours
from inspector.operations.protocol.views import Judged

_SWATCH = 13
_BETWEEN = 5
"""Pixels between a swatch and its word."""
_APART = 14
"""Pixels between two entries."""
_MARGIN = 8
_DAMAGED = "damaged"
_EDITED = "changed, not written"
_Entry = Role | Judged | str


class Legend(QWidget):
    """Swatches with words, in as many lines as the width needs."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: list[_Entry] = [*ROLES, _DAMAGED]
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Legend")
        self._tell()

    def setRoles(self, role_set: int, damaged: bool = False, judged: int = 0, edited: bool = False) -> None:
        """Explain only the roles of a set of roles, the marks of damage and of edits if there are any, and verdicts."""
        verdicts = [each for each in judged_in(judged) if each in VERDICT_LEGEND]
        marks = [mark for mark, there in ((_DAMAGED, damaged), (_EDITED, edited)) if there]
        self._entries = [*roles_in(role_set), *marks, *verdicts]
        self._tell()
        self.updateGeometry()
        self.update()

    def words(self) -> list[str]:
        """The words that are shown."""
        return [_called(entry) for entry in self._entries]

    def _tell(self) -> None:
        self.setAccessibleDescription(", ".join(self.words()))

    def _places(self, width: int) -> list[QRect]:
        """Where the entries stand in a width."""
        metrics = self.fontMetrics()
        height = max(_SWATCH, metrics.height()) + 4
        at = QPoint(_MARGIN, 3)
        found: list[QRect] = []
        for text in self.words():
            across = _SWATCH + _BETWEEN + metrics.horizontalAdvance(text)
            if at.x() > _MARGIN and at.x() + across > width - _MARGIN:
                at = QPoint(_MARGIN, at.y() + height)
            found.append(QRect(at.x(), at.y(), across, height))
            at.setX(at.x() + across + _APART)
        return found

    # ---- Qt overrides ------------------------------------------------------------------------------------------

    def hasHeightForWidth(self) -> bool:
        """Qt override."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Qt override."""
        places = self._places(width)
        return places[-1].bottom() + 4 if places else 0

    def sizeHint(self) -> QSize:
        """Qt override."""
        return QSize(480, self.heightForWidth(max(self.width(), 480)))

    def minimumSizeHint(self) -> QSize:
        """Qt override: as narrow as the longest entry."""
        widest = max((place.width() for place in self._places(1)), default=0) + 2 * _MARGIN
        return QSize(widest, self.heightForWidth(max(self.width(), widest)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt override: another width may need another height."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def changeEvent(self, event: QEvent) -> None:
        """Qt override: colours follow the palette."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Qt override."""
        colours = COLOURS[scheme_for(self.palette())]
        painter = QPainter(self)
        try:
            entries = zip(self._entries, self.words(), self._places(self.width()), strict=True)
            for entry, text, place in entries:
                top = place.top() + (place.height() - _SWATCH) // 2
                _swatch(painter, QRect(place.left(), top, _SWATCH, _SWATCH), entry, colours)
                painter.setPen(self.palette().windowText().color())
                box = place.adjusted(_SWATCH + _BETWEEN, 0, 0, 0)
                painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)
        finally:
            painter.end()


def _called(entry: _Entry) -> str:
    if isinstance(entry, Role):
        return entry.value
    return VERDICT_LEGEND[entry] if isinstance(entry, Judged) else entry


def _swatch(painter: QPainter, place: QRect, entry: _Entry, colours: Colours) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if isinstance(entry, Judged):
        fill_judged(painter, place, entry, colours)
        painter.setPen(QColor(colours.quiet))
        painter.drawRect(place.adjusted(0, 0, -1, -1))
        return
    if not isinstance(entry, Role):
        _mark(painter, place, entry, colours)
        return
    half = place.width() // 2
    painter.fillRect(place, QColor(colours.fill(entry)))
    # Both shades of member data, side by side.
    painter.fillRect(place.adjusted(half, 0, 0, 0), QColor(colours.fill(entry, 1)))
    strokes = hatching(entry, colours)
    if strokes is not None:
        painter.fillRect(place, strokes)
    painter.setPen(QColor(colours.quiet))
    painter.drawRect(place.adjusted(0, 0, -1, -1))


def _mark(painter: QPainter, place: QRect, entry: str, colours: Colours) -> None:
    painter.fillRect(place, QColor(colours.base))
    if entry == _DAMAGED:
        painter.setPen(QPen(QColor(colours.damage), 2))
        painter.drawRect(place.adjusted(1, 1, -1, -1))
        return
    painter.fillRect(place.adjusted(1, place.height() - UNDER - 1, -1, -1), QColor(colours.text))
    painter.setPen(QColor(colours.quiet))
    painter.drawRect(place.adjusted(0, 0, -1, -1))
