"""Save the datapoints that verify into a new range, with its metadata (S3 Storage Layout)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspector.core.archive import Archive
from inspector.core.numbers import count
from inspector.core.program.progress import Progress
from inspector.core.repair import Companion, Fate, Outcome, Outcomes, Repair, outcomes
from inspector.core.verdict import Verdict
from inspector.formats._tar.header import BLOCK, aligned, parse
from inspector.formats._tar.salvage import content, damage, head_of, losses
from inspector.formats.datas3t.check import MISMATCH
from inspector.formats.datas3t.datapoints import NONE, RangeRecords
from inspector.formats.datas3t.keys import DIGITS
from inspector.formats.datas3t.write import MAX_DATAPOINT_BYTES, Row, header, metadata


def salvage(archive: Archive, records: RangeRecords) -> Repair | None:
    """A new range of the datapoints that verify; None if neither tar nor content is damaged, or none verifies."""
    codes, rows, members = damage(archive) | _mismatches(archive), records.rows, archive.members
    if not codes or rows is None:
        return None
    kept = [
        index
        for index in range(len(members))
        if archive.verdict(index) is Verdict.VERIFIED
        and records.row_of[index] != NONE
        and members.stored(index) <= MAX_DATAPOINT_BYTES
    ]
    if not kept:
        return None

    def new_header(index: int) -> bytes:
        return b"" if _has_header(archive, index) else header(members.path(index), members.stored(index), 0)

    def new_metadata(progress: Progress) -> Iterator[bytes]:
        progress.advance(0)
        yield metadata(sorted(_rows(archive, records, kept)))

    complete = {rows.ids[records.row_of[index]] for index in kept} == set(rows.ids)
    title = f"Save the {count(len(kept), 'datapoint')} that verify in a new range, with its metadata"
    return Repair(
        "datas3t-salvage",
        title,
        codes,
        () if complete else losses(archive, kept),
        content=content(archive, kept, new_header),
        lossless="Every row of the metadata has its datapoint in the new range." if complete else "",
        along=(Companion(".metadata", "", new_metadata),),
        outcomes=_outcomes(archive, records, kept),
    )


def _mismatches(archive: Archive) -> frozenset[str]:
    return frozenset(each.code for each in archive.findings) & {MISMATCH}


def _outcomes(archive: Archive, records: RangeRecords, kept: Sequence[int]) -> Outcomes:
    """What becomes of each datapoint, those too that only the metadata lists."""
    found = outcomes(archive, frozenset(kept), "its hash in the metadata matches", "the metadata has no hash of it")
    rows = records.rows
    assert rows is not None

    def each() -> Iterator[Outcome]:
        yield from found()
        present = {records.row_of[index] for index in range(len(archive.members))}
        for row in range(len(rows)):
            if row not in present:
                name = b"%0*d" % (DIGITS, rows.ids[row])
                yield Outcome(name, Fate.LOST, "the metadata lists it, and its bytes were not found in the file")

    return each


def _rows(archive: Archive, records: RangeRecords, kept: Sequence[int]) -> Iterator[Row]:
    """The rows of the datapoints ``kept``, at their places in the new tar."""
    members, rows, at = archive.members, records.rows, 0
    assert rows is not None
    for index in kept:
        begin = at
        at += _headers_size(archive, index) + aligned(members.stored(index))
        row = records.row_of[index]
        yield Row(rows.ids[row], begin, at, rows.hashes[row])


def _headers_size(archive: Archive, index: int) -> int:
    """The size of the headers of a datapoint in the new tar: a damaged one becomes one block."""
    members = archive.members
    return members.starts[index] - head_of(members, index) if _has_header(archive, index) else BLOCK


def _has_header(archive: Archive, index: int) -> bool:
    """Whether the headers of a datapoint can be kept."""
    members = archive.members
    at, head = members.starts[index] - BLOCK, head_of(members, index)
    if at < head:
        return False
    found = parse(archive.source.read(at, BLOCK).ljust(BLOCK, b"\0"))
    named = head < at or found.name == members.path(index)
    return found.fits and named and found.size == members.stored(index)
