"""Strings in any bytes: runs of characters in ASCII, UTF-8 and UTF-16."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from heapq import merge

from inspector.core.program.progress import Progress
from inspector.core.source import Source, blocks
from inspector.operations.protocol.bytes_views import Encoding, Text

MIN_CHARACTERS = 4
"""The shortest string unless another length is asked for, in characters."""
MAX_MINIMUM = 100_000
"""The most characters that the shortest string may be asked to have: so many are held in memory."""
MAX_TEXT_CHARACTERS = 4_096
"""Characters of a string that are told; its span has all of them."""
BLOCK_BYTES = 1 << 18
"""Bytes looked at between two chances to cancel."""
WINDOW = 1 << 17
"""Half the size of the longest string told in one, in bytes: matching takes some 240 bytes of memory for each."""

_ZEROS = bytes(BLOCK_BYTES)
_MAX_WIDTH = 4
"""Bytes of a character at most, in any encoding."""

_ASCII = rb"[\t\x20-\x7e]"
# Unicode 15, table 3-7: well-formed sequences, without the control characters U+0080 to U+009F.
_UTF8 = (
    rb"(?:[\t\x20-\x7e]|\xc2[\xa0-\xbf]|[\xc3-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]"
    rb"|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}"
    rb"|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})"
)
_LOW_BYTE = {Encoding.UTF16LE: 0, Encoding.UTF16BE: 1}
"""Which of the two bytes of a character is the low one."""
_PRINTED = bytes(each == 9 or 0x20 <= each <= 0x7E or each >= 0xA0 for each in range(256))
_IS_ZERO = bytes(each == 0 for each in range(256))
_ALPHABETS = bytes(1 <= each <= 5 for each in range(256))
"""Tables for all bytes at once: 1 for a low byte of Latin-1, a high one of it, a high one of other alphabets."""
_WITHIN = {
    Encoding.ASCII: rb"(?<![\t\x20-\x7e])",
    Encoding.UTF8: (
        rb"(?<![\t\x20-\x7e])(?<!\xc2[\xa0-\xbf])(?<![\xc3-\xdf][\x80-\xbf])"
        rb"(?<!\xe0[\xa0-\xbf][\x80-\xbf])(?<![\xe1-\xec\xee\xef][\x80-\xbf]{2})(?<!\xed[\x80-\x9f][\x80-\xbf])"
    ),
}
"""What tells that a run of characters does not begin here but goes on; else each of its characters begins a search.

Not for the bytes of UTF-16, where those that a string at an odd place has taken may look like the character before: its
even and odd places are searched apart, as flags. Of characters of four bytes there are few.
"""
_PATTERNS = {Encoding.ASCII: _ASCII, Encoding.UTF8: _UTF8}
"""What a character is."""
_CODECS = {
    Encoding.ASCII: (1, "ascii"),
    Encoding.UTF8: (4, "utf-8"),
    Encoding.UTF16LE: (2, "utf-16-le"),
    Encoding.UTF16BE: (2, "utf-16-be"),
}
"""The bytes that a character of each encoding has at most, and Python's name of the encoding.

