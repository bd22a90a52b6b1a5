"""One archive or many, their members numbered through."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate

from inspector.core.member import FOLDER, UNREAD
from inspector.core.names import visible
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.location import Location
from inspector.operations.protocol.views import MemberRow
from inspector.operations.session.marks import Marks


class ArchiveSet:
    """The archives of a location, members numbered through in their order; paths begin with the archive's folders.

    Archives are opened and decoded in order too: while one grows, there are no members after its own.
    """

    def __init__(self, location: Location) -> None:
        self.archives = location.archives
        self.folder = location.folder

    def _stops(self) -> list[int]:
        return list(accumulate(len(archive.members) for archive in self.archives))

    def __len__(self) -> int:
        return sum(len(archive.members) for archive in self.archives)

    def locate(self, index: int) -> tuple[int, int]:
        """The archive's number and the member's index in it; raises OperationError where there is none."""
        if len(self.archives) == 1:
            local, at = index, 0
        else:
            stops = self._stops()
            at = bisect_right(stops, index)
            local = index - (stops[at - 1] if at else 0)
        if index < 0 or at >= len(self.archives) or local >= len(self.archives[at].members):
            raise OperationError(f"There is no member {index}.")
        return at, local

    def number(self, archive: int, local: int) -> int:
        """The number among all of the member ``local`` of an archive."""
        return sum(len(before.members) for before in self.archives[:archive]) + local

    def path(self, index: int) -> bytes:
        """The whole path of a member."""
        at, local = self.locate(index)
        return self.folder(at) + self.archives[at].members.path(local)

    def row(self, index: int, marks: Callable[[int], Marks]) -> MemberRow:
        """A member as a row."""
        at, local = self.locate(index)
        member = self.archives[at].members.seen(local)
        return MemberRow(
            index,
            visible(self.folder(at) + member.path),
            member.size,
            member.stored,
            member.codec.value,
            member.digest or "",
            member.spans[0].start if member.spans else member.head,
            bool(member.marks & FOLDER) or member.path.endswith(b"/"),
            marks(at).of_member(local),
            self.archives[at].verdict(local),
            not member.marks & UNREAD,
        )

    def counts(self, count: int) -> list[int]:
        """How many of the first ``count`` members each archive has."""
        left, found = count, []
        for archive in self.archives:
            found.append(min(left, len(archive.members)))
            left -= found[-1]
        return found
