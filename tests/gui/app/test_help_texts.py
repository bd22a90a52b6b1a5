"""Every panel, column, action and kind of field is explained."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QTableView, QTreeView, QWidget

from inspector.core.kinds import declared_kinds
from inspector.gui.app.actions.actions import ACTIONS
from inspector.gui.app.window import Window
from inspector.gui.kit.help_texts import COLUMNS, PANEL_LABELS, PANELS
from tests.gui.conftest import Show, every_panel, press

ROOT = Path(__file__).parents[3] / "resources" / "samples"


def views(root: QWidget) -> Iterator[QAbstractItemView]:
    for view in (*root.findChildren(QTreeView), *root.findChildren(QTableView)):
        if view.model() is not None and view.model().objectName() and not isinstance(view.model(), QStandardItemModel):
            yield view


def test_every_column_of_every_view_is_explained(show: Show, window: Window) -> None:
    every_panel(show(ROOT / "weather"))
    for name in ("new_archive", "new_audit", "show_keys"):
        press(window, name)
    seen = set()
    for view in views(window):
        model = view.model()
        seen.add(view.accessibleName())
        for column in range(model.columnCount()):
            title, tip = (
                model.headerData(column, Qt.Orientation.Horizontal, role)
                for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
            )
            where = f"COLUMNS[{view.accessibleName()!r}] of inspector/gui/kit/help_texts.py"
            assert tip, f"{where} does not say what {title!r} holds."
    assert seen >= set(COLUMNS)


def test_every_action_panel_and_kind_of_field_says_what_it_is(window: Window) -> None:
    assert [action.name for action in ACTIONS if not window.actions_[action.name].toolTip()] == []
    assert set(PANELS) == set(PANEL_LABELS)
    assert all(text.endswith(".") for text in (*(kind.meaning for kind in declared_kinds()), *PANELS.values()))
