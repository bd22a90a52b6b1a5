"""The dock of the coverage panel: shown for collections only, unless the user has closed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow

from inspector.gui.document.document import Document

if TYPE_CHECKING:  # it imports numpy, which only collections need
    from inspector.gui.panels.coverage.panel import CoveragePanel

MOST = 3
"""Datasets that fit into the initial height of the dock."""
_TITLE = 30
"""Pixels: the height of a dock's title."""


class CoverageDock(QDockWidget):
    """Contains the panel, which is created with the first collection."""

    def __init__(self, document: Document) -> None:
        super().__init__("Coverage")
        self.setObjectName("Coverage")
        self.panel: CoveragePanel | None = None
        self._document = document
        self._wanted = True
        self.toggleViewAction().triggered.connect(self._choose)
        document.statusChanged.connect(self.place)
        self.toggleViewAction().setVisible(False)
        self.hide()

    @property
    def settled(self) -> bool:
        """Whether the panel is up to date."""
        return self.panel is None or self.panel.source.settled

    def place(self) -> None:
        """Show or hide the dock for the current document; call it again after docks were rearranged."""
        collection = self._document.status.collection
        if collection and self.panel is None:
            self._fill()
        self.toggleViewAction().setVisible(collection)
        if self.isHidden() is (collection and self._wanted):
            self.setVisible(collection and self._wanted)

    def _fill(self) -> None:
        from inspector.gui.panels.coverage.panel import CoveragePanel

        self.panel = CoveragePanel(self._document)
        self.setWidget(self.panel)
        self.panel.source.found.connect(self.give_room)

    def give_room(self) -> None:
        """Resize the dock to the height of the first datasets."""
        window = self.parentWidget()
        if self.panel is None or not isinstance(window, QMainWindow):
            return
        wanted = self.panel.height_for(MOST)
        if wanted:
            window.resizeDocks([self], [wanted + _TITLE], Qt.Orientation.Vertical)

    def _choose(self, wanted: bool) -> None:
        self._wanted = wanted

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember that the user closed the dock."""
        self._wanted = False
        super().closeEvent(event)
