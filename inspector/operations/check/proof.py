"""Checking content without reading it, by the CRC-32 that S3 keeps of a whole object.

A CRC-32 of two stretches in a row follows from the CRC-32 of each and the length of the second. So where all members
are stored as they are, the ones that the archive records, and those of the bytes between the members, which are read,
make that of the whole file: if it is the one the server keeps, every recorded CRC-32 fits what the server was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from isal.isal_zlib import crc32, crc32_combine

from inspector.core.member import Codec, Members
from inspector.core.names import visible
from inspector.core.numbers import count, rounded
from inspector.core.progress import Progress
from inspector.core.source import Source, SourceError, blocks, expect
from inspector.formats._zip.headers import data_start
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import decode, open_place, start
from inspector.sources.s3.cancelling import cancelling
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.source import S3Source

READ_ALONG = 256 << 10
"""Bytes of members that are read rather than left out, because two requests would take longer."""


class Proof(StrEnum):
    """What the comparison came to."""

    PROVED = "proved"
    CONTRADICTED = "contradicted"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True, slots=True)
class Proved:
    """The outcome and what it means, as sentences.

    ``members`` is how many were compared without reading them, ``read`` how many bytes of the object were read,
    ``requests`` how many were made; ``kept`` is the CRC-32 that the server keeps and ``made`` the one that follows from
    the archive, where there is one.
    """

    proof: Proof
    sentence: str
    members: int = 0
    read: int = 0
    requests: int = 0
    kept: int | None = None
    made: int | None = None


def prove(location: str, progress: Progress, connection: Connection = DEFAULT) -> Proved:
    """Compare what an archive on S3 records of its members with the CRC-32 that S3 keeps of the object.

    Raises SourceError where it cannot be read, and Cancelled.
    """
    with cancelling(progress):
        source = open_place(location, connection, sparing=True)
        if not isinstance(source, S3Source):
            return Proved(Proof.IMPOSSIBLE, f"{visible(location)} is no object on S3, so no server keeps a checksum.")
        try:
            found = _compared(source, progress)
        except OperationError as why:
            found = Proved(Proof.IMPOSSIBLE, f"{visible(location)}: {why} A check reads the members and tells.")
    totals = source.ledger.totals
    return Proved(found.proof, found.sentence, found.members, totals.received, totals.requests, found.kept, found.made)


def _compared(source: S3Source, progress: Progress) -> Proved:
    kept = source.kept_crc32()
    if kept is None:
        raise OperationError(
            "the server keeps no CRC-32 of the whole object; that is so for objects that were sent with another "
            "checksum, or in parts with one of each part."
        )
    archive = start(source)
    decode(archive, progress)
    members = archive.members
    made = made_crc32(source, members, progress)
    name = visible(source.name)
    numbers = f"CRC-32 of the object 0x{kept:08X}"
    if made != kept:
        words = (
            f"{name} is not as its archive says: the {numbers}, but what the archive records makes 0x{made:08X}. The "
            "content of at least one member, or a CRC-32 that is recorded, is wrong. A check reads the members and "
            "tells which."
        )
        return Proved(Proof.CONTRADICTED, words, len(members), kept=kept, made=made)
    words = (
        f"{name}: the {numbers} is the one that the CRC-32s of its {count(len(members), 'member')} make. So what the "
        "server was given, and computed that from, is what the archive records (a chance of 1 in 4,294,967,296 "
        f"aside). {rounded(source.size)} were not read again, so whether the server still has them as it was given "
        "them is not proved."
    )
    return Proved(Proof.PROVED, words, len(members), kept=kept, made=made)


# ---- arithmetic --------------------------------------------------------------------------------------------------


def made_crc32(source: Source, members: Members, progress: Progress) -> int:
    """The CRC-32 of the whole file, if the content of its members is what their recorded ones say.

    Only what is not content of a member is read. Raises OperationError where that cannot be, SourceError and Cancelled.
    """
    heads = members.heads
    if heads is None or members.digest != "crc32" or not len(members):
        raise OperationError("it has no members of which CRC-32s are recorded.")
    order = sorted(range(len(members)), key=heads.__getitem__)
    _expect(source, members, order)
    progress.begin("Comparing checksums", len(order), "members")
    crc = at = 0
    for index in order:
        digest, size = _recorded(members, index)
        first = data_start(source, heads[index]) if heads[index] >= at else None
        if first is None or first + size > source.size:
            raise OperationError(
                f"{visible(members.path(index))} has no local header of its own, or no room for its data."
            )
        crc = crc32_combine(_over(crc, source, at, first), digest, size)
        at = first + size
        progress.advance(1)
    return _over(crc, source, at, source.size)


def _recorded(members: Members, index: int) -> tuple[int, int]:
    """The CRC-32 of a member's bytes in the file, and how many these are."""
    member = members[index]
    if member.codec is not Codec.STORED or member.size != member.stored:
        raise OperationError(
            f"{visible(member.path)} is not stored as it is, so its CRC-32 is not that of the file's bytes."
        )
    if member.digest is None or members.digests is None:
        raise OperationError(f"{visible(member.path)} has no CRC-32.")
    return members.digests[index], member.stored


def _over(crc: int, source: Source, start: int, stop: int) -> int:
    """The CRC-32 with the bytes ``[start, stop)`` behind it."""
    for piece in blocks(source, start, stop):
        crc = crc32(piece, crc)
        start += len(piece)
    if start != stop:
        raise SourceError(f"{visible(source.name)} ends early, at {start:,}.")
    return crc


def _expect(source: Source, members: Members, order: Sequence[int]) -> None:
    """Ask for small members together with what is around them."""
    start = 0
    for index in order:
        if members.stored(index) > READ_ALONG:
            expect(source, start, members.starts[index])
            start = members.stops[index]
