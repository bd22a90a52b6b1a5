"""What a block of bytes looks like by itself, and its entropy; whatever any format says of it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from math import exp, log2
from typing import NamedTuple

SMALL_BLOCK = 256
"""Bytes that are judged together where bytes are looked at closely."""
MAX_PERIOD = 64
"""The longest pattern, in bytes, whose repetition makes a block ``REPEATED``."""
MIN_REPEATED = 16
"""The fewest bytes in which a repetition is no chance."""
MIN_RANDOM = 128
"""The fewest bytes whose entropy can tell what is compressed from what is not."""
_RANDOM_MARGIN = 0.3
"""How far below the entropy of random bytes that of compressed ones may be, in bits a byte. Three times as far in small
blocks, where a little structure weighs more; machine code is far below that too."""


class ByteClass(StrEnum):
    """What bytes look like; the value is the word for it."""

    ZEROS = "zeros"
    REPEATED = "repeated"
    TEXT = "ASCII text"
    UTF8 = "UTF-8 text"
    RANDOM = "compressed or random"
    OTHER = "other data"


CLASSES = tuple(ByteClass)
"""All classes; their positions are the numbers by which arrays hold them."""
TEXT_BYTES = bytes((*b"\t\n\f\r\x1b", *range(0x20, 0x7F)))
"""The bytes of ASCII text."""
UTF8_BYTES = bytes((*range(0x80, 0xC0), *range(0xC2, 0xF5)))
"""The bytes of UTF-8 beyond ASCII."""


class Look(NamedTuple):
    """What bytes look like, and their entropy in bits a byte."""

    byte_class: ByteClass
    entropy: float

    @property
    def text(self) -> str:
        """Both as text."""
        return f"{self.byte_class}, {self.entropy:.2f} bits a byte"


def look_of(data: bytes) -> Look:
    """What one block looks like; OTHER for no bytes."""
    counts = [data.count(byte) for byte in set(data)]
    found = entropy(counts)
    return Look(_class_of(data, found), found)


def _class_of(data: bytes, entropy: float) -> ByteClass:
    if data and not data.strip(b"\0"):
        return ByteClass.ZEROS
    if is_repeated(data):
        return ByteClass.REPEATED
    if data and not data.translate(None, TEXT_BYTES):
        return ByteClass.TEXT
    if data and not data.translate(None, TEXT_BYTES + UTF8_BYTES) and is_utf8(data):
        return ByteClass.UTF8
    return ByteClass.RANDOM if entropy >= random_entropy(len(data)) else ByteClass.OTHER


def entropy(counts: Sequence[int]) -> float:
    """Shannon's entropy of bytes that occur so often, in bits a byte."""
    size = sum(counts)
    return max(0.0, log2(size) - sum(count * log2(count) for count in counts if count) / size) if size else 0.0


@cache
def random_entropy(size: int) -> float:
    """The entropy from which ``size`` bytes count as compressed or random; out of reach for very few."""
    if size < MIN_RANDOM:
        return 9.0
    # Of random bytes each value occurs about Poisson(size / 256) times.
    mean = size / 256
    margin = _RANDOM_MARGIN * (1 + 2 * min(1.0, 1 / mean))
    if mean > 500:  # each value occurs about as often
        return 8.0 - margin
    chance, expected = exp(-mean), 0.0
    for count in range(1, int(mean + 12 * mean**0.5) + 12):
        chance *= mean / count
        expected += chance * count * log2(count)
    return log2(size) - 256 * expected / size - margin


def is_repeated(data: bytes) -> bool:
    """Whether bytes are one pattern of at most ``MAX_PERIOD`` bytes again and again, twice at least."""
    size = len(data)
    longest = min(MAX_PERIOD, size // 2)
    if size < MIN_REPEATED:
        return False
    # Any period repeats the first bytes; a start that occurs often has several candidates.
    head = data[: size - longest] if size < 2 * MAX_PERIOD else data[:MAX_PERIOD]
    period = data.find(head, 1, longest + len(head))
    while 0 < period <= longest:
        if data.startswith(data[period:]):
            return True
        period = data.find(head, period + 1, longest + len(head))
    return False


def is_utf8(data: bytes) -> bool:
    """Whether bytes are UTF-8 with something beyond ASCII, apart from characters cut off at either end."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    try:
        data[start:].decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data" or error.end < len(data) - start:
            return False
    return not data.isascii()
