"""Formats whose members stand end to end, each behind a header of one size: all they need follows from a ``Chain``.

The walk never trusts a size: where no header follows the data, the next one is searched, and the header is doubted.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct

from inspector.core.archive import Archive, CappedFindings, Emitter
from inspector.core.field import Census, Field, FieldTable, parent, tile
from inspector.core.finding import FindingType, error, warning
from inspector.core.format import MemberMetadata, ProbeResult
from inspector.core.kinds import Family, Kind, Role, role_set
from inspector.core.layout import Record
from inspector.core.member import Members
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span, united
from inspector.formats._extents import read_stored
from inspector.formats._kinds import DATA_SECTION, GLOBAL_HEADER

SEARCH_BYTES = 1 << 18
"""Bytes looked through at a time for the next header."""
MAX_SEARCHED_BYTES = 256 << 20
"""A header is searched within so many bytes; what follows an archive may have no end."""
MAX_NAME_BYTES = 4096
"""Longer names are cut."""
MAX_TABLE_BYTES = 16 << 20
"""Of a table that tells of other members, no more is read."""
_NEAR_BYTES = 4096
"""Headers no further apart are read together."""
_MEMBER = role_set(Role.HEADER, Role.NAME, Role.EXTENT, Role.DATA, Role.DIRECTORY, Role.PADDING) | role_set(
    Family.HEADER, Family.CONTENT, Family.INDEX, Family.PADDING
)


CHAIN_KINDS = (GLOBAL_HEADER, DATA_SECTION)
"""Kinds that all such formats have, beside that of their header."""


class ChainFindings(NamedTuple):
    """What may be found in any such archive."""

    magic: FindingType
    lost: FindingType
    size: FindingType
    cut: FindingType
    name: FindingType
    padding: FindingType

    @staticmethod
    def of(code: str, called: str) -> ChainFindings:
        """Those whose codes begin with ``code``, of an archive that is ``called`` so."""
        again = "Copy the archive again, or create it again."
        lie = "Compare the content with another copy."
        return ChainFindings(
            error(f"{code}-magic", f"The file does not begin as {called} does.", again),
            error(f"{code}-no-header", "There is no header where one should be.", again),
            error(f"{code}-size", "A header gives another size than its member has.", lie),
            error(f"{code}-truncated", "The archive ends inside a member.", again),
            error(f"{code}-long-name", "A header names a place where no name is.", "The content is not affected."),
            warning(
                f"{code}-padding", "The padding after a member is missing or other bytes.", "Most programs ignore it."
            ),
        )


class Chain(Struct, frozen=True):
    """What such a format is.

    ``magic`` begins the file. ``header`` is the record before each member; its parts ``size`` and, if there is one,
    ``time`` are numbers, and its part ``mark[0]`` is always ``mark[1]``. Data are filled up with ``filler`` to a
    multiple of ``align`` bytes. ``name`` gives a member's name and how many bytes of it are behind the header; None
    where it cannot be read. It gets the header, what is behind it (at most MAX_NAME_BYTES), and the data of the
    ``tables``: members with these names, which are no members but tell of the others, as fields of these kinds.
    """

    magic: bytes
    header: Record
    kind: Kind
    mark: tuple[str, bytes]
    found: ChainFindings
    name: Callable[[bytes, bytes, Mapping[bytes, bytes]], tuple[bytes, int] | None]
    size: str = "size"
    time: str = ""
    align: int = 1
    filler: bytes = b"\0"
    tables: Mapping[bytes, Kind] = {}

    def probe(self, source: Source) -> ProbeResult:
        """Judge ``source`` by its first bytes."""
        return ProbeResult.CERTAIN if source.read(0, len(self.magic)) == self.magic else ProbeResult.NO

    def decode(self, source: Source, emitter: Emitter, progress: Progress) -> None:
        """Emit members, fields and findings. If it raises SourceError or Cancelled, the fields so far are emitted."""
        emitter.begin_members(Members(sizes=True, heads=True))
        progress.begin("Reading headers", source.size)
        walk = _Walk(self, source, emitter, progress)
        try:
            walk.run()
        finally:
            emitter.lay(walk.fields())

    read = staticmethod(read_stored)

    def metadata(self, archive: Archive, index: int) -> MemberMetadata:
        """The modification time."""
        head = archive.source.read(archive.members[index].head, self.header.size)
        return MemberMetadata(changed=self.header.number(self.time, head) or None if self.time else None)

    def size_in(self, data: bytes) -> int | None:
        """The size that a header gives; None if ``data`` is no header."""
        part, value = self.mark
        found = self.header.value(self.size, data) if self.header.piece(part, data) == value else None
        return found if isinstance(found, int) and found >= 0 else None


class _Walk:
    """Goes from header to header. Everything with a header is a row: a member, or a table where ``kinds`` says so."""

    def __init__(self, chain: Chain, source: Source, emitter: Emitter, progress: Progress) -> None:
        self._chain, self._source, self._emitter, self._progress = chain, source, emitter, progress
        self._heads, self._starts, self._stops, self._ends = (array("Q") for _ in range(4))
        self._members: list[int | Kind] = []
        self._strays: list[Span] = []
        self._tables: dict[bytes, bytes] = {}
        self._spare = source.size
        """Bytes that names may still have together: each stands once, but many headers may claim the same."""
        self._unnamed = CappedFindings(emitter, chain.found.name, "headers without a name that can be read")
        self._near, self._near_at = b"", 0

    def run(self) -> None:
        chain, size, at = self._chain, self._source.size, len(self._chain.magic)
        if self._source.read(0, at) != chain.magic:
            self._emitter.report(
                chain.found.magic, f"The first {at} bytes are not the signature of this format.", (0, at)
            )
        while at < size:
            stated = chain.size_in(data := self._bytes(at, chain.header.size))
            if stated is not None:
                at = self._row(at, data, stated)
            else:
                start, at = at, self._next_header(at)
                where = "and no other is found" if at == size else f"and the next one begins at byte {at:,}"
                self._strays.append(Span(start, at))
                self._emitter.report(chain.found.lost, f"There is no header at byte {start:,}, {where}.", (start, at))
            self._progress.advance(max(0, min(at, size) - self._progress.done))
        self._unnamed.close()

    def _bytes(self, at: int, size: int) -> bytes:
        """The bytes of a header at ``at``, or what is behind one; of members that are small, many are read at once."""
        start = at - self._near_at
        if not 0 <= start <= len(self._near) - size:
            is_near = 0 <= start <= len(self._near) + _NEAR_BYTES
            self._near, self._near_at, start = self._source.read(at, SEARCH_BYTES if is_near else size), at, 0
        return self._near[start : start + size]

    def _next_header(self, at: int) -> int:
        """The offset of the next header from ``at`` on, or the size of the archive."""
        chain = self._chain
        back: int = chain.header.place(chain.mark[0]).start
        for start in range(at, min(self._source.size, at + MAX_SEARCHED_BYTES), SEARCH_BYTES):
            self._progress.advance(0)
            data = self._source.read(start, SEARCH_BYTES + chain.header.size)
            found = data.find(chain.mark[1], back)
            while found >= 0:
                head = found - back
                if (start + head) % chain.align == 0 and chain.size_in(
                    data[head : head + chain.header.size]
                ) is not None:
                    return start + head
                found = data.find(chain.mark[1], found + 1)
        return self._source.size

    def _row(self, at: int, data: bytes, stated: int) -> int:
        """List what the header ``data`` at ``at`` describes; returns where the next header should be."""
        chain, size, begin = self._chain, self._source.size, at + self._chain.header.size
        named = None
        if self._spare > 0:
            named = chain.name(data, self._bytes(begin, min(stated, MAX_NAME_BYTES)), self._tables)
        name, kept = named if named is not None else (data[:16].rstrip(), 0)
        self._spare -= len(name)
        kind = chain.tables.get(name)
        member: int | Kind = len(self._emitter.members) if kind is None else kind
        start, stop, end = begin + min(kept, stated), *self._end(at, begin, begin + stated, member)
        if kind is None:
            last = max(start, min(stop, size))
            index = self._emitter.members.append(name, start, last, size=begin + stated - start, head=at)
            if named is None and not self._unnamed.full():
                message = f"The header at byte {at:,} names a place where no name is."
                self._unnamed.add(message, ((at, begin),), index)
        else:
            self._tables.setdefault(
                name, self._source.read(start, max(0, min(stop, size, start + MAX_TABLE_BYTES) - start))
            )
        for column, value in zip((self._heads, self._starts, self._stops), (at, start, stop), strict=True):
            column.append(min(value, size))
        self._ends.append(min(end, size))
        self._members.append(member)
        return end

    def _end(self, at: int, start: int, stop: int, row: int | Kind) -> tuple[int, int]:
        """Where data that should end at ``stop`` end, and where the next header is."""
        chain, size = self._chain, self._source.size
        end = -(-stop // chain.align) * chain.align
        member = None if isinstance(row, Kind) else row
        if size in (stop, end) or (end < size and chain.size_in(self._bytes(end, chain.header.size)) is not None):
            if self._bytes(stop, end - stop).strip(chain.filler):
                message = f"The padding byte at {stop:,} is not {chain.filler.hex(' ')}."
                self._emitter.report(chain.found.padding, message, (stop, end), member=member)
            return stop, end
        if stop < end and chain.size_in(self._bytes(stop, chain.header.size)) is not None:
            message = f"No padding follows the data that end at byte {stop:,}."
            self._emitter.report(chain.found.padding, message, (stop - 1, stop), member=member)
            return stop, stop
        # An archive that is a member has headers of its own.
        is_nested = self._source.read(start, len(chain.magic)) == chain.magic
        found = self._next_header(end if is_nested else start)
        if found == size:
            if stop > size:
                message = f"The archive ends inside a member: {in_bytes(stop - size)} are missing."
                self._emitter.report(chain.found.cut, message, (min(start, size), size), member=member)
            return stop, end
        if found > end and self._after(end) == found:  # the size is right; the header behind lost its mark
            return stop, end
        message = f"A header says {in_bytes(stop - start)}, but the next one begins after {in_bytes(found - start)}."
        self._emitter.report(chain.found.size, message, (at, start), member=member)
        return min(stop, found), found

    def _after(self, at: int) -> int:
        """Where the data behind a header end that has lost its mark, as far as its size can be read."""
        chain = self._chain
        size = chain.header.number(chain.size, self._bytes(at, chain.header.size))
        return -(-(at + chain.header.size + size) // chain.align) * chain.align

    # ---- fields ----------------------------------------------------------------------------------------------------

    def fields(self) -> Iterator[Field]:
        """The first bytes, everything with a header, and what has none."""
        first = Span(0, min(len(self._chain.magic), self._source.size))
        yield Field("global header", GLOBAL_HEADER, (first,), visible(self._source.read(*first)))
        if len(self._heads):
            table = FieldTable(self._heads, self._field, _MEMBER, self._census)
            runs = united([Span(*pair) for pair in zip(self._heads, self._ends, strict=True)])
            yield Field("members", DATA_SECTION, tuple(runs), len(self._emitter.members), children=table)
        note = "No header is before them."
        yield from (Field("stray bytes", Kind.GARBAGE, (span,), note=note) for span in self._strays)

    def _census(self) -> Census:
        found = Census({(self._chain.kind, False): len(self._heads)})
        for start, stop, end, member in zip(self._starts, self._stops, self._ends, self._members, strict=True):
            found[Kind.DATA, False] += stop > start and not isinstance(member, Kind)
            found[Kind.PADDING, False] += end > stop
            if isinstance(member, Kind):
                found[member, False] += 1
        return +found

    def _field(self, row: int) -> Field:
        head, start, stop, end = self._heads[row], self._starts[row], self._stops[row], self._ends[row]
        member, chain = self._members[row], self._chain
        owner = None if isinstance(member, Kind) else member
        name = visible(self._emitter.members.path(member)) if not isinstance(member, Kind) else str(member)
        placed = chain.header.fields(self._source.read(head, chain.header.size), head)
        if start > head + chain.header.size:
            where = Span(head + chain.header.size, start)
            written = self._source.read(where.start, min(where.size, MAX_NAME_BYTES))
            placed.append(Field("name", Kind.NAME, (where,), visible(written.rstrip(b"\0"))))
        spans = (Span(head, start),)
        inside = [Field("header", chain.kind, spans, name, children=tile(placed, spans), label=str(chain.kind))]
        if stop > start:
            from inspector.formats._signatures import with_inside  # listing shows no fields

            data = Field("data", Kind.DATA if owner is not None else Kind.BYTES, (Span(start, stop),), member=owner)
            inside.append(with_inside(data, self._source, name) if owner is not None else data)
        if end > stop:
            inside.append(Field("padding", Kind.PADDING, (Span(stop, end),)))
        return parent(
            name, member if isinstance(member, Kind) else Kind.MEMBER, (Span(head, end),), inside, member=owner
        )
