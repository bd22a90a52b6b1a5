"""Writing the central directory and the end records anew (APPNOTE.TXT 4.3.12 to 4.3.16), in place.

Headers of the central directory that are whole stay as they are; members that only their local headers tell of get new
ones. Only the bytes from the first that differs on are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from inspector.core.edit import Edit, Patch
from inspector.core.member import LARGEST, Codec
from inspector.core.progress import Progress
from inspector.core.source import Source, SourceError, blocks
from inspector.core.span import Span
from inspector.formats._zip.base_offset import stands
from inspector.formats._zip.directory import Directory, codec_of, headers
from inspector.formats._zip.eocd import Ending
from inspector.formats._zip.eocd_search import ending_behind
from inspector.formats._zip.extra import zip64
from inspector.formats._zip.extra_check import faults
from inspector.formats._zip.local_scan import Proved, Survivor, Survivors, is_whole, survivors
from inspector.formats._zip.records import CENTRAL, CENTRAL_SIZE, END, END_SIZE, FULL_32, LOCAL
from inspector.formats._zip.scan import read_local
from inspector.formats._zip.writing import central_header, end_records

_OFFSET = (42, 46)
"""Where a central directory header says where its member is."""
_COMPARED = 4096
_LOOKED_AT = 64 << 20
"""Bytes behind the members that are read to see whether they are blank; more of them are taken to be something."""
_EMPTY = Span(0, 0)


class Header(NamedTuple):
    """A central directory header that is whole: its bytes, and where its member's local header is in the file.

    ``name`` is its member's, ``form`` its stored size, decoded size and codec.
    """

    data: bytes
    name: bytes
    head: int
    form: tuple[int, int, Codec]


class Place(NamedTuple):
    """Where the directory is to begin. ``rest`` is what stays before it though nobody knows what it is."""

    start: int
    rest: Span = _EMPTY
    cut: Survivor | None = None


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What the end of the archive is to be.

    ``edit`` writes it; the directory begins at ``start``. Its ``kept`` first headers stay, ``made`` members get new
    ones, ``gone`` headers lead to bytes that are not there any more. ``cut`` is a member that the file ends inside of
    and that goes; it is ``doubtful`` where its size may be what is wrong. ``rest`` are bytes before the directory of
    which nothing is known, and which stay; ``behind`` bytes after the archive, which go. ``uncommented`` where it
    cannot be told whether the archive had a comment.
    """

    edit: Edit
    start: int
    kept: int
    made: tuple[Survivor, ...]
    gone: int
    cut: Survivor | None
    doubtful: bool
    rest: Span
    behind: Span
    uncommented: bool


def rebuild(
    source: Source, directory: Directory, proved: Proved, progress: Progress, *, follow: bool = False
) -> Rebuilt | None:
    """How to write the end of the archive anew; None where that would change nothing, or cannot be told.

    ``proved`` are the numbers of members whose content a check has found whole; ``follow`` looks for members by their
    local headers also where the directory can be read to its end. Raises SourceError and Cancelled.
    """
    ending = directory.ending
    if directory.capped or _is_split(ending):
        return None
    shift = ending.shift if ending is not None else 0
    base = max(0, shift)
    place, found = _place(source, directory, base, proved, progress, follow=follow)
    limit = ending.anchor if ending is not None else source.size
    other = (ending.distance if not shift else -shift) if ending is not None else 0
    listed = [_led(source, header, other, base, proved) for header in _listed(source, place.start, limit, shift)]
    trusted = _trusted(source, listed, place.start, limit, found)
    kept = _kept(list(_borne_out(source, trusted, found, progress)), found, place.start, proved)
    known = {header.head for header in kept}
    made = tuple(each for each in found.members if each.head not in known and each.stop <= place.start)
    if not kept and not made and (ending is None or ending.entries):
        return None
    new = b"".join(_moved(header, header.head - base) for header in kept)
    new += b"".join(central_header(each.local, each.name, each.extra, each.head - base) for each in made)
    if ending is None:
        ending = ending_behind(source, place.start)
    comment = _comment(source, ending, place.start + sum(len(header.data) for header in listed))
    new += end_records(len(kept) + len(made), len(new), place.start - base, comment or b"")
    edit = _edit(source, place.start, new)
    if edit is None:
        return None
    doubtful = place.cut is not None and _has_signature(source, Span(place.cut.begin, source.size))
    behind = Span(ending.record.stop, source.size) if ending is not None else _EMPTY
    return Rebuilt(
        edit=edit,
        start=place.start,
        kept=len(kept),
        made=made,
        gone=len(listed) - len(kept) - len({each.head for each in made} & {each.head for each in listed}),
        cut=place.cut,
        doubtful=doubtful,
        rest=place.rest,
        behind=behind,
        uncommented=comment is None,
    )


