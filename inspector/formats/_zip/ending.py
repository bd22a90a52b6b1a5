"""The end of a ZIP archive: APPNOTE.TXT 4.3.14 to 4.3.16. Which end record is meant, and where the directory is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from inspector.core.numbers import in_bytes
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


@dataclass(slots=True)
class Ending:
    """What the end records say.

    ``directory`` is where the central directory was found (None: nowhere) by its size and offset, ``shift`` what has
    to be added to every offset of the archive to have a position in the file, ``anchor`` where the directory has to
    end, ``entries`` the number claimed. ``consistent`` when the directory ends where it has to and begins with a
    header.
    """

    record: Span
    exact: bool
    entries: int
    small: bool
    anchor: int
    locator: Span | None = None
    zip64: Span | None = None
    directory: Span | None = None
    shift: int = 0
    consistent: bool = False
    problems: list[Problem] = field(default_factory=list)

    @property
    def rank(self) -> tuple[bool, bool, bool, int]:
        """The best of several candidates has the greatest."""
        return self.exact, self.consistent, not self.shift, self.record.start


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
        endings = [ending for ending in endings if ending.consistent and not ending.shift]
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
    """Add the problem that the end record is not the end of the file."""
    places = ", ".join(f"{at:,}" for at in candidates)
    ending.problems.append(
        Problem(
            "error",
            "zip-end-not-at-end",
            f"No end of central directory record ends with the file; candidates are at {places}. "
            f"{in_bytes(max(0, source.size - ending.record.stop))} after the one at {ending.record.start:,} belong to "
            "nothing, or its comment is cut off.",
            (ending.record,),
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
    ending = Ending(Span(at, min(stop, source.size)), stop == source.size, end.entries, True, at)
    size, offset = end.directory_size, end.directory_offset
    disks = (end.disk, end.directory_disk)
    counts = (end.entries_here, end.entries)
    wide = _find_zip64(source, ending)
    if wide is not None:
        ending.small = False
        ending.entries = _chosen(ending, "number of entries", end.entries, FULL_16, wide.entries)
        size = _chosen(ending, "size of the central directory", size, FULL_32, wide.directory_size)
        offset = _chosen(ending, "offset of the central directory", offset, FULL_32, wide.directory_offset)
        disks = (wide.disk, wide.directory_disk)
        counts = (wide.entries_here, wide.entries) if counts[0] in (FULL_16, counts[1]) else counts
    if any(disks):
        ending.problems.append(
            Problem(
                "error",
                "zip-several-disks",
                "The archive says that it is one of several disks; the others are not here, so offsets may not hold.",
                (ending.record,),
            )
        )
    elif counts[0] != counts[1]:
        ending.problems.append(
            Problem(
                "error",
                "zip-entry-count",
                f"The archive is one disk, yet {counts[0]:,} of its {counts[1]:,} entries are said to be on this disk.",
                (ending.zip64 or ending.record,),
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
                (ending.record, ending.zip64 or ending.record),
            )
        )
    return wide if narrow == placeholder else narrow


def _find_zip64(source: Source, ending: Ending) -> Zip64End | None:
    """The ZIP64 end record that the locator before the end record leads to."""
    start = ending.record.start - ZIP64_LOCATOR_SIZE
    locator = source.read(start, ZIP64_LOCATOR_SIZE) if start >= 0 else b""
    if locator[:4] != ZIP64_LOCATOR:
        return None
    ending.locator = Span(start, ending.record.start)
    ending.anchor = start
    claimed = int.from_bytes(locator[8:16], "little")
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
                (ending.locator,),
            )
        )
        return None
    record = Zip64End._make(ZIP64_END_STRUCT.unpack(data))
    ending.anchor = at
    ending.zip64 = Span(at, start)
    if at + 12 + record.rest != start:
        ending.problems.append(
            Problem(
                "error",
                "zip-zip64-size",
                f"The ZIP64 end of central directory record says {in_bytes(record.rest)} follow its size; up to the "
                f"locator there are {max(0, start - at - 12):,}.",
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
                f"The central directory at {offset:,} should have {in_bytes(size)}; up to the end records there are "
                f"{anchor - offset:,}.",
                (ending.directory,),
            )
        )
    elif moved >= 0 and (not size or source.read(moved, 4) == CENTRAL):
        ending.directory = Span(moved, anchor)
        ending.shift = moved - offset
        ending.consistent = True
        _report_shift(ending, offset)
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


def _report_shift(ending: Ending, offset: int) -> None:
    assert ending.directory is not None
    if ending.shift > 0:
        message = (
            f"{in_bytes(ending.shift)} were put before the archive: the central directory says it is at {offset:,} and "
            f"is at {ending.directory.start:,}. All offsets are read with this distance added."
        )
        ending.problems.append(Problem("warning", "zip-prepended", message, ((0, ending.shift),)))
    else:
        message = (
            f"The central directory says it is at {offset:,} and is at {ending.directory.start:,}: "
            f"{in_bytes(-ending.shift)} before it are missing. Offsets are read with this distance taken off."
        )
        ending.problems.append(Problem("error", "zip-bytes-missing", message, (ending.directory,)))


def first_name(source: Source, ending: Ending) -> tuple[bytes, int] | None:
    """The name and the local header offset of the first entry of the directory, for recognising."""
    if ending.directory is None:
        return None
    head = source.read(ending.directory.start, 46 + 64)
    if head[:4] != CENTRAL or len(head) < 46:
        return None
    length = int.from_bytes(head[28:30], "little")
    return head[46 : 46 + length], int.from_bytes(head[42:46], "little") + ending.shift
