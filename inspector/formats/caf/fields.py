"""The fields of a Chunk Archive: data section, index with its entries, and footer (CAF.md, "File Structure")."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain, compress, islice
from itertools import count as count_from
from operator import eq

from inspector.core.field import Census, Field, FieldTable, tile
from inspector.core.kinds import Family, Kind, Role, family_bit, role_bit
from inspector.core.member import Members
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, hexadecimal, in_bytes, verb
from inspector.core.source import Source
from inspector.core.span import Span, Spans
from inspector.formats._extents import GAP, Rows
from inspector.formats._kinds import DATA_SECTION, INDEX, INDEX_ENTRY
from inspector.formats._signatures import with_inside
from inspector.formats.caf import FOOTER
from inspector.formats.caf.locate import Place
from inspector.formats.caf.reading import Index, Part
from inspector.formats.caf.scan import COLON, COMMA, Malformed, Scanner, unquoted

DATA_CHAPTER = "CAF, 1. File Data Section"
INDEX_CHAPTER = "CAF, 2. File Index Section"
FOOTER_CHAPTER = "CAF, 3. Footer Section"

_ENTRY_ROLES = role_bit(Role.DIRECTORY) | role_bit(Role.NAME) | role_bit(Role.EXTENT) | family_bit(Family.INDEX)
_UNREAD = role_bit(Role.GARBAGE)
_DATA = role_bit(Role.DATA) | family_bit(Family.CONTENT)
_GAP = role_bit(Role.GAP)
_MAX_SHOWN_BYTES = 256
_MAX_ENTRY_BYTES = 1 << 20
_MAX_FIELDS_PER_ENTRY = 256
"""Values of one entry that become fields; further ones are shown as syntax."""


def footer_field(source: Source, place: Place) -> Field:
    """The footer, which may be cut off."""
    assert place.footer is not None
    span = place.footer
    data = source.read(span.start, span.size)
    if len(data) < 4:
        return Field("footer", FOOTER, (span,), None, f"Cut off: {len(data)} of 4 bytes.", specification=FOOTER_CHAPTER)
    value = int.from_bytes(data, "little")
    note = f"Index size: {in_bytes(value)}."
    if value == span.start - (place.index.start if place.index else -1):
        note = f"Index size: {in_bytes(value)}, so the index begins at byte {grouped(span.start - value)}."
    elif place.index is not None:
        note += f" Wrong: the index begins at byte {grouped(place.index.start)} and has {in_bytes(place.index.size)}."
    return Field("footer", FOOTER, (span,), value, note, text=hexadecimal(value), specification=FOOTER_CHAPTER)


def data_section(source: Source, members: Members, rows: Rows) -> Field:
    """The bytes before the index: a row for each member's bytes and each gap."""

    def make(row: int) -> Field:
        where = Span(rows.starts[row], rows.row_stop(row))
        member = rows.owners[row]
        if member == GAP:
            note = f"{in_bytes(where.size)} that {verb(where.size, 'belongs', 'belong')} to no member."
            return Field("gap", Kind.GAP, (where,), note=note)
        note = f"{in_bytes(where.size)}."
        is_whole = (members.starts[member], members.stops[member]) == where
        if not is_whole:
            stored = in_bytes(members.stored(member))
            note = f"{in_bytes(where.size)} of {stored}: the others belong to another member too, or are not there."
        name = visible(members.path(member))
        data = Field("file data", Kind.DATA, (where,), name, note, member=member, label=name)
        return with_inside(data, source, name) if is_whole else data

    @cache
    def empty() -> array[int]:
        # An empty file is a row without bytes.
        ends = chain(islice(rows.starts, 1, None), (rows.stop,))
        return array("Q", compress(count_from(), map(eq, rows.starts, ends)))

    def number() -> Census:
        gaps = len(rows.gaps)
        return +Census({(Kind.DATA, False): len(rows.starts) - gaps - len(empty()), (Kind.GAP, False): gaps})

    def turn(row: int) -> int:
        return row - bisect_left(empty(), row)

    roles: int | Sequence[int] = _DATA
    if len(rows.gaps):
        roles = array("I", (_GAP if owner == GAP else _DATA for owner in rows.owners))
    children = FieldTable(rows.starts, make, roles, number, turn) if len(rows.starts) else ()
    return Field("data section", DATA_SECTION, (Span(0, rows.stop),), children=children, specification=DATA_CHAPTER)


def index_field(source: Source, index: Index, member_of: Callable[[int], int]) -> Field:
    """The index: the values of its outermost object, the syntax between them, and the rest that could not be parsed."""
    inside = []
    for part in index.parts:
        data = source.read(part.span.start, min(part.span.size, _MAX_SHOWN_BYTES)) if part.key != b"files" else b""
        whole = data[:1] == b'"' and len(data) == part.span.size
        value = Field(visible(part.key), Kind.TEXT, (part.span,), visible(unquoted(data) if whole else data))
        inside.append(_files(source, index, part, member_of) if part.key == b"files" else value)
    if index.unparsed is not None:
        inside.append(
            Field("not read", Kind.GARBAGE, (index.unparsed,), note="The rest of the index could not be parsed.")
        )
    note = f"JSON, {count(len(index), 'entry', 'entries')}, {in_bytes(index.span.size)}."
    children = tile(inside, (index.span,), Kind.SYNTAX)
    label = f"index, {count(len(index), 'entry', 'entries')}"
    return Field("index", INDEX, (index.span,), None, note, children, specification=INDEX_CHAPTER, label=label)


