"""ZIP records as fields: APPNOTE.TXT 4.3. Made when they are looked at, from the bytes of the file."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from inspector.core.field import Field, FieldTable, Unread, parent
from inspector.core.kinds import Kind, Role, role_bit
from inspector.core.layout import Part, fields_of
from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.core.source import Source, is_sparing
from inspector.core.span import Span
from inspector.formats._extents import GAP, Rows
from inspector.formats._zip.descriptors import FORMS
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.eocd import Ending
from inspector.formats._zip.extra import extra_field
from inspector.formats._zip.names import name_note
from inspector.formats._zip.records import (
    CENTRAL_PARTS,
    CENTRAL_SIZE,
    END_PARTS,
    END_SIZE,
    FULL_32,
    LOCAL_PARTS,
    LOCAL_SIZE,
    ZIP64_END_PARTS,
    ZIP64_END_SIZE,
    ZIP64_LOCATOR_PARTS,
    descriptor_parts,
)
from inspector.formats._zip.scan import read_local

_GAP_ROLES = role_bit(Role.GAP)
_MEMBER_ROLES = sum(role_bit(role) for role in (Role.HEADER, Role.DIGEST, Role.EXTENT, Role.NAME, Role.DATA))
_DIRECTORY_ROLES = sum(role_bit(role) for role in (Role.DIRECTORY, Role.DIGEST, Role.EXTENT, Role.NAME))


@dataclass(frozen=True, slots=True)
class Lead:
    """What a format that is ZIP and more says of the member at the start of the file.

    ``parts`` are its words for the local header, ``file_name`` for the name in it; ``content`` makes the field of its
    data from their span and the member's number.
    """

    parts: tuple[Part, ...]
    file_name: str
    content: Callable[[Span, int], Field]


_PLAIN = Lead(LOCAL_PARTS, "file name", lambda span, member: Field("file data", Kind.DATA, (span,), member=member))


def local_header(source: Source, span: Span, lead: Lead, member: int | None) -> Field:
    """The local file header ``span`` (name and extra field included)."""
    data = source.read(span.start, span.size)
    children, values = fields_of(lead.parts, data[:LOCAL_SIZE], span.start)
    flags, stored, size, name_size = (_number(values, lead.parts[i].name) for i in (2, 7, 8, 9))
    at = LOCAL_SIZE
    if data[at : at + name_size]:
        children.append(_name(lead.file_name, data[at : at + name_size], span.start + at, flags))
    if data[at + name_size :]:
        placeholders = (size == FULL_32, stored == FULL_32, False)
        children.append(extra_field(data[at + name_size :], span.start + at + name_size, placeholders, local=True))
    return parent(
        "local file header", Kind.LOCAL_HEADER, (span,), children, specification="APPNOTE 4.3.7", member=member
    )


def _number(values: Mapping[str, object], name: str) -> int:
    value = values.get(name)
    return value if isinstance(value, int) else 0


def _name(word: str, name: bytes, start: int, flags: int) -> Field:
    return Field(word, Kind.NAME, (Span(start, start + len(name)),), visible(name), name_note(name, flags))


def _data_descriptor(source: Source, span: Span) -> Field:
    children, _ = fields_of(descriptor_parts(span.size), source.read(span.start, span.size), span.start)
    note = FORMS.get(span.size, "")
    return parent("data descriptor", Kind.DATA_DESCRIPTOR, (span,), children, note=note, specification="APPNOTE 4.3.9")


class MemberRows:
    """Makes the field of each row before the central directory."""

    def __init__(self, source: Source, directory: Directory, rows: Rows, lead: Lead | None) -> None:
        self.source = source
        self.directory = directory
        self.rows = rows
        self.lead = lead

    def table(self) -> FieldTable:
        """All rows, lazily."""
        roles: int | array[int] = _MEMBER_ROLES
        if len(self.rows.gaps):
            roles = array("H", (_GAP_ROLES if owner == GAP else _MEMBER_ROLES for owner in self.rows.owners))
        return FieldTable(self.rows.starts, self.make, roles)

    def make(self, row: int) -> Field:
        """The field of one row."""
        span = Span(self.rows.starts[row], self.rows.row_stop(row))
        owner = self.rows.owners[row]
        if owner == GAP:
            return Field("gap", Kind.GAP, (span,), note="Bytes that no structure of the archive claims.")
        if owner >= len(self.directory.members):
            return self._orphan(span)
        return self._member(owner, span)

    def _member(self, index: int, span: Span) -> Field:
        members = self.directory.members
        member = members[index]
        data = Span(members.starts[index], members.stops[index])
        lead = self.lead if self.lead is not None and member.head == 0 else _PLAIN
        children = [self._header(Span(member.head, data.start), lead, index)]
        if data.size:
            children.append(lead.content(data, index))
        if self.directory.descriptors[index]:
            children.append(
                _data_descriptor(self.source, Span(data.stop, data.stop + self.directory.descriptors[index]))
            )
        note = f"{member.codec}, {in_bytes(member.size)}"
        return parent("local file", Kind.MEMBER, (span,), children, value=visible(member.path), note=note, member=index)

    def _header(self, span: Span, lead: Lead, index: int) -> Field:
        if not is_sparing(self.source):
            return local_header(self.source, span, lead, index)
        children = Unread(lambda: local_header(self.source, span, lead, index).children)
        return Field(
            "local file header",
            Kind.LOCAL_HEADER,
            (span,),
            children=children,
            specification="APPNOTE 4.3.7",
            member=index,
        )

    def _orphan(self, span: Span) -> Field:
        found = read_local(self.source, span.start)
        if found is None:
            return Field("gap", Kind.GAP, (span,))
        begin = span.start + LOCAL_SIZE + len(found[1]) + len(found[2])
        children = [
            local_header(self.source, Span(span.start, begin), _PLAIN, None),
            Field("file data", Kind.DATA, (Span(begin, max(begin, span.stop)),)),
        ]
        note = "Not in the central directory."
        return parent("local file", Kind.MEMBER, (span,), children, value=visible(found[1]), note=note)


def central_directory(source: Source, span: Span, directory: Directory) -> Field:
    """The central directory: a header for each member, and what follows the last that makes sense."""
    central, stop = directory.central, directory.stop
    starts = central[:]
    if stop < span.stop and central:
        starts.append(stop)

    def make(row: int) -> Field:
        end = starts[row + 1] if row + 1 < len(starts) else span.stop
        here = Span(starts[row], end)
        if row == len(central):
            if directory.capped:
                return Field("not listed", Kind.BYTES, (here,), note="Headers of members that are not listed.")
            return Field("garbage", Kind.GARBAGE, (here,), note="No whole central directory header.")
        return _central_header(source, here, row if directory.ending is not None else None)

    roles = _DIRECTORY_ROLES | (role_bit(Role.GARBAGE) if stop < span.stop else 0)
    children = FieldTable(starts, make, roles) if central else ()
    return Field(
        "central directory",
        Kind.CENTRAL_DIRECTORY,
        (span,),
        len(central),
        count(len(central), "header"),
        children,
        specification="APPNOTE 4.3.12",
    )


def _central_header(source: Source, span: Span, member: int | None) -> Field:
    data = source.read(span.start, span.size)
    children, values = fields_of(CENTRAL_PARTS, data[:CENTRAL_SIZE], span.start)
    words = ("general purpose bit flag", "compressed size", "uncompressed size", "file name length")
    flags, stored, size, name_size = (_number(values, word) for word in words)
    extra_size = _number(values, "extra field length")
    at = CENTRAL_SIZE
    name, extra, comment = (
        data[at : at + name_size],
        data[at + name_size : at + name_size + extra_size],
        data[at + name_size + extra_size :],
    )
    if name:
        children.append(_name("file name", name, span.start + at, flags))
    if extra:
        offset = _number(values, "relative offset of local header")
        placeholders = (size == FULL_32, stored == FULL_32, offset == FULL_32)
        children.append(extra_field(extra, span.start + at + name_size, placeholders, local=False))
    if comment:
        start = span.start + len(data) - len(comment)
        children.append(Field("file comment", Kind.TEXT, (Span(start, span.stop),), visible(comment)))
    return parent(
        "central directory header", Kind.CENTRAL_HEADER, (span,), children, value=visible(name), member=member
    )


def end_fields(source: Source, ending: Ending) -> list[Field]:
    """The ZIP64 records and the end of central directory record, comment included."""
    found = []
    if ending.zip64 is not None:
        children, _ = fields_of(ZIP64_END_PARTS, source.read(ending.zip64.start, ZIP64_END_SIZE), ending.zip64.start)
        rest = Span(ending.zip64.start + ZIP64_END_SIZE, ending.zip64.stop)
        if rest.size > 0:
            children.append(Field("zip64 extensible data sector", Kind.BYTES, (rest,)))
        found.append(
            parent(str(Kind.ZIP64_END), Kind.ZIP64_END, (ending.zip64,), children, specification="APPNOTE 4.3.14")
        )
    if ending.locator is not None:
        data = source.read(ending.locator.start, ending.locator.size)
        children, _ = fields_of(ZIP64_LOCATOR_PARTS, data, ending.locator.start)
        kind = Kind.ZIP64_LOCATOR
        found.append(parent(str(kind), kind, (ending.locator,), children, specification="APPNOTE 4.3.15"))
    return [*found, end_record(source, ending.record.start)]


def end_record(source: Source, start: int) -> Field:
    """The end of central directory record at ``start``, as far as it is there."""
    data = source.read(start, END_SIZE)
    data += source.read(start + END_SIZE, int.from_bytes(data[END_SIZE - 2 :], "little"))
    span = Span(start, start + len(data))
    children, _ = fields_of(END_PARTS, data[:END_SIZE], start)
    comment = data[END_SIZE:]
    if comment:
        place = Span(span.start + END_SIZE, span.stop)
        children.append(Field(".ZIP file comment", Kind.TEXT, (place,), visible(comment)))
    kind = Kind.END_OF_DIRECTORY
    return parent(str(kind), kind, (span,), children, specification="APPNOTE 4.3.16")
