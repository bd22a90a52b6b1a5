"""Notes on bytes and spans (bookmarks), stored per archive by its location and size."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from PySide6.QtWidgets import QMenu, QWidget

from inspector.core.field import Structure
from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.numbers import hexadecimal
from inspector.core.span import Span
from inspector.drawing.palette import FAMILY_HUES, Hue
from inspector.gui.app.actions.archives import WindowActions
from inspector.gui.app.tabs import Tabs
from inspector.gui.kit.building import ask_for_text
from inspector.gui.kit.preferences import Settings
from inspector.gui.kit.text import escaped, short

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab
    from inspector.gui.document.document import Document

MAX_OFFSET = 1 << 62
MAX_PER_ARCHIVE = 500
"""The most bookmarks stored per archive."""
_FAMILY = next(family for family, hue in FAMILY_HUES.items() if hue is Hue.BLUE)


class Bookmark(NamedTuple):
    """Bytes of a layer, with the user's note."""

    layer: int
    offset: int
    note: str = ""
    size: int = 1

    @property
    def label(self) -> str:
        """The offset, or the bytes of a span, and the note."""
        stop = f"..{hexadecimal(self.offset + self.size)}" if self.size > 1 else ""
        return f"{hexadecimal(self.offset)}{stop}  {visible(self.note)}".rstrip()

    @property
    def structure(self) -> Structure:
        """The note as a structure, which is outlined on the bytes and named beside them."""
        label = f"✎ {visible(self.note)}" if self.note else "✎ bookmark"
        return Structure(self.offset, self.offset + self.size, Kind.BYTES, _FAMILY, label, 1, (), None)


def from_json(stored: str) -> list[Bookmark]:
    """The bookmarks in stored JSON by offset; none if that is invalid."""
    import msgspec  # the first paint does not wait for it

    try:
        found = msgspec.json.decode(stored or "[]", type=list[Bookmark])
    except (msgspec.DecodeError, RecursionError):
        return []
    return sorted(each for each in found if each.layer >= 0 and 0 <= each.offset < MAX_OFFSET > each.size > 0)


class Bookmarks(WindowActions):
    """The bookmark actions, and the menu of the bookmarks of the archive shown."""

    def __init__(self, parent: QWidget, tabs: Tabs, settings: Settings, menu: QMenu) -> None:
        super().__init__(parent, tabs, settings)
        self._marked: WeakKeyDictionary[Tab, tuple[Bookmark, ...]] = WeakKeyDictionary()
        self.menu, self._fixed = menu, menu.actions()
        menu.aboutToShow.connect(self._fill)

    def of(self, document: Document) -> list[Bookmark]:
        """The bookmarks of an archive by offset."""
        return from_json(self._settings.text(_setting_name(document)))

    def replace(self, document: Document, layer: int, offset: int, *new: Bookmark) -> None:
        """Remove the bookmark of a byte, and store those that take its place."""
        kept = [each for each in self.of(document) if each[:2] != (layer, offset)]
        stored = [*kept, *new][-MAX_PER_ARCHIVE:]
        self._settings.set_text(_setting_name(document), json.dumps(stored) if stored else "")
        for tab in list(self._marked):
            self._mark(tab)

    def attach(self, tab: Tab) -> None:
        """Mark the bookmarks of a tab's archive in its bytes and its map, now and when they change."""
        tab.document.statusChanged.connect(partial(self._mark, tab))
        self._mark(tab)

    def _mark(self, tab: Tab) -> None:
        found = tuple(self.of(tab.document))
        if self._marked.get(tab) != found:
            self._marked[tab] = found
            notes = [(each.layer, each.structure) for each in found if each.note or each.size > 1]
            tab.hex_pane.mark(bookmarks=[each[:3] for each in found], notes=notes)
            tab.save_flow.notes = [each.label for each in found if each.note]

    def add_bookmark(self) -> None:
        """Ask for a note and bookmark the byte at the caret, or the selected bytes."""
        tab = self._tabs.shown()
        if tab is None:
            return
        document, layer, span = tab.document, tab.document.layer, tab.hex_pane.hex.selection()
        if span.size < 2:
            layer, caret = document.selection.layer, document.selection.caret
            span = Span(caret, caret + 1)
        before = Bookmark(layer, span.start)
        old = next((each for each in self.of(document) if each[:2] == before[:2]), before)
        marked = old._replace(size=span.size if span.size > 1 else old.size)
        place = marked._replace(note="").label

        def put(note: str) -> None:
            self.replace(document, layer, span.start, marked._replace(note=note.strip()))
            document.reported.emit(f"A bookmark is on {place} (Go > Notes).")

        ask_for_text(self._parent, "Note", f"Note on {place} of {document.name}:", put, text=old.note)

    def next_bookmark(self) -> None:
        """Go to the next bookmark of the layer shown; wrap around after the last."""
        tab = self._tabs.shown()
        if tab is None:
            return
        selection = tab.document.selection
        here = [each for each in self.of(tab.document) if each.layer == selection.layer]
        if here:
            _go(tab.document, next((each for each in here if each.offset > selection.caret), here[0]))
        else:
            tab.document.reported.emit("No bookmarks yet. Ctrl+D adds one.")

    def _fill(self) -> None:
        for old in self.menu.actions()[len(self._fixed) :]:
            self.menu.removeAction(old)
            old.deleteLater()
        self.menu.addSeparator()
        tab = self._tabs.shown()
        every = self.of(tab.document) if tab is not None else []
        if tab is None or not every:
            self.menu.addAction("No Bookmarks in This Archive").setEnabled(False)
            return
        for bookmark in every:
            action = self.menu.addAction(escaped(short(bookmark.label)))
            action.triggered.connect(lambda _=False, each=bookmark: _go(tab.document, each))
        place = tab.document.selection.layer, tab.document.selection.caret
        self.menu.addSeparator()
        remove = self.menu.addAction("Remove the Bookmark at This Byte")
        remove.setEnabled(place in [each[:2] for each in every])
        remove.triggered.connect(lambda: self.replace(tab.document, *place))


def _go(document: Document, bookmark: Bookmark) -> None:
    document.go_to(bookmark.layer, bookmark.offset, bookmark.offset + bookmark.size, "bookmark")
    if bookmark.note:
        document.reported.emit(visible(bookmark.note))


def _setting_name(document: Document) -> str:
    from hashlib import sha256  # the first paint does not wait for it

    digest = sha256(document.location.encode("utf-8", "surrogateescape")).hexdigest()
    return f"bookmarks/{digest[:16]}-{document.status.size}"