def _is_split(ending: Ending | None) -> bool:
    return ending is not None and any(problem.code == "zip-several-disks" for problem in ending.problems)


def _place(
    source: Source, directory: Directory, base: int, proved: Proved, progress: Progress, *, follow: bool
) -> tuple[Place, Survivors]:
    """Where the directory is to begin, and the members found on the way; none where the directory is whole."""
    ending, span = directory.ending, directory.span
    if ending is not None and span is not None and _is_complete(directory, ending):
        found = survivors(source, base, proved, progress) if follow else Survivors()
        return Place(span.start), found if found.stop == span.start else Survivors()
    found = survivors(source, base, proved, progress)
    return (_place_at(source, found) if ending is None else _place_in(source, ending, span, found)), found


def _is_complete(directory: Directory, ending: Ending) -> bool:
    """Whether the directory can be read to its end and has as many entries, and some, as the end record counts."""
    entries = len(directory.central)
    counted = ending.entries in (entries, entries & 0xFFFF)
    return directory.stop == ending.anchor and counted and entries > 0


def _place_in(source: Source, ending: Ending, span: Span | None, found: Survivors) -> Place:
    """The place before end records that are there; ``span`` is where the directory was found."""
    if span is not None:
        return Place(span.start, Span(min(found.stop, span.start), span.start))
    if source.read(found.stop, 4) == CENTRAL or _is_blank(source, Span(found.stop, ending.anchor)):
        return Place(min(found.stop, ending.anchor))
    return Place(ending.anchor, Span(min(found.stop, ending.anchor), ending.anchor))


def _place_at(source: Source, found: Survivors) -> Place:
    """The place in a file that has no end records: behind the last member, or behind what nobody knows."""
    if found.cut is not None:
        return Place(found.cut.head, cut=found.cut)
    head = source.read(found.stop, 4)
    cut_off = head == LOCAL and read_local(source, found.stop) is None
    remnant = any(head[:4] == signature[: len(head)] for signature in (LOCAL, CENTRAL, END)) and len(head) < 4
    if cut_off or remnant or head in (CENTRAL, END) or _is_blank(source, Span(found.stop, source.size)):
        return Place(found.stop)
    return Place(source.size, Span(found.stop, source.size))


def _trusted(source: Source, listed: list[Header], start: int, limit: int, found: Survivors) -> list[Header]:
    """The headers, without the last where its own lengths show to be wrong and a local header tells of its member."""
    stop = start + sum(len(header.data) for header in listed)
    if not listed or stop >= limit or source.read(stop, 4) == CENTRAL:
        return listed
    data, name, head, _ = listed[-1]
    local = next((member for member in found.members if member.head == head), None)
    extra = data[CENTRAL_SIZE + len(name) :][: int.from_bytes(data[30:32], "little")]
    wrong = local is not None and (name != local.name or CENTRAL in data[4:] or bool(faults(extra, local=False)))
    return listed[:-1] if wrong else listed


def _borne_out(source: Source, listed: list[Header], found: Survivors, progress: Progress) -> Iterator[Header]:
    """The headers, without those that a local header shows to be wrong by a content that fits its own numbers.

    So it is where a header has other sizes, and where another name claims what a right one claims too.
    """
    members = {member.head: member for member in found.members}
    right = {(header.head, header.name) for header in listed}
    for header in listed:
        local = members.get(header.head)
        if local is not None:
            other = header.name != local.name and (local.head, local.name) in right
            numbers = (local.local.stored, local.local.size, codec_of(local.local.method, local.local.flags))
            if (other or numbers != header.form) and is_whole(source, local, progress):
                continue
        yield header


