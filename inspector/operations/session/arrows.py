"""The references that begin or end within some bytes: what a view of them draws arrows for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from inspector.core.field import Field, locate, positions
from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.span import Span, Spans
from inspector.operations.protocol.views import Arrow, LayerKind
from inspector.operations.session.references import LIST_ROWS, POINTS_TO, Chain, ReferenceFinder

if TYPE_CHECKING:  # a snapshot knows checks, which know what is open
    from inspector.operations.session.snapshot import Snapshot

MAX_ARROWS = 200
"""Arrows given at once: more than this cannot be told apart."""
MAX_LIST_GUESSES = 2
"""Rows of a list that are looked at for the entry of one member: those where it usually is."""
MAX_ARROW_FIELDS = 2_000
"""Fields looked at for one answer: it has to come at once."""
POINTING_KINDS = frozenset(
    (
        *POINTS_TO,
        *(Kind.INDEX_ENTRY, Kind.TACO_ENTRY, Kind.RESET_BLOCK, Kind.CHUNK_HEADER, Kind.CENTRAL_HEADER),
    )
)
"""Kinds that say the place of something else; what they hold is not looked at."""
SIDECAR_KINDS = frozenset((Kind.METADATA_ROW, Kind.INDEX_ENTRY))
"""Kinds that stand beside the archive and say where in it a member's header begins."""
_NOT_ENTERED = frozenset((*POINTING_KINDS, Kind.LOCAL_HEADER, Kind.TAR_HEADER, Kind.BLOB_BLOCK))


class Arrows:
    """What a session answers about the references around some bytes."""

    _now: Snapshot

    def arrows(self, layer: int, start: int, stop: int) -> tuple[Arrow, ...]:
        """The references from or to a byte in ``[start, stop)`` of a layer, in the order of these bytes.

        Raises Refused where the layer is gone and SourceError where bytes cannot be read.
        """
        now = self._now
        shown = now.layers[layer]
        if shown.info.kind is LayerKind.CONTENT:
            return ()
        finder = _ArrowFinder(ReferenceFinder(shown, now.archive_set.number(shown.at, 0)), Span(start, stop))
        found: dict[tuple[int, int], Arrow] = {}
        for arrow in islice(finder.arrows(), MAX_ARROWS):
            found.setdefault((-1 if arrow.source is None else arrow.source.start, arrow.target.start), arrow)
        return tuple(found.values())


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
            if field.kind in POINTING_KINDS:
                yield from self._from(chain)
            elif self._starts_in_view(field.spans[0]):
                yield from self._to(chain)

    def _starts_in_view(self, span: Span) -> bool:
        return self._shown.start <= span.start < self._shown.stop

    def _from_ends(self) -> Iterator[Arrow]:
        """What stands at the end of an archive or at its beginning leads far: it is few, so it is always looked at."""
        for field in islice((each for each in self._fields if each.kind in POINTS_TO), len(POINTS_TO)):
            yield from self._from((field,))
        for entry in self._finder.taco_entries():
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
        if field.kind is Kind.SEGMENT:
            yield from self._from_hash_of(field)
        elif field.kind is Kind.MEMBER:
            yield from self._from_sidecar(field)
        if field.member is not None and field.kind is not Kind.BLOB_BLOCK:
            yield from self._from_list(field)

    def _from_hash_of(self, segment: Field) -> Iterator[Arrow]:
        """The block or header whose hash covers a segment."""
        hashed = self._finder.covering(segment.start)
        for place in self._finder.layer.from_file(hashed.place) if hashed is not None else ():
            chain = [field for _, field in locate(self._fields, place.start)]
            depth = next((at for at, field in enumerate(chain) if field.kind in POINTING_KINDS), None)
            if depth is not None:
                yield from self._from(chain[: depth + 1])

    def _from_sidecar(self, member: Field) -> Iterator[Arrow]:
        """Rows beside the archive own no byte of it: their arrows come from nowhere."""
        head = next((each for each in member.children[:8] if each.kind is Kind.TAR_HEADER), None)
        for row in member.children[:8] if head is not None else ():
            if head is not None and row.kind in SIDECAR_KINDS and not row.spans:
                words = f"The {row.name} of {visible(member.name)}, which stands beside the archive"
                yield Arrow(None, head.spans[0], words, f"The {head.name}")

    def _from_list(self, field: Field) -> Iterator[Arrow]:
        """The entry of a list that says where a member's data, or what stands before them, begin."""
        assert field.member is not None
        for listing in self._fields:
            if listing.kind in LIST_ROWS and listing.kind is not field.kind:
                entry = self._finder.entry_of(field.member, listing, MAX_LIST_GUESSES)
                if entry is not None:
                    yield from self._from((listing, entry))


def _hull(spans: Spans) -> Span:
    return Span(spans[0].start, spans[-1].stop)


def _label(field: Field) -> str:
    shown = visible(field.shown)
    return f"The {field.name} {shown}" if field.kind is Kind.INDEX_ENTRY and shown else f"The {field.name}"


def _chains_in(fields: Sequence[Field], shown: Span, above: tuple[Field, ...]) -> Iterator[Chain]:
    """The fields with a byte in ``shown``, each after those around it, but not what is in those that lead on."""
    for position in positions(fields, *shown):
        field = fields[position]
        if not any(span.start < shown.stop and shown.start < span.stop for span in field.spans):
            continue
        chain = (*above, field)
        yield chain
        if field.kind not in _NOT_ENTERED:
            yield from _chains_in(field.children, shown, chain)
