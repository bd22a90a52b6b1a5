"""What a front end shows of an archive: plain values that processes exchange.

Names are already visible text (see ``core.names.visible``); offsets and sizes are in bytes.
"""

from __future__ import annotations

import re
from enum import IntFlag, StrEnum
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.finding import Severity
from inspector.core.kinds import Family, Kind, Role
from inspector.core.span import Span, Spans
from inspector.core.verdict import State, Verdict
from inspector.drawing.byte_class import CLASSES, ByteClass

if TYPE_CHECKING:  # the window loads what its panels need
    from inspector.core.collection import Orphan


Row = TypeVar("Row")


class Page(NamedTuple, Generic[Row]):
    """Rows ``[first, first + len(rows))`` of ``total``."""

    total: int
    first: int
    rows: tuple[Row, ...]


class Stage(StrEnum):
    """How far opening an archive is."""

    OPENING = "opening"
    DECODING = "decoding"
    READY = "ready"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Status(Struct, frozen=True):
    """The state of an open location.

    ``sentence`` says what was opened, or why it could not be. ``generation`` grows when fields, layers or members
    change: what was fetched before is stale. ``counts`` are findings by severity. ``state`` is the known state of the
    archive, None while no error was found and not everything was read; ``checked``: a check has finished;
    ``judgement`` is a sentence on both. ``judged`` counts the members with a verdict, also during a check. ``stamp``
    distinguishes this state of a single file from others; empty if that is unknown. ``main`` is the finding to name
    first, None if nothing is wrong. ``has_checksums``: the format records some. ``plain_folder``: it is a folder or
    prefix that holds no dataset. ``unexplained``: something is wrong whose cause has not been looked for.
    ``appendable`` and ``header_edited`` are what the format of a single archive says, see ``Format``.
    ``layers`` are all of it; 0 is the file.
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
    main: FindingRow | None = None
    has_checksums: bool = True
    plain_folder: bool = False
    unexplained: bool = False
    appendable: bool = False
    header_edited: bool = False
    layers: tuple[LayerInfo, ...] = ()

    @property
    def given_up(self) -> Status:
        """The same status once the worker has ended."""
        if self.stage is Stage.OPENING:
            return replace(self, stage=Stage.FAILED, sentence="Nothing of it was read.")
        if self.stage is Stage.DECODING:
            return replace(self, stage=Stage.CANCELLED)
        return self if self.checked else replace(self, judgement="", unexplained=False)


class Traits(NamedTuple):
    """Properties of a request.

    A job takes a Progress first, may take long, and can be paused and cancelled; other requests answer at once.

    Attributes:
        is_job: it is a job.
        waits_for_network: it answers at once unless the archive is on S3 and bytes have to be fetched.
        writes_files: it needs time to remove unfinished files when it is cancelled.
        changes_archive: it writes into the open archive.
        only_shows: it only provides what is shown, so killing it loses nothing.

    """

    is_job: bool = False
    waits_for_network: bool = False
    writes_files: bool = False
    changes_archive: bool = False
    only_shows: bool = False


class JobState(Struct, frozen=True):
    """The progress of a job; ``total`` is 0 if unknown."""

    label: str
    done: int
    total: int
    unit: str
    paused: bool = False


class Judged(IntFlag):
    """The set of verdicts on members in one stretch of a layer."""

    VERIFIED = 1
    DAMAGED = 2
    UNCHECKED = 4


class LayerKind(StrEnum):
    """The kind of bytes in a layer."""

    FILE = "file"
    INNER = "inner stream"
    CONTENT = "content"


class LayerInfo(Struct, frozen=True):
    """One sequence of bytes that the hex view can show. ``layer`` is its number; 0 is the file."""

    layer: int
    kind: LayerKind
    title: str
    size: int
    member: int | None = None


class ContentInfo(Struct, frozen=True):
    """A member's decoded content, ready to be read as a layer.

    ``encoding`` is the detected text encoding or None for binary; ``image`` the image format (``png``) or None;
    ``sentence`` says what is missing, empty if the content is complete.
    """

    layer: LayerInfo
    encoding: str | None
    image: str | None
    sentence: str


class FieldRow(Struct, frozen=True):
    """One field. ``path`` are the positions in the tree from the root; ``wrong`` is the worst finding on its bytes.

    ``children`` is their number; if counting would require reading, 1 stands for any. ``family`` is that of the
    structure it is in.
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
    family: Family | None = None


