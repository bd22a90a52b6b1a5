"""The datapoints of a range and the rows recorded about them in its metadata and index (S3 Storage Layout)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from heapq import nsmallest

from inspector.core.archive import Archive
from inspector.core.damage import Landmark, Missing
from inspector.core.field import Field
from inspector.core.finding import Severity
from inspector.core.kinds import Kind
from inspector.core.member import HAS_DIGEST, Members
from inspector.core.numbers import grouped
from inspector.core.program.progress import Progress
from inspector.core.source import Source, SourceError
from inspector.core.span import Span
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats._damage import sampled
from inspector.formats._kinds import INDEX_ENTRY
from inspector.formats._tar import damage as tar_damage
from inspector.formats._tar import reading
from inspector.formats._tar.header import BLOCK, aligned
from inspector.formats._tar.resync import Layout
from inspector.formats.datas3t import DIGITS, METADATA_ROW, datapoint_key
from inspector.formats.datas3t.rows import IndexRows, Rows

NONE = -1
"""A member without a row."""

ROW_MISSING = "datas3t-metadata-row-missing"
ROW_BROKEN = "datas3t-metadata-row"
FIELD_TWICE = "datas3t-metadata-field-twice"

_PROBES = 3
"""Of the smallest datapoints, and of those all over the tar, so many are read for that: some may be damaged."""
_MAX_PROBED_BYTES = 1 << 20

AGREES = "Agrees with the tar."


def rows_of(index: IndexRows, members: Members) -> Sequence[int]:
    """The index row of each member, NONE for a member without one.

    Rows belong to members by position. If the counts differ, one missing row would shift all that follow: rows are
    then matched by their header offset.
    """
    if len(index) == len(members):
        return range(len(members))
    assert members.heads is not None
    by_offset = {index[row][0]: row for row in reversed(range(len(index)))}
    return array("q", (by_offset.get(head, NONE) for head in members.heads))


class RangeRecords:
    """The metadata and index of one tar, and which row belongs to which member; see ``assign_rows``.

    ``index`` is None if absent or unreadable; without metadata there are no ``rows``, and it is not ``described``.
    ``found`` maps suffixes to the files beside the tar, ``hidden`` maps suffixes to the error that hides whether the
    file exists; ``unread`` is whether a file that matters could not be fetched. ``metadata`` is the name of the
    metadata file. ``row_of`` and ``index_rows`` give each member's row in the metadata and in the index, NONE without
    one. ``computed`` maps members to the hash that a check computed where it does not match the recorded one.
    ``layout`` is that of the tar. ``suspect``: no hash that was tried matches, so they are perhaps of another data set.
    """

    def __init__(self) -> None:
        self.described = False
        self.rows = Rows()
        self.index: IndexRows | None = None
        self.found: dict[str, Source] = {}
        self.hidden: dict[str, SourceError] = {}
        self.unread = False
        self.metadata = ""
        self.members = Members()
        self.keys: list[int | None] = []
        self.row_of = array("q")
        self.index_rows: Sequence[int] = ()
        self.computed: dict[int, int] = {}
        self.layout = Layout()
        self.suspect = False

    @cached_property
    def member_of(self) -> array[int]:
        """The member of each metadata row, NONE for a row without one."""
        found = array("q", [NONE]) * len(self.rows)
        for index, row in enumerate(self.row_of):
            if row != NONE:
                found[row] = index
        return found

    @cached_property
    def row_by_key(self) -> dict[int, int]:
        """The first readable row of each key."""
        pairs = reversed(list(enumerate(self.rows.ids)))
        return {key: row for row, key in pairs if row not in self.rows.unreadable}

    def row_named(self, name: bytes) -> int | None:
        key = datapoint_key(name)
        return None if key is None else self.row_by_key.get(key[0])

    def assign_rows(self, members: Members, source: Source | None = None) -> None:
        """Find the keys and the rows of the members, and fill in their digests.

        ``source`` is the tar, where a small datapoint may be read to find out how the hashes are written.
        """
        self.members = members
        found = (datapoint_key(members.path(index)) for index in range(len(members)))
        self.keys = [None if key is None else key[0] for key in found]
        if self.index is not None:
            self.index_rows = rows_of(self.index, members)
        self.row_of = array("q", (NONE if key is None else self.row_by_key.get(key, NONE) for key in self.keys))
        if members.digests is None or members.marks is None:
            return
        if source is not None:
            self._try_hashes(source)
        for index, row in enumerate(self.row_of):
            if row != NONE:
                members.digests[index] = self.rows.hashes[row]
                members.marks[index] |= HAS_DIGEST

    def _try_hashes(self, source: Source) -> None:
        """Find out from some datapoints, the smallest and others all over the tar, how the hashes are written.

        They are turned round where that makes one match. Where none matches in any way, they are ``suspect``.
        """
        # Imported here because start-up must not wait for it.
        import xxhash

        members, tried = self.members, 0
        rows = enumerate(self.row_of)
        described = [at for at, row in rows if row != NONE and 0 < members.stored(at) <= _MAX_PROBED_BYTES]
        spread = described[:: max(1, len(described) // _PROBES)]
        for index in (*nsmallest(_PROBES, described, key=members.stored), *spread):
            recorded = self.rows.hashes[self.row_of[index]]
            try:
                data = source.read(members.starts[index], members.stored(index))
            except SourceError:  # who reads the datapoint is told
                continue
            digest = xxhash.xxh64_intdigest(data)
            if digest == recorded:
                return
            if digest.to_bytes(8, "little") == recorded.to_bytes(8, "big"):
                self.rows.turn()
                return
            tried += 1
        self.suspect = len(described) >= _MIN_MISMATCHES and tried == _PROBES + len(spread)

    def extras(self, index: int) -> Iterator[Field]:
        """The rows of one member as fields that own no bytes of this file."""
        if self.described and index < len(self.row_of):
            row = self.row_of[index]
            if row == NONE:
                yield Field("metadata row", METADATA_ROW, (), None, "The metadata has no row for it.", label="no row")
            else:
                yield metadata_row(self.rows, row, self.row_error(index) or AGREES)
        if self.index is not None and index < len(self.index_rows):
            row = self.index_rows[index]
            if row == NONE:
                yield Field("index row", INDEX_ENTRY, (), None, "The index has no row for it.")
            else:
                yield index_row(self.index[row], row, self.index_error(index) or AGREES)

    def header_offsets(self, index: int) -> tuple[int, int]:
        """The offsets of a member's first header block and of its own header; an extended header comes first."""
        heads = self.members.heads
        assert heads is not None
        return heads[index], self.members.starts[index] - BLOCK

    def row_error(self, index: int) -> str:
        """How a member's metadata row disagrees with the tar, as a sentence; empty where it agrees."""
        rows, row, start = self.rows, self.row_of[index], self.members.starts[index]
        begin, end, stop = rows.begins[row], rows.ends[row], start + self.members.size(index)
        heads, ends = self.header_offsets(index), (stop, start + aligned(stop - start))
        return _disagrees(
            ("its begin offset is {}, its header is at {}", begin, begin if begin in heads else heads[0]),
            ("its end offset is {}, its data ends at {}", end, end if end in ends else stop),
        )

    def index_error(self, index: int) -> str:
        """How a member's index row disagrees with the tar, as a sentence; empty where it agrees."""
        assert self.index is not None
        offset, blocks, size = self.index[self.index_rows[index]]
        head, start = headers(self.members, index)
        return _disagrees(
            ("its header offset is {}, its header is at {}", offset, head),
            ("its header size is {} blocks, its headers are {}", blocks, (start - head) // BLOCK),
            ("its data size is {} bytes, its header says {}", size, self.members.stored(index)),
        )


def _disagrees(*compared: tuple[str, int, int]) -> str:
    """What a row says and the tar has, as a sentence; empty where all of it is equal."""
    wrong = [words.format(grouped(says), grouped(has)) for words, says, has in compared if says != has]
    return f"It disagrees with the tar: {'; '.join(wrong)}." if wrong else ""


def metadata_row(rows: Rows, row: int, note: str = "") -> Field:
    """A metadata row as a field without bytes."""
    parts = (
        ("id", Kind.NUMBER, "The datapoint's key."),
        ("begin_offset", Kind.OFFSET, "Where the tar header begins."),
        ("end_offset", Kind.OFFSET, "Where the data ends, with or without its padding."),
        ("data_hash", Kind.DIGEST, "xxHash64 (seed 0) of the datapoint's bytes."),
    )
    children = []
    for (name, kind, meaning), column in zip(parts, rows.columns, strict=True):
        value = f"{column[row]:x}" if kind is Kind.DIGEST else column[row]
        children.append(Field(name, kind, (), value, meaning))
    if row in rows.unreadable:
        note = f"Broken: {rows.unreadable[row]} cannot be read."
    label = f"key {rows.ids[row]:,}"
    return Field("metadata row", METADATA_ROW, (), row, note, tuple(children), label=label)


def index_row(values: Sequence[int | None], row: int, note: str = "", at: int | None = None) -> Field:
    """An index row as a field, whose bytes begin at ``at``; it has none in another file."""
    spans = [() if at is None else (Span(at + low, at + high),) for low, high in ((0, 8), (8, 10), (10, 16), (0, 16))]
    parts = (
        ("header offset", Kind.OFFSET, "In bytes." if at is None else "Where the tar header begins, in bytes."),
        ("header size", Kind.LENGTH, "In blocks of 512 bytes."),
        ("data size", Kind.LENGTH, "In bytes."),
    )
    children = tuple(
        Field(name, kind, span, value, unit)
        for (name, kind, unit), span, value in zip(parts, spans, values, strict=False)
    )
    return Field("index row", INDEX_ENTRY, spans[3], row, note, children)


def headers(members: Members, index: int) -> tuple[int, int]:
    """The headers of a member, half-open."""
    assert members.heads is not None
    return members.heads[index], members.starts[index]


def headers_of(archive: Archive, first: int, last: int) -> Iterator[Span]:
    """The headers of the datapoints of a decoded range with the keys ``first`` to ``last`` (inclusive)."""
    records = archive.detail
    if isinstance(records, RangeRecords):
        for index, key in enumerate(records.keys):
            if key is not None and first <= key <= last:
                yield Span(*headers(records.members, index)).clipped(0, archive.source.size)


def members_by_key(archive: Archive, first: int, last: int) -> dict[int, int]:
    """The members of a decoded range with the keys ``first`` to ``last`` (inclusive)."""
    keys = archive.detail.keys if isinstance(archive.detail, RangeRecords) else ()
    return {key: index for index, key in enumerate(keys) if key is not None and first <= key <= last}


def member_with(archive: Archive, key: int) -> int | None:
    """The first member of a decoded range with this key, or None."""
    records = archive.detail
    return records.keys.index(key) if isinstance(records, RangeRecords) and key in records.keys else None


# ---- damage as a whole -----------------------------------------------------------------------------------------------


def _missing(archive: Archive) -> Missing | None:
    """What is cut off: the metadata may list datapoints that would begin at the end of the file or behind it."""
    begins = archive.detail.rows.begins if isinstance(archive.detail, RangeRecords) else ()
    return tar_damage.missing(archive, any(begin >= archive.source.size for begin in begins))


def _headers_hold(archive: Archive) -> bool:
    return not any(each.code.startswith("tar-") and each.severity is Severity.ERROR for each in archive.findings)


def _undecided(archive: Archive) -> str:
    """That no hash matches, although all headers of the tar do: then the metadata is the suspect."""
    number = archive.verdicts.count(VERDICTS.index(Verdict.MISMATCH))
    if number < _MIN_MISMATCHES or number < len(archive.verdicts) or not _headers_hold(archive):
        return ""
    return f"None of {number:,} hashes matches, and all headers hold: the metadata is perhaps of another data set."


def doubt(archive: Archive, index: int, progress: Progress) -> str:
    """See Format.doubt: that the hash of a datapoint may be of another one, so that it says nothing of the bytes."""
    if not archive.members.marks_of(index) & HAS_DIGEST:
        return reading.doubt(archive, index, progress)
    records = archive.detail
    is_suspect = isinstance(records, RangeRecords) and records.suspect and _headers_hold(archive)
    return "none of the hashes tried matches, so the metadata is perhaps of another data set" if is_suspect else ""


_MIN_MISMATCHES = 3
"""Fewer datapoints may all have changed."""


def _landmarks(archive: Archive) -> Sequence[Landmark]:
    """The tar headers that the metadata places, or some of them."""
    rows = archive.detail.rows if isinstance(archive.detail, RangeRecords) else Rows()
    return [
        Landmark(
            rows.begins[row],
            0,
            b"%0*d." % (DIGITS, rows.ids[row]),
            lambda source, at, name: source.read(at, len(name)) == name,
        )
        for row in sampled(len(rows))
        if row not in rows.unreadable
    ]


DAMAGE = tar_damage.DAMAGE._replace(
    named=True, beside=(".metadata",), missing=_missing, landmarks=_landmarks, undecided=_undecided
)
