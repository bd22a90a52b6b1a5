"""What all interactions of several steps have: a document, a banner for their messages, and a parent for dialogs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QInputDialog, QWidget

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

    def ask_text(
        self, title: str, label: str, take: Callable[[str], object], items: Sequence[str] = (), accept: str = "&OK"
    ) -> None:
        """Ask for a text, or for one of the items."""
        dialog = QInputDialog(self._parent)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle(title)
        dialog.setLabelText(label)
        dialog.setComboBoxItems(items)
        dialog.setOkButtonText(accept)
        dialog.textValueSelected.connect(take)
        dialog.open()

    def offer_to_open(self, path: str, sentence: str) -> None:
        """Say what was written, with a button that opens it."""
        self._banner.ask(sentence, "Open It", lambda: self.chosen.emit(path))
