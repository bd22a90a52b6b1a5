"""The dock of the coverage: there for collections only, and gone where the user has closed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow

from inspector.gui.document.document import Document

if TYPE_CHECKING:  # it brings numpy, for which only collections wait
    from inspector.gui.panels.coverage.panel import CoveragePanel

MOST = 3
"""Datasets for which the dock makes room by itself."""
_TITLE = 30
"""Pixels of the title of a dock."""


class CoverageDock(QDockWidget):
    """Holds the panel, which is made when there is a collection."""

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
        """Whether what is shown is the last there is to show."""
        return self.panel is None or self.panel.source.settled

    def place(self) -> None:
        """Be shown where there is a collection, unless the user has closed it: also after docks were arranged."""
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
        """Be as high as the first datasets are."""
        window = self.parentWidget()
        if self.panel is None or not isinstance(window, QMainWindow):
            return
        wanted = self.panel.height_for(MOST)
        if wanted:
            window.resizeDocks([self], [wanted + _TITLE], Qt.Orientation.Vertical)

    def _choose(self, wanted: bool) -> None:
        self._wanted = wanted

    def closeEvent(self, event: QCloseEvent) -> None:
        """Qt override: it is the user who closes it."""
        self._wanted = False
        super().closeEvent(event)
