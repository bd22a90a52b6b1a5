"""The steps of a reader as a tree: a step that is a part of another stands beneath it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from inspector.core.finding import Severity
from inspector.core.numbers import grouped, hexadecimal
from inspector.core.reader import Step
from inspector.core.span import Span
from inspector.gui.kit.icons import severity_icon
from inspector.gui.kit.text import plain, short

TITLES = ("Step", "Value", "Decision", "Bytes")
STEP, VALUE, DECISION, BYTES = range(len(TITLES))
Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
_ROOT = -1


def value_text(value: object) -> str:
    """The value of a step."""
    return "" if value is None else grouped(value) if isinstance(value, int) else str(value)


def span_text(span: Span | None) -> str:
    """``0x3E7..0x3EF``."""
    return "" if span is None else f"{hexadecimal(span.start)}..{hexadecimal(span.stop)}"


def overlap(some: Span | None, other: Span) -> bool:
    """Whether two spans share a byte."""
    return some is not None and max(some.start, other.start) < min(some.stop, other.stop)


class StepsModel(QAbstractItemModel):
    """A tree of steps. Positions count all steps in order; indexes hold them."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.steps: Sequence[Step] = ()
        self._parents: list[int] = []
        self._rows: list[int] = []
        self._children: dict[int, list[int]] = {}

    def show_steps(self, steps: Sequence[Step]) -> None:
        """Replace the steps."""
        self.beginResetModel()
        self.steps = steps
        self._parents, self._rows, self._children = [], [], {}
        around: list[tuple[int, int]] = []  # the depth and position of each step that the next may be in
        for position, step in enumerate(steps):
            while around and around[-1][0] >= step.depth:
                around.pop()
            above = around[-1][1] if around else _ROOT
            siblings = self._children.setdefault(above, [])
            self._parents.append(above)
            self._rows.append(len(siblings))
            siblings.append(position)
            around.append((step.depth, position))
        self.endResetModel()

    def index_of(self, position: int) -> QModelIndex:
        """The index of a step."""
        return self.createIndex(self._rows[position], 0, position) if 0 <= position < len(self.steps) else NOWHERE

    def position(self, index: Index) -> int:
        """The position of the step at an index, -1 for none."""
        return index.internalId() if index.isValid() else _ROOT

    def positions(self, first: int = 0) -> Iterator[tuple[int, Step]]:
        """The steps from a position on."""
        for position in range(first, len(self.steps)):
            yield position, self.steps[position]

    # ---- overrides ---------------------------------------------------------------------------------------------

    def index(self, row: int, column: int, parent: Index = NOWHERE) -> QModelIndex:
        children = self._children.get(self.position(parent), [])
        if not (0 <= row < len(children) and 0 <= column < len(TITLES)):
            return QModelIndex()
        return self.createIndex(row, column, children[row])

    def parent(self, index: Index = NOWHERE) -> Any:  # Qt has another method of this name, without arguments
        above = self._parents[index.internalId()] if index.isValid() else _ROOT
        return QModelIndex() if above == _ROOT else self.createIndex(self._rows[above], 0, above)

    def rowCount(self, parent: Index = NOWHERE) -> int:
        if parent.isValid() and parent.column() > 0:
            return 0
        return len(self._children.get(self.position(parent), ()))

    def columnCount(self, parent: Index = NOWHERE) -> int:  # noqa: ARG002 - the same everywhere
        return len(TITLES)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return TITLES[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        step = self.steps[index.internalId()]
        if role == Qt.ItemDataRole.DisplayRole:
            return short(_cell(step, index.column()))
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(short(_cell(step, index.column())))
        if role == Qt.ItemDataRole.DecorationRole and index.column() == STEP and not step.ok:
            return severity_icon(Severity.ERROR)
        return None


def _cell(step: Step, column: int) -> str:
    if column == STEP:
        return step.action if step.folded else f"{step.n:,}  {step.action}{'' if step.ok else ' ✗'}"
    return {VALUE: value_text(step.value), DECISION: step.decision, BYTES: span_text(step.span)}[column]
