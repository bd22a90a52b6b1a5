"""The content of a member as it comes, and what speaks against it once it has come."""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from inspector.core.finding import Finding, Severity
from inspector.core.member import SHARED, Member
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.core.span import Span
from inspector.operations.jobs.finding_summary import brief
from inspector.operations.open.digest_manifest import Hash
from inspector.operations.open.listing import content
from inspector.operations.open.opening import Opened

_SAID = {"crc32": "CRC-32", "xxh64": "xxHash64"}
"""The digests that archives record of decoded content."""


_NOT_OF_CONTENT = {
    "caf-duplicate-name",
    "rca-name-not-utf-8",
    "zip-overlap",
    "datas3t-datapoint-name",
    "datas3t-index-offset",
    "datas3t-key-gap",
    "datas3t-key-twice",
    "datas3t-metadata-offset",
}
"""Errors that name a member and say nothing about its content: it is what the member's own header says, or its hash.

That bytes are claimed twice is told by a mark, of all members of which it is true."""

CLAIMED = "something else in the archive claims bytes of it too"
"""Why a member with the mark SHARED is taken out only on the user's word."""

_NOT_RECORDED = {"datas3t-metadata-row", "datas3t-metadata-row-missing"}
"""Errors that name a member of whose content nothing is recorded, though of others it is."""


class Errors:
    """What is known to be wrong with an archive, found fast by what it is about; made once for many members."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._of_members: dict[int, list[str]] = {}
        self._unproved: dict[int, list[str]] = {}
        placed: list[tuple[Span, str]] = []
        for finding in findings:
            if finding.severity is not Severity.ERROR or finding.code in _NOT_OF_CONTENT:
                continue
            if finding.member is not None:
                kept = self._unproved if finding.code in _NOT_RECORDED else self._of_members
                kept.setdefault(finding.member, []).append(brief(finding))
            else:
                placed += [(span, brief(finding)) for span in finding.spans if span.size]
        placed.sort()
        self._spans = [span for span, _ in placed]
        self._messages = [message for _, message in placed]
        self._reach = list(accumulate((span.stop for span in self._spans), max))

    def about(self, member: Member) -> list[str]:
        """The errors that name a member."""
        return list(self._of_members.get(member.index, ()))

    def on(self, member: Member) -> list[str]:
        """The errors that leave the content of a member unproved: most name none and lie on its bytes."""
        lying = {self._messages[at]: None for span in member.spans for at in self._lying_on(span)}
        return [*self._unproved.get(member.index, ()), *lying]

    def _lying_on(self, span: Span) -> Iterator[int]:
        """Where in the list those errors are that share bytes with a span, the first of them first."""
        first = bisect_right(self._reach, span.start)
        for at in range(first, bisect_left(self._spans, span.stop, key=lambda each: each.start)):
            if self._spans[at].stop > span.start and span.size:
                yield at


@dataclass(frozen=True, slots=True)
class Doubts:
    """Why what was read may not be what was archived, a sentence each.

    ``wrong`` are what speaks against this very member; ``unproved`` that nothing proves its content, though the archive
    records what should: something is wrong among bytes of which its own are a part.
    """

    wrong: tuple[str, ...] = ()
    unproved: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[str]:
        return iter((*self.wrong, *self.unproved))

    def __bool__(self) -> bool:
        return bool(self.wrong or self.unproved)


class Reading:
    """One reading of a member. ``pieces`` has to have come to its end before ``doubts`` is asked.

    ``errors`` are those that tell whether it is what was archived, found out here where they are not given.
    """

    def __init__(self, archive: Opened, index: int, errors: Errors | None = None) -> None:
        self._archive = archive
        self._errors = errors
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

    def doubts(self) -> Doubts:
        """Why what was read may not be what was archived. Raises SourceError.

        Findings count that name the member, and, where no digest proves its bytes, those that lie on them.
        """
        errors = self._errors or self._known()
        wrong = errors.about(self._member)
        claimed = (f"{visible(self._member.path)} is not alone: {CLAIMED}.",) if self._member.marks & SHARED else ()
        if self._digest is None:
            return Doubts(tuple(wrong), (*claimed, *errors.on(self._member)))
        computed = self._digest.hexdigest()
        if computed == self._recorded:
            return Doubts(tuple(wrong), claimed)
        wrong.append(
            f"The {_SAID[self._algorithm]} of {visible(self._member.path)} does not fit: what was read gives "
            f"{computed}, {self._recorded} is recorded."
        )
        return Doubts(tuple(wrong), (*claimed, *errors.on(self._member)))

    def _known(self) -> Errors:
        decoder = self._archive.decoder
        return Errors(decoder.prove(self._archive, [self._index], Progress()) if decoder else self._archive.findings)


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
