"""What a face is shown of an archive: plain values that cross the border between processes.

Names in them are already visible text (see ``core.names.visible``); offsets and sizes are in bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntFlag, StrEnum
from typing import Generic, TypeVar

from inspector.core.finding import Severity
from inspector.core.kinds import Kind, Role
from inspector.core.span import Span, Spans
from inspector.core.verdict import State, Verdict

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Rows ``[first, first + len(rows))`` of ``total``."""

    total: int
    first: int
    rows: tuple[Row, ...]


class Stage(StrEnum):
    """How far opening has come."""

    OPENING = "opening"
    DECODING = "decoding"
    READY = "ready"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Status:
    """The state of an open location.

    ``sentence`` says in words what was opened or why it could not be; ``generation`` grows when fields, layers or
    members have changed, so that what was fetched before is stale; ``counts`` are findings by severity. ``state`` is
    what the archive is as far as is known, None while nothing wrong was seen and not all was read; ``checked`` says
    that a check has come to its end, ``judgement`` says both in words; ``judged`` is how many members a check, over or
    not, has come to a verdict on. ``stamp`` tells this state of a single file from others, as far as that can be known.
    """

    stage: Stage
    sentence: str
    format: str
    title: str
    size: int
    members: int
    generation: int
    counts: tuple[tuple[Severity, int], ...]
    collection: bool
    state: State | None = None
    checked: bool = False
    judgement: str = ""
    judged: int = 0
    stamp: str = ""

    @property
    def given_up(self) -> Status:
        """The same where whoever was reading it has gone."""
        if self.stage is Stage.OPENING:
            return replace(self, stage=Stage.FAILED, sentence="Nothing of it was read.")
        if self.stage is Stage.DECODING:
            return replace(self, stage=Stage.CANCELLED)
        return self if self.checked else replace(self, judgement="")


@dataclass(frozen=True, slots=True)
class JobState:
    """How far a job has come; ``total`` 0 where it is not known."""

    label: str
    done: int
    total: int
    unit: str
    paused: bool = False


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check found; ``sentence`` sums up.

    ``state`` is None where it was cancelled and nothing wrong was seen until then. ``counts`` are findings by
    severity, ``verdicts`` members by verdict; ``members`` is how many were judged, ``size`` how many stored bytes
    those have that were compared with something.
    """

    state: State | None
    sentence: str
    counts: tuple[tuple[Severity, int], ...]
    verdicts: tuple[tuple[Verdict, int], ...]
    members: int
    size: int
    cancelled: bool


@dataclass(frozen=True, slots=True)
class ManifestResult:
    """What writing a digest manifest came to, in words; not ``written`` where one was there already."""

    name: str
    written: bool
    sentence: str


class Judged(IntFlag):
    """What checking has said of the stored bytes of members in a stretch of a layer: a set."""

    VERIFIED = 1
    DAMAGED = 2
    UNCHECKED = 4


class LayerKind(StrEnum):
    """What a layer's bytes are."""

    FILE = "file"
    INNER = "inner stream"
    CONTENT = "content"


@dataclass(frozen=True, slots=True)
class LayerInfo:
    """One sequence of bytes that the hex view can show. ``layer`` is its number; 0 is the file."""

    layer: int
    kind: LayerKind
    title: str
    size: int
    member: int | None = None


@dataclass(frozen=True, slots=True)
class ContentInfo:
    """A member's decoded content, ready to be read as a layer.

    ``encoding`` is the detected text encoding or None for binary; ``image`` the image format (``png``) or None;
    ``sentence`` says what is missing, empty where all of it is there.
    """

    layer: LayerInfo
    encoding: str | None
    image: str | None
    sentence: str


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field. ``path`` are the positions in the tree from the root; ``wrong`` the worst finding that meets it.

    ``children`` is how many there are, at least 1 where that takes reading and there are any.
    """

    path: tuple[int, ...]
    name: str
    kind: Kind
    role: Role
    spans: Spans
    value: str
    note: str
    specification: str
    children: int
    member: int | None
    wrong: Severity | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a byte is: the fields that own it, outermost first, and what was found wrong with it."""

    layer: int
    offset: int
    fields: tuple[FieldRow, ...]
    member: int | None
    findings: tuple[tuple[Severity, str], ...]


