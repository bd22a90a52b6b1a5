"""Datapoints and what stands beside their tar about them, metadata rows above all (S3 Storage Layout for datas3t)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from inspector.core.archive import Archive, Emitter
from inspector.core.field import Field
from inspector.core.finding import Severity
from inspector.core.kinds import Kind
from inspector.core.member import HAS_DIGEST, Members
from inspector.core.names import visible
from inspector.core.numbers import count, grouped
from inspector.core.source import Source, SourceError
from inspector.core.span import Span
from inspector.formats._tar.header import BLOCK, aligned
from inspector.formats.datas3t.keys import datapoint_key
from inspector.formats.datas3t.rows import IndexRows, Rows

NONE = -1
"""A member without a row."""

ROW_MISSING = "datas3t-metadata-row-missing"
ROW_BROKEN = "datas3t-metadata-row"
FIELD_TWICE = "datas3t-metadata-field-twice"

AGREES = "Agrees with the tar."


def rows_of(index: IndexRows, members: Members) -> Sequence[int]:
    """The row of the index that is about each member, NONE for a member that has none.

    Rows are found by their number, so they stand in the order of the tar. Where there are fewer or more than members,
    one that is missing would put all that follow off by one: then they are known by the offset that they give.
    """
    if len(index) == len(members):
        return range(len(members))
    assert members.heads is not None
    by_offset = {index[row][0]: row for row in reversed(range(len(index)))}
    return array("q", (by_offset.get(head, NONE) for head in members.heads))


class Beside:
    """What stands beside one tar, and which row belongs to which member. Filled in once the members are known.

    ``rows`` and ``index`` are None where there are none that can be read. ``found`` are the files they stand in, by the
    ends of their names; ``hidden`` says of which it is not told whether they are there, and ``unread`` is whether one
    that counts could not be fetched. ``metadata`` names the file of the metadata rows; ``row_of`` and ``index_rows``
    are the rows of each member in the metadata and in the index, NONE where it has none; ``computed`` are the hashes
    that checking computed where they are not the recorded ones, by member.
    """

    def __init__(self) -> None:
        self.rows: Rows | None = None
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

    @cached_property
    def member_of(self) -> array[int]:
        """The member of each metadata row, NONE for a row without one; made when it is first asked for."""
        found = array("q", [NONE]) * (0 if self.rows is None else len(self.rows))
        for index, row in enumerate(self.row_of):
            if row != NONE:
                found[row] = index
        return found

    def offsets(self, size: int) -> list[int]:
        """Where members begin inside a tar of ``size`` bytes by all that is recorded, in ascending order."""
        found = set(() if self.rows is None else self.rows.begins)
        index = self.index
        found.update(() if index is None else (index[row][0] for row in range(len(index))))
        return sorted(offset for offset in found if offset < size)

    def take(self, members: Members) -> None:
        """Learn the members' keys and find their rows; their digests are filled in."""
        self.members = members
        self.keys = [None] * len(members)
        for index in range(len(members)):
            key = datapoint_key(members.path(index))
            self.keys[index] = None if key is None else key[0]
        if self.index is not None:
            self.index_rows = rows_of(self.index, members)
        rows = self.rows
        if rows is None:
            return
        lookup = {key: row for row, key in reversed(list(enumerate(rows.ids))) if row not in rows.unreadable}
        self.row_of = array("q", (NONE if key is None else lookup.get(key, NONE) for key in self.keys))
        assert members.digests is not None
        assert members.marks is not None
        for index, row in enumerate(self.row_of):
            if row != NONE:
                members.digests[index] = rows.hashes[row]
                members.marks[index] |= HAS_DIGEST

    def extras(self, index: int) -> Iterator[Field]:
        """The rows about one member, as facts: they own no bytes of this file."""
        if self.rows is not None and index < len(self.row_of):
            row = self.row_of[index]
            if row == NONE:
                yield Field("metadata row", Kind.METADATA_ROW, (), None, "The metadata has no row for it.")
            else:
                yield metadata_row(self.rows, row, self.row_error(index) or AGREES)
        if self.index is not None and index < len(self.index_rows):
            row = self.index_rows[index]
            if row == NONE:
                yield Field("index row", Kind.INDEX_ENTRY, (), None, "The index has no row for it.")
            else:
                yield index_row(self.index, row, self.index_error(index) or AGREES)

    def header_offsets(self, index: int) -> tuple[int, int]:
        """Where a member's first header block and its own header stand: they differ after an extended header."""
        heads = self.members.heads
        assert heads is not None
        return heads[index], self.members.starts[index] - BLOCK

    def row_error(self, index: int) -> str:
        """How a member's metadata row disagrees with the tar, as a sentence; empty where it agrees."""
        rows, row = self.rows, self.row_of[index]
        assert rows is not None
        stop = self.members.stops[index]
        begin, end = rows.begins[row], rows.ends[row]
        heads = self.header_offsets(index)
        wrong = []
        if begin not in heads:
            wrong.append(f"its begin offset is {grouped(begin)}, its header stands at {grouped(heads[0])}")
        start = self.members.starts[index]
        if end not in (stop, start + aligned(stop - start)):
            wrong.append(f"its end offset is {grouped(end)}, its data ends at {grouped(stop)}")
        return _disagrees(wrong)

    def index_error(self, index: int) -> str:
        """How a member's index row disagrees with the tar, as a sentence; empty where it agrees."""
        assert self.index is not None
        offset, count, size = self.index[self.index_rows[index]]
        head, _ = self.header_offsets(index)
        blocks = (self.members.starts[index] - head) // BLOCK
        wrong = []
        if offset != head:
            wrong.append(f"its header offset is {grouped(offset)}, its header stands at {grouped(head)}")
        if count != blocks:
            wrong.append(f"its header size is {grouped(count)} blocks, its headers are {grouped(blocks)}")
        if size != self.members.stored(index):
            wrong.append(
                f"its data size is {grouped(size)} bytes, its header says {grouped(self.members.stored(index))}"
            )
        return _disagrees(wrong)


