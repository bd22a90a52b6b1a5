"""What is left of an archive whose central directory is gone or damaged: members, by their local headers.

Offsets and sizes lead from one to the next, and the end of a deflate stream where the size stands behind the data.
Stored data is never searched for signatures: an archive inside the archive has the same ones.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from isal.isal_zlib import crc32

from inspector.core.member import Codec
from inspector.core.progress import Progress
from inspector.core.source import BLOCK, Source, blocks
from inspector.formats._zip.descriptors import FORMS, form_of
from inspector.formats._zip.directory import MOST_MEMBERS, codec_of
from inspector.formats._zip.records import DEFLATED, HAS_DESCRIPTOR, LOCAL_SIZE, STORED, Local
from inspector.formats._zip.scan import local_sizes, read_local

_DESCRIPTOR = 28
"""Bytes to look at for a data descriptor: the longest, and the signature of what follows."""


class Survivor(NamedTuple):
    """A member that its local header tells of: its bytes, ``[head, stop)``, run from the header to the descriptor.

    ``local`` has its true CRC-32 and sizes, wherever they stand; its data begins at ``begin``.
    """

    local: Local
    name: bytes
    extra: bytes
    head: int
    begin: int
    stop: int


@dataclass(slots=True)
class Survivors:
    """Members in file order, ``stop`` where the last of them ends; ``cut`` is one that the file ends inside of."""

    members: list[Survivor] = field(default_factory=list)
    stop: int = 0
    cut: Survivor | None = None


class Whole(NamedTuple):
    """The numbers of a member whose content fits them."""

    crc: int
    stored: int
    size: int
    codec: Codec


Proved = Mapping[int, Whole]
"""Members whose content a check has found whole, by where their local headers begin."""


def survivors(source: Source, start: int, proved: Proved, progress: Progress) -> Survivors:
    """The members whose local headers follow one another from ``start`` on.

    What is ``proved`` goes before what a local header says. Raises SourceError and Cancelled.
    """
    found = Survivors(stop=start)
    progress.begin("Following local headers", source.size - start)
    while len(found.members) < MOST_MEMBERS:
        member = survivor(source, found.stop, proved, progress)
        if member is None:
            break
        if member.stop > source.size:
            found.cut = member
            break
        progress.advance(member.stop - start - progress.done)
        found.members.append(member)
        found.stop = member.stop
    return found


def survivor(source: Source, head: int, proved: Proved, progress: Progress) -> Survivor | None:
    """The member whose local header begins at ``head``; None where nothing tells its size. Raises as survivors does."""
    found = read_local(source, head)
    if found is None:
        return None
    header, name, extra = found
    begin = head + LOCAL_SIZE + len(name) + len(extra)
    local = _with_numbers(source, header, extra, begin, proved.get(head), progress)
    if local is None:
        return None
    local, stop = _described(source, local, begin + local.stored)
    return Survivor(local, name, extra, head, begin, stop)


def _with_numbers(
    source: Source, local: Local, extra: bytes, begin: int, proved: Whole | None, progress: Progress
) -> Local | None:
    """The header with its true numbers; None where nothing tells them."""
    sizes = local_sizes(local, extra)
    if proved is not None and not _emptied(source, local, begin, proved, sizes, progress):
        method = STORED if proved.codec is Codec.STORED else DEFLATED
        return local._replace(method=method, crc=proved.crc, stored=proved.stored, size=proved.size)
    if sizes is None:
        return _measured(source, local, begin, progress)
    return local._replace(stored=sizes[0], size=sizes[1])


def _emptied(
    source: Source, local: Local, begin: int, proved: Whole, sizes: tuple[int, int] | None, progress: Progress
) -> bool:
    """Whether what is ``proved`` is nothing, where the local header tells of content.

    No content fits the CRC-32 of none wherever it is looked for, so zeros in a directory prove nothing.
    """
    if proved.stored or sizes == (0, 0):
        return False
    numbers = local._replace(stored=sizes[0], size=sizes[1]) if sizes else None
    numbers = numbers or _measured(source, local, begin, progress)
    return numbers is not None and _fits(source, numbers, begin, progress)


def is_whole(source: Source, member: Survivor, progress: Progress) -> bool:
    """Whether a member's content fits its numbers; False also where its method is not read here.

    Raises SourceError and Cancelled.
    """
    return _fits(source, member.local, member.begin, progress)


def _fits(source: Source, local: Local, begin: int, progress: Progress) -> bool:
    codec = codec_of(local.method, local.flags)
    stop = begin + local.stored
    if stop > source.size:
        return False
    if codec is Codec.DEFLATE:
        numbers = _inflated(source, begin, progress)
        local, _ = _described(source, local, stop)
        return numbers == (local.crc, local.stored, local.size)
    crc = 0
    for piece in blocks(source, begin, stop) if codec is Codec.STORED else ():
        crc = crc32(piece, crc)
        progress.advance(0)
    local, _ = _described(source, local, stop)
    return codec is Codec.STORED and (crc, local.stored) == (local.crc, local.size)


def _described(source: Source, local: Local, at: int) -> tuple[Local, int]:
    """The header with the CRC-32 of the data descriptor at ``at``, if it has one, and where that ends."""
    if not local.flags & HAS_DESCRIPTOR:
        return local, at
    data = source.read(at, _DESCRIPTOR)
    values = (local.crc, int.from_bytes(data[4:8], "little"), int.from_bytes(data[:4], "little"))
    for crc in values:
        size = form_of(data, crc, local.stored, local.size)
        if size:
            return local._replace(crc=crc), at + size
    return local, at


def _measured(source: Source, local: Local, begin: int, progress: Progress) -> Local | None:
    """The header with the numbers that its data gives; None where the data descriptor does not bear them out.

    An empty member and a deflate stream have an end of their own; one that the file ends before is larger than what
    is left.
    """
    codec = codec_of(local.method, local.flags)
    numbers: tuple[int, int, int] | None = None
    if codec is Codec.STORED:
        numbers = (0, 0, 0)
    elif codec is Codec.DEFLATE:
        numbers = _inflated(source, begin, progress)
    if numbers is None:
        return None
    crc, stored, size = numbers
    data = source.read(begin + stored, _DESCRIPTOR)
    if form_of(data, *numbers):
        return local._replace(crc=crc, stored=stored, size=size)
    cut_off = codec is Codec.DEFLATE and len(data) < max(FORMS)
    return local._replace(stored=source.size - begin + 1) if cut_off else None


def _inflated(source: Source, begin: int, progress: Progress) -> tuple[int, int, int] | None:
    """CRC-32, stored and decoded size of the deflate stream that begins at ``begin``, as far as the file has it.

    None where it is no deflate stream.
    """
    decoder = zlib.decompressobj(-zlib.MAX_WBITS)
    crc = size = 0
    at = begin
    try:
        for piece in blocks(source, begin, source.size):
            at += len(piece)
            data, content = piece, b""
            while not decoder.eof and (data or len(content) == BLOCK):
                content = decoder.decompress(data, BLOCK)
                data = decoder.unconsumed_tail
                crc, size = crc32(content, crc), size + len(content)
                progress.advance(0)
            if decoder.eof:
                return crc, at - len(decoder.unused_data) - begin, size
    except zlib.error:
        return None
    return crc, source.size - begin, size
