"""What a pattern of the user occurs in: contents, stored bytes and names, in windows that overlap."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator

from inspector.operations.open.ask import MAX_MATCHING_S, AskError, at_most

_WINDOW_BYTES = 4 << 20
_OVERLAP_BYTES = 64 << 10
"""The longest match that is found wherever it begins; of a longer one what is in a window."""
_NUMBER = re.compile(r"\s*(?:(u|i)(8|16|32|64)|f(32|64))(le|be)?\s*=\s*(\S+)\s*")
_HEXADECIMAL = re.compile(r"\s*(?:0x(?:[0-9a-fA-F]{2})+|(?:[0-9a-fA-F]{2}|\?\?)(?:\s+(?:[0-9a-fA-F]{2}|\?\?))+)\s*")
_INTEGERS, _FLOATS = {"8": "b", "16": "h", "32": "i", "64": "q"}, {"32": "f", "64": "d"}


def pattern_of(text: str, *, fixed: bool = False, ignore_case: bool = False) -> re.Pattern[bytes]:
    """What is searched: bytes in hexadecimal, a number (``u32le = 1000``), else an expression of Python's ``re``.

    ``fixed``: always this text. Raises AskError.
    """
    flags = re.MULTILINE | (re.IGNORECASE if ignore_case else 0)
    if not text:
        raise AskError("An empty pattern is everywhere.")
    data = text.encode("utf-8", "surrogateescape")
    try:
        if fixed:
            return re.compile(re.escape(data), flags)
        if number := _NUMBER.fullmatch(text):
            return re.compile(re.escape(_packed(number)))
        if _HEXADECIMAL.fullmatch(text):
            pairs = re.findall(r"[0-9a-fA-F]{2}|\?\?", text.strip().removeprefix("0x"))
            return re.compile(
                b"".join(b"." if each == "??" else re.escape(bytes.fromhex(each)) for each in pairs), re.DOTALL
            )
        return re.compile(data, flags)
    except (re.error, RecursionError, OverflowError, MemoryError, ValueError, struct.error) as error:
        raise AskError(f"The pattern is wrong: {error}. With -F it is taken as text.") from None


def _packed(number: re.Match[str]) -> bytes:
    sign, bits, float_bits, order, value = number.groups()
    code = _FLOATS[float_bits] if float_bits else _INTEGERS[bits]
    code = code.upper() if sign == "u" else code
    return struct.pack((">" if order == "be" else "<") + code, float(value) if float_bits else int(value, 0))


def matches(pattern: re.Pattern[bytes], pieces: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Where it occurs in the joined pieces, and what: each place once, from left to right. Raises AskError."""
    held, base, after = b"", 0, 0
    for window, is_last in _windows(pieces):
        held += window
        # What begins near the end may go on in the next window; a byte stays before the rest, for what looks back.
        limit = len(held) + 1 if is_last else max(0, len(held) - _OVERLAP_BYTES)
        found = []
        with at_most(MAX_MATCHING_S, "The regular expression"):
            for each in pattern.finditer(held, max(0, after - base)):
                if each.start() >= limit:
                    break
                found.append((base + each.start(), each[0]))
        yield from found
        ends = found[-1][0] + max(1, len(found[-1][1])) if found else 0
        after, cut = max(after, base + limit, ends), max(0, limit - 1)
        held, base = held[cut:], base + cut


def _windows(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """The pieces joined into windows, and of each whether it is the last."""
    held = bytearray()
    for piece in pieces:
        held += piece
        if len(held) >= _WINDOW_BYTES:
            yield bytes(held), False
            held.clear()
    yield bytes(held), True
