"""Checking what is open in a session: the check, what it has found so far, and digest manifests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TypeVar

from msgspec.structs import replace

from inspector.core.cause import is_cause, wrong
from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import count, grouped
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import SourceError, is_remote
from inspector.core.verdict import VERDICTS, Checksum, State, Verdict
from inspector.formats._causes.diagnosis import Placed, cause_sentence, diagnose, folded
from inspector.operations.check.checking import (
    INCOMPLETE,
    CheckReport,
    check_opened,
    forget_check,
    judgement,
    main_finding,
    report_of,
    state_of,
)
from inspector.operations.open.collection import gap_in
from inspector.operations.open.location import Location
from inspector.operations.open.opening import Opened, not_read
from inspector.operations.protocol.check_views import ReportKind
from inspector.operations.protocol.views import (
    MAX_SEARCHED_CHECKSUMS,
    FindingRow,
    Page,
)
from inspector.operations.report.writing import require_other_file, write_report
from inspector.operations.session.members.members_view import MAX_ROWS

Item = TypeVar("Item")
Row = TypeVar("Row")
MAX_BYTES_UNCHECKED = 256 << 20
"""The cause of damage to larger files is looked for by a check only; they are read as a whole for it."""
ALL = tuple(Severity)
_NOT_CHECKED = VERDICTS.index(Verdict.NOT_CHECKED)


class Checks:
    """The check of a location: its state, findings and checksums. ``running``: a check is in progress."""

    def __init__(self, name: str, location: Location) -> None:
        self._name = name
        self._location = location
        self._report: CheckReport | None = None
        self._cancelled = ""
        self._naming = Lock()
        self._look: Progress | None = None
        self._looked = False
        self.running = False

    # ---- results so far ----------------------------------------------------------------------------------------

    @property
    def checked(self) -> bool:
        """Whether a check has finished."""
        return self._report is not None

    def counts(self) -> tuple[tuple[Severity, int], ...]:
        """The number of findings by severity, worst first; a cause is none more."""
        found = Counter(
            finding.severity
            for archive in tuple(self._location.archives)
            for finding in tuple(archive.findings)
            if not is_cause(finding)
        )
        return tuple((severity, found[severity]) for severity in Severity if found[severity])

    def state(self) -> State | None:
        """The state of the archives; None if no error was found and not everything was read."""
        if self._report is not None:
            return self._report.state
        seen = state_of(self._location.archives)
        return None if seen is State.SOUND else seen

    def sentence(self) -> str:
        """The state as a sentence."""
        if self.running:
            return "Checking the contents…"
        cause = next(filter(None, (cause_sentence(archive.findings) for archive in self._location.archives)), "")
        seen = self._report.sentence if self._report is not None else self._cancelled or self._structure()
        return f"{seen} Cause: {cause}" if cause else seen

    def main(self) -> FindingRow | None:
        """The finding that matters most: the first cause, or else the first of those that give the state."""
        found = ((main_finding(archive), at) for at, archive in enumerate(tuple(self._location.archives)))
        best = max(((each[0], -at, each[1]) for each, at in found if each is not None), default=None)
        if best is not None:
            return self._finding(-best[1], Placed(best[2]))
        collection = self._location.collection
        gap = None if collection is None else gap_in(collection)
        return None if gap is None else self._finding(0, Placed(gap))

    def _structure(self) -> str:
        state = self.state()
        if state is None:
            return "The structure has no errors; contents are not verified."
        if state is State.UNREADABLE:
            why = INCOMPLETE if not_read(self._location.archives) else "there is nothing to check."
            return judgement(state, why)
        found = dict(self.counts())
        words = [count(found[each], each.value) for each in (Severity.ERROR, Severity.WARNING) if each in found]
        return judgement(state, f"{' and '.join(words)} in the structure; contents are not verified.")

    # ---- causes before a check ---------------------------------------------------------------------------------

    @property
    def unexplained(self) -> bool:
        """Whether decoding found something wrong in a file of this machine, and its cause has not been looked for."""
        if self._looked or self.checked or self.running or self._location.collection is not None:
            return False
        return any(map(_may_be_explained, tuple(self._location.archives)))

    def name_causes(self, progress: Progress) -> bool:
        """Place causes before what decoding found; returns whether there are any. Cancelling ends it."""
        with self._naming:  # a check that begins meanwhile either ends this look or comes before it
            if not self.unexplained:
                return False
            self._looked, self._look = True, progress
        found = False
        with suppress(Cancelled, SourceError):  # a check meets the same error, and reports it
            for archive in filter(_may_be_explained, tuple(self._location.archives)):
                diagnosis = diagnose(archive, progress)
                with self._naming:
                    if diagnosis.causes and self._look is not None:
                        archive.diagnosis = diagnosis
                        archive.findings[:0] = diagnosis.causes
                        found = True
        return found

    def stop_naming(self) -> None:
        """End the look for causes, because a check looks again."""
        with self._naming:
            self._looked, look, self._look = True, self._look, None
        if look is not None:
            look.cancel()

    # ---- checking ----------------------------------------------------------------------------------------------

    def run(self, progress: Progress) -> None:
        """Check everything and discard earlier findings. Cancelling keeps the verdicts so far."""
        self._report, self._cancelled, self.running = None, "", True
        try:
            for archive in self._location.archives:
                forget_check(archive)
            self._report = check_opened(self._name, self._location, progress)
        except Cancelled:
            self._cancelled = self._so_far()
        finally:
            self.running = False

    def judged(self) -> int:
        """The number of members with a verdict."""
        archives = tuple(self._location.archives)
        return sum(len(archive.verdicts) - archive.verdicts.count(_NOT_CHECKED) for archive in archives)

    def _so_far(self) -> str:
        state = self.state()
        judged, members = grouped(self.judged()), count(self._location.members, "member")
        if state is None:
            return (
                f"The check was cancelled: nothing wrong was found in {judged} of {members}; the rest is not checked."
            )
        return f"The check was cancelled: the findings so far say {state}; {judged} of {members} were checked."

    def export(
        self,
        path: Path,
        kind: ReportKind,
        progress: Progress,
        *,
        redact: bool = False,
        note: str = "",
        notes: Sequence[str] = (),
    ) -> None:
        """Write a report to a file; raises OperationError if that is an open archive, SourceError and Cancelled."""
        require_other_file(path, self._location.archives)
        report = self._report or replace(
            report_of(self._name, self._location, ""), state=self.state(), sentence=self.sentence()
        )
        write_report(report, path, kind, progress, redact=redact, note=note, notes=notes)

    # ---- rows --------------------------------------------------------------------------------------------------

    def findings(self, first: int, count: int, severities: Collection[Severity] = ALL) -> Page[FindingRow]:
        """Findings of these severities, oldest first."""
        whole = len(set(severities)) == len(ALL)
        parts: list[Sequence[Placed]] = []
        for archive in tuple(self._location.archives):
            placed = folded(archive.findings, archive.diagnosis)
            parts.append(placed if whole else [each for each in placed if each.finding.severity in severities])
        return _page(parts, first, count, self._finding)

    def _finding(self, at: int, placed: Placed) -> FindingRow:
        member, name = self._member(at, placed.finding.member)
        severity, code, _, spans, *_ = placed.finding
        return FindingRow(severity, code, placed.message, at, spans, member, name, placed.repair, placed.beneath)

    def checksums(self, first: int, count: int, text: str = "") -> Page[Checksum]:
        """The recorded checksums in order; raises SourceError if they cannot be read.

        With ``text`` those of the first MAX_SEARCHED_CHECKSUMS that contain it, whatever its case.
        """
        parts = [archive.checksums for archive in tuple(self._location.archives)]
        if text:
            left, searched = MAX_SEARCHED_CHECKSUMS, text.casefold()
            for at, part in enumerate(parts):
                some = part[:left]
                parts[at] = [each for each in some if searched in _searched(each)]
                left -= len(some)
        return _page(parts, first, count, self._checksum)

    def _checksum(self, at: int, checksum: Checksum) -> Checksum:
        return checksum._replace(
            name=visible(checksum.name),
            algorithm=visible(checksum.algorithm),
            stored=visible(checksum.stored),
            computed=visible(checksum.computed),
            note=visible(checksum.note),
            member=self._member(at, checksum.member)[0],
            layer=at,
        )

    def _member(self, at: int, local: int | None) -> tuple[int | None, str]:
        """The number of an archive's member among all members, and its full path as visible text."""
        known = self._location.archives[at].known_member(local)
        if known is None:
            return None, ""
        member = self._location.number(at, known)
        return member, visible(self._location.path(member))


def _page(parts: Sequence[Sequence[Item]], first: int, count: int, row: Callable[[int, Item], Row]) -> Page[Row]:
    """A page of the items of all archives; ``row`` makes one of an archive's number and an item."""
    total = sum(map(len, parts))
    before = first = max(0, min(first, total))
    left, rows = max(0, min(count, MAX_ROWS)), list[Row]()
    for at, part in enumerate(parts):
        size = len(part)
        some = part[min(before, size) : min(before + left, size)]
        rows += (row(at, each) for each in some)
        before, left = max(0, before - size), left - len(some)
    return Page(total, first, tuple(rows))


def _may_be_explained(archive: Opened) -> bool:
    """Whether something is wrong with a file that has no cause yet, and reading it costs little."""
    if archive.source.size > MAX_BYTES_UNCHECKED or is_remote(archive.source) or archive.checked:
        return False
    return bool(wrong(archive)) and not any(map(is_cause, archive.findings[:1]))


def _searched(checksum: Checksum) -> str:
    """What is searched of a checksum."""
    parts = (checksum.name, checksum.algorithm, checksum.stored, checksum.computed, checksum.verdict.value)
    return visible(" ".join(parts)).casefold()
