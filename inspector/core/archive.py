"""An Archive is one decoded source; an Emitter is what a decoder writes it through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspector.core.field import Field, tile
from inspector.core.finding import UNREADABLE, Finding, Severity
from inspector.core.member import Members
from inspector.core.source import Source, SplicedSource
from inspector.core.span import Span, Spans
from inspector.core.verdict import VERDICTS, Checksum, Verdict

FINDINGS = 10_000
"""The most findings of one severity kept of one archive; the rest are counted."""


@dataclass(slots=True)
class Archive:
    """What decoding has said so far. It may be read while it is still being decoded: everything only grows.

    ``format`` is the short name of the format (``rca``; ``zip`` for a ZIP without a TACO header, ``bytes`` for
    anything unknown), ``title`` its name for a person, ``inner`` the inner stream where the format has one, ``detail``
    what the format's own functions need to read members (opaque to all others).

    ``verdicts`` has one position in ``VERDICTS`` a member once checking has begun, and is empty before;
    ``checksums`` are all checksums the archive records: a decoder may give them already, not checked and made when
    they are looked at; a check may give others (see ``Format.check``).
    """

    source: Source
    format: str
    title: str
    fields: Sequence[Field]
    members: Members = field(default_factory=Members)
    findings: list[Finding] = field(default_factory=list)
    findings_dropped: int = 0
    inner: SplicedSource | None = None
    detail: Any = None
    complete: bool = False
    verdicts: bytearray = field(default_factory=bytearray)
    checksums: Sequence[Checksum] = ()

    def verdict(self, member: int) -> Verdict:
        """What checking has said of a member so far."""
        verdicts = self.verdicts  # a check that begins again puts another one in its place
        return VERDICTS[verdicts[member]] if member < len(verdicts) else Verdict.NOT_CHECKED


class Emitter:
    """The one object a decoder speaks to."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._kept = Counter(finding.severity for finding in archive.findings)

    @property
    def members(self) -> Members:
        """The columns members are appended to."""
        return self.archive.members

    def begin_members(self, members: Members) -> None:
        """Use these columns; to be called before the first member."""
        self.archive.members = members

    def judge(self, member: int, verdict: Verdict) -> None:
        """Say what checking found of a member; the column of verdicts is made when it is first needed."""
        self.judge_run(member, member + 1, verdict)

    def judge_run(self, start: int, stop: int, verdict: Verdict) -> None:
        """Say the same of the members ``[start, stop)``."""
        verdicts = self.archive.verdicts
        if len(verdicts) < len(self.archive.members):
            verdicts.extend(bytes(len(self.archive.members) - len(verdicts)))
        verdicts[start:stop] = bytes((VERDICTS.index(verdict),)) * (stop - start)

    def judge_all(self, verdict: Verdict) -> None:
        """Say the same of every member."""
        self.archive.verdicts[:] = bytes((VERDICTS.index(verdict),)) * len(self.archive.members)

    def lay(self, fields: Iterable[Field]) -> None:
        """Set the archive-level fields: tiled over the whole file, so that every byte is owned."""
        self.archive.fields = tile(fields, (Span(0, self.archive.source.size),))

    def find(
        self,
        severity: Severity,
        code: str,
        message: str,
        spans: Iterable[tuple[int, int]] = (),
        member: int | None = None,
        repair: str | None = None,
    ) -> None:
        """Report something; spans are clipped to the file, whatever numbers they came from."""
        # Counted by severity: many remarks must not keep out the error that decides what the archive is.
        # That something could not be read decides what may be said of all the rest.
        if self._kept[severity] >= FINDINGS and code != UNREADABLE:
            self.archive.findings_dropped += 1
            return
        self._kept[severity] += 1
        size = self.archive.source.size
        clipped: Spans = tuple(Span(start, stop).clipped(0, size) for start, stop in spans)
        self.archive.findings.append(Finding(severity, code, message, clipped, member, repair))

    def error(self, code: str, message: str, *spans: tuple[int, int], member: int | None = None) -> None:
        """Report that bytes are wrong, missing or contradictory."""
        self.find(Severity.ERROR, code, message, spans, member)

    def warning(self, code: str, message: str, *spans: tuple[int, int], member: int | None = None) -> None:
        """Report a departure from the specification, or a hazard."""
        self.find(Severity.WARNING, code, message, spans, member)

    def info(self, code: str, message: str, *spans: tuple[int, int], member: int | None = None) -> None:
        """Report something worth knowing that is not wrong."""
        self.find(Severity.INFO, code, message, spans, member)
