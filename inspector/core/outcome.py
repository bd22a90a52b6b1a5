"""What becomes of each member when the rest of a damaged archive is saved: proved, readable or lost, and why."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from enum import StrEnum
from typing import NamedTuple

from inspector.core.archive import Archive
from inspector.core.finding import Severity, first_sentence
from inspector.core.member import UNREADABLE
from inspector.core.verdict import Verdict


class Fate(StrEnum):
    """What becomes of a member. Proved: a digest over it matches. Readable: it is saved, and nothing proves it."""

    PROVED = "proved"
    READABLE = "readable"
    LOST = "lost"


class Outcome(NamedTuple):
    """A member by its name, what becomes of it, and a clause that says why."""

    path: bytes
    fate: Fate
    why: str


Outcomes = Callable[[], Iterator[Outcome]]
"""Gives the outcome of every member, in the order of the archive."""

_WHY_LOST = {
    Verdict.MISMATCH: "its content does not match the digest recorded for it",
    Verdict.DOUBTFUL: "it may hold other bytes than were archived",
    Verdict.NOT_CHECKED: "its content was not read",
}


def outcomes(
    archive: Archive, saved: Collection[int], proof: str, unproved: str, proved: Collection[int] | None = None
) -> Outcomes:
    """What becomes of the members of an archive of which those ``saved`` are written.

    ``proof`` and ``unproved`` are clauses on those that are proved and that are not. ``proved`` are the proved ones
    where the verdicts do not tell.
    """

    def each() -> Iterator[Outcome]:
        about: dict[int, str] = {}
        for finding in archive.findings:
            if finding.member is not None and finding.severity is Severity.ERROR:
                about.setdefault(finding.member, first_sentence(finding.message).removesuffix("."))
        for member in range(len(archive.members)):
            path, verdict = bytes(archive.members.path(member)), archive.verdict(member)
            if member in saved:
                right = verdict is Verdict.VERIFIED if proved is None else member in proved
                yield Outcome(path, Fate.PROVED if right else Fate.READABLE, proof if right else unproved)
            else:
                yield Outcome(path, Fate.LOST, about.get(member) or _why(archive, member, verdict))

    return each


def _why(archive: Archive, member: int, verdict: Verdict) -> str:
    marks = archive.members.marks
    if marks is not None and marks[member] & UNREADABLE:
        return "its data is not all there, or cannot be decoded"
    return _WHY_LOST.get(verdict, "its place in the file is not certain")
