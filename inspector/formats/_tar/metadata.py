"""What the headers of a tar member say beside its name and its size: hard links and dates."""

from __future__ import annotations

import math

from inspector.core.archive import Archive
from inspector.core.format import MemberMetadata
from inspector.formats._tar.extension import CAP, Overrides, records
from inspector.formats._tar.header import BLOCK, EXTENSIONS, aligned, number, parse
from inspector.formats._tar.walk import CHAIN

_HARD_LINK = b"1"
_MTIME = slice(136, 148)


def member_metadata(archive: Archive, index: int) -> MemberMetadata:
    """See Format.member_metadata; extended headers of all members (PAX ``g``) are not heeded."""
    source, at = archive.source, archive.members[index].head
    own = Overrides()
    changed: int | None = None
    for _ in range(CHAIN):
        block = source.read(at, BLOCK) if at >= 0 else b""
        if len(block) < BLOCK:
            break
        header = parse(block)
        if header.typeflag not in EXTENSIONS:
            link = own.target(header.link) if header.typeflag == _HARD_LINK else None
            return MemberMetadata(link, number(block[_MTIME]) if changed is None else changed)
        body = source.read(at + BLOCK, header.stored) if header.stored <= CAP else b""
        own.take(header.typeflag, body)
        changed = _mtime(body) if header.typeflag in b"xX" else changed
        at += BLOCK + aligned(header.stored)
    return MemberMetadata()


def _mtime(body: bytes) -> int | None:
    """The date in a PAX header, which may have a fraction; None where it has none, or no number."""
    for record in records(body):
        if record.key == b"mtime":
            try:
                return math.floor(float(record.value))
            except (ValueError, OverflowError):
                return None
    return None
