"""Asking what bytes are, one question at a time, so that a held key or a moving pointer asks no more than it can."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from inspector.gui.ipc.client import Client
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Explanation


class Explainer(QObject):
    """Asks for the last byte it was given; what was given before and has no answer yet is left out.

    Signals:
        answered(object): the Explanation of the byte that was asked for last.
    """

    answered = Signal(object)

    def __init__(self, client: Client[ArchiveRequests], parent: QObject) -> None:
        super().__init__(parent)
        self._client = client
        self._wanted: tuple[int, int] | None = None
        self._asked: tuple[int, int] | None = None

    def ask(self, layer: int, offset: int) -> None:
        """Ask what a byte of a layer is."""
        self._wanted = (layer, offset)
        if self._asked is None:
            self._send()

    def forget(self) -> None:
        """Nothing is to be answered any more."""
        self._wanted = None

    def _send(self) -> None:
        self._asked = self._wanted
        if self._asked is not None:
            self._client.ask(ArchiveRequests.explain, *self._asked).then(self._take, lambda _: self._take(None))

    def _take(self, explanation: Explanation | None) -> None:
        asked, self._asked = self._asked, None
        if self._wanted != asked:
            self._send()
            return
        self._wanted = None
        if explanation is not None:
            self.answered.emit(explanation)
