"""Names are bytes. Here they become text: once for programs (decoded) and once for people (visible)."""

from __future__ import annotations

import unicodedata

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "␡"}
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def decoded(name: bytes) -> tuple[str, bool]:
    """The name as text, and whether the bytes can be had back from it."""
    try:
        return name.decode("utf-8"), True
    except UnicodeDecodeError:
        return name.decode("utf-8", "replace"), False


def encoded(name: str) -> bytes:
    """The bytes of a name that came as text; lone surrogates survive."""
    return name.encode("utf-8", "surrogatepass")


def visible(name: bytes | str) -> str:
    """The name for a person: control, bidirectional, invisible and undecodable characters are made visible.

    The result is plain text without line ends, surrogates or NULs, whatever the name holds.
    """
    text = name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else name
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible_character(character) for character in text)


def _visible_character(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if code in _PICTURES:
        return _PICTURES[code]
    category = unicodedata.category(character)
    if category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") or (category == "Zs" and character != " "):
        return f"‹U+{code:04X}›"
    return character
