"""Where CRC-32 values of members stand (APPNOTE.TXT 4.4.7), and all of them as rows."""

from __future__ import annotations

from typing import NamedTuple

from inspector.core.archive import Archive
from inspector.core.names import visible
from inspector.core.rows import LazyRows
from inspector.core.source import Source
from inspector.core.span import Span, Spans
from inspector.core.verdict import Checksum, Verdict
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.records import HAS_DESCRIPTOR, LOCAL_SIZE, LOCAL_STRUCT, Local

_CENTRAL_CRC = 16
_LOCAL_CRC = 14
_WIDTH = 4


class Recorded(NamedTuple):
    """One CRC-32 as the archive records it: the ``place`` in words, its file bytes, its value."""

    place: str
    span: Span
    crc: int


def recorded(source: Source, directory: Directory, index: int) -> list[Recorded]:
    """Every CRC-32 recorded for a member, the one that readers go by first; at most three.

    A local header that leaves the CRC to a data descriptor records none.
    """
    found = []
    if directory.listed:
        found.append(_central(directory, index))
    local = _local(source, directory, index)
    if local is not None:
        found.append(local)
    size = directory.descriptors[index]
    if size:
        at = directory.members.stops[index] + (4 if size in (16, 24) else 0)
        crc = source.read(at, _WIDTH)
        if len(crc) == _WIDTH:
            found.append(Recorded("data descriptor", Span(at, at + _WIDTH), int.from_bytes(crc, "little")))
    return found


def _central(directory: Directory, index: int) -> Recorded:
    at = directory.central[index] + _CENTRAL_CRC
    digests = directory.members.digests
    assert digests is not None
    return Recorded("central directory", Span(at, at + _WIDTH), digests[index])


def _local(source: Source, directory: Directory, index: int) -> Recorded | None:
    heads = directory.members.heads
    assert heads is not None
    data = source.read(heads[index], LOCAL_SIZE)
    if len(data) < LOCAL_SIZE or not directory.members[index].readable:
        return None
    local = Local._make(LOCAL_STRUCT.unpack(data))
    if local.flags & HAS_DESCRIPTOR and not local.crc:
        return None
    at = heads[index] + _LOCAL_CRC
    return Recorded("local header", Span(at, at + _WIDTH), local.crc)


class Ledger(LazyRows[Checksum]):
    """One row a member, by the CRC-32 that readers go by; made when looked at.

    ``header`` is a member whose local header has a row of its own behind that one, -1 for none.
    """

    def __init__(self, archive: Archive, directory: Directory, header: int = -1) -> None:
        self._archive = archive
        self._directory = directory
        self._header = header if directory.listed else -1

    def __len__(self) -> int:
        return len(self._directory.members) + (self._header >= 0)

    def row(self, at: int) -> Checksum:
        """See LazyRows."""
        row = at
        if 0 <= self._header < row:
            row -= 1
            if row == self._header:
                return self._checksum(row, _local(self._archive.source, self._directory, row), ", local header")
        if self._directory.listed:
            return self._checksum(row, _central(self._directory, row))
        return self._checksum(row, next(iter(recorded(self._archive.source, self._directory, row)), None))

    def _checksum(self, member: int, record: Recorded | None, which: str = "") -> Checksum:
        members = self._directory.members
        verdict = self._archive.verdict(member)
        computed = -1
        if verdict in (Verdict.VERIFIED, Verdict.MISMATCH):
            computed = self._directory.computed[member]
            verdict = Verdict.VERIFIED if record and record.crc == computed else Verdict.MISMATCH
        return Checksum(
            name=f"CRC-32 of {visible(members.path(member))}{which}",
            algorithm="CRC-32",
            stored=f"{record.crc:08x}" if record else "",
            computed=f"{computed:08x}" if computed >= 0 else "",
            place=(record.span,) if record else (),
            covers=members[member].spans,
            omits=(),
            verdict=verdict,
            note=f"in the {record.place}" if record else "recorded nowhere",
            member=member,
            copies=self._copies(member, record) if record and verdict is Verdict.MISMATCH else (),
        )

    def _copies(self, member: int, record: Recorded) -> Spans:
        """Where else the archive records the same; of a header that has rows of its own, each row speaks for itself."""
        if member == self._header:
            return ()
        every = recorded(self._archive.source, self._directory, member)
        return tuple(each.span for each in every if each.span != record.span and each.crc == record.crc)
