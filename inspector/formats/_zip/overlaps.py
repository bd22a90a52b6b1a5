"""Members that claim bytes which other members, the central directory or the end records claim too.

Which of them the bytes are is not known, and archives are made so on purpose to grow without end where they are
extracted: so all that are involved are marked and named, not only the later one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from inspector.core.archive import Emitter
from inspector.core.member import SHARED
from inspector.core.names import visible
from inspector.formats._extents import Overlap, Rows, lay_out, shared_extents
from inspector.formats._zip.directory import Directory


@dataclass(slots=True)
class Extents:
    """Where each member's bytes lie, local header to data descriptor; orphans follow after the members.

    ``beyond`` are members that run past where local files have to end.
    """

    starts: array[int] = field(default_factory=lambda: array("Q"))
    stops: array[int] = field(default_factory=lambda: array("Q"))
    beyond: set[int] = field(default_factory=set)

    def possible(self) -> Extents:
        """Those that do not run past where they have to end; the others claim nothing."""
        starts, stops = self.starts[:], self.stops[:]
        for index in self.beyond:
            starts[index], stops[index] = 1, 0
        return Extents(starts, stops)


def report_inside(emitter: Emitter, directory: Directory, index: int, limit: int) -> None:
    """Mark and name a member that runs past ``limit``, where local files have to end."""
    name = visible(directory.members.path(index))
    message = f"{name} (member {index}) runs into the central directory or the end records, from {limit:,} on."
    stop = directory.members.stops[index] + directory.descriptors[index]
    emitter.error("zip-overlap", message, (limit, stop), member=index)
    _mark(directory, (index,))


def report_overlaps(emitter: Emitter, directory: Directory, rows: Rows, extents: Extents) -> None:
    """Mark and name all members that claim the same bytes, as ``rows`` of their ``extents`` tell.

    A claim that is impossible casts no doubt on the members that it runs over.
    """
    if not rows.overlap_count:
        return
    for overlap in rows.overlaps:
        wrong = next((index for index in overlap[:2] if index in extents.beyond), None)
        if wrong is not None:
            _report(emitter, directory, overlap, wrong)
    among = rows
    if extents.beyond:
        extents = extents.possible()
        among = lay_out(extents.starts, extents.stops, 0, rows.stop)
    for overlap, index in _named(among.overlaps):
        _report(emitter, directory, overlap, index)
    if among.overlap_count:
        _mark(directory, shared_extents(extents.starts, extents.stops))
    if rows.overlap_count > len(rows.overlaps):
        message = f"{rows.overlap_count:,} members overlap others; the first {len(rows.overlaps):,} are named."
        emitter.error("zip-overlaps", message)


def _named(overlaps: list[Overlap]) -> Iterator[tuple[Overlap, int]]:
    """Each member of these overlaps once, with one of them: in each another is the later one."""
    named = {overlap.later for overlap in overlaps}
    for overlap in overlaps:
        if overlap.earlier not in named:
            named.add(overlap.earlier)
            yield overlap, overlap.earlier
        yield overlap, overlap.later


def _report(emitter: Emitter, directory: Directory, overlap: Overlap, index: int) -> None:
    """Say of the member ``index``, one of the two of an overlap, that it shares bytes with the other."""
    members, (earlier, later, start, stop) = directory.members, overlap
    message = (
        f"{visible(members.path(later))} (member {later}) and {visible(members.path(earlier))} (member {earlier}) "
        "claim the same bytes; they are shown as the second one's."
    )
    emitter.error("zip-overlap", message, (start, stop), member=index)


def _mark(directory: Directory, indices: Iterable[int]) -> None:
    marks = directory.members.marks
    assert marks is not None
    for index in indices:
        marks[index] |= SHARED
