"""Packing numbered files into the ranges of a dataset (S3 Storage Layout for datas3t)."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.names import decoded, hazards, visible
from inspector.core.numbers import count
from inspector.core.program.hints import Hint, hint
from inspector.core.program.progress import Progress, cancelling
from inspector.core.source import SourceError
from inspector.formats.datas3t import DIGITS, RangeName, datapoint_key, range_name
from inspector.formats.datas3t.write import WriteError, Writer, header, metadata
from inspector.operations.create.creating import Created, NewArchive, created
from inspector.operations.create.inputs import Input, gather, skipped_outputs
from inspector.operations.jobs.operation_error import OperationError
from inspector.sources.local.atomic import FolderObjects
from inspector.sources.local.disk_calls import unusable
from inspector.sources.local.file import Folder, LocalFolder
from inspector.sources.s3.address import SCHEME, is_s3, parse
from inspector.sources.s3.connection import DEFAULT, Connection

if TYPE_CHECKING:  # loads boto3
    from inspector.sources.s3.uploads.new_objects import BucketObjects

DEFAULT_KEYS_PER_RANGE = 1_000

_LARGEST_KEY = (1 << 64) - 1
_COMPRESSED = {".gz", ".zst", ".xz", ".bz2", ".lz4", ".br"}
"""Suffixes that follow the one that tells the content."""
_HOLDERS = ("dataset", "datapoints"), ("datas3t", "dataranges")
"""The folders above and below a dataset that contain ranges, in the specification's layout and the later one."""
_TAR_TIME_RANGE = 0, 8**11 - 1


class PackingOptions(Struct, frozen=True):
    """How to pack: the dataset's name, and ``per_range`` keys per range, counted from the first key.

    ``first_key`` numbers the inputs in their order; None takes the numbers from their names.
    """

    dataset: str
    first_key: int | None = None
    per_range: int = DEFAULT_KEYS_PER_RANGE


class Datapoint(Struct, frozen=True):
    """One input and its key; ``extension`` is the end of its name (``.json``, or empty)."""

    key: int
    extension: str
    input: Input

    @property
    def name(self) -> str:
        """Its name in the tar."""
        return f"{self.key:0{DIGITS}d}{self.extension}"

    @property
    def modified(self) -> int:
        """Its modification time in seconds since 1970, limited to what a tar can store."""
        seconds = (self.input.modified or 0) // 10**9
        return min(max(seconds, _TAR_TIME_RANGE[0]), _TAR_TIME_RANGE[1])


Range = list[Datapoint]
"""The datapoints of one archive, in the order of their keys, without gaps."""

Taken = tuple[RangeName, str]
"""A range that the dataset has already, and the name of its object."""


def create_datas3t(
    progress: Progress,
    root: str,
    locations: Sequence[str],
    options: PackingOptions,
    *,
    connection: Connection = DEFAULT,
) -> Created:
    """Pack the inputs at the locations into ranges below ``root``, a folder, bucket or prefix: all, or none.

    Raises OperationError before anything is written, for names without a number, keys that occur twice or leave a gap
    inside a range, and ranges that overlap with those of the dataset. Raises SourceError and Cancelled.
    """
    folder = None if is_s3(root) else _folder(root)
    own = [folder / above / options.dataset for above, _ in _HOLDERS] if folder is not None else []
    ranges = plan(gather(locations, progress, own, connection), options)
    beneath = [f"{above}/{options.dataset}/{name}" for above, name in _HOLDERS]
    objects: FolderObjects | BucketObjects
    if folder is not None:
        objects, base = FolderObjects(folder), LocalFolder(folder)
        existing: list[Folder] = [found for path in beneath if (found := base.inside(path)) is not None]
    else:
        from inspector.sources.s3.uploads.new_objects import BucketObjects  # loads boto3

        address = parse(root)
        objects = bucket = BucketObjects(address, connection, progress)
        existing = [bucket.beneath(path) for path in beneath]
        root = f"{SCHEME}{address.bucket}/{address.prefix}"
    with cancelling(progress):
        check_free(ranges, options.dataset, _existing_ranges(existing))
    return replace(
        pack(ranges, options.dataset, root, objects, progress),
        warnings=skipped_outputs([each for each in own if each.exists()], locations),
    )


def _folder(root: str) -> Path:
    if "://" in root:
        raise OperationError(f"{visible(root)} is neither a local folder nor s3://bucket/prefix.")
    try:
        folder = Path(os.path.realpath(root))
        blocked = folder.exists() and not folder.is_dir()
    except (OSError, ValueError) as error:  # a name too long, or with a NUL
        raise OperationError(unusable(root, error)) from error
    if blocked:
        raise OperationError(f"{visible(root)} is not a folder, so ranges cannot be written into it.")
    return folder


def holders(root: Path, dataset: str) -> list[Path]:
    """The folders that contain the ranges of a dataset, or would."""
    return [root / above / dataset / beneath for above, beneath in _HOLDERS]


