"""Where bytes lead: what they point to, what a hash covers, what describes a member, and the arrows drawn for that."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain as joined
from itertools import islice

from msgspec import Struct

from inspector.core.archive import Archive, member_of
from inspector.core.field import Field, FieldTable, at_path, locate, positions
from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.span import Span, Spans, intersect
from inspector.core.verdict import Checksum
from inspector.operations.protocol.views import Arrow, LayerKind, Reference
from inspector.operations.session.layers import Layer
from inspector.operations.session.state import SessionState

MAX_SCANNED_ROWS = 2_000
"""Rows of a long table that are looked at one by one: the answer has to come at once."""
MAX_REFERENCES = 12
"""References given of one byte."""

Chain = Sequence[Field]
"""Fields inside one another, outermost first."""


class ReferenceFinder(Struct, frozen=True):
    """Knows one layer; ``first`` is the number of its archive's first member among all."""

    layer: Layer
    first: int

    @property
    def archive(self) -> Archive:
        """What the layer's bytes come from."""
        return self.layer.archive

    def references(self, chain: Chain) -> tuple[Reference, ...]:
        """Where the innermost field of a chain leads, the nearest meaning first; never to a field of the chain."""
        if self.layer.info.kind is LayerKind.CONTENT or not chain or any(map(_unused, chain)):
            return ()
        around = {field.spans for field in chain}
        found: dict[Spans, Reference] = {}
        # What leads out of the file leads nowhere: it is not about the header that it stands in.
        is_range = any(field.kind.is_range for field in chain)
        for each in list(self._own(chain)) or (() if is_range else self._of_member(chain)):
            if each.covers and each.covers not in around:
                found.setdefault(each.covers, each)
        return tuple(found.values())[:MAX_REFERENCES]

    def _own(self, chain: Chain) -> Iterator[Reference]:
        """What the bytes themselves say a place of; the innermost field first."""
        for depth in range(len(chain) - 1, -1, -1):
            field, outer = chain[depth], chain[:depth]
            yield from self._from_hash(field)
            yield from self._pointed_to(field)
            if field.kind.is_range:
                if (span := self.target_of(field)).size:
                    yield self._to(self._text_at(span.start), (span,))
            elif field.kind.precedes is not None and outer:
                stop = self._followed_to(field, field.kind.precedes, outer[-1].children)
                yield self._to(f"The bytes of this {field.kind.words[0]}", (Span(field.spans[-1].stop, stop),))
        rows = chain[0].kind.rows
        if rows is not None and not any(field.kind is rows for field in chain):
            first = self._entries(chain[0], rows)
            if first:
                yield self._to(f"The first entry of the {chain[0].name}", first[0].spans)

    # ---- hashes ------------------------------------------------------------------------------------------------

    def _from_hash(self, field: Field) -> Iterator[Reference]:
        if field.kind.is_hash:
            field = next((child for child in field.children if child.kind is Kind.DIGEST), field)
        if field.kind is not Kind.DIGEST or not field.spans:
            return
        place = self.layer.in_file(field.spans)
        known = self._checksum(place[0].start) if place else None
        if known is not None and known.covers:
            yield Reference(
                f"The bytes that the {visible(known.name)} covers",
                self.layer.info.layer,
                self.layer.from_file(known.covers),
                self._number(known.member),
                self.layer.from_file(known.place),
                self.layer.from_file(known.omits),
            )

    def _checksum(self, start: int) -> Checksum | None:
        """The recorded checksum that stands at a byte of the file."""
        every = self.archive.checksums
        # Most ledgers are in file order; what is not found so is looked for among the first.
        at = bisect_left(every, start, key=lambda each: each.place[0].start if each.place else -1)
        near = every[max(0, at - 2) : at + 3]
        for some in (near, every[-3:], every[:MAX_SCANNED_ROWS]):
            for each in some:
                if any(span.start <= start < span.stop for span in each.place):
                    return each
        return None

    def _covering_hash(self, chain: Chain) -> Iterator[Reference]:
        """The hash over the segment that bytes are in; resets and headers of chunks lead elsewhere."""
        segment = next((field for field in chain if field.kind.hashed), None)
        hashed = self.covering(segment.start) if segment is not None else None
        if hashed is not None:
            yield self._to(f"The {visible(hashed.name)}", self.layer.from_file(hashed.place))

    def covering(self, start: int) -> Checksum | None:
        """The recorded checksum over the byte at ``start`` of the layer, of a format whose checksums share no byte."""
        every = self.archive.checksums
        place = self.layer.in_file((Span(start, start + 1),))
        if not place or not len(every):
            return None
        at = bisect_right(every, place[0].start, key=lambda each: each.covers[0].start if each.covers else -1)
        near = every[max(0, at - 2) : at + 1]
        return next((each for each in near if any(start <= place[0].start < stop for start, stop in each.covers)), None)

    # ---- places ------------------------------------------------------------------------------------------------

    def _pointed_to(self, field: Field) -> Iterator[Reference]:
        for kind in field.kind.points_to:
            target = next((each for each in self.layer.fields() if each.kind is kind), None)
            if target is not None:
                yield self._to(f"The {target.name}", target.spans)

    def ranges(self) -> list[Field]:
        """The ranges in use that the archive lists at ``Archive.ranges_at``."""
        if self.layer.source is not self.archive.source or self.archive.ranges_at < 0:
            return []
        chain = [field for _, field in locate(self.layer.fields(), self.archive.ranges_at)]
        return [each for field in chain for each in field.children if each.kind.is_range and not _unused(each)]

    def target_of(self, entry: Field) -> Span:
        """The bytes that a range says the place of, as far as they exist."""
        match entry.value:
            case [int(start), int(length)] if length > 0:
                return Span(start, start + length).clipped(0, self.layer.source.size)
            case _:
                return Span(0, 0)

    def _byte_at(self, field: Field, but: Spans) -> Iterator[Reference]:
        """The byte that an offset names, unless the data ``but`` begins there."""
        start = field.value
        known = but and but[0].start == start
        if field.kind is Kind.OFFSET and isinstance(start, int) and not known and 0 <= start < self.layer.source.size:
            yield self._to(f"Byte {start:,}: {_lowered(self._text_at(start))}", (Span(start, start + 1),))

    def _text_at(self, start: int) -> str:
        """What stands at a byte of the layer."""
        chain = [field for _, field in locate(self.layer.fields(), start)]
        member = next((field.member for field in reversed(chain) if field.member is not None), None)
        if member is not None:
            return f"The data of {self._name(member)}"
        return f"The {chain[-1].name}" if chain else "Bytes that no structure claims"

    def _followed_to(self, header: Field, by: Kind, headers: Sequence[Field]) -> int:
        """The end of the bytes ``by`` that follow one of the headers."""
        after = header.spans[-1].stop
        rows = positions(headers, after, self.layer.source.size)
        # What follows the last stretch of that kind belongs to no header.
        found = [each.spans[-1].stop for each in self.layer.fields() if each.kind is by and each.spans]
        last = max(after, found[-1]) if found else after
        return next((headers[at].start for at in rows if headers[at].start >= after), last)

    # ---- members -----------------------------------------------------------------------------------------------

    def _of_member(self, chain: Chain) -> Iterator[Reference]:
        beside = next((at for at, field in enumerate(chain) if _is_beside(field)), None)
        if beside:
            yield from self._children(chain[beside - 1], heads=True)
        yield from self._covering_hash(chain)
        for entry in self.ranges():
            if intersect((self.target_of(entry),), chain[-1].spans):
                yield self._to(f"{entry.name} of the {entry.kind.family}", entry.spans)
        member = member_of(self.archive, chain)
        if member is None:
            return
        if any(field.kind.about_member and field.kind.leads_on for field in chain):
            yield from self._head(member)
        data = self._data(member)
        if data.covers:
            yield data
        yield from self._byte_at(chain[-1], data.covers)
        yield from self._described(member, chain)

    def _data(self, member: int) -> Reference:
        """The data of a member, of which nothing is covered where it is not known where they are."""
        found = self.archive.members[member]
        spans = self.layer.from_file(found.spans) if found.readable else ()
        return self._to(f"The data of {self._name(member)}", spans, member)

    def _head(self, member: int) -> Iterator[Reference]:
        head = self.archive.members[member].head
        if head >= 0:
            for _, field in locate(self.layer.fields(), head):
                if field.kind.heads_member:
                    yield self._to(f"The {field.name} of {self._name(member)}", field.spans)

    def _described(self, member: int, chain: Chain) -> Iterator[Reference]:
        """Where the archive tells of a member: beside its data, and in an index."""
        for field in chain:
            if field.kind is Kind.MEMBER:
                yield from self._children(field)
        for listing in self.layer.fields():
            listed = self.entry_of(member, listing) if listing.kind.rows is not None else None
            if listed is not None:
                yield self._to(f"The {listed.name} of {self._name(member)}", listed.spans)

    def entry_of(self, member: int, listing: Field, most: int = MAX_SCANNED_ROWS) -> Field | None:
        """The row about a member in a field of a kind with ``rows``, if it is among the ``most`` likely ones."""
        assert listing.kind.rows is not None
        entries = self._entries(listing, listing.kind.rows)
        head = self.archive.members[member].head
        near = entries.rows(head, head + 1) if isinstance(entries, FieldTable) and head >= listing.start else ()
        rows = (entries[row] for row in joined(near, islice(_likely(member, len(entries)), most)))
        return next((row for row in rows if row.member == member), None)

    def _children(self, field: Field, *, heads: bool = False) -> Iterator[Reference]:
        """The records of its member in a field; ``heads``: only the one at its head."""
        for child in field.children[:MAX_SCANNED_ROWS]:
            if child.kind.about_member and child.spans and (child.kind.heads_member or not heads):
                yield self._to(f"The {child.kind} of {visible(field.shown or field.name)}", child.spans)

    def _entries(self, listing: Field, kind: Kind) -> Sequence[Field]:
        """The rows of a list: its children, or those of the list in it."""
        inner = next((each for each in listing.children[:8] if each.kind is listing.kind), listing)
        rows = inner.children
        return rows if isinstance(rows, FieldTable) else [each for each in rows if each.kind is kind]

    def _to(self, words: str, spans: Spans, member: int | None = None) -> Reference:
        return Reference(words, self.layer.info.layer, spans, self._number(member))

    def _number(self, member: int | None) -> int | None:
        return None if member is None else self.first + member

    def _name(self, member: int) -> str:
        return visible(self.archive.members.path(member))


