"""Bookmarks with notes, kept for each archive by its place and size."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QWidget

from inspector.core.names import visible
from inspector.core.numbers import hexadecimal
from inspector.gui.kit.settings import Settings
from inspector.gui.kit.text import escaped, short

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab
    from inspector.gui.document.document import Document

MOST = 500
"""The most bookmarks kept of one archive."""


class Bookmark(NamedTuple):
    """A byte of a layer, and what the user has written of it."""

    layer: int
    offset: int
    note: str = ""

    @property
    def words(self) -> str:
        """Where it is, and the note."""
        return f"{hexadecimal(self.offset)}  {visible(self.note)}".rstrip()


class Kept:
    """The bookmarks of archives in the settings."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def of(self, location: str, size: int) -> list[Bookmark]:
        """Those of an archive, in the order of its bytes; what is stored but no bookmark is left out."""
        try:
            stored: Any = json.loads(self._settings.text(_name(location, size)) or "[]")
        except (ValueError, RecursionError):
            return []
        return sorted(found for each in stored if (found := _read(each)) is not None) if type(stored) is list else []

    def put(self, location: str, size: int, bookmark: Bookmark) -> None:
        """Keep a bookmark, in the place of another at its byte."""
        others = [each for each in self.of(location, size) if each[:2] != bookmark[:2]]
        self._store(location, size, [*others, bookmark][-MOST:])

    def remove(self, location: str, size: int, layer: int, offset: int) -> None:
        """Forget the bookmark of a byte."""
        self._store(location, size, [each for each in self.of(location, size) if each[:2] != (layer, offset)])

    def _store(self, location: str, size: int, bookmarks: list[Bookmark]) -> None:
        self._settings.set_text(_name(location, size), json.dumps(bookmarks) if bookmarks else "")


def _name(location: str, size: int) -> str:
    from hashlib import sha256  # the first paint does not wait for it

    return f"bookmarks/{sha256(location.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}-{size}"


def _read(stored: Any) -> Bookmark | None:
    match stored:
        case [int(layer), int(offset), str(note)] if layer >= 0 and offset >= 0:
            return Bookmark(layer, offset, note)
        case _:
            return None


class Bookmarks:
    """What the actions call, and the menu that lists the bookmarks of the archive that is shown."""

    def __init__(self, parent: QWidget, settings: Settings, menu: QMenu, shown: Callable[[], Tab | None]) -> None:
        self._parent = parent
        self._shown = shown
        self.kept = Kept(settings)
        self.menu = QMenu("B&ookmarks", parent)
        self.menu.aboutToShow.connect(self._fill)
        menu.addMenu(self.menu)

    def add_bookmark(self) -> None:
        """Ask for a note on the byte at the caret, and keep it."""
        from PySide6.QtWidgets import QInputDialog

        tab = self._shown()
        if tab is None:
            return
        document, place = tab.document, tab.document.selection
        known = {each[:2]: each.note for each in self._of(document)}
        dialog = QInputDialog(self._parent)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle("Bookmark")
        offset = hexadecimal(place.caret)
        dialog.setLabelText(f"Note on byte {offset} of {document.name}:")
        dialog.setTextValue(known.get((place.layer, place.caret), ""))
        dialog.textValueSelected.connect(lambda note: self._put(document, place.layer, place.caret, note))
        dialog.open()

    def _put(self, document: Document, layer: int, offset: int, note: str) -> None:
        self.kept.put(document.location, document.status.size, Bookmark(layer, offset, note.strip()))
        document.said.emit(f"Byte {hexadecimal(offset)} is bookmarked (Go > Bookmarks).")

    def next_bookmark(self) -> None:
        """Go to the next bookmark of the layer that is shown, after the last one to the first."""
        tab = self._shown()
        if tab is None:
            return
        place = tab.document.selection
        here = [each for each in self._of(tab.document) if each.layer == place.layer]
        if not here:
            tab.document.said.emit("No bookmarks yet. Ctrl+D adds one.")
            return
        self._go(tab.document, next((each for each in here if each.offset > place.caret), here[0]))

    def _of(self, document: Document) -> list[Bookmark]:
        return self.kept.of(document.location, document.status.size)

    def _go(self, document: Document, bookmark: Bookmark, _: bool = False) -> None:
        document.go_to(bookmark.layer, bookmark.offset, bookmark.offset + 1, "bookmark")
        if bookmark.note:
            document.said.emit(visible(bookmark.note))

    def _fill(self) -> None:
        self.menu.clear()
        tab = self._shown()
        every = self._of(tab.document) if tab is not None else []
        if tab is None or not every:
            self.menu.addAction("No Bookmarks in This Archive").setEnabled(False)
            return
        for bookmark in every:
            action = self.menu.addAction(escaped(short(bookmark.words)))
            action.triggered.connect(partial(self._go, tab.document, bookmark))
        place = tab.document.selection
        self.menu.addSeparator()
        remove = self.menu.addAction("Remove the Bookmark at This Byte")
        remove.setEnabled((place.layer, place.caret) in [each[:2] for each in every])
        remove.triggered.connect(partial(self._remove, tab.document, place.layer, place.caret))

    def _remove(self, document: Document, layer: int, offset: int, _: bool = False) -> None:
        self.kept.remove(document.location, document.status.size, layer, offset)
