"""Find the end of central directory record and the central directory (APPNOTE.TXT 4.3.14 to 4.3.16).

Bytes may precede the archive, its end may be missing, and several records may look like its end.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from itertools import islice
from operator import gt

from msgspec import Struct, field

from inspector.core.finding import FindingType
from inspector.core.numbers import in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._damage import since
from inspector.formats._signatures import found_outside
from inspector.formats._zip import codes
from inspector.formats._zip.records import (
    CENTRAL,
    END,
    END_SIZE,
    END_STRUCT,
    FULL_16,
    FULL_32,
    LOCAL,
    MAX_MEMBERS,
    ZIP64_END,
    ZIP64_END_SIZE,
    ZIP64_END_STRUCT,
    ZIP64_LOCATOR,
    ZIP64_LOCATOR_SIZE,
    End,
    Zip64End,
    central_headers,
    local_files,
    read_local,
    zip64,
)

MAX_EOCD_DISTANCE = END_SIZE + 0xFFFF
"""The size of an end record with the longest comment: where it can begin, from the end of the file."""
_MAX_CANDIDATES = 8
_MAX_WALKED = 2
"""With more candidates none has its directory walked: all may claim the same one, of up to 65,534 entries."""
_ZIP64_LOCATOR_STRUCT = struct.Struct("<4xIQI")


class Eocd(Struct):
    """The end of central directory record and the ZIP64 records before it.

    ``exact``: the comment ends with the file. ``entries`` is the recorded number. ``anchor`` is where the directory has
    to end. ``size_field`` and ``offset_field`` are the fields with its size and offset. ``directory`` is where it was
    found (None: nowhere); ``displacement`` is how far that is from its recorded offset. ``shift`` is what has to be
    added to every recorded offset: the displacement, or 0 if only the directory's offset is wrong. ``consistent``: the
    directory ends at the anchor and begins with a header.
    """

    record: Span
    exact: bool
    entries: int
    anchor: int
    size_field: Span
    offset_field: Span
    locator: Span | None = None
    zip64: Span | None = None
    directory: Span | None = None
    displacement: int = 0
    shift: int = 0
    consistent: bool = False
    problems: list[tuple[FindingType, str, tuple[tuple[int, int], ...]]] = field(default_factory=list)

    def problem(self, what: FindingType, message: str, *spans: tuple[int, int]) -> None:
        """Note a problem of these bytes."""
        self.problems.append((what, message, spans))

    @property
    def records(self) -> tuple[Span, ...]:
        """The end of central directory record and, if there is one, the ZIP64 one."""
        return (self.record,) if self.zip64 is None else (self.record, self.zip64)


def find_eocd(source: Source) -> Eocd | None:
    """The best candidate: its comment ends with the file and its directory is where it says.

    If there are several, or none is certain, the problems of the result name them all.
    """
    base = max(0, source.size - MAX_EOCD_DISTANCE)
    tail = source.read(base, MAX_EOCD_DISTANCE)
    exact, others = _candidates(tail, base)
    walk = len(exact or others) <= _MAX_WALKED
    eocds = [eocd_at(source, at, walk=walk) for at in (exact or others)]
    if not exact and source.read(0, 4) == LOCAL:
        # An archive that lost its end may contain others, whose end records are found instead. They look displaced.
        eocds = [eocd for eocd in eocds if eocd.consistent and not eocd.displacement]
    if not eocds:
        return None
    best = max(eocds, key=lambda each: (each.exact, each.consistent, not each.displacement, each.record.start))
    if len(exact) > 1:
        places = ", ".join(f"{at:,}" for at in exact[:_MAX_CANDIDATES])
        best.problem(
            codes.SEVERAL_ENDS,
            f"The file has {len(exact)} possible end of central directory records (at {places}). Programs may read "
            f"different archives in this file; the one at {best.record.start:,} is shown.",
            *((at, at + END_SIZE) for at in exact[:_MAX_CANDIDATES]),
        )
    if not exact:
        report_not_at_end(source, best, others)
    return best


_CIPHERS = frozenset((0x6601, 0x6602, 0x6603, 0x6609, 0x660E, 0x660F, 0x6610, 0x6702, 0x6720, 0x6721, 0x6801, 0xFFFF))
"""APPNOTE 7.2.3.2."""
_CIPHER_AT = ZIP64_END_SIZE + 2 + 8 + 8
"""Where the version 2 of the ZIP64 end record has the algorithm (APPNOTE 7.3.4)."""


def is_encrypted(source: Source, eocd: Eocd) -> bool:
    """Whether the central directory is encrypted, so that it cannot be read."""
    if eocd.zip64 is None or eocd.directory is None or eocd.zip64.size < _CIPHER_AT + 2:
        return False
    cipher = int.from_bytes(source.read(eocd.zip64.start + _CIPHER_AT, 2), "little")
    return cipher in _CIPHERS and source.read(eocd.directory.start, 4) != CENTRAL


def report_not_at_end(source: Source, eocd: Eocd, candidates: Sequence[int]) -> None:
    """Add the problem that the file does not end with the end record.

    If a few bytes follow a whole archive, every program still reads it, so that is only a warning.
    """
    places = ", ".join(f"{at:,}" for at in candidates)
    rest = Span(eocd.record.stop, source.size)
    readable = eocd.consistent and not eocd.displacement and source.size - eocd.record.start <= MAX_EOCD_DISTANCE
    eocd.problem(
        codes.END_NOT_AT_END if rest.size and readable else codes.END_NOT_FOUND,
        f"The file does not end with an end of central directory record. Such records are at {places}. Either the "
        f"{in_bytes(rest.size)} after the one at {eocd.record.start:,} "
        f"{verb(rest.size, 'belongs', 'belong')} to nothing, or its comment is cut off.",
        *((eocd.record, rest) if rest.size else (eocd.record,)),
    )


def _candidates(tail: bytes, base: int) -> tuple[list[int], list[int]]:
    """Offsets of possible end records: those whose comment ends with the file, and the last few others."""
    places = [found.start() for found in re.finditer(END, tail) if found.start() + END_SIZE <= len(tail)][::-1]
    stops = [at + END_SIZE + int.from_bytes(tail[at + 20 : at + 22], "little") for at in places]
    exact = [base + at for at, stop in zip(places, stops, strict=True) if stop == len(tail)]
    return exact, [base + at for at, stop in zip(places, stops, strict=True) if stop != len(tail)][:_MAX_CANDIDATES]


def eocd_at(source: Source, at: int, *, walk: bool = False) -> Eocd:
    """The end record at ``at``, whose fixed part is complete, and the ZIP64 records before it.

    ``walk``: the directory may be walked to see whether what looks like a ZIP64 locator is its end.
    """
    end = End._make(END_STRUCT.unpack(source.read(at, END_SIZE)))
    stop = at + END_SIZE + end.comment_length
    record = Span(at, min(stop, source.size))
    size_field, offset_field = Span(at + 12, at + 16), Span(at + 16, at + 20)
    eocd = Eocd(record, stop == source.size, end.entries, at, size_field, offset_field)
    size, offset = end.directory_size, end.directory_offset
    disks = (end.disk, end.directory_disk)
    counts = (end.entries_here, end.entries)
    wide = None if walk and _fills_up_to(source, end, at) else _find_zip64(source, eocd)
    if wide is not None:
        eocd.entries = _resolved(eocd, "number of entries", end.entries, FULL_16, wide.entries)
        size = _resolved(eocd, "size of the central directory", size, FULL_32, wide.directory_size)
        offset = _resolved(eocd, "offset of the central directory", offset, FULL_32, wide.directory_offset)
        assert eocd.zip64 is not None
        if end.directory_size == FULL_32:
            eocd.size_field = Span(eocd.zip64.start + 40, eocd.zip64.start + 48)
        if end.directory_offset == FULL_32:
            eocd.offset_field = Span(eocd.zip64.start + 48, eocd.zip64.start + 56)
        _resolved(eocd, "number of this disk", end.disk, FULL_16, wide.disk)
        _resolved(eocd, "disk of the central directory", end.directory_disk, FULL_16, wide.directory_disk)
        disks = (wide.disk, wide.directory_disk)
        counts = (wide.entries_here, wide.entries) if counts[0] in (FULL_16, counts[1]) else counts
    _find_directory(source, eocd, size, offset)
    if any(disks) and _is_whole(source, eocd):
        eocd.problem(
            codes.DISK_NUMBER,
            f"The end record has a wrong disk number: this is disk {disks[0]:,}, and the central directory is "
            f"on disk {disks[1]:,}, but all of the archive is in this file. Some programs reject it for that.",
            *eocd.records,
        )
    elif any(disks):
        eocd.problem(
            codes.SEVERAL_DISKS,
            "The archive is one disk of several. The others are missing, so offsets may be wrong.",
            *eocd.records,
        )
    elif counts[0] != counts[1]:
        eocd.problem(
            codes.ENTRY_COUNT,
            f"The archive has a single disk, but the end record puts {counts[0]:,} of {counts[1]:,} entries on it.",
            *eocd.records,
        )
    return eocd


def _is_whole(source: Source, eocd: Eocd) -> bool:
    """Whether the first members begin on disk 0, and here: then the archive has no other disk."""
    sample = _sample_offsets(source, eocd)
    return bool(sample) and all(
        not disk and any(is_header_of(source, offset + shift, name) for shift in (0, eocd.displacement))
        for offset, name, disk in sample
    )


def _fills_up_to(source: Source, end: End, at: int) -> bool:
    """Whether the directory is whole and runs up to the end record at ``at``.

    What looks like a ZIP64 locator there is then the end of a name or comment of its last entry.
    """
    start = at - end.directory_size
    placeholders = FULL_16 in end[1:5] or FULL_32 in end[5:7]
    fits = not placeholders and start >= 0 and end.directory_size >= ZIP64_LOCATOR_SIZE
    if not fits or source.read(at - ZIP64_LOCATOR_SIZE, 4) != ZIP64_LOCATOR:
        return False
    stops = [stop for *_, stop in central_headers(source, start, at)]
    return stops[-1:] == [at] and len(stops) == end.entries


def _resolved(eocd: Eocd, what: str, narrow: int, placeholder: int, wide: int) -> int:
    if narrow not in (placeholder, wide):
        eocd.problem(
            codes.ZIP64_DISAGREES,
            f"The {what} is {narrow:,} in the end of central directory record and {wide:,} in the ZIP64 one. "
            "Programs may read different archives in this file; the first is used.",
            *eocd.records,
        )
    return wide if narrow == placeholder else narrow


def _find_zip64(source: Source, eocd: Eocd) -> Zip64End | None:
    """The ZIP64 end record that the locator before the end record points to."""
    start = eocd.record.start - ZIP64_LOCATOR_SIZE
    locator = source.read(start, ZIP64_LOCATOR_SIZE) if start >= 0 else b""
    if locator[:4] != ZIP64_LOCATOR:
        return None
    eocd.locator = Span(start, eocd.record.start)
    eocd.anchor = start
    disk, claimed, disks = _ZIP64_LOCATOR_STRUCT.unpack(locator)
    if disk or disks > 1:
        eocd.problem(
            codes.ZIP64_LOCATOR,
            f"The ZIP64 locator points to disk {disk:,} of {disks:,}, counted from 0, but the archive has a single "
            "disk. Programs reject it for that.",
            eocd.locator,
        )
    elif not disks:
        eocd.problem(
            codes.ZIP64_DISKS,
            "The ZIP64 locator counts 0 disks, although the archive is on one (APPNOTE 4.3.15). Some programs "
            "reject it for that.",
            eocd.locator,
        )
    for at in (claimed, start - ZIP64_END_SIZE):
        data = source.read(at, ZIP64_END_SIZE) if 0 <= at <= start - ZIP64_END_SIZE else b""
        if data[:4] == ZIP64_END:
            break
    else:
        eocd.problem(
            codes.ZIP64_MISSING,
            f"The ZIP64 locator points to {claimed:,}, but there is no ZIP64 record.",
            *((eocd.locator, Span(claimed, start)) if claimed < start else (eocd.locator,)),
        )
        return None
    record = Zip64End._make(ZIP64_END_STRUCT.unpack(data))
    eocd.anchor = at
    eocd.zip64 = Span(at, start)
    if at + 12 + record.rest != start:
        present = max(0, start - at - 12)
        eocd.problem(
            codes.ZIP64_SIZE,
            f"The ZIP64 end of central directory record has a wrong size: {in_bytes(record.rest)}, but "
            f"{verb(present, 'there is', 'there are')} {present:,} up to the locator.",
            eocd.zip64,
        )
    if at != claimed:
        # Bytes before the archive displace everything by the same distance; the directory shows whether there are any.
        eocd.shift = at - claimed
    return record


def _find_directory(source: Source, eocd: Eocd, size: int, offset: int) -> None:
    """Find the directory: at its offset, or directly before the end records if bytes precede the archive."""
    anchor = eocd.anchor
    moved = anchor - size
    locator_shift, eocd.shift = eocd.shift, 0
    if moved == offset:
        eocd.directory = Span(offset, anchor)
        eocd.consistent = not size or source.read(offset, 4) == CENTRAL
    elif size and offset < anchor and source.read(offset, 4) == CENTRAL:
        eocd.directory = Span(offset, max(offset, min(offset + size, anchor)))
        eocd.problem(
            codes.DIRECTORY_SIZE,
            f"The central directory at {offset:,} should have {in_bytes(size)}, but "
            f"{verb(anchor - offset, 'there is', 'there are')} {anchor - offset:,} up to the end records.",
            eocd.directory,
            eocd.size_field,
        )
    elif moved >= 0 and (not size or source.read(moved, 4) == CENTRAL):
        eocd.directory = Span(moved, anchor)
        eocd.displacement = eocd.shift = moved - offset
        eocd.consistent = True
    else:
        eocd.problem(
            codes.DIRECTORY_MISSING,
            f"The central directory is not at {offset:,}, where the end record puts {in_bytes(size)} of it. It is "
            "not directly before the end records either.",
            eocd.record,
        )
    if locator_shift and locator_shift != eocd.shift:
        eocd.consistent = False
        eocd.problem(
            codes.ZIP64_LOCATOR,
            "The ZIP64 locator does not point to the ZIP64 end of central directory record before it. "
            "Programs may read different archives in this file.",
            eocd.locator or eocd.record,
        )


def first_name(source: Source, eocd: Eocd) -> tuple[bytes, int] | None:
    """The name and the local header's file offset of the first entry of the directory, for probing."""
    if eocd.directory is None:
        return None
    head = source.read(eocd.directory.start, 46 + 64)
    if head[:4] != CENTRAL or len(head) < 46:
        return None
    length = int.from_bytes(head[28:30], "little")
    return head[46 : 46 + length], int.from_bytes(head[42:46], "little") + eocd.shift


