"""A Format is a value: its names, and the functions that understand its bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import IntEnum, StrEnum
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.core.archive import Archive, Emitter
from inspector.core.damage import Damage
from inspector.core.finding import Finding, FindingType, Severity
from inspector.core.kinds import Kind
from inspector.core.numbers import count, grouped
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.verdict import Verdict

if TYPE_CHECKING:  # opening an archive needs neither
    from inspector.core.reader import Reader
    from inspector.core.repair import Repair


class MemberError(Exception):
    """A member's content cannot be read, or not to its end; the message is for the user."""


class RefusedMemberError(MemberError):
    """A member's content may be right, but is not decoded: it asks for too much memory."""


def needs_too_much_memory(error: Exception) -> bool:
    """Whether a decoder of the standard library gave up for the memory that data asks for, not for what it is."""
    return isinstance(error, MemoryError) or str(error) == "Memory usage limit exceeded"  # as lzma says it


class ProbeResult(IntEnum):
    """Whether a source is of a format, judged by its content alone."""

    NO = 0
    POSSIBLE = 1
    CERTAIN = 2


class Concern(StrEnum):
    """What an error that names a member concerns, where that is not the member's content."""

    NAME = "name"
    """Its name or place in lists: its own header or a digest determines the content."""
    RECORD = "record"
    """The record of its content, so nothing proves it."""
    READING = "reading"
    """How members are read: no error, and said where they are."""


class Magic(NamedTuple):
    """Bytes that files of a type have at an offset, in the notation of shared-mime-info, and one of ``inside`` too."""

    value: str
    offset: int = 0
    inside: tuple[Magic, ...] = ()


class Signature(NamedTuple):
    """What files of a kind have at ``at``, and how a sentence calls one (``a tar archive``).

    ``command`` makes something else of it. Without ``begins`` nothing in it is sure.
    """

    begins: bytes
    called: str
    command: str = ""
    at: int = 0


class MimeType(NamedTuple):
    """A type of files, by which a desktop knows what opens them.

    Types with ``globs`` (and the weight of each, 50 being usual) are declared by this program, under the ``title``; for
    others, which belong to other programs, it is an alternative. ``parent`` is the type that it is a special case of.
    ``uti`` names it on macOS, where it ``conforms_to`` another; ``uti_of_others`` are types of other programs with the
    same suffix. ``reason`` says what is unusual.
    """

    name: str
    title: str = ""
    globs: tuple[tuple[str, int], ...] = ()
    magic: Magic | None = None
    parent: str = ""
    uti: str = ""
    conforms_to: str = "public.archive"
    uti_of_others: tuple[str, ...] = ()
    reason: str = ""


def structure_only(archive: Archive, emitter: Emitter, progress: Progress) -> str:
    """The check of a format without checksums: decoding has compared everything, and nothing proves the content.

    Members that an error names are doubtful.
    """
    progress.advance(0)
    emitter.judge_all(Verdict.NOT_CHECKABLE)
    doubtful = {each.member for each in archive.findings if each.severity is Severity.ERROR and each.member is not None}
    for member in doubtful:
        emitter.judge(member, Verdict.DOUBTFUL)
    parts = [count(len(archive.members), "member")]
    if doubtful:
        parts.append(f"{grouped(len(doubtful))} of them in doubt")
    return f"{', '.join(parts)}; the format records no checksums, so only the structure was checked."


def imported(place: str) -> Callable[..., Any]:
    """The function at ``module:name``, or one that gives the value there; it is imported when it is first called."""
    module, _, name = place.partition(":")

    def call(*arguments: Any) -> Any:
        found = getattr(import_module(module), name)
        return found(*arguments) if callable(found) else found

    call.__module__ = module
    return call


class DiagramColumn(NamedTuple):
    """Fields of these kinds, as boxes one below another.

    Boxes of columns that are not ``apart`` are beside each other where they share bytes; those of a column that is
    ``apart`` are in its own order, like the entries of an index. ``opened``: what is in its boxes is in other
    columns. ``single``: it is left out where several archives are shown.
    """

    title: str
    kinds: tuple[Kind, ...]
    apart: bool = False
    opened: bool = False
    single: bool = False


class MemberMetadata(NamedTuple):
    """What an archive records of a member besides its name and content.

    ``link`` is the name of the earlier member that a hard link points to; ``changed`` is the modification time in
    seconds since 1970. Both are None if not recorded. ``special`` says what a member with the mark SPECIAL is, and
    ``target`` where any link leads, None for what is no link.
    """

    link: bytes | None = None
    changed: int | None = None
    special: str = "a link or a device, which are not extracted"
    target: bytes | None = None


def one_group(archive: Archive, index: int) -> int:  # noqa: ARG001 - a Format's function
    """The decode group of a format whose members are best read one after another."""
    return 0


class Format(NamedTuple):
    """One kind of archive: its names, what it consists of, and what it can do.

    ``kinds`` are the kinds of fields that it has beside those of ``Kind``, in the order of its specification. Where it
    is a special case of another format, ``general`` is that one's name. ``sequential`` are the suffixes of files whose
    beginning is needed first over S3; of others the end is, where their index is. ``mime`` are the types of its
    files. ``has_checksums``: it records some. ``findings`` are what it may report; ``concerns`` says by the code what
    errors concern that name a member and do not show that its content is wrong. ``torn`` holds the codes of findings
    that one interrupted write explains. ``readers`` imports and returns what else reads such archives, the
    specification first. ``diagram`` are the columns of a diagram of its shape. ``signature`` is that of its files; a
    special case has that of the ``general`` format. ``damage`` imports and returns what it knows of files that are
    damaged as a whole.

    ``appendable``: members are added after its end, segment by segment. ``header_edited``: its header can be edited.

    What it can do are functions, which ``imported`` makes, so that opening an archive of one format does not load the
    others. All may raise SourceError; those that take a Progress may raise Cancelled.

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
    ``doubt`` says in a clause why a check would doubt the content of a member, where neither decoding nor reading it
    shows that; it looks at little.
    ``hides_members``: whether decoding again with ``Archive.thorough`` would list other members; a check asks first.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    specification: str
    limitations: tuple[str, ...]
    probe: Callable[[Source], ProbeResult]
    decode: Callable[[Source, Emitter, Progress], None]
    read: Callable[[Archive, int, Progress], Iterator[bytes]]
    kinds: tuple[Kind, ...]
    mime: tuple[MimeType, ...] = ()
    general: str = ""
    sequential: tuple[str, ...] = ()
    has_checksums: bool = True
    findings: tuple[FindingType, ...] = ()
    concerns: Mapping[str, Concern] = MappingProxyType({})
    torn: frozenset[str] = frozenset()
    readers: Callable[[], Sequence[Reader]] = lambda: ()
    diagram: tuple[DiagramColumn, ...] = ()
    signature: Signature | None = None
    damage: Callable[[], Damage] = Damage
    appendable: bool = False
    check: Callable[[Archive, Emitter, Progress], str] = structure_only
    repairs: Callable[[Archive, Progress], Sequence[Repair]] = lambda *_: ()
    member_metadata: Callable[[Archive, int], MemberMetadata] = lambda *_: MemberMetadata()
    decode_group: Callable[[Archive, int], int] = one_group
    thread_copy: Callable[[Archive], Archive] = lambda archive: archive
    prove: Callable[[Archive, Sequence[int], Progress], Sequence[Finding]] = lambda archive, *_: archive.findings
    doubt: Callable[[Archive, int, Progress], str] = lambda *_: ""
    hides_members: Callable[[Archive, Progress], bool] = lambda *_: False
    header_edited: bool = False
