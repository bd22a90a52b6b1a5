"""Open a remote range by its metadata or index alone; read a tar header only when its datapoint is shown.

S3 Storage Layout, Metadata Files: the metadata gives the start and end of each datapoint. If it does so without a gap,
the headers need not be walked, at one request each; they add only the extension of the name and the exact size.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from msgspec import Struct

from inspector.core.archive import Archive, Emitter
from inspector.core.member import UNREAD, Members
from inspector.core.program.progress import Progress
from inspector.core.source import SplicedSource, gather
from inspector.core.span import Span
from inspector.formats._kinds import TAR_END
from inspector.formats._tar import reading
from inspector.formats._tar.fields import archive_fields
from inspector.formats._tar.header import BLOCK, EXTENSIONS, PAX_GLOBAL, ZEROS, aligned, parse
from inspector.formats._tar.resync import Layout, Stray
from inspector.formats.datas3t import codes
from inspector.formats.datas3t.datapoints import RangeRecords
from inspector.formats.datas3t.keys import DIGITS, RangeName, datapoint_key

_PLAIN = frozenset((b"0", b"\0"))
"""Type flags of regular files."""


class DatapointLocation(Struct, frozen=True):
    """One datapoint: its headers start at ``head``, its data is approximately ``[start, stop)``."""

    key: int
    head: int
    start: int
    stop: int


def datapoint_locations(records: RangeRecords, named: RangeName | None, size: int) -> list[DatapointLocation] | None:
    """The datapoints of a tar of ``size`` bytes in order; None if neither metadata nor index covers it without gaps."""
    found: list[DatapointLocation] = []
    if records.described and not records.rows.unreadable:
        rows = zip(records.rows.ids, records.rows.begins, records.rows.ends, strict=True)
        located = (DatapointLocation(key, begin, begin + BLOCK, end) for key, begin, end in rows)
        found = sorted(located, key=lambda location: location.head)
    elif records.index is not None and named is not None:
        # Index rows have no keys: they are in the order of the tar, whose keys are contiguous.
        for row in range(len(records.index)):
            head, blocks, size = records.index[row]
            start = head + blocks * BLOCK
            found.append(DatapointLocation(named.first + row, head, start, start + size))
    return found if found and _has_no_gaps(found, size) else None


def _has_no_gaps(found: Sequence[DatapointLocation], size: int) -> bool:
    """Whether each datapoint starts where the one before ends, and all keys differ."""
    last = aligned(found[-1].stop)
    valid = found[0].head == 0 and last <= size and len({location.key for location in found}) == len(found)
    return (
        valid
        and all(location.head + BLOCK <= location.start <= location.stop for location in found)
        and all(aligned(before.stop) == location.head for before, location in pairwise(found))
    )


def decode(
    emitter: Emitter, progress: Progress, records: RangeRecords, found: Sequence[DatapointLocation], digest: str
) -> None:
    """Emit the members at ``datapoint_locations``, with headers unread."""
    archive = emitter.archive
    source = archive.source
    progress.begin("Reading metadata", len(found), "members")
    members = Members(digest=digest, digest_digits=16 if digest else 0, sizes=True, heads=True, marks=True)
    emitter.begin_members(members)
    for location in found:
        name = b"%0*d" % (DIGITS, location.key)
        members.append(name, location.start, location.stop, head=location.head, marks=UNREAD)
        progress.advance(1)
    end = aligned(found[-1].stop)
    layout = Layout([Span(0, end)])
    if end < source.size:
        note = "The bytes after the last datapoint, which were not read. Two blocks of zeros end a tar."
        layout.strays.append(Stray("end of archive", TAR_END, Span(end, source.size), note))
    emitter.lay(archive_fields(source, members, layout, records.extras))
    members.reader = partial(_read, archive, members, end)
    emitter.report(
        codes.HEADERS_NOT_READ,
        "Tar headers were not read, because the metadata or the index locates every datapoint. Reading them takes "
        "requests. The exact name and size of a datapoint are read when it is shown; a check reads and compares all.",
    )


def report_walked(emitter: Emitter, records: RangeRecords) -> None:
    """Report why all headers of a remote range were read."""
    present = records.described or records.index is not None
    why = "the metadata or the index leaves gaps" if present else "there is no readable metadata or index"
    emitter.report(
        codes.HEADERS_WALKED,
        f"All tar headers were read one after another, because {why}. Each may have taken a request.",
    )


def _read(archive: Archive, members: Members, end: int, indices: Sequence[int]) -> None:
    """Read the headers of the members ``indices`` (Members.reader)."""
    assert members.heads is not None
    heads = members.heads
    spans = [Span(heads[index], heads[index] + BLOCK) for index in indices]
    for index, block in zip(indices, gather(archive.source, spans), strict=True):
        stop = heads[index + 1] if index + 1 < len(members) else end
        resolved, was = _member_in(archive, Span(heads[index], stop), block), datapoint_key(members.path(index))
        now = datapoint_key(resolved[0]) if resolved is not None else None
        if resolved is None or was is None or now is None or was[0] != now[0]:
            members.misled = True
        else:
            members.settle(index, *resolved)


ResolvedMember = tuple[bytes, int, int]
"""A member's name and its data ``[start, stop)``."""


def _member_in(archive: Archive, room: Span, block: bytes) -> ResolvedMember | None:
    """The member whose headers and data fill ``room``, which starts with ``block``; None if they do not fill it."""
    if len(block) < BLOCK or block == ZEROS:
        return None
    found = parse(block)
    if not found.fits or found.typeflag == PAX_GLOBAL:
        return None
    if found.typeflag in EXTENSIONS:
        return _extended_member_in(archive, room)
    start = room.start + BLOCK
    if found.typeflag not in _PLAIN or found.folder or found.size is None or found.size < 0:
        return None
    stop = start + found.size
    return (found.name, start, stop) if aligned(stop) == room.stop else None


def _extended_member_in(archive: Archive, room: Span) -> ResolvedMember | None:
    """The same for a member with extended headers, decoded as a tar of its own."""
    alone = Archive(SplicedSource(archive.source, (room,), archive.source.name), "tar", "", ())
    reading.decode(alone.source, Emitter(alone), Progress())
    members = alone.members
    if len(members) != 1 or members[0].marks or aligned(members.stops[0]) != room.size:
        return None
    return members.path(0), room.start + members.starts[0], room.start + members.stops[0]