def _kept(listed: list[Header], found: Survivors, start: int, proved: Proved) -> list[Header]:
    """The headers that can stay in a directory that begins at ``start``.

    As far as local headers were followed, those are the ones that lead to one. One that leads to none is given the
    offset of the only member left of its name. One with other sizes or another codec than those with which the content
    is whole cannot stay; a wrong CRC-32 alone is set right later.
    """
    heads = {member.head for member in found.members}
    reach = (LARGEST if found.stop >= start else found.stop) if heads else 0
    left = heads - {header.head for header in listed}
    names = Counter(member.name for member in found.members if member.head in left)
    places = {member.name: member.head for member in found.members if member.head in left and names[member.name] == 1}
    kept = []
    for header in listed:
        if header.head not in heads and header.head not in proved and header.head < reach:
            # Where the offset stands in ZIP64 information, the member gets a header of its own instead.
            place = places.pop(header.name, -1) if _narrow(header.data) else -1
            header = header._replace(head=place)  # noqa: PLW2901 - the same one, led elsewhere
        whole = proved.get(header.head)
        if header.head >= 0 and (whole is None or header.head not in heads or whole[1:] == header.form):
            kept.append(header)
    return kept


def _narrow(header: bytes) -> bool:
    """Whether a header has its offset in its own 32 bits."""
    return header[slice(*_OFFSET)] != b"\xff" * 4


def _listed(source: Source, start: int, limit: int, shift: int) -> Iterator[Header]:
    """The headers that are whole, from ``start`` on."""
    for at, header, _, name, extra, stop in headers(source, start, limit):
        stored, size, offset = header[8], header[9], header[16]
        wide = zip64(extra, size == FULL_32, stored == FULL_32, offset == FULL_32)
        size = size if wide.size is None else wide.size
        stored = stored if wide.stored is None else wide.stored
        offset = offset if wide.offset is None else wide.offset
        yield Header(source.read(at, stop - at), name, offset + shift, (stored, size, codec_of(header[4], header[3])))


def _led(source: Source, header: Header, other: int, base: int, proved: Proved) -> Header:
    """The header as it leads to its member, also where that lies by ``other`` bytes elsewhere.

    So it is with members behind a place where bytes were put in or taken out, while those before it stayed.
    """
    here, there = header.head, header.head + other
    if not other or there < base or not _narrow(header.data) or here in proved:
        return header
    stays = there not in proved and stands(source, here, header.name)
    goes = there in proved or stands(source, there, header.name)
    return header._replace(head=there) if goes and not stays else header


def _moved(header: Header, offset: int) -> bytes:
    """The header with another offset, where it is one that its 32 bits hold."""
    if not _narrow(header.data) or offset >= FULL_32:
        return header.data
    start, stop = _OFFSET
    return header.data[:start] + offset.to_bytes(4, "little") + header.data[stop:]


def _comment(source: Source, ending: Ending | None, stop: int) -> bytes | None:
    """The comment of the archive; None where nothing shows it. The directory ends at ``stop``.

    An end record of which only the signature is damaged is known by its comment, which ends with the file.
    """
    if ending is not None:
        start = ending.record.start + END_SIZE
        return source.read(start, ending.record.stop - start)
    end = source.read(stop, END_SIZE)
    size = source.size - stop - END_SIZE
    known = len(end) == END_SIZE and int.from_bytes(end[-2:], "little") == size
    return source.read(stop + END_SIZE, size) if known else None


def _edit(source: Source, start: int, new: bytes) -> Edit | None:
    """The Edit that makes the file end with ``new`` from ``start`` on; None where it does already.

    Raises SourceError.
    """
    size = source.size
    old = source.read(start, min(len(new), size - start))
    if len(old) < min(len(new), size - start):
        raise SourceError("The file has become shorter since it was opened; open it again.")
    same = _alike(old, new)
    end = start + len(new)
    patches = (Patch(start + same, old[same:], new[same:]),) if same < len(new) else ()
    return Edit("Rebuild the central directory", patches, size, end) if patches or end != size else None


def _alike(old: bytes, new: bytes) -> int:
    """How many bytes at the start are the same; ``new`` is not shorter."""
    at = 0
    while at < len(old) and old[at : at + _COMPARED] == new[at : at + min(_COMPARED, len(old) - at)]:
        at += _COMPARED
    at = min(at, len(old))
    return at + next((i for i, (one, other) in enumerate(zip(old[at:], new[at:], strict=False)) if one != other), 0)


def _is_blank(source: Source, span: Span) -> bool:
    """Whether there is nothing but zeros, and not too many of them to be looked at."""
    return span.size <= _LOOKED_AT and not any(any(piece) for piece in blocks(source, *span))


def _has_signature(source: Source, span: Span) -> bool:
    """Whether there is something that looks like a record: a doubt about the size that says it is data."""
    tail = b""
    for piece in blocks(source, *span):
        window = tail + piece
        if LOCAL in window or CENTRAL in window:
            return True
        tail = window[-3:]
    return False
