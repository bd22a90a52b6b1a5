"""Checks RCA archives: compares all hashes and judges every blob by the hash of its segment.

A blob is verified if it decodes and the hash of its segment matches. If that hash is wrong, missing or cannot be
compared, a blob that decodes is doubtful, since the hash covers the whole segment; one that does not decode is a
mismatch whatever the hash.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from msgspec.structs import replace

from inspector.core.archive import Archive, Emitter
from inspector.core.field import LazyRows
from inspector.core.finding import Finding
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.span import Span
from inspector.core.span import total as size
from inspector.core.verdict import Checksum, Verdict
from inspector.formats.rca import codes
from inspector.formats.rca.blocks import Convention
from inspector.formats.rca.chunks import Layout
from inspector.formats.rca.findings import is_undecided, report_hashes, resumed_wrongly
from inspector.formats.rca.hashes import Hashes, compare


def check(archive: Archive, emitter: Emitter, progress: Progress) -> str:
    layout = archive.detail
    if not isinstance(layout, Layout):
        return ""  # the file could not be read
    hashes = compare(layout, progress)
    emitter.archive.checksums = StoredHashes(hashes)
    report_hashes(hashes, emitter)
    whole = sum(_judge(hashes, row, emitter, progress) for row in range(len(hashes)))
    return _sentence(hashes, whole)


def _judge(hashes: Hashes, row: int, emitter: Emitter, progress: Progress) -> int:
    """Judge the members of one segment; returns how many are verified."""
    progress.advance(0)
    layout, starts = hashes.layout, emitter.members.starts
    first, last = (bisect_left(starts, at) for at in hashes.bounds(row))
    if first == last:
        return 0
    # A blob of which only the beginning decodes is the last that is listed of its segment.
    damaged = layout.damaged.get(hashes.segment(row))
    broken = damaged is not None and starts[last - 1] >= layout.blocks.edges[damaged]
    verdict = Verdict.VERIFIED if hashes.proved(row) else Verdict.DOUBTFUL
    emitter.judge_run(first, last, verdict)
    if broken:
        emitter.judge(last - 1, Verdict.MISMATCH)
    return last - first - broken if verdict is Verdict.VERIFIED else 0


_SAID = {
    "damaged": ("segments", "is damaged", "are damaged"),
    "disagrees": ("segments", "disagrees with its hash", "disagree with their hashes"),
    "unsure": ("segments", "cannot be checked", "cannot be checked"),
    "wrong hash": ("hashes", "is wrong", "are wrong"),
}
"""What a check says of the segments in each state, and of their hashes."""


def _state(hashes: Hashes, row: int) -> str:
    """The state of a segment and its hash, of those in _SAID; empty where both are right."""
    segment, wrong = hashes.segment(row), hashes.verdict(row) is Verdict.MISMATCH
    if segment in hashes.layout.refused:
        return "damaged" if wrong and not hashes.hash_only(row) else "unsure"
    if segment in hashes.layout.damaged:
        return "damaged"
    if wrong and (segment < 0 or hashes.hash_only(row)):
        return "wrong hash"
    if segment < 0 or hashes.proved(row):
        return ""
    if is_undecided(hashes, row):
        return "disagrees"
    return "damaged" if wrong and not resumed_wrongly(hashes, row) else "unsure"


def _sentence(hashes: Hashes, whole: int) -> str:
    layout = hashes.layout
    if not len(hashes) and not layout.chunks.tail:
        return "It is an empty file: a sound archive that holds nothing yet."
    if not len(hashes):
        return "There is nothing in it that could be checked."
    totals = {"segments": len(layout.blocks.segments), "hashes": len(hashes)}
    blobs = layout.blobs(0, len(layout.blocks))
    counted = Counter(_state(hashes, row) for row in range(len(hashes)))
    parts = [
        _part(counted[state], totals[thing], thing, *verbs)
        for state, (thing, *verbs) in _SAID.items()
        if counted[state]
    ]
    if not parts and whole == blobs:
        parts.append(f"{count(totals['segments'], 'segment')} and {count(blobs, 'blob')} are verified")
    elif blobs:
        parts.append(_part(whole, blobs, "blobs", "is proved whole", "are proved whole"))
    else:
        parts.append("no blob is found")
    garbage = 0 if layout.chunks.corrupt else sum(size(field.spans) for field in layout.chunks.tail)
    if garbage:
        parts.append(f"{in_bytes(garbage)} follow that readers ignore")
    return "; ".join(parts) + "."


def _part(number: int, total: int, things: str, one: str, many: str) -> str:
    """``1 of 3 segments is damaged``."""
    thing = things.removesuffix("es" if things == "hashes" else "s")
    return f"{grouped(number)} of {count(total, thing, things)} {one if 1 in (number, total) else many}"


_COMPARED = (Verdict.VERIFIED, Verdict.MISMATCH)


def decode_group(archive: Archive, index: int) -> int:
    blocks = archive.detail.blocks
    return int(blocks.segment_of(blocks.at_payload(archive.members.starts[index])))


def thread_copy(archive: Archive) -> Archive:
    """See Format.thread_copy: a reader stores its position in the layout, so each thread needs its own layout."""
    layout = archive.detail
    if not isinstance(layout, Layout):
        return archive
    copy = archive.copy()
    copy.detail = replace(layout, cursor=None)
    return copy


def prove(archive: Archive, members: Sequence[int], progress: Progress) -> Sequence[Finding]:
    """See Format.prove: compares the hashes of the members' segments, unless that was done on opening or by a check.

    Those before and behind are compared too, for they can tell that of two that do not fit only a hash is wrong.
    """
    layout, stored = archive.detail, archive.checksums
    if not isinstance(layout, Layout) or not isinstance(stored, StoredHashes):
        return archive.findings
    hashes = stored.hashes
    segments = sorted({decode_group(archive, member) for member in members})
    copy = archive.copy()
    if not any(hashes.verdict(row) in _COMPARED for row in range(len(hashes))):
        near = {hashes.row(segment) + step for segment in segments for step in (-1, 0, 1)}
        hashes = compare(layout, progress, sorted(near.intersection(range(len(hashes)))))
        report_hashes(hashes, Emitter(copy))
    return [*copy.findings, *_unproved(hashes, segments)]


def _unproved(hashes: Hashes, segments: Iterable[int]) -> Iterator[Finding]:
    """That no hash proves the content of segments, a finding for each reason."""
    places: dict[str, list[Span]] = {}
    for segment in segments:
        row = hashes.row(segment)
        if not hashes.proved(row):
            places.setdefault(_reason(hashes, row), []).extend(hashes.layout.inner.outer(*hashes.bounds(row)))
    for reason, spans in places.items():
        yield codes.UNPROVED.finding(f"Nothing proves what was read: {reason}.", spans)


def _reason(hashes: Hashes, row: int) -> str:
    if hashes.comparable(row):
        return "the hash of its segment is wrong" if hashes.certain(row) else "where its segment ends is unknown"
    covered = "covers bytes that are missing" if hashes.final(row) else "is cut off"
    return f"the hash of its segment {covered}"


_CONVENTIONS = {
    Convention.SPECIFICATION: "Right as the specification says: the hash that opens the segment is left out.",
    Convention.RCARCH: "Right as rcarch writes: the hash that opens the segment is covered too.",
}


class StoredHashes(LazyRows[Checksum]):
    """All stored hashes in file order; ``hashes`` are what they are made of."""

    def __init__(self, hashes: Hashes) -> None:
        self.hashes = hashes

    def __len__(self) -> int:
        return len(self.hashes)

    def row(self, at: int) -> Checksum:
        hashes = self.hashes
        segment, convention = hashes.segment(at), hashes.convention_of(at)
        ranges, inner = hashes.ranges(at, convention), hashes.layout.inner
        return Checksum(
            name=f"hash of segment {segment + 1}" if segment >= 0 else "hash of nothing, before segment 1",
            algorithm="blake2s, 64 bits",
            stored=hashes.stored(at).hex(),
            computed=hashes.digest(at, convention),
            place=hashes.place(at),
            covers=tuple(chain.from_iterable(inner.outer(*each) for each in ranges if each[0] < each[1])),
            omits=inner.outer(ranges[0][1], ranges[1][0]) if len(ranges) == 2 else (),
            verdict=hashes.verdict(at),
            note=self._note(at),
        )

    def _note(self, at: int) -> str:
        hashes = self.hashes
        held, verdict = hashes.matched(at), hashes.verdict(at)
        if held:
            return _CONVENTIONS[held] if hashes.conventions_differ(at) else "Right; both conventions agree on it."
        if at in hashes.repaired:
            return "Only the stored hash is wrong: the next hash covers it and fits the computed one."
        if hashes.confirmed_by_chunk(at):
            return "Only the stored hash is wrong: the metadata of the chunk that the segment fills is the right one."
        if hashes.hash_only(at):
            return "It seems that only the stored hash is wrong: it differs from the computed one in one byte."
        if at - 1 in hashes.repaired:
            return "Right once the hash in the reset block that opens the segment is repaired."
        if verdict is Verdict.NOT_CHECKABLE:
            if hashes.comparable(at):
                return "Where the archive ends cannot be told, so this may not be the hash of the segment."
            return "It covers bytes that are missing." if hashes.final(at) else "The stored hash is cut off."
        if verdict is Verdict.MISMATCH:
            other = {hashes.digest(at, each) for each in Convention} - {hashes.digest(at, hashes.convention_of(at))}
            return (
                "Wrong by both conventions" + "".join(f"; by the other it would be {digest}" for digest in other) + "."
            )
        return "Not compared yet."
