"""Which repairs a checked archive offers, and which findings they answer."""

from __future__ import annotations

from inspector.core.cause import SPLIT_CODE, TAKEN_OUT, Cause, is_cause
from inspector.core.finding import UNREADABLE, Finding, Severity
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import Source, SourceError
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats._causes.joined import MIN_REST_BYTES, archive_in
from inspector.operations.open.opening import Opened


def left(archive: Opened) -> tuple[Finding, ...]:
    """The findings of an archive above info, the worst first."""
    wrong = [finding for finding in archive.findings if finding.severity is not Severity.INFO]
    return tuple(sorted(wrong, key=lambda finding: finding.severity.rank))


def offered(archive: Opened, progress: Progress) -> tuple[Repair, ...]:
    """The repairs of an archive that has been checked, the best first. Raises Cancelled.

    Raises SourceError where not all of it could be read: what is not known is no reason to write.
    """
    unread = next((each.message for each in archive.findings if each.code == UNREADABLE), "")
    if unread:
        raise SourceError(f"{visible(archive.source.name)} is not repaired, for not all of it could be read. {unread}")
    if archive.decoder is None or not left(archive) or not _whole(archive.source):
        return ()
    if any(each.code == SPLIT_CODE for each in archive.diagnosis.repairs):
        return archive.diagnosis.repairs  # what the format would cut off or rewrite is another archive
    own = [each for each in archive.findings if not is_cause(each)]  # a format knows the codes of its findings only
    without = archive
    if len(own) < len(archive.findings):
        without = archive.copy()
        without.findings = own
    found = (*archive.diagnosis.repairs, *archive.decoder.repairs(without, progress))
    repairs = tuple(each for each in found if not _cuts_an_archive(archive.source, each, progress))
    if not _is_changed_throughout(archive):
        return repairs
    return tuple(each for each in repairs if each.claim or each.code in TAKEN_OUT)


def _cuts_an_archive(source: Source, repair: Repair, progress: Progress) -> bool:
    """Whether a whole archive is among the bytes that a repair cuts off."""
    cut = repair.cut
    if cut.size < MIN_REST_BYTES:
        return False
    found = archive_in(source, cut, progress)
    return found is not None and found.whole


def _is_changed_throughout(archive: Opened) -> bool:
    """Whether every byte may be another than was archived, and no digest tells which members are as they were."""
    changed = any(each.code in (Cause.TEXT_MODE, Cause.BYTE_ORDER) for each in archive.findings)
    return changed and not any(
        VERDICTS.index(each) in archive.verdicts for each in (Verdict.VERIFIED, Verdict.MISMATCH)
    )


def _whole(source: Source) -> bool:
    """Whether the file is as long as when it was opened; if not, it must be read again before a repair is planned."""
    return source.size == 0 or len(source.read(source.size - 1, 1)) == 1


def mark_repairs(archive: Opened, progress: Progress) -> None:
    """Set the repair that answers each finding of a checked archive. Raises Cancelled."""
    try:
        repairs = offered(archive, progress)
    except SourceError:  # checking has already reported that it cannot be read
        return
    by_code = {code: each.code for each in reversed(repairs) for code in each.fixes}
    archive.findings[:] = [_marked(finding, by_code.get(finding.code)) for finding in archive.findings]
    for at in archive.diagnosis.adopted:
        known = (by_code[each.code] for each in archive.diagnosis.explained[at] if each.code in by_code)
        archive.findings[at] = _marked(archive.findings[at], next(known, None))


def _marked(finding: Finding, repair: str | None) -> Finding:
    return finding._replace(repair=repair) if repair is not None and finding.repair is None else finding
