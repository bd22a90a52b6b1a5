"""Maps of sparse members: which stretches of the file its data are. GNU tar manual, Storing Sparse Files.

A map stands in the header and blocks after it (old GNU), in PAX records (0.0 and 0.1) or before the data (1.0).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from inspector.core.numbers import grouped, in_bytes
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._tar.extension import EXTENT_KEYS, SPARSE, Overrides, decimal
from inspector.formats._tar.header import BLOCK, aligned, number

CAP = 16 << 20
"""The largest map that is looked at, in bytes; nothing is said against a larger one."""

_ENTRY = 24
_FIRST = Span(386, 482)
"""The entries in the header itself."""
_MORE = Span(0, 504)
"""The entries of each block after it."""
_LARGEST = 2**63 - 1

Extent = tuple[int | None, int | None]
"""Where data belong in the file and how many bytes; None where no number stands."""


class Fault(NamedTuple):
    """What is contradictory about a map, as the end of a sentence that begins with it, and where the map stands."""

    words: str
    span: Span


def fault_of_blocks(source: Source, at: int, start: int, expanded: int, stored: int) -> Fault | None:
    """What is wrong with an old GNU map: the header is at ``at``, the blocks after it end at ``start``."""
    if start - at > CAP:
        return None
    data = source.read(at, start - at)
    fields = [data[_FIRST.start : _FIRST.stop]]
    fields += [data[block : block + _MORE.stop] for block in range(BLOCK, len(data), BLOCK)]
    words = _contradiction([extent for field in fields for extent in _entries(field)], expanded, stored)
    stop = start if start > at + BLOCK else at + _FIRST.stop
    return Fault(words, Span(at + _FIRST.start, stop)) if words else None


def _entries(field: bytes) -> Iterator[Extent]:
    for at in range(0, len(field) - _ENTRY + 1, _ENTRY):
        entry = field[at : at + _ENTRY]
        if entry.strip(b"\0"):
            yield number(entry[:12]), number(entry[12:])


def fault_of_records(source: Source, said: Overrides, records: Span, data: Span, expanded: int) -> Fault | None:
    """What is wrong with the map of a member that PAX records call sparse.

    ``records`` are its extended headers, ``data`` its stored bytes, ``expanded`` its size with all holes.
    """
    major = said.pax.get(SPARSE + b"major")
    if major is not None:
        return _fault_of_data(source, data, expanded)
    if SPARSE + b"map" in said.pax:
        numbers = said.pax[SPARSE + b"map"].split(b",")
    else:
        numbers = [value for _, value in said.extents]
        if any(key != EXTENT_KEYS[at % 2] for at, (key, _) in enumerate(said.extents)):
            return Fault("has extents that are not pairs of an offset and a size", records)
    extents = _pairs(numbers)
    counted = decimal(said.pax.get(SPARSE + b"numblocks"))
    if counted is not None and counted != len(extents):
        return Fault(f"should have {counted:,} extents and has {len(extents):,}", records)
    words = _contradiction(extents, expanded, data.size) if extents else "is missing"
    return Fault(words, records) if words else None


def _pairs(numbers: Sequence[bytes]) -> list[Extent]:
    """The numbers two by two; a lonely last one has no partner."""
    values = [*map(decimal, numbers), *([None] * (len(numbers) % 2))]
    return list(zip(values[::2], values[1::2], strict=True))


def _fault_of_data(source: Source, data: Span, expanded: int) -> Fault | None:
    """The form 1.0: the number of extents and their numbers, a line each, fill whole blocks before the data."""
    size = BLOCK
    while True:
        held = source.read(data.start, min(size, data.size))
        lines = held.split(b"\n")[:-1]
        counted = decimal(lines[0]) if lines else None
        if counted is None or 2 * counted > data.size:
            return Fault("does not begin with the number of its extents", Span(data.start, data.start + len(held)))
        if len(lines) > 2 * counted:
            break
        if len(held) < size or size >= CAP:
            short = len(held) < size
            return Fault("ends before its last extent", data) if short else None
        size *= 8
    lines = lines[: 2 * counted + 1]
    span = Span(data.start, data.start + aligned(sum(map(len, lines)) + len(lines)))
    words = _contradiction(_pairs(lines[1:]), expanded, data.stop - span.stop)
    return Fault(words, Span(span.start, min(span.stop, data.stop))) if words else None


def _contradiction(extents: Iterable[Extent], expanded: int, stored: int) -> str:
    """What cannot be about extents of a file of ``expanded`` bytes of which ``stored`` are there."""
    before = stop = total = 0
    for at, (offset, size) in enumerate(extents):
        if offset is None or size is None or offset < 0 or size < 0:
            return f"has no number in its extent {at:,}"
        if offset + size > _LARGEST:
            return f"goes past 2^63 bytes with its extent {at:,}"
        if offset < before:
            return f"is not sorted: its extent {at:,} begins at {grouped(offset)}, before the one in front of it"
        if offset < stop:
            return f"overlaps itself: its extent {at:,} begins at {grouped(offset)}, inside the one in front of it"
        before, stop, total = offset, offset + size, total + size
    if stop > expanded:
        return f"goes on to byte {grouped(stop)}, but the file has {in_bytes(expanded)}"
    if total != stored:
        return f"has room for {in_bytes(total)} of data, but {grouped(stored)} are stored"
    return ""
