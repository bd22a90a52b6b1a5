"""The position of a walk, and how it continues without a header: at zeros, at the end of the archive, after damage."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from inspector.core.archive import Emitter
from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.numbers import in_bytes, verb
from inspector.core.progress import Progress
from inspector.core.source import Source, is_sparing
from inspector.core.span import Span
from inspector.formats._tar.header import BLOCK, ZEROS, Header, aligned, parse

HEADER_WINDOW_BYTES = 64 * 1024
"""Bytes read at a time when headers are read one by one."""


@dataclass(frozen=True, slots=True)
class Stray:
    """Bytes between or after the members that belong to none."""

    name: str
    kind: Kind
    span: Span
    note: str


@dataclass(slots=True)
class Layout:
    """What the walk finds besides members. ``runs`` are the spans that members fill without a gap.

    ``headers`` are the offsets of header blocks in file order; ``unfit`` of them have a wrong checksum.
    """

    runs: list[Span] = field(default_factory=list)
    strays: list[Stray] = field(default_factory=list)
    headers: array[int] = field(default_factory=lambda: array("Q"))
    unfit: int = 0


Recorded = Callable[[], Sequence[int]]
"""Returns the offsets where members begin according to metadata outside the tar, in ascending order."""


def nothing_recorded() -> Sequence[int]:
    """For a tar without such metadata."""
    return ()


class Cursor:
    """The position ``at`` of a walk, which only moves forward. ``ended`` is set when the walk is over."""

    def __init__(
        self,
        source: Source,
        emitter: Emitter,
        progress: Progress,
        layout: Layout,
        recorded: Recorded = nothing_recorded,
    ) -> None:
        self.source = source
        self.emitter = emitter
        self.progress = progress
        self.layout = layout
        self.recorded = recorded
        self.at = 0
        self.ended = False
        self._buffer = b""
        self._buffer_start = 0

    def block(self, at: int) -> bytes:
        """The block at ``at``; shorter at the end of the file."""
        inner = at - self._buffer_start
        if inner < 0 or inner + BLOCK > len(self._buffer):
            self._buffer, self._buffer_start, inner = self.source.read(at, HEADER_WINDOW_BYTES), at, 0
        return self._buffer[inner : inner + BLOCK]

    def fill(self, stop: int) -> None:
        """Move to ``stop``; members fill the bytes up to it."""
        runs = self.layout.runs
        if runs and runs[-1].stop == self.at:
            runs[-1] = Span(runs[-1].start, stop)
        else:
            runs.append(Span(self.at, stop))
        self.at = stop

    def stray(self, name: str, kind: Kind, stop: int, note: str) -> None:
        """Move to ``stop``; the bytes up to it belong to no member."""
        stop = min(stop, self.source.size)
        if stop > self.at:
            self.layout.strays.append(Stray(name, kind, Span(self.at, stop), note))
        self.at = stop


_COMPRESSION_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\0": "xz", b"BZh": "bzip2"}


_BYTES_PER_STEP = 1 << 20
"""Bytes scanned between two tests for cancelling."""


_MAX_OFFSETS_TRIED = 1_000
"""Recorded offsets that are tried."""


MAX_BYTES_AFTER_END = 64 << 20
"""Bytes read after the end of the archive; the zeros that fill a record are a few thousand."""


def header_at(cursor: Cursor, at: int) -> Header | None:
    """The header at ``at``; None if there is none.

    A header with a wrong checksum is accepted, with a finding, if it leads exactly to another header.
    """
    block = cursor.block(at)
    if len(block) < BLOCK or block == ZEROS:
        return None
    found = parse(block)
    if found.fits:
        return found
    if not found.ustar or found.size is None or found.size < 0 or not _leads_on(cursor, at, found):
        return None
    cursor.layout.unfit += 1
    cursor.emitter.error(
        "tar-checksum",
        f"The header at byte {at:,} ({visible(found.name)}) does not match its checksum. Some of its bytes are wrong, "
        "but it leads to the next header, so its member is listed.",
        (at, at + BLOCK),
    )
    return found


def _leads_on(cursor: Cursor, at: int, found: Header) -> bool:
    target = at + BLOCK + aligned(found.stored)
    if target >= cursor.source.size:
        return target == cursor.source.size
    block = cursor.source.read(target, BLOCK)
    return block == ZEROS or (len(block) == BLOCK and parse(block).fits)


def skip_to_next_header(cursor: Cursor) -> None:
    """Report a missing header, and search every block for the next one."""
    start, size = cursor.at, cursor.source.size
    compression = next((name for magic, name in _COMPRESSION_MAGIC.items() if cursor.block(0).startswith(magic)), "")
    if compression and start == 0:
        cursor.emitter.error(
            "tar-compressed", f"The file is compressed ({compression}). Decompress it to see the tar inside."
        )
        cursor.stray("compressed data", Kind.GARBAGE, size, f"This looks like {compression}.")
        cursor.ended = True
        return
    if parse(cursor.block(start)).ustar:
        cursor.layout.headers.append(start)
        cursor.layout.unfit += 1
    at, complete = next_header(cursor.source, start + BLOCK, cursor.progress)
    skipped = f"{in_bytes(at - start)} {verb(at - start, 'is', 'are')} skipped, "
    skipped += "up to the next header or the end of the archive" if at < size else "up to the end of the file"
    if not complete:
        skipped = f"The {in_bytes(at - start)} after it have no other header. A check of the archive searches further"
        at, cursor.ended = size, True
    cursor.emitter.error(
        "tar-checksum",
        f"There is no tar header at byte {start:,}: the checksum does not match. {skipped}.",
        (start, start + BLOCK),
    )
    cursor.stray("garbage", Kind.GARBAGE, at, "A header belongs here, but its checksum does not match.")


def report_cut_header(cursor: Cursor, block: bytes) -> None:
    """Report that the file ends inside a block that should be a header."""
    zero = not any(block)
    size = cursor.source.size
    cursor.emitter.error(
        "tar-truncated-header",
        f"The {'block of zeros' if zero else 'header'} at byte {cursor.at:,} is cut off: "
        f"only {len(block)} of {BLOCK} bytes are in the file.",
        (cursor.at, size),
    )
    kind = Kind.PADDING if zero else Kind.GARBAGE
    cursor.stray("cut-off block", kind, size, "The file ends inside this block.")
    cursor.ended = True


def pass_zeros(cursor: Cursor) -> None:
    """Handle a block of zeros: it ends the archive if another follows."""
    size, start = cursor.source.size, cursor.at
    following = cursor.block(start + BLOCK)
    if following == ZEROS and (next_header_at := recorded_after(cursor, start)) is not None:
        _pass_zeros_inside(cursor, next_header_at)
    elif following == ZEROS:
        cursor.ended = True
        cursor.stray("end of archive", Kind.TAR_END, start + 2 * BLOCK, "Two blocks of zeros end the archive.")
        _after_end(cursor)
    elif any(following):
        cursor.emitter.warning(
            "tar-lone-zero-block",
            f"A single block of zeros at byte {start:,} is inside the archive. Many programs stop reading here.",
            (start, start + BLOCK),
        )
        cursor.stray("zero block", Kind.PADDING, start + BLOCK, "A single block of zeros does not end a tar.")
    else:
        cursor.ended = True
        cursor.emitter.warning(
            "tar-end-short",
            f"The archive ends with {in_bytes(size - start)} of zeros instead of two blocks of {BLOCK} bytes.",
            (start, size),
        )
        cursor.stray("end of archive", Kind.TAR_END, size, "Two complete blocks of zeros belong here.")


def recorded_after(cursor: Cursor, start: int) -> int | None:
    """The first header after ``start`` at an offset recorded outside the tar; None if there is none."""
    recorded = cursor.recorded()
    first = bisect_right(recorded, start)
    for at in recorded[first : first + _MAX_OFFSETS_TRIED]:
        block = cursor.source.read(at, BLOCK)
        if len(block) == BLOCK and parse(block).fits:
            return at
    return None


def _pass_zeros_inside(cursor: Cursor, next_header_at: int) -> None:
    """Report zeros inside the archive, which continues at ``next_header_at``."""
    start = stop = cursor.at
    limit = min(next_header_at, start + MAX_BYTES_AFTER_END)
    while stop < limit and cursor.block(stop) == ZEROS:
        stop += BLOCK
        if stop % _BYTES_PER_STEP == 0:
            cursor.progress.advance(0)
    what = f"{in_bytes(stop - start)} of zeros"
    if stop == limit < next_header_at:
        # Very many zeros would take hours to read; the price is members between here and that header.
        what, stop = (
            f"{in_bytes(next_header_at - start)}, of which the first {in_bytes(limit - start)} are zeros,",
            next_header_at,
        )
    cursor.emitter.error(
        "tar-zeros-inside",
        f"Zeros inside the archive at byte {start:,} end it for other programs. There are {what}; the metadata says "
        f"that a member begins at byte {next_header_at:,}, and there is a header.",
        (start, stop),
    )
    cursor.stray("zeros", Kind.PADDING, stop, "Zeros inside the archive: members may have been lost here.")


def _after_end(cursor: Cursor) -> None:
    """Handle the bytes after the end blocks: zeros up to a record's size, or bytes that belong to nothing."""
    size, at = cursor.source.size, cursor.at
    limit = min(size, at + MAX_BYTES_AFTER_END)
    while at < limit:
        block = cursor.block(at)
        if block.strip(b"\0") or not block:
            break
        at += len(block)
        if at % _BYTES_PER_STEP == 0:
            cursor.progress.advance(0)
    cursor.stray("padding", Kind.PADDING, at, "Zeros that fill the last record, usually up to 10,240 bytes.")
    if at >= size:
        return
    if at >= limit:
        cursor.emitter.warning(
            "tar-data-after-end",
            f"{in_bytes(size - at)} {verb(size - at, 'is', 'are')} too far after the end of the archive to be read.",
            (at, size),
        )
        cursor.stray("bytes after the end", Kind.GARBAGE, size, "Too far after the end to be read.")
        return
    block = cursor.block(at)
    has_header = len(block) == BLOCK and parse(block).fits
    cursor.emitter.warning(
        "tar-data-after-end",
        f"{in_bytes(size - at)} {verb(size - at, 'follows', 'follow')} the end of the archive."
        + (" A tar header comes first, so another archive may be appended." if has_header else ""),
        (at, size),
    )
    cursor.stray("garbage", Kind.GARBAGE, size, "Bytes after the end of the archive.")


