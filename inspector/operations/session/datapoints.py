"""Going to a datapoint by its key.

The names of ranges say which of them holds a key, so only that one is read, whether the others have been or not.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from inspector.core.collection import Collection, Range
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.formats.datas3t.datapoints import member_with
from inspector.operations.jobs.operation_error import Refused
from inspector.operations.open.opening import Opened, learn
from inspector.operations.protocol.datapoint_key import datapoint_key
from inspector.operations.protocol.views import Stage, Target

if TYPE_CHECKING:  # a snapshot knows checks, which know what is open
    from inspector.operations.session.snapshot import Snapshot


class Datapoints:
    """What a session answers about single datapoints of its location."""

    _now: Snapshot
    _stage: Stage
    _generation: int

    def find_datapoint(self, progress: Progress, expression: str) -> Target:
        """Where a datapoint is (see ``datapoint_key``); its range is read now if that has not been.

        Raises Refused where there is none, or several, and Cancelled.
        """
        wanted = datapoint_key(expression)
        if wanted is None:
            raise Refused("Type a key, such as key 12345.")
        collection = self._now.location.collection
        if collection is None:
            return self._in_archive(0, wanted[1], progress)
        numbers = _ranges_with(collection, *wanted)
        for at in numbers[:-1]:  # ranges that overlap: one of them may hold the key by its name alone
            try:
                return self._in_archive(at, wanted[1], progress)
            except Refused:
                continue
        return self._in_archive(numbers[-1], wanted[1], progress)

    def _in_archive(self, at: int, key: int, progress: Progress) -> Target:
        archive = self._read(at, progress)
        member = member_with(archive, key)
        if member is not None and learn(archive, (member,), progress):
            self._generation += 1
            member = member_with(archive, key)
        if member is None:
            raise Refused(self._missing(archive, at, key))
        spans = archive.members[member].spans
        if not spans:
            raise Refused(f"It is not known where the datapoint with key {key:,} is: its range is damaged.")
        return Target(at, *spans[0])

    def _read(self, at: int, progress: Progress) -> Opened:
        now = self._now
        archive = now.open_ahead(at) if now.location.total else None
        if archive is None or (self._stage is Stage.CANCELLED and at < len(now.archives) and not archive.complete):
            raise Refused("Reading was cancelled, so this is incomplete. Reload it.")
        if not archive.complete:
            now.location.decode(at, progress)
            self._generation += 1
        return archive

    def _missing(self, archive: Opened, at: int, key: int) -> str:
        collection = self._now.location.collection
        if collection is None:
            what = "archive holds" if archive.format == "datas3t" else "is not a datas3t range and holds"
            return f"This {what} no datapoint with key {key:,}."
        name = visible(collection.ranges[at].name)
        return f"Key {key:,} is among those that the name of {name} tells, but there is no such datapoint in it."


def _ranges_with(collection: Collection, dataset: str, key: int) -> list[int]:
    """The numbers of the ranges that may hold a key; raises Refused where none does, or those of several datasets."""
    if dataset and dataset not in collection.datasets:
        known = ", ".join(map(visible, collection.datasets[:8]))
        raise Refused(f"There is no dataset called {visible(dataset)}. There is: {known}.")
    among = [at for at, each in enumerate(collection.ranges) if dataset in ("", each.dataset)]
    found = [at for at in among if collection.ranges[at].first <= key <= collection.ranges[at].last]
    if not found:
        raise Refused(_nowhere([collection.ranges[at] for at in among], key))
    names = list(dict.fromkeys(collection.ranges[at].dataset for at in found))
    if len(names) > 1:
        told = " or ".join(f"key {visible(name)}/{key}" for name in names[:3])
        raise Refused(f"Several datasets have ranges with key {key:,}: type {told}.")
    return found


def _nowhere(ranges: list[Range], key: int) -> str:
    """That no range holds a key, and between which it would be."""
    lasts = sorted(each.last for each in ranges)
    firsts = sorted(each.first for each in ranges)
    before, after = bisect_left(lasts, key) - 1, bisect_left(firsts, key)
    sides = [f"the one before ends with {lasts[before]:,}"] if before >= 0 else []
    sides += [f"the next one begins with {firsts[after]:,}"] if after < len(firsts) else []
    return f"No range holds key {key:,}: {' and '.join(sides)}." if sides else f"No range holds key {key:,}."
