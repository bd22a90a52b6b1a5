"""The Diagram panel: the shape of the archive, in step with the selected bytes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QWidget

from inspector.core.numbers import count
from inspector.drawing.diagram import Diagram
from inspector.gui.document.document import Document, Selection
from inspector.gui.kit.building import LINE, in_column, scrolling
from inspector.gui.kit.style import secondary
from inspector.gui.kit.text import loading_text
from inspector.gui.kit.widgets import ElidedLabel, Emptiable, debounce
from inspector.gui.panels.diagram.view import DiagramView
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import LayerKind, Stage

ORIGIN = "diagram"
DELAY_MS = 150
"""Milliseconds after the last change of the archive before the diagram is made again."""
NOT_YET = "Open this panel with View > Show Diagram (Ctrl+Shift+G)."
MARGIN = 40
"""Pixels around a box that are shown with it."""


class DiagramPanel(QWidget):
    """Shows the diagram of what is opened, once the user asked for it."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self.is_needed = False
        self._around = (0, -1)
        self._asked = 0
        self._generation = -1
        self.view = DiagramView()
        self.area = scrolling(self.view)
        self.area.setWidgetResizable(False)
        self.area.setBackgroundRole(QPalette.ColorRole.Base)
        self.area.setFocusProxy(self.view)
        self.area.setAccessibleName(self.view.accessibleName())
        self.about = secondary(ElidedLabel("", Qt.TextElideMode.ElideRight))
        self.about.setContentsMargins(*LINE)
        self._stack = Emptiable(self.area)
        self.setFocusProxy(self.view)
        in_column((self._stack, 1), self.about, on=self)
        self._delay = debounce(self, DELAY_MS, self.ask)
        self.area.viewport().installEventFilter(self)
        self.view.chosen.connect(self._choose)
        self.view.opened.connect(self._open)
        document.rowsChanged.connect(self._change)
        document.statusChanged.connect(self._change)
        document.selected.connect(self._follow)
        self._stack.show_sentence(NOT_YET)

    def open(self) -> None:
        """Show the shape of the archive; it is not made again where it is shown."""
        self.is_needed = True
        self._change()

    def empty_sentence(self) -> str:
        """Why the panel is empty; "" if it is not."""
        return self._stack.shown_sentence()

    # ---- drawing -----------------------------------------------------------------------------------------------

    def _state(self) -> int:
        status = self._document.status
        return hash((status.generation, status.counts, status.stage))

    def _change(self) -> None:
        if self.is_needed and self._generation != self._state():
            self._delay.start()

    def ask(self) -> None:
        """Have the diagram made; what it is about stays where it is."""
        status = self._document.status
        if status.stage is not Stage.READY:
            self._stack.show_sentence(loading_text(status.stage) or "The archive could not be read.")
            return
        self._generation = self._state()
        self._asked += 1
        number = self._asked
        self._document.start(ArchiveRequests.diagram, *self._around).then(lambda found: self._take(number, found))

    def _take(self, number: int, diagram: Diagram | None) -> None:
        if number != self._asked:
            return
        self.view.show_diagram(diagram)
        if diagram is None or not diagram.boxes:
            self._stack.show_sentence("There is no structure to draw.")
            return
        self._stack.show_view(self.area)
        self._fit()
        self._follow(self._document.selection)
        if self.view.current is None:
            wrong = [box.label for box in diagram.boxes if box.finding]
            boxes = count(len(diagram.boxes), "box", "boxes")
            self.about.setText(f"{boxes}; {count(len(wrong), 'is', 'are')} wrong." if wrong else f"{boxes}.")

    def _fit(self) -> None:
        bar = self.area.verticalScrollBar().sizeHint().width()
        self.view.fit(self._stack.width() - bar)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt override: follow the width."""
        if watched is self.area.viewport() and event.type() is QEvent.Type.Resize:
            self._fit()
        return False

    # ---- selecting ---------------------------------------------------------------------------------------------

    def _choose(self, at: int) -> None:
        """Select the bytes of a box."""
        assert self.view.diagram is not None
        box = self.view.diagram.boxes[at]
        self.about.setText(self.view.sentence(at))
        self._show(at)
        if box.spans and not box.more:
            self._document.select_spans(box.archive, box.spans, ORIGIN)
        elif box.member is not None:
            partner = next((link.target for link in self.view.diagram.links if link.source == at), None)
            if partner is not None:
                self._document.select_spans(box.archive, self.view.diagram.boxes[partner].spans, ORIGIN)

    def _open(self, at: int) -> None:
        """Show what a box stands for: the rows that were left out, or the bytes in front."""
        assert self.view.diagram is not None
        box = self.view.diagram.boxes[at]
        if box.more:
            middle = (box.spans[0].start + box.spans[0].stop) // 2 if box.spans else -1
            self._around = (box.archive if box.spans else box.archive + box.more // 2, middle)
            self.ask()
        else:
            self._choose(at)

    def _follow(self, selection: Selection) -> None:
        """Frame the boxes with the selected bytes."""
        diagram = self.view.diagram
        info = self._document.layer_info(selection.layer)
        if selection.origin == ORIGIN or diagram is None or info is None or info.kind is not LayerKind.FILE:
            return
        found = diagram.at(selection.layer, selection.caret)
        self.view.mark(found, found[0] if found else None)
        if found:
            self.about.setText(self.view.sentence(found[0]))
            self._show(found[0])

    def _show(self, at: int) -> None:
        place = self.view.place(at)
        self.area.ensureVisible(place.left() + min(place.width(), MARGIN), place.center().y(), MARGIN, MARGIN)
