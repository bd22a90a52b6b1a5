"""The Diagram panel: the shape of the archive, or its sizes; both are in step with the selected bytes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QScrollArea, QToolButton, QVBoxLayout, QWidget

from inspector.core.drawing.diagram import Diagram
from inspector.core.drawing.sizes import ALL, Scope, SizePlot
from inspector.core.numbers import count
from inspector.gui.document.document import Document, Selection
from inspector.gui.kit.style import GRID, secondary
from inspector.gui.kit.text import loading_text
from inspector.gui.kit.widgets import ElidedLabel, Emptiable, debounce
from inspector.gui.panels.diagram.sizes_view import SizesView
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
    """Shows the diagram of what is opened, or the sizes in it, once the user asked for either."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._is_wanted = False
        self._around = (0, -1)
        self._scope = ALL
        self._asked = 0
        self.view = DiagramView()
        self.area = _scrolled(self.view)
        self.sizes = SizesView()
        self.sizes_area = _scrolled(self.sizes)
        self._views = QButtonGroup(self)
        self.shape_button = self._switch("Shape", "The structures of the archive, and what leads where")
        self.sizes_button = self._switch("Sizes", "What is stored of members, segments or ranges against their content")
        self.shape_button.setChecked(True)
        self.all_button = QToolButton()
        self.all_button.setText("Show All")
        self.all_button.setToolTip("Sizes of everything again (Backspace)")
        self.all_button.hide()
        self.about = secondary(ElidedLabel("", Qt.TextElideMode.ElideRight))
        self.about.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        self._stack = Emptiable(self.area, self.sizes_area)
        self.setFocusProxy(self.view)
        bar = QHBoxLayout()
        bar.setContentsMargins(GRID, GRID, GRID, GRID)
        bar.setSpacing(GRID)
        bar.addWidget(self.shape_button)
        bar.addWidget(self.sizes_button)
        bar.addWidget(self.all_button)
        bar.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.about)
        self._delay = debounce(self, DELAY_MS, self.ask)
        self.area.viewport().installEventFilter(self)
        self.sizes_area.viewport().installEventFilter(self)
        self.view.chosen.connect(self._choose)
        self.view.opened.connect(self._open)
        self.sizes.chosen.connect(self._choose_bar)
        self.sizes.opened.connect(self._open_bar)
        self.sizes.left.connect(self._show_all)
        self.all_button.clicked.connect(self._show_all)
        self._views.buttonToggled.connect(self._switched)
        document.rowsChanged.connect(self._change)
        document.statusChanged.connect(self._change)
        document.selected.connect(self._follow)
        self._generation = -1
        self._stack.show_sentence(NOT_YET)

    def _switch(self, text: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setToolTip(tip)
        button.setCheckable(True)
        self._views.addButton(button)
        return button

    @property
    def is_needed(self) -> bool:
        """Whether the user asked for it."""
        return self._is_wanted

    def open(self, *, sizes: bool = False) -> None:
        """Show the shape of the archive, or the sizes in it; nothing is made again that is shown."""
        self._is_wanted = True
        (self.sizes_button if sizes else self.shape_button).setChecked(True)
        self._change()

    def empty_sentence(self) -> str:
        """Why the panel is empty; "" if it is not."""
        return self._stack.shown_sentence()

    @property
    def shows_sizes(self) -> bool:
        """Whether the sizes are shown, not the shape."""
        return self.sizes_button.isChecked()

    def _switched(self, _: QToolButton, checked: bool) -> None:
        if checked:
            self.setFocusProxy(self.sizes if self.shows_sizes else self.view)
            self._generation = -1
            if self._is_wanted:
                self.ask()

    # ---- drawing -----------------------------------------------------------------------------------------------

    def _state(self) -> int:
        status = self._document.status
        return hash((status.generation, status.counts, status.stage))

    def _change(self) -> None:
        if self._is_wanted and self._generation != self._state():
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
        if self.shows_sizes:
            sizes = self._document.start(ArchiveRequests.sizes, self._scope)
            sizes.then(lambda found: self._take_sizes(number, found))
        else:
            self.all_button.hide()
            job = self._document.start(ArchiveRequests.diagram, *self._around)
            job.then(lambda found: self._take(number, found))

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

    def _take_sizes(self, number: int, plot: SizePlot | None) -> None:
        if number != self._asked:
            return
        if plot is None and self._scope != ALL:  # what was shown alone is no longer there
            self._show_all()
            return
        self.sizes.show_plot(plot)
        self.all_button.setVisible(self._scope != ALL)
        if plot is None:
            self._stack.show_sentence("There are no two sizes to compare.")
            self.about.setText("")
            return
        self._stack.show_view(self.sizes_area)
        self._fit()
        self.about.setText("")
        self._follow(self._document.selection)

    def _fit(self) -> None:
        bar = self.area.verticalScrollBar().sizeHint().width()
        self.view.fit(self._stack.width() - bar)
        self.sizes.fit(self._stack.width() - bar)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt override: follow the width."""
        if watched in (self.area.viewport(), self.sizes_area.viewport()) and event.type() is QEvent.Type.Resize:
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
        if selection.origin == ORIGIN or info is None or info.kind is not LayerKind.FILE:
            return
        if self.shows_sizes:
            self._follow_in_sizes(selection)
            return
        if diagram is None:
            return
        found = diagram.at(selection.layer, selection.caret)
        self.view.mark(found, found[0] if found else None)
        if found:
            self.about.setText(self.view.sentence(found[0]))
            self._show(found[0])

    def _show(self, at: int) -> None:
        place = self.view.place(at)
        self.area.ensureVisible(place.left() + min(place.width(), MARGIN), place.center().y(), MARGIN, MARGIN)

    # ---- sizes -------------------------------------------------------------------------------------------------

    def _choose_bar(self, at: int) -> None:
        """Select the stored bytes of a bar."""
        assert self.sizes.plot is not None
        bar = self.sizes.plot.bars[at]
        self.about.setText(self.sizes.sentence(at))
        self._show_bar(at)
        if bar.spans:
            self._document.select_spans(bar.archive, bar.spans, ORIGIN)

    def _open_bar(self, at: int) -> None:
        """Show what a bar is made of, or its bytes."""
        assert self.sizes.plot is not None
        inside = self.sizes.plot.bars[at].inside
        if inside is None:
            self._choose_bar(at)
        else:
            self._show_scope(inside)

    def _show_all(self) -> None:
        if self._scope != ALL:
            self.sizes.setFocus()  # the button goes away
            self._show_scope(ALL)

    def _show_scope(self, scope: Scope) -> None:
        self._scope = scope
        self.ask()

    def _follow_in_sizes(self, selection: Selection) -> None:
        """Make the bar with the selected bytes the current one."""
        plot = self.sizes.plot
        found = plot.at(selection.layer, selection.caret) if plot is not None else None
        self.sizes.mark(found)
        if found is not None:
            self.about.setText(self.sizes.sentence(found))
            self._show_bar(found)

    def _show_bar(self, at: int) -> None:
        place = self.sizes.place(at)
        self.sizes_area.ensureVisible(0, place.center().y(), 0, place.height())


def _scrolled(view: DiagramView | SizesView) -> QScrollArea:
    area = QScrollArea()
    area.setWidget(view)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setBackgroundRole(QPalette.ColorRole.Base)
    area.setFocusProxy(view)
    area.setAccessibleName(view.accessibleName())
    return area
