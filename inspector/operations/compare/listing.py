"""The members of one side of a comparison: of an archive, of the ranges of a dataset, or the files of a folder."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import NamedTuple, TypeVar

from inspector.core.collection import Collection
from inspector.core.edit import OverlaySource
from inspector.core.field import Field
from inspector.core.kinds import Kind
from inspector.core.member import FOLDER, SPECIAL, Codec
from inspector.core.program.progress import Progress, cancelling
from inspector.core.source import Source, SplicedSource
from inspector.core.span import Span, Spans
from inspector.operations.create.inputs import Input, gather
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.collection import collection_in
from inspector.operations.open.listing import content, learn_all
from inspector.operations.open.location import Location, open_location
from inspector.operations.open.opening import Opened, decode, start
from inspector.operations.protocol.compare_views import AS_IT_IS, Version
from inspector.sources.local.folder import LocalFolder
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.prefix import S3Prefix

Place = Source | LocalFolder | S3Prefix
Key = TypeVar("Key", bound=Hashable)


class Listing:
    """Files with their content, numbered in their order; ``ordered`` is False for a folder, which has none.

    ``archives`` are those opened; ``keys`` the path of each inside its dataset, empty for a single archive.
    ``collection`` are the ranges of datasets, and ``open_file`` opens what stands beside them.
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
        self.collection = collection
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

    def name(self, at: int) -> tuple[str, bytes, int]:
        """The dataset of a member, its own name there and the number of its range."""
        part, index = self._place(at)
        return self.ranges[part].dataset, self.archives[part].members.path(index), part

    def _place(self, at: int) -> tuple[int, int]:
        part = bisect_right(self._stops, at)
        return part, at - (self._stops[part - 1] if part else 0)

    def part(self, at: int) -> tuple[Opened, int] | None:
        """The archive of a member and its index there; None for a file of a folder."""
        if not self._stops:
            return None
        part, index = self._place(at)
        return self.archives[part], index

    def path(self, at: int) -> bytes:
        """The name of a member, without the slash that ends a folder's."""
        if not self._stops:
            return self._files[at].name
        part, index = self._place(at)
        return self.keys[part] + self.archives[part].members.path(index)

    def is_file(self, at: int) -> bool:
        """Whether a member is a file, whose content can be compared."""
        place = self.part(at)
        if place is None:
            return True
        marks = place[0].members.marks
        return marks is None or not marks[place[1]] & (FOLDER | SPECIAL)

    def size(self, at: int) -> int:
        """The size of the content in bytes."""
        place = self.part(at)
        return (self._files[at].size or 0) if place is None else place[0].members.size(place[1])

    def digest(self, at: int) -> str | None:
        """The digest recorded of the content."""
        place = self.part(at)
        return None if place is None else place[0].members.seen(place[1]).digest

    def spans(self, at: int) -> Spans:
        """The stored bytes in the file; none for a file of a folder."""
        place = self.part(at)
        return () if place is None else place[0].members.seen(place[1]).spans

    def codec(self, at: int) -> Codec:
        """How the content is stored."""
        place = self.part(at)
        return Codec.STORED if place is None else place[0].members.codec_at(place[1])

    def pieces(self, at: int, progress: Progress) -> Iterator[bytes]:
        """The content. Raises MemberError, SourceError and Cancelled."""
        place = self.part(at)
        return self._files[at].pieces() if place is None else content(*place, progress)


def unread(source: Source) -> Opened:
    """A source as plain bytes, none of which are read."""
    fields = (Field("bytes", Kind.BYTES, (Span(0, source.size),)),)
    made = Opened(source, "bytes", "plain bytes", fields)
    made.complete = True
    return made


def _listing_of(location: str, place: Source | LocalFolder | S3Prefix, version: Version, progress: Progress) -> Listing:
    if isinstance(place, (LocalFolder, S3Prefix)):
        raise OperationError("Only a file can be compared with another version of itself.")
    for edit in version.edits:
        if edit.old_size != place.size:
            raise OperationError("The file has another size than the change was made for. Reload it.")
        place = OverlaySource(place, edit)
    if version.part is not None:
        start_, stop = version.part
        place = SplicedSource(place, [Span(start_, min(stop, place.size))], place.name)
        return Listing(location, (unread(place),), (b"",), ())  # as bytes, whatever it looks like
    archive = start(place)
    decode(archive, progress)
    return Listing(location, (archive,), (b"",), ())


def open_listing(
    location: str, progress: Progress, connection: Connection, version: Version, *, place: Place
) -> Listing:
    """Decode a location, of which ``place`` is open; any folder that is no dataset is a folder of files.

    Raises SourceError and Cancelled, and OperationError where only a file can be read as ``version`` says.
    """
    with cancelling(progress):
        if version != AS_IT_IS:
            return _listing_of(location, place, version, progress)
        is_folder = isinstance(place, (LocalFolder, S3Prefix)) and collection_in(place) is None
    if is_folder:
        return Listing(location, (), (), gather([location], progress, connection=connection))
    with cancelling(progress):
        opened: Location = open_location(location, connection, place=None if isinstance(place, LocalFolder) else place)
    opened.read_ahead = True
    for _ in opened.read_all(progress):
        pass
    learn_all(opened.archives, progress)
    keys = [opened.folder(at) for at in range(len(opened.archives))]
    open_file = place.open if isinstance(place, (LocalFolder, S3Prefix)) else None
    return Listing(location, opened.archives, keys, (), opened.collection, open_file)


def paired(a: Iterable[tuple[int, Key]], b: Iterable[tuple[int, Key]]) -> Pairs:
    """The rows of A and of B with the same key, the first with the first, and those that are left of either."""
    waiting: dict[Key, list[int]] = {}
    for j, key in b:
        waiting.setdefault(key, []).append(j)
    found = Pairs(array("q"), array("q"), [], [])
    for i, key in a:
        partners = waiting.get(key)
        if partners:
            found.a.append(i)
            found.b.append(partners.pop(0))
        else:
            found.only_a.append(i)
    found.only_b.extend(sorted(chain.from_iterable(waiting.values())))
    return found


class Pairs(NamedTuple):
    """Rows of both sides by their numbers: row ``a[n]`` of A and row ``b[n]`` of B have the same key."""

    a: array[int]
    b: array[int]
    only_a: list[int]
    only_b: list[int]
