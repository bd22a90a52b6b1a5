"""The steps of a reader as a tree: a step that is a part of another stands beneath it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field
from PySide6.QtCore import QModelIndex, QObject, Qt

from inspector.core.finding import Severity
from inspector.core.numbers import grouped, hexadecimal
from inspector.core.reader import Step
from inspector.core.span import Span
from inspector.gui.kit.icons import severity_icon
from inspector.gui.kit.table_models import Column, cell
from inspector.gui.kit.tree_model import NOWHERE, Index, NumberedTree


def value_text(value: object) -> str:
    """The value of a step."""
    return "" if value is None else grouped(value) if isinstance(value, int) else str(value)


def span_text(span: Span | None) -> str:
    """``0x3E7..0x3EF``."""
    return "" if span is None else f"{hexadecimal(span.start)}..{hexadecimal(span.stop)}"


def overlap(some: Span | None, other: Span) -> bool:
    """Whether two spans share a byte."""
    return some is not None and max(some.start, other.start) < min(some.stop, other.stop)


COLUMNS = (
    Column(
        "Step",
        lambda step: step.action if step.folded else f"{step.n:,}  {step.action}{'' if step.ok else ' ✗'}",
        270,
        icon=lambda step: None if step.ok else severity_icon(Severity.ERROR),
    ),
    Column("Value", lambda step: value_text(step.value), 210),
    Column("Decision", lambda step: step.decision, 180),
    Column("Bytes", lambda step: span_text(step.span), 110),
)
STEP, VALUE, DECISION, BYTES = range(len(COLUMNS))


class _Node(Struct):
    """A step, or the root, whose depth is that of none."""

    parent: int
    position: int
    depth: int
    children: list[int] = field(default_factory=list)


class StepsModel(NumberedTree[_Node]):
    """A tree of steps. Positions count all steps in order; a node's number is one more."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.steps: Sequence[Step] = ()
        self._nodes = [_Node(-1, 0, -1)]

    def show_steps(self, steps: Sequence[Step]) -> None:
        """Replace the steps."""
        self.beginResetModel()
        self.steps = steps
        self._nodes = [_Node(-1, 0, -1)]
        above = 0
        for number, step in enumerate(steps, 1):
            while self._nodes[above].depth >= step.depth:
                above = self._nodes[above].parent
            siblings = self._nodes[above].children
            self._nodes.append(_Node(above, len(siblings), step.depth))
            siblings.append(number)
            above = number
        self.endResetModel()

    def index_of(self, position: int) -> QModelIndex:
        """The index of a step."""
        return self._index(position + 1) if 0 <= position < len(self.steps) else QModelIndex()

    def position(self, index: Index) -> int:
        """The position of the step at an index, -1 for none."""
        return index.internalId() - 1 if index.isValid() else -1

    # ---- overrides ---------------------------------------------------------------------------------------------

    def columnCount(self, parent: Index = NOWHERE) -> int:  # noqa: ARG002 - the same everywhere
        return len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        is_title = orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole
        return COLUMNS[section].title if is_title else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        return cell(COLUMNS[index.column()], self.steps[self.position(index)], role) if index.isValid() else None
