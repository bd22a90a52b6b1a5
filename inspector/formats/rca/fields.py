"""The fields of RCA's blob layer: segments, blocks, and the parts of each block.

A reset block stands at the head of the segment it opens; the hash in it covers the segment before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from inspector.core.field import Census, Computed, Field, FieldTable, parent
from inspector.core.kinds import Family, Kind, Role, family_bit, role_bit
from inspector.core.member import Members
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, hexadecimal, in_bytes
from inspector.core.source import Stored
from inspector.core.span import Spans
from inspector.formats._zstd_fields import inside_zstd
from inspector.formats.rca import BLOB_BLOCK, BLOB_LAYER, CONTROL_BLOCK, RESET_BLOCK, SEGMENT
from inspector.formats.rca.blocks import BLOB, HASH_SIZE, NOT_OPENING, RESET, REST, kind_and_size, varint
from inspector.formats.rca.chunks import Layout

_SECTION = "RCA, Inner Layer Format (Blob Layer)"
_RESET_SECTION = "RCA, Reset blocks (block type 0)"

_CONTROL_ROLES = role_bit(Role.EXTENT) | role_bit(Role.CONTROL) | family_bit(Family.RESET)
_BLOB_ROLES = role_bit(Role.EXTENT) | role_bit(Role.DATA) | family_bit(Family.HEADER) | family_bit(Family.CONTENT)
_ROLES = [_CONTROL_ROLES] * 32
_ROLES[RESET] |= role_bit(Role.DIGEST)
_ROLES += [_BLOB_ROLES, role_bit(Role.GAP), _CONTROL_ROLES]


class BlobLayerFields:
    """Makes the fields of the blob layer when they are looked at; names come from the members decoded by then."""

    def __init__(self, layout: Layout, members: Members, *, sparing: bool) -> None:
        self._layout = layout
        self._blocks = layout.blocks
        self._inner = layout.inner
        self._members = members
        self._sparing = sparing

    def layer(self) -> list[Field]:
        """The blob layer, which owns all payload; nothing where there is none."""
        if not self._inner.size:
            return []
        segments = self._blocks.segments
        blobs = self._layout.blobs(0, len(self._blocks))
        note = f"{count(blobs, 'blob')} in {count(len(segments), 'segment')}, {in_bytes(self._inner.size)}."
        roles = Computed(len(segments), self._segment_roles)
        table = FieldTable(self._layout.starts(segments), self._segment, roles, self._count)
        spans = self._inner.outer(0, self._inner.size)
        return [Field("blob layer", BLOB_LAYER, spans, None, note, table, specification=_SECTION)]

    def _segment_roles(self, number: int) -> int:
        first, last = self._blocks.segment(number)
        roles = 0
        for kind in set(self._blocks.types[first:last]):
            roles |= _ROLES[kind]
        return roles

    def _count(self) -> Census:
        """The blocks of each kind."""
        types = self._blocks.types
        blobs, resets, rest = (types.count(kind) for kind in (BLOB, RESET, REST))
        found = {
            BLOB_BLOCK: blobs,
            Kind.DATA: blobs,
            RESET_BLOCK: resets,
            CONTROL_BLOCK: len(types) - blobs - resets - rest,
            Kind.GAP: rest,
        }
        return Census({(kind, False): number for kind, number in found.items() if number})

    def _spans(self, first: int, last: int) -> Spans:
        return self._inner.outer(self._blocks.edges[first], self._blocks.edges[last])

    def _segment(self, number: int) -> Field:
        first, last = self._blocks.segment(number)
        if number + 1 < len(self._blocks.segments):
            end = f"its hash is in the reset block at byte {grouped(self._layout.outer_start(last))}"
        else:
            end = "its hash is the metadata of the last chunk"
        blobs = self._layout.blobs(first, last)
        note = f"Segment {number + 1}: {count(blobs, 'blob')} in one zstd frame; {end}."
        roles = Computed(last - first, lambda row: _ROLES[self._blocks.types[first + row]])
        table = FieldTable(self._layout.starts(range(first, last)), lambda row: self._block(first + row), roles)
        foreign = self._hash(first) if first < last and self._blocks.types[first] == RESET else ()
        label = f"segment {number + 1}"
        spans = self._spans(first, last)
        return Field("segment", SEGMENT, spans, number + 1, note, table, foreign=foreign, label=label)

    def _hash(self, block: int) -> Spans:
        """The hash in a reset block: that of the segment before."""
        payload, stop = self._blocks.payloads[block], self._blocks.edges[block + 1]
        return self._inner.outer(payload, min(payload + HASH_SIZE, stop))

    def _block(self, block: int) -> Field:
        kind = self._blocks.types[block]
        if kind == REST:
            note = "No block can be told here: see the findings."
            return Field("unreadable blocks", Kind.GAP, self._spans(block, block + 1), note=note)
        start, payload = self._blocks.edges[block], self._blocks.payloads[block]
        # Zeros where its bytes are no longer there.
        value, stop = varint(self._inner.read(start, payload - start), 0)
        size = kind_and_size(value)[1] if stop else 0
        there = self._blocks.edges[block + 1] - payload
        missing = "" if there == size else f", of which {grouped(there)} are there"
        stated = f"{in_bytes(size)} of payload{missing}"
        make = self._blob if kind == BLOB else self._reset if kind == RESET else self._control
        return make(block, value, stated)

    def _parts(self, block: int, value: int, note: str, parts: Iterable[Field]) -> list[Field]:
        start, stop = self._blocks.edges[block], self._blocks.payloads[block]
        span = self._inner.outer(start, stop)
        stands = self._layout.raw.read(start, stop - start)
        if stands != self._inner.read(start, stop - start):
            note = f"{stands.hex(' ')}, which is wrong: a hash proves that this should say {note}"
        return [Field("varint", Kind.LENGTH, span, value, note, text=hexadecimal(value)), *parts]

    def _blob(self, block: int, value: int, stated: str) -> Field:
        member = self.member(block)
        name, content = None, "The name and the content of a blob, compressed."
        if member is not None:
            name = visible(self._members.path(member))
            content = f"zstd data: the name and {in_bytes(self._members.size(member))} of content."
        stored = Stored(self._inner, self._blocks.payloads[block], self._blocks.edges[block + 1], self._inner.outer)
        payload = stored.place(stored.start, stored.stop)
        inside = () if self._sparing or not payload[0].size else inside_zstd(stored, in_frame=True)
        parts = [Field("payload", Kind.DATA, payload, note=content, inside=inside)]
        return parent(
            "blob block",
            BLOB_BLOCK,
            self._spans(block, block + 1),
            self._parts(block, value, f"blob, {stated}", parts),
            value=name,
            note=f"blob, {stated}",
            member=member,
            label=name or "blob",
        )

    def member(self, block: int) -> int | None:
        """The member that a blob block holds, or None when it is not decoded, or cannot be."""
        start = self._blocks.payloads[block]
        known = len(self._members)
        index = bisect_left(self._members.starts, start, 0, known)
        return index if index < known and self._members.starts[index] == start else None

    def _reset(self, block: int, value: int, stated: str) -> Field:
        payload, stop = self._blocks.payloads[block], self._blocks.edges[block + 1]
        cut = min(payload + HASH_SIZE, stop)
        ended = self._blocks.segment_of(block) if block else 0
        covered = f"segment {ended}, which ends here" if ended else "the bytes before it, of which there are none"
        digest = self._inner.read(payload, cut - payload).hex()
        parts = [Field("hash", Kind.DIGEST, self._hash(block), digest, f"64-bit blake2s of {covered}.")]
        if cut < stop:
            note = "Readers ignore it."
            parts.append(Field("additional payload", Kind.BYTES, self._inner.outer(cut, stop), note=note))
        return parent(
            "reset block",
            RESET_BLOCK,
            self._spans(block, block + 1),
            self._parts(block, value, f"control, type 0 (reset), {stated}", parts),
            value=digest,
            note=f"Begins segment {self._blocks.segment_of(block) + 1}; its hash covers {covered}.",
            specification=_RESET_SECTION,
            label=f"reset block, hash of segment {ended}" if ended else "reset block, hash of nothing",
        )

    def _control(self, block: int, value: int, stated: str) -> Field:
        span = self._inner.outer(self._blocks.payloads[block], self._blocks.edges[block + 1])
        if self._blocks.types[block] == NOT_OPENING:
            kind, note = RESET, f"A reset block with {stated} that opens no segment: too many before it hold nothing."
        else:
            kind = self._blocks.types[block]
            note = f"A control block of the unknown type {kind} with {stated}: readers skip it."
        parts = [Field("payload", Kind.BYTES, span, note="Of a meaning that is not known here.")]
        return parent(
            "control block",
            CONTROL_BLOCK,
            self._spans(block, block + 1),
            self._parts(block, value, f"control, type {kind}, {stated}", parts),
            value=kind,
            note=note,
            label=f"control block, type {kind}",
        )
