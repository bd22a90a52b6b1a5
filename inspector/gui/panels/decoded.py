"""The Decoded panel: what a member's stored bytes decode to, in step with the hex view of the file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.core.drawing.colouring import ColourBy
from inspector.core.field import Run, Structure
from inspector.core.kinds import Family, Kind, Role
from inspector.core.numbers import count, hexadecimal, in_bytes
from inspector.core.span import Span, total
from inspector.gui.document.document import Document, Selection
from inspector.gui.hex.pages import Deliver, HexModel
from inspector.gui.hex.view import HexView
from inspector.gui.kit.style import GRID
from inspector.gui.kit.widgets import ElidedLabel, Emptiable
from inspector.operations.protocol.bytes_views import DecodedInfo, Piece
from inspector.operations.protocol.requests import ArchiveRequests

ORIGIN = "decoded"
NOT_YET = "Select a compressed member and choose View > Show Decoded (Ctrl+Shift+E)."
NO_MEMBER = "There is no member at the caret."


class DecodedPanel(QWidget):
    """Shows the decoded bytes of one member. Pieces take turns in two shades."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._is_wanted = False
        self._number = 0
        self._is_following = False
        self.info: DecodedInfo | None = None
        self._starts: list[int] = []
        self._stored: list[tuple[Span, int]] = []
        self._shown_of = ""
        self.hex = HexView()
        self.hex.setAccessibleName("Decoded bytes")
        self.hex.setColourBy(ColourBy.STRUCTURE)
        self.hex.lane.chosen.connect(self._choose)
        self.about = ElidedLabel("", Qt.TextElideMode.ElideRight)
        self.about.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        self.about.setAccessibleName("Where the decoded bytes come from")
        self._stack = Emptiable(self.hex)
        self.setFocusProxy(self.hex)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.about)
        self.hex.caretMoved.connect(self._caret_moved)
        document.selected.connect(self._follow)
        document.statusChanged.connect(self._bytes_changed)
        self._stack.show_sentence(NOT_YET)

    @property
    def is_needed(self) -> bool:
        """Whether the user asked for it."""
        return self._is_wanted

    def open(self) -> None:
        """Decode the member at the caret."""
        self._is_wanted = True
        member = self._document.selection.member
        if member is None:
            self._forget(NO_MEMBER)
        else:
            self._decode(member)

    def empty_sentence(self) -> str:
        """Why the panel is empty; "" if it is not."""
        return self._stack.shown_sentence()

    # ---- decoding ----------------------------------------------------------------------------------------------

    def _decode(self, member: int) -> None:
        self._forget("Decoding…")
        self._shown_of = self._stamp()
        number = self._number
        job = self._document.start(ArchiveRequests.decode_member, member)
        job.then(lambda info: self._take(number, info), lambda sentence: self._fail(number, sentence))
        job.finished.connect(lambda _: self._ended(number))

    def _forget(self, sentence: str) -> None:
        self._number += 1
        self.info, self._starts, self._stored = None, [], []
        self.hex.setModel(None)
        self.about.setText("")
        self._stack.show_sentence(sentence)

    def _stamp(self) -> str:
        return f"{self._document.status.stamp} {self._document.status.size}"

    def _bytes_changed(self) -> None:
        """What was decoded may not be what the bytes now give."""
        if self.info is not None and self._shown_of != self._stamp():
            self._decode(self.info.member)

    def _fail(self, number: int, sentence: str) -> None:
        if number == self._number:
            self._stack.show_sentence(sentence)

    def _ended(self, number: int) -> None:
        """Say so where it was cancelled; otherwise the result follows."""
        if number == self._number and self.info is None and self.empty_sentence() == "Decoding…":
            self._stack.show_sentence(NOT_YET)

    def _take(self, number: int, info: DecodedInfo) -> None:
        if number != self._number:
            return
        self.info = info
        self._starts = [piece.start for piece in info.pieces]
        self._stored = sorted((span, at) for at, piece in enumerate(info.pieces) for span in piece.stored if span.size)
        if not info.size:
            self._stack.show_sentence(f"Nothing of {info.title} could be decoded. {info.sentence}".strip())
            return
        self.hex.setModel(HexModel(info.size, self._fetch, self))
        self._stack.show_view(self.hex)
        self._describe(None)
        self._follow(self._document.selection)

    def _fetch(self, start: int, stop: int, deliver: Deliver) -> None:
        info = self.info
        if info is None:
            return
        runs = _runs(info.pieces, self._starts, start, stop)
        asked = self._document.client.ask(ArchiveRequests.decoded_bytes, info.member, start, stop - start)
        asked.then(lambda data: deliver(data, runs), lambda _: deliver(b"", []))

    # ---- in step -----------------------------------------------------------------------------------------------

    def piece_of(self, offset: int) -> Piece | None:
        """The piece that a decoded byte comes from."""
        info = self.info
        if info is None or not 0 <= offset < info.size:
            return None
        # Of pieces that begin at the same byte only the last gives any.
        return info.pieces[bisect_right(self._starts, offset) - 1]

    def piece_at(self, offset: int) -> Piece | None:
        """The piece that a stored byte belongs to."""
        at = bisect_right(self._stored, offset, key=lambda pair: pair[0].start) - 1
        if self.info is None or at < 0 or offset >= self._stored[at][0].stop:
            return None
        return self.info.pieces[self._stored[at][1]]

    def _caret_moved(self, offset: int) -> None:
        piece = self.piece_of(offset)
        if piece is None or self.info is None or self._is_following:
            return
        self._mark(piece)
        self._document.select_spans(self.info.layer, piece.stored, ORIGIN)

    def _choose(self, structure: Structure) -> None:
        """Select the piece whose name was clicked."""
        self.hex.goTo(structure.start, structure.stop - structure.start)

    def _follow(self, selection: Selection) -> None:
        """Show what the stored bytes at the caret give."""
        if self.info is None or selection.origin == ORIGIN or selection.layer != self.info.layer:
            return
        piece = self.piece_at(selection.caret)
        self._is_following = True
        if piece is not None and piece.start < piece.stop:
            self.hex.goTo(piece.start)
        self._is_following = False
        self._mark(piece)

    def _mark(self, piece: Piece | None) -> None:
        self.hex.setOutline(() if piece is None or piece.start == piece.stop else (Span(piece.start, piece.stop),))
        self._describe(piece)

    def _describe(self, piece: Piece | None) -> None:
        info = self.info
        if info is None:
            return
        if piece is None:
            stored = in_bytes(sum(total(each.stored) for each in info.pieces))
            pieces = count(len(info.pieces), "piece")
            text = f"{info.title}: {stored} in {pieces} decode to {in_bytes(info.size)}. {info.sentence}"
        else:
            place = hexadecimal(piece.stored[0].start)
            text = f"{piece.label}: {in_bytes(total(piece.stored))} at {place} "
            given = f"decode to {in_bytes(piece.stop - piece.start)} from {hexadecimal(piece.start)}."
            text += given if piece.stop > piece.start else "give no content."
        self.about.setText(text.strip())
        self.hex.setCaretDescription(text.strip())


def _runs(pieces: Sequence[Piece], starts: Sequence[int], start: int, stop: int) -> list[Run]:
    """The pieces that meet ``[start, stop)`` as runs and structures in two shades that take turns."""
    found: list[Run] = []
    for at in range(max(0, bisect_right(starts, start) - 1), len(pieces)):
        piece = pieces[at]
        if piece.start >= stop:
            break
        if piece.start < piece.stop:
            low, high = max(start, piece.start), min(stop, piece.stop)
            place = (piece.start, piece.stop, Kind.DATA, Family.CONTENT, piece.label, 1 + at % 2, (at,), None)
            found.append(Run(low, high, Kind.DATA, Role.DATA, at % 2, (at,), Structure(*place)))
    return found
