"""Packing numbered files into the ranges of a dataset (S3 Storage Layout for datas3t)."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path, PurePosixPath

from inspector.core.hints import Hint, hint
from inspector.core.names import decoded, hazards, visible
from inspector.core.numbers import count
from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.formats.datas3t.keys import DIGITS, RangeName, datapoint_key, range_name
from inspector.formats.datas3t.write import WriteError, Writer, header, metadata
from inspector.operations.create.creating import Created, NewArchive, created, size_of
from inspector.operations.create.inputs import Input, gather, not_of_itself
from inspector.operations.jobs.operation_error import OperationError
from inspector.sources.local.atomic import FolderObjects, Objects
from inspector.sources.local.disk_calls import unusable
from inspector.sources.local.folder import Folder, LocalFolder
from inspector.sources.s3.address import SCHEME, is_s3, parse
from inspector.sources.s3.cancelling import cancelling
from inspector.sources.s3.connection import DEFAULT, Connection

PER_RANGE = 1_000
"""How many keys a range is for unless another number is said."""

_LARGEST_KEY = (1 << 64) - 1
_COMPRESSED = {".gz", ".zst", ".xz", ".bz2", ".lz4", ".br"}
"""Suffixes that come behind another one."""
_HOLDERS = ("dataset", "datapoints"), ("datas3t", "dataranges")
"""The folders above and beneath a dataset that ranges may be in already, in the specification's layout and a later."""
_NO_TIME = 0, 8**11 - 1


@dataclass(frozen=True, slots=True)
class PackingOptions:
    """``dataset`` is its name. Range ``i`` is for ``per_range`` keys from the first key on.

    ``first_key`` numbers the inputs in their order; None takes their numbers from their names.
    """

    dataset: str
    first_key: int | None = None
    per_range: int = PER_RANGE


@dataclass(frozen=True, slots=True)
class Datapoint:
    """One input and the key it gets; ``extension`` is the end of its name (``.json``, or nothing)."""

    key: int
    extension: str
    input: Input

    @property
    def name(self) -> str:
        """Its name in the tar."""
        return f"{self.key:0{DIGITS}d}{self.extension}"

    @property
    def modified(self) -> int:
        """When it was changed last, in seconds since 1970, as far as a tar can say that."""
        seconds = (self.input.modified or 0) // 10**9
        return min(max(seconds, _NO_TIME[0]), _NO_TIME[1])


Range = list[Datapoint]
"""The datapoints of one archive, in the order of their keys, which have no gaps."""

Taken = tuple[RangeName, str]
"""The keys that a dataset has already, and the object that has them."""


def create_datas3t(
    progress: Progress,
    root: str,
    locations: Sequence[str],
    options: PackingOptions,
    *,
    connection: Connection = DEFAULT,
) -> Created:
    """Pack what is at the locations into ranges beneath ``root``, a folder, bucket or prefix: all, or none.

    Raises OperationError before anything is written: for names without a number, keys that stand twice or leave a gap
    inside a range, and ranges that overlap with those of the dataset. Raises SourceError and Cancelled.
    """
    if is_s3(root):
        return _pack_on_s3(progress, root, locations, options, connection)
    folder = _folder(root)
    own = [folder / above / options.dataset for above, _ in _HOLDERS]
    ranges = plan(gather(locations, progress, own, connection), options)
    there = _there(_holders(options.dataset, LocalFolder(folder)))
    see_that_they_are_free(ranges, options.dataset, there)
    made = pack(ranges, options.dataset, root, FolderObjects(folder), progress)
    return replace(made, warnings=(*made.warnings, *not_of_itself([each for each in own if each.exists()], locations)))


def _pack_on_s3(
    progress: Progress, root: str, locations: Sequence[str], options: PackingOptions, connection: Connection
) -> Created:
    from inspector.sources.s3.dataset_writer import BucketObjects  # loads boto3

    address = parse(root)
    ranges = plan(gather(locations, progress, connection=connection), options)
    objects = BucketObjects(address, connection, progress)
    holders = [objects.beneath(f"{above}/{options.dataset}/{beneath}") for above, beneath in _HOLDERS]
    with cancelling(progress):
        see_that_they_are_free(ranges, options.dataset, _there(holders))
    return pack(ranges, options.dataset, f"{SCHEME}{address.bucket}/{address.prefix}", objects, progress)


