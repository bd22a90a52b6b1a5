"""Where bytes lead: what they point to, what a hash covers, what describes a member, and the arrows drawn for that."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain as joined
from itertools import islice

from msgspec.structs import replace

from inspector.core.archive import member_of
from inspector.core.field import Field, FieldTable, at_path, locate, positions
from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.span import Span, Spans, intersect
from inspector.core.verdict import Checksum
from inspector.operations.protocol.views import Arrow, LayerKind, Reference
from inspector.operations.session.layers import Layer
from inspector.operations.session.reading import SessionState

MAX_SCANNED_ROWS = 2_000
"""Rows of a long table that are looked at one by one: the answer has to come at once."""
MAX_REFERENCES = 12
"""References given of one byte."""
MAX_ARROWS = 200
"""Arrows given at once: more than this cannot be told apart."""
MAX_LIST_GUESSES = 2
"""Rows of a list that are looked at for the entry of one member: those where it usually is."""
MAX_END_RECORDS = 4
"""Records at the end of an archive that arrows are drawn from."""
MAX_ARROW_FIELDS = 2_000
"""Fields looked at for one answer: it has to come at once."""

Chain = Sequence[Field]
"""Fields inside one another, outermost first."""


class ReferenceFinder:
    """Knows one layer; ``first`` is the number of its archive's first member among all."""

    def __init__(self, layer: Layer, first: int) -> None:
        self.layer = layer
        self.archive = layer.archive
        self.fields = layer.fields()
        self._first = first

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

    def chain_at(self, offset: int) -> Chain:
        """The fields that own a byte."""
        return [field for _, field in locate(self.fields, offset)]

    def _to(self, words: str, spans: Spans, member: int | None = None) -> Reference:
        return Reference(words, self.layer.info.layer, spans, None if member is None else self._first + member)

    def _name(self, member: int) -> str:
        return visible(self.archive.members.path(member))

    # ---- what bytes themselves say -----------------------------------------------------------------------------

    def _own(self, chain: Chain) -> Iterator[Reference]:
        """What the bytes themselves say a place of; the innermost field first."""
        for depth in range(len(chain) - 1, -1, -1):
            field, outer = chain[depth], chain[:depth]
            yield from self._from_hash(field)
            for kind in field.kind.points_to:
                yield from (self._to(f"The {each.name}", each.spans) for each in self._of_kind(kind)[:1])
            if field.kind.is_range:
                if (span := self.target_of(field)).size:
                    yield self._to(self._text_at(span.start), (span,))
            elif field.kind.precedes is not None and outer:
                stop = self._followed_to(field, field.kind.precedes, outer[-1].children)
                yield self._to(f"The bytes of this {field.kind.words[0]}", (Span(field.spans[-1].stop, stop),))
        rows = chain[0].kind.rows
        if rows is not None and not any(field.kind is rows for field in chain):
            for first in self._entries(chain[0])[:1]:
                yield self._to(f"The first entry of the {chain[0].name}", first.spans)

    def _of_kind(self, kind: Kind) -> list[Field]:
        return [each for each in self.fields if each.kind is kind]

    def _from_hash(self, field: Field) -> Iterator[Reference]:
        if field.kind.is_hash:
            field = next((child for child in field.children if child.kind is Kind.DIGEST), field)
        place = self.layer.in_file(field.spans) if field.kind is Kind.DIGEST else ()
        known = self._checksum(place[0].start) if place else None
        if known is not None and known.covers:
            covers, place, omits = map(self.layer.from_file, (known.covers, known.place, known.omits))
            found = self._to(f"The bytes that the {visible(known.name)} covers", covers, known.member)
            yield replace(found, place=place, omits=omits)

    def _checksum(self, start: int) -> Checksum | None:
        """The recorded checksum that stands at a byte of the file."""
        every = self.archive.checksums
        # Most ledgers are in file order; what is not found so is looked for among the first.
        at = bisect_left(every, start, key=lambda each: each.place[0].start if each.place else -1)
        likely = joined(every[max(0, at - 2) : at + 3], every[-3:], every[:MAX_SCANNED_ROWS])
        return next((each for each in likely if any(span.start <= start < span.stop for span in each.place)), None)

    def covering(self, start: int) -> Checksum | None:
        """The recorded checksum over the byte at ``start`` of the layer, of a format whose checksums share no byte."""
        every = self.archive.checksums
        place = self.layer.in_file((Span(start, start + 1),))
        if not place or not len(every):
            return None
        at = bisect_right(every, place[0].start, key=lambda each: each.covers[0].start if each.covers else -1)
        near = every[max(0, at - 2) : at + 1]
        return next((each for each in near if any(start <= place[0].start < stop for start, stop in each.covers)), None)

    def ranges(self) -> list[Field]:
        """The ranges in use that the archive lists at ``Archive.ranges_at``."""
        if self.layer.source is not self.archive.source or self.archive.ranges_at < 0:
            return []
        above = self.chain_at(self.archive.ranges_at)
        return [each for field in above for each in field.children if each.kind.is_range and not _unused(each)]

    def target_of(self, entry: Field) -> Span:
        """The bytes that a range says the place of, as far as they exist."""
        match entry.value:
            case [int(start), int(length)] if length > 0:
                return Span(start, start + length).clipped(0, self.layer.source.size)
            case _:
                return Span(0, 0)

    def _text_at(self, start: int) -> str:
        """What stands at a byte of the layer."""
        chain = self.chain_at(start)
        member = next((field.member for field in reversed(chain) if field.member is not None), None)
        if member is not None:
            return f"The data of {self._name(member)}"
        return f"The {chain[-1].name}" if chain else "Bytes that no structure claims"

    def _followed_to(self, header: Field, by: Kind, headers: Sequence[Field]) -> int:
        """The end of the bytes ``by`` that follow one of the headers."""
        after = header.spans[-1].stop
        # What follows the last stretch of that kind belongs to no header.
        found = [each.spans[-1].stop for each in self._of_kind(by) if each.spans]
        rows = positions(headers, after, self.layer.source.size)
        return next((headers[at].start for at in rows if headers[at].start >= after), max(after, *found[-1:], 0))

    # ---- members -----------------------------------------------------------------------------------------------

    def _of_member(self, chain: Chain) -> Iterator[Reference]:
        beside = next((at for at, field in enumerate(chain) if _is_beside(field)), None)
        if beside:
            yield from self._children(chain[beside - 1], heads=True)
        segment = next((field for field in chain if field.kind.hashed), None)
        hashed = self.covering(segment.start) if segment is not None else None
        if hashed is not None:  # resets and headers of chunks lead elsewhere
            yield self._to(f"The {visible(hashed.name)}", self.layer.from_file(hashed.place))
        for entry in self.ranges():
            if intersect((self.target_of(entry),), chain[-1].spans):
                yield self._to(f"{entry.name} of the {entry.kind.family}", entry.spans)
        member = member_of(self.archive, chain)
        if member is not None:
            yield from self._described(member, chain)

    def _described(self, member: int, chain: Chain) -> Iterator[Reference]:
        """Where a member's head and data are, and where the archive tells of it: beside its data, and in an index."""
        found, name = self.archive.members[member], self._name(member)
        if found.head >= 0 and any(field.kind.about_member and field.kind.leads_on for field in chain):
            heads = (field for field in self.chain_at(found.head) if field.kind.heads_member)
            yield from (self._to(f"The {field.name} of {name}", field.spans) for field in heads)
        data = self.layer.from_file(found.spans) if found.readable else ()
        yield self._to(f"The data of {name}", data, member)
        start = chain[-1].value if chain[-1].kind is Kind.OFFSET else None
        if (
            isinstance(start, int)
            and start not in [span.start for span in data[:1]]
            and 0 <= start < self.layer.source.size
        ):
            text = self._text_at(start)
            yield self._to(f"Byte {start:,}: {text[:1].lower()}{text[1:]}", (Span(start, start + 1),))
        for field in chain:
            if field.kind is Kind.MEMBER:
                yield from self._children(field)
        for listing in self.fields:
            listed = self._entry_of(member, listing, MAX_SCANNED_ROWS)
            if listed is not None:
                yield self._to(f"The {listed.name} of {name}", listed.spans)

    def _entry_of(self, member: int, listing: Field, most: int) -> Field | None:
        """The row about a member in a field of a kind with ``rows``, if it is among the ``most`` likely ones."""
        if listing.kind.rows is None:
            return None
        entries = self._entries(listing)
        head = self.archive.members[member].head
        near = entries.rows(head, head + 1) if isinstance(entries, FieldTable) and head >= listing.start else ()
        # At its number, from either end, or else somewhere among the first.
        ends = (at for at in (member, len(entries) - 1 - member) if 0 <= at < len(entries))
        rows = (entries[row] for row in joined(near, islice(joined(ends, range(len(entries))), most)))
        return next((row for row in rows if row.member == member), None)

    def _children(self, field: Field, *, heads: bool = False) -> Iterator[Reference]:
        """The records of its member in a field; ``heads``: only the one at its head."""
        for child in field.children[:MAX_SCANNED_ROWS]:
            if child.kind.about_member and child.spans and (child.kind.heads_member or not heads):
                yield self._to(f"The {child.kind} of {visible(field.shown or field.name)}", child.spans)

    def _entries(self, listing: Field) -> Sequence[Field]:
        """The rows of a list: its children, or those of the list in it."""
        inner = next((each for each in listing.children[:8] if each.kind is listing.kind), listing)
        rows = inner.children
        return rows if isinstance(rows, FieldTable) else [each for each in rows if each.kind is listing.kind.rows]

    # ---- arrows ------------------------------------------------------------------------------------------------

    def arrows(self, shown: Span) -> Iterator[Arrow]:
        """The arrows that touch the bytes, some of them more than once."""
        for arrow in self._arrows(shown):
            starts = shown.start <= arrow.target.start < shown.stop
            if starts or (arrow.source is not None and arrow.source.clipped(*shown).size):
                yield arrow

    def _arrows(self, shown: Span) -> Iterator[Arrow]:
        # What stands at the end of an archive or at its beginning leads far: it is few, so it is always looked at.
        for field in islice((each for each in self.fields if each.kind.points_to), MAX_END_RECORDS):
            yield from self._from((field,))
        for entry in self.ranges():
            if self.target_of(entry).size:
                yield from self._from((entry,))
        for chain in islice(_chains_in(self.fields, shown, ()), MAX_ARROW_FIELDS):
            if chain[-1].kind.leads_on:
                yield from self._from(chain)
            elif shown.start <= chain[-1].start < shown.stop:
                yield from self._leading_to(chain[-1])

    def _from(self, chain: Chain) -> Iterator[Arrow]:
        field = chain[-1]
        shown = visible(field.shown) if field.kind.about_member else ""
        for reference in self.references(chain)[:1]:
            label = f"The {field.name} {shown}" if shown else f"The {field.name}"
            yield Arrow(_hull(field.spans), _hull(reference.covers), label, reference.words)

    def _leading_to(self, field: Field) -> Iterator[Arrow]:
        """What leads to the beginning of a field."""
        hashed = self.covering(field.start) if field.kind.hashed else None
        for place in self.layer.from_file(hashed.place) if hashed is not None else ():
            chain = self.chain_at(place.start)
            depth = next((at for at, each in enumerate(chain) if each.kind.leads_on), None)
            if depth is not None:  # the block or header whose hash covers the segment
                yield from self._from(chain[: depth + 1])
        records = field.children[:8] if field.kind is Kind.MEMBER else ()
        for head in [each for each in records if each.kind.heads_member][:1]:
            for row in filter(_is_beside, records):  # rows beside the archive own no byte of it
                words = f"The {row.name} of {visible(field.name)}, beside the archive"
                yield Arrow(None, head.spans[0], words, f"The {head.name}")
        if field.member is not None and not field.kind.holds_data:
            for listing in self.fields:
                entry = self._entry_of(field.member, listing, MAX_LIST_GUESSES)
                if entry is not None and listing.kind is not field.kind:
                    yield from self._from((listing, entry))