def _files(source: Source, index: Index, part: Part, member_of: Callable[[int], int]) -> Field:
    note = count(part.last - part.first, "entry", "entries") + "."
    if part.last == part.first:
        return Field("files", INDEX, (part.span,), note=note)
    # The rows own all bytes of their parent, so the braces around the entries stay outside "files".
    starts = index.heads if (part.first, part.last) == (0, len(index)) else index.heads[part.first : part.last]
    stop = part.span.stop
    if source.read(stop - 1, 1) == b"}" and index.unparsed is None:
        stop -= 1
    stop = max(stop, starts[-1] + 1)

    def make(row: int) -> Field:
        span = Span(starts[row], starts[row + 1] if row + 1 < len(starts) else stop)
        return entry_field(source.read(span.start, min(span.size, _MAX_ENTRY_BYTES)), span, member_of(part.first + row))

    children = FieldTable(starts, make, _entry_roles(index, part))
    return Field("files", INDEX, (Span(starts[0], stop),), note=note, children=children)


def _entry_roles(index: Index, part: Part) -> int | Sequence[int]:
    """The roles of the entries of a part: only marked entries and the last one can hold unparsed bytes."""
    marks = index.marks[part.first : part.last]
    if index.unparsed is None and not any(marks):
        return _ENTRY_ROLES
    roles = array("I", (_ENTRY_ROLES | (_UNREAD if mark else 0) for mark in marks))
    roles[-1] |= 0 if index.unparsed is None else _UNREAD
    return roles


def entry_field(data: bytes, span: Span, member: int) -> Field:
    scanner = Scanner(data)
    inside: list[Field] = []
    name = b""
    numbers: dict[bytes, int | None] = {}
    try:
        key = scanner.string()
        name = unquoted(data[key.start : key.stop])
        inside.append(Field("name", Kind.NAME, (Span(span.start, span.start + key.stop),), visible(name)))
        scanner.expect(COLON, "after a key")
        scanner.space()
        for inner in scanner.pairs():
            word = unquoted(data[inner.start : inner.stop])
            value = scanner.value()
            text = data[value.start : value.stop]
            if len(inside) < _MAX_FIELDS_PER_ENTRY:
                numbers[word] = int(text) if text.isdigit() and len(text) <= 20 else None
                place = Span(span.start + value.start, span.start + value.stop)
                inside.append(_number(word, place, text, numbers))
        scanner.space()
        if scanner.at < len(data) and data[scanner.at] == COMMA:
            scanner.at += 1
            scanner.space()
    except Malformed as problem:
        scanner.at = min(scanner.at, problem.at)
    if scanner.at < len(data):
        unread = Span(span.start + scanner.at, span.stop)
        inside.append(Field("not read", Kind.GARBAGE, (unread,), note="This part of the entry could not be parsed."))
    start, stop = numbers.get(b"start_byte"), numbers.get(b"end_byte")
    note = "" if start is None or stop is None else f"{in_bytes(max(0, stop - start))} from byte {grouped(start)} on."
    children = tile(inside, (span,), Kind.SYNTAX)
    label = f"entry {visible(name)}"
    return Field("entry", INDEX_ENTRY, (span,), visible(name), note, children, member=member, label=label)


def _number(word: bytes, span: Span, text: bytes, numbers: dict[bytes, int | None]) -> Field:
    number, start = numbers[word], numbers.get(b"start_byte")
    shown = visible(text[:_MAX_SHOWN_BYTES])
    if word not in (b"start_byte", b"end_byte"):
        return Field(visible(word), Kind.TEXT, (span,), shown)
    if number is None:
        return Field(word.decode(), Kind.OFFSET, (span,), shown, "Not a byte offset.")
    note = f"The data begins at byte {grouped(number)} ({hexadecimal(number)})."
    if word == b"end_byte":
        note = "exclusive" if start is None or number < start else f"exclusive: {in_bytes(number - start)}"
    return Field(word.decode(), Kind.OFFSET, (span,), number, note)


_READ_BYTES = (4 << 10, 1 << 20)
"""Bytes of an entry that are read: a few first, more if those were too few."""


class EntrySpans:
    """Where index entries have their names and numbers; an entry is read only when its spans are asked for."""

    def __init__(self, source: Source, index: Span, members: Members) -> None:
        assert members.heads is not None
        self._source = source
        self._index = index
        self._heads = members.heads

    def of(self, member: int, name: str) -> Spans:
        """The ``name`` with its quotes, ``start_byte`` or ``end_byte``; several spans if the key is repeated."""
        start = self._heads[member]
        for most in _READ_BYTES:
            data = self._source.read(start, min(most, self._index.stop - start))
            children = entry_field(data, Span(start, start + len(data)), member).children
            own = (each for each in children if each.name == name and each.kind in (Kind.NAME, Kind.OFFSET))
            if found := tuple(each.spans[0] for each in own):
                return found
        return (Span(start, start),)
