"""An open location: one archive, or the ranges of a folder, opened one after another."""

from __future__ import annotations

import contextlib
from bisect import bisect_right
from collections.abc import Generator, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource, Source, SourceError, expect
from inspector.formats.datas3t import codes
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.jobs.subprogress import READING, map_with_progress
from inspector.operations.open.nested import open_nested
from inspector.operations.open.opening import MAX_READ_ONCE_BYTES, Opened, decode, start
from inspector.sources.local.file import FileSource, Folder, LocalFolder
from inspector.sources.s3.address import is_s3, parse
from inspector.sources.s3.connection import DEFAULT, Connection

if TYPE_CHECKING:  # a file of this machine needs none of them
    from inspector.core.collection import Collection
    from inspector.sources.s3.prefix import S3Prefix
    from inspector.sources.s3.responses import Seen

MAX_REMOTE_READS = 16
"""Remote archives read at the same time: as many as connections are kept."""
_MAX_READ_AT_ONCE_BYTES = 8 << 20
"""Remote archives of a folder that are checked are asked for as a whole up to this size."""
_MAX_LOCAL_READS = 4
"""Local archives read at the same time: only waiting for the disk overlaps, decoding uses one processor."""
_SPARE_DESCRIPTORS = 256


class NoRangeError(SourceError):
    """A folder has metadata of ranges but no range: the orphans of ``collection``."""

    def __init__(self, location: str, collection: Collection) -> None:
        first, *others = collection.findings
        more = f" The same is true of {len(others):,} more." if others else ""
        super().__init__(f"{visible(location)} contains no range. {first.message}{more}")
        self.collection = collection


class NoDatasetError(SourceError):
    """A folder or prefix without ranges."""


class Location:
    """An open location. ``archives`` grows as they are opened; ``total`` is how many there will be.

    ``read_ahead``: everything is about to be read, so small remote archives are requested whole.
    """

    def __init__(
        self, archives: list[Opened], collection: Collection | None = None, folder: Folder | None = None
    ) -> None:
        self.archives = archives
        self.collection = collection
        self._folder = folder
        self._known = dict(enumerate(archives))
        self._opening = Lock()
        self._open_locks: dict[int, Lock] = {}
        self._decode_locks: dict[int, Lock] = {}
        self.read_ahead = False
        self._skips_headers = False
        self.total = len(archives) if collection is None else len(collection.ranges)

    @property
    def max_parallel_reads(self) -> int:
        """How many archives to read at the same time."""
        is_here = self._folder is None or isinstance(self._folder, LocalFolder)
        return _MAX_LOCAL_READS if is_here else MAX_REMOTE_READS

    @property
    def sizes(self) -> tuple[int, ...]:
        """The size of each archive in bytes, including those not opened yet."""
        if self.collection is None:
            return tuple(archive.source.size for archive in self.archives)
        return tuple(each.size for each in self.collection.ranges)

    @property
    def size(self) -> int:
        """The size of all archives together, in bytes."""
        return sum(self.sizes)

    def title(self, at: int) -> str:
        """The title of an archive's bytes."""
        return "File" if self.collection is None else visible(self.collection.ranges[at].name)

    def folder(self, at: int) -> bytes:
        """The prefix of an archive's members: dataset and range; empty for a single archive."""
        return b"" if self.collection is None else self.collection.prefix(at)

    # ---- members, numbered consecutively: no later archive has any while one is being decoded -------------------

    @property
    def members(self) -> int:
        """How many members the archives have that are open."""
        return sum(len(archive.members) for archive in self.archives)

    def find(self, index: int) -> tuple[int, int]:
        """The archive's number and the member's index in it; raises OperationError if there is none."""
        stops = list(accumulate(len(archive.members) for archive in self.archives))
        at = bisect_right(stops, index)
        if index < 0 or at >= len(stops):
            raise OperationError(f"There is no member {index}.")
        return at, index - (stops[at - 1] if at else 0)

    def number(self, archive: int, local: int) -> int:
        """The number of an archive's member ``local`` among all members."""
        return sum(len(before.members) for before in self.archives[:archive]) + local

    def path(self, index: int) -> bytes:
        """The full path of a member, which starts with the archive's folders."""
        at, local = self.find(index)
        return self.folder(at) + self.archives[at].members.path(local)

    # ---- opening -----------------------------------------------------------------------------------------------

    def beside(self, at: int) -> Source:
        """The metadata or index beside range ``at``, which has some. Raises SourceError."""
        assert self.collection is not None
        assert self._folder is not None
        return self._folder.open(self.collection.ranges[at].beside)

    def open(self, at: int) -> Opened:
        """Archive ``at``, opened now if it is the next one. One that has disappeared is empty and has a finding.

        The first archive of a collection carries the findings about the names of all; the others only their own.
        """
        found = self.ahead(at)
        with self._opening:
            if at == len(self.archives):
                self.archives.append(found)
        return found

    def ahead(self, at: int) -> Opened:
        """Archive ``at``, opened now even out of order; it is not added to ``archives`` before ``open``."""
        with self._open_locks.setdefault(at, Lock()):
            if at not in self._known:
                self._known[at] = self._opened(at)
        found = self._known[at]
        if self.read_ahead and (self.size <= MAX_READ_ONCE_BYTES or found.source.size <= _MAX_READ_AT_ONCE_BYTES):
            expect(found.source, 0, found.source.size)
        return found

    def known(self, at: int) -> Opened:
        """Archive ``at``, which has been opened."""
        return self._known[at]

    def _opened(self, at: int) -> Opened:
        from inspector.operations.open.collection import overlaps_in

        assert self.collection is not None
        assert self._folder is not None
        place = self.collection.ranges[at].location
        try:
            archive = start(self._folder.open(place))
        except SourceError as error:
            archive = start(BytesSource(b"", place))
            archive.unreadable = str(error)
        if self._skips_headers:
            _skip_headers(archive)
        archive.late_findings = partial(overlaps_in, self.collection, at, archive)
        if at == 0:
            archive.given_findings = (*archive.given_findings, *self.collection.findings)
        else:
            archive.suppressed_codes = frozenset((codes.HEADERS_NOT_READ.code,))
        return archive

    def skip_headers(self) -> None:
        """Decode ranges from here by their metadata alone too, as those from far away are. Call it before decoding."""
        self._skips_headers = True
        for archive in self.archives:
            _skip_headers(archive)

    def narrow(self, keys: Sequence[int]) -> None:
        """Keep only the ranges that contain one of these keys according to their names, if there are any."""
        if self.collection is None:
            return
        ranges = tuple(each for each in self.collection.ranges if any(each.first <= key <= each.last for key in keys))
        if ranges:
            self.collection = self.collection._replace(ranges=ranges, findings=(), overlaps=())
            self.total = len(ranges)

    def read(self, at: int, progress: Progress) -> Opened:
        """Archive ``at``, opened and decoded even out of order, once if several threads ask. Raises Cancelled."""
        archive = self.ahead(at)
        with self._decode_locks.setdefault(at, Lock()):
            if not archive.complete:
                decode(archive, progress)
        return archive

    def read_all(self, progress: Progress) -> Generator[int]:
        """Open and decode all archives, several at a time; yields the number of each in order. Raises Cancelled."""
        for at, _ in enumerate(map_with_progress(progress, READING, self.sizes, self.read, self.max_parallel_reads)):
            self.open(at)
            yield at


