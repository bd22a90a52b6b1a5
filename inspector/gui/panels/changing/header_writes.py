"""The writes that a pending change makes in a TACO header, in their order, and what the entries point to before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QLabel, QScrollArea, QSizePolicy

from inspector.core.edit import Edit, Patch
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import Span
from inspector.gui.kit.building import LINE, scrolling
from inspector.gui.kit.style import GRID
from inspector.gui.kit.theme import fixed_font
from inspector.operations.protocol.header_draft import EntryView, HeaderView

BYTES_PER_LINE = 8
OTHER = "other bytes"
MIN_HEIGHT_PX = 40


class HeaderWrites(QScrollArea):
    """Shows each write of an edit with its name, its bytes old over new, and the entries before and after."""

    def __init__(self) -> None:
        super().__init__()
        self.label = QLabel(textFormat=Qt.TextFormat.RichText, wordWrap=True)
        self.label.setContentsMargins(*LINE)
        self.label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for widget in (self, self.label):
            widget.setAccessibleName("What would be written")
        scrolling(self.label, self)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.shown: Edit | None = None
        self.hide()

    def show_edit(self, edit: Edit | None, view: HeaderView | None) -> None:
        """Show the writes of an edit that changes the header; hide for any other, and for none."""
        if edit is None or view is None or not touches(edit, view):
            self.shown = None
            self.hide()
            return
        self.shown = edit
        family = escape(fixed_font().family(), quote=True)
        parts = [*_entries(view), *_writes(edit, view, family)]
        self.label.setText("".join(parts))
        self.label.setAccessibleName("\n".join(names(edit, view)))
        self.show()

    def minimumSizeHint(self) -> QSize:
        return QSize(0, MIN_HEIGHT_PX)


def touches(edit: Edit, view: HeaderView) -> bool:
    """Whether an edit changes bytes of the header."""
    return any(name(patch, view.places) != OTHER for patch in edit.patches)


def name(patch: Patch, places: Sequence[tuple[Span, str]]) -> str:
    """What a write changes, by its place in the header."""
    span = patch.span
    return next((words for place, words in places if place.start <= span.start and span.stop <= place.stop), OTHER)


def names(edit: Edit, view: HeaderView) -> list[str]:
    """A title for each write, in the order in which they are made."""
    return [
        f"{at} of {len(edit.patches)}: {name(patch, view.places)}, {in_bytes(patch.span.size)} at "
        f"{grouped(patch.offset)} ({hexadecimal(patch.offset)})"
        for at, patch in enumerate(edit.patches, 1)
    ]


def _writes(edit: Edit, view: HeaderView, family: str) -> Iterator[str]:
    for title, patch in zip(names(edit, view), edit.patches, strict=True):
        yield f"<p style='margin:{2 * GRID}px 0 0 0'><b>{escape(title)}</b></p>"
        lines = "<br>".join(_lines(patch)) or "No byte changes."
        yield f"<pre style='margin:0; font-family:\"{family}\"'>{lines}</pre>"


def _lines(patch: Patch) -> Iterator[str]:
    """The lines of bytes that change, the old bytes over the new ones; those that differ are bold and underlined."""
    for start in range(0, len(patch.new), BYTES_PER_LINE):
        old, new = (data[start : start + BYTES_PER_LINE] for data in (patch.old, patch.new))
        if old != new:
            offset = hexadecimal(patch.offset + start, 8)
            yield f"{offset} \N{MINUS SIGN} {_marked(old, new)}"
            yield f"{' ' * len(offset)} + {_marked(new, old)}"


def _marked(data: bytes, other: bytes) -> str:
    pairs = zip(data, other, strict=True)
    return " ".join(f"{byte:02X}" if byte == there else f"<b><u>{byte:02X}</u></b>" for byte, there in pairs)


def _entries(view: HeaderView) -> Iterator[str]:
    for before, after in zip(view.before, view.entries, strict=False):
        if _said(before) != _said(after):
            words = f"<b>Entry {after.index}</b> from {escape(_said(before))} <b>to</b> {escape(_said(after))}"
            yield f"<p style='margin:0'>{words}</p>"


def _said(entry: EntryView) -> str:
    if not entry.used:
        return "unused"
    return f"{entry.words} ({in_bytes(entry.length)} at {grouped(entry.offset)})"
