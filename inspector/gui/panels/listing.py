"""What panels share: their buttons, the bytes they lead to, and the panel that lists the rows of a request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QModelIndex, SignalInstance
from PySide6.QtWidgets import QPushButton, QWidget

from inspector.core.span import Spans
from inspector.gui.document.document import Document
from inspector.gui.kit.building import Part, in_column
from inspector.gui.kit.listing import ListView
from inspector.gui.kit.table_models import Column, Deliver, PagedTable
from inspector.gui.kit.widgets import Emptiable, FilterLine, push_button


class Button(NamedTuple):
    """A button: its words and tip, what it does, and whether that can be done now."""

    text: str
    tip: str
    does: Callable[[], object] | SignalInstance
    can: Callable[[], object] = lambda: True


class Buttons(dict[str, QPushButton]):
    """Buttons by their names, in the order of their bar; ``hides``: what cannot be done is not shown at all."""

    def __init__(self, rows: dict[str, Button], *, hides: bool = False) -> None:
        super().__init__({name: push_button(row.text, row.tip, row.does) for name, row in rows.items()})
        self._rows = rows
        self._hides = hides

    def renew(self) -> None:
        """Let those be pressed that can do something now."""
        for name, row in self._rows.items():
            (self[name].setVisible if self._hides else self[name].setEnabled)(bool(row.can()))


def show_bytes(document: Document, spans: Spans, origin: str) -> None:
    """Show the first of these bytes of the file, or where they would be."""
    if spans and document.size:
        start, stop = spans[0].clipped(0, document.size)
        document.go_to(0, min(start, document.size - 1), stop, origin)


class ListPanel(QWidget):
    """The rows of a request under ``columns``, or a sentence. Typing filters them where ``filters`` says by what."""

    name = ""
    filters = ""
    request: Any = None
    columns: Sequence[Column] = ()
    stretched: int | None = None
    selects_first = True
    """Whether the row that becomes current by itself is selected too."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.model = PagedTable(self.columns, self._fetch, self)
        self.table = ListView(self.model, self.name, self.line, self.stretched)
        words = f"Filter {self.name.lower()}"
        self.filter = FilterLine(self.table, words, f"{words} {self.filters}")
        if self.filters:
            self.filter.appear_on_typing(self.table)
        self.filter.setVisible(False)
        self.stack = Emptiable(self.table)
        self.setFocusProxy(self.stack)
        self.filter.applied.connect(self.refetch)
        for changed in (self.model.rowsInserted, self.model.rowsRemoved, document.statusChanged):
            changed.connect(self.refresh)
        document.rowsChanged.connect(self.model.refetch)
        self.table.selectionModel().currentRowChanged.connect(self._row_changed)
        self.table.activated.connect(self.table.each_row(self.activate))

    def lay_out(self, *above: Part, foot: Part | None = None) -> None:
        """The rows and their filter below ``above`` and over ``foot``."""
        in_column(*above, self.filter, (self.stack, 1), *(() if foot is None else (foot,)), on=self)

    # ---- what a list says ------------------------------------------------------------------------------------------

    def arguments(self) -> tuple[Any, ...]:
        """What the request is asked besides the rows that are wanted."""
        return ()

    def line(self, row: Any) -> str:
        """A row for the clipboard."""
        return "\t".join(each.text(row) for each in self.columns)

    def why_empty(self) -> str:
        """Why there is no row."""
        return ""

    def select(self, row: Any) -> None:
        """Do what is done when a row becomes the current one."""

    def activate(self, row: Any) -> None:
        """Do what Enter and a double-click do."""
        self.select(row)

    # ---- what all lists do -----------------------------------------------------------------------------------------

    def _fetch(self, first: int, count: int, deliver: Deliver) -> None:
        self._document.client.ask(self.request, first, count, *self.arguments()).then(deliver)

    def refetch(self, *_: object) -> None:
        """Ask for the rows anew, as other ones are wanted."""
        self.model.refetch()
        self.refresh()

    def refresh(self, *_: object) -> None:
        """Show the rows, or why there are none."""
        if self.model.rowCount():
            self.stack.show_view(self.table)
        else:
            self.stack.show_sentence(self.why_empty())

    def _row_changed(self, index: QModelIndex, before: QModelIndex) -> None:
        row = self.model.row(index)
        if row is not None and (before.isValid() or self.selects_first):
            self.select(row)
