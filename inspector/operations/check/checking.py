"""Checking a location: everything that can be compared, and the state that sums it up."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from inspector.core import codes
from inspector.core.archive import Archive, Emitter
from inspector.core.cause import NOT_INTERRUPTED, SPLIT_CODE, TAKEN_OUT, Cause, is_cause
from inspector.core.edit import EditError
from inspector.core.finding import UNREADABLE, Finding, Severity
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.program.progress import Progress, cancelling
from inspector.core.program.redaction import strip_credentials
from inspector.core.repair import Repair
from inspector.core.source import Source, SourceError, expect, is_sparing
from inspector.core.verdict import VERDICTS, State, Verdict
from inspector.formats._causes.diagnosis import NO_DIAGNOSIS, diagnose
from inspector.formats._causes.joined import MIN_REST_BYTES, archives_in
from inspector.formats.datas3t.check import summary
from inspector.operations.check.contents import report_contents
from inspector.operations.check.digest_check import check_manifests
from inspector.operations.check.name_rules import report_names
from inspector.operations.check.sharing import compare_shared
from inspector.operations.check.tracing import compare_readers
from inspector.operations.jobs.subprogress import CHECKING, SubProgress, map_with_progress, subprogresses
from inspector.operations.open.collection import OVERLAPS, collection_in
from inspector.operations.open.location import Location, NoRangeError, open_location
from inspector.operations.open.nested import open_nested
from inspector.operations.open.opening import MAX_READ_ONCE_BYTES, Opened, decode_anew, decoded, not_read
from inspector.operations.protocol.check_views import ReaderRow
from inspector.sources.local.changes.journal import ChangeState
from inspector.sources.local.changes.recovery import pending
from inspector.sources.local.file import FileSource, LocalFolder
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.prefix import S3Prefix
from inspector.sources.s3.responses import Seen
from inspector.sources.s3.source import RemoteSource

_PARTS_OF_WORK = 4
"""Reading the structure counts as one of so many parts of the work of a check."""
INCOMPLETE = "not all of it could be read, so nothing is known about the rest."


class CheckReport(Struct, frozen=True):
    """What checking a location found.

    ``archives`` are those opened, with their findings; ``findings`` say why none was. ``state`` is None if nothing
    wrong was seen but not everything was read. ``size`` is in bytes, ``verdicts`` counts members, ``sentence`` is the
    summary. ``readers`` is what each known reader makes of each archive, if that was asked for.
    """

    location: str
    format: str | None
    state: State | None
    members: int
    size: int
    archives: Sequence[Opened]
    findings: Sequence[Finding]
    verdicts: dict[Verdict, int]
    sentence: str
    readers: Sequence[tuple[ReaderRow, ...]] = ()

    @property
    def no_archive(self) -> bool:
        """Whether it was read and is of no known format."""
        return self.format is None and len(self.archives) > 0 and not not_read(self.archives)


def check_location(
    location: str,
    progress: Progress,
    connection: Connection = DEFAULT,
    *,
    seen: Seen | None = None,
    place: Source | S3Prefix | None = None,
    quick: bool = False,
) -> CheckReport:
    """Open, decode and check what is at ``location``; if it cannot be opened, the report says so. Raises Cancelled.

    ``seen`` and ``place`` are as in open_location. ``quick``: open and decode only; the state is None if nothing wrong
    was seen.
    """
    try:
        with cancelling(progress):
            opened = open_location(location, connection, seen=seen, place=place)
    except NoRangeError as error:  # a folder whose ranges are all missing, as the files that describe them show
        state = state_from(frozenset(), error.collection.findings)
        return _unopened(location, state, error.collection.findings, judgement(state, str(error)))
    except SourceError as error:
        return unreadable(location, str(error))
    if not quick:
        opened.read_ahead = True
        return check_opened(location, opened, progress)
    deque(opened.read_all(progress), maxlen=0)
    report = report_of(location, opened, "")
    if report.state is not State.SOUND:
        return report
    return replace(report, state=None, sentence="Nothing is wrong with the structure; the content was not read.")


def read_names(location: str, connection: Connection = DEFAULT) -> CheckReport:
    """What the names in a folder of ranges tell: gaps, overlaps, and metadata without a range. Reads no range."""
    try:
        place = open_nested(location, connection)
        collection = collection_in(place) if isinstance(place, (LocalFolder, S3Prefix)) else None
    except SourceError as error:
        return unreadable(location, str(error))
    if collection is None:
        return unreadable(location, f"{visible(location)} has no ranges any more.")
    findings = (*collection.findings, *(each.finding for each in collection.overlaps))
    state = state_from(frozenset(), findings)
    said = [each.message for each in sorted(findings, key=lambda each: each.severity.rank)]
    said = said or [f"{collection.title} without gaps."]
    return _unopened(location, state, findings, judgement(state, said[0]))


def unreadable(location: str, sentence: str) -> CheckReport:
    """The report on a location that could not be opened."""
    return _unopened(location, State.UNREADABLE, (codes.NOT_READ.finding(sentence),), sentence)


def _unopened(location: str, state: State, findings: Sequence[Finding], sentence: str) -> CheckReport:
    known = None if state is State.UNREADABLE else "datas3t"
    return CheckReport(strip_credentials(location), known, state, 0, 0, (), findings, {}, sentence)


def check_opened(location: str, opened: Location, progress: Progress) -> CheckReport:
    """Check all archives of a location, several at a time, decoding them first if needed. Raises Cancelled."""
    if opened.collection is None:
        return report_of(location, opened, _check_one(opened, 0, progress))
    for at, _ in enumerate(
        map_with_progress(progress, CHECKING, opened.sizes, partial(_check_one, opened), opened.max_parallel_reads)
    ):
        opened.open(at)
    compare_shared(opened, SubProgress(progress, progress.done, progress.done))
    return report_of(location, opened, summary(opened.archives))


def _check_one(opened: Location, at: int, progress: Progress) -> str:
    parts = iter((progress,))
    if not opened.ahead(at).complete:
        reading = opened.sizes[at] // _PARTS_OF_WORK
        parts = subprogresses(progress, CHECKING, (reading, opened.sizes[at] - reading))
        opened.read(at, next(parts))
    archive, progress = opened.known(at), next(parts)
    archive.checking = True
    try:
        sentence = check_archive(archive, progress)
        mark_repairs(archive, progress)
        archive.checked = True
    finally:
        archive.checking = False
    return sentence


def check_archive(archive: Opened, progress: Progress, *, causes: bool = True, names: bool = True) -> str:
    """Check one decoded archive and return the sentence that sums it up; raises Cancelled.

    The results of an earlier check, finished or not, are discarded first. ``causes``: also look for what caused the
    damage, which takes longer where there is some. ``names``: also look for dangerous and colliding names, and with
    both, at what members without a digest hold.
    """
    forget_check(archive)
    emitter, decoder = Emitter(archive), archive.decoder
    if not archive.cut_short and _reads_more(archive, progress):
        try:
            decode_anew(archive, progress)
        except SourceError as error:
            emitter.report(codes.NOT_READ, str(error))
            return ""
    if decoder is None or archive.cut_short:
        return ""
    try:
        with cancelling(progress):
            if archive.members.digest:  # the content of every member is compared, in the order of the file
                expect(archive.source, 0, archive.source.size)
            sentence = decoder.check(archive, emitter, progress)
            records = len(archive.checksums) > 0
            if names:
                report_names(archive, emitter, progress)
            compared = check_manifests(archive, emitter, progress)
            if _is_shorter(archive.source):
                size = archive.source.size
                message = (
                    f"The file became shorter while it was open: it had {in_bytes(size)}, and its last byte is gone."
                )
                emitter.report(codes.BECAME_SHORTER, message, (size - 1, size))
            _report_interrupted(archive, emitter)
            if _report_changed(archive, emitter):
                return ""
            if causes:
                archive.diagnosis = diagnose(archive, progress)
                archive.findings[:0] = archive.diagnosis.causes
            if causes and names:
                report_contents(archive, emitter, progress)
    except SourceError as error:
        emitter.report(codes.NOT_READ, f"{error} What follows could not be checked.")
        return ""
    # A format without checksums adds nothing to what its manifests tell.
    return " ".join(filter(None, (sentence if records or not compared else "", compared)))


def checked(source: Source, progress: Progress, *, causes: bool = True) -> Opened:
    """A source as an archive, decoded and checked as ``check_archive`` does. Raises SourceError and Cancelled."""
    archive = decoded(source, progress)
    check_archive(archive, progress, causes=causes)
    return archive


def _reads_more(archive: Opened, progress: Progress) -> bool:
    """Whether decoding left out what a check needs."""
    if is_sparing(archive.source):
        return True
    with cancelling(progress), suppress(SourceError):  # the check meets the same error, and reports it
        return archive.decoder is not None and archive.decoder.hides_members(archive, progress)
    return False


def _is_shorter(source: Source) -> bool:
    """Whether another program truncated the file since it was opened: its short reads look like a regular end."""
    return source.size > 0 and not source.read(source.size - 1, 1)


def _report_changed(archive: Opened, emitter: Emitter) -> bool:
    """Read what the first error is about once more, past the cache; other bytes say nothing about the archive.

    Raises SourceError and Cancelled.
    """
    source, torn = archive.source, archive.decoder.torn if archive.decoder is not None else frozenset[str]()
    bad = (each for each in archive.findings if _state_of_finding(each, torn) in (State.TORN, State.DAMAGED))
    wrong = next((each for each in bad if each.spans and _counts(each)), None)
    if not isinstance(source, RemoteSource) or wrong is None:
        return False
    spans = [*wrong.spans, *(() if wrong.member is None else archive.members[wrong.member].spans)]
    start = min((span.start for span in spans), default=0)
    stop = min(max((span.stop for span in spans), default=0), source.size)
    if not start < stop <= start + MAX_READ_ONCE_BYTES or not source.cache.holds(start, stop):
        return False
    first = source.read(start, stop - start)
    again = source.cache.fetch(start, stop)
    if first == again:
        return False
    at = start + next(at for at, (one, other) in enumerate(zip(first, again, strict=True)) if one != other)
    message = f"The connection or this machine changes bytes: byte {at:,} was another one when it was read again."
    emitter.report(codes.NOT_READ, message, (at, at + 1))
    return True


def _report_interrupted(archive: Opened, emitter: Emitter) -> None:
    if not isinstance(archive.source, FileSource):
        return
    try:
        found = pending(archive.source.path)
    except EditError as error:
        if isinstance(error.__cause__, OSError):  # nobody knows what the journal says
            emitter.report(codes.NOT_READ, str(error))
        else:
            emitter.report(codes.INTERRUPTED_CHANGE, str(error))
    else:
        if found is not None and found.kind is ChangeState.BUSY:
            emitter.report(codes.CHANGE_UNDER_WAY, found.story, *found.spans)
        elif found is not None:
            emitter.report(codes.INTERRUPTED_CHANGE, found.story, *found.spans, repair="finish-interrupted-change")


def forget_check(archive: Opened) -> None:
    """Keep only the results of decoding."""
    del archive.findings[: len(archive.diagnosis.causes)]
    archive.diagnosis = NO_DIAGNOSIS
    del archive.findings[archive.decoded_findings :]
    archive.findings_dropped = archive.decoded_dropped
    archive.verdicts = bytearray()
    archive.checksums = archive.decoded_checksums
    archive.checked = False


def report_of(location: str, opened: Location, sentence: str) -> CheckReport:
    """The report on archives in their current state."""
    archives = opened.archives
    state = state_of(archives)
    if not sentence and not_read(archives):
        sentence = INCOMPLETE
    known = len(archives) > 0 and archives[0].decoder is not None
    return CheckReport(
        location,
        archives[0].format if known else None,
        state,
        sum(len(archive.members) for archive in archives),
        opened.size,
        archives,
        (),
        dict(sum(map(verdict_counts, archives), Counter())),
        judgement(state, sentence),
    )


def with_readers(report: CheckReport, progress: Progress) -> CheckReport:
    """A report that also says what each known reader makes of each archive. Raises Cancelled."""
    return replace(report, readers=tuple(_readers_of(archive, progress) for archive in report.archives))


def _readers_of(archive: Opened, progress: Progress) -> tuple[ReaderRow, ...]:
    """The rows of one archive; none where it cannot be read, which its findings say."""
    with suppress(SourceError):
        return compare_readers(archive, archive.decoder, progress)
    return ()


def with_finding(report: CheckReport, finding: Finding) -> CheckReport:
    """A report with one more finding that the archive alone does not show; what could not be read stays unreadable."""
    report = replace(report, findings=(*report.findings, finding))
    if report.state is State.UNREADABLE:
        return report
    state = state_from(frozenset(), (finding,))
    if report.state is None or report.state.rank < state.rank:
        return replace(report, state=state, sentence=judgement(state, finding.message))
    return replace(report, sentence=f"{report.sentence} {finding.message}")


def judgement(state: State, why: str) -> str:
    """The sentence about an archive: its state, and why if that is known."""
    return f"{state.capitalize()}: {why}" if why else f"{state.capitalize()}."


def verdict_counts(archive: Archive) -> Counter[Verdict]:
    """The number of members per verdict."""
    counted = Counter({verdict: archive.verdicts.count(at) for at, verdict in enumerate(VERDICTS)})
    counted[Verdict.NOT_CHECKED] += len(archive.members) - len(archive.verdicts)
    return +counted


def state_of(archives: Iterable[Opened]) -> State:
    """The worst state of all archives, according to their findings."""
    states = [_state_of(archive, archive.findings) for archive in archives]
    return max(states, key=lambda each: each.rank, default=State.SOUND)


def own_state(archive: Opened) -> State:
    """The state of one range by itself, without findings that come from the names of other ranges."""
    others = frozenset(map(id, archive.given_findings))
    own = [each for each in archive.findings if each.code not in OVERLAPS and id(each) not in others]
    return _state_of(archive, own)


def _state_of(archive: Opened, findings: Sequence[Finding]) -> State:
    """The state of an archive that follows from these findings."""
    if archive.decoder is None or archive.unreadable:
        return State.UNREADABLE
    return state_from(archive.decoder.torn, findings)


def state_from(torn: frozenset[str], findings: Sequence[Finding]) -> State:
    """The state that follows from these findings; ``torn`` are the codes of an interrupted write."""
    states = (_state_of_finding(each, torn) for each in findings if _counts(each))
    state = max(states, key=lambda each: each.rank, default=State.SOUND)
    explained = state is State.TORN and any(each.code in NOT_INTERRUPTED for each in findings)
    return State.DAMAGED if explained else state


def _counts(finding: Finding) -> bool:
    """Whether a finding is above info, and no cause of others."""
    return finding.severity is not Severity.INFO and not is_cause(finding)


def main_finding(archive: Opened) -> tuple[int, Finding] | None:
    """The finding of an archive to name first, and how bad it is: its cause, or the first that gives the state."""
    torn = archive.decoder.torn if archive.decoder is not None else frozenset[str]()
    worst = max(
        filter(_counts, tuple(archive.findings)), key=lambda each: _state_of_finding(each, torn).rank, default=None
    )
    rank = _state_of_finding(worst, torn).rank if worst is not None else 0
    cause = next((each for each in archive.findings[:1] if is_cause(each)), worst)
    return None if cause is None else (rank, cause)


def _state_of_finding(finding: Finding, torn: frozenset[str]) -> State:
    if finding.code == UNREADABLE:
        return State.UNREADABLE
    if finding.code in torn or finding.code == codes.INTERRUPTED_CHANGE.code:
        return State.TORN
    return State.DAMAGED if finding.severity is Severity.ERROR else State.WARNING


# ---- which repairs a checked archive offers --------------------------------------------------------------------------


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
    if archive.decoder is None or not left(archive) or _is_shorter(archive.source):
        return ()  # it must be read again before a repair is planned
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
    found = archives_in(source, repair.cut, progress) if repair.cut.size >= MIN_REST_BYTES else ()
    return any(each.whole for each in found)


def _is_changed_throughout(archive: Opened) -> bool:
    """Whether every byte may be another than was archived, and no digest tells which members are as they were."""
    changed = any(each.code in (Cause.TEXT_MODE, Cause.BYTE_ORDER) for each in archive.findings)
    return changed and not any(
        VERDICTS.index(each) in archive.verdicts for each in (Verdict.VERIFIED, Verdict.MISMATCH)
    )


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
