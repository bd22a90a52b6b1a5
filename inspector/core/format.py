"""A Format is a value: what it is called and the functions that know its bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from inspector.core.archive import Archive, Emitter
from inspector.core.finding import Finding
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import Source


class MemberError(Exception):
    """A member's content cannot be given (any further): the message is a sentence for a person."""


class Likeness(IntEnum):
    """How much a source looks like a format, from its content alone."""

    NO = 0
    POSSIBLE = 1
    CERTAIN = 2


def structure_only(archive: Archive, emitter: Emitter, progress: Progress) -> str:  # noqa: ARG001 - nothing to read
    """The check of a format that records nothing to compare with: decoding has already said all there is."""
    return ""


def nothing_to_repair(archive: Archive, progress: Progress) -> Sequence[Repair]:  # noqa: ARG001 - a Format's function
    """The repairs of a format that has none."""
    return ()


@dataclass(frozen=True, slots=True)
class Traits:
    """What an archive says of a member beside its name and its content.

    ``link`` is the name of an earlier member whose content it shares (a hard link), ``changed`` when the file was last
    changed, in seconds since 1970; None where nothing is said.
    """

    link: bytes | None = None
    changed: int | None = None


def no_traits(archive: Archive, index: int) -> Traits:  # noqa: ARG001 - a Format's function
    """The traits of members of a format that records none."""
    return Traits()


def one_lane(archive: Archive, index: int) -> int:  # noqa: ARG001 - a Format's function
    """The lane of members that are best read one after another."""
    return 0


def itself(archive: Archive) -> Archive:
    """The archive, where reading it leaves nothing behind in it."""
    return archive


def known_findings(
    archive: Archive,
    members: Sequence[int],  # noqa: ARG001 - a Format's function
    progress: Progress,  # noqa: ARG001
) -> Sequence[Finding]:
    """What is known already, where nothing more can be found out without reading the members."""
    return archive.findings


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of archive.

    ``probe`` looks at the content only and reads little; ``decode`` emits everything it can and raises nothing but
    SourceError and Cancelled, whatever the bytes are; ``read`` gives a member's decoded content in pieces of bounded
    size and raises MemberError, SourceError or Cancelled. ``suffixes`` decide where the content no longer tells.

    ``check`` reads everything that can be compared with something recorded, after ``decode``: it emits the findings
    that decoding could not make, judges every member (``Emitter.judge``), sets ``Archive.checksums``, and gives a
    sentence that sums up (``1 of 3 segments is damaged; 8 of 11 blobs are proved whole.``). It may be cancelled at any
    moment and run again from the start; it raises nothing but SourceError and Cancelled. ``torn`` are the codes of
    findings that one interrupted write explains.

    ``repairs`` gives the repairs of an archive that has been decoded and checked, the best first: edits that lose
    nothing, then others, a salvage last. Each is planned for the archive as it is; when one has been made, what is left
    is planned anew. It reads little beyond what checking knows, and raises nothing but SourceError and Cancelled.

    ``traits`` reads little, and raises SourceError only. ``lane`` gives members that lie one behind the other the same
    number where one is read through those before it: those of different lanes may be read at the same time, each by a
    thread with an archive of its own, which ``apart`` makes of one that has been decoded. ``prove`` gives the
    findings that tell whether the content of some members is what was archived: those known, and more where digests
    cover several members at once, so that reading one of them proves nothing. It raises SourceError and Cancelled.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    specification: str
    limitations: tuple[str, ...]
    probe: Callable[[Source], Likeness]
    decode: Callable[[Source, Emitter, Progress], None]
    read: Callable[[Archive, int, Progress], Iterator[bytes]]
    check: Callable[[Archive, Emitter, Progress], str] = structure_only
    torn: frozenset[str] = frozenset()
    repairs: Callable[[Archive, Progress], Sequence[Repair]] = nothing_to_repair
    traits: Callable[[Archive, int], Traits] = no_traits
    lane: Callable[[Archive, int], int] = one_lane
    apart: Callable[[Archive], Archive] = itself
    prove: Callable[[Archive, Sequence[int], Progress], Sequence[Finding]] = known_findings
