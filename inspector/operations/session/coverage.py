"""How the ranges of a collection cover the keys of its datasets, and the state of each range."""

from __future__ import annotations

from bisect import bisect_left

from inspector.core.collection import Collection, Orphan
from inspector.core.verdict import State, Verdict
from inspector.operations.check.checking import own_state, verdict_counts
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.coverage_views import (
    FAILED,
    RANGE_STATES,
    DatasetRow,
    RangeMetadata,
    RangePlace,
    RangeRow,
    RangeState,
)
from inspector.operations.protocol.views import Page
from inspector.operations.session.state import SessionState

MAX_RANGE_ROWS = 10_000
"""The largest number of ranges in a page."""


_RANGE_STATES = {
    State.WARNING: RangeState.WARNING,
    State.TORN: RangeState.TORN,
    State.DAMAGED: RangeState.DAMAGED,
    State.UNREADABLE: RangeState.UNREADABLE,
}


def _state(archive: Opened) -> RangeState:
    if not archive.complete:
        return RangeState.NOT_READ
    state = own_state(archive)
    if archive.checking and _RANGE_STATES.get(state) not in FAILED:
        return RangeState.CHECKING
    if state is not State.SOUND:
        return _RANGE_STATES[state]
    if not archive.checked:
        return RangeState.NOT_CHECKED
    return RangeState.VERIFIED if set(verdict_counts(archive)) <= {Verdict.VERIFIED} else RangeState.SOUND


def _beside(location: str) -> RangeMetadata:
    if not location:
        return RangeMetadata.NOTHING
    return RangeMetadata.INDEX if location.endswith(".index") else RangeMetadata.METADATA


def _datasets(collection: Collection) -> tuple[DatasetRow, ...]:
    names = [each.dataset for each in collection.ranges]
    shared: dict[str, list[tuple[int, int]]] = {}
    for overlap in collection.overlaps:
        shared.setdefault(names[overlap.later], []).append((overlap.first, overlap.last))
    orphans: dict[str, list[Orphan]] = {}
    for orphan in collection.orphans:
        orphans.setdefault(orphan.dataset, []).append(orphan)
    found = []
    for name in dict.fromkeys((*names, *orphans)):
        start, stop = bisect_left(names, name), bisect_left(names, name + "\0")  # ranges are sorted by dataset
        ranges, alone = collection.ranges[start:stop], orphans.get(name, ())
        kinds = [_beside(each.beside) for each in ranges]
        found.append(
            DatasetRow(
                name,
                start,
                len(ranges),
                sum(each.size for each in ranges),
                min((*(each.first for each in ranges), *(each.first for each in alone))),
                max((*(each.last for each in ranges), *(each.last for each in alone))),
                tuple(shared.get(name, ())),
                tuple(alone),
                tuple((kind, kinds.count(kind)) for kind in RangeMetadata if kind in kinds),
            )
        )
    return tuple(found)


class Coverage(SessionState):
    """The ranges of a collection."""

    def datasets(self) -> tuple[DatasetRow, ...]:
        """All datasets in the order of their ranges; those with orphans only come last."""
        collection = self.now.location.collection
        return () if collection is None else _datasets(collection)

    def ranges(self, first: int, count: int) -> Page[RangeRow]:
        """Ranges ``[first, first + count)``, sorted by dataset and key."""
        collection = self.now.location.collection
        every = () if collection is None else collection.ranges
        first = max(0, min(first, len(every)))
        rows = every[first : first + max(0, min(count, MAX_RANGE_ROWS))]
        return Page(
            len(every),
            first,
            tuple(RangeRow(each.first, each.last, each.name, each.size, _beside(each.beside)) for each in rows),
        )

    def range_states(self, first: int, count: int) -> bytes:
        """The states of ranges ``[first, first + count)`` as positions in RANGE_STATES."""
        now = self.now
        archives = now.archives
        stop = min(first + count, now.location.total)
        codes = bytearray(RANGE_STATES.index(_state(archive)) for archive in archives[first:stop])
        return bytes(codes) + bytes(max(0, stop - first - len(codes)))

    def range_place(self, at: int) -> RangePlace:
        """The location of range ``at``; raises OperationError if it was not read yet."""
        archives = self.now.archives
        if not 0 <= at < len(archives):
            raise OperationError("This range has not been read yet. Try again in a moment.")
        before = sum(len(archive.members) for archive in archives[:at])
        return RangePlace(at, before if len(archives[at].members) else None)
