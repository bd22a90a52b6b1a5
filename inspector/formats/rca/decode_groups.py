"""Blobs of one segment are decoded one behind the other, and are proved together by the hash of their segment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from inspector.core.archive import Archive, Emitter
from inspector.core.finding import Finding, Severity
from inspector.core.progress import Progress
from inspector.core.span import Span
from inspector.core.verdict import Verdict
from inspector.formats.rca.explain import report
from inspector.formats.rca.hashes import Hashes, compare
from inspector.formats.rca.layout import Layout
from inspector.formats.rca.ledger import Ledger

_COMPARED = (Verdict.VERIFIED, Verdict.MISMATCH)


def lane(archive: Archive, index: int) -> int:
    """See Format.decode_group."""
    blocks = archive.detail.blocks
    number: int = blocks.segment_of(blocks.at_payload(archive.members.starts[index]))
    return number


def apart(archive: Archive) -> Archive:
    """A reader stores its position in the layout, so each thread needs a layout of its own."""
    layout = archive.detail
    return replace(archive, detail=replace(layout, cursor=None)) if isinstance(layout, Layout) else archive


def prove(archive: Archive, members: Sequence[int], progress: Progress) -> Sequence[Finding]:
    """See Format.prove: compares the hashes of the members' segments, unless that was done on opening or by a check.

    Those before and behind are compared too, for they can tell that of two that do not fit only a hash is wrong.
    """
    layout, ledger = archive.detail, archive.checksums
    if not isinstance(layout, Layout) or not isinstance(ledger, Ledger):
        return archive.findings
    hashes = ledger.hashes
    segments = sorted({lane(archive, member) for member in members})
    copy = replace(archive, findings=list(archive.findings))
    if not any(hashes.verdict(row) in _COMPARED for row in range(len(hashes))):
        near = {hashes.row(segment) + step for segment in segments for step in (-1, 0, 1)}
        hashes = compare(layout, progress, sorted(near.intersection(range(len(hashes)))))
        report(hashes, Emitter(copy))
    return [*copy.findings, *_unproved(hashes, segments)]


def _unproved(hashes: Hashes, segments: Iterable[int]) -> Iterator[Finding]:
    """That no hash proves the content of segments, a finding for each reason."""
    places: dict[str, list[Span]] = {}
    for segment in segments:
        row = hashes.row(segment)
        if not hashes.proved(row):
            places.setdefault(_reason(hashes, row), []).extend(hashes.layout.inner.outer(*hashes.bounds(row)))
    for reason, spans in places.items():
        yield Finding(Severity.ERROR, "rca-unproved", f"Nothing proves what was read: {reason}.", tuple(spans))


def _reason(hashes: Hashes, row: int) -> str:
    if hashes.comparable(row):
        return "the hash of its segment is wrong" if hashes.certain(row) else "where its segment ends is unknown"
    covered = "covers bytes that are missing" if hashes.final(row) else "is cut off"
    return f"the hash of its segment {covered}"
