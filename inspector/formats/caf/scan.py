"""A JSON scanner that keeps the position of every byte, never recurses, and reads on past small departures.

It passes over values instead of building them, so its memory does not depend on what the document holds. Strict JSON
(RFC 8259) passes in silence; what is readable all the same (a trailing comma) is noted in ``lax``; what is not
readable raises Malformed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from inspector.core.span import Span

DEPTH = 64
"""The deepest nesting that is followed."""
KEPT = 1_000
"""How many places of one departure are kept."""

_SPACE = re.compile(rb"[ \t\n\r]*+")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*"', re.DOTALL)
_WORD = re.compile(rb'[^\x00-\x20"{}\[\],:]++')
_STRICT_STRING = re.compile(rb'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"')
_STRICT_WORD = re.compile(rb"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_ESCAPE = re.compile(rb"(?:\\u[0-9A-Fa-f]{4})+|\\(.)", re.DOTALL)
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

# Objects that hold nothing but plain keys and integers, as the entries of an index do, are passed in one step.
_FLAT = re.compile(
    rb'\{[ \t\n\r]*+"[^"\\\x00-\x1f]*+"[ \t\n\r]*+:[ \t\n\r]*+(?:0|[1-9][0-9]*+)[ \t\n\r]*+'
    rb'(?:,[ \t\n\r]*+"[^"\\\x00-\x1f]*+"[ \t\n\r]*+:[ \t\n\r]*+(?:0|[1-9][0-9]*+)[ \t\n\r]*+)*\}'
)

QUOTE, COMMA, COLON = ord('"'), ord(","), ord(":")
OBJECT, OBJECT_END, ARRAY, ARRAY_END = ord("{"), ord("}"), ord("["), ord("]")
_CLOSER = {OBJECT: OBJECT_END, ARRAY: ARRAY_END}

TRAILING_COMMA = "a comma after the last element"
BAD_STRING = "a string with a bare control character or an unknown escape"
BAD_WORD = "a word or number that JSON does not know"


class Malformed(Exception):  # noqa: N818 - a result of scanning, not an error of the program
    """The document cannot be followed at position ``at`` of the data.

    ``end`` says that it simply stops there, ``resume`` where reading can go on if that is known.
    """

    def __init__(self, at: int, message: str, *, end: bool = False, resume: int | None = None) -> None:
        super().__init__(message)
        self.at = at
        self.message = message
        self.end = end
        self.resume = resume


class Scanner:
    """A cursor ``at`` over ``data``.

    Positions are those of ``data``, half-open. ``key`` is the span of the last key passed, its quotes included.
    """

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at
        self.key = Span(at, at)
        self.lax: dict[str, list[Span]] = {}

    def note(self, departure: str, start: int, stop: int) -> None:
        """Remember a departure from strict JSON."""
        places = self.lax.setdefault(departure, [])
        if len(places) < KEPT:
            places.append(Span(start, stop))

    def space(self) -> None:
        """Pass white space."""
        self.at = _SPACE.match(self.data, self.at).end()  # type: ignore[union-attr] # the pattern matches nothing too

    def byte(self) -> int:
        """The byte at the cursor; raises Malformed at the end."""
        if self.at >= len(self.data):
            raise Malformed(self.at, "ends in the middle of a value", end=True)
        return self.data[self.at]

    def follows(self, wanted: bytes) -> bool:
        """Whether one of these bytes comes next; white space before it is passed."""
        self.space()
        return self.at < len(self.data) and self.data[self.at] in wanted

    def expect(self, byte: int, place: str) -> None:
        """Pass one byte; raises Malformed where another stands."""
        self.space()
        if self.byte() != byte:
            raise Malformed(self.at, f"has {_shown(self.data, self.at)} {place} instead of a {chr(byte)!r}")
        self.at += 1

    def string(self) -> Span:
        """Pass a string and say where it lies, its quotes included."""
        match = _STRING.match(self.data, self.at)
        if match is None:
            if self.byte() == QUOTE:
                raise Malformed(self.at, "has a string that is never closed", end=True)
            raise Malformed(self.at, f"has {_shown(self.data, self.at)} where a string has to stand")
        if not _STRICT_STRING.fullmatch(self.data, self.at, match.end()):
            self.note(BAD_STRING, *match.span())
        self.at = match.end()
        return Span(*match.span())

    def scalar(self) -> Span:
        """Pass a string, number, ``true``, ``false`` or ``null`` and say where it lies."""
        if self.byte() == QUOTE:
            return self.string()
        match = _WORD.match(self.data, self.at)
        if match is None:
            raise Malformed(self.at, f"has {_shown(self.data, self.at)} where a value has to stand")
        if not _STRICT_WORD.fullmatch(self.data, self.at, match.end()):
            self.note(BAD_WORD, *match.span())
        self.at = match.end()
        return Span(*match.span())

    def element(self, closer: int, first: bool) -> bool:
        """Pass what stands before the next element of an object or array, in an object its key too.

        False when the object or array was closed instead.
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
        """Pass one value of any kind and say where it lies."""
        self.space()
        start = self.at
        closers = bytearray()
        while True:
            self.space()
            byte = self.byte()
            flat = _FLAT.match(self.data, self.at) if byte == OBJECT and len(closers) < DEPTH else None
            first = byte in _CLOSER and flat is None
            if flat:
                self.at = flat.end()
            elif first:
                if len(closers) >= DEPTH:
                    raise Malformed(self.at, f"is nested deeper than {DEPTH} levels")
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
        """The keys of the object at the cursor; whoever asks has to pass each value before asking for the next."""
        self.expect(OBJECT, "where an object has to stand")
        first = True
        while self.element(OBJECT_END, first):
            first = False
            yield self.key


def unquoted(data: bytes) -> bytes:
    """The bytes that a JSON string (its quotes included) means, in UTF-8; lone surrogates survive as such."""
    inside = data[1:-1]
    return _ESCAPE.sub(_meaning, inside) if b"\\" in inside else inside


def _meaning(escape: re.Match[bytes]) -> bytes:
    if escape[1] is not None:
        return _ESCAPED.get(escape[1], escape[0])
    units = bytes.fromhex(escape[0].replace(b"\\u", b"").decode("ascii"))
    return units.decode("utf-16-be", "surrogatepass").encode("utf-8", "surrogatepass")


def _shown(data: bytes, at: int) -> str:
    byte = data[at]
    return repr(chr(byte)) if 0x20 <= byte < 0x7F else f"the byte 0x{byte:02X}"
