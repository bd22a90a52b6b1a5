"""What typing in the hex view overwrites. Pure: it knows bytes and characters, no keys of Qt and no pixels."""

from __future__ import annotations

from typing import NamedTuple

from inspector.gui.hex.cursor import Pane

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
