"""The legend of the colours in the hex view: what occurs, how often, and the way to each of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from msgspec import Struct
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from inspector.core.kinds import Family, Kind, Role, Shape, family_bit, family_of, role_bit, role_of
from inspector.core.numbers import grouped
from inspector.core.verdict import Verdict
from inspector.drawing.byte_class import ByteClass
from inspector.drawing.colouring import ColourBy, Paint, fill_of, hatched_role, hue_of, paint_of_look, roles_in
from inspector.drawing.palette import COLOURS, MARKS, Colours, Mark
from inspector.gui.hex.beside.strip import VERDICT_LEGEND, fill_class, fill_verdict, verdicts_in
from inspector.gui.hex.painting import UNDERLINE_HEIGHT, hatching, unread_brushes
from inspector.gui.kit.style import scheme_for
from inspector.operations.protocol.views import Judged

_SWATCH = 13
_LABEL_GAP = 5
"""Pixels between a swatch and its label."""
_ENTRY_GAP = 14
"""Pixels between two entries."""
_MARGIN = 8
ALL_BITS = -1
"""The bits of an entry that says nothing of what the map shows."""
DAMAGED = "damaged"
TORN = "torn"
_EDIT_LABEL = "changed, not written"
NEVER_READ = "never read by the reader"
_IN_USE, _UNUSED = "{} in use", "{} unused"


class LegendEntry(Struct, frozen=True):
    """One entry. ``lit`` are the backgrounds it explains (see ``Paint.what``) and ``bits`` what they are in the map.

    ``kind`` and ``unused`` are the structures that a click goes to, None if there are none to go to.
    """

    label: str
    paint: Paint | None = None
    lit: frozenset[Hashable] = frozenset()
    bits: int = 0
    kind: Kind | None = None
    unused: bool = False
    mark: Judged | ByteClass | str | int = ""


def structure_entries(counts: Mapping[tuple[Kind, bool], int]) -> list[LegendEntry]:
    """An entry for each kind of structure, with its number, in the given order."""
    found = []
    for (kind, unused), number in counts.items():
        family, what = family_of(kind), (kind, unused)
        bits = role_bit(role_of(kind)) if kind.shape is Shape.UNCLAIMED else 0 if family is None else family_bit(family)
        label = kind.label
        if (kind, not unused) in counts:
            label = (_UNUSED if unused else _IN_USE).format(label)
        paint = Paint(ColourBy.STRUCTURE, what, 0 if unused else 2)
        found.append(LegendEntry(f"{label} · {grouped(number)}", paint, frozenset((what,)), bits, kind, unused))
    return found


def role_entries(role_set: int) -> list[LegendEntry]:
    """An entry for each role in a set."""
    return [
        LegendEntry(role.value, Paint(ColourBy.KIND, role, 0), frozenset((role,)), role_bit(role))
        for role in roles_in(role_set)
    ]


def verdict_entries(counts: Mapping[Verdict, int]) -> list[LegendEntry]:
    """An entry for each verdict that a member has."""
    return [
        LegendEntry(
            f"{verdict.value} · {grouped(number)}",
            Paint(ColourBy.VERDICT, verdict, 2),
            frozenset((verdict,)),
            family_bit(Family.CONTENT) | role_bit(Role.DATA),
        )
        for verdict, number in counts.items()
        if number
    ]


def class_entries(shares: Mapping[ByteClass, float]) -> list[LegendEntry]:
    """An entry for each look that bytes have, with its share."""
    return [
        LegendEntry(
            f"{each.value} · {max(share, 0.001):.1%}", paint_of_look(each), frozenset((each,)), ALL_BITS, mark=each
        )
        for each, share in shares.items()
    ]


class Legend(QWidget):
    """Swatches with labels, in as many lines as the width needs.

    Signals:
        litChanged(object entry): light up what an entry explains, nothing in particular with None.
        stepRequested(object entry, bool backwards): go to the next or the previous of an entry.
    """

    litChanged = Signal(object)
    stepRequested = Signal(object, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: list[LegendEntry] = []
        self._current: int | None = None
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName("Legend")
        self.setToolTip(
            "Point at an entry to light its bytes up. Click goes to the next one, Shift+click to the one before."
        )

    def setEntries(
        self,
        entries: Iterable[LegendEntry],
        damage: str = "",
        judged: int = 0,
        edited: bool = False,
        unread: bool = False,
    ) -> None:
        """Show entries; one for damage, edits and bytes never read, if there are any; and those of a verdict set."""
        marks = ((damage, bool(damage)), (_EDIT_LABEL, edited), (NEVER_READ, unread))
        shown = [
            *entries,
            *(LegendEntry(mark, mark=mark) for mark, is_there in marks if is_there),
            *(LegendEntry(VERDICT_LEGEND[each], mark=each) for each in verdicts_in(judged) if each in VERDICT_LEGEND),
        ]
        if shown != self._entries:
            self._entries = shown
            self._light(None)
            self.setAccessibleDescription(", ".join(self.labels()))
            self.updateGeometry()
            self.update()

    def labels(self) -> list[str]:
        """The labels of the entries."""
        return [entry.label for entry in self._entries]

    def place_of(self, label: str) -> QRect:
        """The rectangle of the entry with this label."""
        return self._rects(self.width())[self.labels().index(label)]

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

    # ---- one entry ---------------------------------------------------------------------------------------------

    def _entry_at(self, place: QPoint) -> int | None:
        return next((at for at, rect in enumerate(self._rects(self.width())) if rect.contains(place)), None)

    def _light(self, current: int | None) -> None:
        """Light up the entry at a position, or none."""
        if current != self._current:
            self._current = current
            entry = self._entries[current] if current is not None else None
            self.litChanged.emit(entry if entry is not None and entry.lit else None)
            self.update()

    def _step(self, backwards: bool) -> None:
        entry = self._entries[self._current] if self._current is not None else None
        if entry is not None and entry.kind is not None:
            self.stepRequested.emit(entry, backwards)

    # ---- Qt overrides ------------------------------------------------------------------------------------------

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

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = self._entry_at(event.position().toPoint())
        self._light(at)
        can_step = at is not None and self._entries[at].kind is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if can_step else Qt.CursorShape.ArrowCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._light(self._entry_at(event.position().toPoint()))
            self._step(bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._light(None)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._light(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right choose an entry, Return goes to the next of it, Shift+Return to the one before."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is not None and self._entries:
            before = self._current if self._current is not None else -1 if step > 0 else 0
            self._light((before + step) % len(self._entries))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._step(bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        colours = COLOURS[scheme_for(self.palette())]
        with QPainter(self) as painter:
            for at, (entry, rect) in enumerate(zip(self._entries, self._rects(self.width()), strict=True)):
                if at == self._current:
                    painter.setPen(QColor(colours.outline))
                    painter.drawRoundedRect(rect.adjusted(-3, 0, 3, -1), 3, 3)
                top = rect.top() + (rect.height() - _SWATCH) // 2
                self.paint_swatch(painter, QRect(rect.left(), top, _SWATCH, _SWATCH), entry, colours)
                painter.setPen(self.palette().windowText().color())
                box = rect.adjusted(_SWATCH + _LABEL_GAP, 0, 0, 0)
                painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), entry.label)

    def paint_swatch(self, painter: QPainter, rect: QRect, entry: LegendEntry, colours: Colours) -> None:
        """Paint what an entry looks like."""
        painter.setBrush(Qt.BrushStyle.NoBrush)
        frame, width, mark = QColor(colours.quiet), 1, entry.mark
        if isinstance(mark, Judged):
            fill_verdict(painter, colours, rect, mark)
        elif isinstance(mark, ByteClass):
            fill_class(painter, colours, rect, mark)
        elif entry.paint is not None:
            paint = entry.paint
            painter.fillRect(rect, QColor(fill_of(paint, colours)))
            # Both shades of what takes turns side by side.
            turn = paint._replace(shade=1 if paint.by is ColourBy.KIND else paint.shade + 2 if paint.shade else 1)
            painter.fillRect(rect.adjusted(rect.width() // 2, 0, 0, 0), QColor(fill_of(turn, colours)))
            painter.fillRect(rect, hatching(hatched_role(paint), colours))
            if (hue := hue_of(paint)) is not None and paint.by is not ColourBy.KIND:
                frame = QColor(colours.tones[hue].line)
        else:
            painter.fillRect(rect, QColor(colours.base))
            if mark in (DAMAGED, TORN):
                scheme = scheme_for(self.palette())
                frame, width = QColor(MARKS[scheme][Mark.WARNING] if mark == TORN else colours.damage), 2
            elif mark == NEVER_READ:
                for brush in unread_brushes(colours):
                    painter.fillRect(rect, brush)
            else:
                painter.fillRect(rect.adjusted(1, rect.height() - UNDERLINE_HEIGHT - 1, -1, -1), QColor(colours.text))
        painter.setPen(QPen(frame, width))
        painter.drawRect(rect.adjusted(width - 1, width - 1, -1, -1))
