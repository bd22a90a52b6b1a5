"""Names of members whose headers were not read when their archive was decoded: read as they come into view."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from inspector.core.progress import Progress
from inspector.operations.open.opening import learn
from inspector.operations.protocol.views import MemberRow

if TYPE_CHECKING:  # a snapshot knows checks, which know what is open
    from inspector.operations.session.snapshot import Snapshot


class LazyNames:
    """What a session answers about members that it knows only in part."""

    _now: Snapshot
    _generation: int

    def name_members(self, progress: Progress, numbers: Collection[int]) -> tuple[MemberRow, ...]:
        """These members, with what their headers say. Raises Refused, SourceError and Cancelled."""
        now = self._now
        progress.begin("Reading names", len(numbers), "members")
        chosen: dict[int, list[int]] = {}
        for number in sorted(numbers):
            at, local = now.archive_set.locate(number)
            chosen.setdefault(at, []).append(local)
        for at, locals_ in chosen.items():
            if learn(now.archives[at], locals_, progress):
                now.forget_marks()
                self._generation += 1
            progress.advance(len(locals_))
        return tuple(now.members.row(number) for number in numbers if number < len(now.archive_set))
