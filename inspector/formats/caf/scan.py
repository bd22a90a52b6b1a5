"""A JSON scanner that tracks the position of every byte, never recurses and tolerates small deviations (RFC 8259).

It skips values instead of building them, so its memory does not grow with the document. A deviation from strict JSON
that can be read all the same (a trailing comma) is recorded in ``deviations``; anything else raises Malformed.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence

from inspector.core.span import Span

MAX_DEPTH = 64
"""Values nested deeper raise Malformed."""
MAX_SPANS_PER_DEVIATION = 1_000
"""Places recorded for each kind of deviation."""

_SPACE = re.compile(rb"[ \t\n\r]*+")
# A group that repeats keeps memory for each repetition, so what may be long is matched in pieces.
_STRING_PIECE = re.compile(rb'(?:[^"\\]++|\\.){1,1000}', re.DOTALL)
_WORD = re.compile(rb'[^\x00-\x20"{}\[\],:]++')
_STRICT_PIECE = re.compile(rb'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})){1,1000}')
_STRICT_WORD = re.compile(rb"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_SURROGATES = rb"\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}"
_ESCAPE = re.compile(
    rb"(?:\\u(?![dD][89a-fA-F])[0-9A-Fa-f]{4}){1,1000}|" + _SURROGATES + rb"|\\u[0-9A-Fa-f]{4}|\\(.)", re.DOTALL
)
_ESCAPED = {
    b'"': b'"',
    b"\\": b"\\",
    b"/": b"/",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
}

# Objects of plain keys and integers only, like the entries of an index, are skipped in one step.
_FLAT = re.compile(
    rb'\{[ \t\n\r]*+"[^"\\\x00-\x1f]*+"[ \t\n\r]*+:[ \t\n\r]*+(?:0|[1-9][0-9]*+)[ \t\n\r]*+'
    rb'(?:,[ \t\n\r]*+"[^"\\\x00-\x1f]*+"[ \t\n\r]*+:[ \t\n\r]*+(?:0|[1-9][0-9]*+)[ \t\n\r]*+){0,100}\}'
)

QUOTE, COMMA, COLON = ord('"'), ord(","), ord(":")
OBJECT, OBJECT_END, ARRAY, ARRAY_END = ord("{"), ord("}"), ord("["), ord("]")
_CLOSER = {OBJECT: OBJECT_END, ARRAY: ARRAY_END}

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_QUOTE_OR_TRAILING_COMMA = re.compile(rb'"|,(?=[ \t\n\r]*+[}\]])')

TRAILING_COMMA = "a comma after the last element"
BAD_STRING = "a string with a bare control character or an unknown escape"
BAD_WORD = "a word or number that JSON does not allow"
NOT_UTF8 = "bytes that are not UTF-8"
REJECTED = frozenset((BAD_STRING, BAD_WORD, NOT_UTF8))
"""Deviations that no strict reader accepts; a trailing comma and a byte order mark are habits of writers."""
_PIECE_BYTES = 1 << 20
"""Bytes decoded at a time, so that memory does not grow with the document."""


class Malformed(Exception):  # noqa: N818 - a result of scanning, not an error of the program
    """The document cannot be parsed at position ``at`` of the data.

    ``message`` completes a sentence that begins "it". ``end`` is set if the data simply stops there; ``resume`` is
    where reading can continue, if that is known.
    """

    def __init__(self, at: int, message: str, *, end: bool = False, resume: int | None = None) -> None:
        super().__init__(message)
        self.at = at
        self.message = message
        self.end = end
        self.resume = resume


class Scanner:
    """A cursor ``at`` in ``data``. Its methods advance it and raise Malformed.

    Spans are positions in ``data``. ``key`` is the span of the last key, with its quotes.
    """

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at
        self.key = Span(at, at)
        self.deviations: dict[str, list[Span]] = {}

    def note(self, deviation: str, start: int, stop: int) -> None:
        """Record a deviation from strict JSON at ``[start, stop)``."""
        places = self.deviations.setdefault(deviation, [])
        if len(places) < MAX_SPANS_PER_DEVIATION:
            places.append(Span(start, stop))

    def space(self) -> None:
        """Skip white space."""
        self.at = _SPACE.match(self.data, self.at).end()  # type: ignore[union-attr] # the pattern matches the empty string too

    def byte(self) -> int:
        if self.at >= len(self.data):
            raise Malformed(self.at, "ends in the middle of a value", end=True)
        return self.data[self.at]

    def follows(self, wanted: bytes) -> bool:
        """Whether one of these bytes comes next, after any white space."""
        self.space()
        return self.at < len(self.data) and self.data[self.at] in wanted

    def expect(self, byte: int, place: str) -> None:
        """Skip white space and this byte; ``place`` completes the message if there is another."""
        self.space()
        if self.byte() != byte:
            raise Malformed(self.at, f"has {_shown(self.data, self.at)} {place} instead of a {chr(byte)!r}")
        self.at += 1

    def string(self) -> Span:
        """Skip a string and return its span, with its quotes."""
        if self.byte() != QUOTE:
            raise Malformed(self.at, f"has {_shown(self.data, self.at)} where a string belongs")
        span = Span(self.at, _string_stop(self.data, self.at))
        if not span.stop:
            raise Malformed(self.at, "has a string that is never closed", end=True)
        if _end_of(_STRICT_PIECE, self.data, span.start + 1) != span.stop - 1:
            self.note(BAD_STRING, *span)
        self.at = span.stop
        return span

    def scalar(self) -> Span:
        """Skip a string, number, ``true``, ``false`` or ``null`` and return its span."""
        if self.byte() == QUOTE:
            return self.string()
        if (match := _WORD.match(self.data, self.at)) is None:
            raise Malformed(self.at, f"has {_shown(self.data, self.at)} where a value belongs")
        if not _STRICT_WORD.fullmatch(self.data, self.at, match.end()):
            self.note(BAD_WORD, *match.span())
        self.at = match.end()
        return Span(*match.span())

    def element(self, closer: int, first: bool) -> bool:
        """Skip what precedes the next element of an object or array: the comma, and in an object the key.

        False if the object or array ended instead; then its closing bracket is skipped.
        """
        self.space()
        if self.byte() == closer:
            self.at += 1
            return False
        if not first:
            comma = self.at
            self.expect(COMMA, "after a value")
            self.space()
            if self.byte() == closer:
                self.note(TRAILING_COMMA, comma, comma + 1)
                self.at += 1
                return False
        if closer == OBJECT_END:
            self.key = self.string()
            self.expect(COLON, "after a key")
        self.space()
        return True

    def value(self) -> Span:
        """Skip one value of any kind and return its span."""
        self.space()
        start = self.at
        closers = bytearray()
        while True:
            self.space()
            byte = self.byte()
            flat = _FLAT.match(self.data, self.at) if byte == OBJECT and len(closers) < MAX_DEPTH else None
            first = byte in _CLOSER and flat is None
            if flat:
                self.at = flat.end()
            elif first:
                if len(closers) >= MAX_DEPTH:
                    raise Malformed(self.at, f"is nested deeper than {MAX_DEPTH} levels")
                closers.append(_CLOSER[byte])
                self.at += 1
            else:
                self.scalar()
            while closers and not self.element(closers[-1], first):
                closers.pop()
                first = False
            if not closers:
                return Span(start, self.at)

    def pairs(self) -> Iterator[Span]:
        """Yield the keys of the object at the cursor. The caller skips each value before it asks for the next key."""
        self.expect(OBJECT, "where an object belongs")
        first = True
        while self.element(OBJECT_END, first):
            first = False
            yield self.key


def unquoted(data: bytes) -> bytes:
    """The UTF-8 bytes that a JSON string (with its quotes) stands for; lone surrogates survive."""
    inside = data[1:-1]
    if b"\\" not in inside:
        return inside
    # One by one: joining a million pieces takes 80 bytes for each of them.
    meant, at = bytearray(), 0
    for escape in _ESCAPE.finditer(inside):
        meant += inside[at : escape.start()]
        meant += _meaning(escape)
        at = escape.end()
    return bytes(meant + inside[at:])


def not_utf8(data: bytes) -> Iterator[Span]:
    """Where the bytes are not UTF-8, in order; lone surrogates are not."""
    at = 0
    while at < len(data):
        stop = min(at + _PIECE_BYTES, len(data))
        try:
            data[at:stop].decode("utf-8")
        except UnicodeDecodeError as error:
            if error.end == stop - at and stop < len(data) and error.start:
                stop = at + error.start  # the piece may end inside a character
            else:
                yield Span(at + error.start, at + error.end)
                stop = at + error.end
        at = stop


def _meaning(escape: re.Match[bytes]) -> bytes:
    if escape[1] is not None:
        return _ESCAPED.get(escape[1], escape[0])
    units = bytes.fromhex(escape[0].replace(b"\\u", b"").decode("ascii"))
    return units.decode("utf-16-be", "surrogatepass").encode("utf-8", "surrogatepass")


def _shown(data: bytes, at: int) -> str:
    byte = data[at]
    return repr(chr(byte)) if 0x20 <= byte < 0x7F else f"the byte 0x{byte:02x}"


def needless_bytes(data: bytes) -> Sequence[int]:
    """The offsets of a byte order mark and of trailing commas, which can become spaces, in a readable document."""
    found = array("Q", range(len(BYTE_ORDER_MARK)) if data.startswith(BYTE_ORDER_MARK) else ())
    at = 0
    while match := _QUOTE_OR_TRAILING_COMMA.search(data, at):
        at = match.end()
        if match[0] == b",":
            found.append(match.start())
        elif not (at := _string_stop(data, match.start())):  # a comma inside a string is not syntax
            break
    return found


def _string_stop(data: bytes, at: int) -> int:
    """Where the string at ``at``, a quote, ends behind its closing quote; 0 if it is never closed."""
    end = _end_of(_STRING_PIECE, data, at + 1)
    return end + 1 if data[end : end + 1] == b'"' else 0


def _end_of(piece: re.Pattern[bytes], data: bytes, at: int) -> int:
    """Where the pieces from ``at`` on end."""
    while match := piece.match(data, at):
        at = match.end()
    return at
