"""Panels that were torn off belong to their tab: they are not seen while another one is shown."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtWidgets import QDockWidget


class FloatingDocks:
    """Hides the floating docks of a tab while another tab is shown.

    The window calls it when tabs change. An event of a widget would be no sign of that: a window that is closed or
    destroyed hides what is in it too, and by then neither its layout nor its docks may be touched.
    """

    def __init__(self, docks: Iterable[QDockWidget]) -> None:
        self._docks = tuple(docks)
        self._hidden: list[QDockWidget] = []

    def hide(self) -> None:
        """Hide those that are shown, until `show`."""
        self._hidden = [dock for dock in self._docks if dock.isFloating() and not dock.isHidden()]
        for dock in self._hidden:
            dock.hide()

    def show(self) -> None:
        """Show again what was hidden."""
        for dock in self._hidden:
            dock.show()
        self._hidden = []
