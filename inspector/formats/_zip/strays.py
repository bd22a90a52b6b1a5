"""Members at other places than the archive says: local headers anywhere in the file whose data matches their CRC-32.

Bytes that were lost, inserted or moved leave them where no record points. Data of members is not searched, for an
archive may be stored in an archive; with a whole central directory only members that it lists are looked for.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from itertools import islice

from isal.isal_zlib import crc32
from msgspec import Struct

from inspector.core.archive import Archive
from inspector.core.program.progress import Progress
from inspector.core.source import Source, blocks
from inspector.core.span import Span, united
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats._signatures import found_outside
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.headers import local_files, local_sizes, read_local
from inspector.formats._zip.records import (
    DEFLATED,
    DESCRIPTOR,
    ENCRYPTED,
    HAS_DESCRIPTOR,
    LOCAL,
    LOCAL_SIZE,
    STORED,
    Local,
)

MAX_STRAYS = 100_000
"""Members at other places that are kept."""
MAX_FOLLOWED = 64
"""Headers that are followed to see whether they lead out of a member."""
MAX_READS_OF_FILE = 4
"""Candidates are read up to so many times the size of the file together."""
MAX_SEARCHED_BYTES = 128 << 20
"""Bytes outside members that are searched for local headers in any case; twice what members hold if that is more."""
MAX_INFLATED_RATIO = 1_100
"""Deflate gives no more bytes than so many times its own."""
NAME_LENGTH_AT = 26
"""Where a local header has the length of its name."""
_WINDOW_BYTES = 1 << 20
_DESCRIPTOR_BYTES = 16


class Stray(Struct, frozen=True):
    """A member whose local header is at ``head`` and whose data ``[start, stop)`` has this CRC-32 and decoded size."""

    head: int
    local: Local
    name: bytes
    extra: bytes
    start: int
    stop: int
    crc: int
    size: int


def find_strays(archive: Archive, directory: Directory, progress: Progress) -> tuple[Stray, ...]:
    """The members that verify at other places, none that verifies at its own. Raises SourceError and Cancelled."""
    members, source = directory.members, archive.source
    eocd = directory.eocd
    listed = directory.listed and (eocd is None or len(members) >= eocd.entries)  # all that there were
    if listed and archive.verdicts.count(VERDICTS.index(Verdict.VERIFIED)) == len(members):
        return ()
    names, taken, claimed = _known(archive, directory, listed=listed)
    if listed and all(names.values()):
        return ()
    lengths = set(map(len, names))
    found: list[Stray] = []
    left = MAX_READS_OF_FILE * source.size
    free = 0
    progress.begin("Looking for members at other places", source.size)
    most = max(MAX_SEARCHED_BYTES, 2 * (sum(members.stops) - sum(members.starts)))
    for head in found_outside(source, LOCAL, united(taken), most, progress):
        if head < free or len(found) == MAX_STRAYS or left <= 0:
            continue
        if _is_inside(source, head, claimed):
            continue
        size = int.from_bytes(source.read(head + NAME_LENGTH_AT, 2), "little")
        read = read_local(source, head) if size in lengths or not listed else None
        left -= LOCAL_SIZE if read is None else LOCAL_SIZE + len(read[1]) + len(read[2])
        if read is None or names.get(read[1], listed):
            continue
        stray, cost = _verified(source, head, read, left, progress)
        left -= cost
        if stray is not None:
            found.append(stray)
            names[stray.name] = True
            free = stray.stop
    return tuple(found)


def _known(archive: Archive, directory: Directory, *, listed: bool) -> tuple[dict[bytes, bool], list[Span], list[Span]]:
    """The names and whether each verifies, the data of members that do, and what others claim without a directory."""
    members, verified = directory.members, VERDICTS.index(Verdict.VERIFIED)
    names: dict[bytes, bool] = {}
    taken: list[Span] = []
    claimed: list[Span] = []
    for index, verdict in enumerate(archive.verdicts):
        path, span = members.path(index), Span(members.starts[index], members.stops[index])
        names[path] = names.get(path, False) or verdict == verified
        if verdict == verified:
            taken.append(span)
        elif not listed and _is_credible(archive, directory, index):
            claimed.append(span)
    return names, taken, sorted(claimed)


def _is_credible(archive: Archive, directory: Directory, index: int) -> bool:
    """Whether what a local header claims may be a member: nonsense claims all the rest of the file where it can."""
    heads = directory.members.heads
    read = read_local(archive.source, heads[index]) if heads is not None else None
    if read is None:
        return True
    local, name, extra = read
    sizes = None if local.method != STORED or local.flags & ENCRYPTED else local_sizes(local, extra)
    return bool(name) and (sizes is None or sizes[0] == sizes[1])


def _is_inside(source: Source, head: int, claimed: list[Span]) -> bool:
    """Whether a header belongs to an archive inside a member: its headers do not lead out of what the member claims.

    Where bytes were lost, a member claims the headers behind it too, and those lead on.
    """
    at = bisect_right(claimed, head, key=lambda span: span.start) - 1
    if at < 0 or claimed[at].stop <= head:
        return False
    following = (each.stop for each in islice(local_files(source, head), MAX_FOLLOWED))
    return not any(stop > claimed[at].stop for stop in following)


def _verified(
    source: Source, head: int, read: tuple[Local, bytes, bytes], most: int, progress: Progress
) -> tuple[Stray | None, int]:
    """The member of a local header if its data matches, and how many bytes were read."""
    local, name, extra = read
    start = head + LOCAL_SIZE + len(name) + len(extra)
    if local.flags & ENCRYPTED or not name or local.method not in (STORED, DEFLATED):
        return None, 0
    sizes = local_sizes(local, extra)
    if sizes is not None and (start + sizes[0] > source.size or sizes[0] > most):
        return None, 0
    if local.method == STORED:
        if sizes is None:
            return None, 0
        crc = 0
        for piece in blocks(source, start, start + sizes[0]):
            crc = crc32(piece, crc)
            progress.advance(0)
        right = crc == local.crc and sizes[0] == sizes[1]
        found = Stray(head, local, name, extra, start, start + sizes[0], crc, sizes[1])
        return (found if right else None), sizes[0]
    return _inflated(source, head, read, start, sizes, most, progress)


def _inflated(
    source: Source,
    head: int,
    read: tuple[Local, bytes, bytes],
    start: int,
    sizes: tuple[int, int] | None,
    most: int,
    progress: Progress,
) -> tuple[Stray | None, int]:
    local, name, extra = read
    stream, crc, made, at = zlib.decompressobj(-15), 0, 0, start
    limit = min(start + most, source.size if sizes is None else start + sizes[0])
    while not stream.eof and at < limit:
        data = source.read(at, min(_WINDOW_BYTES, limit - at))
        at += len(data)
        while data or stream.unconsumed_tail:
            try:
                out = stream.decompress(data or stream.unconsumed_tail, _WINDOW_BYTES)
            except zlib.error:
                return None, at - start + made
            data = b""
            crc, made = crc32(out, crc), made + len(out)
            progress.advance(0)
            if made > most + MAX_INFLATED_RATIO * 1024:
                return None, made
            if stream.eof or not out:
                break
    if not stream.eof:
        return None, at - start + made
    stop = at - len(stream.unused_data)
    recorded = (local.crc, sizes[1]) if sizes is not None else _descriptor(source, stop)
    fits = recorded == (crc, made) and (sizes is None or stop == start + sizes[0])
    found = Stray(head, local, name, extra, start, stop, crc, made)
    return (found if fits and (sizes is not None or local.flags & HAS_DESCRIPTOR) else None), at - start + made


def _descriptor(source: Source, at: int) -> tuple[int, int] | None:
    """The CRC-32 and the decoded size in the data descriptor at a place."""
    data = source.read(at, _DESCRIPTOR_BYTES)
    data = data[4:] if data.startswith(DESCRIPTOR) else data
    if len(data) < _DESCRIPTOR_BYTES - 4:
        return None
    return int.from_bytes(data[:4], "little"), int.from_bytes(data[8:12], "little")