def _unused(field: Field) -> bool:
    return field.kind.is_range and not (isinstance(field.value, list) and field.value[1])


def _is_beside(field: Field) -> bool:
    """Whether it stands beside the archive and tells of one member."""
    return field.kind.about_member and not field.spans


def _likely(member: int, rows: int) -> Iterator[int]:
    """Where the row of a member is: at its number, from either end, or else somewhere among the first."""
    yield from (at for at in (member, rows - 1 - member) if 0 <= at < rows)
    yield from range(rows)


def _lowered(words: str) -> str:
    return words[:1].lower() + words[1:]


MAX_ARROWS = 200
"""Arrows given at once: more than this cannot be told apart."""
MAX_LIST_GUESSES = 2
"""Rows of a list that are looked at for the entry of one member: those where it usually is."""
MAX_END_RECORDS = 4
"""Records at the end of an archive that arrows are drawn from."""
MAX_ARROW_FIELDS = 2_000
"""Fields looked at for one answer: it has to come at once."""


class _ArrowFinder:
    """Finds the arrows of one stretch of bytes."""

    def __init__(self, referrer: ReferenceFinder, shown: Span) -> None:
        self._finder = referrer
        self._fields = referrer.layer.fields()
        self._shown = shown

    def arrows(self) -> Iterator[Arrow]:
        """The arrows that touch the bytes, some of them more than once."""
        for arrow in self._every():
            if self._starts_in_view(arrow.target) or (
                arrow.source is not None and arrow.source.clipped(*self._shown).size
            ):
                yield arrow

    def _every(self) -> Iterator[Arrow]:
        yield from self._from_ends()
        for chain in islice(_chains_in(self._fields, self._shown, ()), MAX_ARROW_FIELDS):
            field = chain[-1]
            if field.kind.leads_on:
                yield from self._from(chain)
            elif self._starts_in_view(field.spans[0]):
                yield from self._to(chain)

    def _starts_in_view(self, span: Span) -> bool:
        return self._shown.start <= span.start < self._shown.stop

    def _from_ends(self) -> Iterator[Arrow]:
        """What stands at the end of an archive or at its beginning leads far: it is few, so it is always looked at."""
        for field in islice((each for each in self._fields if each.kind.points_to), MAX_END_RECORDS):
            yield from self._from((field,))
        for entry in self._finder.ranges():
            target = self._finder.target_of(entry)
            if target.size:
                yield from self._from((entry,))

    def _from(self, chain: Chain) -> Iterator[Arrow]:
        field = chain[-1]
        for reference in self._finder.references(chain)[:1]:
            yield Arrow(_hull(field.spans), _hull(reference.covers), _label(field), reference.words)

    def _to(self, chain: Chain) -> Iterator[Arrow]:
        """What leads to the beginning of a field."""
        field = chain[-1]
        if field.kind.hashed:
            yield from self._from_hash_of(field)
        elif field.kind is Kind.MEMBER:
            yield from self._from_sidecar(field)
        if field.member is not None and not field.kind.holds_data:
            yield from self._from_list(field)

    def _from_hash_of(self, segment: Field) -> Iterator[Arrow]:
        """The block or header whose hash covers a segment."""
        hashed = self._finder.covering(segment.start)
        for place in self._finder.layer.from_file(hashed.place) if hashed is not None else ():
            chain = [field for _, field in locate(self._fields, place.start)]
            depth = next((at for at, field in enumerate(chain) if field.kind.leads_on), None)
            if depth is not None:
                yield from self._from(chain[: depth + 1])

    def _from_sidecar(self, member: Field) -> Iterator[Arrow]:
        """Rows beside the archive own no byte of it: their arrows come from nowhere."""
        head = next((each for each in member.children[:8] if each.kind.heads_member), None)
        for row in member.children[:8] if head is not None else ():
            if head is not None and _is_beside(row):
                words = f"The {row.name} of {visible(member.name)}, beside the archive"
                yield Arrow(None, head.spans[0], words, f"The {head.name}")

    def _from_list(self, field: Field) -> Iterator[Arrow]:
        """The entry of a list that says where a member's data, or what stands before them, begin."""
        assert field.member is not None
        for listing in self._fields:
            if listing.kind.rows is not None and listing.kind is not field.kind:
                entry = self._finder.entry_of(field.member, listing, MAX_LIST_GUESSES)
                if entry is not None:
                    yield from self._from((listing, entry))


