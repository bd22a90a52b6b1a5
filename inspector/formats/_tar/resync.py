"""What a walk does where no sound header stands: zeros, the end of the archive, damage."""

from __future__ import annotations

from bisect import bisect_right

from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.formats._tar.cursor import Cursor
from inspector.formats._tar.header import BLOCK, ZEROS, Header, aligned, parse
from inspector.formats._tar.search import next_header

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\0": "xz", b"BZh": "bzip2"}

_PAUSE = 1 << 20
"""Bytes that are scanned between two looks at whether to stop."""

_TRIES = 1_000
"""Offsets at which a header is looked for."""

AFTER_END = 64 << 20
"""Bytes after the end that are looked at; the zeros that fill a record are a few thousand."""


def header_at(cursor: Cursor, at: int) -> Header | None:
    """The header at ``at``; None where there is none.

    A header whose checksum does not fit is taken all the same, with a finding, if it leads exactly to another.
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
        f"The checksum of the header at byte {at:,} ({visible(found.name)}) does not fit: some of its bytes are wrong. "
        "It leads to the next header all the same, so it is listed.",
        (at, at + BLOCK),
    )
    return found


def _leads_on(cursor: Cursor, at: int, found: Header) -> bool:
    target = at + BLOCK + aligned(found.stored)
    if target >= cursor.source.size:
        return target == cursor.source.size
    block = cursor.source.read(target, BLOCK)
    return block == ZEROS or (len(block) == BLOCK and parse(block).fits)


def lost(cursor: Cursor) -> None:
    """No header stands where one should: go on to the next one, found by looking at every block."""
    start, size = cursor.at, cursor.source.size
    packed = next((name for magic, name in _PACKED.items() if cursor.block(0).startswith(magic)), "")
    if packed and start == 0:
        cursor.emitter.error("tar-compressed", f"The file is compressed ({packed}): unpack it to see what is in it.")
        cursor.stray("compressed data", Kind.GARBAGE, size, f"This looks like {packed}.")
        cursor.ended = True
        return
    if parse(cursor.block(start)).ustar:
        cursor.layout.headers.append(start)
        cursor.layout.unfit += 1
    at, all_searched = next_header(cursor.source, start + BLOCK, cursor.progress)
    skipped = f"{in_bytes(at - start)} are skipped, "
    skipped += "up to where the archive goes on" if at < size else "all that is left"
    if not all_searched:
        skipped = f"No other one stands in the {in_bytes(at - start)} from there on; checking the archive looks further"
        at, cursor.ended = size, True
    cursor.emitter.error(
        "tar-checksum",
        f"No tar header stands at byte {start:,}: the checksum does not fit. {skipped}.",
        (start, start + BLOCK),
    )
    cursor.stray("garbage", Kind.GARBAGE, at, "A header should stand here, and its checksum does not fit.")


def cut_header(cursor: Cursor, block: bytes) -> None:
    """The file ends inside a block that should be a header."""
    zero = not any(block)
    size = cursor.source.size
    cursor.emitter.error(
        "tar-truncated-header",
        f"The {'block of zeros' if zero else 'header'} at byte {cursor.at:,} is cut off: "
        f"{len(block)} of {BLOCK} bytes are there.",
        (cursor.at, size),
    )
    kind = Kind.PADDING if zero else Kind.GARBAGE
    cursor.stray("cut-off block", kind, size, "The file ends inside this block.")
    cursor.ended = True


def zeros(cursor: Cursor) -> None:
    """A block of zeros: the end, where another follows."""
    size, start = cursor.source.size, cursor.at
    following = cursor.block(start + BLOCK)
    if following == ZEROS and (another := recorded_after(cursor, start)) is not None:
        _hole(cursor, another)
    elif following == ZEROS:
        cursor.ended = True
        cursor.stray("end of archive", Kind.TAR_END, start + 2 * BLOCK, "Two blocks of zeros end the archive.")
        _after_end(cursor)
    elif any(following):
        cursor.emitter.warning(
            "tar-lone-zero-block",
            f"A single block of zeros at byte {start:,} is followed by more: many programs stop reading here.",
            (start, start + BLOCK),
        )
        cursor.stray("zero block", Kind.PADDING, start + BLOCK, "A single block of zeros does not end a tar.")
    else:
        cursor.ended = True
        cursor.emitter.warning(
            "tar-end-short",
            f"The archive ends with {in_bytes(size - start)} of zeros instead of two blocks of {BLOCK}.",
            (start, size),
        )
        cursor.stray("end of archive", Kind.TAR_END, size, "Two whole blocks of zeros should stand here.")


def recorded_after(cursor: Cursor, start: int) -> int | None:
    """Where the first header after ``start`` stands that is recorded outside the tar and is there; None for none."""
    recorded = cursor.recorded()
    first = bisect_right(recorded, start)
    for at in recorded[first : first + _TRIES]:
        block = cursor.source.read(at, BLOCK)
        if len(block) == BLOCK and parse(block).fits:
            return at
    return None


def _hole(cursor: Cursor, another: int) -> None:
    """Zeros inside the archive: it goes on behind them."""
    start = stop = cursor.at
    limit = min(another, start + AFTER_END)
    while stop < limit and cursor.block(stop) == ZEROS:
        stop += BLOCK
        if stop % _PAUSE == 0:
            cursor.progress.advance(0)
    what = f"{in_bytes(stop - start)} of zeros"
    if stop == limit < another:
        # Zeros without end would be read for hours: the members before that header are the price.
        what, stop = f"{in_bytes(another - start)}, of which the first {in_bytes(limit - start)} are zeros,", another
    cursor.emitter.error(
        "tar-zeros-inside",
        f"{what} stand at byte {start:,}, where other programs take the archive to be over. "
        f"It goes on: what is recorded of it says that a member begins at byte {another:,}, and a header stands there.",
        (start, stop),
    )
    cursor.stray("zeros", Kind.PADDING, stop, "Zeros inside the archive: members may have been lost here.")


def _after_end(cursor: Cursor) -> None:
    """What stands after the end blocks: zeros up to a record's size, or bytes that nothing claims."""
    size, at = cursor.source.size, cursor.at
    limit = min(size, at + AFTER_END)
    while at < limit:
        block = cursor.block(at)
        if block.strip(b"\0") or not block:
            break
        at += len(block)
        if at % _PAUSE == 0:
            cursor.progress.advance(0)
    cursor.stray("padding", Kind.PADDING, at, "Zeros that fill the last record, usually up to 10,240 bytes.")
    if at >= size:
        return
    if at >= limit:
        cursor.emitter.warning(
            "tar-data-after-end",
            f"{in_bytes(size - at)} stand so far after the end of the archive that they are not looked at.",
            (at, size),
        )
        cursor.stray("bytes after the end", Kind.GARBAGE, size, "They stand far after the end and are not looked at.")
        return
    block = cursor.block(at)
    another = len(block) == BLOCK and parse(block).fits
    cursor.emitter.warning(
        "tar-data-after-end",
        f"{in_bytes(size - at)} stand after the end of the archive"
        + (", and a tar header is the first of them: another archive seems to be appended." if another else "."),
        (at, size),
    )
    cursor.stray("garbage", Kind.GARBAGE, size, "Bytes after the end of the archive.")


def no_end(cursor: Cursor) -> None:
    """The file is over and the end blocks did not come."""
    size = cursor.source.size
    cursor.emitter.error(
        "tar-end-missing",
        "The two blocks of zeros that end a tar are missing: it may have been cut off, and members lost."
        if size
        else "The file is empty: not even the two blocks of zeros that end a tar are there.",
        (size, size),
    )