@dataclass(frozen=True, slots=True)
class MemberRow:
    """One member. ``name`` is its whole path; ``offset`` where its stored bytes begin in the file.

    ``read``: its own header has been. Else only the beginning of its name is known, and about how large it is.
    """

    index: int
    name: str
    size: int
    stored: int
    codec: str
    digest: str
    offset: int
    folder: bool
    wrong: Severity | None
    verdict: Verdict = Verdict.NOT_CHECKED
    read: bool = True


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One row of the tree of paths: a folder (``node`` >= 0, ``members`` beneath it) or a member (``node`` -1)."""

    name: str
    node: int
    members: int
    member: MemberRow | None


@dataclass(frozen=True, slots=True)
class Chosen:
    """Members that a user has chosen: by number, in stretches ``(first, count)`` of the flat table, or in folders.

    ``nodes`` are folders of the tree, with all that is beneath them; ``stretches`` are rows ``(node, first, count)``
    of one.
    """

    members: tuple[int, ...] = ()
    rows: tuple[tuple[int, int], ...] = ()
    nodes: tuple[int, ...] = ()
    stretches: tuple[tuple[int, int, int], ...] = ()

    def __bool__(self) -> bool:
        return any((self.members, self.rows, self.nodes, self.stretches))


@dataclass(frozen=True, slots=True)
class MemberPlace:
    """Where a member is: its layer and spans there, its row in the flat table and its rows in the tree.

    ``flat`` is None and ``tree`` empty where the filter hides it or the tree is not built yet.
    """

    layer: int
    spans: Spans
    flat: int | None
    tree: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One finding, with the layer its spans are in; ``repair`` is the code of what fixes it, if anything does."""

    severity: Severity
    code: str
    message: str
    layer: int
    spans: Spans
    member: int | None
    member_name: str
    repair: str | None = None


@dataclass(frozen=True, slots=True)
class ChecksumRow:
    """One checksum that the archive records: see ``core.verdict.Checksum``. The spans are in ``layer``."""

    name: str
    algorithm: str
    stored: str
    computed: str
    place: Spans
    covers: Spans
    omits: Spans
    verdict: Verdict
    note: str
    layer: int
    member: int | None


@dataclass(frozen=True, slots=True)
class Target:
    """Where an expression leads: bytes ``[start, stop)`` of a layer."""

    layer: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Reference:
    """Where a byte leads, in words, and the bytes ``covers`` of ``layer`` that it leads to.

    Of a hash, ``place`` is where its value stands and ``omits`` what it leaves out between them.
    """

    words: str
    layer: int
    covers: Spans
    member: int | None
    place: Spans = ()
    omits: Spans = ()


@dataclass(frozen=True, slots=True)
class Arrow:
    """A reference from the bytes ``source`` of a layer to the bytes ``target`` of it, and both in words.

    ``source`` is None where what leads there stands beside the archive.
    """

    source: Span | None
    target: Span
    source_words: str
    target_words: str


@dataclass(frozen=True, slots=True)
class DiskChange:
    """A file that is not what was opened: ``sentence`` says how.

    ``size`` is its size when it was opened and ``now`` its size now, in bytes, None where it has gone; ``written`` is
    when it was written, in nanoseconds since 1970. ``grown``: it is the same file, which has become longer.
    """

    sentence: str
    size: int
    now: int | None
    written: int
    grown: bool


class SortKey(StrEnum):
    """What members can be sorted by; ARCHIVE is the order in which they stand."""

    ARCHIVE = "archive"
    NAME = "name"
    SIZE = "size"
    STORED = "stored"
    CODEC = "codec"
    DIGEST = "digest"
    OFFSET = "offset"
