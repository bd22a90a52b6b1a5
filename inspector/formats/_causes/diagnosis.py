"""The diagnosis: asks every question about the file as a whole, and places the causes before what they explain."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from inspector.core.archive import Archive
from inspector.core.finding import UNREADABLE, Finding, Severity
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.formats._causes import identity
from inspector.formats._causes.blocks import copies, suspects, zeros
from inspector.formats._causes.flips import flipped_bits
from inspector.formats._causes.parts import moved_parts
from inspector.formats._causes.survey import Survey, expected_size, may_be_surveyed, survey
from inspector.formats._causes.table import Cause, Explanation, is_cause, wrong
from inspector.formats._causes.text_mode import text_mode

ALONE = frozenset(
    {
        *(Cause.EMPTY, Cause.COMPRESSED, Cause.ENCODED_TEXT, Cause.ERROR_PAGE, Cause.POINTER, Cause.OTHER_FORMAT),
        *(Cause.RESPONSE_HEADERS, Cause.TRANSFER_FRAMING, Cause.TEXT_MODE, Cause.ALL_ZEROS),
    }
)
"""Causes that explain everything; with one of them no other is looked for."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The causes, the most telling first, as findings, and the repairs that follow from them.

    ``explained`` has the findings that each cause explains, as they were then.
    """

    causes: tuple[Finding, ...] = ()
    explained: tuple[tuple[Finding, ...], ...] = ()
    repairs: tuple[Repair, ...] = ()


NO_DIAGNOSIS = Diagnosis()
"""No cause."""


def what_it_is(archive: Archive) -> Diagnosis:
    """What a decoded file really is, by its first and last bytes; nothing for one that seems right.

    Raises SourceError.
    """
    if not _may_be_asked(archive):
        return NO_DIAGNOSIS
    found = identity.identify(archive)
    return NO_DIAGNOSIS if found is None else _diagnosis(archive, (found,))


def diagnose(archive: Archive, progress: Progress) -> Diagnosis:
    """Why a checked archive is not sound. Raises SourceError and Cancelled.

    Takes time linear in the size of the file, and more work only within counted budgets.
    """
    if not _may_be_asked(archive) or any(each.code in ALONE for each in archive.findings):
        return NO_DIAGNOSIS
    causes = flipped_bits(archive, progress)
    if _covers_all(archive, causes) or not may_be_surveyed(archive.source):
        return _diagnosis(archive, causes)
    found = survey(archive.source, progress)
    expected = _expected(archive)
    text = text_mode(archive, found, expected)
    if text is not None:
        return _diagnosis(archive, (text,))
    return _diagnosis(archive, [*_of_places(archive, found, expected, causes, progress), *causes])


def _of_places(
    archive: Archive, found: Survey, expected: int | None, causes: Sequence[Explanation], progress: Progress
) -> list[Explanation]:
    """Zeros, copies and moved parts, where no other cause explains the damage."""
    bad = suspects(archive)
    explained = [span for each in causes for finding in each.explains for span in finding.spans]
    explained += [span for each in causes for span in each.spans]
    holes = list(zeros(archive, found, bad, sorted(explained)))
    if holes:
        return holes
    moved = [] if causes else list(moved_parts(archive, found, expected, progress))
    if moved:
        return moved
    copied = copies(archive, bad, sorted(explained), progress)
    return [] if copied is None else [copied]


def _may_be_asked(archive: Archive) -> bool:
    """Whether something is wrong or the format is unknown, and all of it could be read."""
    unknown = archive.format == "bytes"
    return (unknown or bool(wrong(archive))) and all(each.code != UNREADABLE for each in archive.findings)


def _covers_all(archive: Archive, causes: Sequence[Explanation]) -> bool:
    """Whether some causes explain every finding."""
    explained = {id(finding) for each in causes for finding in each.explains}
    return all(id(finding) in explained for finding in wrong(archive))


def _expected(archive: Archive) -> int | None:
    index = next((each.spans[0] for each in archive.fields if each.name == "index" and each.spans), None)
    stop = _end_of_tiled(archive.members.starts, archive.members.stops) if archive.format == "caf" else 0
    return expected_size(archive.format, archive.source, stop, index)


def _end_of_tiled(starts: array[int], stops: array[int]) -> int:
    """Where members end that follow one another without a gap or an overlap; 0 where they do not."""
    at = 0
    for start, stop in sorted(zip(starts, stops, strict=True)):
        if start != at:
            return 0
        at = stop
    return at


def _diagnosis(archive: Archive, found: Sequence[Explanation]) -> Diagnosis:
    repairs = {each.code: each for one in found for each in one.repairs}
    explained = tuple(each.explains for each in found)
    return Diagnosis(tuple(each.finding(archive) for each in found), explained, tuple(repairs.values()))


class Placed(NamedTuple):
    """A finding in its place: ``beneath`` a cause that explains it, or itself a cause that ``explains`` so many."""

    finding: Finding
    beneath: bool = False
    explains: int = 0

    @property
    def message(self) -> str:
        """Its message; that of a cause says how many findings it explains, where they are several."""
        if self.explains < _MIN_COUNTED:
            return self.finding.message
        return f"{self.finding.message} This explains the {self.explains:,} findings below."


_MIN_COUNTED = 2


def folded(findings: Sequence[Finding], diagnosis: Diagnosis) -> list[Placed]:
    """The findings in the order to show them: each cause, what it explains beneath it, then those without a cause."""
    causes = [each for each in findings if is_cause(each)]
    if not causes:
        return [Placed(each) for each in findings]
    others = [each for each in findings if not is_cause(each)]
    owner: dict[tuple[object, ...], int] = {}
    for at, explained in enumerate(diagnosis.explained):
        for each in explained:
            owner.setdefault(_key(each), at)
    alone = next((at for at, each in enumerate(causes) if each.code in ALONE), None)
    beneath: list[list[Finding]] = [[] for _ in causes]
    rest: list[Finding] = []
    for each in others:
        owned = owner.get(_key(each)) if alone is None or each.severity is Severity.INFO else alone
        (rest if owned is None or owned >= len(causes) else beneath[owned]).append(each)
    placed = []
    for cause, below in zip(causes, beneath, strict=True):
        placed.append(Placed(cause, explains=len(below)))
        placed += [Placed(each, beneath=True) for each in below]
    return [*placed, *map(Placed, rest)]


def _key(finding: Finding) -> tuple[object, ...]:
    """What does not change of a finding when its repair becomes known."""
    return finding.code, finding.member, finding.spans, finding.message


def first_sentence(findings: Sequence[Finding]) -> str:
    """What the first cause says in one sentence; empty without one."""
    cause = next((each.message for each in findings[:1] if is_cause(each)), "")
    return re.split(r"(?<=[.])\s", cause, maxsplit=1)[0]
