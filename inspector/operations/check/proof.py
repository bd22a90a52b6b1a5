"""Checking content without reading it, by the CRC-32 that S3 keeps of a whole object.

The CRC-32 of two adjacent ranges follows from the CRC-32 of each and the length of the second. So if all members are
stored uncompressed, their recorded CRC-32s and those of the bytes between them, which are read, give that of the whole
file. If it equals the one the server keeps, every recorded CRC-32 is that of the bytes the server received.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from isal.isal_zlib import crc32, crc32_combine
from msgspec import Struct
from msgspec.structs import replace

from inspector.core.member import HOLES, Codec, Members
from inspector.core.names import visible
from inspector.core.numbers import count, rounded
from inspector.core.program.progress import Progress, cancelling
from inspector.core.source import Source, SourceError, blocks, expect
from inspector.formats._zip.records import LOCAL, LOCAL_SIZE
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import decoded, open_place
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.source import S3Source

MAX_READ_THROUGH_BYTES = 256 << 10
"""Members up to this size are read with what surrounds them, because a second request would take longer."""


class Proof(StrEnum):
    """The outcome of the comparison."""

    PROVED = "proved"
    CONTRADICTED = "contradicted"
    IMPOSSIBLE = "impossible"


class ProofResult(Struct, frozen=True):
    """The outcome, and in ``sentence`` what it means.

    ``members`` is how many were compared without reading them, ``bytes_read`` how much of the object was read.
    ``server_crc32`` is the CRC-32 that the server keeps of the object, ``archive_crc32`` the one that follows from the
    archive; None where there is none.
    """

    proof: Proof
    sentence: str
    members: int = 0
    bytes_read: int = 0
    requests: int = 0
    server_crc32: int | None = None
    archive_crc32: int | None = None


def prove(location: str, progress: Progress, connection: Connection = DEFAULT) -> ProofResult:
    """Compare what an archive on S3 records of its members with the CRC-32 that S3 keeps of the object.

    Raises SourceError if it cannot be read, and Cancelled.
    """
    with cancelling(progress):
        source = open_place(location, connection, sparing=True)
        if not isinstance(source, S3Source):
            return ProofResult(
                Proof.IMPOSSIBLE, f"{visible(location)} is not an object on S3, so no server keeps a checksum of it."
            )
        try:
            found = _compare(source, progress)
        except OperationError as error:
            found = ProofResult(
                Proof.IMPOSSIBLE, f"{visible(location)}: {error} A check that reads the members tells more."
            )
    totals = source.log.totals
    return replace(found, bytes_read=totals.received, requests=totals.requests)


def _compare(source: S3Source, progress: Progress) -> ProofResult:
    server_crc32 = source.kept_crc32()
    if server_crc32 is None:
        raise OperationError(
            "the server keeps no CRC-32 of the whole object, as for objects that were sent with another kind of "
            "checksum, or in parts with a checksum per part."
        )
    members = decoded(source, progress).members
    archive_crc32 = combined_crc32(source, members, progress)
    name = visible(source.name)
    numbers = f"CRC-32 of the object 0x{server_crc32:08x}"
    proof = Proof.PROVED if archive_crc32 == server_crc32 else Proof.CONTRADICTED
    sentence = (
        f"{name}: the {numbers} is the one that the CRC-32s of its {count(len(members), 'member')} give. So the server "
        "received what the archive records (with a chance of error of 1 in 4,294,967,296). "
        f"The object's {rounded(source.size)} were not read, so it is not proved that the server still has them."
    )
    if proof is Proof.CONTRADICTED:
        sentence = (
            f"{name} does not match its own records: the {numbers}, but the archive's records give "
            f"0x{archive_crc32:08x}. The content of at least one member, or a recorded CRC-32, is "
            "wrong. A check that reads the members tells which."
        )
    return ProofResult(proof, sentence, len(members), server_crc32=server_crc32, archive_crc32=archive_crc32)


# ---- arithmetic --------------------------------------------------------------------------------------------------


def combined_crc32(source: Source, members: Members, progress: Progress) -> int:
    """The CRC-32 of the whole file, provided that its members match their recorded CRC-32s.

    Only bytes outside the members' content are read. Raises OperationError if it cannot be computed, SourceError and
    Cancelled.
    """
    heads = members.heads
    if heads is None or members.digest != "crc32" or not len(members):
        raise OperationError("it records no CRC-32 of members.")
    order = sorted(range(len(members)), key=heads.__getitem__)
    _announce_reads(source, members, order)
    progress.begin("Comparing checksums", len(order), "members")
    crc = at = 0
    for index in order:
        digest, size = _recorded(members, index)
        first = _data_start(source, heads[index]) if heads[index] >= at else None
        if first is None or first + size > source.size:
            raise OperationError(
                f"{visible(members.path(index))} has no local header of its own, or no room for its data."
            )
        crc = crc32_combine(_crc32_of_range(crc, source, at, first), digest, size)
        at = first + size
        progress.advance(1)
    return _crc32_of_range(crc, source, at, source.size)


def _recorded(members: Members, index: int) -> tuple[int, int]:
    """The recorded CRC-32 of a member's bytes in the file, and their number."""
    member = members[index]
    if member.codec is not Codec.STORED or member.size != member.stored or member.marks & HOLES:
        raise OperationError(f"{visible(member.path)} is compressed, so its CRC-32 is not that of the file's bytes.")
    if member.digest is None or members.digests is None:
        raise OperationError(f"{visible(member.path)} has no CRC-32.")
    return members.digests[index], member.stored


def _crc32_of_range(crc: int, source: Source, start: int, stop: int) -> int:
    """``crc`` continued over the bytes ``[start, stop)``."""
    for piece in blocks(source, start, stop):
        crc = crc32(piece, crc)
        start += len(piece)
    if start != stop:
        raise SourceError(f"{visible(source.name)} ends early, at {start:,}.")
    return crc


def _announce_reads(source: Source, members: Members, order: Sequence[int]) -> None:
    """Announce the ranges that will be read, each with the small members in it."""
    start = 0
    for index in order:
        if members.stored(index) > MAX_READ_THROUGH_BYTES:
            expect(source, start, members.starts[index])
            start = members.stops[index]


def _data_start(source: Source, head: int) -> int | None:
    """Where the data of the member begins whose local header is at ``head``; None if there is no local header."""
    data = source.read(head, LOCAL_SIZE)
    if data[:4] != LOCAL or len(data) < LOCAL_SIZE:
        return None
    return head + LOCAL_SIZE + int.from_bytes(data[26:28], "little") + int.from_bytes(data[28:30], "little")
