"""The quick way over plain members: many headers are checked and listed at once.

A member is plain when one header says everything about it: a regular file, octal numbers, a name without a prefix, and
a checksum that fits. Whatever is not plain is left to the walk, which reads one header at a time.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.core.member import Members
from inspector.core.source import Source
from inspector.formats._tar.header import BLOCK, CHKSUM
from inspector.formats._tar.names import NameCheck

Blocks = NDArray[np.uint8]

WINDOW = 1024 * 1024
"""Bytes read at a time where members are small."""

SPARSE_HEADERS = 32 * 1024
"""Where members are larger than so many bytes each, their headers are read one by one."""

SINGLES = 1024
"""Headers read one by one before they are checked together."""


class Hop:
    """Appends runs of plain members to ``members`` and their headers to ``headers``, beginning where it is told."""

    def __init__(self, source: Source, members: Members, headers: array[int], names: NameCheck) -> None:
        self._source = source
        self._members = members
        self._headers = headers
        self._names = names
        self._start = -1
        self._next: list[int] = []
        self._blocks: Any = None
        self._stride = 0

    def run(self, at: int) -> int:
        """List plain members from ``at`` on; the answer is where the first byte after them is."""
        offsets, rows = self._singles(at) if self._stride > SPARSE_HEADERS else self._window(at)
        if not offsets:
            return at
        stop = self._accept(offsets, rows)
        self._stride = max(BLOCK, (stop - at) // len(offsets))
        return stop or at

    def _window(self, at: int) -> tuple[list[int], Blocks]:
        row = (at - self._start) // BLOCK
        if self._start < 0 or not 0 <= row < len(self._next):
            data = self._source.read(at, WINDOW)
            self._blocks = np.frombuffer(data, np.uint8, len(data) // BLOCK * BLOCK).reshape(-1, BLOCK)
            sizes = _octal(self._blocks[:, 124:135])
            plain = (sizes >= 0) & (self._blocks[:, 156] == 0x30)
            follow = np.arange(1, len(sizes) + 1) + (sizes + BLOCK - 1) // BLOCK
            self._next = np.where(plain, follow, -1).tolist()
            self._start, row = at, 0
        follows, found = self._next, []
        while 0 <= row < len(follows) and follows[row] > 0:
            found.append(row)
            row = follows[row]
        return [self._start + row * BLOCK for row in found], self._blocks[found]

    def _singles(self, at: int) -> tuple[list[int], Blocks]:
        offsets: list[int] = []
        blocks: list[bytes] = []
        while len(blocks) < SINGLES:
            block = self._source.read(at, BLOCK)
            digits = block[124:135]
            if len(block) < BLOCK or block[156] != 0x30 or not digits.isdigit() or b"8" in digits or b"9" in digits:
                break
            offsets.append(at)
            blocks.append(block)
            at += BLOCK + -(-int(digits, 8) // BLOCK) * BLOCK
        return offsets, np.frombuffer(b"".join(blocks), np.uint8).reshape(-1, BLOCK)

    def _accept(self, offsets: list[int], rows: Blocks) -> int:
        """List the members of the first rows that are plain; the answer is where they end, 0 where none is."""
        sizes = _octal(rows[:, 124:135])
        heads = np.array(offsets, np.int64)
        starts = heads + BLOCK
        stops = starts + sizes
        names = np.ascontiguousarray(rows[:, :100])
        filled = names != 0
        lengths = np.where(filled.all(axis=1), 100, filled.argmin(axis=1))
        good = _plain(rows) & (sizes >= 0) & (stops <= self._source.size)
        good &= (filled.sum(axis=1) == lengths) & (lengths > 0)
        count = len(good) if good.all() else int(good.argmin())
        if not count:
            return 0
        members = self._members
        base = len(members.paths)
        listed = names[:count].view("S100")[:, 0].tolist()
        self._names.many(len(members), listed, offsets[:count])
        members.paths += b"".join(listed)
        _extend(members.starts, starts[:count])
        _extend(members.stops, stops[:count])
        _extend(self._headers, heads[:count])
        if members.heads is not None:
            _extend(members.heads, heads[:count])
        for column in (members.marks, members.digests):
            if column is not None:
                column.frombytes(bytes(count * column.itemsize))
        if members.sizes is not None:
            _extend(members.sizes, sizes[:count])
        _extend(members.path_stops, base + np.cumsum(lengths[:count]))
        return min(self._source.size, int(starts[count - 1]) + -(-int(sizes[count - 1]) // BLOCK) * BLOCK)


def _extend(column: array[int], values: Any) -> None:
    column.frombytes(values.astype("uint64").tobytes())


def _octal(digits: Blocks) -> Any:
    """The numbers of columns of octal digits; -1 where something else stands among them."""
    values = digits - np.uint8(0x30)
    weights = 8.0 ** np.arange(digits.shape[1] - 1, -1, -1)
    return np.where((values < 8).all(axis=1), values @ weights, -1.0).astype(np.int64)


def _plain(rows: Blocks) -> Any:
    """Which rows are regular files whose checksum fits."""
    stored = _octal(rows[:, 148:154])
    sums = rows.sum(axis=1, dtype=np.uint32) - rows[:, CHKSUM].sum(axis=1, dtype=np.uint32) + 8 * 0x20
    ended = ((rows[:, 154:156] == 0) | (rows[:, 154:156] == 0x20)).all(axis=1)
    sized = (rows[:, 135] == 0) | (rows[:, 135] == 0x20)
    # Of ordinary modes (seven octal digits and a NUL) none has a digit here that says set-ID.
    ordinary = rows[:, 103] & 6 == 0
    magic = (rows[:, 257:262] == np.frombuffer(b"ustar", np.uint8)).all(axis=1)
    return (stored == sums) & ended & sized & ordinary & magic & (rows[:, 156] == 0x30) & (rows[:, 345] == 0)
