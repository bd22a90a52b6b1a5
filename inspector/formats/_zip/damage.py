"""What a ZIP shows of its damage as a whole: a cut, headers that moved, a bit in which one record differs from another.

The local headers say what the central directory should be, and the directory where they should be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from inspector.core.archive import Archive
from inspector.core.cause import Cause, FoundCause, wrong, wrong_codes
from inspector.core.damage import Anchored, Damage, Landmark, Missing
from inspector.core.finding import Finding
from inspector.core.numbers import grouped, hexadecimal
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._damage import (
    MAX_TRAILING_BYTES,
    TAIL_TEXT_BYTES,
    flipped,
    is_text,
    one_bit,
    sampled,
    since,
)
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.eocd import end_of, eocd_at, find_eocd, is_header_of, zip_end
from inspector.formats._zip.records import (
    CENTRAL,
    CENTRAL_SIZE,
    CENTRAL_STRUCT,
    END,
    END_SIZE,
    END_STRUCT,
    FULL_32,
    LOCAL,
    LOCAL_SIZE,
    Central,
    End,
    LocalFile,
    local_files,
)

MAX_ENTRIES = 4_096
"""Entries of a directory that are compared with their local headers."""
_COMMENT = 20
"""Where an end record says how long its comment is."""
_MAX_TAIL_BYTES = 66_000
_NO_DIRECTORY = "The central directory that ends a ZIP is not there."


# ---- where it begins and ends ----------------------------------------------------------------------------------------


def _missing(archive: Archive) -> Missing | None:
    if "zip-no-central-directory" not in wrong_codes(archive) or archive.source.read(0, 4) != LOCAL:
        return None
    source, members = archive.source, archive.members
    tail_at = max(0, source.size - _MAX_TAIL_BYTES)
    tail = source.read(tail_at, _MAX_TAIL_BYTES)
    if not tail.strip(b"\0"):
        return None
    stop = max(members.stops, default=0)
    directory = sum(CENTRAL_SIZE + len(members.path(each)) for each in range(min(len(members), 100_000))) + END_SIZE
    first = tail.rfind(CENTRAL)
    if first >= 0 and tail_at + first >= stop:
        entry = tail[first : first + CENTRAL_SIZE]
        if len(entry) == CENTRAL_SIZE:
            fields = (int.from_bytes(entry[at : at + 2], "little") for at in (28, 30, 32))
            after = first + CENTRAL_SIZE + sum(fields)
            if after < len(tail) - END_SIZE:
                return None  # something else follows it
            return Missing(
                max(1, after - len(tail) + END_SIZE),
                "It ends inside its central directory, or in the record that ends one.",
            )
        return Missing(END_SIZE, "It ends inside its central directory.")
    cut = next((each for each in wrong(archive) if each.code in ("zip-member-cut-off", "zip-size-unknown")), None)
    if cut is None and stop < source.size - 1:
        rest = source.read(stop, 64)
        if rest[:2] not in (b"PK", b"P"):
            return None if source.size - stop > MAX_TRAILING_BYTES else Missing(directory, _NO_DIRECTORY)
    inside = max(0, stop - source.size)
    header = source.read(stop, 3) == LOCAL[:3]
    where = f"It ends {'inside' if cut is not None or header else 'after'} a member, and"
    return Missing(inside + directory, f"{where} the central directory of {len(members):,} entries should follow.")


def _last(source: Source, low: int) -> int | None:
    """Where the archive begins that ends with the file, by its end record."""
    eocd = find_eocd(since(source, low))
    if eocd is None or not eocd.exact or not eocd.consistent or eocd.directory is None:
        return None
    start = low + eocd.displacement
    return start if start > 0 and source.read(start, 4) in (LOCAL, END) else None


def _anchored(source: Source, at: int, low: int, progress: Progress) -> Anchored | None:  # noqa: ARG001 - as declared
    """The archive of an end record: its directory ends there, and says how far before it the first header is."""
    data = source.read(at, END_SIZE)
    if len(data) < END_SIZE:
        return None
    end = End._make(END_STRUCT.unpack(data))
    start = at - end.directory_size - end.directory_offset
    if FULL_32 in (end.directory_size, end.directory_offset):
        start = eocd_at(source, at).displacement
    if start < 0 or source.read(start, 4) not in (LOCAL, END):
        return None
    stop = end_of(source, start, at)
    return None if stop is None else Anchored(start, stop)


def _fronts(archive: Archive, progress: Progress) -> Sequence[int]:  # noqa: ARG001 - as declared
    source = archive.source
    at = _last(source, 0)
    if at is None and source.read(0, 4) != LOCAL:  # its end is damaged too, so only text is told from a lost beginning
        data = source.read(0, TAIL_TEXT_BYTES)
        found = data.find(LOCAL)
        at = found if found > 0 and is_text(data[:found]) else None
    return (at,) if at is not None else ()


def _is_older(source: Source, at: int) -> bool:
    """Whether the file ends as a ZIP does that began where the file begins, longer than what was written over it."""
    eocd = find_eocd(source)
    ends = eocd is not None and eocd.exact and eocd.consistent and not eocd.displacement
    return eocd is not None and eocd.directory is not None and ends and eocd.directory.start >= at


def _expected_size(archive: Archive) -> int | None:
    """By the end record: the offset and size of the directory, the record and its comment."""
    start = max(0, archive.source.size - END_SIZE - 0xFFFF)
    tail = archive.source.read(start, archive.source.size - start)
    at = tail.rfind(END)
    if at < 0 or at + END_SIZE > len(tail):
        return None
    size, offset = int.from_bytes(tail[at + 12 : at + 16], "little"), int.from_bytes(tail[at + 16 : at + 20], "little")
    if 0xFFFFFFFF in (size, offset):
        return None
    return size + offset + archive.source.size - start - at


# ---- what is at another place ----------------------------------------------------------------------------------------


def _landmarks(archive: Archive) -> Iterator[Landmark]:
    """The local headers that a directory lists, or some of them."""
    source, directory = archive.source, archive.detail
    listed = isinstance(directory, Directory) and directory.listed
    for index in sampled(len(directory.central)) if listed else ():
        head = source.read(directory.central[index], CENTRAL_SIZE)
        if len(head) == CENTRAL_SIZE:
            central = Central._make(CENTRAL_STRUCT.unpack(head))
            name = source.read(directory.central[index] + CENTRAL_SIZE, central.name_length)
            if name and central.offset != FULL_32:
                yield Landmark(central.offset, LOCAL_SIZE, name, is_header_of)


# ---- one bit ---------------------------------------------------------------------------------------------------------


def _flipped_record(archive: Archive, progress: Progress) -> FoundCause | None:  # noqa: ARG001 - as declared
    """The bit in which a record of the directory or of the end differs from what the local headers say."""
    source = archive.source
    files = list(islice(local_files(source, 0), MAX_ENTRIES + 1))
    if not files or len(files) > MAX_ENTRIES:
        return None
    found = []
    for at, there, expected, what in _directory(source, files):
        if there == expected:
            continue
        place = one_bit(there, expected)
        if place is None or (there.startswith(END) and place >= _COMMENT):  # a byte after it is no longer comment
            return None
        found.append((at + place, expected[place], what))
    if len(found) != 1:
        return None
    return flipped(archive, *found[0], "The local headers and all other records agree with that.")


def _directory(source: Source, files: Sequence[LocalFile]) -> Iterator[tuple[int, bytes, bytes, str]]:
    """The headers of the directory and the end record: place, bytes there, bytes that should be there, what it is."""
    begin = at = files[-1].stop
    for each in files:
        header = source.read(at, CENTRAL_SIZE + len(each.name))
        expected = _expected(header, each)
        yield at, header, expected, "a header of the central directory"
        at += CENTRAL_SIZE + sum(int.from_bytes(expected[field : field + 2], "little") for field in (28, 30, 32))
    number, size = len(files).to_bytes(2, "little"), (at - begin).to_bytes(8, "little")[:4]
    comment = max(0, source.size - at - END_SIZE).to_bytes(8, "little")[:2]
    expected = b"".join((END, bytes(4), number, number, size, begin.to_bytes(8, "little")[:4], comment))
    yield at, source.read(at, END_SIZE), expected, "the end of central directory record"


def _expected(header: bytes, each: LocalFile) -> bytes:
    """A header of the directory as its local header says it should be; what only it has stays."""
    local, (stored, size) = each.local, each.sizes or (0, 0)
    there = Central._make(CENTRAL_STRUCT.unpack(header[:CENTRAL_SIZE].ljust(CENTRAL_SIZE, b"\0")))
    made = there._replace(
        signature=CENTRAL,
        **{name: getattr(local, name) for name in ("needed", "flags", "method", "time", "date", "crc")},
        stored=stored & FULL_32,
        size=size & FULL_32,
        name_length=len(each.name),
        offset=each.head & FULL_32,
    )
    return CENTRAL_STRUCT.pack(*made) + each.name


def _flipped_field(archive: Archive, finding: Finding) -> FoundCause | None:
    """The bit in which two records of the same field differ."""
    if len(finding.spans) != 2:
        return None
    first, second = finding.spans
    if first.size != second.size or not 0 < first.size <= 1 << 16:
        return None
    some, other = archive.source.read(first.start, first.size), archive.source.read(second.start, second.size)
    at = one_bit(some, other)
    if at is None:
        return None
    places = (Span(first.start + at, first.start + at + 1), Span(second.start + at, second.start + at + 1))
    return FoundCause(
        Cause.FLIPPED_BIT,
        f"One bit changed in a header: byte {grouped(places[0].start)} is {hexadecimal(some[at], 2)}, and its twin at "
        f"{grouped(places[1].start)} is {hexadecimal(other[at], 2)}. Everything else in the two records agrees. "
        "Repair sets the wrong one where the content shows which that is.",
        places,
        (finding,),
        member=finding.member,
        adopts=True,
    )


DAMAGE = Damage(
    ends_itself=True,
    order_proved=True,
    trailing=frozenset(("zip-end-not-at-end",)),
    missing=_missing,
    expected_size=_expected_size,
    flipped_record=_flipped_record,
    flipped_field=_flipped_field,
    landmarks=lambda archive: tuple(_landmarks(archive)),
    begins=lambda source, at: source.read(at, 4) == LOCAL,
    end=zip_end,
    anchor=re.escape(END),
    anchored=_anchored,
    last=_last,
    fronts=_fronts,
    is_older=_is_older,
)
"""Of a plain ZIP; one that is a special case adds to it."""
