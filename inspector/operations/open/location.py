"""What a location holds: one archive, or the ranges of a folder, opened one after another."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock

from inspector.core.collection import Collection
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.core.source import BytesSource, Source, SourceError, expect
from inspector.formats.datas3t.lazy_range import NOT_READ
from inspector.operations.jobs.subprogress import READING, map_with_progress
from inspector.operations.open.collection import collection_in, overlaps_in
from inspector.operations.open.opening import AT_ONCE, Opened, decode, open_place, start
from inspector.sources.local.folder import Folder, LocalFolder
from inspector.sources.s3.address import is_s3, parse
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.prefix import S3Prefix
from inspector.sources.s3.responses import Seen

FAR_AT_A_TIME = 8
"""Archives that are read at the same time where each waits for a network: as many as connections are kept."""
_HERE_AT_A_TIME = 4
"""The same where they wait for a disk: the work itself is done by one processor."""
_DESCRIPTORS_TO_SPARE = 256


class NoRangeError(SourceError):
    """Of all ranges in a folder only what describes them is left: the orphans of ``collection``."""

    def __init__(self, location: str, collection: Collection) -> None:
        first, *others = collection.findings
        more = f" So it is with {len(others):,} more." if others else ""
        super().__init__(f"{visible(location)} holds no range. {first.message}{more}")
        self.collection = collection


class Location:
    """An open location. ``archives`` grows as they are opened; ``total`` is how many there will be.

    ``at_once``: all of it is about to be read, so of what is far away and not large, much is asked for at once.
    """

    def __init__(
        self, archives: list[Opened], collection: Collection | None = None, folder: Folder | None = None
    ) -> None:
        self.archives = archives
        self.collection = collection
        self._folder = folder
        self._ahead: dict[int, Opened] = {}
        self._opening = Lock()
        self._turns: dict[int, Lock] = {}
        self._decoding: dict[int, Lock] = {}
        self.at_once = False
        self.total = len(archives) if collection is None else len(collection.ranges)

    @property
    def at_a_time(self) -> int:
        """How many archives are best read at the same time."""
        return FAR_AT_A_TIME if isinstance(self._folder, S3Prefix) else _HERE_AT_A_TIME

    @property
    def sizes(self) -> tuple[int, ...]:
        """The size of each archive, in bytes, also of those that are not open yet."""
        if self.collection is None:
            return tuple(archive.source.size for archive in self.archives)
        return tuple(each.size for each in self.collection.ranges)

    @property
    def size(self) -> int:
        """The size of all archives together, in bytes."""
        return sum(self.sizes)

    def title(self, at: int) -> str:
        """What to call the bytes of an archive."""
        return "File" if self.collection is None else visible(self.collection.ranges[at].name)

    def folder(self, at: int) -> bytes:
        """The folders that an archive's members are shown in: dataset and range; empty for a single archive."""
        return b"" if self.collection is None else self.collection.prefix(at)

    def open(self, at: int) -> Opened:
        """The archive ``at``, opened now if it is the next one. One that has gone is empty and has a finding.

        The first archive of a collection carries what the names of all tell; what they tell of one is told by it.
        """
        found = self.ahead(at)
        with self._opening:
            if at == len(self.archives):
                self.archives.append(found)
        return found

    def ahead(self, at: int) -> Opened:
        """The archive ``at``, opened now wherever it stands: it is none of ``archives`` before its turn."""
        with self._turns.setdefault(at, Lock()):
            if at >= len(self.archives) and at not in self._ahead:
                self._ahead[at] = self._opened(at)
        found = self.known(at)
        if self.at_once and self.size <= AT_ONCE:
            expect(found.source, 0, found.source.size)
        return found

    def known(self, at: int) -> Opened:
        """The archive ``at``, which has been opened."""
        return self._ahead[at] if at in self._ahead else self.archives[at]

    def _opened(self, at: int) -> Opened:
        assert self.collection is not None
        assert self._folder is not None
        archive = _open(self._folder, self.collection.ranges[at].location)
        archive.told = partial(overlaps_in, self.collection, at, archive)
        if at == 0:
            archive.foretold = self.collection.findings
        else:
            archive.said = frozenset((NOT_READ,))
        return archive

    def decode(self, at: int, progress: Progress) -> None:
        """Decode the archive ``at``, which has been opened: once, whoever else wants it too. Raises Cancelled."""
        with self._decoding.setdefault(at, Lock()):
            archive = self.known(at)
            if not archive.complete:
                decode(archive, progress)

    def narrow(self, keys: Sequence[int]) -> None:
        """Be only about the ranges whose names tell that they hold one of these keys, where there are any."""
        if self.collection is None:
            return
        ranges = tuple(each for each in self.collection.ranges if any(each.first <= key <= each.last for key in keys))
        if ranges:
            self.collection = replace(self.collection, ranges=ranges, findings=(), overlaps=())
            self.total = len(ranges)

    def read(self, at: int, progress: Progress) -> Opened:
        """The archive ``at``, opened and decoded wherever it stands. Raises Cancelled."""
        archive = self.ahead(at)
        self.decode(at, progress)
        return archive

    def read_all(self, progress: Progress) -> Generator[int]:
        """Open and decode all archives, several at a time; gives the number of each in turn. Raises Cancelled."""
        for at, _ in enumerate(map_with_progress(progress, READING, self.sizes, self.read, self.at_a_time)):
            self.open(at)
            yield at


def open_location(
    location: str,
    connection: Connection = DEFAULT,
    *,
    sparing: bool = False,
    seen: Seen | None = None,
    place: Source | S3Prefix | None = None,
) -> Location:
    """What is at ``location``; a folder's ranges are not opened yet. Raises SourceError where there is nothing.

    ``connection``, ``sparing`` and ``seen`` are as in open_place; ``place`` is what that gave, where it was asked.
    NoRangeError where there were ranges once.
    """
    found = place or open_place(location, connection, sparing=sparing, seen=seen)
    if not isinstance(found, (LocalFolder, S3Prefix)):
        return Location([start(found)])
    collection = collection_in(found)
    if collection is None:
        raise SourceError(f"{visible(location)} is a folder without datas3t ranges; open one of its files.")
    if not collection.ranges:
        raise NoRangeError(location, collection)
    _allow_descriptors(len(collection.ranges))
    return Location([], collection, found)


def inside(location: str, name: str) -> str:
    """The path of the file ``name`` inside the folder ``location``; empty where the location is the file itself."""
    if is_s3(location):
        folder = parse(location)
        key = parse(name).key
        return key.removeprefix(folder.prefix) if key != folder.key and key.startswith(folder.prefix) else ""
    path, base = Path(name), Path(location).resolve()
    return path.relative_to(base).as_posix() if path != base and path.is_relative_to(base) else ""


def _open(folder: Folder, location: str) -> Opened:
    try:
        return start(folder.open(location))
    except SourceError as error:
        archive = start(BytesSource(b"", location))
        archive.unreadable = str(error)
        return archive


def _allow_descriptors(count: int) -> None:
    """Every range keeps its file open; the soft limit is often 1,024."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # there is none on Windows

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = count + _DESCRIPTORS_TO_SPARE
        if soft != resource.RLIM_INFINITY and soft < wanted:
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
