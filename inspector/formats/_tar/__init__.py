"""Tar, for the formats that are one: see decode and read."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.core.archive import Archive, Emitter
from inspector.core.format import MemberError, ProbeResult
from inspector.core.member import SPECIAL, Members
from inspector.core.names import visible
from inspector.core.numbers import grouped, in_bytes
from inspector.core.progress import Progress
from inspector.core.source import Source, blocks
from inspector.formats._tar.cursor import Cursor, Layout, Recorded, nothing_recorded
from inspector.formats._tar.fields import Extras, archive_fields, no_extras
from inspector.formats._tar.header import BLOCK, parse
from inspector.formats._tar.ledger import header_ledger
from inspector.formats._tar.walk import list_members


def probe(source: Source) -> ProbeResult:
    """How much ``source`` looks like a tar, from its first two blocks.

    Zeros are an empty tar, but much else may begin with them too: without a tar's name they are no match.
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
) -> None:
    """Emit all that a tar holds; raises SourceError and Cancelled only, and lays the fields found so far first.

    ``digest`` names the digest that something beside the archive records for its members (its column is left empty
    here), ``extras`` gives further fields of a member, ``recorded`` tells where members are said to begin: zeros before
    a header that stands there do not end the tar.
    """
    digits = 16 if digest else 0
    emitter.begin_members(Members(digest=digest, digest_digits=digits, sizes=True, heads=True, marks=True))
    layout = Layout()
    emitter.archive.detail = layout
    try:
        list_members(Cursor(source, emitter, progress, layout, recorded))
    finally:
        emitter.lay(archive_fields(source, emitter.members, layout, extras))
    emitter.archive.checksums = header_ledger(source, emitter.members, layout.headers)


def read(archive: Archive, index: int, progress: Progress) -> Iterator[bytes]:
    """The bytes of a member; raises MemberError where they are missing or it is no file."""
    member = archive.members[index]
    name = visible(member.path)
    if member.marks & SPECIAL:
        raise MemberError(f"{name} is a link, a device or a sparse file: its content is not given.")
    if not member.readable:
        raise MemberError(f"The header of {name} does not say how large it is.")
    left = member.stored
    for start, stop in member.spans:
        for piece in blocks(archive.source, start, stop):
            left -= len(piece)
            yield piece
            progress.advance(len(piece))
    if left:
        raise MemberError(f"{name} is cut off: {grouped(member.stored - left)} of {in_bytes(member.stored)} are there.")