def report_missing_end(cursor: Cursor) -> None:
    """Report that the file ends without the end blocks."""
    size = cursor.source.size
    cursor.emitter.error(
        "tar-end-missing",
        "The two blocks of zeros that end a tar are missing. It may have been cut off, and members lost."
        if size
        else "The file is empty: it lacks the two blocks of zeros that end a tar.",
        (size, size),
    )


_SEARCH_WINDOW_BYTES = 1 << 20
"""Bytes read and scanned at a time."""


_ZERO_WINDOW = bytes(_SEARCH_WINDOW_BYTES)


_DIGITS = b" 01234567\0"


_SUM = slice(148, 154)


_MAGIC = slice(257, 262)


MAX_REMOTE_SEARCH_BYTES = 64 << 20
"""Bytes of a remote source that are searched; a check searches all of it."""


class SearchResult(NamedTuple):
    """Where the archive continues: at a header, or at the zeros that end it.

    ``stop`` is that offset, or the end of the file if there is neither. If the search is not ``complete``, it is where
    the search was given up.
    """

    stop: int
    complete: bool = True


def next_header(source: Source, at: int, progress: Progress) -> SearchResult:
    """Search from the block at ``at`` on. Raises SourceError and Cancelled."""
    label, done = progress.label, progress.done
    progress.label = "Searching for the next tar header"
    found = _search(source, at, progress)
    progress.label, progress.done = label, done
    return found


