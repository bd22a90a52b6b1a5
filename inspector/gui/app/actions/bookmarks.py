"""Notes on bytes and spans (bookmarks), stored per archive by its location and size."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QWidget

from inspector.core.field import Structure
from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.numbers import hexadecimal
from inspector.core.span import Span
from inspector.drawing.palette import FAMILY_HUES, Hue
from inspector.gui.kit.settings import Settings
from inspector.gui.kit.text import escaped, short

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab
    from inspector.gui.document.document import Document

MAX_OFFSET = 1 << 62
MAX_PER_ARCHIVE = 500
"""The most bookmarks stored per archive."""


COLOURS = {"blue": Hue.BLUE, "amber": Hue.AMBER, "green": Hue.GREEN, "purple": Hue.PURPLE, "grey": Hue.GREY}
"""The colours of notes by their names."""
_FAMILIES = {hue: family for family, hue in FAMILY_HUES.items()}


class Bookmark(NamedTuple):
    """Bytes of a layer, with the user's note and the name of its colour."""

    layer: int
    offset: int
    note: str = ""
    size: int = 1
    colour: str = "blue"

    @property
    def label(self) -> str:
        """The offset, or the bytes of a span, and the note."""
        stop = f"..{hexadecimal(self.offset + self.size)}" if self.size > 1 else ""
        return f"{hexadecimal(self.offset)}{stop}  {visible(self.note)}".rstrip()

    @property
    def structure(self) -> Structure:
        """The note as a structure, which is outlined on the bytes and named beside them."""
        family = _FAMILIES[COLOURS[self.colour]]
        label = f"✎ {visible(self.note)}" if self.note else "✎ bookmark"
        return Structure(self.offset, self.offset + self.size, Kind.BYTES, family, label, 1, (), None)


