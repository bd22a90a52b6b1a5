"""The members of one side of a comparison: of an archive, of the ranges of a dataset, or the files of a folder."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from inspector.core.edit import OverlaySource
from inspector.core.field import Field
from inspector.core.kinds import Kind
from inspector.core.member import FOLDER, SPECIAL, Member
from inspector.core.program.progress import Progress, cancelling
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.core.verdict import Verdict
from inspector.operations.create.inputs import Input, gather
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.collection import collection_in
from inspector.operations.open.listing import content, learn_all
from inspector.operations.open.location import Location, open_location
from inspector.operations.open.opening import Opened, decode, start
from inspector.operations.protocol.compare_views import AS_IT_IS, Version
from inspector.sources.local.file import LocalFolder
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.prefix import S3Prefix

Place = Source | LocalFolder | S3Prefix


class Listing:
    """Files with their content, numbered in their order; ``ordered`` is False for a folder, which has none.

    ``opened`` is what has archives, none of a folder of ``files``.
    """

    def __init__(self, location: str, opened: Location, files: Sequence[Input] = ()) -> None:
        self.location = location
        self.opened = opened
        self.archives = opened.archives
        self._files = files
        self.ranges = opened.collection.ranges if opened.collection is not None else ()
        self.orphans = opened.collection.orphans if opened.collection is not None else ()
        self._stops = list(accumulate(len(each.members) for each in self.archives))
        self.ordered = not files

    def __len__(self) -> int:
        return self._stops[-1] if self._stops else len(self._files)

    def place(self, at: int) -> tuple[int, int]:
        """The number of a member's archive, and its index there; -1 for a file of a folder."""
        if not self._stops:
            return -1, at
        part = bisect_right(self._stops, at)
        return part, at - (self._stops[part - 1] if part else 0)

    def path(self, at: int) -> bytes:
        """The name of a member, without the slash that ends a folder's."""
        part, index = self.place(at)
        return self._files[at].name if part < 0 else self.opened.folder(part) + self.archives[part].members.path(index)

    def seen(self, at: int) -> Member:
        """A member as its own archive names it; a file of a folder has no stored bytes."""
        part, index = self.place(at)
        if part < 0:
            size = self._files[at].size or 0
            return Member(at, self._files[at].name, size, size, ())
        return self.archives[part].members.seen(index)

    def is_file(self, at: int) -> bool:
        """Whether a member is a file, whose content can be compared."""
        part, index = self.place(at)
        return part < 0 or not self.archives[part].members.marks_of(index) & (FOLDER | SPECIAL)

    def size(self, at: int) -> int:
        """The size of the content in bytes."""
        part, index = self.place(at)
        return (self._files[at].size or 0) if part < 0 else self.archives[part].members.size(index)

    def verdict(self, at: int) -> Verdict:
        """What the check found of a member."""
        part, index = self.place(at)
        return Verdict.NOT_CHECKED if part < 0 else self.archives[part].verdict(index)

    def pieces(self, at: int, progress: Progress) -> Iterator[bytes]:
        """The content. Raises MemberError, SourceError and Cancelled."""
        part, index = self.place(at)
        return self._files[at].pieces() if part < 0 else content(self.archives[part], index, progress)


def unread(source: Source) -> Opened:
    """A source as plain bytes, none of which are read."""
    fields = (Field("bytes", Kind.BYTES, (Span(0, source.size),)),)
    made = Opened(source, "bytes", "plain bytes", fields)
    made.complete = True
    return made


def open_listing(
    location: str, progress: Progress, connection: Connection, version: Version, *, place: Place
) -> Listing:
    """Decode a location, of which ``place`` is open; any folder that is no dataset is a folder of files.

    Raises SourceError and Cancelled, and OperationError where only a file can be read as ``version`` says.
    """
    with cancelling(progress):
        if version != AS_IT_IS:
            return Listing(location, Location([_version_of(place, version, progress)]))
        is_folder = isinstance(place, (LocalFolder, S3Prefix)) and collection_in(place) is None
    if is_folder:
        return Listing(location, Location([]), gather([location], progress, connection=connection))
    with cancelling(progress):
        opened = open_location(location, connection, place=place)
    opened.read_ahead = True
    for _ in opened.read_all(progress):
        pass
    learn_all(opened.archives, progress)
    return Listing(location, opened)


def _version_of(place: Place, version: Version, progress: Progress) -> Opened:
    if isinstance(place, (LocalFolder, S3Prefix)):
        raise OperationError("Only a file can be compared with another version of itself.")
    for edit in version.edits:
        if edit.old_size != place.size:
            raise OperationError("The file has another size than the change was made for. Reload it.")
        place = OverlaySource(place, edit)
    archive = start(place)
    decode(archive, progress)
    return archive