def _search(source: Source, at: int, progress: Progress) -> SearchResult:
    limit = min(source.size, at + MAX_REMOTE_SEARCH_BYTES) if is_sparing(source) else source.size
    zeros_start = -1
    while at < limit and (data := source.read(at, min(_SEARCH_WINDOW_BYTES, limit - at))):
        if data == _ZERO_WINDOW[: len(data)]:
            zeros_start = at if zeros_start < 0 else zeros_start
        else:
            inner = _header_in(data)
            if inner >= 0:
                return SearchResult(at + inner)
            zeros_start = _zeros_start(data, at, zeros_start)
        at += len(data)
        progress.advance(len(data))
    if limit < source.size:
        return SearchResult(limit, complete=False)
    ends_archive = (at - zeros_start) % BLOCK == 0 and at - zeros_start >= 2 * BLOCK
    return SearchResult(zeros_start if zeros_start >= 0 and ends_archive else source.size)


def _header_in(data: bytes) -> int:
    """The offset of the first header in ``data``; -1 if there is none."""
    # Imported here because sound archives do not need numpy.
    import numpy as np

    rows = np.frombuffer(data, np.uint8, len(data) // BLOCK * BLOCK).reshape(-1, BLOCK)
    magic = (rows[:, _MAGIC] == np.frombuffer(b"ustar", np.uint8)).all(axis=1)
    summed = np.isin(rows[:, _SUM], np.frombuffer(_DIGITS, np.uint8)).all(axis=1)
    filled = rows.any(axis=1)
    for row in np.flatnonzero((magic | summed) & filled).tolist():
        if parse(data[row * BLOCK : (row + 1) * BLOCK]).fits:
            return int(row) * BLOCK
    return -1


def _zeros_start(data: bytes, at: int, zeros_start: int) -> int:
    """Where the blocks of zeros at the end of ``data`` begin; -1 if there are none."""
    used = len(data.rstrip(b"\0"))
    begin = -(-used // BLOCK) * BLOCK
    if begin >= len(data):
        return -1
    return at + begin if used else zeros_start