class BookmarkStore:
    """The bookmarks of all archives in the settings."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def of(self, location: str, size: int) -> list[Bookmark]:
        """The bookmarks of an archive by offset; stored values that are no bookmarks are ignored."""
        try:
            stored: Any = json.loads(self._settings.text(_setting_name(location, size)) or "[]")
        except (ValueError, RecursionError):
            return []
        return (
            sorted(found for each in stored if (found := _bookmark(each)) is not None) if type(stored) is list else []
        )

    def put(self, location: str, size: int, bookmark: Bookmark) -> None:
        """Store a bookmark; it replaces one of the same byte."""
        others = [each for each in self.of(location, size) if each[:2] != bookmark[:2]]
        self._store(location, size, [*others, bookmark][-MAX_PER_ARCHIVE:])

    def remove(self, location: str, size: int, layer: int, offset: int) -> None:
        """Remove the bookmark of a byte."""
        self._store(location, size, [each for each in self.of(location, size) if each[:2] != (layer, offset)])

    def _store(self, location: str, size: int, bookmarks: list[Bookmark]) -> None:
        self._settings.set_text(_setting_name(location, size), json.dumps(bookmarks) if bookmarks else "")


def _setting_name(location: str, size: int) -> str:
    from hashlib import sha256  # the first paint does not wait for it

    return f"bookmarks/{sha256(location.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}-{size}"


def _bookmark(stored: Any) -> Bookmark | None:
    match stored:
        case [int(layer), int(offset), str(note)] if layer >= 0 and offset >= 0:
            return Bookmark(layer, offset, note)
        case [int(layer), int(offset), str(note), int(size), str(colour)] if (
            layer >= 0 and 0 <= offset < MAX_OFFSET and 0 < size < MAX_OFFSET and colour in COLOURS
        ):
            return Bookmark(layer, offset, note, size, colour)
        case _:
            return None


class Bookmarks:
    """The bookmark actions, and the menu of the bookmarks of the archive shown."""

    def __init__(self, parent: QWidget, settings: Settings, menu: QMenu, shown: Callable[[], Tab | None]) -> None:
        self._parent = parent
        self._shown = shown
        self.store = BookmarkStore(settings)
        self._marked: WeakKeyDictionary[Tab, tuple[Bookmark, ...]] = WeakKeyDictionary()
        self.menu = QMenu("N&otes", parent)
        self.menu.aboutToShow.connect(self._fill)
        menu.addMenu(self.menu)

    def add_bookmark(self) -> None:
        """Ask for a note and bookmark the byte at the caret, or the selected bytes."""
        from PySide6.QtWidgets import QInputDialog

        tab = self._shown()
        if tab is None:
            return
        document, layer, span = tab.document, tab.document.layer, tab.hex_pane.hex.selection()
        if span.size < 2:
            layer, caret = document.selection.layer, document.selection.caret
            span = Span(caret, caret + 1)
        known = {each[:2]: each for each in self._of(document)}
        old = known.get((layer, span.start), Bookmark(layer, span.start))
        size = span.size if span.size > 1 else old.size
        dialog = QInputDialog(self._parent)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle("Note")
        place = f"byte {hexadecimal(span.start)}"
        if size > 1:
            place = f"bytes {hexadecimal(span.start)} to {hexadecimal(span.start + size)}"
        dialog.setLabelText(f"Note on {place} of {document.name}:")
        dialog.setTextValue(old.note)
        dialog.textValueSelected.connect(lambda note: self._put(document, old._replace(note=note.strip(), size=size)))
        dialog.open()

    def attach(self, tab: Tab) -> None:
        """Mark the bookmarks of a tab's archive in its bytes and its map, now and when they change."""
        tab.document.statusChanged.connect(partial(self._mark, tab))
        self._mark(tab)

    def _mark(self, tab: Tab) -> None:
        found = tuple(self._of(tab.document))
        if self._marked.get(tab) != found:
            self._marked[tab] = found
            tab.hex_pane.set_bookmarks([each[:3] for each in found])
            tab.hex_pane.set_notes([(each.layer, each.structure) for each in found if each.note or each.size > 1])
            tab.export_flow.notes = [each.label for each in found if each.note]

    def _mark_all(self) -> None:
        for tab in list(self._marked):
            self._mark(tab)

    def _put(self, document: Document, bookmark: Bookmark) -> None:
        self.store.put(document.location, document.status.size, bookmark)
        self._mark_all()
        what = f"Byte {hexadecimal(bookmark.offset)} is" if bookmark.size == 1 else "These bytes are"
        document.reported.emit(f"{what} bookmarked (Go > Notes).")

    def next_bookmark(self) -> None:
        """Go to the next bookmark of the layer shown; wrap around after the last."""
        tab = self._shown()
        if tab is None:
            return
        selection = tab.document.selection
        here = [each for each in self._of(tab.document) if each.layer == selection.layer]
        if not here:
            tab.document.reported.emit("No bookmarks yet. Ctrl+D adds one.")
            return
        self._go(tab.document, next((each for each in here if each.offset > selection.caret), here[0]))

    def _of(self, document: Document) -> list[Bookmark]:
        return self.store.of(document.location, document.status.size)

    def _go(self, document: Document, bookmark: Bookmark) -> None:
        document.go_to(bookmark.layer, bookmark.offset, bookmark.offset + bookmark.size, "bookmark")
        if bookmark.note:
            document.reported.emit(visible(bookmark.note))

    def _fill(self) -> None:
        self.menu.clear()
        tab = self._shown()
        every = self._of(tab.document) if tab is not None else []
        if tab is None or not every:
            self.menu.addAction("No Bookmarks in This Archive").setEnabled(False)
            return
        for bookmark in every:
            action = self.menu.addAction(escaped(short(bookmark.label)))
            action.triggered.connect(lambda _=False, each=bookmark: self._go(tab.document, each))
        selection = tab.document.selection
        self.menu.addSeparator()
        here = next((each for each in every if each[:2] == (selection.layer, selection.caret)), None)
        colours = self.menu.addMenu("&Colour of the Note Here")
        colours.setEnabled(here is not None)
        for name in COLOURS:
            action = colours.addAction(name.capitalize())
            action.setCheckable(True)
            action.setChecked(here is not None and here.colour == name)
            if here is not None:
                painted = here._replace(colour=name)
                action.triggered.connect(lambda _=False, painted=painted: self._put(tab.document, painted))
        remove = self.menu.addAction("Remove the Bookmark at This Byte")
        remove.setEnabled((selection.layer, selection.caret) in [each[:2] for each in every])
        remove.triggered.connect(partial(self._remove, tab.document, selection.layer, selection.caret))

    def _remove(self, document: Document, layer: int, offset: int, _: bool = False) -> None:
        self.store.remove(document.location, document.status.size, layer, offset)
        self._mark_all()