_ZIP64_PREFIX_SIZE = 12
"""Bytes of a ZIP64 end record up to the size of its rest, inclusive."""


def find_eocd_after_members(source: Source, progress: Progress) -> Eocd | None:
    """The end records after the local files that begin at the start of the file; None if they are not complete.

    It finds end records that are further from the end of the file than any comment reaches. Raises SourceError and
    Cancelled.
    """
    if source.size <= MAX_EOCD_DISTANCE:
        return None  # ``find_eocd`` has seen all of it
    progress.begin("Following local headers", source.size)
    stop = 0
    for found in islice(local_files(source, 0), MAX_MEMBERS):
        stop = found.stop
        progress.advance(min(stop, source.size) - progress.done)
    eocd = eocd_after(source, stop)
    if eocd is not None:
        report_not_at_end(source, eocd, [eocd.record.start])
    return eocd


def eocd_after(source: Source, start: int) -> Eocd | None:
    """The end records after the central directory at ``start``; None if any of them is not complete."""
    at = max((stop for *_, stop in central_headers(source, start, source.size)), default=start)
    wide = source.read(at, _ZIP64_PREFIX_SIZE)
    if wide[:4] == ZIP64_END and len(wide) == _ZIP64_PREFIX_SIZE:
        at += _ZIP64_PREFIX_SIZE + int.from_bytes(wide[4:], "little")
        at += ZIP64_LOCATOR_SIZE if source.read(at, 4) == ZIP64_LOCATOR else 0
    record = source.read(at, END_SIZE)
    if record[:4] != END or len(record) < END_SIZE:
        return None
    eocd = eocd_at(source, at, walk=True)
    return eocd if eocd.consistent and not eocd.displacement and eocd.directory == (start, eocd.anchor) else None


