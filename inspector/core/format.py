"""A Format is a value: its names, and the functions that understand its bytes."""

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
    """A member's content cannot be read, or not to its end; the message is for the user."""


class ProbeResult(IntEnum):
    """Whether a source is of a format, judged by its content alone."""

    NO = 0
    POSSIBLE = 1
    CERTAIN = 2


def structure_only(archive: Archive, emitter: Emitter, progress: Progress) -> str:  # noqa: ARG001 - nothing to read
    """The check of a format without checksums: decoding has reported everything already."""
    return ""


def no_repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:  # noqa: ARG001 - a Format's function
    """The repairs of a format without repairs."""
    return ()


@dataclass(frozen=True, slots=True)
class MemberMetadata:
    """What an archive records of a member besides its name and content.

    ``link`` is the name of the earlier member that a hard link points to; ``changed`` is the modification time in
    seconds since 1970. Both are None if not recorded.
    """

    link: bytes | None = None
    changed: int | None = None


def no_metadata(archive: Archive, index: int) -> MemberMetadata:  # noqa: ARG001 - a Format's function
    """The metadata of members of a format that records none."""
    return MemberMetadata()


def one_group(archive: Archive, index: int) -> int:  # noqa: ARG001 - a Format's function
    """The decode group of a format whose members are best read one after another."""
    return 0


def same_archive(archive: Archive) -> Archive:
    """The archive itself, for formats where reading keeps no state in it."""
    return archive


def known_findings(
    archive: Archive,
    members: Sequence[int],  # noqa: ARG001 - a Format's function
    progress: Progress,  # noqa: ARG001
) -> Sequence[Finding]:
    """The findings known already, for formats where only reading the members can find more."""
    return archive.findings


@dataclass(frozen=True, slots=True)
class Functions:
    """What a format can do. All may raise SourceError; those that take a Progress may raise Cancelled.

    ``probe`` looks at the content only and reads little; the suffixes decide when the content cannot. ``decode`` emits
    everything it can and raises nothing else, whatever the bytes are. ``read`` yields a member's decoded content in
    pieces of bounded size; it also raises MemberError.

    ``check`` runs after ``decode`` and compares everything with the checksums recorded for it: it emits the findings
    that decoding could not, judges every member (``Emitter.judge``), sets ``Archive.checksums`` and returns a summary
    (``1 of 3 segments is damaged; 8 of 11 blobs are proved whole.``). It may be cancelled and run again from the start.

    ``repairs`` returns the repairs of a decoded and checked archive, best first: edits that lose nothing, other edits,
    a salvage last. Each is planned for the archive as it is; after one was applied, the rest is planned again. It reads
    little beyond what the check has read.

    ``member_metadata`` reads little. ``decode_group`` gives members the same number if reading one means decoding those
    before it; different groups may be read in parallel, each thread with its own archive made by ``thread_copy``.
    ``prove`` returns the findings that tell whether the content of some members is what was archived: those known, and
    more where a digest covers several members, so that reading one of them proves nothing.
    """

    probe: Callable[[Source], ProbeResult]
    decode: Callable[[Source, Emitter, Progress], None]
    read: Callable[[Archive, int, Progress], Iterator[bytes]]
    check: Callable[[Archive, Emitter, Progress], str] = structure_only
    repairs: Callable[[Archive, Progress], Sequence[Repair]] = no_repairs
    member_metadata: Callable[[Archive, int], MemberMetadata] = no_metadata
    decode_group: Callable[[Archive, int], int] = one_group
    thread_copy: Callable[[Archive], Archive] = same_archive
    prove: Callable[[Archive, Sequence[int], Progress], Sequence[Finding]] = known_findings


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of archive: its names, and what it can do.

    ``torn`` holds the codes of findings that one interrupted write explains. ``load`` imports the format's modules and
    returns its functions, so that opening an archive of one format does not load the others.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    specification: str
    limitations: tuple[str, ...]
    load: Callable[[], Functions]
    torn: frozenset[str] = frozenset()

    @property
    def probe(self) -> Callable[[Source], ProbeResult]:
        return self.load().probe

    @property
    def decode(self) -> Callable[[Source, Emitter, Progress], None]:
        return self.load().decode

    @property
    def read(self) -> Callable[[Archive, int, Progress], Iterator[bytes]]:
        return self.load().read

    @property
    def check(self) -> Callable[[Archive, Emitter, Progress], str]:
        return self.load().check

    @property
    def repairs(self) -> Callable[[Archive, Progress], Sequence[Repair]]:
        return self.load().repairs

    @property
    def member_metadata(self) -> Callable[[Archive, int], MemberMetadata]:
        return self.load().member_metadata

    @property
    def decode_group(self) -> Callable[[Archive, int], int]:
        return self.load().decode_group

    @property
    def thread_copy(self) -> Callable[[Archive], Archive]:
        return self.load().thread_copy

    @property
    def prove(self) -> Callable[[Archive, Sequence[int], Progress], Sequence[Finding]]:
        return self.load().prove
