"""Checking a Chunk Archive. It has no checksums, so decoding has already compared all that can be (CAF.md)."""

from __future__ import annotations

from inspector.core.archive import Archive, Emitter
from inspector.core.finding import Severity
from inspector.core.numbers import count, grouped
from inspector.core.progress import Progress
from inspector.core.verdict import Verdict


def check(archive: Archive, emitter: Emitter, progress: Progress) -> str:
    """See Format.check: nothing is recorded that a member's bytes could be compared with."""
    progress.advance(0)
    emitter.judge_all(Verdict.NOT_CHECKABLE)
    if not len(archive.members) and any(finding.severity is Severity.ERROR for finding in archive.findings):
        return "No members can be listed."
    errors = [finding.member for finding in archive.findings if finding.severity is Severity.ERROR]
    wrong, elsewhere = len(set(errors) - {None}), errors.count(None)
    parts = [count(len(archive.members), "member")]
    if wrong:
        parts.append(f"{grouped(wrong)} of them with errors")
    if elsewhere:
        parts.append(f"{count(elsewhere, 'error')} in the index or the footer")
    return f"{', '.join(parts)}; the format records no checksums, so only the structure was checked."