class Explanation(Struct, frozen=True):
    """One byte: the fields that own it, outermost first, and the findings on it."""

    layer: int
    offset: int
    fields: tuple[FieldRow, ...]
    member: int | None
    findings: tuple[tuple[Severity, str], ...]


class FoundField(Struct, frozen=True):
    """A field that a search found, and the names of the fields around it, outermost first."""

    row: FieldRow
    around: tuple[str, ...]


class FoundFields(Struct, frozen=True):
    """What a search for fields found; ``complete``: all fields were looked at."""

    found: tuple[FoundField, ...]
    complete: bool


MAX_SEARCHED_CHECKSUMS = 100_000
"""Checksums that are searched for a text, the first ones: the answer has to come at once."""


class MemberRow(Struct, frozen=True):
    """One member. ``name`` is its full path; ``offset`` is where its stored bytes start in the file.

    ``read``: its own header was read. Otherwise only the start of its name and its approximate size are known.
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


class TreeRow(Struct, frozen=True):
    """One row of the tree of paths: a folder (``node`` >= 0, ``members`` beneath it) or a member (``node`` -1).

    Of a folder, ``verdict`` is the worst beneath it, which ``number`` members have, and ``wrong`` the worst finding.
    """

    name: str
    node: int
    members: int
    member: MemberRow | None
    verdict: Verdict | None = None
    number: int = 0
    wrong: Severity | None = None


class Chosen(Struct, frozen=True):
    """Selected members: by number, as rows ``(first, count)`` of the flat table, or in folders.

    ``nodes`` are folders of the tree with everything in them; ``stretches`` are rows ``(node, first, count)`` of one.
    """

    members: tuple[int, ...] = ()
    rows: tuple[tuple[int, int], ...] = ()
    nodes: tuple[int, ...] = ()
    stretches: tuple[tuple[int, int, int], ...] = ()

    def __bool__(self) -> bool:
        return any((self.members, self.rows, self.nodes, self.stretches))


class MemberPlace(Struct, frozen=True):
    """The location of a member: its layer and spans there, its row in the flat table and its rows in the tree.

    ``flat`` is None and ``tree`` empty if the filter hides it or the tree is not built yet.
    """

    layer: int
    spans: Spans
    flat: int | None
    tree: tuple[int, ...]


class FindingRow(Struct, frozen=True):
    """One finding and the layer of its spans; ``repair`` is the code of the repair that fixes it, if any.

    ``beneath``: the cause in a row above explains it.
    """

    severity: Severity
    code: str
    message: str
    layer: int
    spans: Spans
    member: int | None
    member_name: str
    repair: str | None = None
    beneath: bool = False


class Target(Struct, frozen=True):
    """The target of an expression: bytes ``[start, stop)`` of a layer."""

    layer: int
    start: int
    stop: int


class Reference(Struct, frozen=True):
    """What a byte refers to, in words, and the target bytes ``covers`` in ``layer``.

    For a hash, ``place`` is where its value is stored, and ``omits`` are bytes between those it covers.
    """

    words: str
    layer: int
    covers: Spans
    member: int | None
    place: Spans = ()
    omits: Spans = ()


class Arrow(Struct, frozen=True):
    """A reference from the bytes ``source`` of a layer to its bytes ``target``, and both in words.

    ``source`` is None if the reference is in a file beside the archive.
    """

    source: Span | None
    target: Span
    source_words: str
    target_words: str


class DiskChange(Struct, frozen=True):
    """A change of the open file by another program, described by ``sentence``.

    ``size`` is the size when it was opened and ``now`` the current one, in bytes, None if the file is gone;
    ``written`` is its modification time in nanoseconds since 1970. ``grown``: the same file has become longer.
    ``replaced``: another file has its name, and the old one is still open.
    """

    sentence: str
    size: int
    now: int | None
    written: int
    grown: bool
    replaced: bool = False


class SortKey(StrEnum):
    """What members can be sorted by; ARCHIVE is their order in the archive."""

    ARCHIVE = "archive"
    NAME = "name"
    SIZE = "size"
    STORED = "stored"
    CODEC = "codec"
    DIGEST = "digest"
    OFFSET = "offset"


# ---- what bytes look like --------------------------------------------------------------------------------------------


FULL = 255
"""The share of a class that has all of a stretch, and the entropy of 8 bits a byte."""


class Bands(Struct, frozen=True):
    """What each of ``rows`` equal stretches of ``[start, stop)`` looks like.

    ``shares`` has a byte for each class of each stretch, of ``FULL``, all 0 where nothing was read; ``entropies`` a
    byte for each stretch. Not ``exact``: samples of each stretch were looked at.
    """

    start: int
    stop: int
    rows: int
    shares: bytes
    entropies: bytes
    exact: bool

    def span(self, row: int) -> Span:
        """The bytes of a stretch; at least one, unless there are none."""
        size = self.stop - self.start
        low = self.start + row * size // self.rows
        return Span(low, min(self.stop, max(low + 1, self.start + (row + 1) * size // self.rows)))

    def classes(self, row: int) -> list[tuple[ByteClass, float]]:
        """The classes in a stretch with their shares of 1, the greatest first."""
        parts = self.shares[row * len(CLASSES) : (row + 1) * len(CLASSES)]
        all_of_it = max(1, sum(parts))
        found = [(each, part / all_of_it) for each, part in zip(CLASSES, parts, strict=True) if part]
        return sorted(found, key=lambda pair: -pair[1])

    def entropy(self, row: int) -> float:
        """The mean entropy of the blocks of a stretch, in bits a byte."""
        return self.entropies[row] * 8 / FULL

    def text(self, row: int) -> str:
        """A stretch in words; empty where nothing was read."""
        classes = self.classes(row)
        if not classes:
            return ""
        parts = [f"{each} {share:.0%}" for each, share in classes] if len(classes) > 1 else [classes[0][0].value]
        return f"{', '.join(parts)}; {self.entropy(row):.2f} bits a byte" + ("" if self.exact else " (sampled)")


# ---- the ranges of a collection: how they cover the keys of its datasets, and expressions that name a key ------------


class RangeState(StrEnum):
    """What is known about one range. VERIFIED: all of its datapoints match recorded hashes."""

    NOT_READ = "not read yet"
    NOT_CHECKED = "not checked"
    CHECKING = "being checked"
    VERIFIED = "verified"
    SOUND = "sound, but not all hashes are recorded"
    WARNING = "with warnings"
    TORN = "torn"
    DAMAGED = "damaged"
    UNREADABLE = "unreadable"


RANGE_STATES = tuple(RangeState)
"""All states in a fixed order; a state is sent as its position here, one byte."""
FAILED = frozenset((RangeState.TORN, RangeState.DAMAGED, RangeState.UNREADABLE))
"""The states that mean damage."""


class RangeMetadata(StrEnum):
    """What describes a range beside it: rows with hashes, the index of the later layout, or nothing."""

    METADATA = "with metadata"
    INDEX = "with an index (later layout)"
    NOTHING = "without metadata"

    @classmethod
    def of(cls, beside: str) -> RangeMetadata:
        """What ``Range.beside`` is."""
        return cls.NOTHING if not beside else cls.INDEX if beside.endswith(".index") else cls.METADATA


class DatasetRow(Struct, frozen=True):
    """One dataset: its ranges are ``[start, start + ranges)``, ``size`` bytes in total.

    ``first`` and ``last`` are its lowest and highest key, of ranges or orphans. ``overlaps`` are inclusive intervals of
    shared keys, ``gaps`` those of keys that no range has. ``beside`` counts ranges by what describes them. ``wasted``
    are the bytes of ranges whose keys a later upload has.
    """

    name: str
    start: int
    ranges: int
    size: int
    first: int
    last: int
    overlaps: tuple[tuple[int, int], ...]
    orphans: tuple[Orphan, ...]
    beside: tuple[tuple[RangeMetadata, int], ...]
    gaps: tuple[tuple[int, int], ...] = ()
    wasted: int = 0


_KEY = re.compile(r"\s*(?:key|datapoint)\s*(?:\[(?P<inside>[^\]]*)\]|\s(?P<after>.*))\s*", re.IGNORECASE | re.DOTALL)
_DATASET_AND_KEY = re.compile(r"\s*(?:(?P<dataset>.*\S)\s*/)?\s*(?P<key>[0-9][0-9,_]{0,40})\s*", re.ASCII | re.DOTALL)


def datapoint_key(expression: str) -> tuple[str, int] | None:
    """The dataset (empty for any) and the key that an expression names; None for other expressions.

    Such expressions are ``key 12345``, ``datapoint[12345]`` and ``key weather/12345``. The window has to recognize them
    because going to a datapoint may require reading its range, which is a job.
    """
    found = _KEY.fullmatch(expression)
    wanted = found and _DATASET_AND_KEY.fullmatch(found["inside"] or found["after"] or "")
    return (wanted["dataset"] or "", int(re.sub("[,_]", "", wanted["key"]))) if wanted else None
