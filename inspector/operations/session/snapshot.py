"""A snapshot: everything known about one state of a location, on disk or with a pending edit."""

from __future__ import annotations

from collections.abc import Collection

from inspector.core.progress import Progress
from inspector.operations.open.location import Location
from inspector.operations.open.opening import Opened, learn
from inspector.operations.protocol.views import ContentInfo, MemberRow
from inspector.operations.session.archive_set import ArchiveSet, Marks
from inspector.operations.session.checks import Checks
from inspector.operations.session.layers import FieldView, Layers
from inspector.operations.session.members_view import MembersView


class Snapshot:
    """One state of a location; each pending edit has a snapshot of its own."""

    def __init__(self, name: str, location: Location) -> None:
        self.location = location
        self.archives = location.archives
        self.archive_set = ArchiveSet(location)
        self.layers = Layers(location.total)
        self.members = MembersView(self.archive_set, self.marks)
        self.checks = Checks(name, location, self.archive_set)
        self.contents: dict[int, ContentInfo] = {}
        self._marks: dict[int, Marks] = {}
        if location.total:
            self.open(0)

    def open(self, at: int) -> Opened:
        """The archive ``at`` and its layer; opens it if it is the next one."""
        archive = self.location.open(at)
        self.layers.add_file(at, self.location.title(at), archive)
        return archive

    def open_ahead(self, at: int) -> Opened:
        """The archive ``at`` and its layer; opens it out of order if necessary."""
        archive = self.location.ahead(at)
        self.layers.add_file(at, self.location.title(at), archive)
        return archive

    def marks(self, at: int) -> Marks:
        """The findings of an archive by byte and by member."""
        known = self._marks.get(at)
        archive = self.location.known(at)
        if known is None or len(known.findings) != len(archive.findings):
            known = self._marks[at] = Marks(archive)
        return known

    def forget_marks(self) -> None:
        """Discard cached findings because they will change."""
        self._marks.clear()

    def view(self, number: int) -> FieldView:
        """The fields of a layer as rows."""
        layer = self.layers[number]
        # An archive opened out of order has no member numbers yet.
        first = self.archive_set.number(layer.at, 0) if layer.at < len(self.archives) else None
        return FieldView(layer, self.marks(layer.at), first)


class LazyNames:
    """The part of a session that reads names as they come into view.

    Some archives are decoded without reading the headers of their members.
    """

    _now: Snapshot
    _generation: int

    def name_members(self, progress: Progress, numbers: Collection[int]) -> tuple[MemberRow, ...]:
        """These members, after reading their headers. Raises OperationError, SourceError and Cancelled."""
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
