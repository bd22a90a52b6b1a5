"""Which keys move the caret of the hex view."""

from __future__ import annotations

from PySide6.QtGui import QKeyEvent, QKeySequence

from inspector.gui.hex.cursor import Move

_K = QKeySequence.StandardKey
_MOVES: tuple[tuple[_K, _K, Move], ...] = (
    (_K.MoveToPreviousChar, _K.SelectPreviousChar, Move.LEFT),
    (_K.MoveToNextChar, _K.SelectNextChar, Move.RIGHT),
    (_K.MoveToPreviousLine, _K.SelectPreviousLine, Move.UP),
    (_K.MoveToNextLine, _K.SelectNextLine, Move.DOWN),
    (_K.MoveToPreviousPage, _K.SelectPreviousPage, Move.PAGE_UP),
    (_K.MoveToNextPage, _K.SelectNextPage, Move.PAGE_DOWN),
    (_K.MoveToStartOfLine, _K.SelectStartOfLine, Move.ROW_START),
    (_K.MoveToEndOfLine, _K.SelectEndOfLine, Move.ROW_END),
    (_K.MoveToStartOfDocument, _K.SelectStartOfDocument, Move.FILE_START),
    (_K.MoveToEndOfDocument, _K.SelectEndOfDocument, Move.FILE_END),
)


def move_of(event: QKeyEvent) -> tuple[Move, bool] | None:
    """The move a key asks for and whether it selects; None for other keys."""
    for plain, selecting, move in _MOVES:
        if event.matches(plain):
            return move, False
        if event.matches(selecting):
            return move, True
    return None
