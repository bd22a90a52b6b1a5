"""The check of an RCA archive: all hashes are compared, and every blob is judged by that of its segment.

A blob is verified when it decodes and the hash of its segment is right. Where that hash is wrong, missing or cannot be
compared, a blob that decodes is doubtful, for the hash covers the segment as a whole; one that does not decode is a
mismatch whatever the hash says.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from enum import Enum

from inspector.core.archive import Archive, Emitter
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.progress import Progress
from inspector.core.span import total as size
from inspector.core.verdict import Verdict
from inspector.formats.rca import explain
from inspector.formats.rca.hashes import Hashes, compare
from inspector.formats.rca.layout import Layout
from inspector.formats.rca.ledger import Ledger


def compare_hashes(layout: Layout, emitter: Emitter, progress: Progress) -> Hashes:
    """Compare all hashes, emit what they say unless it has been said, and set the ledger."""
    hashes = compare(layout, progress)
    emitter.archive.checksums = Ledger(hashes)
    explain.report(hashes, emitter)
    return hashes


def check(archive: Archive, emitter: Emitter, progress: Progress) -> str:
    """See Format.check."""
    layout = archive.detail
    if not isinstance(layout, Layout):
        return ""  # the file could not be read
    hashes = compare_hashes(layout, emitter, progress)
    whole = sum(_judge(hashes, row, emitter, progress) for row in range(len(hashes)))
    return _sentence(hashes, whole)


def _judge(hashes: Hashes, row: int, emitter: Emitter, progress: Progress) -> int:
    """Judge the members of one segment; says how many are verified."""
    progress.advance(0)
    layout, starts = hashes.layout, emitter.members.starts
    segment = hashes.segment(row)
    start, stop = hashes.bounds(row)
    first = bisect_left(starts, start)
    last = bisect_left(starts, stop, first)
    if first == last:
        return 0
    # A blob of which only the beginning decodes is the last that is listed of its segment.
    damaged = layout.damaged.get(segment)
    broken = damaged is not None and starts[last - 1] >= layout.blocks.edges[damaged]
    verdict = Verdict.VERIFIED if hashes.proved(row) else Verdict.DOUBTFUL
    for member in range(first, last):
        emitter.judge(member, verdict)
    if broken:
        emitter.judge(last - 1, Verdict.MISMATCH)
    return last - first - broken if verdict is Verdict.VERIFIED else 0


class _Is(Enum):
    """What the check says of a segment and its hash."""

    WHOLE = 0
    DAMAGED = 1
    UNSURE = 2
    WRONG_HASH = 3


def _is(hashes: Hashes, row: int) -> _Is:
    segment, wrong = hashes.segment(row), hashes.verdict(row) is Verdict.MISMATCH
    if segment in hashes.layout.damaged:
        return _Is.DAMAGED
    if wrong and (segment < 0 or hashes.hash_only(row)):
        return _Is.WRONG_HASH
    if segment < 0 or hashes.proved(row):
        return _Is.WHOLE
    return _Is.DAMAGED if wrong and not explain.resumed_wrongly(hashes, row) else _Is.UNSURE


def _sentence(hashes: Hashes, whole: int) -> str:
    layout = hashes.layout
    if not len(hashes) and not layout.chunks.tail:
        return "It is an empty file: a sound archive that holds nothing yet."
    if not len(hashes):
        return "There is nothing in it that could be checked."
    segments, blobs = len(layout.blocks.segments), layout.blobs(0, len(layout.blocks))
    counted = Counter(_is(hashes, row) for row in range(len(hashes)))
    parts = [
        _part(counted[each], total, thing, *verbs)
        for each, total, thing, verbs in (
            (_Is.DAMAGED, segments, "segments", ("is damaged", "are damaged")),
            (_Is.UNSURE, segments, "segments", ("cannot be checked", "cannot be checked")),
            (_Is.WRONG_HASH, len(hashes), "hashes", ("is wrong", "are wrong")),
        )
        if counted[each]
    ]
    if not parts and whole == blobs:
        parts.append(f"{count(segments, 'segment')} and {count(blobs, 'blob')} are verified")
    else:
        parts.append(_part(whole, blobs, "blobs", "is proved whole", "are proved whole"))
    garbage = 0 if layout.chunks.corrupt else sum(size(field.spans) for field in layout.chunks.tail)
    if garbage:
        parts.append(f"{in_bytes(garbage)} follow that readers ignore")
    return "; ".join(parts) + "."


def _part(number: int, total: int, things: str, one: str, many: str) -> str:
    """``1 of 3 segments is damaged``."""
    thing = things.removesuffix("es" if things == "hashes" else "s")
    return f"{grouped(number)} of {count(total, thing, things)} {one if 1 in (number, total) else many}"
