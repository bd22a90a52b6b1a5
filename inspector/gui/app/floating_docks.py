"""Panels that were torn off belong to their tab: they are not seen while another one is shown."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QEvent, QObject
from PySide6.QtWidgets import QDockWidget, QMainWindow


class Afloat(QObject):
    """Hides the floating docks of an area together with it; ``version`` is that of its arrangement."""

    def __init__(self, area: QMainWindow, version: int) -> None:
        super().__init__(area)
        self._area = area
        self._version = version
        self._hidden: list[QDockWidget] = []
        self._state = QByteArray()
        area.installEventFilter(self)

    @property
    def arrangement(self) -> QByteArray:
        """How the docks are arranged while the area is shown."""
        return self._state if self._hidden else self._area.saveState(self._version)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """See QObject."""
        if watched is self._area and not event.spontaneous():
            if event.type() is QEvent.Type.Hide:
                self._hide()
            elif event.type() is QEvent.Type.Show:
                self._show()
        return False

    def _hide(self) -> None:
        docks = self._area.findChildren(QDockWidget)
        self._state = self._area.saveState(self._version)
        self._hidden = [dock for dock in docks if dock.isFloating() and not dock.isHidden()]
        for dock in self._hidden:
            dock.hide()

    def _show(self) -> None:
        for dock in self._hidden:
            dock.show()
        self._hidden = []
