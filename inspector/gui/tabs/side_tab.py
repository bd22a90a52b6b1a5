"""What all tabs have in common that show no document."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from inspector.gui.document.session import OpenTab


class SideTab(QWidget):
    """A tab that shows no document but is about several.

    Signals:
        keptChanged(): ``kept`` is another.
    """

    keptChanged = Signal()

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title

    @property
    def settled(self) -> bool:
        """Whether it has no work under way."""
        return True

    @property
    def kept(self) -> OpenTab | None:
        """What a session keeps of it, None where it is not to come back."""
        return None

    def cancel(self) -> None:
        """Stop its work."""

    def end(self) -> None:
        """Stop its work for good: it is closed."""
        self.cancel()

    def escape(self) -> None:
        """Stop the work that the user sees."""
        self.cancel()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.escape()
        else:
            super().keyPressEvent(event)