def _folder(root: str) -> Path:
    if "://" in root:
        raise OperationError(f"{visible(root)} is neither a folder of this machine nor s3://bucket/prefix.")
    try:
        folder = Path(os.path.realpath(root))
        taken = folder.exists() and not folder.is_dir()
    except (OSError, ValueError) as error:  # a name too long, or with a NUL
        raise OperationError(unusable(root, error)) from error
    if taken:
        raise OperationError(f"{visible(root)} is no folder, and ranges are to be written into one.")
    return folder


def holders(root: Path, dataset: str) -> list[Path]:
    """The folders that the ranges of a dataset are in, or would be."""
    return [root / above / dataset / beneath for above, beneath in _HOLDERS]


def plan(inputs: Sequence[Input], options: PackingOptions) -> list[Range]:
    """The ranges that the inputs fill. Raises OperationError."""
    _check_options(options)
    if not inputs:
        raise OperationError("There is nothing to pack. Nothing was written.")
    datapoints = _numbered(inputs) if options.first_key is None else _numbered_from(options.first_key, inputs)
    ranges: dict[int, Range] = {}
    for each in datapoints:
        _check(each)
        ranges.setdefault((each.key - datapoints[0].key) // options.per_range, []).append(each)
    for each_range in ranges.values():
        _see_that_keys_are_continuous(each_range)
    return list(ranges.values())


def pack(ranges: Sequence[Range], dataset: str, root: str, objects: Objects, progress: Progress) -> Created:
    """Write the ranges, each as a tar and its metadata. Raises SourceError and Cancelled."""
    progress.begin("Packing", sum(size_of(each.input) for each_range in ranges for each in each_range))
    archives = []
    with objects:
        for datapoints in ranges:
            writer = Writer(datapoints[0].key)
            key = object_key(dataset, datapoints)
            progress.label = f"Packing {key.rpartition('/')[2]}"
            objects.put(key, _tar(datapoints, writer, progress))
            objects.put(f"{key}.metadata", [metadata(writer.rows)])
            archives.append(NewArchive(f"{root.rstrip('/')}/{key}", len(datapoints), writer.size))
    return created(tuple(archives))


def object_key(dataset: str, datapoints: Range) -> str:
    """The key of the object that a range becomes; that of its metadata ends in ``.metadata`` too."""
    first, last = datapoints[0].key, datapoints[-1].key
    return f"dataset/{dataset}/datapoints/{first:0{DIGITS}d}-{last:0{DIGITS}d}.tar"


def _tar(datapoints: Range, writer: Writer, progress: Progress) -> Iterator[bytes]:
    for each in datapoints:
        try:
            yield writer.begin(each.extension, size_of(each.input), each.modified)
            for piece in each.input.pieces():
                writer.add(piece)
                yield piece
                progress.advance(len(piece))
            yield writer.end()
        except WriteError as error:
            raise SourceError(f"{visible(each.input.where)}: {error}") from error
        progress.advance(0)
    yield writer.finish()


# ---- keys --------------------------------------------------------------------------------------------------------


def _check_options(options: PackingOptions) -> None:
    name = options.dataset
    if words := hazards(name.encode("utf-8", "surrogateescape")):
        raise OperationError(f"{visible(name)!r} cannot be the name of a dataset: it {words[0]}.")
    if "/" in name or name in (".", ".."):
        raise OperationError(f"{visible(name)!r} cannot be the name of a dataset: it is the name of one folder.")
    if options.per_range < 1:
        raise OperationError("A range is for one key or more.")
    if options.first_key is not None and not 0 <= options.first_key <= _LARGEST_KEY:
        raise OperationError(f"A key is 0 to {_LARGEST_KEY:,}.")


def _numbered(inputs: Sequence[Input]) -> list[Datapoint]:
    """The inputs by the numbers that they are named by."""
    found = []
    for each in inputs:
        name = each.name.rpartition(b"/")[2]
        key = datapoint_key(name)
        if key is None:
            raise OperationError(
                f"{visible(each.where)} is not named by a number. Say with which key to begin, and the files are "
                f"numbered in their order{hint(Hint.FIRST_KEY)}. Nothing was written."
            )
        found.append(Datapoint(key[0], "".join(decoded(name)[0].partition(".")[1:]), each))
    return sorted(found, key=lambda each: each.key)


def _numbered_from(first: int, inputs: Sequence[Input]) -> list[Datapoint]:
    if first + len(inputs) - 1 > _LARGEST_KEY:
        raise OperationError(f"There are more files than keys: the largest is {_LARGEST_KEY:,}. Nothing was written.")
    return [Datapoint(first + at, _extension(decoded(each.name)[0]), each) for at, each in enumerate(inputs)]


def _extension(name: str) -> str:
    """The end of a file's name that tells what is in it, ``.json`` or ``.json.zst``."""
    suffixes = PurePosixPath(name).suffixes
    return "".join(suffixes[-2:] if suffixes and suffixes[-1].lower() in _COMPRESSED else suffixes[-1:])


def _check(each: Datapoint) -> None:
    """Whether it can stand in a tar under its name."""
    name = each.name.encode("utf-8", "surrogatepass")
    if words := hazards(name):
        raise OperationError(f"{visible(each.input.where)} cannot be packed: the name {visible(name)!r} {words[0]}.")
    try:
        header(name, size_of(each.input), each.modified)
    except WriteError as error:
        raise OperationError(f"{visible(each.input.where)} cannot be packed: {error}") from error


def _see_that_keys_are_continuous(datapoints: Range) -> None:
    for before, each in pairwise(datapoints):
        files = f"{visible(before.input.where)} and {visible(each.input.where)}"
        if each.key == before.key:
            raise OperationError(f"The key {each.key:,} stands twice: {files} have it. Nothing was written.")
        if each.key > before.key + 1:
            missing = (
                f"key {before.key + 1:,} is"
                if each.key == before.key + 2
                else (f"the keys {before.key + 1:,} to {each.key - 1:,} are")
            )
            raise OperationError(
                f"There is a gap between {files}: {missing} missing inside a range, which is not allowed. Only between "
                "two ranges keys may be missing. Nothing was written."
            )


# ---- what is there already ---------------------------------------------------------------------------------------


def see_that_they_are_free(ranges: Sequence[Range], dataset: str, taken: Iterable[Taken]) -> None:
    """Refuse ranges that share keys with those that the dataset has. Raises OperationError and SourceError."""
    there = sorted(taken, key=lambda each: each[0].first)
    firsts = [named.first for named, _ in there]
    widest = list(accumulate(there, _wider))
    shared = [
        (datapoints, *widest[before - 1])
        for datapoints in ranges
        if (before := bisect_right(firsts, datapoints[-1].key)) and widest[before - 1][0].last >= datapoints[0].key
    ]
    if shared:
        datapoints, named, name = shared[0]
        more = f" So do {count(len(shared) - 1, 'other range')}." if len(shared) > 1 else ""
        raise OperationError(
            f"The keys {datapoints[0].key:,} to {datapoints[-1].key:,} overlap with those of {visible(name)}, which "
            f"the dataset {visible(dataset)} has already, {named.first:,} to {named.last:,}.{more} Nothing was written."
        )


def _wider(one: Taken, other: Taken) -> Taken:
    return one if one[0].last >= other[0].last else other


def _holders(dataset: str, root: Folder) -> Iterator[Folder]:
    """The folders that the ranges of a dataset are in."""
    for above, beneath in _HOLDERS:
        holder: Folder | None = root
        for name in (above, dataset, beneath):
            holder = holder.inside(name) if holder is not None else None
        if holder is not None:
            yield holder


def _there(holders: Iterable[Folder]) -> Iterator[Taken]:
    """The ranges in these folders, also those of which only the metadata is there."""
    for holder in holders:
        for entry in holder.entries():
            named = range_name(
                entry.name.removesuffix(".metadata").removesuffix(".index").removesuffix(".tar") + ".tar"
            )
            if named is not None:
                yield named, entry.name
