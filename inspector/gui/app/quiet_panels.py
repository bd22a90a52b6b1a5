"""Panels that take room only when they have something to say."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QDockWidget


class QuietPanels(QObject):
    """Shows each of some docks when it gets something to say, and leaves those of others to the user.

    ``speaks`` says of each dock, by its name, whether it has something to show. A dock that fell silent stays until the
    tab is arranged again, so that nothing moves under the pointer. ``closed`` are docks that the user closed: they stay
    closed although they speak.
    """

    def __init__(
        self, docks: Mapping[str, QDockWidget], speaks: Mapping[str, Callable[[], bool]], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._docks = {name: docks[name] for name in speaks}
        self._speaks = speaks
        self._spoke: set[str] = set()
        self.closed: frozenset[str] = frozenset()

    def update(self, *_: object) -> None:
        """Show the docks that now have something to say."""
        for name in (speaking := self.speaking()) - self._spoke - self.closed:
            if not self._docks[name].isFloating():  # that of a tab in the background would be a window in front
                self._docks[name].show()
        self._spoke = speaking

    def speaking(self) -> set[str]:
        """The names of the docks that have something to say."""
        return {name for name, speaks in self._speaks.items() if speaks()}

    def adopt(self) -> frozenset[str]:
        """The docks that are closed now: of those that have nothing to say, those that were closed before."""
        hidden = {name for name in self._spoke if self._docks[name].isHidden()}
        self.closed = (self.closed - self._spoke) | hidden
        return self.closed

    def arrange(self, closed: Collection[str], keep: str = "") -> None:
        """Show the docks that have something to say and are not ``closed``, and ``keep``; hide the others."""
        self.closed = frozenset(closed)
        self._spoke = self.speaking()
        for name, dock in self._docks.items():
            dock.setVisible((name in self._spoke and name not in self.closed) or name == keep)

    def rise(self, name: str) -> None:
        """Bring a dock to the front, unless the user works in another one of these."""
        focus = QApplication.focusWidget()
        others = (dock for each, dock in self._docks.items() if each != name)
        if not self._docks[name].isHidden() and not (focus and any(dock.isAncestorOf(focus) for dock in others)):
            self._docks[name].raise_()