def _hull(spans: Spans) -> Span:
    return Span(spans[0].start, spans[-1].stop)


def _label(field: Field) -> str:
    shown = visible(field.shown)
    return f"The {field.name} {shown}" if field.kind.about_member and shown else f"The {field.name}"


def _chains_in(fields: Sequence[Field], shown: Span, above: tuple[Field, ...]) -> Iterator[Chain]:
    """The fields with a byte in ``shown``, each after those around it, but not what is in those that lead on."""
    for position in positions(fields, *shown):
        field = fields[position]
        if not any(span.start < shown.stop and shown.start < span.stop for span in field.spans):
            continue
        chain = (*above, field)
        yield chain
        if not (field.kind.leads_on or field.kind.heads_member):
            yield from _chains_in(field.children, shown, chain)


class References(SessionState):
    """Where bytes lead."""

    def references(self, layer: int, offset: int, path: tuple[int, ...] | None = None) -> tuple[Reference, ...]:
        """Where the byte at ``offset`` of a layer leads, or the field at ``path``; the nearest meaning first.

        Raises OperationError where the layer is gone and SourceError where its checksums cannot be read.
        """
        now = self.now
        shown = now.layers[layer]
        fields = shown.fields()
        chain = [field for _, field in locate(fields, offset)]
        if path is not None:
            above = (at_path(fields, path[:stop]) for stop in range(1, len(path) + 1))
            chain = [field for field in above if field is not None]
        return ReferenceFinder(shown, now.archive_set.number(shown.at, 0)).references(chain)

    def arrows(self, layer: int, start: int, stop: int) -> tuple[Arrow, ...]:
        """The references from or to a byte in ``[start, stop)`` of a layer, in the order of these bytes.

        Raises OperationError where the layer is gone and SourceError where bytes cannot be read.
        """
        now = self.now
        shown = now.layers[layer]
        if shown.info.kind is LayerKind.CONTENT:
            return ()
        finder = _ArrowFinder(ReferenceFinder(shown, now.archive_set.number(shown.at, 0)), Span(start, stop))
        found: dict[tuple[int, int], Arrow] = {}
        for arrow in islice(finder.arrows(), MAX_ARROWS):
            found.setdefault((-1 if arrow.source is None else arrow.source.start, arrow.target.start), arrow)
        return tuple(found.values())
