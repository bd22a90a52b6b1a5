"""A member's content: stored or deflated (APPNOTE.TXT 4.4.5, methods 0 and 8).

The content is given as it is. Whether it fits the recorded CRC-32 is for a check to say: damaged content is worth
seeing.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from inspector.core.archive import Archive
from inspector.core.format import MemberError
from inspector.core.member import Codec, Member
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.progress import Progress
from inspector.core.source import BLOCK, Source, blocks, expect, is_sparing
from inspector.formats._zip.records import (
    ENCRYPTED,
    LOCAL,
    LOCAL_SIZE,
    LOCAL_STRUCT,
    MASKED,
    STRONG,
    Local,
    method_words,
)


def read_member(archive: Archive, index: int, progress: Progress) -> Iterator[bytes]:
    """The content of a member in pieces of at most 512 KiB, never more than its declared size.

    Raises MemberError after the last good piece when the stored bytes give less or more than declared, and before the
    first when the member cannot be read here.
    """
    _look_at(archive, index)
    member = archive.members[index]
    if not member.readable:
        raise MemberError(f"{visible(member.path)} has no local header, so it is not known where its data begin.")
    if member.codec is Codec.UNKNOWN:
        raise MemberError(_why_not(archive.source, member))
    progress.begin(f"Reading {visible(member.path)}", member.size)
    for piece in content(member, stored_pieces(archive.source, member)):
        yield piece
        progress.advance(len(piece))


def _look_at(archive: Archive, index: int) -> None:
    """Put a member that is about to be read where its local header says; without one it stays where it is."""
    source, members = archive.source, archive.members
    heads = members.heads
    if not is_sparing(source) or heads is None:
        return
    head, size = heads[index], members.stored(index)
    expect(source, head, members.stops[index])
    start = data_start(source, head)
    if start is not None:
        members.starts[index] = min(start, source.size)
        members.stops[index] = min(start + size, source.size)


def data_start(source: Source, head: int) -> int | None:
    """Where the data of the member begin whose local header is at ``head``; None where there is none."""
    data = source.read(head, LOCAL_SIZE)
    if data[:4] != LOCAL or len(data) < LOCAL_SIZE:
        return None
    return head + LOCAL_SIZE + int.from_bytes(data[26:28], "little") + int.from_bytes(data[28:30], "little")


def stored_pieces(source: Source, member: Member) -> Iterator[bytes]:
    """The stored bytes of a member, 512 KiB at a time."""
    for start, stop in member.spans:
        yield from blocks(source, start, stop)


def content(member: Member, stored: Iterator[bytes]) -> Iterator[bytes]:
    """The content that ``stored`` bytes of a stored or deflated member give, as ``read_member`` gives it."""
    given = 0
    for piece in stored if member.codec is Codec.STORED else _inflated(member, stored):
        kept = piece[: member.size - given]
        given += len(kept)
        if kept:
            yield kept
        if len(kept) < len(piece):
            raise MemberError(f"{visible(member.path)} goes on after the {in_bytes(member.size)} that it should have.")
    if given < member.size:
        raise MemberError(
            f"{visible(member.path)} ends after {in_bytes(given)}; it should have {in_bytes(member.size)}."
        )


def _why_not(source: Source, member: Member) -> str:
    data = source.read(member.head, LOCAL_SIZE)
    name = visible(member.path)
    if len(data) < LOCAL_SIZE:
        return f"{name} cannot be read: its local header is cut off."
    local = Local._make(LOCAL_STRUCT.unpack(data))
    if local.flags & (ENCRYPTED | STRONG | MASKED):
        return f"{name} is encrypted, which this program does not read."
    return f"{name} uses compression method {local.method} ({method_words(local.method)}), which is not read here."


def _inflated(member: Member, stored: Iterator[bytes]) -> Iterator[bytes]:
    """The inflated bytes, one more than declared at most being of interest."""
    decoder = zlib.decompressobj(-zlib.MAX_WBITS)
    name = visible(member.path)
    try:
        for piece in stored:
            yield from _pieces(decoder, piece)
            if decoder.eof:
                break
    except zlib.error as error:
        raise MemberError(f"The deflate stream of {name} is damaged: {error}.") from error
    if not decoder.eof:
        raise MemberError(f"The deflate stream of {name} does not end within its {in_bytes(member.stored)}.")
    rest = len(decoder.unused_data) + sum(map(len, stored))
    if rest:
        raise MemberError(
            f"The deflate stream of {name} ends {in_bytes(rest)} before its compressed size says: "
            "readers pass over what follows."
        )


def _pieces(decoder: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    while not decoder.eof:
        piece = decoder.decompress(data, BLOCK)
        if piece:
            yield piece
        data = decoder.unconsumed_tail
        # A full piece may have left output inside the decoder even where no input is left.
        if not data and len(piece) < BLOCK:
            return
