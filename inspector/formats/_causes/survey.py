"""One pass over the whole file: how often each byte occurs, runs of zeros, and digests of pieces of 1 MiB.

Linear in time. Memory is bounded by ``MAX_RUNS`` and by a digest a MiB.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from inspector.core.archive import Archive
from inspector.core.finding import Severity
from inspector.core.program.progress import Progress
from inspector.core.source import Source, expect, is_remote
from inspector.core.span import Span
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats import format_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

PIECE_BYTES = 1 << 20
"""Bytes read at a time, and covered by one digest: divides all sizes of parts."""
MIN_RUN_BYTES = 256
"""Shorter runs of zeros are not noted."""
MAX_RUNS = 10_000
"""Runs of zeros noted; further ones are not."""
MAX_REMOTE_BYTES = 8 << 20
"""A larger object on a server is not read again to find the cause."""
MAX_BYTES = 64 << 30
"""A larger file is not surveyed: it takes a second a GiB or so."""
MAX_UNREAD_BYTES = 256 << 20
"""A larger file is not surveyed unless the check has read most of it and found errors."""


class Survey(Struct):
    """``counts`` has the number of each byte, ``crlf`` of each 0D 0A; ``runs`` are the runs of zeros in file order.

    ``digests`` has one for each ``PIECE_BYTES`` of the file; equal pieces have equal ones.
    """

    size: int
    counts: list[int] = field(default_factory=lambda: [0] * 256)
    crlf: int = 0
    runs: list[Span] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)

    @property
    def high(self) -> int:
        """The number of bytes from 0x80 on."""
        return sum(self.counts[128:])

    @property
    def rare_controls(self) -> float:
        """How often a control byte occurs that no text has, on average."""
        return float(sum(self.counts[byte] for byte in _NO_TEXT)) / len(_NO_TEXT)


_NO_TEXT = (*range(1, 8), *range(14, 26), *range(28, 32))
"""Control bytes that text does not have: no line ends, no tabs, no end of file of MS-DOS."""


def may_be_surveyed(archive: Archive) -> bool:
    """Whether reading all of it again costs little beside what the check has read."""
    size = archive.source.size
    if is_remote(archive.source):
        return size <= MAX_REMOTE_BYTES
    errors = any(each.severity is Severity.ERROR for each in archive.findings)
    known = format_of(archive)
    is_read = known is not None and known.has_checksums
    if size <= MAX_UNREAD_BYTES or not is_read or not errors:
        return size <= MAX_UNREAD_BYTES
    members = archive.members
    return size <= min(MAX_BYTES, 2 * (sum(members.stops) - sum(members.starts)))


def survey(source: Source, progress: Progress) -> Survey:
    """Read the whole file once. Raises SourceError and Cancelled."""
    import numpy as np

    found = Survey(source.size)
    counts: NDArray[Any] = np.zeros(256, np.int64)
    last, before = -1, b""  # the last byte that is not zero, and the last of the piece before
    progress.begin("Looking for the cause", source.size)
    if source.size <= MAX_REMOTE_BYTES:
        expect(source, 0, source.size)
    for at in range(0, source.size, PIECE_BYTES):
        data = source.read(at, min(PIECE_BYTES, source.size - at))
        if not data:
            break
        values = np.frombuffer(data, np.uint8)
        counts += np.bincount(values, minlength=256)
        found.crlf += data.count(b"\r\n") + (before == b"\r" and data.startswith(b"\n"))
        found.digests.append(blake2b(data, digest_size=16).digest())
        filled = np.concatenate(([last], np.flatnonzero(values) + at))
        rows = np.flatnonzero(np.diff(filled) > MIN_RUN_BYTES)[: MAX_RUNS - len(found.runs)]
        found.runs += [Span(int(filled[row]) + 1, int(filled[row + 1])) for row in rows]
        last, before = int(filled[-1]), data[-1:]
        progress.advance(len(data))
    if source.size - last > MIN_RUN_BYTES and len(found.runs) < MAX_RUNS:
        found.runs.append(Span(last + 1, source.size))
    found.counts = [int(each) for each in counts]
    return found


def members_with(archive: Archive, *verdicts: Verdict) -> Iterator[int]:
    """The members with these verdicts, those of the first one first."""
    for code in map(VERDICTS.index, verdicts):
        member = archive.verdicts.find(code)
        while member >= 0:
            yield member
            member = archive.verdicts.find(code, member + 1)
