"""Blobs of one segment are decoded one behind the other, and are proved together by the hash of their segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inspector.core.archive import Archive, Emitter
from inspector.core.finding import Finding
from inspector.core.progress import Progress
from inspector.core.verdict import Verdict
from inspector.formats.rca.explain import report
from inspector.formats.rca.hashes import compare
from inspector.formats.rca.layout import Layout
from inspector.formats.rca.ledger import Ledger

_COMPARED = (Verdict.VERIFIED, Verdict.MISMATCH)


def lane(archive: Archive, index: int) -> int:
    """See Format.lane."""
    blocks = archive.detail.blocks
    number: int = blocks.segment_of(blocks.at_payload(archive.members.starts[index]))
    return number


def apart(archive: Archive) -> Archive:
    """See Format.apart: a reader remembers in the layout where it stopped, so each thread has a layout of its own."""
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
    if any(hashes.verdict(row) in _COMPARED for row in range(len(hashes))):
        return archive.findings
    segments = {lane(archive, member) for member in members}
    near = {hashes.row(segment) + step for segment in segments for step in (-1, 0, 1)}
    copy = replace(archive, findings=list(archive.findings))
    report(compare(layout, progress, sorted(near.intersection(range(len(hashes))))), Emitter(copy))
    return copy.findings
