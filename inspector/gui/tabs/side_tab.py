"""The base class of tabs that do not show a document."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget


class SideTab(QWidget):
    """A tab that does not show a document."""

    has_bytes = False
    """Whether it shows bytes, so that ``go_to_expression`` and ``find`` do something."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title

    @property
    def settled(self) -> bool:
        """Whether no job is running."""
        return True

    def cancel(self) -> None:
        """Cancel its jobs."""

    def go_to_expression(self, expression: str) -> None:
        """Go to a place that the user typed."""

    def find_pattern(self, pattern: bytes, backwards: bool, ignore_case: bool) -> None:
        """Find bytes from the caret on."""

    def end(self) -> None:
        """Cancel its jobs and close its worker: the tab is closed."""
        self.cancel()

    def escape(self) -> None:
        """Cancel the visible job: Escape was pressed."""
        self.cancel()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.escape()
        else:
            super().keyPressEvent(event)
