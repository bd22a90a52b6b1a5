"""Typing and pasting over the bytes of a hex view, and what typed characters mean."""

from __future__ import annotations

from msgspec import Struct
from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence

from inspector.core.numbers import in_bytes
from inspector.gui.hex.cursor import Pane
from inspector.gui.hex.view import HexView

_COMMAND_MODIFIERS = (
    Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
)


class Overwriting(QObject):
    """Handles keys of a hex view while it is on. It changes no bytes itself; the receiver of the signal does.

    Signals:
        overwritten(object): the user typed or parse_pasted bytes: a ByteEdit.
    """

    overwritten = Signal(object)

    def __init__(self, view: HexView) -> None:
        super().__init__(view)
        self._view = view
        self._state = TypingState()
        self._on = False
        view.installEventFilter(self)
        view.caretMoved.connect(self._reset)

    def set_on(self, on: bool) -> None:
        """Handle keys, or leave them to the view."""
        self._on = on
        self._reset()

    def _reset(self) -> None:
        self._state.reset()
        self._show_state()

    def _show_state(self) -> None:
        self._view.paint_with(overwriting=self._on, digit=int(self._state.half is not None))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: ARG002 - there is one view
        """Handle keys; Paste then belongs to the view and not to the shortcuts of the window."""
        if not self._on or not isinstance(event, QKeyEvent):
            return False
        is_paste = event.matches(QKeySequence.StandardKey.Paste)
        if event.type() is QEvent.Type.ShortcutOverride:
            if is_paste:
                event.accept()
            return is_paste
        if event.type() is not QEvent.Type.KeyPress:
            return False
        if is_paste:
            self._paste()
            return True
        return self._type(event)

    def _type(self, event: QKeyEvent) -> bool:
        model, caret = self._view.model(), self._view.caret()
        if model is None or event.modifiers() & _COMMAND_MODIFIERS:
            return False
        here = model.bytes_at(caret, caret + 1)
        typed = self._state.typed(event.text(), self._view.pane(), caret, here[0][1]) if here else None
        if typed is None:
            return False
        self.overwritten.emit(typed)
        if typed.advance:
            self._view.goTo(typed.offset + 1)
        self._show_state()
        return True

    def _paste(self) -> None:
        view, model = self._view, self._view.model()
        data = parse_pasted(QGuiApplication.clipboard().text(), view.pane())
        start = view.selection().start
        if model is None or not data:
            text = "The clipboard holds no text to paste into this column."
            if view.pane() is Pane.HEX:
                text = "The clipboard holds no hexadecimal digits to paste into this column."
            view.message.emit(text)
        elif start + len(data) > model.size:
            view.message.emit(f"{in_bytes(len(data))} do not fit before the end of the file.")
        else:
            stop = start + len(data)
            model.read(start, stop, lambda old: self.overwritten.emit(ByteEdit(start, old, data, True, False)))


_DIGITS = "0123456789abcdef"


class ByteEdit(Struct, frozen=True):
    """``new`` replaces ``old`` at ``offset``; ``advance`` moves on; ``again`` is the second digit of the same byte."""

    offset: int
    old: bytes
    new: bytes
    advance: bool
    again: bool


class TypingState:
    """Turns typed characters into bytes: two hex digits per byte in one pane, one ASCII character in the other."""

    def __init__(self) -> None:
        self.half: int | None = None

    def reset(self) -> None:
        """Start a new byte with the next digit."""
        self.half = None

    def typed(self, character: str, pane: Pane, offset: int, old: bytes) -> ByteEdit | None:
        """The edit for a character typed at a byte; None if the character is not valid in the pane."""
        again = self.half == offset
        if pane is Pane.TEXT:
            self.half = None
            is_plain = len(character) == 1 and " " <= character <= "~"
            return ByteEdit(offset, old, character.encode(), True, False) if is_plain else None
        digit = _DIGITS.find(character.lower()) if len(character) == 1 else -1
        if digit < 0 or len(old) != 1:
            return None
        new = old[0] & 0xF0 | digit if again else digit << 4 | old[0] & 0x0F
        self.half = None if again else offset
        return ByteEdit(offset, old, bytes((new,)), again, again)


def parse_pasted(text: str, pane: Pane) -> bytes | None:
    """The bytes of a clipboard text: hex digits in one pane, UTF-8 in the other; None if it is not hex."""
    if pane is Pane.TEXT:
        return text.encode("utf-8", "surrogatepass")
    try:
        return bytes.fromhex(text.replace("0x", " ").replace("\\x", " ").replace(",", " "))
    except ValueError:
        return None
