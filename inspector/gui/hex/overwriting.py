"""Typing and pasting over the bytes of a hex view, and what typed characters mean."""

from __future__ import annotations

from msgspec import Struct
from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence

from inspector.core.numbers import in_bytes
from inspector.gui.hex.layout import Pane
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
        self._half: int | None = None
        """The byte whose first digit was typed."""
        self._on = False
        view.installEventFilter(self)
        view.caretMoved.connect(self._reset)

    def set_on(self, on: bool) -> None:
        """Handle keys, or leave them to the view."""
        self._on = on
        self._reset()

    def _reset(self) -> None:
        self._half = None
        self._show_state()

    def _show_state(self) -> None:
        self._view.mark(overwriting=self._on, digit=int(self._half is not None))

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
        again, pane = self._half == caret, self._view.pane()
        typed = typed_over(event.text(), pane, caret, here[0][1], again) if here else None
        if typed is None:
            return False
        self._half = None if typed.advance else caret
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
            what = "hexadecimal digits" if view.pane() is Pane.HEX else "text"
            view.message.emit(f"The clipboard holds no {what} to paste into this column.")
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


def typed_over(character: str, pane: Pane, offset: int, old: bytes, again: bool) -> ByteEdit | None:
    """The edit for a character typed at a byte, None if it is not valid in the pane.

    Two hex digits are a byte in one pane, one ASCII character in the other; ``again``: the first digit was typed.
    """
    if pane is Pane.TEXT:
        is_plain = len(character) == 1 and " " <= character <= "~"
        return ByteEdit(offset, old, character.encode(), True, False) if is_plain else None
    digit = _DIGITS.find(character.lower()) if len(character) == 1 else -1
    if digit < 0 or len(old) != 1:
        return None
    new = old[0] & 0xF0 | digit if again else digit << 4 | old[0] & 0x0F
    return ByteEdit(offset, old, bytes((new,)), again, again)


def parse_pasted(text: str, pane: Pane) -> bytes | None:
    """The bytes of a clipboard text: hex digits in one pane, UTF-8 in the other; None if it is not hex."""
    if pane is Pane.TEXT:
        return text.encode("utf-8", "surrogatepass")
    try:
        return bytes.fromhex(text.replace("0x", " ").replace("\\x", " ").replace(",", " "))
    except ValueError:
        return None
