"""The archives of a place that is audited, each with what tells one state of it from another."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from inspector.core.names import encoded
from inspector.operations.open.folders import beneath, beneath_prefix
from inspector.operations.open.opening import local_path, open_place
from inspector.operations.protocol.check_views import CheckTarget
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.prefix import S3Prefix
from inspector.sources.s3.responses import Head, Seen
from inspector.sources.s3.source import S3Source

_ETAG = r'("[^"]*")'
_PER_CENT = 10_000
"""Parts of one per cent that a sample is told by."""


@dataclass(frozen=True, slots=True)
class Found:
    """One file that may be an archive. ``name`` is its path inside the audited place, whatever that is called here.

    ``size`` is in bytes. ``stamp`` changes when the file does, or one that stands beside it and is checked with it.
    ``listed``: it was found, so nobody says that it is an archive.
    """

    location: str
    name: str
    size: int
    stamp: str
    listed: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """Which archives of a place are audited: about ``sample`` per cent of them, and of those every ``shard``-th part.

    A shard is ``(number, count)``, the number from 1. Both follow from an archive's name alone, so that they are the
    same every time and on every machine, and the shards together are all, each archive being in one.
    """

    sample: float = 100.0
    shard: tuple[int, int] = (1, 1)

    def __contains__(self, name: object) -> bool:
        number, count = self.shard
        sampled = int.from_bytes(_digest(str(name))[:8]) % (100 * _PER_CENT) < self.sample * _PER_CENT
        return sampled and shard_of(str(name), count) == number


def shard_of(name: str, count: int) -> int:
    """The number, from 1, of the one of ``count`` shards that an archive of this name is in."""
    return int.from_bytes(_digest(name)[8:]) % count + 1


def _digest(name: str) -> bytes:
    return blake2b(encoded(name), digest_size=16).digest()


def archives_in(
    place: str, connection: Connection = DEFAULT, aside: Container[str] = (), passed: list[str] | None = None
) -> Iterator[Found]:
    """What is to be audited in a folder or beneath a prefix, or the one file, sorted; not what is in ``aside``.

    What is no regular file is added to ``passed``. All files are walked, also where they are the ranges of a
    dataset. Raises SourceError where there is nothing.
    """
    return _on_s3(place, connection) if is_s3(place) else _here(place, aside, passed)


def _here(place: str, aside: Container[str], passed: list[str] | None) -> Iterator[Found]:
    root = Path(os.path.abspath(local_path(place)))  # noqa: PTH100 - a link stays what it is called
    wanted = beneath(root, passed) if root.is_dir() else iter((CheckTarget(str(root)),))
    for each in wanted:
        if each.location not in aside:
            name = Path(each.location).relative_to(root).as_posix() if each.location != str(root) else root.name
            size, stamp = _identity(each, _state)
            yield Found(each.location, name, size, stamp, each.found)


def _on_s3(place: str, connection: Connection) -> Iterator[Found]:
    found = open_place(place, connection)
    if not isinstance(found, S3Prefix):
        assert isinstance(found, S3Source)
        name = place.rpartition("/")[2]
        yield Found(place, name, found.size, found.etag, listed=False)
        return

    def state(location: str) -> tuple[int, str]:
        head = found.known(location)
        return (head.size, head.etag) if head is not None else (0, "gone")

    for each in beneath_prefix(found, connection):
        size, stamp = _identity(each, state)
        yield Found(each.location, each.location.removeprefix(found.location), size, stamp, each.found)


def _identity(wanted: CheckTarget, state: Callable[[str], tuple[int, str]]) -> tuple[int, str]:
    """The size of an archive in bytes, and a stamp that changes with it and with what stands beside it."""
    size, stamp = state(wanted.location)
    beside = (f"{path.rpartition('/')[2]}:{':'.join(map(str, state(path)))}" for path in wanted.beside)
    return size, "+".join((stamp, *beside))


def seen_of(found: Found) -> Seen | None:
    """What a listing told of an archive on S3, from its stamp; None where that cannot be told any more."""
    if not is_s3(found.location) or not found.listed:
        return None
    name = re.escape(found.location.rpartition("/")[2])
    stem = name.removesuffix(re.escape(".tar"))
    one = rf"\+((?:{name}|{stem})\.\w+):(\d+):{_ETAG}"
    said = re.fullmatch(rf"{_ETAG}((?:{one})*)", found.stamp)
    if said is None:
        return None
    folder = found.location[: -len(found.location.rpartition("/")[2])]
    beside = ((folder + other, Head(int(size), etag)) for other, size, etag in re.findall(one, said[2]))
    return Seen(Head(found.size, said[1]), tuple(beside))


def _state(path: str) -> tuple[int, str]:
    """Size and time of a file of this machine."""
    try:
        status = os.stat(path)  # noqa: PTH116 - a hundred thousand of them
    except (OSError, ValueError):
        return 0, "gone"
    return status.st_size, str(status.st_mtime_ns)
