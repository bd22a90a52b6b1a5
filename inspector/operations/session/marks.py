"""Where findings are, so that rows can be marked: asked for every row that is shown, so it must be quick."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from inspector.core.archive import Archive
from inspector.core.finding import Finding, Severity
from inspector.core.span import Span, Spans

MAX_FINDINGS_PER_BYTE = 20
"""The most findings told of one byte."""


class Marks:
    """The findings of one archive, by byte and by member. A snapshot."""

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
        self._members: dict[int, Severity] = {}
        for finding in self.findings:
            if finding.member is not None:
                known = self._members.get(finding.member, finding.severity)
                self._members[finding.member] = min(known, finding.severity, key=lambda severity: severity.rank)

    def widened(self, span: Span) -> Span:
        """An empty span stands for the byte at it, or the last one at the end of the file."""
        if span.size > 0:
            return span
        start = max(0, min(span.start, self._size - 1))
        return Span(start, start + 1)

    def of_spans(self, spans: Spans) -> Severity | None:
        """The worst severity of findings that meet the spans."""
        return next((severity for severity in Severity if any(_meets(self._merged[severity], s) for s in spans)), None)

    def of_member(self, index: int) -> Severity | None:
        """The worst severity of findings about the member."""
        return self._members.get(index)

    def at(self, offset: int) -> tuple[tuple[Severity, str], ...]:
        """How bad the findings at a byte are, and what they say."""
        found = []
        for finding in self.findings:
            if any(start <= offset < stop for start, stop in map(self.widened, finding.spans)):
                found.append((finding.severity, finding.message))
                if len(found) == MAX_FINDINGS_PER_BYTE:
                    break
        return tuple(found)


def _merged(spans: Iterable[Span]) -> tuple[list[int], list[int]]:
    starts: list[int] = []
    stops: list[int] = []
    for start, stop in sorted(spans):
        if stops and start <= stops[-1]:
            stops[-1] = max(stops[-1], stop)
        else:
            starts.append(start)
            stops.append(stop)
    return starts, stops


def _meets(merged: tuple[Sequence[int], Sequence[int]], span: Span) -> bool:
    starts, stops = merged
    if span.size <= 0:
        return False
    at = bisect_right(stops, span.start)
    return at < len(starts) and starts[at] < span.stop
