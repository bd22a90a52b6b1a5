"""Probe and decode a tar archive, read its members."""

from __future__ import annotations

import math
from collections.abc import Iterator

from inspector.core.archive import Archive, Emitter
from inspector.core.format import MemberError, MemberMetadata, ProbeResult
from inspector.core.member import HOLES, SPECIAL, Member, Members
from inspector.core.names import visible
from inspector.core.numbers import grouped, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source, blocks, blocks_of
from inspector.formats._tar.check import header_checksums
from inspector.formats._tar.extension import MAX_BODY_BYTES, Extension, MapFault, Overrides, sparse_map
from inspector.formats._tar.fields import Extras, archive_fields, no_extras
from inspector.formats._tar.header import BLOCK, EXTENSIONS, LINKS, PLACES, TYPES, aligned, number, parse
from inspector.formats._tar.resync import Cursor, Layout, Recover, layout_of
from inspector.formats._tar.swallowed import any_swallowed, may_search
from inspector.formats._tar.walk import MAX_EXTENSIONS, list_members

_HARD_LINK = b"1"
MAX_SPARSE_BYTES = 1 << 40
"""The size of the largest sparse member that is read, with its holes."""
_HOLE = bytes(1 << 18)
_MTIME = PLACES["mtime"]


def probe(source: Source) -> ProbeResult:
    """Judge ``source`` by its first two blocks.

    Two blocks of zeros are an empty tar, but also the start of other files: they only count with the suffix of a tar.
    """
    data = source.read(0, 2 * BLOCK)
    if len(data) < BLOCK:
        return ProbeResult.NO
    if not any(data):
        named = source.name.lower().endswith(".tar")
        return ProbeResult.POSSIBLE if named and len(data) == 2 * BLOCK else ProbeResult.NO
    found = parse(data[:BLOCK])
    return ProbeResult.CERTAIN if found.fits or found.ustar else ProbeResult.NO


def decode(
    source: Source,
    emitter: Emitter,
    progress: Progress,
    *,
    digest: str = "",
    extras: Extras = no_extras,
    recover: Recover | None = None,
) -> None:
    """Emit members, fields and findings of a tar. If it raises SourceError or Cancelled, the fields so far are emitted.

    ``digest`` names the digest that metadata outside the archive records for its members; its column is left empty
    here. ``extras`` makes further fields of a member. ``recover`` finds members whose header is lost, and tells where
    members begin according to that metadata: a header there is found however far zeros before it reach.
    """
    digits = 16 if digest else 0
    emitter.begin_members(Members(digest=digest, digest_digits=digits, sizes=True, heads=True, marks=True))
    layout = Layout()
    emitter.archive.detail = layout
    try:
        layout.looked_inside = may_search(source, thorough=emitter.archive.thorough)
        cursor = Cursor(source, emitter, progress, layout, recover)
        list_members(cursor, looks_inside=layout.looked_inside)
    finally:
        emitter.lay(archive_fields(source, emitter.members, layout, extras))
    emitter.archive.checksums = header_checksums(source, emitter.members, layout.headers)


def hides_members(archive: Archive, progress: Progress) -> bool:
    """Whether members have swallowed others that decoding, which reads headers only, did not see."""
    layout = layout_of(archive)
    if layout.looked_inside or not may_search(archive.source, thorough=True):
        return False
    return any_swallowed(archive.source, archive.members, layout.headers, progress)


def read(archive: Archive, index: int, progress: Progress) -> Iterator[bytes]:
    """Yield the bytes of a member. Raises MemberError if it is not a regular file or bytes are missing."""
    member = archive.members[index]
    name = visible(member.path)
    if member.marks & SPECIAL:
        raise MemberError(f"{name} is a link or a device, which has no content of its own.")
    if not member.readable:
        raise MemberError(f"The header of {name} does not give its size, or not where its bytes belong.")
    left = member.size
    for piece in (
        _with_holes(archive.source, member) if member.marks & HOLES else blocks_of(archive.source, member.spans)
    ):
        left -= len(piece)
        yield piece
        progress.advance(len(piece))
    if left:
        raise MemberError(f"{name} is cut off: {grouped(member.size - left)} of {in_bytes(member.size)} are there.")


def _with_holes(source: Source, member: Member) -> Iterator[bytes]:
    """The content of a sparse file; it ends where stored bytes are missing. Raises MemberError."""
    name = visible(member.path)
    if member.size > MAX_SPARSE_BYTES:
        raise MemberError(f"{name} has {in_bytes(member.size)} with its holes; more than 1 TiB is not read.")
    own = _own_header(source, member.head)
    if own is None:
        raise MemberError(f"The header of {name} is no longer there.")
    (data,) = member.spans
    place, _, overrides, _ = own
    found = sparse_map(source, (member.head, place), overrides, data, member.size)
    if isinstance(found, MapFault):
        raise MemberError(f"The map of the sparse file {name} {found.problem}.")
    at, place = 0, found.start
    for offset, size in found.extents:
        yield from _zeros(offset - at)
        at, place = offset, place + size
        for piece in blocks(source, place - size, place):
            at += len(piece)
            yield piece
        if at < offset + size:
            return
    yield from _zeros(member.size - at)


def _zeros(size: int) -> Iterator[bytes]:
    while size > 0:
        piece = _HOLE[: min(size, len(_HOLE))]
        size -= len(piece)
        yield piece


def _own_header(source: Source, head: int) -> tuple[int, bytes, Overrides, int | None] | None:
    """The header of the member whose first header is at ``head``. Global extended headers count as its own.

    It is where it begins, its block, and of the extended headers before it what they override and the time.
    """
    overrides, at = Overrides(), head
    changed: int | None = None
    for _ in range(MAX_EXTENSIONS):
        block = source.read(at, BLOCK) if at >= 0 else b""
        if len(block) < BLOCK:
            return None
        header = parse(block)
        if header.typeflag not in EXTENSIONS:
            return at, block, overrides, changed
        body = source.read(at + BLOCK, header.stored) if header.stored <= MAX_BODY_BYTES else b""
        extension = Extension(header.typeflag, body)
        overrides.apply(extension)
        changed = _mtime(extension) if header.typeflag in b"xX" else changed
        at += BLOCK + aligned(header.stored)
    return None


def member_metadata(archive: Archive, index: int) -> MemberMetadata:
    """Links, what kind of device it is, and modification times."""
    own = _own_header(archive.source, archive.members[index].head)
    if own is None:
        return MemberMetadata()
    _, block, overrides, changed = own
    header = parse(block)
    typeflag = header.typeflag
    target = overrides.target(header.link) if typeflag in LINKS else None
    what = f"a {TYPES.get(typeflag, 'link or a device')}" + (f" to {visible(target)}" if target is not None else "")
    return MemberMetadata(
        target if typeflag == _HARD_LINK else None,
        number(block[_MTIME]) if changed is None else changed,
        f"{what}, which is not extracted",
        target,
    )


def _mtime(extension: Extension) -> int | None:
    """The ``mtime`` in a PAX header, rounded down; None if there is none or it is not a number."""
    for record in extension.records:
        if record.key == b"mtime":
            try:
                return math.floor(float(record.value))
            except (ValueError, OverflowError):
                return None
    return None
