"""The legend of the colours in the hex view."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from inspector.core.kinds import ROLES, Role
from inspector.gui.hex.file_map import VERDICT_LEGEND, fill_verdict, roles_in, verdicts_in
from inspector.gui.hex.painting import UNDERLINE_HEIGHT, hatching, scheme_for
from inspector.gui.kit.palette import COLOURS, Colours
from inspector.operations.protocol.views import Judged

_SWATCH = 13
_LABEL_GAP = 5
"""Pixels between a swatch and its label."""
_ENTRY_GAP = 14
"""Pixels between two entries."""
_MARGIN = 8
_DAMAGE_LABEL = "damaged"
_EDIT_LABEL = "changed, not written"
_Entry = Role | Judged | str


class Legend(QWidget):
    """Swatches with labels, in as many lines as the width needs."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: list[_Entry] = [*ROLES, _DAMAGE_LABEL]
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Legend")
        self._update_description()

    def setRoles(self, role_set: int, damaged: bool = False, judged: int = 0, edited: bool = False) -> None:
        """Show entries for a role set, for damage and edits if there are any, and for a verdict set."""
        verdicts = [verdict for verdict in verdicts_in(judged) if verdict in VERDICT_LEGEND]
        marks = [mark for mark, there in ((_DAMAGE_LABEL, damaged), (_EDIT_LABEL, edited)) if there]
        self._entries = [*roles_in(role_set), *marks, *verdicts]
        self._update_description()
        self.updateGeometry()
        self.update()

    def labels(self) -> list[str]:
        """The labels of the entries."""
        return [_label_of(entry) for entry in self._entries]

    def _update_description(self) -> None:
        self.setAccessibleDescription(", ".join(self.labels()))

    def _rects(self, width: int) -> list[QRect]:
        """The rectangles of the entries at a width."""
        metrics = self.fontMetrics()
        height = max(_SWATCH, metrics.height()) + 4
        at = QPoint(_MARGIN, 3)
        found: list[QRect] = []
        for text in self.labels():
            entry_width = _SWATCH + _LABEL_GAP + metrics.horizontalAdvance(text)
            if at.x() > _MARGIN and at.x() + entry_width > width - _MARGIN:
                at = QPoint(_MARGIN, at.y() + height)
            found.append(QRect(at.x(), at.y(), entry_width, height))
            at.setX(at.x() + entry_width + _ENTRY_GAP)
        return found

    # ---- Qt overrides ------------------------------------------------------------------------------------------

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        places = self._rects(width)
        return places[-1].bottom() + 4 if places else 0

    def sizeHint(self) -> QSize:
        return QSize(480, self.heightForWidth(max(self.width(), 480)))

    def minimumSizeHint(self) -> QSize:
        """As narrow as the longest entry."""
        widest = max((rect.width() for rect in self._rects(1)), default=0) + 2 * _MARGIN
        return QSize(widest, self.heightForWidth(max(self.width(), widest)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The height may depend on the width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the colours of the palette."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        colours = COLOURS[scheme_for(self.palette())]
        painter = QPainter(self)
        try:
            entries = zip(self._entries, self.labels(), self._rects(self.width()), strict=True)
            for entry, text, rect in entries:
                top = rect.top() + (rect.height() - _SWATCH) // 2
                _swatch(painter, QRect(rect.left(), top, _SWATCH, _SWATCH), entry, colours)
                painter.setPen(self.palette().windowText().color())
                box = rect.adjusted(_SWATCH + _LABEL_GAP, 0, 0, 0)
                painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)
        finally:
            painter.end()


def _label_of(entry: _Entry) -> str:
    if isinstance(entry, Role):
        return entry.value
    return VERDICT_LEGEND[entry] if isinstance(entry, Judged) else entry


def _swatch(painter: QPainter, rect: QRect, entry: _Entry, colours: Colours) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if isinstance(entry, Judged):
        fill_verdict(painter, rect, entry, colours)
        painter.setPen(QColor(colours.quiet))
        painter.drawRect(rect.adjusted(0, 0, -1, -1))
        return
    if not isinstance(entry, Role):
        _mark(painter, rect, entry, colours)
        return
    half = rect.width() // 2
    painter.fillRect(rect, QColor(colours.fill(entry)))
    # Both shades of member data side by side.
    painter.fillRect(rect.adjusted(half, 0, 0, 0), QColor(colours.fill(entry, 1)))
    strokes = hatching(entry, colours)
    if strokes is not None:
        painter.fillRect(rect, strokes)
    painter.setPen(QColor(colours.quiet))
    painter.drawRect(rect.adjusted(0, 0, -1, -1))


def _mark(painter: QPainter, rect: QRect, entry: str, colours: Colours) -> None:
    painter.fillRect(rect, QColor(colours.base))
    if entry == _DAMAGE_LABEL:
        painter.setPen(QPen(QColor(colours.damage), 2))
        painter.drawRect(rect.adjusted(1, 1, -1, -1))
        return
    painter.fillRect(rect.adjusted(1, rect.height() - UNDERLINE_HEIGHT - 1, -1, -1), QColor(colours.text))
    painter.setPen(QColor(colours.quiet))
    painter.drawRect(rect.adjusted(0, 0, -1, -1))
