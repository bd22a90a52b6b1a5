"""The archives of a location, their members numbered consecutively, and their findings by byte and by member."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Protocol

from inspector.core.archive import Archive
from inspector.core.finding import Finding, Severity
from inspector.core.member import FOLDER, UNREAD
from inspector.core.names import visible
from inspector.core.span import Span, Spans, united
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.views import MemberRow

MAX_ROWS = 10_000
"""The largest number of rows in a page."""


class Holder(Protocol):
    """What has archives: a location, or one side of a comparison."""

    @property
    def archives(self) -> Sequence[Opened]:
        """All that are open, in their order."""

    def folder(self, at: int) -> bytes:
        """What stands before the paths of the members of archive ``at``."""


class ArchiveSet:
    """The archives of a location; members are numbered consecutively, and paths start with the archive's folders.

    Archives are opened and decoded in order: no later archive has members while one is being decoded.
    """

    def __init__(self, location: Holder) -> None:
        self.archives = location.archives
        self.folder = location.folder

    def __len__(self) -> int:
        return sum(len(archive.members) for archive in self.archives)

    def find(self, index: int) -> tuple[int, int]:
        """The archive's number and the member's index in it; raises OperationError if there is none."""
        if len(self.archives) == 1:
            local, at = index, 0
        else:
            stops = list(accumulate(len(archive.members) for archive in self.archives))
            at = bisect_right(stops, index)
            local = index - (stops[at - 1] if at else 0)
        if index < 0 or at >= len(self.archives) or local >= len(self.archives[at].members):
            raise OperationError(f"There is no member {index}.")
        return at, local

    def number(self, archive: int, local: int) -> int:
        """The number of an archive's member ``local`` among all members."""
        return sum(len(before.members) for before in self.archives[:archive]) + local

    def path(self, index: int) -> bytes:
        """The full path of a member."""
        at, local = self.find(index)
        return self.folder(at) + self.archives[at].members.path(local)

    def row(self, index: int, marks: Callable[[int], Marks]) -> MemberRow:
        """A member as a row."""
        at, local = self.find(index)
        member = self.archives[at].members.seen(local)
        return MemberRow(
            index,
            visible(self.folder(at) + member.path),
            member.size,
            member.stored,
            member.codec.value,
            member.digest or "",
            member.spans[0].start if member.spans else member.head,
            bool(member.marks & FOLDER) or member.path.endswith(b"/"),
            marks(at).of_member(local),
            self.archives[at].verdict(local),
            not member.marks & UNREAD,
        )

    def counts(self, count: int) -> list[int]:
        """How many of the first ``count`` members are in each archive."""
        left, found = count, []
        for archive in self.archives:
            found.append(min(left, len(archive.members)))
            left -= found[-1]
        return found


MAX_FINDINGS_PER_BYTE = 20
"""The largest number of findings returned for one byte."""


class Marks:
    """The findings of one archive by byte and by member, as of its creation. Every row shown asks for them."""

    def __init__(self, archive: Archive) -> None:
        self.findings: tuple[Finding, ...] = tuple(archive.findings)
        self._size = archive.source.size
        self._merged = {
            severity: _merged(
                self.widened(span)
                for finding in self.findings
                if finding.severity is severity
                for span in finding.spans
            )
            for severity in Severity
        }
        self.members: dict[int, Severity] = {}
        """The worst severity of findings about each member that has any."""
        for finding in self.findings:
            if finding.member is not None:
                known = self.members.get(finding.member, finding.severity)
                self.members[finding.member] = min(known, finding.severity, key=lambda severity: severity.rank)

    def widened(self, span: Span) -> Span:
        """A span of at least one byte: an empty one stands for the byte at it, or the last byte of the file."""
        if span.size > 0:
            return span
        start = max(0, min(span.start, self._size - 1))
        return Span(start, start + 1)

    def of_spans(self, spans: Spans) -> Severity | None:
        """The worst severity of findings that overlap the spans."""
        return next(
            (severity for severity in Severity if any(_overlaps(self._merged[severity], s) for s in spans)), None
        )

    def of_member(self, index: int) -> Severity | None:
        """The worst severity of findings about the member."""
        return self.members.get(index)

    def at(self, offset: int) -> tuple[tuple[Severity, str], ...]:
        """Severity and message of the findings on a byte."""
        found = []
        for finding in self.findings:
            if any(start <= offset < stop for start, stop in map(self.widened, finding.spans)):
                found.append((finding.severity, finding.message))
                if len(found) == MAX_FINDINGS_PER_BYTE:
                    break
        return tuple(found)


def _merged(spans: Iterable[Span]) -> tuple[list[int], list[int]]:
    joined = united(spans)
    return [span.start for span in joined], [span.stop for span in joined]


def _overlaps(merged: tuple[Sequence[int], Sequence[int]], span: Span) -> bool:
    starts, stops = merged
    if span.size <= 0:
        return False
    at = bisect_right(stops, span.start)
    return at < len(starts) and starts[at] < span.stop
