"""A range of which only what stands beside it is read: its tar headers are, when its datapoints are looked at.

S3 Storage Layout, Metadata Files: the metadata says where each datapoint begins and ends. Where it does so without a
gap, the headers lie between what it says, and each takes a request of its own; they tell the extension of the name, and
the size to the byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from inspector.core.archive import Archive, Emitter
from inspector.core.kinds import Kind
from inspector.core.member import UNREAD, Members
from inspector.core.progress import Progress
from inspector.core.source import SplicedSource, gather
from inspector.core.span import Span
from inspector.formats import _tar
from inspector.formats._tar.fields import archive_fields
from inspector.formats._tar.header import BLOCK, EXTENSIONS, PAX_GLOBAL, ZEROS, aligned, parse
from inspector.formats._tar.resync import Layout, Stray
from inspector.formats.datas3t.datapoints import Beside
from inspector.formats.datas3t.keys import DIGITS, RangeName, datapoint_key

NOT_READ = "datas3t-headers-not-read"
"""The code of the finding that headers were left out, which is said of all ranges when it is said of one."""
_PLAIN = frozenset((b"0", b"\0"))
"""Type flags of regular files."""


class Place(NamedTuple):
    """One datapoint: its headers begin at ``head``, its data is about ``[start, stop)``."""

    key: int
    head: int
    start: int
    stop: int


def places(beside: Beside, named: RangeName | None, size: int) -> list[Place] | None:
    """Where the datapoints of a tar of ``size`` bytes are, in order; None where nothing says it without a gap."""
    found: list[Place] = []
    if beside.rows is not None and not beside.rows.unreadable:
        found = sorted(_of_rows(beside), key=lambda place: place.head)
    elif beside.index is not None and named is not None:
        found = list(_of_index(beside, named))
    return found if found and _is_whole(found, size) else None


def _of_rows(beside: Beside) -> Iterator[Place]:
    assert beside.rows is not None
    for key, begin, end in zip(beside.rows.ids, beside.rows.begins, beside.rows.ends, strict=True):
        yield Place(key, begin, begin + BLOCK, end)


def _of_index(beside: Beside, named: RangeName) -> Iterator[Place]:
    """The rows of an index have no keys: they stand in the order of the tar, whose keys have no gap."""
    assert beside.index is not None
    for row in range(len(beside.index)):
        head, blocks, size = beside.index[row]
        start = head + blocks * BLOCK
        yield Place(named.first + row, head, start, start + size)


def _is_whole(found: Sequence[Place], size: int) -> bool:
    """Whether each datapoint begins where the one before ends, and all keys differ."""
    last = aligned(found[-1].stop)
    whole = found[0].head == 0 and last <= size and len({place.key for place in found}) == len(found)
    return (
        whole
        and all(place.head + BLOCK <= place.start <= place.stop for place in found)
        and all(aligned(before.stop) == place.head for before, place in pairwise(found))
    )


def decode(emitter: Emitter, progress: Progress, beside: Beside, found: Sequence[Place], digest: str) -> None:
    """Emit what ``places`` says."""
    archive = emitter.archive
    source = archive.source
    progress.begin("Reading metadata", len(found), "members")
    members = Members(digest=digest, digest_digits=16 if digest else 0, sizes=True, heads=True, marks=True)
    emitter.begin_members(members)
    for place in found:
        name = b"%0*d" % (DIGITS, place.key)
        members.append(name, place.start, place.stop, head=place.head, marks=UNREAD)
        progress.advance(1)
    end = aligned(found[-1].stop)
    layout = Layout([Span(0, end)])
    if end < source.size:
        note = "What stands after the last datapoint; it was not read. Two blocks of zeros end a tar."
        layout.strays.append(Stray("end of archive", Kind.TAR_END, Span(end, source.size), note))
    emitter.lay(archive_fields(source, members, layout, beside.extras))
    members.reader = partial(_read, archive, members, end)
    emitter.info(
        NOT_READ,
        "Tar headers were not read, which would take requests: what stands beside a tar says where each datapoint is. "
        "Names and exact sizes come with what is looked at; a check reads and compares all of them.",
    )


def say_walked(emitter: Emitter, beside: Beside) -> None:
    """Say why the headers of a range that is far away were read all the same."""
    there = beside.rows is not None or beside.index is not None
    why = "what stands beside the tar does not" if there else "nothing beside the tar that can be read does"
    emitter.info(
        "datas3t-headers-walked",
        f"All tar headers were read one after another, each of which may take a request: {why} say without a gap where "
        "the datapoints are.",
    )


def _read(archive: Archive, members: Members, end: int, indices: Sequence[int]) -> None:
    """See Members.reader."""
    assert members.heads is not None
    heads = members.heads
    spans = [Span(heads[index], heads[index] + BLOCK) for index in indices]
    for index, block in zip(indices, gather(archive.source, spans), strict=True):
        stop = heads[index + 1] if index + 1 < len(members) else end
        settled = _settled(archive, Span(heads[index], stop), block)
        if settled is None or datapoint_key(settled[0]) is None or not _same_key(members, index, settled[0]):
            members.misled = True
        else:
            members.settle(index, *settled)


def _same_key(members: Members, index: int, name: bytes) -> bool:
    was, now = datapoint_key(members.path(index)), datapoint_key(name)
    return was is not None and now is not None and was[0] == now[0]


Settled = tuple[bytes, int, int]
"""A member's name and its data ``[start, stop)``."""


def _settled(archive: Archive, room: Span, block: bytes) -> Settled | None:
    """What the headers in ``room`` say, of which the first is ``block``; None where they do not fill it."""
    if len(block) < BLOCK or block == ZEROS:
        return None
    found = parse(block)
    if not found.fits or found.typeflag == PAX_GLOBAL:
        return None
    if found.typeflag in EXTENSIONS:
        return _extended(archive, room)
    start = room.start + BLOCK
    if found.typeflag not in _PLAIN or found.folder or found.size is None or found.size < 0:
        return None
    stop = start + found.size
    return (found.name, start, stop) if aligned(stop) == room.stop else None


def _extended(archive: Archive, room: Span) -> Settled | None:
    """The same of a member with extended headers, walked as a tar of its own."""
    alone = Archive(SplicedSource(archive.source, (room,), archive.source.name), "tar", "", ())
    _tar.decode(alone.source, Emitter(alone), Progress())
    members = alone.members
    if len(members) != 1 or members[0].marks or aligned(members.stops[0]) != room.size:
        return None
    return members.path(0), room.start + members.starts[0], room.start + members.stops[0]
