"""Writing a range: a tar of datapoints as the published programs make it, and the metadata beside it.

S3 Storage Layout, Datapoint Structure and Metadata Files. The tar is ustar (POSIX.1-2017, pax) with two blocks of zeros
at its end and no more. Nothing here writes: the caller is given the bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from inspector.core.names import visible
from inspector.core.numbers import in_bytes, verb
from inspector.formats._tar.header import BLOCK, CHKSUM, ZEROS, aligned, checksums
from inspector.formats._zstd import compress
from inspector.formats.datas3t.keys import DIGITS

LARGEST = 8**11 - 1
"""The largest datapoint whose size a ustar header can hold, in bytes."""

END = 2 * ZEROS
"""What ends a tar."""

_NAME = 100
_LEVEL = 19
"""The best compression that asks readers for no larger window."""


class WriteError(Exception):
    """A datapoint cannot be taken in: the message is a sentence for a person."""


class Row(NamedTuple):
    """What the metadata says of one datapoint: offsets in the tar, in bytes, and the xxHash64 of its data."""

    key: int
    begin: int
    end: int
    digest: int


def row_text(row: Row) -> bytes:
    """A row as it stands in the JSON: its numbers are strings, the hash has no leading zeros."""
    return b'{"id":"%d","begin_offset":"%d","end_offset":"%d","data_hash":"%x"}' % row


def metadata(rows: Iterable[Row]) -> bytes:
    """The metadata object: one zstd frame of a JSON array of the rows, which come in the order of their keys."""
    return compress(b"[%s]" % b",".join(map(row_text, rows)), _LEVEL)


def header(name: bytes, size: int, modified: int, mode: int = 0o644) -> bytes:
    """The header block of a regular file, byte for byte as Go's ``archive/tar`` writes it; raises WriteError.

    ``modified`` is in seconds since 1970.
    """
    if len(name) > _NAME:
        raise WriteError(
            f"The name {visible(name)!r} is longer than the {_NAME} bytes that the header of a tar can hold."
        )
    if size > LARGEST:
        raise WriteError(f"A datapoint has {in_bytes(size)}; the header of a tar can hold at most {in_bytes(LARGEST)}.")
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
    """A number of a header: ``size`` bytes with the NUL that ends it."""
    return b"%0*o\0" % (size - 1, value)


class Writer:
    """The books of a range that is being written, from the key ``first`` on, one key after another.

    The caller writes what ``begin``, ``end`` and ``finish`` give, and the datapoints' bytes between them. ``rows`` are
    for the metadata; ``size`` is what the tar would have if it were finished now, in bytes.
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
        """See the class."""
        return aligned(self._at) + len(END)

    @property
    def name(self) -> str:
        """What the object is called; it has at least one datapoint."""
        return f"{self._first:0{DIGITS}d}-{self.rows[-1].key:0{DIGITS}d}.tar"

    def begin(self, extension: str, size: int, modified: int) -> bytes:
        """Begin the next datapoint, whose name ends in ``extension`` (``.json``); gives its header."""
        name = f"{self._first + len(self.rows):0{DIGITS}d}{extension}".encode()
        block = header(name, size, modified)
        self._head, self._at, self._left = self._at, self._at + BLOCK, size
        self._digest = self._new()
        return block

    def add(self, data: bytes) -> None:
        """These bytes of the datapoint have been written; raises WriteError where they are more than announced."""
        self._left -= len(data)
        if self._left < 0:
            raise WriteError(f"A datapoint became larger while it was read, by {in_bytes(-self._left)} or more.")
        self._at += len(data)
        self._digest.update(data)

    def end(self) -> bytes:
        """End the datapoint; gives its padding. Raises WriteError where bytes are missing."""
        if self._left:
            missing = f"{in_bytes(self._left)} of it {verb(self._left, 'is', 'are')} missing"
            raise WriteError(f"A datapoint became smaller while it was read: {missing}.")
        padding = bytes(aligned(self._at) - self._at)
        self._at += len(padding)
        self.rows.append(Row(self._first + len(self.rows), self._head, self._at, self._digest.intdigest()))
        return padding

    def finish(self) -> bytes:
        """What ends the tar."""
        return END