def _disagrees(wrong: list[str]) -> str:
    return f"Disagrees with the tar: {'; '.join(wrong)}." if wrong else ""


def metadata_row(rows: Rows, row: int, note: str = "") -> Field:
    """A metadata row as a fact without bytes."""
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
    return Field("metadata row", Kind.METADATA_ROW, (), row, note, tuple(children))


def index_row(index: IndexRows, row: int, note: str) -> Field:
    """An index row as a fact without bytes."""
    names = ("header offset", "header size", "data size")
    kinds = (Kind.OFFSET, Kind.LENGTH, Kind.LENGTH)
    units = ("In bytes.", "In blocks of 512 bytes.", "In bytes.")
    children = tuple(
        Field(name, kind, (), value, unit)
        for name, kind, unit, value in zip(names, kinds, units, index[row], strict=True)
    )
    return Field("index row", Kind.INDEX_ENTRY, (), row, note, children)


def headers(members: Members, index: int) -> tuple[int, int]:
    """Where the headers of a member stand, half-open."""
    assert members.heads is not None
    return members.heads[index], members.starts[index]


def headers_of(archive: Archive, first: int, last: int) -> Iterator[Span]:
    """The headers of the datapoints of a decoded range with the keys ``first`` to ``last``, both included."""
    beside = archive.detail
    if isinstance(beside, Beside):
        for index, key in enumerate(beside.keys):
            if key is not None and first <= key <= last:
                yield Span(*headers(beside.members, index)).clipped(0, archive.source.size)


def member_with(archive: Archive, key: int) -> int | None:
    """The first member of a decoded range that is the datapoint with this key; None where there is none."""
    beside = archive.detail
    return beside.keys.index(key) if isinstance(beside, Beside) and key in beside.keys else None


def check_rows(emitter: Emitter, beside: Beside) -> None:
    """The metadata rows against the datapoints: missing, left over, twice, out of order, wrong offsets."""
    rows, members = beside.rows, beside.members
    if rows is None:
        return
    broken, told = rows.broken(), set[int]()
    for index, row in enumerate(beside.row_of):
        key = beside.keys[index]
        name = visible(members.path(index))
        if row == NONE and key is not None and key in broken:
            told.add(broken[key])
            _tell_broken(emitter, beside, broken[key], index)
        elif row == NONE and key is not None:
            words = f"The metadata, {beside.metadata}, has no row for key {key:,} ({name}), so it is not found by it."
            emitter.error(ROW_MISSING, words, headers(members, index), member=index)
        elif row != NONE and (wrong := beside.row_error(index)):
            words = f"The metadata row of key {key:,} ({name}) is wrong, in {beside.metadata}. {wrong}"
            emitter.error("datas3t-metadata-offset", words, headers(members, index), member=index)
    for row in sorted(rows.unreadable.keys() - told):
        _tell_broken(emitter, beside, row)
    _check_left_over(emitter, beside, rows)
    _check_readings(emitter, beside, rows)


