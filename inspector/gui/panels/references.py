"""Where the selected field leads, as links beneath what is said of it."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from inspector.gui.document.document import Document
from inspector.gui.kit.text import breakable, short
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Explanation, Reference


def _link_colour() -> str:
    return QGuiApplication.palette().link().color().name()


class ReferenceLinks(QLabel):
    """Links to what the selected field leads to; hidden where it leads nowhere."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._asking = False
        self._again = False
        self._colour = ""
        self.references: tuple[Reference, ...] = ()
        self.setAccessibleName("Points to")
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.hide()
        self.linkActivated.connect(self._go)
        document.explained.connect(self._ask)

    def _ask(self, _: Explanation | None = None) -> None:
        """One question at a time: a held key asks no more than can be answered."""
        if self._asking:
            self._again = True
            return
        self._asking, self._again = True, False
        here = self._document.selection
        self._document.client.ask(ArchiveRequests.references, here.layer, here.caret, here.field).then(
            self._take, lambda _: self._take(())
        )

    def _take(self, references: tuple[Reference, ...]) -> None:
        self._asking = False
        if self._again:
            self._ask()
            return
        self.references = references
        links = [f'<a href="{at}">{escape(breakable(short(each.words)))}</a>' for at, each in enumerate(references)]
        self.setText("<br>".join(("Points to (F12):", *links)))
        self._colour = _link_colour()
        self.setVisible(bool(links))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._colour_anew()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._colour_anew()

    def _colour_anew(self) -> None:
        """Qt colours links when a text is set; one that is hidden hears nothing of another theme."""
        if self.text() and self._colour != _link_colour():
            self._colour = _link_colour()
            text = self.text()
            self.setText("")
            self.setText(text)

    def _go(self, link: str) -> None:
        self._document.select_checksum(self.references[int(link)], "reference")