def plan(inputs: Sequence[Input], options: PackingOptions) -> list[Range]:
    """Distribute the inputs over ranges. Raises OperationError."""
    _check_options(options)
    if not inputs:
        raise OperationError("There is nothing to pack. Nothing was written.")
    datapoints = _numbered(inputs) if options.first_key is None else _numbered_from(options.first_key, inputs)
    ranges: dict[int, Range] = {}
    for each in datapoints:
        _check(each)
        ranges.setdefault((each.key - datapoints[0].key) // options.per_range, []).append(each)
    for each_range in ranges.values():
        _check_no_gaps(each_range)
    return list(ranges.values())


def pack(
    ranges: Sequence[Range], dataset: str, root: str, objects: FolderObjects | BucketObjects, progress: Progress
) -> Created:
    """Write the ranges, each as a tar and its metadata. Raises SourceError and Cancelled."""
    progress.begin("Packing", sum(each.input.size for each_range in ranges for each in each_range))
    archives = []
    with objects:
        for datapoints in ranges:
            writer = Writer(datapoints[0].key)
            first, last = datapoints[0].key, datapoints[-1].key
            key = f"dataset/{dataset}/datapoints/{first:0{DIGITS}d}-{last:0{DIGITS}d}.tar"
            progress.label = f"Packing {key.rpartition('/')[2]}"
            objects.put(key, _tar(datapoints, writer, progress))
            objects.put(f"{key}.metadata", [metadata(writer.rows)])
            archives.append(NewArchive(f"{root.rstrip('/')}/{key}", len(datapoints), writer.size))
    return created(tuple(archives))


def _tar(datapoints: Range, writer: Writer, progress: Progress) -> Iterator[bytes]:
    for each in datapoints:
        try:
            yield writer.begin(each.extension, each.input.size, each.modified)
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
    name, refused = options.dataset, ""
    if reasons := hazards(name.encode("utf-8", "surrogateescape")):
        refused = f"it {reasons[0]}"
    elif "/" in name or name in (".", ".."):
        refused = "it must be the name of a single folder"
    if refused:
        raise OperationError(f"'{visible(name)}' cannot be the name of a dataset: {refused}.")
    if options.per_range < 1:
        raise OperationError("A range must have at least one key.")
    if options.first_key is not None and not 0 <= options.first_key <= _LARGEST_KEY:
        raise OperationError(f"A key must be from 0 to {_LARGEST_KEY:,}.")


def _numbered(inputs: Sequence[Input]) -> list[Datapoint]:
    """The inputs with the numbers in their names as keys."""
    found = []
    for each in inputs:
        name = each.name.rpartition(b"/")[2]
        if (key := datapoint_key(name)) is None:
            raise OperationError(
                f"{visible(each.where)} does not have a number as its name. Choose a first key to number the files in "
                f"their order{hint(Hint.FIRST_KEY)}. Nothing was written."
            )
        found.append(Datapoint(key[0], "".join(decoded(name)[0].partition(".")[1:]), each))
    return sorted(found, key=lambda each: each.key)


def _numbered_from(first: int, inputs: Sequence[Input]) -> list[Datapoint]:
    if first + len(inputs) - 1 > _LARGEST_KEY:
        raise OperationError(f"There are more files than keys: the largest is {_LARGEST_KEY:,}. Nothing was written.")
    return [Datapoint(first + at, _extension(decoded(each.name)[0]), each) for at, each in enumerate(inputs)]


def _extension(name: str) -> str:
    """The suffix that tells a file's content, ``.json`` or ``.json.zst``."""
    suffixes = PurePosixPath(name).suffixes
    return "".join(suffixes[-2:] if suffixes and suffixes[-1].lower() in _COMPRESSED else suffixes[-1:])


def _check(each: Datapoint) -> None:
    """Raise OperationError if it cannot be stored in a tar under its name."""
    name = each.name.encode("utf-8", "surrogatepass")
    if reasons := hazards(name):
        raise OperationError(f"{visible(each.input.where)} cannot be packed: the name '{visible(name)}' {reasons[0]}.")
    try:
        header(name, each.input.size, each.modified)
    except WriteError as error:
        raise OperationError(f"{visible(each.input.where)} cannot be packed: {error}") from error


def _check_no_gaps(datapoints: Range) -> None:
    for before, each in pairwise(datapoints):
        files = f"{visible(before.input.where)} and {visible(each.input.where)}"
        if each.key == before.key:
            raise OperationError(f"The key {each.key:,} occurs twice: {files} have it. Nothing was written.")
        if each.key > before.key + 1:
            first, last = before.key + 1, each.key - 1
            missing = f"key {first:,} is" if first == last else f"the keys {first:,} to {last:,} are"
            raise OperationError(
                f"There is a gap between {files}: {missing} missing inside a range, which is not allowed. Keys may be "
                "missing only between two ranges. Nothing was written."
            )


# ---- what is there already ---------------------------------------------------------------------------------------


def check_free(ranges: Sequence[Range], dataset: str, taken: Iterable[Taken]) -> None:
    """Refuse ranges that share keys with those of the dataset. Raises OperationError and SourceError."""
    existing = sorted(taken, key=lambda each: each[0].first)
    firsts = [named.first for named, _ in existing]
    widest = list(accumulate(existing, lambda *both: max(both, key=lambda each: each[0].last)))
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
            f"the dataset {visible(dataset)} has already: {named.first:,} to {named.last:,}.{more} Nothing was written."
        )


def _existing_ranges(holders: Iterable[Folder]) -> Iterator[Taken]:
    """The ranges in these folders, including those with only metadata left."""
    for holder in holders:
        for entry in holder.entries():
            stem = entry.name.removesuffix(".metadata").removesuffix(".index").removesuffix(".tar")
            if (named := range_name(f"{stem}.tar")) is not None:
                yield named, entry.name