def _check_readings(emitter: Emitter, beside: Beside, rows: Rows) -> None:
    """Whether all end offsets are meant alike: with the padding of the tar, or without."""
    first: dict[bool, int] = {}
    for index, row in enumerate(beside.row_of):
        stop = beside.members.stops[index]
        if row != NONE and stop % BLOCK and rows.ends[row] in (stop, aligned(stop)):
            first.setdefault(rows.ends[row] == stop, index)
            if len(first) == 2:
                words = (
                    "The end offsets of the metadata have two meanings: those of key "
                    f"{beside.keys[first[False]]:,} include the padding of the tar, those of key "
                    f"{beside.keys[first[True]]:,} do not. Each can be right by itself."
                )
                emitter.warning(
                    "datas3t-metadata-readings", words, *(headers(beside.members, at) for at in first.values())
                )
                return


def _check_left_over(emitter: Emitter, beside: Beside, rows: Rows) -> None:
    used = set(beside.row_of)
    known = {key for key in beside.keys if key is not None}
    for row, key in enumerate(rows.ids):
        if row not in used and row not in rows.unreadable:
            _tell_left_over(emitter, beside, row, twice=key in known)
    check_row_form(emitter, rows)


def _tell_broken(emitter: Emitter, beside: Beside, row: int, member: int | None = None) -> None:
    """A row that cannot be read, and which datapoint it is about where its key says so."""
    assert beside.rows is not None
    words = f"Row {row:,} of the metadata, {beside.metadata}, is broken: {beside.rows.unreadable[row]} cannot be read."
    if member is None:
        emitter.error(ROW_BROKEN, words)
    else:
        words += f" It is that of {visible(beside.members.path(member))}."
        emitter.error(ROW_BROKEN, words, headers(beside.members, member), member=member)


def _tell_left_over(emitter: Emitter, beside: Beside, row: int, *, twice: bool) -> None:
    """A row without a datapoint of its own; the bytes are shown that it should have according to the row."""
    rows, size = beside.rows, emitter.archive.source.size
    assert rows is not None
    words = f"Row {row:,} of the metadata, {beside.metadata}, for key {rows.ids[row]:,}, "
    words += "stands twice." if twice else "has no datapoint in the tar."
    place = Span(rows.begins[row], rows.ends[row]).clipped(0, size)
    if twice or not place.size:
        emitter.error("datas3t-metadata-row-extra", words)
    else:
        words += f" By that row it is in the bytes {place.start:,} to {place.stop:,}."
        emitter.error("datas3t-metadata-row-extra", words, place)


def check_row_form(emitter: Emitter, rows: Rows) -> None:
    """Whether the metadata rows are in key order and written as the specification says, each field once."""
    if any(key < before for before, key in pairwise(rows.ids)):
        emitter.warning("datas3t-metadata-order", "The rows of the metadata are not in the order of their keys.")
    if rows.misspelt:
        row, fields = next(iter(rows.misspelt.items()))
        emitter.warning(
            "datas3t-metadata-spelling",
            f"The metadata is not written as specified in {count(len(rows.misspelt), 'row')}: in row {row:,}, {fields} "
            "should be a string of decimal digits (lower-case hexadecimal for data_hash) without leading zeros.",
        )
    if rows.repeated:
        row = min(rows.contradictory or rows.repeated)
        emitter.find(
            Severity.ERROR if rows.contradictory else Severity.WARNING,
            FIELD_TWICE,
            f"Fields stand more than once in {count(len(rows.repeated), 'row')} of the metadata: in row {row:,}, "
            f"{rows.repeated[row]}. Programs differ in which of them they take; here it is the last.",
        )
