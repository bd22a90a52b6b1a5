"""Compare the datapoints of a range with their recorded hashes.

S3 Storage Layout, ``data_hash``: the xxHash64 (seed 0) of a datapoint's bytes, without the padding of the tar.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from inspector.core.archive import Archive, Emitter
from inspector.core.field import Computed
from inspector.core.finding import UNREADABLE, Severity
from inspector.core.member import HAS_DIGEST, HOLES, SPECIAL
from inspector.core.names import brief
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import blocks
from inspector.core.span import Span
from inspector.core.verdict import VERDICTS, Checksum, Verdict
from inspector.formats._tar import reading
from inspector.formats._tar.header import padded_stop
from inspector.formats._tar.reading import WINDOW, Padding, check_padding, groups
from inspector.formats._tar.resync import layout_of
from inspector.formats.datas3t import codes
from inspector.formats.datas3t.datapoints import NONE, ROW_MISSING, RangeRecords

MISMATCH = codes.HASH_MISMATCH.code

_MATCHABLE = SPECIAL | HOLES | HAS_DIGEST
"""The marks that decide whether a member has a hash to compare: a regular file with a row has only HAS_DIGEST."""

_COUNTED_ELSEWHERE = frozenset((MISMATCH, ROW_MISSING, UNREADABLE))
"""Error codes that a verdict already counts, or that concern no bytes of the range."""


def check(archive: Archive, emitter: Emitter, progress: Progress) -> str:
    """Read every datapoint once, neighbours together, and hash those that have a metadata row."""
    records = archive.detail
    if isinstance(records, RangeRecords) and not records.described and records.unread:
        return ""  # the recorded hashes are unknown
    if isinstance(records, RangeRecords) and records.described:
        _compare_hashes(archive, emitter, progress, records)
    else:
        check_padding(archive, emitter, progress, layout_of(archive).doubtful)
    return summary((archive,))


def hides_members(archive: Archive, progress: Progress) -> bool:
    """Whether datapoints have swallowed others; only where an error, such as a row without its datapoint, hints it."""
    records = archive.detail
    hinted = any(each.severity is Severity.ERROR for each in archive.findings)
    return hinted and isinstance(records, RangeRecords) and reading.hides_members(archive, progress)


def summary(archives: Iterable[Archive]) -> str:
    """The combined result of checked ranges: how many datapoints have which verdict."""
    verdicts = Counter[Verdict]()
    others, unread = 0, False
    for archive in archives:
        records = archive.detail
        unread |= isinstance(records, RangeRecords) and bool(records.metadata) and not records.described
        verdicts += Counter({verdict: archive.verdicts.count(at) for at, verdict in enumerate(VERDICTS)})
        verdicts[Verdict.NOT_CHECKED] += len(archive.members) - len(archive.verdicts)
        others += sum(
            each.severity is Severity.ERROR and each.code not in _COUNTED_ELSEWHERE for each in archive.findings
        )
    parts = _parts(verdicts, verdicts.total(), unread=unread)
    if others:
        parts.append(f"{count(others, 'other error')} {'was' if others == 1 else 'were'} found")
    return f"{'; '.join(parts)}."


def _parts(verdicts: Counter[Verdict], total: int, *, unread: bool) -> list[str]:
    verified, bare = verdicts[Verdict.VERIFIED], verdicts[Verdict.NOT_CHECKABLE]
    if not total:
        return ["There are no datapoints"]
    if bare == total and unread:
        return ["No hash was compared, because the metadata was not read"]
    if bare == total:
        return [f"No hash is recorded for {'the datapoint' if total == 1 else f'any of the {total:,} datapoints'}"]
    if verified == total:
        return ["The datapoint is verified" if total == 1 else f"All {total:,} datapoints are verified"]
    rest = (
        (verdicts[Verdict.MISMATCH], "does not match its hash", "do not match their hashes"),
        (bare, "has no metadata row to compare with", "have no metadata row to compare with"),
        (verdicts[Verdict.DOUBTFUL], "is doubtful", "are doubtful"),
        (verdicts[Verdict.NOT_CHECKED], "was not read", "were not read"),
    )
    return [
        f"{verified:,} of {count(total, 'datapoint')} {'is' if verified == 1 else 'are'} verified",
        *(f"{number:,} {one if number == 1 else many}" for number, one, many in rest if number),
    ]


def _compare_hashes(archive: Archive, emitter: Emitter, progress: Progress, records: RangeRecords) -> None:
    """One pass over all datapoints."""
    # Imported here because start-up must not wait for it.
    import xxhash

    members, source = archive.members, archive.source
    digests, marks = members.digests, members.marks
    assert digests is not None
    assert marks is not None
    padding, doubtful = Padding(emitter), frozenset(records.layout.doubtful)
    records.computed.clear()
    progress.begin("Comparing hashes", source.size)
    emitter.judge_all(Verdict.NOT_CHECKED)
    for first, last in groups(members):
        low, high = members.starts[first], padded_stop(members, last - 1)
        # Neighbours are read together, a large datapoint in pieces.
        data = memoryview(source.read(low, high - low)) if members.stops[last - 1] - low <= WINDOW else None
        for index in range(first, last):
            start, stop, end = members.starts[index], members.stops[index], padded_stop(members, index)
            if data is not None:
                computed = xxhash.xxh64_intdigest(data[start - low : stop - low])
                rest = bytes(data[stop - low : end - low])
            else:
                digest = xxhash.xxh64()
                for piece in blocks(source, start, stop, WINDOW):
                    digest.update(piece)
                    progress.advance(len(piece))
                computed, rest = digest.intdigest(), source.read(stop, end - stop)
            if marks[index] & _MATCHABLE != HAS_DIGEST:
                emitter.judge(index, Verdict.DOUBTFUL if index in doubtful else Verdict.NOT_CHECKABLE)
            elif computed == digests[index]:
                emitter.judge(index, Verdict.VERIFIED)
            else:
                emitter.judge(index, Verdict.MISMATCH)
                records.computed[index] = computed
                _report_mismatch(emitter, records, index, computed, digests[index])
            padding.look(index, rest)
        progress.advance(max(0, min(high, source.size) - progress.done))
    padding.close()
    progress.advance(source.size - progress.done)


def _report_mismatch(emitter: Emitter, records: RangeRecords, index: int, computed: int, stored: int) -> None:
    start, stop = emitter.members.starts[index], emitter.members.stops[index]
    present = max(0, min(stop, emitter.archive.source.size) - start)
    cut = f" (all that remain of {in_bytes(stop - start)})" if present < stop - start else ""
    emitter.report(
        codes.HASH_MISMATCH,
        f"The hash of the datapoint {brief(emitter.members.path(index))} does not match. Its {in_bytes(present)}{cut} "
        f"hash to {computed:016x}, the metadata records {stored:016x} (row of key {records.keys[index]:,} "
        f"in {records.metadata}). Either its bytes or that row changed after they were written. A reader "
        "that verifies hashes rejects the datapoint.",
        (start, stop),
        member=index,
    )


def checksum_table(archive: Archive, records: RangeRecords, headers: Sequence[Checksum]) -> Computed[Checksum]:
    """The hashes of the metadata's rows, then the checksums of the tar's headers."""
    rows = len(records.rows)
    return Computed(
        rows + len(headers),
        lambda row: _hash_row(archive, records, row) if row < rows else headers[row - rows],
    )


def _hash_row(archive: Archive, records: RangeRecords, row: int) -> Checksum:
    """The ``data_hash`` of one metadata row; it stands in another file, so it has no place in this one."""
    rows = records.rows
    stored = f"{rows.hashes[row]:016x}"
    index = records.member_of[row]
    if index == NONE:
        bad = rows.unreadable.get(row)
        note = f"The row is broken: {bad} cannot be read." if bad else "The row has no datapoint in the tar."
        name = f"data_hash of metadata row {grouped(row)}"
        return Checksum(name, "xxHash64", stored, "", (), (), (), Verdict.NOT_CHECKABLE, note)
    members = archive.members
    verdict = archive.verdict(index)
    computed = stored if verdict is Verdict.VERIFIED else ""
    if verdict is Verdict.MISMATCH:
        computed = f"{records.computed[index]:016x}"
    covers = Span(members.starts[index], members.stops[index]).clipped(0, archive.source.size)
    name = f"data_hash of {brief(members.path(index))}"
    return Checksum(
        name, "xxHash64", stored, computed, (), (covers,), (), verdict, f"Row {row:,} of the metadata.", index
    )
