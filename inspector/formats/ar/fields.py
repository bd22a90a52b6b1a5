"""The fields of an ar archive: what has a header, made on access, and the tables for linkers and of long names."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal

from msgspec import Struct

from inspector.core.field import Census, Field, FieldTable, Unread, parent, tile
from inspector.core.kinds import Family, Kind, Role, role_set
from inspector.core.member import Members
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.source import Source
from inspector.core.span import Span, united
from inspector.formats._compressed import with_inside
from inspector.formats._kinds import DATA_SECTION
from inspector.formats.ar.layout import AR_HEADER, GLOBAL_HEADER, HEADER, MAGIC, NAME_TABLE, SPECIFICATION, SYMBOL_TABLE

MAX_TABLE_BYTES = 4 << 20
"""A larger table of names is one field."""
OFFSETS_AT_ONCE = 1 << 16
_TABLES = (SYMBOL_TABLE, NAME_TABLE)
_HEADER = role_set(Role.HEADER, Role.NAME, Role.EXTENT, Family.HEADER)
_MEMBER = _HEADER | role_set(Role.DATA, Role.PADDING, Family.CONTENT, Family.PADDING)
_TABLE = _HEADER | role_set(Role.DIRECTORY, Role.PADDING, Family.INDEX)
_SYMBOL = role_set(Role.DIRECTORY, Role.EXTENT, Family.INDEX)


class Entries:
    """``Archive.detail``: everything with a header in file order, in columns: members and tables."""

    def __init__(self) -> None:
        self.heads, self.starts, self.stops, self.ends = array("Q"), array("Q"), array("Q"), array("Q")
        self.kinds = bytearray()  # 0 for a member, else one more than the position in _TABLES
        self.numbers = array("Q")  # members before it
        self.strays: list[Span] = []  # what is behind no header

    def append(self, head: int, start: int, stop: int, end: int, table: Kind | None) -> None:
        """Data ``[start, stop)`` behind a header at ``head``, padded up to ``end``."""
        self.numbers.append(self.numbers[-1] + (not self.kinds[-1]) if self.kinds else 0)
        self.kinds.append(0 if table is None else 1 + _TABLES.index(table))
        self.heads.append(head)
        self.starts.append(min(start, end))
        self.stops.append(min(max(start, stop), end))
        self.ends.append(end)

    def tables(self, kind: Kind) -> Iterator[tuple[int, int, int]]:
        """Header, start and stop of the tables of a kind."""
        wanted, at = 1 + _TABLES.index(kind), -1
        while (at := self.kinds.find(wanted, at + 1)) >= 0:
            yield self.heads[at], self.starts[at], self.stops[at]

    def census(self) -> Census:
        """How many structures there are of each kind."""
        found = Census({(AR_HEADER, False): len(self.heads)})
        for number, table in enumerate(_TABLES, 1):
            found[table, False] = self.kinds.count(number)
        for start, stop, end, kind in zip(self.starts, self.stops, self.ends, self.kinds, strict=True):
            found[Kind.DATA, False] += stop > start and not kind
            found[Kind.PADDING, False] += end > stop and not kind
        return +found


def archive_fields(source: Source, members: Members, entries: Entries) -> Iterator[Field]:
    """The top-level fields: the first bytes, and everything with a header."""
    first = Span(0, min(len(MAGIC), source.size))
    yield Field("global header", GLOBAL_HEADER, (first,), visible(source.read(*first)))
    if len(entries.heads):
        roles = array("Q", (_TABLE if kind else _MEMBER for kind in entries.kinds))
        table = FieldTable(entries.heads, partial(_entry, source, members, entries), roles, entries.census)
        runs = united([Span(*pair) for pair in zip(entries.heads, entries.ends, strict=True)])
        note = "Each is a header, its data, and a line feed where their size is odd."
        yield Field("members", DATA_SECTION, tuple(runs), len(members), note, table, specification=SPECIFICATION)
    yield from (
        Field("stray bytes", Kind.GARBAGE, (span,), note="No header is before them.") for span in entries.strays
    )


def _entry(source: Source, members: Members, entries: Entries, row: int) -> Field:
    head, start, stop, end = entries.heads[row], entries.starts[row], entries.stops[row], entries.ends[row]
    kind = entries.kinds[row]
    member = None if kind else entries.numbers[row]
    name = str(_TABLES[kind - 1]) if kind else visible(members.path(entries.numbers[row]))
    data = source.read(head, HEADER.size)
    rest: list[tuple[int, Callable[[int], Field]]] = []
    if start > head + HEADER.size:
        rest.append((start - head - HEADER.size, lambda at: _bsd_name(source, Span(at, start))))
    spans = (Span(head, min(start, end)),)
    children: Sequence[Field]
    if len(data) == HEADER.size and start <= end:
        children = HEADER.placed(data, head, rest)
    else:
        children = tile([*HEADER.fields(data, head), *(make(head + HEADER.size) for _, make in rest)], spans)
    inside = [Field("header", AR_HEADER, spans, name, children=children, label="ar header")]
    if kind and stop > start:
        inside += _table(source, members, entries, _TABLES[kind - 1], Span(start, stop), head)
    elif stop > start:
        inside.append(with_inside(Field("data", Kind.DATA, (Span(start, stop),), member=member), source, name))
    if end > stop:
        inside.append(Field("padding", Kind.PADDING, (Span(stop, end),)))
    return parent(name, _TABLES[kind - 1] if kind else Kind.MEMBER, (Span(head, end),), inside, member=member)


def _bsd_name(source: Source, span: Span) -> Field:
    written = visible(source.read(span.start, min(span.size, _MAX_NAME_BYTES)).rstrip(b"\0"))
    return Field("name", Kind.NAME, (span,), written)


_MAX_NAME_BYTES = 4096
"""Bytes of a name after a header that are shown as its value."""


# ---- tables --------------------------------------------------------------------------------------------------------


class Symbols(Struct, frozen=True):
    """The offsets in a symbol table: ``number`` at every ``step`` bytes from ``first``, of ``width`` bytes each."""

    first: int
    step: int
    number: int
    width: int
    order: Literal["little", "big"]
    names: Span

    def offsets(self, source: Source) -> Iterator[tuple[int, int]]:
        """The place of every offset, and the offset."""
        for start in range(0, self.number, OFFSETS_AT_ONCE):
            place = self.first + start * self.step
            data = source.read(place, min(OFFSETS_AT_ONCE, self.number - start) * self.step)
            for at in range(0, len(data), self.step):
                yield place + at, int.from_bytes(data[at : at + self.width], self.order)


def symbols_of(source: Source, head: int, start: int, stop: int) -> Symbols | None:
    """Where the symbol table with a header at ``head`` and data ``[start, stop)`` has what; None if it cannot be.

    GNU: a number of offsets, the offsets, the names, all numbers big-endian, of 8 bytes in one called ``/SYM64/``. BSD:
    the size of pairs, the pairs of an offset in the names and one in the archive, the size of the names, the names.
    """
    name = source.read(head, 16)
    if name.startswith(b"/"):
        width = 8 if name.startswith(b"/SYM64/") else 4
        number = int.from_bytes(source.read(start, width), "big")
        first = start + width
        names = first + number * width
        return Symbols(first, width, number, width, "big", Span(names, stop)) if names <= stop else None
    size = int.from_bytes(source.read(start, 4), "little")
    names = start + 4 + size + 4
    if size % 8 or names > stop:
        return None
    return Symbols(start + 8, 8, size // 8, 4, "little", Span(names, stop))


def _table(source: Source, members: Members, entries: Entries, kind: Kind, data: Span, head: int) -> Iterator[Field]:
    if kind is NAME_TABLE:
        yield from _names(source, data, Kind.NAME, b"\n")
        return
    symbols = symbols_of(source, head, *data)
    if symbols is None:
        yield Field("data", Kind.BYTES, (data,), note="Its numbers do not fit its size.")
        return
    is_bsd = symbols.step != symbols.width
    rows = symbols.first - (4 if is_bsd else 0)
    stop = rows + symbols.number * symbols.step
    what = ("size of the pairs", Kind.LENGTH) if is_bsd else ("number of symbols", Kind.NUMBER)
    yield _number(source, *what, Span(data.start, rows), symbols)
    if symbols.number:
        make = partial(_symbol, source, members, entries, symbols, rows)
        table = FieldTable(range(rows, stop, symbols.step), make, _SYMBOL)
        yield Field("offsets", SYMBOL_TABLE, (Span(rows, stop),), symbols.number, children=table)
    if is_bsd:
        yield _number(source, "size of the names", Kind.LENGTH, Span(stop, symbols.names.start), symbols)
    yield from _names(source, symbols.names, Kind.TEXT, b"\0")


def _number(source: Source, name: str, kind: Kind, span: Span, symbols: Symbols) -> Field:
    return Field(name, kind, (span,), int.from_bytes(source.read(span.start, span.size), symbols.order))


def _symbol(source: Source, members: Members, entries: Entries, symbols: Symbols, rows: int, row: int) -> Field:
    place = symbols.first + row * symbols.step
    span = Span(place, place + symbols.width)
    offset = int.from_bytes(source.read(place, symbols.width), symbols.order)
    at = bisect_left(entries.heads, offset)
    is_there = at < len(entries.heads) and entries.heads[at] == offset and not entries.kinds[at]
    member = entries.numbers[at] if is_there else None
    note = f"The header of {visible(members.path(member))}." if member is not None else "No header begins there."
    leads = Field("offset", Kind.OFFSET, (span,), offset, note, member=member)
    start = rows + row * symbols.step
    if start == place:
        return leads
    string = _number(source, "offset in the names", Kind.NUMBER, Span(start, place), symbols)
    return parent("pair", Kind.BYTES, (Span(start, span.stop),), (string, leads), member=member)


def _names(source: Source, span: Span, kind: Kind, end: bytes) -> Iterator[Field]:
    """A list of names, each with the byte that ends it."""
    if not span.size:
        return
    if span.size > MAX_TABLE_BYTES:
        yield Field("names", kind, (span,), note=f"{in_bytes(span.size)}, too many to show one by one.")
        return

    def make() -> tuple[Field, ...]:
        found, at = [], span.start
        for name in source.read(span.start, span.size).split(end):
            stop = min(at + len(name) + 1, span.stop)
            if stop > at:
                shown = visible(name.removesuffix(b"/") if kind is Kind.NAME else name)
                found.append(Field("name", kind, (Span(at, stop),), shown))
            at = stop
        return tuple(found)

    yield Field("names", kind, (span,), children=Unread(make))