def open_location(
    location: str,
    connection: Connection = DEFAULT,
    *,
    sparing: bool = False,
    seen: Seen | None = None,
    place: Source | LocalFolder | S3Prefix | None = None,
) -> Location:
    """Open ``location``; a folder's ranges are not opened yet. Raises SourceError if there is nothing to open.

    ``connection``, ``sparing`` and ``seen`` are as in ``open_place``; ``place`` is its result if it was called before.
    Raises NoRangeError for a folder that has only metadata of ranges, and NoDatasetError for one that has nothing of
    them.
    """
    found = place or open_nested(location, connection, sparing=sparing, seen=seen)
    if not isinstance(found, Folder):
        return Location([start(found)])
    from inspector.operations.open.collection import collection_in

    collection = collection_in(found)
    if collection is None:
        raise NoDatasetError(f"{visible(location)} is a folder without datas3t ranges; open one of its files.")
    if not collection.ranges:
        raise NoRangeError(location, collection)
    _allow_descriptors(len(collection.ranges))
    return Location([], collection, found)


def inside(location: str, name: str) -> str:
    """The path of the file ``name`` inside the folder ``location``; empty if the location is the file itself."""
    if is_s3(location):
        folder = parse(location)
        key = parse(name).key
        return key.removeprefix(folder.prefix) if key != folder.key and key.startswith(folder.prefix) else ""
    path, base = Path(name), Path(location).resolve()
    return path.relative_to(base).as_posix() if path != base and path.is_relative_to(base) else ""


def _skip_headers(archive: Opened) -> None:
    if archive.format == "datas3t" and isinstance(archive.source, FileSource):
        archive.source.sparing = True


def _allow_descriptors(count: int) -> None:
    """Raise the soft limit on open files, often 1,024: every range keeps its file open."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # there is none on Windows

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        needed = count + _SPARE_DESCRIPTORS
        if soft != resource.RLIM_INFINITY and soft < needed:
            limit = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, limit), hard))
