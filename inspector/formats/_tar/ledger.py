"""The checksums of a tar, as rows that are made when they are looked at.

POSIX.1-2017, pax, ustar Interchange Format: ``chksum`` is the sum of all bytes of its header block, its own 8 bytes
taken for spaces. It is the only checksum of a tar; nothing is recorded of the data.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from inspector.core.member import Members
from inspector.core.names import visible
from inspector.core.rows import LazyRows
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.core.verdict import Checksum, Verdict
from inspector.formats._tar.header import BLOCK, CHKSUM, checksums, number, parse, text


class Ledger(LazyRows[Checksum]):
    """Very many checksums that are made when they are looked at: ``make(row)`` gives one of ``size``."""

    def __init__(self, size: int, make: Callable[[int], Checksum]) -> None:
        self._size = size
        self._make = make

    def __len__(self) -> int:
        return self._size

    def row(self, at: int) -> Checksum:
        """See LazyRows."""
        return self._make(at)


def header_ledger(source: Source, members: Members, headers: Sequence[int]) -> Ledger:
    """The checksums of the header blocks at ``headers``, in file order; a row reads its block."""
    return Ledger(len(headers), lambda row: _header_checksum(source, members, headers[row]))


def _header_checksum(source: Source, members: Members, at: int) -> Checksum:
    block = source.read(at, BLOCK)
    fits = parse(block).fits
    field = block[CHKSUM]
    stored, computed = number(field), checksums(block)[0]
    place = Span(at + CHKSUM.start, at + CHKSUM.stop)
    member = _member(members, at)
    return Checksum(
        "chksum of a header" if member is None else f"chksum of the header of {visible(members.path(member))}",
        "sum of bytes",
        field.hex() if stored is None else f"{stored:x}",
        # Old programs summed signed bytes: where that sum fits, it is the one that was computed.
        f"{stored if fits else computed:x}",
        (place,),
        (Span(at, place.start), Span(place.stop, at + BLOCK)),
        (place,),
        Verdict.VERIFIED if fits else Verdict.MISMATCH,
        "No octal number." if stored is None else f"In octal {visible(text(field).strip(b' '))}.",
        member,
    )


def _member(members: Members, at: int) -> int | None:
    """The member whose headers the byte ``at`` is one of."""
    heads = members.heads
    assert heads is not None
    index = bisect_right(heads, at) - 1
    return index if index >= 0 and at < members.starts[index] else None
