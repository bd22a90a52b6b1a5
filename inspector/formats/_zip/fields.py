"""The fields of a ZIP archive (APPNOTE.TXT 4.3), made on access; and which bytes belong to which member.

Members may overlap: which of them the bytes belong to is unknown, and some archives are made so on purpose to expand
without limit. So all members involved are marked and reported, not only the later one.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import islice
from operator import add

from msgspec import Struct

from inspector.core.archive import Emitter
from inspector.core.field import Census, Field, FieldTable, Unread, census, parent
from inspector.core.kinds import Family, Kind, Role, family_bit, role_bit
from inspector.core.layout import Part, fields_of
from inspector.core.limits import BOUNDS
from inspector.core.member import SHARED, UNREADABLE, Codec
from inspector.core.names import brief, visible
from inspector.core.numbers import count, in_bytes, verb
from inspector.core.source import Source, Stored, is_sparing
from inspector.core.span import Span
from inspector.formats._extents import GAP, Rows, lay_out, shared_extents
from inspector.formats._kinds import (
    CENTRAL_DIRECTORY,
    CENTRAL_HEADER,
    DATA_DESCRIPTOR,
    END_OF_DIRECTORY,
    LOCAL_HEADER,
    SIGNATURE_BLOCK,
    ZIP64_END,
    ZIP64_LOCATOR,
)
from inspector.formats._signatures import with_inside, zstd_inside
from inspector.formats._zip import codes
from inspector.formats._zip.directory import Directory, is_split
from inspector.formats._zip.eocd import Eocd
from inspector.formats._zip.extra import extra_field
from inspector.formats._zip.members import name_note
from inspector.formats._zip.records import (
    CENTRAL_PARTS,
    CENTRAL_STRUCT,
    END_PARTS,
    END_SIZE,
    FORMS,
    FULL_32,
    LOCAL_PARTS,
    LOCAL_SIZE,
    LOCAL_STRUCT,
    SIGNATURE,
    ZIP64_END_PARTS,
    ZIP64_LOCATOR_PARTS,
    LocalFile,
    descriptor_parts,
    read_local,
)

_GAP_ROLES = role_bit(Role.GAP)
_MEMBER_ROLES = sum(role_bit(role) for role in (Role.HEADER, Role.DIGEST, Role.EXTENT, Role.NAME, Role.DATA))
_MEMBER_ROLES |= family_bit(Family.HEADER) | family_bit(Family.CONTENT)
_DIRECTORY_ROLES = sum(role_bit(role) for role in (Role.DIRECTORY, Role.DIGEST, Role.EXTENT, Role.NAME))
_DIRECTORY_ROLES |= family_bit(Family.INDEX)


class FirstMember(Struct, frozen=True):
    """How a format based on ZIP shows the member at the start of the file.

    ``parts`` are those of its local header and ``file_name`` is what the field of its name is called, in the terms of
    that format; ``content`` makes the field of its data from the span and the member's index, with structures of these
    ``families`` and roles beside those of a member (a set, see ``role_set``).
    """

    parts: tuple[Part, ...]
    file_name: str
    content: Callable[[Span, int], Field]
    families: int = 0


_LOCAL_NAME = "local file header"
_LOCAL_LABEL = "local header"
_ELSEWHERE = "Other members claim these bytes too and show them."
_CONTENT_LABEL = "content"
_PLAIN = FirstMember(
    LOCAL_PARTS,
    "file name",
    lambda span, member: Field("file data", Kind.DATA, (span,), member=member, label=_CONTENT_LABEL),
)


def _header(source: Source, span: Span, member: int | None, shown_as: FirstMember | None) -> Field:
    """A header with its name, extra field and comment: a local one as ``shown_as`` says, a central one for None."""
    local, parts = shown_as is not None, shown_as.parts if shown_as is not None else CENTRAL_PARTS
    data, packed = source.read(span.start, span.size), LOCAL_STRUCT if local else CENTRAL_STRUCT
    size = packed.size
    numbers = packed.unpack(data[:size]) if len(data) >= size else (0,) * len(CENTRAL_PARTS)
    flags, _, _, _, _, stored, decoded, name_size, extra_size = numbers[2 if local else 3 :][:9]
    name, rest = data[size : size + name_size], data[size + name_size :]
    extra, comment = (rest, b"") if local else (rest[:extra_size], rest[extra_size:])
    children, at = fields_of(parts, data[:size], span.start), span.start + size
    if name:
        word, note = shown_as.file_name if shown_as is not None else "file name", name_note(name, flags)
        children.append(Field(word, Kind.NAME, (Span(at, at + len(name)),), visible(name), note))
        at += len(name)
    if extra:
        placeholders = (decoded == FULL_32, stored == FULL_32, not local and numbers[-1] == FULL_32)
        children.append(extra_field(extra, at, placeholders, local=local))
        at += len(extra)
    if comment:
        children.append(Field("file comment", Kind.TEXT, (Span(at, at + len(comment)),), visible(comment)))
    if local:
        where, label = "APPNOTE 4.3.7", _LOCAL_LABEL
        return parent(_LOCAL_NAME, LOCAL_HEADER, (span,), children, specification=where, member=member, label=label)
    called, shown = "central directory header", visible(name)
    label = f"central record, {shown}"
    return parent(called, CENTRAL_HEADER, (span,), children, value=shown, member=member, label=label)


class MemberRows:
    """Makes the field of each row before the central directory, as a FieldTable."""

    def __init__(self, source: Source, directory: Directory, rows: Rows, first_member: FirstMember | None) -> None:
        self.source = source
        self.directory = directory
        self.rows = rows
        self.first_member = first_member

    def table(self) -> FieldTable:
        """The table of all rows."""
        roles: int | array[int] = _MEMBER_ROLES
        if len(self.rows.gaps):
            roles = array("I", (_GAP_ROLES if owner == GAP else _MEMBER_ROLES for owner in self.rows.owners))
        if self.first_member is not None and self.first_member.families and len(self.rows.starts):
            roles = array("I", (_MEMBER_ROLES,)) * len(self.rows.starts) if isinstance(roles, int) else roles
            roles[0] |= self.first_member.families
        return FieldTable(self.rows.starts, self.make, roles, self._count)

    def _count(self) -> Census:
        """The structures of all rows; the first member, which may hold more, is looked into."""
        members, descriptors = self.directory.members, self.directory.descriptors
        first = 0 if self.first_member is not None and len(self.rows.starts) else -1
        found: Census = Counter()
        for row, owner in enumerate(self.rows.owners):
            if owner == GAP:
                found[Kind.GAP, False] += 1
            elif row == first or owner >= len(members):
                found += census((self.make(row),))
            else:
                found[LOCAL_HEADER, False] += 1
                found[Kind.DATA, False] += members.stops[owner] > members.starts[owner]
                found[DATA_DESCRIPTOR, False] += descriptors[owner] > 0
        return +found

    def make(self, row: int) -> Field:
        """The field of a row: a member, an orphan or a gap."""
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
        first_member = self.first_member if self.first_member is not None and member.head == 0 else _PLAIN
        # Of a header that other members claim too, only what is shown here is read: it may have 128 KiB.
        stop = min(data.start, max(span.stop, member.head + LOCAL_SIZE))
        header = Span(member.head, stop)
        if (header.start < span.start or span.stop < header.stop) and span.start >= self._shown_whole:
            children = [Field(_LOCAL_NAME, LOCAL_HEADER, (header,), note=_ELSEWHERE, member=index, label=_LOCAL_LABEL)]
        else:
            children = [self._header(header, first_member, index)]
        if data.size:
            content = first_member.content(data, index)
            if member.codec is Codec.ZSTD and not is_sparing(self.source):
                content = content._replace(inside=zstd_inside(Stored(self.source, *data)))
            elif member.codec is Codec.STORED:
                content = with_inside(content, self.source, visible(member.path))
            children.append(content)
        if self.directory.descriptors[index]:
            place = Span(data.stop, data.stop + self.directory.descriptors[index])
            parts = fields_of(descriptor_parts(place.size), self.source.read(place.start, place.size), place.start)
            note, where = FORMS.get(place.size, ""), "APPNOTE 4.3.9"
            children.append(parent("data descriptor", DATA_DESCRIPTOR, (place,), parts, note=note, specification=where))
        note = f"{member.codec}, {in_bytes(member.size)}"
        name = visible(member.path)
        return parent("local file", Kind.MEMBER, (span,), children, value=name, note=note, member=index, label=name)

    @cached_property
    def _shown_whole(self) -> int:
        """Where the rows begin in which a header is only named that does not own all of its bytes.

        Headers may lie in each other, each with 128 KiB to show; in file order they are shown while the budget lasts.
        """
        members, rows = self.directory.members, self.rows
        heads = self.directory.heads
        left = BOUNDS.budget_of_headers(self.source.size)
        for row, owner in enumerate(rows.owners):
            if owner == GAP or owner >= len(members):
                continue
            start, stop = rows.starts[row], rows.row_stop(row)
            head, end = heads[owner], min(members.starts[owner], max(stop, heads[owner] + LOCAL_SIZE))
            left -= end - head - max(0, min(end, stop) - max(head, start))
            if left < 0:
                return start
        return rows.stop

    def _header(self, span: Span, first_member: FirstMember, index: int) -> Field:
        if not is_sparing(self.source):
            return _header(self.source, span, index, first_member)
        children = Unread(lambda: _header(self.source, span, index, first_member).children)
        return Field(
            _LOCAL_NAME,
            LOCAL_HEADER,
            (span,),
            children=children,
            specification="APPNOTE 4.3.7",
            member=index,
            label=_LOCAL_LABEL,
        )

    def _orphan(self, span: Span) -> Field:
        found = read_local(self.source, span.start)
        if found is None:
            return Field("gap", Kind.GAP, (span,))
        begin = found.begin
        children = [
            _header(self.source, Span(span.start, begin), None, _PLAIN),
            Field("file data", Kind.DATA, (Span(begin, max(begin, span.stop)),)),
        ]
        note = "Not in the central directory."
        name = visible(found.name)
        return parent("local file", Kind.MEMBER, (span,), children, value=name, note=note, label=f"{name}, not listed")


def central_directory(source: Source, span: Span, directory: Directory) -> Field:
    """The central directory: a header for each member, and what follows the last readable one."""
    central, stop = directory.central, directory.stop
    if directory.encrypted:
        note = "Encrypted, not read."
        return Field("central directory", CENTRAL_DIRECTORY, (span,), note=note, specification="APPNOTE 7.3")
    starts = central[:]
    if stop < span.stop and central:
        starts.append(stop)

    def make(row: int) -> Field:
        end = starts[row + 1] if row + 1 < len(starts) else span.stop
        here = Span(starts[row], end)
        if row == len(central):
            if directory.capped:
                return Field("not listed", Kind.BYTES, (here,), note="Headers of members that are not listed.")
            if (signature := digital_signature(source, *here)) is not None:
                return signature
            return Field("garbage", Kind.GARBAGE, (here,), note="Not a complete central directory header.")
        return _header(source, here, row if directory.eocd is not None else None, None)

    roles = _DIRECTORY_ROLES | (role_bit(Role.GARBAGE) if stop < span.stop else 0)
    children = FieldTable(starts, make, roles) if central else ()
    return Field(
        "central directory",
        CENTRAL_DIRECTORY,
        (span,),
        len(central),
        count(len(central), "header"),
        children,
        specification="APPNOTE 4.3.12",
    )


def end_fields(source: Source, eocd: Eocd) -> list[Field]:
    """The ZIP64 records and the end of central directory record with its comment."""
    found = []
    for span, parts, kind, section in (
        (eocd.zip64, ZIP64_END_PARTS, ZIP64_END, "4.3.14"),
        (eocd.locator, ZIP64_LOCATOR_PARTS, ZIP64_LOCATOR, "4.3.15"),
    ):
        if span is not None:
            size = sum(part.size for part in parts)
            children = fields_of(parts, source.read(span.start, size), span.start)
            if size < span.size:
                rest = Span(span.start + size, span.stop)
                children.append(Field("zip64 extensible data sector", Kind.BYTES, (rest,)))
            found.append(parent(str(kind), kind, (span,), children, specification=f"APPNOTE {section}"))
    return [*found, end_record(source, eocd.record.start)]


def end_record(source: Source, start: int) -> Field:
    """The end of central directory record at ``start``, which may be cut off."""
    data = source.read(start, END_SIZE)
    data += source.read(start + END_SIZE, int.from_bytes(data[END_SIZE - 2 :], "little"))
    span = Span(start, start + len(data))
    children = fields_of(END_PARTS, data[:END_SIZE], start)
    comment = data[END_SIZE:]
    if comment:
        place = Span(span.start + END_SIZE, span.stop)
        children.append(Field(".ZIP file comment", Kind.TEXT, (place,), visible(comment)))
    kind = END_OF_DIRECTORY
    return parent(str(kind), kind, (span,), children, specification="APPNOTE 4.3.16")


def digital_signature(source: Source, start: int, stop: int) -> Field | None:
    """The digital signature that fills ``[start, stop)``, the end of a central directory."""
    head = source.read(start, 6)
    if head[:4] != SIGNATURE or len(head) < 6 or start + 6 + int.from_bytes(head[4:], "little") != stop:
        return None
    fields = [
        Field("header signature", Kind.SIGNATURE, (Span(start, start + 4),), "0x05054b50"),
        Field("size of data", Kind.LENGTH, (Span(start + 4, start + 6),), int.from_bytes(head[4:], "little")),
        Field("signature data", Kind.BYTES, (Span(start + 6, stop),)),
    ]
    note = "A signature over the central directory, which is not verified here."
    span = Span(start, stop)
    return parent("digital signature", SIGNATURE_BLOCK, (span,), fields, note=note, specification="APPNOTE 4.3.13")


_APK_MAGIC = b"APK Sig Block 42"
"""What ends the signatures of Android before the central directory (APK Signature Scheme v2): a gap, and no damage."""
_MAX_ORPHANS = 1000
_MAX_GAPS = 1000


def lay_rows(source: Source, emitter: Emitter, directory: Directory, limit: int, reported_from: int) -> Rows:
    """The rows of ``[0, limit)``: an owner below the number of members is a member, any other is an orphan.

    Reports overlaps, orphans and gaps, but no gap from ``reported_from`` on or before a displaced archive, which other
    findings report.
    """
    starts, stops, overrunning = _extents(directory, emitter, limit)
    rows = lay_out(starts, stops, 0, limit)
    orphans = [] if directory.deferred else _orphans(source, rows)
    for orphan in orphans:
        starts.append(orphan.head)
        stops.append(orphan.stop)
    if orphans:
        rows = lay_out(starts, stops, 0, limit)
    for orphan in orphans:
        span, what = (orphan.head, orphan.stop), codes.ORPHAN
        message = (
            f"The member {brief(orphan.name)} at {orphan.head:,} is not in the central directory. It was deleted, or "
            "it is hidden."
        )
        if not orphan.name and orphan.stop == orphan.begin:
            what = codes.FILLER
            message = f"A local header without a name and content, at {orphan.head:,}, fills a gap."
        emitter.report(what, message, span)
    _report_overlaps(emitter, directory, rows, starts, stops, overrunning)
    shift = directory.eocd.shift if directory.eocd is not None else 0
    # A disk of several may begin with the end of a member that begins on another.
    _report_gaps(source, emitter, rows, max(0, shift), reported_from, split=is_split(directory.eocd))
    return rows


def _extents(directory: Directory, emitter: Emitter, limit: int) -> tuple[array[int], array[int], set[int]]:
    """Where each member begins and stops, from local header to data descriptor, and those that run past the limit."""
    members = directory.members
    starts, overrunning = directory.heads[:], set()
    stops = array("Q", map(add, members.stops, directory.descriptors))
    if max(stops, default=0) <= limit and not any(mark & UNREADABLE for mark in set(directory.marks)):
        return starts, stops, set()
    for index, mark in enumerate(directory.marks):
        if mark & UNREADABLE:
            starts[index], stops[index] = 1, 0
        elif stops[index] > limit:
            overrunning.add(index)
            name = brief(members.path(index))
            message = f"{name} (member {index}) runs into the central directory or the end records, from {limit:,} on."
            emitter.report(codes.OVERLAP, message, (limit, stops[index]), member=index)
    _mark(directory, overrunning)
    return starts, stops, overrunning


def _orphans(source: Source, rows: Rows) -> list[LocalFile]:
    """Find unlisted members in gaps: local headers from the start of a gap on, one after another."""
    found: list[LocalFile] = []
    for row in islice(rows.gaps, _MAX_GAPS):
        at, limit = rows.starts[row], rows.row_stop(row)
        while at < limit and len(found) < _MAX_ORPHANS:
            local = read_local(source, at)
            if local is None or local.sizes is None or local.stop > limit:
                break
            found.append(local)
            at = local.stop
    return found


def _report_gaps(source: Source, emitter: Emitter, rows: Rows, shift: int, reported_from: int, *, split: bool) -> None:
    for row in rows.gaps:
        start, stop = rows.starts[row], rows.row_stop(row)
        if stop == rows.stop and not is_sparing(source) and source.read(stop - len(_APK_MAGIC), 16) == _APK_MAGIC:
            continue
        if start >= reported_from or stop <= shift or (split and not start):
            continue
        if start == 0:
            precede = verb(stop, "precedes", "precede")
            emitter.report(
                codes.LEADING_BYTES,
                f"{in_bytes(stop)} {precede} the first member, as in a self-extracting archive.",
                (start, stop),
            )
        else:
            belong = verb(stop - start, "belongs", "belong")
            emitter.report(
                codes.GAP, f"The {in_bytes(stop - start)} from {start:,} on {belong} to no member.", (start, stop)
            )


def _report_overlaps(
    emitter: Emitter, directory: Directory, rows: Rows, starts: array[int], stops: array[int], overrunning: set[int]
) -> None:
    """Mark and report all members that share bytes, each once; ``rows`` are laid out from what ``_extents`` gives.

    A member that runs past the limit is reported already, and casts no doubt on the members it overlaps.
    """
    if rows.overlap_count and overrunning:
        starts, stops = starts[:], stops[:]
        for index in overrunning:
            starts[index], stops[index] = 1, 0
        rows = lay_out(starts, stops, 0, rows.stop)
    members = directory.members
    named = {overlap.later for overlap in rows.overlaps}
    for earlier, later, start, stop in rows.overlaps:
        message = (
            f"{brief(members.path(later))} (member {later}) and {brief(members.path(earlier))} (member {earlier}) "
            f"claim the same bytes, which are shown as those of member {earlier}."
        )
        for index in (later,) if earlier in named else (earlier, later):
            emitter.report(codes.OVERLAP, message, (start, stop), member=index)
        named.add(earlier)
    if rows.overlap_count:
        _mark(directory, shared_extents(starts, stops))
    if rows.overlap_count > len(rows.overlaps):
        emitter.report(
            codes.OVERLAPS,
            f"{rows.overlap_count:,} members overlap others. The first {len(rows.overlaps):,} are reported.",
        )


def _mark(directory: Directory, indices: Iterable[int]) -> None:
    for index in indices:
        directory.marks[index] |= SHARED
