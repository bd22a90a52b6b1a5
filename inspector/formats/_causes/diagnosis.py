"""The diagnosis of an archive: whether one is needed, what it found, and findings placed beneath their causes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from inspector.core.archive import Archive
from inspector.core.cause import Cause, FoundCause, is_cause, wrong
from inspector.core.finding import UNREADABLE, Finding, Severity, first_sentence
from inspector.core.program.progress import Progress

if TYPE_CHECKING:  # annotations only
    from inspector.core.repair import Repair

ALONE = frozenset(
    {
        *(Cause.EMPTY, Cause.COMPRESSED, Cause.ENCODED_TEXT, Cause.ERROR_PAGE, Cause.POINTER, Cause.OTHER_FORMAT),
        *(Cause.ENCRYPTED, Cause.BYTE_ORDER),
        *(Cause.RESPONSE_HEADERS, Cause.TRANSFER_FRAMING, Cause.TEXT_MODE, Cause.ALL_ZEROS),
    }
)
"""Causes that explain everything; with one of them no other is looked for."""


class Diagnosis(Struct, frozen=True):
    """The causes, the most telling first, as findings, and the repairs that follow from them.

    ``explained`` has the findings that each cause explains, as they were then; a repair that answers those of
    ``adopted``, by the place of the cause, answers the cause too.
    """

    causes: tuple[Finding, ...] = ()
    explained: tuple[tuple[Finding, ...], ...] = ()
    repairs: tuple[Repair, ...] = ()
    adopted: frozenset[int] = frozenset()


NO_DIAGNOSIS = Diagnosis()
"""No cause."""


def what_it_is(archive: Archive) -> Diagnosis:
    """What a decoded file really is, by its first and last bytes; nothing for one that seems right.

    Raises SourceError.
    """
    if not _may_be_asked(archive):
        return NO_DIAGNOSIS
    from inspector.formats._causes.identity import identify  # a sound archive needs none of it

    found = identify(archive)
    return NO_DIAGNOSIS if found is None else _diagnosis(archive, (found,))


def diagnose(archive: Archive, progress: Progress) -> Diagnosis:
    """Why a checked archive is not sound. Raises SourceError and Cancelled.

    Takes time linear in the size of the file, and more work only within counted budgets.
    """
    if not _may_be_asked(archive):
        return NO_DIAGNOSIS
    if any(each.code == Cause.OTHER_FORMAT for each in archive.findings) and len(archive.members):
        from inspector.formats._causes.joined import joined  # a sound archive needs none of it

        if (several := joined(archive, progress)) is not None:
            return _diagnosis(archive, (several,))
    if any(each.code in ALONE for each in archive.findings):
        return _unwrapped(archive, progress)
    from inspector.formats._causes.looking import causes_of  # a sound archive needs none of it

    return _diagnosis(archive, causes_of(archive, progress))


def _unwrapped(archive: Archive, progress: Progress) -> Diagnosis:
    """The repair that takes an archive out of what was put around it or made of it, where decoding has named that."""
    cause = next(Cause(each.code) for each in archive.findings if each.code in ALONE)
    from inspector.formats._causes.wrapped import convert_back, unwrap  # a sound archive needs none of it

    around = cause in (Cause.RESPONSE_HEADERS, Cause.TRANSFER_FRAMING)
    found = unwrap(archive, progress) if around else convert_back(archive, cause, progress)
    return NO_DIAGNOSIS if found is None else Diagnosis(repairs=(found,))


def _may_be_asked(archive: Archive) -> bool:
    """Whether something is wrong or the format is unknown, and all of it could be read."""
    unknown = archive.format == "bytes"
    return (unknown or bool(wrong(archive))) and all(each.code != UNREADABLE for each in archive.findings)


def _diagnosis(archive: Archive, found: Sequence[FoundCause]) -> Diagnosis:
    repairs = {each.code: each for one in found for each in one.repairs}
    explained = tuple(each.explains for each in found)
    adopted = frozenset(at for at, each in enumerate(found) if each.adopts)
    return Diagnosis(tuple(each.finding(archive) for each in found), explained, tuple(repairs.values()), adopted)


class Placed(Struct, frozen=True):
    """A finding in its place: ``beneath`` a cause that explains it, or itself a cause that ``explains`` so many."""

    finding: Finding
    beneath: bool = False
    explains: int = 0
    answer: str | None = None

    @property
    def repair(self) -> str | None:
        """The repair that answers it; for a cause, ``answer``, the first that answers what it explains."""
        return self.finding.repair or self.answer

    @property
    def message(self) -> str:
        """Its message, and what to do, unless a repair or the cause above answers that better.

        That of a cause says how many findings it explains, where they are several.
        """
        parts = [self.finding.message]
        if self.explains >= _MIN_COUNTED:
            parts.append(f"This explains the {self.explains:,} findings below.")
        if self.finding.advice and not self.beneath and self.repair is None:
            parts.append(self.finding.advice)
        return " ".join(parts)


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
        answer = next((each.repair for each in below if each.repair), None)
        placed.append(Placed(cause, explains=len(below), answer=answer))
        placed += [Placed(each, beneath=True) for each in below]
    return [*placed, *map(Placed, rest)]


def _key(finding: Finding) -> tuple[object, ...]:
    """What does not change of a finding when its repair becomes known."""
    return finding.code, finding.member, finding.spans, finding.message


def cause_sentence(findings: Sequence[Finding]) -> str:
    """What the first cause says in one sentence; empty without one."""
    return next((first_sentence(each.message) for each in findings[:1] if is_cause(each)), "")
