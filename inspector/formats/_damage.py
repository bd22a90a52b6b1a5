"""What the formats' views of damage share: sizes of parts, bytes that occur twice, and a flipped bit in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from inspector.core.archive import Archive
from inspector.core.cause import Cause, FoundCause, wrong
from inspector.core.names import visible
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source, SplicedSource
from inspector.core.span import Span

if TYPE_CHECKING:  # annotations only
    from inspector.core.repair import Repair

PART_SIZES = tuple(size << 20 for size in (16, 8, 5))
"""Sizes in bytes of the parts of uploads and downloads, largest first."""
SMALL_SIZES = tuple(1 << bits for bits in range(20, 15, -1))
"""Sizes in bytes of smaller parts that buffers and stripes have: 1 MiB to 64 KiB."""
MAX_TRAILING_BYTES = 1 << 20
"""More bytes after an archive are no note that a program left."""
TAIL_TEXT_BYTES = 2_048
"""Bytes after an archive that are looked at."""
MIN_DOUBLED_BYTES = 64
"""Fewer bytes are often equal to those before them by chance."""
_WINDOW_BYTES = 1 << 20
_MAX_COMPARED_BYTES = 64 << 20
"""Of longer doubled bytes, only the first are searched for a repeated piece."""
_SHOWN = 60


def part_of(number: int, sizes: Sequence[int] = PART_SIZES) -> int:
    """The first of the sizes of parts that a number of bytes consists of; 0 if of none."""
    return next((part for part in sizes if number and number % part == 0), 0)


def since(source: Source, start: int) -> SplicedSource:
    """A file without its first bytes."""
    return SplicedSource(source, [Span(start, source.size)], source.name)


MAX_LANDMARKS = 512
"""Landmarks that are looked for; of more, so many evenly spread ones."""


def sampled(number: int) -> range:
    """The rows of so many that become landmarks."""
    return range(0, number, max(1, number // MAX_LANDMARKS))


# ---- in words --------------------------------------------------------------------------------------------------------


def is_text(data: bytes) -> bool:
    """Whether a program may have printed this."""
    return data.isascii() and all(byte >= 32 or byte in b"\t\r\n\x1a\x1b" for byte in data)


def first_line(data: bytes) -> str:
    """Its first line, abridged."""
    text = visible(data.strip().splitlines()[0]) if data.strip() else visible(data)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def fewer(archive: Archive, change: int, first: str) -> FoundCause:
    """That ``-change`` bytes are missing by the records of an archive, which do not show where; ``first`` says it."""
    part = part_of(-change)
    message = (
        f"{first}. By its own records the file has {in_bytes(archive.source.size - change)}, and it has "
        f"{in_bytes(archive.source.size)}.{f' Transfers use parts of {part >> 20} MiB.' if part else ''} "
        "Nothing shows where they were, so every member after them may be shifted. Copy the file again."
    )
    cause = Cause.LOST_PART if part else Cause.LOST_BYTES
    return FoundCause(cause, message, (Span(0, archive.source.size),), tuple(wrong(archive)))


# ---- one bit of a record ---------------------------------------------------------------------------------------------


def one_bit(there: bytes, expected: bytes) -> int | None:
    """Where two byte strings differ, if they do in a single bit."""
    if len(there) != len(expected):
        return None
    places = [at for at, (some, other) in enumerate(zip(there, expected, strict=True)) if some != other]
    return places[0] if len(places) == 1 and (there[places[0]] ^ expected[places[0]]).bit_count() == 1 else None


def flipped(archive: Archive, at: int, old: int, what: str, why: str, repairs: tuple[Repair, ...] = ()) -> FoundCause:
    """That one bit of the byte at ``at`` flipped, which was ``old``; ``why`` says what shows that."""
    new = archive.source.read(at, 1)[0]
    advice = "Repair restores it with your consent." if repairs else "Repair rewrites that record."
    message = (
        f"One bit of {what} flipped: byte {grouped(at)} is {hexadecimal(new, 2)} and was {hexadecimal(old, 2)}. {why} "
        f"{advice} A single bit changes in memory or on the way; check the memory of the machines that handled it."
    )
    return FoundCause(
        Cause.FLIPPED_BIT, message, (Span(at, at + 1),), tuple(wrong(archive)), repairs, adopts=not repairs
    )


# ---- bytes that occur twice ------------------------------------------------------------------------------------------


class Doubled(Struct, frozen=True):
    """The bytes ``[start, start + size)`` follow once more, and removing either copy leaves the same bytes."""

    start: int
    size: int


def find_doubled(source: Source, size: int, stop: int, progress: Progress) -> Doubled | None:
    """The only ``size`` bytes before ``stop`` that occur twice in a row; None if there are none, or several.

    Copies that touch are one place: all of them leave the same bytes. Bytes that repeat a shorter piece, such as zeros,
    are no evidence, because they occur in whole files. Raises SourceError and Cancelled.
    """
    if size < MIN_DOUBLED_BYTES or 2 * size > stop:
        return None
    progress.begin("Searching for doubled bytes", stop - size)
    places = (Doubled(start, size) for start in _equal_runs(source, size, stop, progress))
    found = list(islice((each for each in places if not _repeats(source, each)), 2))
    return found[0] if len(found) == 1 else None


def _equal_runs(source: Source, size: int, stop: int, progress: Progress) -> Iterator[int]:
    """Where each run of at least ``size`` bytes begins that equal those ``size`` later."""
    import numpy as np

    end, begun = stop - size, 0
    for at in range(0, end, _WINDOW_BYTES):
        length = min(_WINDOW_BYTES, end - at)
        near, far = (np.frombuffer(source.read(place, length), np.uint8) for place in (at, at + size))
        if len(near) != length or len(far) != length:
            return  # the file has become shorter
        differing = np.flatnonzero(near != far) + at
        edges = np.concatenate(([begun - 1], differing, [end] if at + length == end else []))
        long = np.flatnonzero(np.diff(edges) > size)
        yield from (int(edges[each]) + 1 for each in long)
        begun = int(differing[-1]) + 1 if len(differing) else begun
        progress.advance(length)


def _repeats(source: Source, doubled: Doubled) -> bool:
    """Whether the bytes, or the first of them, consist of a shorter piece that is repeated."""
    data = source.read(doubled.start, min(doubled.size, _MAX_COMPARED_BYTES))
    if len(data) < doubled.size:
        return data.find(data[: len(data) // 2], 1) >= 0
    return (data + data).find(data, 1) < len(data)
