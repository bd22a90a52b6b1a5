"""List many regular members at once, with numpy.

A member is regular here if one header describes it: a regular file, octal numbers, a name without a prefix, and a
matching checksum. All others are left to ``walk``, which reads one header at a time.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.core.member import Members
from inspector.core.source import Source
from inspector.formats._tar.header import BLOCK, CHKSUM, NameCheck, aligned
from inspector.formats._tar.swallowed import Inside

Blocks = NDArray[np.uint8]
FAST_WINDOW_BYTES = 1024 * 1024
"""Bytes read at a time if members are small."""
MIN_STRIDE_FOR_SINGLES = 32 * 1024
"""If members are further apart than this, their headers are read one by one."""
MAX_SINGLE_HEADERS = 1024
"""Headers read one by one that are checked together."""


class FastWalk:
    """Appends runs of regular members to ``members``, and the offsets of their headers to ``headers``."""

    def __init__(
        self, source: Source, members: Members, headers: array[int], names: NameCheck, inside: Inside | None = None
    ) -> None:
        self._source = source
        self._inside = inside
        self._members = members
        self._headers = headers
        self._names = names
        self._start = -1
        self._next: list[int] = []
        self._blocks: Any = None
        self._stride = 0

    def run(self, at: int) -> int:
        """List regular members from ``at`` on; returns the offset after the last."""
        offsets, rows = self._read_singles(at) if self._stride > MIN_STRIDE_FOR_SINGLES else self._read_window(at)
        if not offsets:
            return at
        stop = self._accept(offsets, rows)
        self._stride = max(BLOCK, (stop - at) // len(offsets))
        return stop or at

    def _read_window(self, at: int) -> tuple[list[int], Blocks]:
        row, inside = divmod(at - self._start, BLOCK)
        if self._start < 0 or inside or not 0 <= row < len(self._next):
            data = self._source.read(at, FAST_WINDOW_BYTES)
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

    def _read_singles(self, at: int) -> tuple[list[int], Blocks]:
        offsets: list[int] = []
        blocks: list[bytes] = []
        while len(blocks) < MAX_SINGLE_HEADERS:
            block = self._source.read(at, BLOCK)
            digits = block[124:135]
            if len(block) < BLOCK or block[156] != 0x30 or not digits.isdigit() or b"8" in digits or b"9" in digits:
                break
            offsets.append(at)
            blocks.append(block)
            at += BLOCK + -(-int(digits, 8) // BLOCK) * BLOCK
        return offsets, np.frombuffer(b"".join(blocks), np.uint8).reshape(-1, BLOCK)

    def _accept(self, offsets: list[int], rows: Blocks) -> int:
        """List the members of the leading rows that are regular; returns where they end, 0 if there are none."""
        sizes = _octal(rows[:, 124:135])
        heads = np.array(offsets, np.int64)
        starts = heads + BLOCK
        stops = starts + sizes
        names = np.ascontiguousarray(rows[:, :100])
        filled = names != 0
        lengths = np.where(filled.all(axis=1), 100, filled.argmin(axis=1))
        good = _plain(rows) & (sizes >= 0) & (stops <= self._source.size)
        good &= (filled.sum(axis=1) == lengths) & (lengths > 0)
        if self._inside is not None:
            good &= ~self._has_header_inside(self._inside, heads, stops)
        count = len(good) if good.all() else int(good.argmin())
        if not count:
            return 0
        listed = names[:count].view("S100")[:, 0].tolist()
        self._names.check_many(len(self._members), listed, offsets[:count])
        self._headers.fromlist(offsets[:count])
        columns = {"starts": starts[:count], "stops": stops[:count], "sizes": sizes[:count], "heads": heads[:count]}
        self._members.extend(b"".join(listed), np.cumsum(lengths[:count]), columns)
        return min(self._source.size, int(starts[count - 1]) + -(-int(sizes[count - 1]) // BLOCK) * BLOCK)

    def _has_header_inside(self, inside: Inside, heads: Any, stops: Any) -> Any:
        """Which members have a header in their data; those are left to the walk too."""
        start = int(heads[0])
        found = np.array(inside.headers(start, start + aligned(int(stops.max()) - start)), np.int64)
        others = found[~np.isin(found, heads)]
        row = np.searchsorted(heads, others, "right") - 1
        bad = np.zeros(len(heads), bool)
        bad[row[others < stops[row]]] = True
        return bad


def _octal(digits: Blocks) -> Any:
    """The numbers in rows of octal digits; -1 for a row with anything else."""
    values = digits - np.uint8(0x30)
    weights = 8.0 ** np.arange(digits.shape[1] - 1, -1, -1)
    return np.where((values < 8).all(axis=1), values @ weights, -1.0).astype(np.int64)


def _plain(rows: Blocks) -> Any:
    """Which rows are regular files with a matching checksum."""
    stored = _octal(rows[:, 148:154])
    sums = rows.sum(axis=1, dtype=np.uint32) - rows[:, CHKSUM].sum(axis=1, dtype=np.uint32) + 8 * 0x20
    ended = ((rows[:, 154:156] == 0) | (rows[:, 154:156] == 0x20)).all(axis=1)
    sized = (rows[:, 135] == 0) | (rows[:, 135] == 0x20)
    # A mode of seven octal digits and a NUL has its set-ID bits in this digit.
    ordinary = rows[:, 103] & 6 == 0
    magic = (rows[:, 257:262] == np.frombuffer(b"ustar", np.uint8)).all(axis=1)
    return (stored == sums) & ended & sized & ordinary & magic & (rows[:, 156] == 0x30) & (rows[:, 345] == 0)
