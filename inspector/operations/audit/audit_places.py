"""The archives of an audited location, each with a stamp that changes when the archive does."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import groupby
from pathlib import Path

from inspector.core.names import encoded
from inspector.operations.open.collection import overlapping
from inspector.operations.open.folders import beneath, beneath_prefix
from inspector.operations.open.opening import local_path, open_place
from inspector.operations.protocol.check_views import CheckTarget
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.prefix import S3Prefix
from inspector.sources.s3.responses import Head, Seen
from inspector.sources.s3.source import S3Source

_ETAG = r'("[^"]*")'
_OVERLAP_STAMP = "+overlaps:"
_PER_CENT = 10_000
"""The resolution of a sample: parts of one per cent."""


@dataclass(frozen=True, slots=True)
class Found:
    """One file that may be an archive. ``name`` is its path relative to the audited location.

    ``size`` is in bytes. ``stamp`` changes when the file does, or a sibling that is checked with it. ``listed``: it was
    found in a folder, so it may be no archive. ``overlaps`` says which other range of its dataset shares keys with it,
    as a sentence; empty if none does.
    """

    location: str
    name: str
    size: int
    stamp: str
    listed: bool
    overlaps: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which archives to audit: about ``sample`` per cent, and of those the shard ``(number, count)``, from 1.

    Both depend only on an archive's name, so they are the same each time and on every machine. Each archive is in
    exactly one shard.
    """

    sample: float = 100.0
    shard: tuple[int, int] = (1, 1)

    def __contains__(self, name: object) -> bool:
        number, count = self.shard
        sampled = int.from_bytes(_digest(str(name))[:8]) % (100 * _PER_CENT) < self.sample * _PER_CENT
        return sampled and shard_of(str(name), count) == number


def shard_of(name: str, count: int) -> int:
    """The shard, 1 to ``count``, of an archive with this name."""
    return int.from_bytes(_digest(name)[8:]) % count + 1


def _digest(name: str) -> bytes:
    return blake2b(encoded(name), digest_size=16).digest()


def archives_in(
    place: str, connection: Connection = DEFAULT, aside: Container[str] = (), passed: list[str] | None = None
) -> Iterator[Found]:
    """The files in a folder or under a prefix, or the one file, sorted; without those in ``aside``.

    ``passed`` collects what is no regular file. Ranges of a dataset are files of their own here. Raises SourceError if
    there is nothing.
    """
    found = _on_s3(place, connection) if is_s3(place) else _here(place, aside, passed)
    # A folder at a time: files of one folder come one after another.
    for _, files in groupby(found, lambda each: each.name.rpartition("/")[0]):
        yield from _with_overlaps(list(files))


def _with_overlaps(files: Sequence[Found]) -> Iterator[Found]:
    """The files of one folder; ranges that share keys with another say so, and their stamps depend on it.

    So a result is not reused once a range was added that overlaps, or removed.
    """
    sentences = overlapping(each.name.rpartition("/")[2] for each in files)
    for each in files:
        sentence = sentences.get(each.name.rpartition("/")[2], "")
        if sentence:
            stamp = each.stamp + _OVERLAP_STAMP + _digest(sentence).hex()
            each = replace(each, stamp=stamp, overlaps=sentence)  # noqa: PLW2901 - the same file
        yield each


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
    """The size of an archive in bytes, and a stamp that changes with the archive and its siblings."""
    size, stamp = state(wanted.location)
    beside = (f"{path.rpartition('/')[2]}:{':'.join(map(str, state(path)))}" for path in wanted.beside)
    return size, "+".join((stamp, *beside))


def seen_of(found: Found) -> Seen | None:
    """What an S3 listing match about an archive, restored from its stamp; None if the stamp does not hold it."""
    if not is_s3(found.location) or not found.listed:
        return None
    name = re.escape(found.location.rpartition("/")[2])
    stem = name.removesuffix(re.escape(".tar"))
    one = rf"\+((?:{name}|{stem})\.\w+):(\d+):{_ETAG}"
    match = re.fullmatch(rf"{_ETAG}((?:{one})*)", found.stamp.partition(_OVERLAP_STAMP)[0])
    if match is None:
        return None
    folder = found.location[: -len(found.location.rpartition("/")[2])]
    beside = ((folder + other, Head(int(size), etag)) for other, size, etag in re.findall(one, match[2]))
    return Seen(Head(found.size, match[1]), tuple(beside))


def _state(path: str) -> tuple[int, str]:
    """Size and modification time of a local file."""
    try:
        status = os.stat(path)  # noqa: PTH116 - a hundred thousand of them
    except (OSError, ValueError):
        return 0, "gone"
    return status.st_size, str(status.st_mtime_ns)
