"""The fields of a tar: members (made on access), extended headers, and header blocks with all their parts.

The names of the parts are from POSIX.1-2017, pax, ustar Interchange Format, and GNU tar, Basic Tar Format.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial

from inspector.core.field import Census, Field, FieldTable, Unread, Value, parent
from inspector.core.kinds import Family, Kind, Role, family_bit, role_bit
from inspector.core.member import Members
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.source import Source, is_sparing
from inspector.core.span import Span, subtract
from inspector.formats._kinds import DATA_SECTION, TAR_EXTENSION, TAR_HEADER
from inspector.formats._signatures import with_inside
from inspector.formats._tar import header as heads
from inspector.formats._tar.extension import MAX_BODY_BYTES, pax_records
from inspector.formats._tar.header import BLOCK, Header, aligned, checksums, number, padded_stop, parse, text
from inspector.formats._tar.resync import Layout

SPECIFICATION = "POSIX.1-2017, pax, ustar Interchange Format"
MAX_RECORD_FIELDS = 1000
"""PAX records of one header that become fields."""
MAX_STRAY_FIELDS = 1000
"""Places between members that become a field each; more of one kind share a field."""
_ROLES = (
    role_bit(Role.HEADER)
    | role_bit(Role.NAME)
    | role_bit(Role.EXTENT)
    | role_bit(Role.DIGEST)
    | role_bit(Role.DATA)
    | role_bit(Role.PADDING)
    | family_bit(Family.HEADER)
    | family_bit(Family.CONTENT)
    | family_bit(Family.PADDING)
)
Extras = Callable[[int], Iterable[Field]]
"""Makes further fields of a member, without spans, from metadata outside the archive."""


def no_extras(_member: int) -> Iterable[Field]:
    """For a tar without such metadata."""
    return ()


def archive_fields(source: Source, members: Members, layout: Layout, extras: Extras) -> Iterator[Field]:
    """The top-level fields: the members, and the bytes between and after them."""
    if len(members) and members.heads is not None:
        end = min(source.size, padded_stop(members, len(members) - 1))
        make = partial(member_field, source, members, extras=extras)
        table = FieldTable(members.heads, make, _ROLES, partial(_count, members))
        yield Field(
            "members",
            DATA_SECTION,
            tuple(subtract([Span(0, end)], [each.span for each in layout.strays])),
            len(members),
            "Each member is a header block, its data, and padding to a multiple of 512 bytes.",
            table,
            specification=SPECIFICATION,
        )
    for stray in layout.strays[:MAX_STRAY_FIELDS]:
        children: Sequence[Field] = ()
        if stray.kind is TAR_EXTENSION:
            children = _stray_headers(source, layout, stray.span)
        yield Field(stray.name, stray.kind, (stray.span,), note=stray.note, children=children)
    others: dict[tuple[str, Kind], list[Span]] = {}
    for stray in layout.strays[MAX_STRAY_FIELDS:]:
        others.setdefault((stray.name, stray.kind), []).append(stray.span)
    for (name, kind), spans in others.items():
        yield Field(name, kind, tuple(spans), note=f"{len(spans):,} places, too many to show one by one.")


def _stray_headers(source: Source, layout: Layout, span: Span) -> FieldTable:
    """The extended headers in ``span``, made on access: there may be as many as the archive has blocks."""
    first, last = bisect_left(layout.headers, span.start), bisect_left(layout.headers, span.stop)
    starts = layout.headers[first:last] or array("Q", (span.start,))
    starts[0] = span.start

    def make(row: int) -> Field:
        whole = Span(starts[row], starts[row + 1] if row + 1 < len(starts) else span.stop)
        made = parent("", TAR_EXTENSION, (whole,), _headers(source, *whole)).children
        return made[0] if len(made) == 1 else Field("extended header", TAR_EXTENSION, (whole,), children=made)

    return FieldTable(starts, make, _ROLES, lambda: Census({(TAR_EXTENSION, False): len(starts)}))


def _count(members: Members) -> Census:
    """The structures of all members; several extended headers of one count as one."""
    known = list(zip(members.heads or (), members.starts, members.stops, strict=False))
    found = {
        TAR_EXTENSION: sum(start - head > BLOCK for head, start, _ in known),
        TAR_HEADER: len(known),
        Kind.DATA: sum(stop > start for _, start, stop in known),
        Kind.PADDING: sum((stop - start) % BLOCK > 0 for _, start, stop in known),
    }
    return +Census({(kind, False): number for kind, number in found.items()})


def member_field(source: Source, members: Members, index: int, extras: Extras) -> Field:
    """One member: its extended headers, header, data and padding."""
    if not is_sparing(source):
        return _member_field(source, members, index, extras)
    return Field(
        visible(members.path(index)),
        Kind.MEMBER,
        (Span(members.head_of(index), min(source.size, padded_stop(members, index))),),
        note="Its header was not read yet." if members.unread(index) else in_bytes(members.size(index)),
        children=Unread(lambda: _member_field(source, members, index, extras).children),
        member=index,
    )


def _member_field(source: Source, members: Members, index: int, extras: Extras) -> Field:
    members.learn((index,))
    head, start, stop = members.head_of(index), members.starts[index], members.stops[index]
    end = min(source.size, padded_stop(members, index))
    children = list(_headers(source, head, min(start, end)))
    if stop > start:
        data = Field("data", Kind.DATA, (Span(start, min(stop, end)),), member=index)
        is_sparse = members.size(index) != members.stored(index)
        children.append(data if is_sparse else with_inside(data, source, visible(members.path(index))))
    if end > stop:
        zero = not source.read(stop, end - stop).strip(b"\0")
        note = "Zeros up to a multiple of 512 bytes." if zero else "Padding that should be all zeros, but is not."
        children.append(Field("padding", Kind.PADDING, (Span(stop, end),), note=note))
    children += extras(index)
    return parent(
        visible(members.path(index)),
        Kind.MEMBER,
        (Span(head, end),),
        children,
        note=in_bytes(members.size(index)),
        member=index,
    )


def _headers(source: Source, at: int, stop: int) -> Iterator[Field]:
    """Yield the header blocks and extended headers in ``[at, stop)``."""
    while at < stop:
        block = source.read(at, BLOCK)
        found = parse(block) if len(block) == BLOCK else None
        if found is None:
            return
        if found.typeflag in heads.EXTENSIONS:
            end = min(stop, at + BLOCK + aligned(found.stored))
            yield _extension(source, at, end, block, found)
        else:
            end = at + BLOCK
            yield header_field(block, at)
            if found.typeflag == heads.SPARSE and end < stop:
                yield Field("sparse map", TAR_EXTENSION, (Span(end, stop),), note="The rest of the map of the holes.")
                end = stop
        at = end


def _extension(source: Source, at: int, end: int, block: bytes, found: Header) -> Field:
    start, stop = at + BLOCK, min(end, at + BLOCK + found.stored)
    body = source.read(start, min(stop - start, MAX_BODY_BYTES))
    children = [header_field(block, at)]
    if found.typeflag in (heads.GNU_NAME, heads.GNU_LINK):
        children.append(Field("data", Kind.NAME, (Span(start, stop),), visible(text(body))))
    else:
        last = start
        for position, record in enumerate(pax_records(body)):
            if position == MAX_RECORD_FIELDS:
                break
            kind = Kind.NAME if record.key in (b"path", b"linkpath", b"GNU.sparse.name") else Kind.TEXT
            last = start + record.stop
            children.append(
                Field(visible(record.key), kind, (Span(start + record.start, last),), visible(record.value))
            )
        if last < stop:
            children.append(Field("data", Kind.BYTES, (Span(last, stop),), note="Not well-formed records."))
    if stop < end:
        children.append(Field("padding", Kind.PADDING, (Span(stop, end),)))
    meaning = heads.TYPES[found.typeflag]
    return parent("extended header", TAR_EXTENSION, (Span(at, end),), children, note=meaning)


Meaning = tuple[Value, str, str]
"""The value of a part, its text in the block, and its meaning."""


def _text(piece: bytes) -> Meaning:
    return visible(text(piece)), "", ""


def _number(meaning: Callable[[int], str] = lambda _: "", *, says_base: bool = True) -> Callable[[bytes], Meaning]:
    """Reads a number, and says what it means; of one in base 256 that instead, if it ``says_base``."""

    def read(piece: bytes) -> Meaning:
        value, shown = number(piece), visible(text(piece).strip(b" "))
        if value is None:
            return value, shown, "Not an octal number."
        if piece[:1] < b"\x80":
            return value, shown, meaning(value)
        return value, f"0x{piece.hex()}", f"{value:,}, in base 256" if says_base else meaning(value)

    return read


def _moment(seconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):
        return "A time that is no date."


def _permissions(bits: int) -> str:
    return "".join(letter if bits >> (8 - place) & 1 else "-" for place, letter in enumerate("rwxrwxrwx"))


_octal, _size, _id = _number(), _number(in_bytes, says_base=False), _number(str)
_time, _mode = _number(_moment, says_base=False), _number(_permissions)


def _type(piece: bytes) -> Meaning:
    return visible(piece), "", heads.TYPES.get(piece, "Unknown type.").capitalize()


def _bytes(piece: bytes) -> Meaning:
    return None, "", "" if piece.strip(b"\0") else "Zeros."


Part = tuple[str, int, Kind, Callable[[bytes], Meaning]]
_READ: dict[str, tuple[Kind, Callable[[bytes], Meaning]]] = {
    "name": (Kind.NAME, _text),
    "mode": (Kind.NUMBER, _mode),
    "uid": (Kind.NUMBER, _id),
    "gid": (Kind.NUMBER, _id),
    "size": (Kind.LENGTH, _size),
    "mtime": (Kind.TIME, _time),
    "chksum": (Kind.DIGEST, _octal),
    "typeflag": (Kind.FLAGS, _type),
    "linkname": (Kind.NAME, _text),
    "magic": (Kind.SIGNATURE, _text),
    "version": (Kind.TEXT, _text),
    "uname": (Kind.TEXT, _text),
    "gname": (Kind.TEXT, _text),
    "devmajor": (Kind.NUMBER, _id),
    "devminor": (Kind.NUMBER, _id),
    "prefix": (Kind.NAME, _text),
    "padding": (Kind.PADDING, _bytes),
}
_USTAR: tuple[Part, ...] = tuple((name, size, *_READ[name]) for name, size in heads.SIZES.items())
_GNU: tuple[Part, ...] = (
    *_USTAR[:-2],
    ("atime", 12, Kind.TIME, _time),
    ("ctime", 12, Kind.TIME, _time),
    ("offset", 12, Kind.OFFSET, _octal),
    ("longnames", 4, Kind.BYTES, _bytes),
    ("unused", 1, Kind.PADDING, _bytes),
    ("sparse", 96, Kind.BYTES, _bytes),
    ("isextended", 1, Kind.FLAGS, _bytes),
    ("realsize", 12, Kind.LENGTH, _octal),
    ("padding", 17, Kind.PADDING, _bytes),
)
_V7: tuple[Part, ...] = (*_USTAR[:9], ("padding", 255, Kind.PADDING, _bytes))


def header_field(block: bytes, start: int) -> Field:
    """A complete header block at ``start``, part by part, in the dialect that its magic names."""
    found = parse(block)
    parts, dialect = (_GNU, "GNU") if found.gnu else (_USTAR, "ustar") if found.ustar else (_V7, "V7")
    children = []
    at = 0
    for name, size, kind, read in parts:
        value, shown, note = read(block[at : at + size])
        if name == "chksum":
            sums = checksums(block)
            note = "Matches." if found.fits else f"Does not match: the sum of the block is {sums[0]:06o} (octal)."
        children.append(Field(name, kind, (Span(start + at, start + at + size),), value, note, text=shown))
        at += size
    span = Span(start, start + BLOCK)
    return parent("header", TAR_HEADER, (span,), children, note=dialect, label="tar header")
