"""Write a range: a tar of datapoints as the published programs write it, and its metadata.

S3 Storage Layout, Datapoint Structure and Metadata Files. The tar is ustar (POSIX.1-2017, pax) with two blocks of zeros
at its end and no more. Nothing here does I/O: the caller writes the returned bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from inspector.core.names import visible
from inspector.core.numbers import in_bytes, verb
from inspector.formats._tar.header import BLOCK, CHKSUM, ZEROS, aligned, checksums
from inspector.formats._zstd import compress
from inspector.formats.datas3t import DIGITS

MAX_DATAPOINT_BYTES = 8**11 - 1
"""The largest size that a ustar header can hold."""

END = 2 * ZEROS
"""The end of a tar."""

_NAME = 100
_LEVEL = 19
"""The highest compression level that needs no larger window in readers."""


class WriteError(Exception):
    """A datapoint cannot be added; the message is a sentence for users."""


class Row(NamedTuple):
    """The metadata of one datapoint: offsets in the tar in bytes, and the xxHash64 of its data."""

    key: int
    begin: int
    end: int
    digest: int


def row_text(row: Row) -> bytes:
    """A row as JSON: its numbers are strings, the hash has no leading zeros."""
    return b'{"id":"%d","begin_offset":"%d","end_offset":"%d","data_hash":"%x"}' % row


def metadata(rows: Iterable[Row]) -> bytes:
    """The metadata object: one zstd frame of a JSON array of the rows, given in key order."""
    return compress(b"[%s]" % b",".join(map(row_text, rows)), _LEVEL)


def header(name: bytes, size: int, modified: int, mode: int = 0o644) -> bytes:
    """The header block of a regular file, byte for byte as Go's ``archive/tar`` writes it; raises WriteError.

    ``modified`` is in seconds since 1970.
    """
    if len(name) > _NAME:
        raise WriteError(f"The name '{visible(name)}' is longer than the {_NAME} bytes that a tar header can hold.")
    if size > MAX_DATAPOINT_BYTES:
        raise WriteError(
            f"A datapoint has {in_bytes(size)}; a tar header can hold at most {in_bytes(MAX_DATAPOINT_BYTES)}."
        )
    block = bytearray(ZEROS)
    block[: len(name)] = name
    for start, stop, value in ((100, 108, mode), (108, 116, 0), (116, 124, 0), (124, 136, size), (136, 148, modified)):
        block[start:stop] = octal(value, stop - start)
    block[156:157] = b"0"
    block[257:265] = b"ustar\x0000"
    block[329:337] = block[337:345] = octal(0, 8)
    block[CHKSUM] = octal(checksums(bytes(block))[0], 7) + b" "
    return bytes(block)


def octal(value: int, size: int) -> bytes:
    """A header number of ``size`` bytes, including its final NUL."""
    return b"%0*o\0" % (size - 1, value)


class Writer:
    """Tracks a range being written, with contiguous keys from ``first``.

    The caller writes what ``begin``, ``end`` and ``finish`` return, and the bytes of the datapoints in between.
    ``rows`` go into the metadata.
    """

    def __init__(self, first: int) -> None:
        # Imported here because start-up must not wait for it.
        import xxhash

        self._new = xxhash.xxh64
        self._digest = self._new()
        self._first = first
        self._head = self._at = self._left = 0
        self.rows: list[Row] = []

    @property
    def size(self) -> int:
        """Bytes of the tar if it were finished now."""
        return aligned(self._at) + len(END)

    @property
    def name(self) -> str:
        """The object name; needs at least one datapoint."""
        return f"{self._first:0{DIGITS}d}-{self.rows[-1].key:0{DIGITS}d}.tar"

    def begin(self, extension: str, size: int, modified: int) -> bytes:
        """Start the next datapoint, whose name ends in ``extension`` (``.json``); returns its header."""
        name = f"{self._first + len(self.rows):0{DIGITS}d}{extension}".encode()
        block = header(name, size, modified)
        self._head, self._at, self._left = self._at, self._at + BLOCK, size
        self._digest = self._new()
        return block

    def add(self, data: bytes) -> None:
        """Count written bytes of the datapoint; raises WriteError if they exceed the announced size."""
        self._left -= len(data)
        if self._left < 0:
            raise WriteError(f"A datapoint became larger while it was read, by {in_bytes(-self._left)} or more.")
        self._at += len(data)
        self._digest.update(data)

    def end(self) -> bytes:
        """End the datapoint; returns its padding. Raises WriteError if bytes are missing."""
        if self._left:
            missing = f"{in_bytes(self._left)} of it {verb(self._left, 'is', 'are')} missing"
            raise WriteError(f"A datapoint became smaller while it was read: {missing}.")
        padding = bytes(aligned(self._at) - self._at)
        self._at += len(padding)
        self.rows.append(Row(self._first + len(self.rows), self._head, self._at, self._digest.intdigest()))
        return padding

    def finish(self) -> bytes:
        """The end of the tar."""
        return END
