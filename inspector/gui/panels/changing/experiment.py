"""The steps of an experiment, and the buttons to change, save and leave it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QWidget

from inspector.core.span import Span
from inspector.gui.document.document import Document
from inspector.gui.document.trials import Experimenting
from inspector.gui.kit.building import in_column
from inspector.gui.kit.listing import ListView, Rows
from inspector.gui.kit.style import GRID
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.widgets import Emptiable, FlowLayout, push_button, select_row

ORIGIN = "experiment"
NOTHING = (
    "An experiment changes bytes as they are shown and never the file. Begin one with Archive > Experiment, or choose "
    "a change from the menu of the bytes."
)
NO_STEP = (
    "No step yet: select bytes, then choose a change from their menu or from Archive > Experiment. "
    "Everything that is shown follows."
)


COLUMNS = (Column("Step", lambda row: f"{row[0]:,}", 60), Column("What it does", lambda row: str(row[1])))


class ExperimentPanel(QWidget):
    """Shows the steps of an experiment; the last two arguments ask for a damage, and for the file to save as."""

    def __init__(
        self,
        document: Document,
        experiment: Experimenting,
        ask_damage: Callable[[], object],
        ask_save: Callable[[], object],
    ) -> None:
        super().__init__()
        self._document = document
        self._experiment = experiment
        self.model = Rows(COLUMNS, self)
        self.table = ListView(self.model, "Steps of the experiment")
        self.undo = push_button("Undo", "Undo the last change of the steps (Ctrl+Z)", experiment.undo)
        self.redo = push_button("Redo", "Redo the change undone last (Ctrl+Y)", experiment.redo)
        tip = "Take the selected step out; those after it apply to what is left (Del)"
        self.remove = push_button("Remove", tip, self.remove_selected)
        self.damage = push_button("Damage…", "Damage it as a disk or a transfer does", ask_damage)
        self.save = push_button("Save as New File…", "Write what the steps leave to a new file", ask_save)
        self.leave = push_button("Leave Experiment", "Drop the steps and show the archive as it is", experiment.leave)
        self._stack = Emptiable(self.table)
        bar = FlowLayout(GRID, GRID)
        bar.add(self.undo, self.redo, self.remove, self.damage, self.save, self.leave)
        in_column(bar, (self._stack, 1), on=self, edge=(2 * GRID, GRID, 2 * GRID, 0), gap=GRID)
        self.setFocusProxy(self._stack)
        experiment.changed.connect(self._refresh)
        self.table.clicked.connect(self._show_bytes)
        self.table.selectionModel().currentChanged.connect(lambda *_: self._enable())
        delete = self.table.addAction("Remove")
        delete.setShortcut(Qt.Key.Key_Delete)
        delete.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        delete.triggered.connect(self.remove_selected)
        self._refresh()

    def _refresh(self) -> None:
        experiment = self._experiment
        row = self.table.currentIndex().row()
        steps = tuple(enumerate(experiment.steps, 1))
        if self.model.rows != steps:
            more = len(steps) > self.model.rowCount()
            self.model.show(steps)
            last = len(experiment.steps) - 1
            select_row(self.table, self.model.index(last if more else min(max(row, 0), last), 0), scroll=True)
        if experiment.steps:
            self._stack.show_view(self.table)
        else:
            self._stack.show_sentence(NO_STEP if experiment.is_on else NOTHING)
        self._enable()

    def _enable(self) -> None:
        experiment = self._experiment
        self.undo.setEnabled(experiment.history.can_undo)
        self.redo.setEnabled(experiment.history.can_redo)
        self.remove.setEnabled(self.table.currentIndex().isValid())
        self.save.setEnabled(bool(experiment.steps))
        self.leave.setEnabled(experiment.is_on)

    def remove_selected(self) -> None:
        """Take the selected step out."""
        self._experiment.remove(self.table.currentIndex().row())

    def _show_bytes(self, index: QModelIndex) -> None:
        """Show the bytes a step left; later steps may have moved them."""
        view, size = self._experiment.view, self._document.size
        spans = view.places[index.row()] if view is not None and index.row() < len(view.places) else ()
        if spans and size:
            start, stop = spans[0].clipped(0, size)
            found = Span(min(start, size - 1), stop)
            self._document.go_to(0, found.start, max(found.start, found.stop), ORIGIN)
