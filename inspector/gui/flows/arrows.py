"""What the arrows beside the bytes need: the references around what is shown, and going along them."""

from __future__ import annotations

from PySide6.QtCore import QObject

from inspector.gui.document.document import Document
from inspector.gui.document.navigation import Navigation
from inspector.gui.hex.view import HexView
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Arrow, Reference

Shown = tuple[int, int, int]
"""A layer and the bytes ``[start, stop)`` of it."""


class Arrows(QObject):
    """Has arrows drawn for what a view shows. One question is asked at a time, so that scrolling asks no more."""

    def __init__(self, document: Document, view: HexView, navigation: Navigation) -> None:
        super().__init__(view)
        self._document = document
        self._view = view
        self._navigation = navigation
        self._wanted: Shown | None = None
        self._asked: Shown | None = None
        self._layer = 0
        view.scrolled.connect(self._ask)
        view.gutter.shown.connect(self._ask)
        view.gutter.wanted.connect(self.go)
        document.layersChanged.connect(self._ask)
        document.rowsChanged.connect(self._ask)

    def _ask(self, *_: object) -> None:
        if self._document.layer != self._layer:
            self._layer = self._document.layer
            self._view.gutter.show_arrows(())
        if not self._view.gutter.isVisible():
            return
        self._wanted = (self._document.layer, *self._view.shown())
        if self._asked is None:
            self._send()

    def _send(self) -> None:
        self._asked, self._wanted = self._wanted, None
        if self._asked is not None:
            self._document.client.ask(ArchiveRequests.arrows, *self._asked).then(self._take, lambda _: self._take(()))

    def _take(self, arrows: tuple[Arrow, ...]) -> None:
        asked, self._asked = self._asked, None
        if asked is not None and asked[0] == self._document.layer:
            self._view.gutter.show_arrows(arrows)
        if self._wanted is not None:
            self._send()

    def go(self, arrow: Arrow, forwards: bool) -> None:
        """Go to where an arrow leads, or where it comes from."""
        layer = self._document.layer
        end = arrow.target if forwards or arrow.source is None else arrow.source
        plain = Reference("", layer, (end,), None)
        if end is arrow.source or arrow.source is None:
            self._navigation.go(plain)
            return

        def found(references: tuple[Reference, ...]) -> None:
            # A hash lights up all that it covers, and what it leaves out.
            known = (each for each in references if each.covers[0].start == end.start)
            self._navigation.go(next(known, plain))

        self._document.client.ask(ArchiveRequests.references, layer, arrow.source.start, None).then(
            found, self._document.said.emit
        )
