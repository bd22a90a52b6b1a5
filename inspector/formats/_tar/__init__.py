"""Tar, for the formats that are tar archives: probe, decode, read.

``walk`` goes from header to header, ``fast_walk`` does so for many regular members at once, ``resync`` continues where
there is no header, with ``search``; ``header`` and ``extension`` parse, ``fields`` shows the bytes, ``check`` and
``repair`` fix.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from inspector.core.archive import Archive, Emitter
from inspector.core.format import MemberError, MemberMetadata, ProbeResult
from inspector.core.member import SPECIAL, Members
from inspector.core.names import visible
from inspector.core.numbers import grouped, in_bytes
from inspector.core.progress import Progress
from inspector.core.source import Source, blocks
from inspector.formats._tar.check import header_checksums
from inspector.formats._tar.extension import MAX_BODY_BYTES, Overrides, pax_records
from inspector.formats._tar.fields import Extras, archive_fields, no_extras
from inspector.formats._tar.header import BLOCK, EXTENSIONS, aligned, number, parse
from inspector.formats._tar.resync import Cursor, Layout, Recorded, Recover, nothing_recorded
from inspector.formats._tar.walk import MAX_EXTENSIONS, list_members

_HARD_LINK = b"1"


_MTIME = slice(136, 148)


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
    recorded: Recorded = nothing_recorded,
    recover: Recover | None = None,
) -> None:
    """Emit members, fields and findings of a tar. If it raises SourceError or Cancelled, the fields so far are emitted.

    ``digest`` names the digest that metadata outside the archive records for its members; its column is left empty
    here. ``extras`` makes further fields of a member. ``recorded`` gives the offsets where members begin according to
    that metadata: a header at such an offset is found however far zeros before it reach. ``recover`` finds members
    whose header is lost.
    """
    digits = 16 if digest else 0
    emitter.begin_members(Members(digest=digest, digest_digits=digits, sizes=True, heads=True, marks=True))
    layout = Layout()
    emitter.archive.detail = layout
    try:
        list_members(Cursor(source, emitter, progress, layout, recorded, recover))
    finally:
        emitter.lay(archive_fields(source, emitter.members, layout, extras))
    emitter.archive.checksums = header_checksums(source, emitter.members, layout.headers)


def read(archive: Archive, index: int, progress: Progress) -> Iterator[bytes]:
    """Yield the bytes of a member. Raises MemberError if it is not a regular file or bytes are missing."""
    member = archive.members[index]
    name = visible(member.path)
    if member.marks & SPECIAL:
        raise MemberError(f"{name} is a link, a device or a sparse file, whose content this program does not read.")
    if not member.readable:
        raise MemberError(f"The header of {name} does not give its size.")
    left = member.size
    for start, stop in member.spans:
        for piece in blocks(archive.source, start, stop):
            left -= len(piece)
            yield piece
            progress.advance(len(piece))
    if left:
        raise MemberError(f"{name} is cut off: {grouped(member.size - left)} of {in_bytes(member.size)} are there.")


def member_metadata(archive: Archive, index: int) -> MemberMetadata:
    """Hard links and modification times. Global extended headers (PAX ``g``) are ignored."""
    source, at = archive.source, archive.members[index].head
    overrides = Overrides()
    changed: int | None = None
    for _ in range(MAX_EXTENSIONS):
        block = source.read(at, BLOCK) if at >= 0 else b""
        if len(block) < BLOCK:
            break
        header = parse(block)
        if header.typeflag not in EXTENSIONS:
            link = overrides.target(header.link) if header.typeflag == _HARD_LINK else None
            return MemberMetadata(link, number(block[_MTIME]) if changed is None else changed)
        body = source.read(at + BLOCK, header.stored) if header.stored <= MAX_BODY_BYTES else b""
        overrides.apply(header.typeflag, body)
        changed = _mtime(body) if header.typeflag in b"xX" else changed
        at += BLOCK + aligned(header.stored)
    return MemberMetadata()


def _mtime(body: bytes) -> int | None:
    """The ``mtime`` in a PAX header, rounded down; None if there is none or it is not a number."""
    for record in pax_records(body):
        if record.key == b"mtime":
            try:
                return math.floor(float(record.value))
            except (ValueError, OverflowError):
                return None
    return None
