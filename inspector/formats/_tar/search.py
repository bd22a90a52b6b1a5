"""Search for tar headers at any byte, quickly over zeros, and within bounds.

A header with the magic ``ustar`` and a matching checksum is found at any byte; one without the magic (V7) only at whole
blocks from where a header belongs, because elsewhere a match may be chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from inspector.core.program.progress import Progress
from inspector.core.source import Source, any_byte, is_sparing
from inspector.formats._tar.header import BLOCK, CHKSUM, PLACES, number, parse

SEARCH_WINDOW_BYTES = 1 << 20
"""Bytes read and searched at a time; a header may begin in the last of them."""
FIRST_WINDOW_BYTES = 4096
"""Bytes read and searched first; windows grow, because what is searched for is often near."""
MAX_REMOTE_SEARCH_BYTES = 64 << 20
"""Bytes of a remote source that are searched; a check searches more."""
MAX_ZERO_SEARCH_BYTES = 256 << 20
"""Bytes searched after zeros that may be the end: a sparse file may have terabytes of them."""
_DIGITS = b" 01234567\0"
_SUM = slice(CHKSUM.start, CHKSUM.start + 6)
_MAGIC = b"ustar"
_MAGIC_AT = PLACES["magic"].start


class SearchResult(Struct, frozen=True):
    """Where the archive continues: at a header, or at the zeros that end it.

    ``stop`` is that offset, or the end of the file if there is neither; ``found`` is whether it is a header. If the
    search is not ``complete``, ``stop`` is where the search was given up.
    """

    stop: int
    complete: bool = True
    found: bool = False


def next_header(source: Source, at: int, progress: Progress, limit: int | None = None) -> SearchResult:
    """Search from ``at`` on, where a block begins, up to ``limit``. Raises SourceError and Cancelled."""
    label, done = progress.label, progress.done
    progress.label = "Searching for the next tar header"
    found = _search(source, at, progress, source.size if limit is None else min(limit, source.size))
    progress.label, progress.done = label, done
    return found


def _search(source: Source, start: int, progress: Progress, stop: int) -> SearchResult:
    at, used = start, start
    window = min(FIRST_WINDOW_BYTES, SEARCH_WINDOW_BYTES)
    limit = min(stop, start + MAX_REMOTE_SEARCH_BYTES) if is_sparing(source) else stop
    while at < limit:
        size = min(window, limit - at)
        data = source.read(at, size + BLOCK - 1)
        if not data:
            break
        if any_byte(data):
            inner = next((each for each in header_offsets(data, (start - at) % BLOCK) if each < size), -1)
            if inner >= 0:
                return SearchResult(at + inner, found=True)
            used = max(used, at + len(data.rstrip(b"\0")))
        at += size
        window = min(8 * window, SEARCH_WINDOW_BYTES)
        progress.advance(size)
    if limit < source.size:
        return SearchResult(limit, complete=False)
    zeros = start + -(-(used - start) // BLOCK) * BLOCK
    ends_archive = (source.size - zeros) % BLOCK == 0 and source.size - zeros >= 2 * BLOCK
    return SearchResult(zeros if ends_archive else source.size)


def headers_between(source: Source, start: int, stop: int, progress: Progress) -> Iterator[tuple[int, int]]:
    """The headers that begin in ``[start, stop)``, none inside another: their offsets, and the sizes of their data."""
    at, free = start, start
    while at < stop:
        size = min(SEARCH_WINDOW_BYTES, stop - at)
        data = source.read(at, size + BLOCK - 1)
        for inner in header_offsets(data, (start - at) % BLOCK) if any_byte(data) else ():
            if inner < size and at + inner >= free:
                yield at + inner, parse(data[inner : inner + BLOCK]).stored
                free = at + inner + BLOCK
        at += size
        progress.advance(0)


def header_offsets(data: bytes, grid: int) -> list[int]:
    """The offsets of complete headers in ``data``, ascending, none inside another; blocks begin at ``grid``."""
    # Imported here because sound archives do not need numpy.
    import numpy as np

    last = len(data) - BLOCK
    if last < 0:
        return []
    row = np.frombuffer(data, np.uint8)
    digits = np.frombuffer(_DIGITS, np.uint8)
    blocks = row[grid : grid + (len(data) - grid) // BLOCK * BLOCK].reshape(-1, BLOCK)
    summed = np.isin(blocks[:, _SUM], digits).all(axis=1) & blocks[:, _SUM].any(axis=1)
    starts = {grid + BLOCK * each for each in np.flatnonzero(summed).tolist()}
    at = data.find(_MAGIC, _MAGIC_AT)
    while 0 <= at <= last + _MAGIC_AT:
        starts.add(at - _MAGIC_AT)
        at = data.find(_MAGIC, at + 1)
    if not starts:
        return []
    places = np.array(sorted(starts), np.int64)
    places = places[np.isin(row[places[:, None] + np.arange(_SUM.start, _SUM.stop)], digits).all(axis=1)]
    sums = _block_sums(row, places)
    # Bytes of 128 and more count as negative in the sums of old programs.
    signed = sums - 256 * _block_sums(row >= 0x80, places)
    sums += 8 * 0x20
    signed += 8 * 0x20
    found: list[int] = []
    for start, total, old in zip(places.tolist(), sums.tolist(), signed.tolist(), strict=True):
        if found and start < found[-1] + BLOCK:
            continue
        stored = number(data[start + CHKSUM.start : start + CHKSUM.stop])
        if stored in (total, old) and parse(data[start : start + BLOCK]).fits:
            found.append(start)
    return found


_MAX_SUMMED_BYTES = 1 << 23
"""So many bytes add up to less than 2**31."""


def _block_sums(row: Any, places: Any) -> Any:
    """The sums of the blocks that begin at ``places`` of a row of bytes, without their checksum fields."""
    import numpy as np

    kind = np.int32 if len(row) < _MAX_SUMMED_BYTES else np.int64
    before = np.zeros(len(row) + 1, kind)
    np.cumsum(row, dtype=kind, out=before[1:])
    return before[places + BLOCK] - before[places + CHKSUM.stop] + before[places + CHKSUM.start] - before[places]
