"""What all interactions of several steps have: a document, a banner for their messages, and a parent for dialogs."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from inspector.gui.document.document import Document
from inspector.gui.panels.banner import Banner


class Flow(QObject):
    """An interaction with one document. ``parent`` owns the dialogs.

    Signals:
        chosen(str): the user chose to open this file, which was written.
    """

    chosen = Signal(str)

    def __init__(self, document: Document, banner: Banner, parent: QWidget) -> None:
        super().__init__(parent)
        self._document = document
        self._banner = banner
        self._parent = parent

    def offer_to_open(self, path: str, sentence: str) -> None:
        """Say what was written, with a button that opens it."""
        self._banner.ask(sentence, "Open It", lambda: self.chosen.emit(path))
