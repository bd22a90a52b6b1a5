"""The end of a ZIP archive: APPNOTE.TXT 4.3.14 to 4.3.16. Which end record is meant, and where the directory is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from struct import Struct

from inspector.core.numbers import in_bytes, verb
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._zip.records import (
    CENTRAL,
    END,
    END_SIZE,
    END_STRUCT,
    FULL_16,
    FULL_32,
    LOCAL,
    ZIP64_END,
    ZIP64_END_SIZE,
    ZIP64_END_STRUCT,
    ZIP64_LOCATOR,
    ZIP64_LOCATOR_SIZE,
    End,
    Problem,
    Zip64End,
)

REACH = END_SIZE + 0xFFFF
"""How far from the end of the file an end record can begin: it and the longest comment."""
_NAMED = 8
_ZIP64_LOCATOR_STRUCT = Struct("<4xIQI")


@dataclass(slots=True)
class Ending:
    """What the end records say.

    ``directory`` is where the central directory was found (None: nowhere) by its size and offset, ``distance`` how far
    that is from where the end record says, ``shift`` what has to be added to every offset of the archive to have a
    position in the file: the same, or 0 where only that number is wrong. ``anchor`` is where the directory has to end,
    ``entries`` the number claimed; ``size_at`` and ``offset_at`` are the fields that say where the directory is.
    ``consistent`` when the directory ends where it has to and begins with a header.
    """

    record: Span
    exact: bool
    entries: int
    small: bool
    anchor: int
    size_at: Span
    offset_at: Span
    locator: Span | None = None
    zip64: Span | None = None
    directory: Span | None = None
    distance: int = 0
    shift: int = 0
    consistent: bool = False
    problems: list[Problem] = field(default_factory=list)

    @property
    def records(self) -> tuple[Span, ...]:
        """The end of central directory record and, if there is one, that of ZIP64."""
        return (self.record,) if self.zip64 is None else (self.record, self.zip64)

    @property
    def rank(self) -> tuple[bool, bool, bool, int]:
        """The best of several candidates has the greatest."""
        return self.exact, self.consistent, not self.distance, self.record.start


def find_ending(source: Source) -> Ending | None:
    """The end record that is meant: its comment ends with the file and its directory is where it says.

    Where several could be meant, or none is without doubt, the problems of the result name all of them.
    """
    base = max(0, source.size - REACH)
    tail = source.read(base, REACH)
    exact, others = _candidates(tail, base)
    endings = [ending_at(source, at) for at in (exact or others)]
    if not exact and source.read(0, 4) == LOCAL:
        # An archive that lost its end may hold others, whose end records are found instead; they look moved.
        endings = [ending for ending in endings if ending.consistent and not ending.distance]
    if not endings:
        return None
    best = max(endings, key=lambda ending: ending.rank)
    if len(exact) > 1:
        places = ", ".join(f"{at:,}" for at in exact[:_NAMED])
        best.problems.append(
            Problem(
                "warning",
                "zip-several-ends",
                f"{len(exact)} end of central directory records could be meant (at {places}); programs may read "
                f"different archives in this file. The one at {best.record.start:,} is shown.",
                tuple((at, at + END_SIZE) for at in exact[:_NAMED]),
            )
        )
    if not exact:
        report_not_at_end(source, best, others)
    return best


def report_not_at_end(source: Source, ending: Ending, candidates: Sequence[int]) -> None:
    """Add the problem that the end record is not the end of the file.

    Where bytes follow a whole archive, and not too many of them, every program still reads it: that is a warning.
    """
    places = ", ".join(f"{at:,}" for at in candidates)
    rest = Span(ending.record.stop, source.size)
    readable = ending.consistent and not ending.distance and source.size - ending.record.start <= REACH
    ending.problems.append(
        Problem(
            "warning" if rest.size and readable else "error",
            "zip-end-not-at-end",
            f"No end of central directory record ends with the file; candidates are at {places}. "
            f"{in_bytes(rest.size)} after the one at {ending.record.start:,} {verb(rest.size, 'belongs', 'belong')} to "
            "nothing, or its comment is cut off.",
            (ending.record, rest) if rest.size else (ending.record,),
        )
    )


def _candidates(tail: bytes, base: int) -> tuple[list[int], list[int]]:
    """Where end records may be: those whose comment ends with the file, and the last few others."""
    exact: list[int] = []
    others: list[int] = []
    at = tail.rfind(END)
    while at >= 0:
        if at + END_SIZE <= len(tail):
            comment = int.from_bytes(tail[at + 20 : at + 22], "little")
            if at + END_SIZE + comment == len(tail):
                exact.append(base + at)
            elif len(others) < _NAMED:
                others.append(base + at)
        at = tail.rfind(END, 0, at + 3)
    return exact, others


def ending_at(source: Source, at: int) -> Ending:
    """What the end record at ``at`` and those before it say; all of its bytes but the comment are in the file."""
    end = End._make(END_STRUCT.unpack(source.read(at, END_SIZE)))
    stop = at + END_SIZE + end.comment_length
    record = Span(at, min(stop, source.size))
    size_at, offset_at = Span(at + 12, at + 16), Span(at + 16, at + 20)
    ending = Ending(record, stop == source.size, end.entries, True, at, size_at, offset_at)
    size, offset = end.directory_size, end.directory_offset
    disks = (end.disk, end.directory_disk)
    counts = (end.entries_here, end.entries)
    wide = _find_zip64(source, ending)
    if wide is not None:
        ending.small = False
        ending.entries = _chosen(ending, "number of entries", end.entries, FULL_16, wide.entries)
        size = _chosen(ending, "size of the central directory", size, FULL_32, wide.directory_size)
        offset = _chosen(ending, "offset of the central directory", offset, FULL_32, wide.directory_offset)
        _choose_places(ending, end)
        _chosen(ending, "number of this disk", end.disk, FULL_16, wide.disk)
        _chosen(ending, "disk of the central directory", end.directory_disk, FULL_16, wide.directory_disk)
        disks = (wide.disk, wide.directory_disk)
        counts = (wide.entries_here, wide.entries) if counts[0] in (FULL_16, counts[1]) else counts
    if any(disks):
        ending.problems.append(
            Problem(
                "error",
                "zip-several-disks",
                "The archive says that it is one of several disks; the others are not here, so offsets may not hold.",
                ending.records,
            )
        )
    elif counts[0] != counts[1]:
        ending.problems.append(
            Problem(
                "error",
                "zip-entry-count",
                f"The archive is one disk, yet {counts[0]:,} of its {counts[1]:,} entries are said to be on this disk.",
                ending.records,
            )
        )
    _find_directory(source, ending, size, offset)
    return ending


def _chosen(ending: Ending, what: str, narrow: int, placeholder: int, wide: int) -> int:
    if narrow not in (placeholder, wide):
        ending.problems.append(
            Problem(
                "error",
                "zip-zip64-disagrees",
                f"The {what} is {narrow:,} in the end of central directory record and {wide:,} in the ZIP64 one; "
                "programs may read different archives in this file. The first is used.",
                ending.records,
            )
        )
    return wide if narrow == placeholder else narrow


def _choose_places(ending: Ending, end: End) -> None:
    """Where the numbers stand that the ZIP64 end record has in place of the end record."""
    assert ending.zip64 is not None
    at = ending.zip64.start
    if end.directory_size == FULL_32:
        ending.size_at = Span(at + 40, at + 48)
    if end.directory_offset == FULL_32:
        ending.offset_at = Span(at + 48, at + 56)


def _find_zip64(source: Source, ending: Ending) -> Zip64End | None:
    """The ZIP64 end record that the locator before the end record leads to."""
    start = ending.record.start - ZIP64_LOCATOR_SIZE
    locator = source.read(start, ZIP64_LOCATOR_SIZE) if start >= 0 else b""
    if locator[:4] != ZIP64_LOCATOR:
        return None
    ending.locator = Span(start, ending.record.start)
    ending.anchor = start
    disk, claimed, disks = _ZIP64_LOCATOR_STRUCT.unpack(locator)
    if disk or disks > 1:
        ending.problems.append(
            Problem(
                "error",
                "zip-zip64-locator",
                f"The ZIP64 locator says that its record is on disk {disk:,} of {disks:,}, counted from 0; the archive "
                "is a single one, and programs refuse it for that.",
                (ending.locator,),
            )
        )
    for at in (claimed, start - ZIP64_END_SIZE):
        data = source.read(at, ZIP64_END_SIZE) if 0 <= at <= start - ZIP64_END_SIZE else b""
        if data[:4] == ZIP64_END:
            break
    else:
        ending.problems.append(
            Problem(
                "error",
                "zip-zip64-missing",
                f"The ZIP64 locator says that its record is at {claimed:,}; there is none.",
                (ending.locator, Span(claimed, start)) if claimed < start else (ending.locator,),
            )
        )
        return None
    record = Zip64End._make(ZIP64_END_STRUCT.unpack(data))
    ending.anchor = at
    ending.zip64 = Span(at, start)
    if at + 12 + record.rest != start:
        there = max(0, start - at - 12)
        ending.problems.append(
            Problem(
                "error",
                "zip-zip64-size",
                f"The ZIP64 end of central directory record says {in_bytes(record.rest)} "
                f"{verb(record.rest, 'follows', 'follow')} its size; up to the locator there "
                f"{verb(there, 'is', 'are')} {there:,}.",
                (ending.zip64,),
            )
        )
    if at != claimed:
        # Data put before the archive moves everything by the same distance; the directory tells whether it did.
        ending.shift = at - claimed
    return record


def _find_directory(source: Source, ending: Ending, size: int, offset: int) -> None:
    """Where the directory is: at its offset, or directly before the end records when the archive was moved."""
    anchor = ending.anchor
    moved = anchor - size
    locator_shift, ending.shift = ending.shift, 0
    if moved == offset:
        ending.directory = Span(offset, anchor)
        ending.consistent = not size or source.read(offset, 4) == CENTRAL
    elif size and offset < anchor and source.read(offset, 4) == CENTRAL:
        ending.directory = Span(offset, max(offset, min(offset + size, anchor)))
        ending.problems.append(
            Problem(
                "error",
                "zip-directory-size",
                f"The central directory at {offset:,} should have {in_bytes(size)}; up to the end records there "
                f"{verb(anchor - offset, 'is', 'are')} {anchor - offset:,}.",
                (ending.directory, ending.size_at),
            )
        )
    elif moved >= 0 and (not size or source.read(moved, 4) == CENTRAL):
        ending.directory = Span(moved, anchor)
        ending.distance = ending.shift = moved - offset
        ending.consistent = True
    else:
        ending.problems.append(
            Problem(
                "error",
                "zip-directory-missing",
                f"The central directory should be at {offset:,} with {in_bytes(size)}; it is not there, nor directly "
                "before the end records.",
                (ending.record,),
            )
        )
    if locator_shift and locator_shift != ending.shift:
        ending.consistent = False
        ending.problems.append(
            Problem(
                "error",
                "zip-zip64-locator",
                "The ZIP64 locator does not lead to the ZIP64 end of central directory record that stands before it; "
                "programs may read different archives in this file.",
                (ending.locator or ending.record,),
            )
        )


def first_name(source: Source, ending: Ending) -> tuple[bytes, int] | None:
    """The name and the local header offset of the first entry of the directory, for recognising."""
    if ending.directory is None:
        return None
    head = source.read(ending.directory.start, 46 + 64)
    if head[:4] != CENTRAL or len(head) < 46:
        return None
    length = int.from_bytes(head[28:30], "little")
    return head[46 : 46 + length], int.from_bytes(head[42:46], "little") + ending.shift
