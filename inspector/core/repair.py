"""A Repair is one way of repairing an archive, as a plan: nothing has been written. And what becomes of its members."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from inspector.core.archive import Archive
from inspector.core.edit import Edit
from inspector.core.finding import Severity, first_sentence
from inspector.core.member import UNREADABLE
from inspector.core.program.progress import Progress
from inspector.core.source import Source, blocks
from inspector.core.span import Span
from inspector.core.verdict import Verdict

Content = Callable[[Progress], Iterator[bytes]]
"""Gives a whole file in pieces of bounded size; raises MemberError, SourceError or Cancelled."""


def copied(source: Source, start: int, stop: int, label: str = "Writing an archive") -> Content:
    """The bytes ``[start, stop)`` of a source as a file of its own."""

    def pieces(progress: Progress) -> Iterator[bytes]:
        progress.begin(label, stop - start)
        for piece in blocks(source, start, stop):
            yield piece
            progress.advance(len(piece))

    return pieces


class Companion(NamedTuple):
    """A file beside an archive, whose name is the archive's with ``instead_of`` taken off and ``suffix`` appended."""

    suffix: str
    instead_of: str
    content: Content


@dataclass(frozen=True, slots=True)
class Repair:
    """One way of repairing.

    ``code`` is stable (``rca-drop-garbage``), ``title`` says in the imperative what it does and to which bytes
    (``Cut off the 312 bytes of garbage behind the last chunk``), ``fixes`` are the codes of the findings it answers.
    ``claim`` is empty where the archive itself proves that this is right; otherwise it says what is only assumed.

    ``loses`` say in sentences what will be lost. Where nothing is, ``lossless`` says in a sentence why: what shows that
    no byte which is proved or decodes is among those that are cut off or overwritten. Both are empty where the format
    has shown neither; it is a ValueError to give both. ``buried`` counts the bytes at the end of the file that go
    because others are written over them, where they are more than ``edit`` cuts off.

    Exactly one of the other two is there: ``edit`` changes the archive in place, ``content`` makes a whole file. That
    file is a new archive in the place of this one (a salvage, to be written to another place), or, where ``beside`` is
    not empty, the file beside it whose name is the archive's with ``instead_of`` taken off and ``beside`` appended.
    ``old`` is what the format found in that file's place; None where there was nothing, and there must be nothing still
    when it is written. ``along`` are files that a salvage writes beside the new archive, and
    ``outcomes`` says what becomes of each member in it. ``unsearched``: the search for members ended before the file,
    so there may be more than it names. ``remains`` says in a sentence what is wrong with what it writes.
    """

    code: str
    title: str
    fixes: frozenset[str]
    loses: tuple[str, ...] = ()
    claim: str = ""
    edit: Edit | None = None
    content: Content | None = None
    beside: str = ""
    instead_of: str = ""
    lossless: str = ""
    buried: int = 0
    old: Source | None = None
    along: tuple[Companion, ...] = ()
    outcomes: Outcomes | None = None
    unsearched: bool = False
    remains: str = ""

    def __post_init__(self) -> None:
        if self.loses and self.lossless:
            raise ValueError("A repair cannot lose something and nothing.")

    @property
    def is_salvage(self) -> bool:
        """Whether it makes a new archive and leaves this one alone."""
        return self.content is not None and not self.beside

    @property
    def cut(self) -> Span:
        """The bytes at the end of the file, as it is before this repair, that go."""
        if self.edit is None:
            return Span(0, 0)
        dropped = self.edit.dropped
        return Span(min(dropped.start, self.edit.old_size - self.buried), dropped.stop)

    @property
    def needs_consent(self) -> bool:
        """Whether the archive itself is changed so only with the user's consent to exactly this."""
        return bool(self.claim or (self.cut.size and not self.lossless))


# ---- what becomes of members -----------------------------------------------------------------------------------------


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
