"""The archives to check at the locations that a user names.

``expanded`` finds them for a check: a folder of ranges is one of them. ``archives_in`` finds them for an audit: each
range is one, with a stamp that changes when it does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain, groupby
from pathlib import Path

from msgspec.structs import replace

from inspector.core.names import encoded, visible
from inspector.core.source import SourceError
from inspector.formats import FORMATS
from inspector.operations.jobs.local_paths import local_path
from inspector.operations.open.collection import collection_in, is_of_range, open_collection, overlapping
from inspector.operations.open.opening import RANGE_FOLDERS, around, is_section, open_place
from inspector.operations.protocol.check_views import SUFFIXES, CheckTarget
from inspector.sources.local.disk_calls import reason, unusable
from inspector.sources.s3.address import is_s3, parse
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.prefix import S3Prefix
from inspector.sources.s3.responses import Head, Seen
from inspector.sources.s3.source import S3Source
from inspector.sources.web.address import is_web

_ENDINGS = frozenset(suffix for each in FORMATS for suffix in each.suffixes)
_BESIDE = (".metadata", *SUFFIXES)


def expanded(
    locations: Iterable[str], connection: Connection = DEFAULT, skipped: list[str] | None = None
) -> Iterator[CheckTarget]:
    """The locations to check: a folder is replaced by the files in and below it, in sorted order.

    A folder that is a collection is a location itself, followed by the other files in it. A file that belongs to an
    archive beside it (metadata, an index, a digest manifest) is checked with that archive; what is not a regular file
    is left out and added to ``skipped``. A folder that cannot be listed stays a location: opening it says why.
    """
    for location in locations:
        yield from _expanded(location, connection, skipped)


def _expanded(location: str, connection: Connection, skipped: list[str] | None) -> Iterator[CheckTarget]:
    path = Path(location)
    place: Path | S3Source | S3Prefix | None = path if not is_s3(location) and path.is_dir() else None
    collection = None
    try:
        if is_s3(location):
            place = _place(location, connection)
        if isinstance(place, (Path, S3Prefix)):
            collection = open_collection(place) if isinstance(place, Path) else collection_in(place)
    except SourceError as error:
        yield CheckTarget(location, connection=connection, why=str(error))
        return
    if collection is not None or not isinstance(place, (Path, S3Prefix)):
        yield CheckTarget(location, connection=connection, place=None if isinstance(place, Path) else place)
    theirs = {name for each in collection.ranges for name in (each.location, each.beside)} if collection else set()
    orphans = {each.name for each in collection.orphans} if collection else set()
    if isinstance(place, S3Prefix):
        there = place.told() if collection is not None and place.partly else place.beneath()
        found = ((each, each.location) for each in _among(there, place, connection))
    elif place is path:
        base = path.resolve()
        found = ((each, str(base / Path(each.location).relative_to(path))) for each in beneath(path, skipped))
    else:
        return
    yield from (each for each, at in found if at not in theirs and Path(at).name not in orphans)


def beneath(path: Path, skipped: list[str] | None = None) -> Iterator[CheckTarget]:
    """The files in and below a folder, in sorted order, each with the files that belong to it, see ``expanded``."""
    closed: list[OSError] = []
    for folder, folders, names in os.walk(path, onerror=closed.append):
        folders.sort()
        for name, beside in _archives(frozenset(names)):
            file = Path(folder, name)
            try:
                regular = file.is_file()
            except OSError as error:
                yield CheckTarget(str(file), why=unusable(str(file), error))
                continue
            if regular:
                yield CheckTarget(str(file), found=True, beside=tuple(str(Path(folder, other)) for other in beside))
            elif skipped is not None:
                skipped.append(str(file))
    for each in closed:
        name = visible(str(each.filename))
        yield CheckTarget(str(each.filename), why=f"The folder {name} cannot be read: {reason(each)}.")


def _among(locations: Iterable[str], prefix: S3Prefix, connection: Connection) -> Iterator[CheckTarget]:
    """These objects below a prefix, in sorted order, see ``beneath``. Raises SourceError."""
    names: dict[str, list[str]] = {}
    for each in locations:
        folder, slash, name = each.rpartition("/")
        names.setdefault(folder + slash, []).append(name)
    for folder in sorted(names):
        for name, beside in _archives(frozenset(names[folder])):
            others = tuple(folder + other for other in beside)
            seen = prefix.seen(folder + name, others)
            size = None if seen is None else seen.head.size
            yield CheckTarget(folder + name, True, others, connection, seen, size=size)


def _place(location: str, connection: Connection) -> S3Source | S3Prefix | None:
    """What is at a location; None where it is called an archive, and opened when it is its turn. Raises SourceError."""
    if parse(location).suffix.lower() in _ENDINGS:
        return None
    place = open_place(location, connection)
    return place if isinstance(place, (S3Source, S3Prefix)) else None


def _archives(names: frozenset[str]) -> Iterator[tuple[str, list[str]]]:
    """The names in a folder that no archive there claims, in order, and those that belong to each."""
    beside: dict[str, list[str]] = {}
    for name in sorted(names):
        others = [name + suffix for suffix in _BESIDE]
        others += [name.removesuffix(".tar") + ".index"] if name.endswith(".tar") else []
        beside[name] = [other for other in others if other in names]
    theirs = set(chain.from_iterable(beside.values()))
    return ((name, others) for name, others in beside.items() if name not in theirs)


# ---- for an audit ----------------------------------------------------------------------------------------------------

_ETAG = r'("[^"]*")'
_OVERLAP_STAMP = "+overlaps:"


def _digest(name: str) -> bytes:
    return blake2b(encoded(name), digest_size=16).digest()


def archives_in(
    place: str,
    connection: Connection = DEFAULT,
    aside: Container[str] = (),
    passed: list[str] | None = None,
    *,
    datasets: bool = False,
) -> Iterator[CheckTarget]:
    """The files in a folder or under a prefix, or the one file, sorted; without those in ``aside``.

    ``passed`` collects what is no regular file. Ranges of a dataset are files of their own here; with ``datasets``
    the folder that holds them comes before them, for what only their names tell. Raises SourceError if there is
    nothing.
    """
    if is_web(place):
        raise SourceError(
            f"{visible(place)} is an address on the web, where no folder can be listed. Check it by itself: "
            "archive-inspector check ADDRESS."
        )
    found = _for_audit_on_s3(place, connection) if is_s3(place) else _for_audit_here(place, aside, passed)
    # A folder at a time: files of one folder come one after another.
    for _, group in groupby(found, lambda each: each.name.rpartition("/")[0]):
        files = list(group)
        if datasets:
            yield from _dataset_of(files)
        yield from _with_overlaps(files)


def _dataset_of(files: Sequence[CheckTarget]) -> Iterator[CheckTarget]:
    """The dataset whose ranges are among the files of one folder, if any are."""
    names = [each.location.replace(os.sep, "/").rpartition("/")[2] for each in files]
    if not any(each.found and is_of_range(name) for each, name in zip(files, names, strict=True)):
        return
    folder = files[0].location[: -len(names[0]) - 1]
    if Path(folder).name in RANGE_FOLDERS:
        folder = folder[: -len(Path(folder).name) - 1]
    stamp = _digest("\n".join((*names, *(other for each in files for other in each.beside)))).hex()
    name = f"{files[0].name.rpartition('/')[0]}/"
    yield CheckTarget(folder, connection=files[0].connection, name=name, size=0, stamp=stamp, names_only=True)


def _with_overlaps(files: Sequence[CheckTarget]) -> Iterator[CheckTarget]:
    """The files of one folder; ranges that share keys with another say so, and their stamps depend on it.

    So a result is not reused once a range was added that overlaps, or removed.
    """
    sentences = overlapping((each.name.rpartition("/")[2], "".join(each.beside)) for each in files)
    for each in files:
        sentence = sentences.get(each.name.rpartition("/")[2], "")
        stamp = each.stamp + _OVERLAP_STAMP + _digest(sentence).hex() if sentence else each.stamp
        yield replace(each, stamp=stamp, overlaps=sentence)


def _for_audit_here(place: str, aside: Container[str], passed: list[str] | None) -> Iterator[CheckTarget]:
    outer, names = around(place)
    if names or is_section(place):
        size, stamp = _state_here(os.path.abspath(local_path(outer)))  # noqa: PTH100
        yield CheckTarget(place, name=place.rpartition("/")[2] or Path(outer).name, size=size, stamp=stamp)
        return
    root = Path(os.path.abspath(local_path(place)))  # noqa: PTH100 - a link stays what it is called
    wanted = beneath(root, passed) if root.is_dir() else iter((CheckTarget(str(root)),))
    for each in wanted:
        if each.location not in aside:
            name = Path(each.location).relative_to(root).as_posix() if each.location != str(root) else root.name
            yield _identified(each, name, _state_here)


def _for_audit_on_s3(place: str, connection: Connection) -> Iterator[CheckTarget]:
    found = open_place(place, connection)
    if not isinstance(found, S3Prefix):
        assert isinstance(found, S3Source)
        name = place.rpartition("/")[2]
        yield CheckTarget(place, connection=connection, name=name, size=found.size, stamp=found.etag)
        return

    def state(location: str) -> tuple[int, str]:
        head = found.known(location)
        return (head.size, head.etag) if head is not None else (0, "gone")

    for each in _among(found.beneath(), found, connection):
        yield _identified(each, each.location.removeprefix(found.location), state)


def _identified(target: CheckTarget, name: str, state: Callable[[str], tuple[int, str]]) -> CheckTarget:
    """A target with its name, its size, and a stamp that changes with the archive and its siblings."""
    size, stamp = state(target.location)
    beside = (f"{path.rpartition('/')[2]}:{':'.join(map(str, state(path)))}" for path in target.beside)
    return replace(target, name=name, size=size, stamp="+".join((stamp, *beside)))


def seen_of(target: CheckTarget) -> Seen | None:
    """What an S3 listing said about an archive, restored from its stamp; None if the stamp does not hold it."""
    if not is_s3(target.location) or not target.found:
        return None
    name = re.escape(target.location.rpartition("/")[2])
    stem = name.removesuffix(re.escape(".tar"))
    one = rf"\+((?:{name}|{stem})\.\w+):(\d+):{_ETAG}"
    match = re.fullmatch(rf"{_ETAG}((?:{one})*)", target.stamp.partition(_OVERLAP_STAMP)[0])
    if match is None:
        return None
    folder = target.location[: -len(target.location.rpartition("/")[2])]
    beside = ((folder + other, Head(int(size), etag)) for other, size, etag in re.findall(one, match[2]))
    return Seen(Head(target.size or 0, match[1]), tuple(beside))


def _state_here(path: str) -> tuple[int, str]:
    """Size and modification time of a local file."""
    try:
        status = os.stat(path)  # noqa: PTH116 - a hundred thousand of them
    except (OSError, ValueError):
        return 0, "gone"
    return status.st_size, str(status.st_mtime_ns)
