"""All that is known of a location's bytes as they are at one time: on disk, or with a pending edit over them."""

from __future__ import annotations

from inspector.operations.open.location import Location
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.views import ContentInfo
from inspector.operations.session.archive_set import ArchiveSet, Marks
from inspector.operations.session.checks import Checks
from inspector.operations.session.layers import FieldView, Layers
from inspector.operations.session.members_view import MembersView


class Snapshot:
    """One location as it is read; another edit over the same bytes makes another snapshot."""

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
        """The archive ``at`` with its layer, opened now if it is the next one."""
        archive = self.location.open(at)
        self.layers.add_file(at, self.location.title(at), archive)
        return archive

    def open_ahead(self, at: int) -> Opened:
        """The archive ``at`` with its layer, opened now wherever it stands."""
        archive = self.location.ahead(at)
        self.layers.add_file(at, self.location.title(at), archive)
        return archive

    def marks(self, at: int) -> Marks:
        """Where something was found in an archive."""
        known = self._marks.get(at)
        archive = self.location.known(at)
        if known is None or len(known.findings) != len(archive.findings):
            known = self._marks[at] = Marks(archive)
        return known

    def forget_marks(self) -> None:
        """Findings are about to be others."""
        self._marks.clear()

    def view(self, number: int) -> FieldView:
        """The fields of a layer as rows."""
        layer = self.layers[number]
        # Before the turn of an archive its members have no numbers.
        first = self.archive_set.number(layer.at, 0) if layer.at < len(self.archives) else None
        return FieldView(layer, self.marks(layer.at), first)