_MAX_ENDS = 256
"""End records that are tried as that of an archive which begins somewhere."""


def zip_end(source: Source, at: int, progress: Progress) -> int | None:
    """Where the ZIP that begins at ``at`` ends: behind the first end record whose directory ends there.

    Raises SourceError and Cancelled.
    """
    if source.read(at, 4) not in (LOCAL, END):
        return None
    places = islice(found_outside(source, END, [Span(0, at)], source.size, progress), _MAX_ENDS)
    return next(filter(None, (end_of(source, at, place) for place in places)), None)


def end_of(source: Source, start: int, at: int) -> int | None:
    """Where the archive ends that begins at ``start`` and has the end record at ``at``; None if that is not its own."""
    rest = since(source, start)
    eocd = eocd_at(rest, at - start) if len(rest.read(at - start, END_SIZE)) == END_SIZE else None
    whole = eocd is not None and eocd.consistent and not eocd.displacement and eocd.directory is not None
    return start + eocd.record.stop if eocd is not None and whole else None


_SAMPLED_HEADERS = 16
"""Headers of the directory whose offsets are tested."""


def enclosing_member(source: Source, eocd: Eocd) -> bytes | None:
    """The name of a member that contains the archive of this end record and runs to the end of the file, or None.

    An archive that was cut off right after an archive stored in it ends like that one. What then seems to precede that
    archive is the rest of the outer one.
    """
    if eocd.displacement <= 0:
        return None
    for found in islice(local_files(source, 0), MAX_MEMBERS):
        if found.begin <= eocd.displacement and found.stop >= source.size:
            return found.name
        if found.begin > eocd.displacement:
            break
    return None