def _unused(field: Field) -> bool:
    return field.kind.is_range and not (isinstance(field.value, list) and field.value[1])


def _is_beside(field: Field) -> bool:
    """Whether it stands beside the archive and tells of one member."""
    return field.kind.about_member and not field.spans


def _hull(spans: Spans) -> Span:
    return Span(spans[0].start, spans[-1].stop)


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
        finder = ReferenceFinder(shown, now.location.number(shown.at, 0))
        if path is None:
            return finder.references(finder.chain_at(offset))
        above = (at_path(finder.fields, path[:stop]) for stop in range(1, len(path) + 1))
        return finder.references([field for field in above if field is not None])

    def arrows(self, layer: int, start: int, stop: int) -> tuple[Arrow, ...]:
        """The references from or to a byte in ``[start, stop)`` of a layer, in the order of these bytes.

        Raises OperationError where the layer is gone and SourceError where bytes cannot be read.
        """
        now = self.now
        shown = now.layers[layer]
        finder = ReferenceFinder(shown, now.location.number(shown.at, 0))
        found: dict[tuple[int, int], Arrow] = {}
        for arrow in islice(finder.arrows(Span(start, stop)), MAX_ARROWS):
            found.setdefault((-1 if arrow.source is None else arrow.source.start, arrow.target.start), arrow)
        return tuple(found.values())