Of UTF-16 only characters to U+05FF count, the alphabets of Latin, Greek, Cyrillic and Hebrew: any two bytes are a
character of it, and others would find strings everywhere.
"""


def strings(
    source: Source, encodings: Collection[Encoding], minimum: int, progress: Progress, wanted: str = ""
) -> Iterator[Text]:
    """The strings of at least ``minimum`` characters that hold ``wanted``; those of each encoding ascend.

    ``minimum`` is at most MAX_MINIMUM; ``wanted`` ignores case. With UTF-8, what is ASCII alone is told as that if
    ASCII is asked for. A string longer than ``WINDOW`` is told in parts. Raises SourceError and Cancelled.
    """
    progress.begin("Searching for strings", source.size)
    minimum = max(1, min(minimum, MAX_MINIMUM))
    lower = wanted.casefold()
    searches = [_Search(each, minimum) for each in Encoding if each in encodings]
    if Encoding.ASCII in encodings and Encoding.UTF8 in encodings:
        searches = [each for each in searches if each.encoding is not Encoding.ASCII]
    at = 0
    for block in blocks(source, 0, source.size, BLOCK_BYTES):
        at += len(block)
        if block == _ZEROS[: len(block)] and len(block) > 2 * _MAX_WIDTH:
            found = merge(*(each.pass_zeros(len(block)) for each in searches))
        else:
            found = merge(*(each.feed(block, at == source.size) for each in searches))
        for text in found:
            if lower in text.text.casefold():
                yield _named(text, encodings)
        progress.advance(len(block))


def _named(text: Text, encodings: Collection[Encoding]) -> Text:
    if text.encoding is Encoding.UTF8 and Encoding.ASCII in encodings and text.stop - text.start == text.characters:
        return text._replace(encoding=Encoding.ASCII)
    return text


class _Search:
    """Finds the strings of one encoding in blocks that follow each other."""

    def __init__(self, encoding: Encoding, minimum: int) -> None:
        self._width, self._codec = _CODECS[encoding]
        self.encoding = encoding
        self._minimum = minimum
        self._low = _LOW_BYTE.get(encoding)
        pattern = rb"(?<!\x01)\x01" if self._low is not None else _WITHIN[encoding] + _PATTERNS[encoding]
        self._pattern = re.compile(pattern + rb"{%d,}" % minimum)
        self._held = b""
        self._at = 0

    def pass_zeros(self, size: int) -> Iterator[Text]:
        """As ``feed``, of ``size`` zeros: a string has no more of them than a character beside them has."""
        beside = bytes(self._width)
        stop = self._at + len(self._held) + size
        yield from self.feed(beside, True)
        self._held, self._at = beside, stop - len(beside)

    def _spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Where strings are that are long enough, each looked at a few times at most."""
        if self._low is None:
            yield from (match.span() for match in self._pattern.finditer(data))
            return
        runs = [self._runs(self._low, data, first) for first in range(2)]
        ahead = [next(each, None) for each in runs]
        at = 0
        while True:
            found = []
            for first, each in enumerate(runs):
                while (run := ahead[first]) is not None:
                    start = max(run[0], at + (at - first) % 2)
                    if run[1] - start >= 2 * self._minimum:
                        found.append((start, run[1]))
                        break
                    ahead[first] = next(each, None)
            if not found:
                return
            yield min(found)
            at = min(found)[1]

    def _runs(self, low: int, data: bytes, first: int) -> Iterator[tuple[int, int]]:
        """Runs of characters of UTF-16 that begin a whole number of them after ``first``."""
        stop = len(data) - (len(data) - first) % 2
        lows, highs = data[first + low : stop : 2], data[first + 1 - low : stop : 2]
        latin = int.from_bytes(lows.translate(_PRINTED)) & int.from_bytes(highs.translate(_IS_ZERO))
        flags = (latin | int.from_bytes(highs.translate(_ALPHABETS))).to_bytes(len(lows))
        for match in self._pattern.finditer(flags):
            yield first + 2 * match.start(), first + 2 * match.end()

    def feed(self, block: bytes, is_last: bool) -> Iterator[Text]:
        """The strings that end in the block; what may go on after it is held back."""
        data = self._held + block
        size, width = len(data), self._width
        done, keep = 0, size
        if not is_last:
            # A shorter beginning of a string is no match yet.
            keep = max(0, size - self._minimum * width + 1)
        for start, stop in self._spans(data):
            if not is_last and stop > size - width and stop - start < 2 * WINDOW:
                keep = start
                break
            done = stop
            found = data[start:stop].decode(self._codec, "replace")
            if found.isascii() or found.replace("\t", "").isprintable():
                span = (self._at + start, self._at + stop)
                yield Text(*span, self.encoding, len(found), found[:MAX_TEXT_CHARACTERS])
        keep = max(done, keep)
        self._held = data[keep:]
        self._at += keep
