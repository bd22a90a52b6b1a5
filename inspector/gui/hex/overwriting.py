"""Typing and pasting over the bytes of a hex view."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence

from inspector.core.numbers import in_bytes
from inspector.gui.hex.cursor import Pane
from inspector.gui.hex.view import HexView

_COMMANDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier


class Overwriting(QObject):
    """Takes keys from a hex view while it is on. It changes nothing: whoever hears it has the bytes changed.

    Signals:
        overwritten(object): bytes were typed or pasted over those that are shown: a Typed.
    """

    overwritten = Signal(object)

    def __init__(self, view: HexView) -> None:
        super().__init__(view)
        self._view = view
        self._typist = Typist()
        self._on = False
        view.installEventFilter(self)
        view.caretMoved.connect(self._forget)

    def set_on(self, on: bool) -> None:
        """Take keys, or leave them to the view."""
        self._on = on
        self._forget()

    def _forget(self) -> None:
        self._typist.forget()
        self._mark()

    def _mark(self) -> None:
        self._view.setOverwriting(self._on, int(self._typist.half is not None))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: ARG002 - there is one view
        """Qt override: while bytes are overwritten, pasting is for them and no shortcut of the window."""
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
        if model is None or event.modifiers() & _COMMANDS:
            return False
        here = model.bytes_at(caret, caret + 1)
        typed = self._typist.typed(event.text(), self._view.pane(), caret, here[0][1]) if here else None
        if typed is None:
            return False
        self.overwritten.emit(typed)
        if typed.advance:
            self._view.goTo(typed.offset + 1)
        self._mark()
        return True

    def _paste(self) -> None:
        view, model = self._view, self._view.model()
        data = pasted(QGuiApplication.clipboard().text(), view.pane())
        start = view.selection().start
        if model is None or not data:
            text = "The clipboard holds no text to paste into this column."
            if view.pane() is Pane.HEX:
                text = "The clipboard holds no hexadecimal digits to paste into this column."
            view.said.emit(text)
        elif start + len(data) > model.size:
            view.said.emit(f"{in_bytes(len(data))} do not fit before the end of the file.")
        else:
            stop = start + len(data)
            model.gather(start, stop, lambda old: self.overwritten.emit(Typed(start, old, data, True, False)))


_DIGITS = "0123456789abcdef"


class Typed(NamedTuple):
    """``new`` over ``old`` at ``offset``; ``advance`` to the next byte; ``again`` changes the byte typed last."""

    offset: int
    old: bytes
    new: bytes
    advance: bool
    again: bool


class Typist:
    """Turns characters into bytes: two hexadecimal digits a byte in one pane, one ASCII character in the other."""

    def __init__(self) -> None:
        self._half: int | None = None

    @property
    def half(self) -> int | None:
        """The byte of which one digit has been typed."""
        return self._half

    def forget(self) -> None:
        """The next digit is a first one."""
        self._half = None

    def typed(self, character: str, pane: Pane, offset: int, old: bytes) -> Typed | None:
        """What a character typed at a byte does; None where it is none that could stand there."""
        again = self._half == offset
        if pane is Pane.TEXT:
            self._half = None
            is_plain = len(character) == 1 and " " <= character <= "~"
            return Typed(offset, old, character.encode(), True, False) if is_plain else None
        digit = _DIGITS.find(character.lower()) if len(character) == 1 else -1
        if digit < 0 or len(old) != 1:
            return None
        new = old[0] & 0xF0 | digit if again else digit << 4 | old[0] & 0x0F
        self._half = None if again else offset
        return Typed(offset, old, bytes((new,)), again, again)


def pasted(text: str, pane: Pane) -> bytes | None:
    """The bytes a text from the clipboard stands for: hexadecimal digits in one pane, UTF-8 in the other."""
    if pane is Pane.TEXT:
        return text.encode("utf-8", "surrogatepass")
    try:
        return bytes.fromhex(text.replace("0x", " ").replace("\\x", " ").replace(",", " "))
    except ValueError:
        return None
