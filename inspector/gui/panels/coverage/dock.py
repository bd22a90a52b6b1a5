"""The dock of the coverage panel: shown for collections only, unless the user has closed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow

from inspector.gui.document.document import Document

if TYPE_CHECKING:  # it imports numpy, which only collections need
    from inspector.gui.panels.coverage.panel import CoveragePanel

VISIBLE_DATASETS = 3
"""Datasets that fit into the initial height of the dock."""
_TITLE_PX = 30
"""Pixels: the height of a dock's title."""


class CoverageDock(QDockWidget):
    """Contains the panel, which is created with the first collection."""

    def __init__(self, document: Document) -> None:
        super().__init__("Coverage")
        self.setObjectName("Coverage")
        self.panel: CoveragePanel | None = None
        self._document = document
        self._is_open = True
        self.toggleViewAction().triggered.connect(self._remember)
        document.statusChanged.connect(self.update_visibility)
        self.toggleViewAction().setVisible(False)
        self.hide()

    @property
    def settled(self) -> bool:
        """Whether the panel is up to date."""
        return self.panel is None or self.panel.settled

    def update_visibility(self) -> None:
        """Show or hide the dock for the current document; call it again after docks were rearranged."""
        collection = self._document.status.collection
        if collection and self.panel is None:
            self._create_panel()
        self.toggleViewAction().setVisible(collection)
        if self.isHidden() is (collection and self._is_open):
            self.setVisible(collection and self._is_open)

    def _create_panel(self) -> None:
        from inspector.gui.panels.coverage.panel import CoveragePanel

        self.panel = CoveragePanel(self._document)
        self.setWidget(self.panel)
        self.panel.datasetsLoaded.connect(self.resize_to_bands)

    def resize_to_bands(self) -> None:
        """Resize the dock to the height of the first datasets."""
        window = self.parentWidget()
        if self.panel is None or not isinstance(window, QMainWindow):
            return
        height = self.panel.height_for(VISIBLE_DATASETS)
        if height:
            window.resizeDocks([self], [height + _TITLE_PX], Qt.Orientation.Vertical)

    def _remember(self, is_open: bool) -> None:
        self._is_open = is_open

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember that the user closed the dock."""
        self._is_open = False
        super().closeEvent(event)
