"""Formats with a directory of fixed-size entries that say where members are: all follows from a ``Directory``.

Offsets are never trusted: what lies outside the file, in other members or in the archive's own records is reported.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

from inspector.core.archive import CappedFindings, Emitter
from inspector.core.field import Field, FieldTable, tile
from inspector.core.finding import FindingType, error, info
from inspector.core.format import DiagramColumn, ProbeResult
from inspector.core.kinds import Family, Kind, Role, Shape, role_set
from inspector.core.layout import Record
from inspector.core.member import SHARED, Members
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span, subtract
from inspector.formats._extents import MAX_OVERLAPS, Rows, lay_out, read_stored, shared_extents
from inspector.formats._kinds import DATA_SECTION, GLOBAL_HEADER

MAX_ENTRIES = 4_000_000
"""Entries that are read; of more there is a finding."""
_READ_BYTES = 1 << 20
ENTRY = Kind(
    "directory entry",
    "One file: its name, where its data begin, and their size.",
    Role.DIRECTORY,
    Family.INDEX,
    word="entry",
    words=("entry",),
    about_member=True,
)
DIRECTORY = Kind(
    "directory", "The list of all files.", Role.DIRECTORY, Family.INDEX, Shape.LIST, words=("directory",), rows=ENTRY
)
DIRECTORY_DIAGRAM = (
    DiagramColumn("File", (GLOBAL_HEADER, DATA_SECTION, DIRECTORY), opened=True),
    DiagramColumn("Data", (Kind.DATA, Kind.GAP)),
    DiagramColumn("Directory", (ENTRY,)),
)
"""The columns of a diagram of such an archive."""
DIRECTORY_KINDS = (GLOBAL_HEADER, DATA_SECTION, DIRECTORY, ENTRY)
_ENTRY_ROLES = role_set(Role.DIRECTORY, Role.NAME, Role.EXTENT) | role_set(Family.INDEX)
_DATA_ROLES = role_set(Role.DATA) | role_set(Family.CONTENT)


class DirectoryFindings(NamedTuple):
    """What may be found in any such archive."""

    magic: FindingType
    place: FindingType
    size: FindingType
    range: FindingType
    overlap: FindingType
    gap: FindingType

    @staticmethod
    def of(code: str, called: str) -> DirectoryFindings:
        """Those whose codes begin with ``code``, of an archive that is ``called`` so."""
        again = "Copy the archive again, or create it again."
        return DirectoryFindings(
            error(f"{code}-magic", f"The file does not begin as {called} does.", again),
            error(f"{code}-directory", "The directory does not lie inside the file.", again),
            error(f"{code}-directory-size", "The directory does not consist of whole entries.", again),
            error(f"{code}-out-of-range", "An entry names bytes outside the file.", again),
            error(f"{code}-overlap", "Two entries claim the same bytes, or one claims the archive's own.", again),
            info(f"{code}-gap", "Bytes that no entry claims."),
        )


class Directory(Struct, frozen=True):
    """What such a format is.

    ``header`` stands at the beginning of the file and begins with ``magic``, or one of several; its parts ``at`` and
    ``length`` are where the directory begins and its size in bytes, or with ``counted`` the number of its entries. The
    directory consists of ``entry``, whose parts ``name``, ``offset`` and ``size`` say what a member is called and where
    its bytes are. Names end at their first NUL.
    """

    magic: bytes | tuple[bytes, ...]
    header: Record
    entry: Record
    found: DirectoryFindings
    at: str = "at"
    length: str = "length"
    name: str = "name"
    offset: str = "offset"
    size: str = "size"
    counted: bool = False

    @property
    def _magics(self) -> tuple[bytes, ...]:
        return (self.magic,) if isinstance(self.magic, bytes) else self.magic

    def probe(self, source: Source) -> ProbeResult:
        """Judge ``source`` by its first bytes."""
        head = source.read(0, max(map(len, self._magics)))
        return ProbeResult.CERTAIN if head.startswith(self._magics) else ProbeResult.NO

    def decode(self, source: Source, emitter: Emitter, progress: Progress) -> None:
        """Emit members, fields and findings."""
        head, found = source.read(0, self.header.size), self.found
        emitter.begin_members(Members(sizes=True, heads=True, marks=True))
        if not head.startswith(self._magics):
            known = " or ".join(map(visible, self._magics))
            emitter.report(found.magic, f"The file does not begin with {known}.", (0, len(self._magics[0])))
        begin, length = (self.header.number(part, head) for part in (self.at, self.length))
        length *= self.entry.size if self.counted else 1
        place = Span(begin, begin + length).clipped(min(len(head), source.size), source.size)
        if place != (begin, begin + length):
            message = f"The directory should be the bytes {begin:,} to {begin + length:,}."
            emitter.report(found.place, f"{message} The file has {in_bytes(source.size)}.", (0, len(head)))
        count, rest = divmod(place.size, self.entry.size)
        if rest or count > MAX_ENTRIES:
            message = f"The directory has {in_bytes(place.size)}, and each entry {self.entry.size}."
            emitter.report(found.size, message, (place.stop - rest, place.stop))
        count = min(count, MAX_ENTRIES)
        entries = Span(place.start, place.start + count * self.entry.size)
        self._members(source, emitter, progress, entries)
        rows = self._rows(emitter, len(head), place)
        emitter.lay(self._fields(source, emitter.members, rows, head, entries))

    read = staticmethod(read_stored)

    def _members(self, source: Source, emitter: Emitter, progress: Progress, entries: Span) -> None:
        """Emit the members of the entries in these bytes."""
        outside = CappedFindings(emitter, self.found.range, "entries that name bytes outside the file")
        step = _READ_BYTES // self.entry.size * self.entry.size
        progress.begin("Reading the directory", entries.size)
        for at in range(*entries, step):
            block = source.read(at, min(step, entries.stop - at))
            for place in range(0, len(block) - self.entry.size + 1, self.entry.size):
                piece = block[place : place + self.entry.size]
                name = self.entry.piece(self.name, piece).partition(b"\0")[0]
                begin, size = self.entry.number(self.offset, piece), self.entry.number(self.size, piece)
                low, high = Span(begin, begin + size).clipped(0, source.size)
                index = emitter.members.append(name, low, high, size=size, head=at + place)
                if begin + size > source.size and not outside.full():
                    message = f"{visible(name)} should be the bytes {begin:,} to {begin + size:,}."
                    outside.add(
                        f"{message} The file has {in_bytes(source.size)}.",
                        ((at + place, at + place + len(piece)),),
                        index,
                    )
            progress.advance(len(block))
        outside.close()

    def _rows(self, emitter: Emitter, first: int, place: Span) -> Rows:
        """The file as rows of the header, the directory, members and gaps; reports what overlaps and what is left."""
        members, found = emitter.members, self.found
        own = len(members)  # the header, then the directory, stand behind the members
        starts, stops = members.starts + array("Q", (0, place.start)), members.stops + array("Q", (first, place.stop))
        rows = lay_out(starts, stops, 0, emitter.archive.source.size)
        assert members.marks is not None
        for index in shared_extents(starts, stops) if rows.overlap_count else ():
            if index < own:
                members.marks[index] |= SHARED
        for each in rows.overlaps:
            some, other = (
                visible(members.path(at)) if at < own else ("the header", "the directory")[at - own]
                for at in (each.earlier, each.later)
            )
            member = each.later if each.later < own else None
            message = f"The bytes {each.start:,} to {each.stop:,} are claimed by {some} and by {other}."
            emitter.report(found.overlap, message, (each.start, each.stop), member=member)
        for row in rows.gaps[:MAX_OVERLAPS]:
            start, stop = rows.starts[row], rows.row_stop(row)
            emitter.report(
                found.gap, f"No entry claims the {in_bytes(stop - start)} from byte {start:,} on.", (start, stop)
            )
        return rows

    def _fields(self, source: Source, members: Members, rows: Rows, head: bytes, place: Span) -> Iterator[Field]:
        """The header, everything outside it and the directory, and the directory."""
        own, first = len(members), Span(0, len(head))
        yield Field(
            "header",
            GLOBAL_HEADER,
            (first,),
            visible(head[: len(self._magics[0])]),
            children=tile(self.header.fields(head, 0), (first,)),
        )
        kept = array("Q", (row for row, owner in enumerate(rows.owners) if owner < own))

        def row_field(at: int) -> Field:
            row = kept[at]
            owner, span = rows.owners[row], Span(rows.starts[row], rows.row_stop(row))
            if owner < 0:
                return Field("gap", Kind.GAP, (span,), note="No entry claims it.")
            from inspector.formats._signatures import with_inside  # listing shows no fields

            name = visible(members.path(owner))
            return with_inside(Field(name, Kind.DATA, (span,), member=owner), source, name)

        if len(kept):
            around = subtract((Span(0, rows.stop),), (first, place))
            begins = array("Q", (rows.starts[row] for row in kept))
            yield Field("data", DATA_SECTION, tuple(around), own, children=FieldTable(begins, row_field, _DATA_ROLES))

        def entry_field(at: int) -> Field:
            start = place.start + at * self.entry.size
            span = Span(start, start + self.entry.size)
            inside = tile(self.entry.fields(source.read(start, self.entry.size), start), (span,))
            name = visible(members.path(at)) if at < own else ""
            return Field(name or "entry", ENTRY, (span,), name, children=inside, member=at if at < own else None)

        if place.size:
            begins = array("Q", range(place.start, place.stop, self.entry.size))
            yield Field("directory", DIRECTORY, (place,), own, children=FieldTable(begins, entry_field, _ENTRY_ROLES))
