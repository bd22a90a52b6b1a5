"""An Archive is one decoded source; a decoder fills it through an Emitter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, Self

from inspector.core.field import Field, locate, tile
from inspector.core.finding import UNREADABLE, Finding, FindingType, Severity
from inspector.core.member import Members
from inspector.core.names import abridged
from inspector.core.numbers import grouped
from inspector.core.source import Source, SplicedSource
from inspector.core.span import Span
from inspector.core.verdict import VERDICTS, Checksum, Verdict

MAX_FINDINGS_PER_SEVERITY = 10_000
"""Findings of one severity kept for an archive; the rest are counted."""
MAX_FINDINGS_PER_KIND = 1_000
"""Findings of one kind that are reported one by one."""


class Archive:
    """One decoded source. It only grows, so it may be read while it is being decoded.

    ``format`` is the short name of the format (``rca``; ``zip`` for a ZIP without a TACO header, ``bytes`` if unknown)
    and ``title`` its display name. ``inner`` is the inner stream of a format that has one. ``detail`` is private to the
    format's own functions. ``ranges_at`` is a byte of the field that lists ranges of the archive (see
    ``Kind.is_range``), -1 if there is none.

    ``complete``: it was decoded to its end. ``thorough``: decoding may read all of its bytes, whatever the size.

    ``verdicts`` holds an index into ``VERDICTS`` for each member; it is empty until the check starts. ``checksums`` are
    all checksums the archive records; a decoder may supply them lazily and unchecked, and the check replaces them.
    """

    def __init__(
        self,
        source: Source,
        format: str,  # noqa: A002 - that is what it is
        title: str,
        fields: Sequence[Field],
        members: Members | None = None,
        *,
        findings: Iterable[Finding] = (),
        detail: Any = None,
    ) -> None:
        self.source = source
        self.format = format
        self.title = title
        self.fields = fields
        self.members = Members() if members is None else members
        self.findings = list(findings)
        self.findings_dropped = 0
        self.inner: SplicedSource | None = None
        self.detail = detail
        self.ranges_at = -1
        self.complete = False
        self.thorough = False
        self.verdicts = bytearray()
        self.checksums: Sequence[Checksum] = ()

    def copy(self) -> Self:
        """Another archive of the same values, with a list of findings of its own."""
        made = copy(self)
        made.findings = list(self.findings)
        return made

    def verdict(self, member: int) -> Verdict:
        verdicts = self.verdicts  # read once: a check that restarts replaces the column
        return VERDICTS[verdicts[member]] if member < len(verdicts) else Verdict.NOT_CHECKED

    def known_member(self, member: int | None) -> int | None:
        """``member`` if there is one of this number: findings may name one that follows later, or never."""
        return member if member is not None and member < len(self.members) else None


def member_of(archive: Archive, chain: Sequence[Field]) -> int | None:
    """The number of the member that the innermost of nested fields belongs to; None for none."""
    return archive.known_member(next((field.member for field in reversed(chain) if field.member is not None), None))


def member_at(archive: Archive, offset: int) -> int | None:
    """The number of the member that the field of a byte belongs to; None for none."""
    return member_of(archive, [field for _, field in locate(archive.fields, offset)])


class Emitter:
    """Collects what a decoder or a check reports."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._counts = Counter(finding.severity for finding in archive.findings)

    @property
    def members(self) -> Members:
        """The columns to append members to."""
        return self.archive.members

    def begin_members(self, members: Members) -> None:
        """Use these columns. Call it before the first member."""
        self.archive.members = members

    def judge(self, member: int, verdict: Verdict) -> None:
        self.judge_run(member, member + 1, verdict)

    def judge_run(self, start: int, stop: int, verdict: Verdict) -> None:
        """Set the verdict on the members ``[start, stop)``."""
        verdicts = self.archive.verdicts
        if len(verdicts) < len(self.archive.members):
            verdicts.extend(bytes(len(self.archive.members) - len(verdicts)))
        verdicts[start:stop] = bytes((VERDICTS.index(verdict),)) * (stop - start)

    def judge_all(self, verdict: Verdict) -> None:
        """Set the verdict on every member."""
        self.archive.verdicts[:] = bytes((VERDICTS.index(verdict),)) * len(self.archive.members)

    def lay(self, fields: Iterable[Field]) -> None:
        """Set the top-level fields, tiled over the whole file so that every byte is owned."""
        self.archive.fields = tile(fields, (Span(0, self.archive.source.size),))

    def report(
        self,
        what: FindingType,
        message: str,
        *spans: tuple[int, int],
        member: int | None = None,
        repair: str | None = None,
    ) -> None:
        """Report what is declared; ``message`` names the cause and the evidence.

        Spans are clipped to the file, because they may come from damaged numbers.
        """
        # Capped by severity: many warnings must not push out the error that decides the state.
        # That something could not be read decides what may be said of all the rest.
        if self.full(what.severity) and what.code != UNREADABLE:
            self.archive.findings_dropped += 1
            return
        self._counts[what.severity] += 1
        size = self.archive.source.size
        clipped = tuple(Span(start, stop).clipped(0, size) for start, stop in spans)
        text = abridged(message)
        self.archive.findings.append(Finding(what.severity, what.code, text, clipped, member, repair, what.advice))

    def full(self, severity: Severity) -> bool:
        """Whether further findings of a severity are only counted."""
        return self._counts[severity] >= MAX_FINDINGS_PER_SEVERITY


class CappedFindings:
    """Findings of one kind; ``subjects`` is what they are about, in the plural (``members that lie out of range``).

    ``dropped`` counts those that were not reported one by one.
    """

    def __init__(self, emitter: Emitter, what: FindingType, subjects: str) -> None:
        self._emitter = emitter
        self._what = what
        self._subjects = subjects
        self._reported = 0
        self.dropped = 0

    def full(self) -> bool:
        """Whether the cap is reached. If so, this call counts one dropped finding."""
        self.dropped += self._reported >= MAX_FINDINGS_PER_KIND
        return self._reported >= MAX_FINDINGS_PER_KIND

    def add(self, message: str, spans: Iterable[tuple[int, int]], member: int | None = None) -> None:
        """Report one finding. Call ``full`` first."""
        self._reported += 1
        self._emitter.report(self._what, message, *spans, member=member)

    def close(self) -> None:
        """Report how many were dropped, if any."""
        if self.dropped:
            self._emitter.report(self._what, f"There are {grouped(self.dropped)} more {self._subjects}.")
