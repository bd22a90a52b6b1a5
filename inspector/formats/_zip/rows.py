"""Who owns which bytes before the central directory: members, gaps between them, orphans in the gaps."""

from __future__ import annotations

from array import array
from itertools import islice
from operator import add

from inspector.core.archive import Emitter
from inspector.core.member import UNREADABLE
from inspector.core.names import visible
from inspector.core.numbers import in_bytes, verb
from inspector.core.source import Source
from inspector.formats._extents import Rows, lay_out
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.overlaps import Extents, report_inside, report_overlaps
from inspector.formats._zip.records import LOCAL_SIZE
from inspector.formats._zip.scan import local_sizes, read_local

_MOST_ORPHANS = 1000
_MOST_GAPS = 1000


def lay_rows(source: Source, emitter: Emitter, directory: Directory, limit: int, told: int) -> Rows:
    """The rows of ``[0, limit)``: an owner below the number of members is a member, one above it an orphan.

    Overlaps, orphans and gaps are reported, but no gap from ``told`` on or at the start of a file that was moved: of
    those a finding speaks already.
    """
    extents = _extents(directory, emitter, limit)
    rows = lay_out(extents.starts, extents.stops, 0, limit)
    orphans = [] if directory.assumed else _orphans(source, rows)
    for start, stop in orphans:
        extents.starts.append(start)
        extents.stops.append(stop)
    if orphans:
        rows = lay_out(extents.starts, extents.stops, 0, limit)
        _report_orphans(source, emitter, orphans)
    report_overlaps(emitter, directory, rows, extents)
    shift = directory.ending.shift if directory.ending is not None else 0
    _report_gaps(emitter, rows, max(0, shift), told)
    return rows


def _extents(directory: Directory, emitter: Emitter, limit: int) -> Extents:
    members = directory.members
    heads, marks = members.heads, members.marks
    assert heads is not None
    assert marks is not None
    extents = Extents(heads[:], array("Q", map(add, members.stops, directory.descriptors)))
    for index, mark in enumerate(marks):
        if mark & UNREADABLE:
            extents.starts[index], extents.stops[index] = 1, 0
        elif extents.stops[index] > limit:
            extents.beyond.add(index)
            report_inside(emitter, directory, index, limit)
    return extents


def _orphans(source: Source, rows: Rows) -> list[tuple[int, int]]:
    """Members that begin with a local header exactly where a gap begins, one after the other."""
    found: list[tuple[int, int]] = []
    for row in islice(rows.gaps, _MOST_GAPS):
        at, limit = rows.starts[row], rows.row_stop(row)
        while at < limit and len(found) < _MOST_ORPHANS:
            stop = _orphan_stop(source, at, limit)
            if stop is None:
                break
            found.append((at, stop))
            at = stop
    return found


def _orphan_stop(source: Source, at: int, limit: int) -> int | None:
    local = read_local(source, at)
    sizes = local_sizes(local[0], local[2]) if local else None
    if local is None or sizes is None:
        return None
    stop = at + LOCAL_SIZE + len(local[1]) + len(local[2]) + sizes[0]
    return stop if stop <= limit else None


def _report_orphans(source: Source, emitter: Emitter, orphans: list[tuple[int, int]]) -> None:
    for start, stop in orphans:
        local = read_local(source, start)
        name = visible(local[1]) if local else ""
        message = f"The local header of {name} at {start:,} is not in the central directory: left behind, or hidden."
        emitter.warning("zip-orphan", message, (start, stop))


def _report_gaps(emitter: Emitter, rows: Rows, shift: int, told: int) -> None:
    for row in rows.gaps:
        start, stop = rows.starts[row], rows.row_stop(row)
        if start >= told or stop <= shift:
            continue
        if start == 0:
            stand = verb(stop, "stands", "stand")
            message = f"{in_bytes(stop)} {stand} before the first member, as in a self-extracting archive."
            emitter.info("zip-leading-bytes", message, (start, stop))
        else:
            belong = verb(stop - start, "belongs", "belong")
            message = f"The {in_bytes(stop - start)} from {start:,} on {belong} to no member."
            emitter.warning("zip-gap", message, (start, stop))