def decide_shift(source: Source, eocd: Eocd) -> None:
    """Set ``shift``: see from the first members whether offsets need the directory's displacement added."""
    if eocd.directory is None or not eocd.displacement:
        return
    sample = _sample_offsets(source, eocd)
    at_offset = [is_header_of(source, offset, name) for offset, name, _ in sample]
    displaced = [is_header_of(source, offset + eocd.displacement, name) for offset, name, _ in sample]
    # Without entries, a local header at the start of the file shows that nothing precedes the archive. If only some
    # headers are displaced, bytes were inserted in the archive, not before it.
    unshifted = (
        sum(at_offset) > sum(displaced) or any(map(gt, at_offset, displaced))
        if sample
        else read_local(source, 0) is not None
    )
    eocd.shift = 0 if unshifted else eocd.displacement


def _sample_offsets(source: Source, eocd: Eocd) -> list[tuple[int, bytes, int]]:
    """The recorded offset, the name and the disk of the first members in the directory."""
    start = eocd.directory.start if eocd.directory is not None else eocd.anchor
    headers = islice(central_headers(source, start, eocd.anchor), _SAMPLED_HEADERS)
    return [
        (zip64(extra, each.size, each.stored, each.offset).offset, name, each.disk)
        for _, each, _, name, extra, _ in headers
    ]


def is_header_of(source: Source, head: int, name: bytes) -> bool:
    """Whether there is a local header with this name at ``head``."""
    local = read_local(source, head)
    return local is not None and local.name == name
