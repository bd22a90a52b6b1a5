"""Which members are selected in a view of them."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QItemSelectionRange, QModelIndex
from PySide6.QtWidgets import QAbstractItemView

from inspector.gui.kit.model_paged_tree import PagedTree
from inspector.operations.protocol.views import Chosen, TreeRow


def chosen_in(view: QAbstractItemView) -> Chosen:
    """What is selected in a table or tree of members, whether its rows have been fetched or not."""
    model, selection = view.model(), view.selectionModel().selection()
    ranges = [selection.at(at) for at in range(selection.count())]
    if not isinstance(model, PagedTree):
        return Chosen(rows=tuple((each.top(), each.height()) for each in ranges))
    members: list[int] = []
    nodes: list[int] = []
    stretches: list[tuple[int, int, int]] = []
    for index in _first_cells(model, ranges):
        row, stretch = model.row(index), model.stretch(index)
        if stretch is not None:
            stretches.append(stretch)
        elif isinstance(row, TreeRow) and row.node >= 0:
            nodes.append(row.node)
        elif isinstance(row, TreeRow) and row.member is not None:
            members.append(row.member.index)
    return Chosen(tuple(members), (), tuple(nodes), tuple(stretches))


def _first_cells(model: PagedTree, ranges: list[QItemSelectionRange]) -> Iterator[QModelIndex]:
    for each in ranges:
        for row in range(each.top(), each.bottom() + 1):
            yield model.index(row, 0, each.parent())
