"""The members of one side of a comparison: of an archive, of the ranges of a dataset, or the files of a folder."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from inspector.core.collection import Collection
from inspector.core.edit import OverlaySource
from inspector.core.field import Field
from inspector.core.kinds import Kind
from inspector.core.member import FOLDER, SPECIAL, Member
from inspector.core.program.progress import Progress, cancelling
from inspector.core.source import Source, SplicedSource
from inspector.core.span import Span
from inspector.core.verdict import Verdict
from inspector.operations.create.inputs import Input, gather
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.collection import collection_in
from inspector.operations.open.listing import content, learn_all
from inspector.operations.open.location import open_location
from inspector.operations.open.opening import Opened, decode, start
from inspector.operations.protocol.compare_views import AS_IT_IS, Version
from inspector.sources.local.folder import LocalFolder
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.prefix import S3Prefix

Place = Source | LocalFolder | S3Prefix


class Listing:
    """Files with their content, numbered in their order; ``ordered`` is False for a folder, which has none.

    ``archives`` are those opened; ``keys`` the path of each inside its dataset, empty for a single archive.
    ``ranges`` and ``orphans`` are those of datasets, and ``open_file`` opens what stands beside ranges.
    """

    def __init__(
        self,
        location: str,
        archives: Sequence[Opened],
        keys: Sequence[bytes],
        files: Sequence[Input],
        collection: Collection | None = None,
        open_file: Callable[[str], Source] | None = None,
    ) -> None:
        self.location = location
        self.archives = archives
        self.keys = keys
        self._files = files
        self._open_file = open_file
        self.ranges = collection.ranges if collection is not None else ()
        self.orphans = collection.orphans if collection is not None else ()
        self._stops = list(accumulate(len(each.members) for each in archives))
        self.ordered = not files

    def __len__(self) -> int:
        return self._stops[-1] if self._stops else len(self._files)

    def folder(self, at: int) -> bytes:
        """What stands before the paths of the members of an archive."""
        return self.keys[at]

    def beside(self, at: int) -> Source:
        """The metadata or index beside range ``at``, which has some. Raises SourceError."""
        assert self._open_file is not None
        return self._open_file(self.ranges[at].beside)

    def place(self, at: int) -> tuple[int, int]:
        """The number of a member's archive, and its index there; -1 for a file of a folder."""
        if not self._stops:
            return -1, at
        part = bisect_right(self._stops, at)
        return part, at - (self._stops[part - 1] if part else 0)

    def path(self, at: int) -> bytes:
        """The name of a member, without the slash that ends a folder's."""
        part, index = self.place(at)
        return self._files[at].name if part < 0 else self.keys[part] + self.archives[part].members.path(index)

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
            return Listing(location, (_version_of(place, version, progress),), (b"",), ())
        is_folder = isinstance(place, (LocalFolder, S3Prefix)) and collection_in(place) is None
    if is_folder:
        return Listing(location, (), (), gather([location], progress, connection=connection))
    with cancelling(progress):
        opened = open_location(location, connection, place=None if isinstance(place, LocalFolder) else place)
    opened.read_ahead = True
    for _ in opened.read_all(progress):
        pass
    learn_all(opened.archives, progress)
    keys = [opened.folder(at) for at in range(len(opened.archives))]
    open_file = place.open if isinstance(place, (LocalFolder, S3Prefix)) else None
    return Listing(location, opened.archives, keys, (), opened.collection, open_file)


def _version_of(place: Place, version: Version, progress: Progress) -> Opened:
    if isinstance(place, (LocalFolder, S3Prefix)):
        raise OperationError("Only a file can be compared with another version of itself.")
    for edit in version.edits:
        if edit.old_size != place.size:
            raise OperationError("The file has another size than the change was made for. Reload it.")
        place = OverlaySource(place, edit)
    if version.part is not None:  # as bytes, whatever it looks like
        first, stop = version.part
        return unread(SplicedSource(place, [Span(first, min(stop, place.size))], place.name))
    archive = start(place)
    decode(archive, progress)
    return archive
