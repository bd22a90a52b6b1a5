"""The content of a member as it comes, and what speaks against it once it has come."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from inspector.core.finding import Finding, Severity
from inspector.core.member import Member
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.core.span import intersect
from inspector.operations.digest_manifest import Hash
from inspector.operations.listing import content
from inspector.operations.opening import Opened

_SAID = {"crc32": "CRC-32", "xxh64": "xxHash64"}
"""The digests that archives record of decoded content."""


class Reading:
    """One reading of a member. ``pieces`` has to have come to its end before ``doubts`` is asked."""

    def __init__(self, archive: Opened, index: int) -> None:
        self._archive = archive
        self._index = index
        self._member = archive.members[index]
        self._algorithm, _, self._recorded = (self._member.digest or "").partition(":")
        self._digest = _digest(self._algorithm)

    def pieces(self, progress: Progress) -> Iterator[bytes]:
        """The content in pieces; raises MemberError, SourceError or Cancelled."""
        for piece in content(self._archive, self._index, progress):
            if self._digest is not None:
                self._digest.update(piece)
            yield piece

    def doubts(self) -> list[str]:
        """Why what was read may not be what was archived, a sentence each; empty where nothing speaks against it.

        Findings of decoding count that name the member, and, where no digest proves its bytes, those that lie on them.
        """
        computed = self._recorded if self._digest is None else self._digest.hexdigest()
        fits = self._digest is not None and computed == self._recorded
        said = [finding.message for finding in self._archive.findings if _is_about(finding, self._member, fits)]
        if computed != self._recorded:
            said.append(
                f"The {_SAID[self._algorithm]} of {visible(self._member.path)} does not fit: what was read gives "
                f"{computed}, {self._recorded} is recorded."
            )
        return said


def _is_about(finding: Finding, member: Member, proved: bool) -> bool:
    if finding.severity is not Severity.ERROR:
        return False
    if finding.member is not None:
        return finding.member == member.index
    return not proved and any(span.size for span in intersect(sorted(finding.spans), member.spans))


class _Crc32:
    """CRC-32 with the face of a hash."""

    def __init__(self) -> None:
        self._crc = 0

    def update(self, data: bytes, /) -> None:
        """See Hash."""
        self._crc = zlib.crc32(data, self._crc)

    def hexdigest(self) -> str:
        """See Hash."""
        return f"{self._crc:08x}"


def _digest(algorithm: str) -> Hash | None:
    if algorithm == "crc32":
        return _Crc32()
    if algorithm == "xxh64":
        import xxhash  # here because most archives do not need it

        made: Hash = xxhash.xxh64()
        return made
    return None
