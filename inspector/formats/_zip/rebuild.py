"""Rewrite the central directory and the end records in place (APPNOTE.TXT 4.3.12 to 4.3.16), or salvage members.

Complete headers of the central directory are kept; members that only have local headers get new ones. Writing starts at
the first byte that differs. A salvage copies the members whose content matches its CRC-32, with new headers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.archive import Archive
from inspector.core.edit import Edit, Patch
from inspector.core.format import MemberError
from inspector.core.member import LARGEST, Codec
from inspector.core.names import brief, listed
from inspector.core.numbers import count
from inspector.core.program.progress import Progress
from inspector.core.repair import Content, Fate, Outcome, Repair, outcomes
from inspector.core.source import Metered, Source, SourceError, blocks
from inspector.core.span import Span
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats._signatures import found_outside
from inspector.formats._zip import codes
from inspector.formats._zip.directory import Directory, is_split
from inspector.formats._zip.eocd import Eocd, eocd_after, is_header_of
from inspector.formats._zip.extra import extra_faults
from inspector.formats._zip.records import (
    CENTRAL,
    CENTRAL_SIZE,
    END,
    END_SIZE,
    FULL_32,
    HAS_DESCRIPTOR,
    LOCAL,
    OFFSET_FIELD,
    STORED,
    Central,
    Local,
    LocalFile,
    central_headers,
    codec_of,
    make_central_header,
    make_end_records,
    make_local_header,
    read_local,
    zip64,
)
from inspector.formats._zip.strays import MAX_SEARCHED_BYTES, Scanner, ScanResult, Verified

_MAX_BLANK_BYTES = 64 << 20
"""Bytes after the members that are read to see whether they are zeros; more are taken to be data."""
_EMPTY = Span(0, 0)


class _WholeHeader(NamedTuple):
    """A complete central directory header: its bytes, its member's name, and the file offset of the local header.

    ``form`` is the stored size, the decoded size and the codec.
    """

    data: bytes
    name: bytes
    head: int
    form: tuple[int, int, Codec]


class DirectoryPlace(Struct, frozen=True):
    """Where the directory will begin: after unknown bytes ``gaps``, or in place of a member ``cut_off``.

    ``remnant`` are the bytes of a local header that the file ends in, which it replaces too.
    """

    start: int
    gaps: tuple[Span, ...] = ()
    cut_off: LocalFile | None = None
    remnant: Span = Span(0, 0)


class Rebuilt(Struct, frozen=True):
    """The new end of an archive.

    ``edit`` writes it, at its ``place``. It has ``kept`` old headers, then new ones for the members ``made``; ``gone``
    headers of members that are not in the file are dropped. ``doubtful``: the size of the member that is cut off may be
    wrong. ``left_out`` is the number of local headers in the gaps, which stay. ``trailing`` are bytes after the
    archive, which are dropped. ``uncommented``: whether the archive had a comment is unknown.
    """

    edit: Edit
    place: DirectoryPlace
    kept: int
    made: tuple[LocalFile, ...]
    gone: int
    doubtful: bool
    left_out: int
    trailing: Span
    uncommented: bool


def rebuild(
    source: Source, directory: Directory, verified: Verified, progress: Progress, *, follow: bool = False
) -> Rebuilt | None:
    """Plan to rewrite the end of the archive; None if that changes nothing or the archive has several disks.

    ``verified`` has the numbers of members whose content matched in a check. With ``follow``, local headers are
    followed even if the directory is complete. Raises SourceError and Cancelled.
    """
    eocd = directory.eocd
    if directory.capped or is_split(eocd):
        return None
    shift = eocd.shift if eocd is not None else 0
    base = max(0, shift)
    scanner = Scanner(source, progress, verified)
    place, found = _find_place(scanner, directory, base, follow=follow)
    limit = eocd.anchor if eocd is not None else source.size
    other = (eocd.displacement if not shift else -shift) if eocd is not None else 0
    entries = [
        _redirected(source, header, other, base, verified)
        for header in _whole_entries(source, place.start, limit, shift)
    ]
    trusted = _trusted(source, entries, place.start, limit, found)
    kept = _retained(list(_uncontradicted(scanner, trusted, found)), found, place.start, verified)
    known = {header.head for header in kept}
    made = tuple(each for each in found.members if each.head not in known and each.stop <= place.start)
    if not kept and not made and (eocd is None or eocd.entries):
        return None
    new = b"".join(_with_offset(header, header.head - base) for header in kept)
    new += b"".join(make_central_header(each.local, each.name, each.extra, each.head - base) for each in made)
    if eocd is None:
        eocd = eocd_after(source, place.start)
    comment = _comment(source, eocd, place.start + sum(len(header.data) for header in entries))
    new += make_end_records(len(kept) + len(made), len(new), place.start - base, comment or b"")
    edit = _edit(source, place.start, new)
    if edit is None:
        return None
    cut_off = () if place.cut_off is None else (Span(0, place.cut_off.begin),)
    # What looks like headers in it makes it doubtful that the bytes are one member's data.
    signs = (found_outside(source, each, cut_off, source.size, progress) for each in (LOCAL, CENTRAL))
    doubtful = bool(cut_off) and any(next(each, None) is not None for each in signs)
    trailing = Span(eocd.record.stop, source.size) if eocd is not None else _EMPTY
    return Rebuilt(
        edit=edit,
        place=place,
        kept=len(kept),
        made=made,
        gone=len(entries) - len(kept) - len({each.head for each in made} & {each.head for each in entries}),
        doubtful=doubtful,
        left_out=_left_out(source, place.gaps, {*known, *(each.head for each in made)}, progress),
        trailing=trailing,
        uncommented=comment is None,
    )


def _find_place(
    scanner: Scanner, directory: Directory, base: int, *, follow: bool
) -> tuple[DirectoryPlace, ScanResult]:
    """Where the directory will begin, and the members found by local headers; none if the directory is complete."""
    eocd, span, source = directory.eocd, directory.span, scanner.source
    if eocd is not None and span is not None and _is_complete(directory, eocd):
        found = scanner.members(base) if follow else ScanResult()
        return DirectoryPlace(span.start), found if found.stop == span.start else ScanResult()
    found = scanner.members(base)
    gaps = []
    for stray in directory.strays.members:
        if stray.head >= found.stop:
            gaps.append(Span(found.stop, stray.head))
            found.members.append(stray)
            found.stop, found.cut_off = stray.stop, None
    place = _place(source, eocd, span, found)
    return replace(place, gaps=tuple(each for each in (*gaps, *place.gaps) if each.size)), found


def _is_complete(directory: Directory, eocd: Eocd) -> bool:
    """Whether the directory is readable to its end and has as many entries as the end record counts, at least one."""
    entries = len(directory.central)
    counted = eocd.entries in (entries, entries & 0xFFFF)
    return directory.stop == eocd.anchor and counted and entries > 0


def _place(source: Source, eocd: Eocd | None, span: Span | None, found: ScanResult) -> DirectoryPlace:
    """Where the directory ``span`` is; without one after the last member found, or after unknown bytes."""
    limit, head = source.size if eocd is None else eocd.anchor, source.read(found.stop, 4)
    begun: tuple[bytes, ...] = (CENTRAL,)
    if eocd is None:
        if found.cut_off is not None:
            return DirectoryPlace(found.cut_off.head, cut_off=found.cut_off)
        if len(head) > 2 and head == LOCAL[: len(head)] and read_local(source, found.stop) is None:
            return DirectoryPlace(found.stop, remnant=Span(found.stop, source.size))
        span, begun = None, (CENTRAL[: len(head)], END[: len(head)])
    if span is None and (head in begun or _is_blank(source, Span(found.stop, limit))):
        return DirectoryPlace(min(found.stop, limit))
    start = limit if span is None else span.start
    return DirectoryPlace(start, (Span(min(found.stop, start), start),))


def _trusted(
    source: Source, entries: list[_WholeHeader], start: int, limit: int, found: ScanResult
) -> list[_WholeHeader]:
    """The headers, without the last if its own lengths prove it wrong and a local header has its member."""
    stop = start + sum(len(header.data) for header in entries)
    if not entries or stop >= limit or source.read(stop, 4) == CENTRAL:
        return entries
    data, name, head, _ = entries[-1]
    local = next((member for member in found.members if member.head == head), None)
    extra = data[CENTRAL_SIZE + len(name) :][: int.from_bytes(data[30:32], "little")]
    wrong = local is not None and (name != local.name or CENTRAL in data[4:] or bool(extra_faults(extra, local=False)))
    return entries[:-1] if wrong else entries


def _left_out(source: Source, gaps: tuple[Span, ...], heads: Container[int], progress: Progress) -> int:
    """The number of local headers in these bytes that are no member's in the new directory; at least one for too many.

    A member that is listed without its local header having been followed hides what is in its data.
    """
    number = free = 0
    searched = Metered(source, MAX_SEARCHED_BYTES)
    edges = (0, *chain.from_iterable(gaps), source.size)
    outside = [Span(*each) for each in zip(edges[::2], edges[1::2], strict=True)]
    progress.begin("Looking for what is left out", sum(each.size for each in gaps))
    for head in found_outside(searched, LOCAL, outside, source.size, progress):
        local = read_local(source, head) if head >= free else None
        if local is not None and head in heads:
            free = local.stop
        elif local is not None:
            number += 1
    return number or int(searched.left <= 0)


def _uncontradicted(scanner: Scanner, entries: list[_WholeHeader], found: ScanResult) -> Iterator[_WholeHeader]:
    """Yield the headers that no local header proves wrong.

    A header is wrong if the content matches the numbers of the local header, and the header has other sizes, or another
    name than a second header with the same offset.
    """
    members = {member.head: member for member in found.members}
    right = {(header.head, header.name) for header in entries}
    for header in entries:
        local = members.get(header.head)
        if local is not None:
            other = header.name != local.name and (local.head, local.name) in right
            numbers = (local.local.stored, local.local.size, codec_of(local.local.method, local.local.flags))
            if (other or numbers != header.form) and scanner.fits(local):
                continue
        yield header


def _retained(entries: list[_WholeHeader], found: ScanResult, start: int, verified: Verified) -> list[_WholeHeader]:
    """The headers to keep in a directory that begins at ``start``.

    As far as local headers were followed, a header has to point to one; if it does not, it gets the offset of the only
    unlisted member with its name. A header with other sizes or another codec than the verified content is dropped. A
    wrong CRC-32 alone is repaired later.
    """
    heads = {member.head for member in found.members}
    reach = (LARGEST if found.stop >= start else found.stop) if heads else 0
    left = heads - {header.head for header in entries}
    names = Counter(member.name for member in found.members if member.head in left)
    places = {member.name: member.head for member in found.members if member.head in left and names[member.name] == 1}
    kept = []
    for header in entries:
        if header.head not in heads and header.head not in verified and header.head < reach:
            # If the offset is in ZIP64 information, the member gets a new header instead.
            place = places.pop(header.name, -1) if _narrow(header.data) else -1
            header = header._replace(head=place)  # noqa: PLW2901 - the same header with another offset
        whole = verified.get(header.head)
        if header.head >= 0 and (whole is None or header.head not in heads or whole[1:] == header.form):
            kept.append(header)
    return kept


def _narrow(header: bytes) -> bool:
    """Whether a header has its offset in its own 32-bit field."""
    return header[slice(*OFFSET_FIELD)] != b"\xff" * 4


def _whole_entries(source: Source, start: int, limit: int, shift: int) -> Iterator[_WholeHeader]:
    """Yield the complete headers from ``start`` on."""
    for at, central, _, name, extra, stop in central_headers(source, start, limit):
        _, size, stored, offset, _ = zip64(extra, central.size, central.stored, central.offset)
        form = stored, size, codec_of(central.method, central.flags)
        yield _WholeHeader(source.read(at, stop - at), name, offset + shift, form)


def _redirected(source: Source, header: _WholeHeader, other: int, base: int, verified: Verified) -> _WholeHeader:
    """The header, with its offset changed by ``other`` bytes if its member is there.

    Members after a place where bytes were inserted or lost are displaced, those before it are not.
    """
    here, there = header.head, header.head + other
    if not other or there < base or not _narrow(header.data) or is_header_of(source, here, header.name):
        return header
    # Small members stand at equal distances, so that the header at a wrong offset may be another member's.
    goes = is_header_of(source, there, header.name) or (there in verified and here not in verified)
    return header._replace(head=there) if goes else header


def _with_offset(header: _WholeHeader, offset: int) -> bytes:
    """The header with another offset, if its 32-bit field holds it."""
    if not _narrow(header.data) or offset >= FULL_32:
        return header.data
    start, stop = OFFSET_FIELD
    return header.data[:start] + offset.to_bytes(4, "little") + header.data[stop:]


def _comment(source: Source, eocd: Eocd | None, stop: int) -> bytes | None:
    """The comment of the archive; None if it is unknown. The directory ends at ``stop``.

    An end record with a damaged signature is recognised by its comment, which ends with the file.
    """
    if eocd is not None:
        start = eocd.record.start + END_SIZE
        return source.read(start, eocd.record.stop - start)
    end = source.read(stop, END_SIZE)
    size = source.size - stop - END_SIZE
    known = len(end) == END_SIZE and int.from_bytes(end[-2:], "little") == size
    return source.read(stop + END_SIZE, size) if known else None


def _edit(source: Source, start: int, new: bytes) -> Edit | None:
    """The Edit that makes the file end with ``new`` from ``start`` on; None if it does already. Raises SourceError."""
    size = source.size
    old = source.read(start, min(len(new), size - start))
    if len(old) < min(len(new), size - start):
        raise SourceError("The file has become shorter since it was opened; open it again.")
    same = bisect_left(range(len(old)), True, key=lambda at: old[: at + 1] != new[: at + 1])
    end = start + len(new)
    patches = (Patch(start + same, old[same:], new[same:]),) if same < len(new) else ()
    return Edit("Rebuild the central directory", patches, size, end) if patches or end != size else None


def _is_blank(source: Source, span: Span) -> bool:
    """Whether there are only zeros, and not too many to be read."""
    return span.size <= _MAX_BLANK_BYTES and not any(any(piece) for piece in blocks(source, *span))


# ---- salvage ---------------------------------------------------------------------------------------------------------

FirstMember = Callable[[Mapping[tuple[int, int], int]], tuple[Local, bytes, bytes]]
"""Makes header, name and content of a first member, given new starts of stored data by old ``(start, stop)``."""


class _Copy(NamedTuple):
    """A member to copy: its header, and where its stored bytes begin in the old archive."""

    local: Local
    name: bytes
    extra: bytes
    central: Central | None
    start: int


def salvage(
    archive: Archive, directory: Directory, extra_losses: tuple[str, ...] = (), first_member: FirstMember | None = None
) -> Repair:
    """Plan a salvage. ``first_member`` makes a member to replace the one at the start of the file.

    ``extra_losses`` are sentences on what else is lost.
    """
    members, replaced, strays = archive.members, first_member is not None, directory.strays
    kept, others = _to_copy(archive, directory, replaced=replaced)
    whole = len(kept) + len(others)
    elsewhere = {each.name for each in strays.members}
    made = directory.first if replaced else -1

    def gone() -> Iterator[bytes]:
        lost = (at for at in range(len(members)) if at != made and archive.verdict(at) is not Verdict.VERIFIED)
        paths = map(members.path, lost)
        return chain((path for path in paths if path not in elsewhere), (name for name, _ in strays.broken))

    lost, loses = sum(1 for _ in gone()), list(extra_losses)
    if lost:
        total = whole + lost if strays.broken else len(members)
        text = f"{count(lost, 'member')} of {total:,} whose content does not match a CRC-32"
        loses.insert(0, f"{text}: {listed(gone(), lost)}.")
    named = {each.member for each in archive.findings if each.code == codes.LOCAL_NAME.code}
    twice = [each for each in kept if each in named]
    if twice:
        names = listed(map(members.path, twice), len(twice))
        loses.append(
            f"Another name of {count(len(twice), 'member')}, from the local header; either may be right: {names}."
        )
    if strays.unsearched:
        loses.append("What was not searched: the search for members ended before the file, so there may be more.")
    if not directory.listed or (directory.eocd is not None and directory.eocd.entries > len(members)):
        loses.append("Members of which nothing is left: without a whole directory nothing says how many there were.")
    header, article = "a new header and " if replaced else "", "at least" if strays.unsearched else "the"
    title = f"Write {header}{article} {count(whole, 'whole member')} to a new archive"
    found = outcomes(archive, {*kept, made}, "its CRC-32 matches", "its header is rewritten")

    def fates() -> Iterator[Outcome]:
        doubt = "its CRC-32 matches, and its two headers name it differently"
        for index, each in enumerate(found()):
            if index in named and each.fate is Fate.PROVED:
                yield each._replace(fate=Fate.READABLE, why=doubt)
            elif each.fate is not Fate.LOST or each.path not in elsewhere:
                yield each
        for stray in strays.members:
            why = f"its CRC-32 matches, at byte {stray.head:,} instead of its place"
            yield Outcome(stray.name, Fate.PROVED, why)
        for name, head in strays.broken:
            yield Outcome(name, Fate.LOST, f"no content after its local header at byte {head:,} matches a CRC-32")

    return Repair(
        "zip-salvage",
        title,
        frozenset(),
        tuple(loses),
        content=_content(archive, directory, first_member),
        outcomes=fates,
        unsearched=strays.unsearched,
    )


def has_whole(archive: Archive, directory: Directory) -> bool:
    """Whether there is a whole member to salvage."""
    return VERDICTS.index(Verdict.VERIFIED) in archive.verdicts or bool(directory.strays.members)


def copied(archive: Archive, directory: Directory) -> Iterator[tuple[int, int]]:
    """The stored bytes, ``(start, stop)``, of the members that a salvage with a new first member copies."""
    members, (kept, strays) = directory.members, _to_copy(archive, directory, replaced=True)
    yield from ((members.starts[index], members.stops[index]) for index in kept)
    yield from ((each.begin, each.begin + each.local.stored) for each in strays)


def _to_copy(archive: Archive, directory: Directory, *, replaced: bool) -> tuple[list[int], list[LocalFile]]:
    """The members to copy, and those at other places, without one at the start of the file that is ``replaced``."""
    omitted, verified = directory.first if replaced else -1, VERDICTS.index(Verdict.VERIFIED)
    kept = [index for index, verdict in enumerate(archive.verdicts) if verdict == verified and index != omitted]
    return kept, [each for each in directory.strays.members if each.head or not replaced]


def _copy(source: Source, directory: Directory, index: int) -> _Copy:
    """One member, described by the central directory, or by the local header without a directory."""
    members = directory.members
    found = read_local(source, directory.heads[index])
    local, name, extra = (found.local, found.name, found.extra) if found else (None, members.path(index), b"")
    there = next(central_headers(source, directory.central[index], source.size), None) if directory.listed else None
    central, name = (there[1], there[3]) if there is not None else (None, name)
    model = central or local
    if model is None:
        raise MemberError(f"The headers of {brief(name)} can no longer be read.")
    stored = members.stored(index)
    whole = Local(
        signature=LOCAL,
        needed=model.needed,
        flags=model.flags & ~HAS_DESCRIPTOR,
        method=model.method,
        time=model.time,
        date=model.date,
        crc=directory.computed[index],
        stored=stored,
        size=stored if model.method == STORED else members.size(index),
        name_length=0,
        extra_length=0,
    )
    return _Copy(whole, name, extra, central, members.starts[index])


def _stray_copy(stray: LocalFile) -> _Copy:
    local = stray.local._replace(flags=stray.local.flags & ~HAS_DESCRIPTOR, name_length=0, extra_length=0)
    return _Copy(local, stray.name, stray.extra, None, stray.begin)


def _content(archive: Archive, directory: Directory, first_member: FirstMember | None) -> Content:
    """The new archive in pieces."""

    def pieces(progress: Progress) -> Iterator[bytes]:
        progress.begin("Writing whole members", archive.source.size)
        central: list[bytes] = []
        stop = 0
        if first_member is not None:
            local, name, data = first_member({})
            stop = len(make_local_header(local, name, b"")) + len(data)
            begins = {(each.start, each.start + each.local.stored): begin for each, _, begin in placed(stop, progress)}
            local, name, data = first_member(begins)
            yield make_local_header(local, name, b"") + data
            central.append(make_central_header(local, name, b"", 0))
        for copy, header, begin in placed(stop, progress):
            central.append(make_central_header(copy.local, copy.name, copy.extra, begin - len(header), copy.central))
            yield header
            at, stop = begin, begin + copy.local.stored
            for piece in blocks(archive.source, copy.start, copy.start + copy.local.stored):
                yield piece
                at += len(piece)
                progress.advance(len(piece))
            if at < stop:
                raise MemberError(f"The file has become shorter: {brief(copy.name)} is no longer complete.")
        yield from central
        yield make_end_records(len(central), sum(map(len, central)), stop)

    def placed(at: int, progress: Progress) -> Iterator[tuple[_Copy, bytes, int]]:
        """The members to copy from ``at`` on, with their headers and where their data begins in the new archive."""
        kept, strays = _to_copy(archive, directory, replaced=first_member is not None)
        for copy in chain((_copy(archive.source, directory, index) for index in kept), map(_stray_copy, strays)):
            header = make_local_header(copy.local, copy.name, copy.extra)
            yield copy, header, at + len(header)
            at += len(header) + copy.local.stored
            progress.advance(0)

    return pieces
