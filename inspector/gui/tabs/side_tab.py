"""The base classes of what the tabs of the window hold."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from inspector.core.verdict import State


class Page(QWidget):
    """What a tab of the window holds."""

    has_bytes = False
    """Whether it shows bytes, so that ``go_to_expression`` and ``find_pattern`` do something."""

    @property
    def title(self) -> str:
        """Its name; several pages may have the same one."""
        return ""

    @property
    def location(self) -> str:
        """The archive it shows; empty if it shows none."""
        return ""

    @property
    def state(self) -> State | None:
        """What is known of that archive as it is on the disk; None while nothing is."""
        return None

    @property
    def unsaved(self) -> str:
        """The work that closing it would lose, as a phrase; empty for none."""
        return "" if self.settled else f"“{self.title}”"

    @property
    def settled(self) -> bool:
        """Whether no job is running."""
        return True

    def report(self, sentence: str) -> None:
        """Show a message."""

    def go_to_expression(self, expression: str) -> None:
        """Go to a place that the user typed."""

    def find_pattern(self, pattern: bytes, backwards: bool, ignore_case: bool) -> None:
        """Find bytes from the caret on."""

    def end(self) -> None:
        """Cancel its jobs and close its worker: the tab is closed."""


class SideTab(Page):
    """A tab that does not show a document."""

    title = ""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title

    def cancel(self) -> None:
        """Cancel its jobs."""

    def end(self) -> None:
        self.cancel()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.cancel()
        else:
            super().keyPressEvent(event)
