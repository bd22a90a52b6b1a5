"""A dock whose panel is made when it is first needed: most archives are looked at with half of the panels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget


class LateDock(QDockWidget):
    """Makes its panel when it is to be shown, or when ``panel`` asks for it.

    Signals:
        made(object): this panel was made.
    """

    made = Signal(object)

    def __init__(self, title: str, area: QMainWindow, make: Callable[[], QWidget]) -> None:
        super().__init__(title, area)
        self._make = make
        self.is_held = False

    @property
    def is_made(self) -> bool:
        """Whether there is a panel."""
        return self.widget() is not None

    def panel(self) -> QWidget:
        """The panel, made if there is none yet."""
        if (made := self.widget()) is None:
            made = self._make()
            self.setWidget(made)
            self.made.emit(made)
        return made

    def setVisible(self, visible: bool) -> None:
        if visible and not self.is_held:
            self.panel()
        super().setVisible(visible)


@contextmanager
def held(docks: Iterable[QDockWidget]) -> Iterator[None]:
    """Let docks be shown without panels: who arranges them says afterwards which of them are shown."""
    late = [dock for dock in docks if isinstance(dock, LateDock)]
    for dock in late:
        dock.is_held = True
    try:
        yield
    finally:
        for dock in late:
            dock.is_held = False
