"""Folders with the ranges of datasets: a bucket's root or a part of it.

S3 Storage Layout for datas3t, Overall Structure: ``dataset/<name>/datapoints/<from>-<to>.tar`` and ``.tar.metadata``;
the later layout is ``datas3t/<name>/dataranges/<from>-<to>-<counter>.tar`` and ``.index``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection as Some
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from inspector.core.archive import MAX_FINDINGS_PER_KIND, Archive
from inspector.core.collection import Collection, Fate, Orphan, Overlap, Range, gaps_between
from inspector.core.finding import Finding, FindingType, first_sentence
from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.formats.datas3t import RangeName, codes, range_name
from inspector.operations.open.opening import DATASET_ROOTS, RANGE_FOLDERS
from inspector.operations.protocol.views import DatasetRow, RangeMetadata
from inspector.sources.local.file import Entry, Folder, LocalFolder

OVERLAPS = frozenset((codes.RANGE_OVERLAP.code, codes.RANGE_SUPERSEDED.code, codes.RANGE_CONFLICT.code))
"""The codes of findings about keys that two ranges share."""

_BESIDE = (".tar.metadata", ".index")


def open_collection(folder: Path) -> Collection | None:
    """The ranges in a local folder, see ``collection_in``."""
    return collection_in(LocalFolder(folder.resolve()))


def collection_in(folder: Folder) -> Collection | None:
    """The ranges in ``folder``, None if it has none; raises SourceError if a folder cannot be read.

    It may be a bucket's root, its ``dataset`` folder, one dataset, or the folder of its ranges. Only names are read.
    """
    ranges: list[Range] = []
    orphans: list[Orphan] = []
    folders = list(_range_folders(folder))
    for dataset, holder in folders:
        found, left = _ranges(dataset, holder.entries())
        ranges += found
        orphans += left
    if not ranges and not orphans:
        return None
    ranges.sort(key=lambda each: (each.dataset, each.first, each.last, each.name))
    datasets = tuple(dict.fromkeys(sorted(dataset for dataset, _ in folders)))
    replaced = _replaced(ranges)
    ranges = [_fated(ranges, number, replaced.get(number)) for number in range(len(ranges))]
    findings = [*map(_orphan, orphans), *_gaps(ranges)]
    for name in datasets:
        theirs = [each for each in ranges if each.dataset == name]
        twice = [each.size for each in theirs if each.by is not None]
        if twice:
            findings.append(
                codes.RANGE_SUPERSEDED.finding(
                    f"The dataset {visible(name)} has {count(len(twice), 'range')} whose keys later uploads hold as "
                    f"well. They take {in_bytes(sum(twice))}."
                )
            )
        if ".tar" in name and any(each.upload is not None for each in theirs):
            findings.append(codes.DATASET_NAME.finding(f"The name of the dataset {visible(name)} contains .tar."))
    title = count(len(datasets), "dataset") + f", {count(len(ranges), 'range')}"
    return Collection(
        folder.location,
        title,
        datasets,
        tuple(ranges),
        tuple(findings),
        (*_overlaps(ranges), *_superseded(ranges, replaced)),
        tuple(orphans),
    )


def datasets_of(collection: Collection) -> tuple[DatasetRow, ...]:
    """How ranges cover the keys of each dataset, in the order of their ranges; those with orphans only come last."""
    names = [each.dataset for each in collection.ranges]
    shared: dict[str, list[tuple[int, int]]] = {}
    for overlap in collection.overlaps:
        if collection.ranges[overlap.later].by is None:
            shared.setdefault(names[overlap.later], []).append((overlap.first, overlap.last))
    orphans: dict[str, list[Orphan]] = {}
    for orphan in collection.orphans:
        orphans.setdefault(orphan.dataset, []).append(orphan)
    found = []
    for name in dict.fromkeys((*names, *orphans)):
        start, stop = bisect_left(names, name), bisect_left(names, name + "\0")  # ranges are sorted by dataset
        ranges, alone = collection.ranges[start:stop], orphans.get(name, ())
        kinds = [RangeMetadata.of(each.beside) for each in ranges]
        found.append(
            DatasetRow(
                name,
                start,
                len(ranges),
                sum(each.size for each in ranges),
                min((*(each.first for each in ranges), *(each.first for each in alone))),
                max((*(each.last for each in ranges), *(each.last for each in alone))),
                tuple(shared.get(name, ())),
                tuple(alone),
                tuple((kind, kinds.count(kind)) for kind in RangeMetadata if kind in kinds),
                tuple(gaps_between([each.first for each in ranges], [each.last for each in ranges])),
                sum(each.size for each in ranges if each.by is not None),
            )
        )
    return tuple(found)


def written(modified: float) -> str:
    """When an object was last written, as a part of a sentence; empty where that is not known."""
    return f", last written {datetime.fromtimestamp(modified, UTC):%Y-%m-%d %H:%M} UTC," if modified else ""


def _orphan(orphan: Orphan) -> Finding:
    name = f"{visible(orphan.name)} in the dataset {visible(orphan.dataset)}"
    if orphan.upload is None:
        return codes.METADATA_ORPHAN_IN_DATASET.finding(f"{name} is an orphan: the tar that it describes is missing.")
    return codes.METADATA_ORPHAN.finding(
        f"{name} has no tar. Its upload{written(orphan.modified)} is in progress, or was given up."
    )


def overlaps_in(collection: Collection, at: int, archive: Archive) -> Iterator[Finding]:
    """The findings about keys that the decoded range ``at`` shares, with the headers of those keys as spans."""
    for overlap in collection.overlaps:
        if overlap.later == at:
            from inspector.formats.datas3t.datapoints import headers_of  # a file of another format needs no tar

            spans = tuple(islice(headers_of(archive, overlap.first, overlap.last), MAX_FINDINGS_PER_KIND))
            here = "" if spans else " This follows from their names: this one has no member with such a key."
            yield overlap.finding._replace(message=overlap.finding.message + here, spans=spans)


def gap_in(collection: Collection) -> Finding | None:
    """The first keys that no range has, with the number of further gaps in its first sentence; None without a gap."""
    gaps = [each for each in collection.findings if each.code == codes.RANGE_GAP.code]
    if not gaps:
        return None
    first = first_sentence(gaps[0].message)
    verb = "is" if len(gaps) == 2 else "are"
    more = f", and there {verb} {count(len(gaps) - 1, 'more gap')}" if len(gaps) > 1 else ""
    message = f"{first.removesuffix('.')}{more}.{gaps[0].message.removeprefix(first)}"
    return gaps[0]._replace(message=message)


def _range_folders(folder: Folder) -> Iterator[tuple[str, Folder]]:
    """The folders of ranges in ``folder``, each with the name of its dataset."""
    inside = folder.entries()
    if any(range_name(entry.name) for entry in inside) or (folder.name in RANGE_FOLDERS and _beside(inside)):
        yield folder.above if folder.name in RANGE_FOLDERS else folder.name, folder
        return
    if any(entry.folder and entry.name in RANGE_FOLDERS for entry in inside):
        yield from ((folder.name, holder) for holder in _inside(folder, RANGE_FOLDERS))
        return
    for root in _inside(folder, DATASET_ROOTS):
        yield from _datasets(root, root.entries())
    yield from _datasets(folder, (entry for entry in inside if entry.name not in DATASET_ROOTS))


def _inside(folder: Folder, names: Iterable[str]) -> Iterator[Folder]:
    return (found for name in names if (found := folder.inside(name)) is not None)


def _datasets(folder: Folder, inside: Iterable[Entry]) -> Iterator[tuple[str, Folder]]:
    for entry in inside:
        dataset = folder.inside(entry.name) if entry.folder else None
        if dataset is not None:
            yield from ((dataset.name, holder) for holder in _inside(dataset, RANGE_FOLDERS))


def _beside(inside: Iterable[Entry]) -> dict[str, Entry]:
    """Metadata and index files by the name of the tar they describe."""
    found: dict[str, Entry] = {}
    for suffix in reversed(_BESIDE):
        for entry in inside:
            tar = entry.name.removesuffix(suffix) + ".tar"
            if not entry.folder and entry.name.endswith(suffix) and range_name(tar):
                found[tar] = entry
    return found


def _ranges(dataset: str, inside: Sequence[Entry]) -> tuple[list[Range], list[Orphan]]:
    """The ranges in one folder, and the metadata without a tar."""
    beside = _beside(inside)
    ranges: list[Range] = []
    for entry in inside:
        named: RangeName | None = None if entry.folder else range_name(entry.name)
        if named is not None:
            other = beside.pop(entry.name, None)
            where = other.location if other else ""
            keys = dataset, named.first, named.last
            ranges.append(Range(*keys, entry.name, entry.location, where, entry.size, named.upload, entry.modified))
    orphans = [
        Orphan(dataset, named.first, named.last, entry.name, named.upload, entry.modified)
        for tar, entry in beside.items()
        if (named := range_name(tar)) is not None
    ]
    return ranges, orphans


def _replaced(ranges: Sequence[Range]) -> Mapping[int, int]:
    """The numbers of uploads whose keys a later upload has, alone or with others exactly, and the latest such."""
    found: dict[int, int] = {}
    begins = [(each.dataset, each.first) for each in ranges]
    for number, each in enumerate(ranges):
        inside, reached = list[int](), each.first - 1
        for at in range(bisect_left(begins, begins[number]), len(ranges) if _is_whole(each) else 0):
            if begins[at] > (each.dataset, min(reached + 1, each.last)):
                break
            other = ranges[at]
            if _is_whole(other) and _upload(other) < _upload(each) and other.last <= each.last:
                inside.append(at)
                reached = max(reached, other.last)
        if reached == each.last:
            for at in inside:
                found[at] = max(number, found.get(at, number), key=lambda by: _upload(ranges[by]))
    return found


def _upload(each: Range) -> int:
    return -1 if each.upload is None else each.upload


def _is_whole(each: Range) -> bool:
    return each.upload is not None and bool(each.beside)


def _fated(ranges: Sequence[Range], number: int, by: int | None) -> Range:
    each = ranges[number]
    if by is None:
        return each._replace(fate=Fate.LIVE if each.beside or each.upload is None else Fate.UNFINISHED)
    same = (each.first, each.last) == (ranges[by].first, ranges[by].last)
    return each._replace(fate=Fate.REPEATED if same else Fate.SUPERSEDED, by=ranges[by].upload)


def _superseded(ranges: Sequence[Range], replaced: Mapping[int, int]) -> Iterator[Overlap]:
    """What is said of the ranges whose keys a later upload has."""
    for number, by in replaced.items():
        each = ranges[number]
        keys = keys_text(each.first, each.last)
        message = f"{each.name} is {each.fate} by upload #{each.by}, which holds {keys} as well."
        yield Overlap(codes.RANGE_SUPERSEDED.finding(message), number, each.first, each.last, by)


def _neighbours(ranges: Sequence[Range], fates: Some[Fate] = tuple(Fate)) -> Iterator[tuple[int, int]]:
    """For each range but the first of its dataset: the earlier range that reaches farthest, and it; their numbers."""
    widest: int | None = None
    for number, each in enumerate(ranges):
        if each.fate not in fates:
            continue
        begins = widest is None or ranges[widest].dataset != each.dataset
        if widest is not None and not begins:
            yield widest, number
        if begins or widest is None or each.last > ranges[widest].last:
            widest = number


def _shared(ranges: Sequence[Range]) -> Iterator[tuple[int, int, int, int]]:
    """Ranges of one dataset that share keys, and neither replaces the other: two numbers, the first and last key."""
    for before, number in _neighbours(ranges, (Fate.LIVE,)):
        first, last = ranges[number].first, min(ranges[number].last, ranges[before].last)
        if first <= last:
            yield before, number, first, last


def _overlaps(ranges: Sequence[Range]) -> Iterator[Overlap]:
    """The overlaps between ranges of one dataset."""
    for before, number, first, last in _shared(ranges):
        two = ranges[before], ranges[number]
        sentence = (
            f"Two ranges of the dataset {visible(two[0].dataset)} overlap: {two[0].name} and {two[1].name} "
            f"share {keys_text(first, last)}."
        )
        yield Overlap(overlap_type(*(each.upload for each in two)).finding(sentence), number, first, last, before)


def overlap_type(*uploads: int | None) -> FindingType:
    """What it is that ranges with these counters share keys: the service leaves uploads that it no longer uses."""
    return codes.RANGE_OVERLAP if None in uploads else codes.UPLOAD_OVERLAP


def is_of_range(name: str) -> bool:
    """Whether a file is a range by its name, or describes one."""
    described = (name.removesuffix(suffix) + ".tar" for suffix in _BESIDE if name.endswith(suffix))
    return any(range_name(tar) is not None for tar in (name, *described))


def overlapping(files: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The files of one folder that share keys with another, and neither replaces the other: a sentence for each.

    ``files`` are names of ranges, each with what describes it, empty where nothing does.
    """
    named = ((name, range_name(name), beside) for name, beside in files)
    ranges = sorted(
        Range("", keys.first, keys.last, name, "", beside, 0, keys.upload) for name, keys, beside in named if keys
    )
    replaced = _replaced(ranges)
    ranges = [_fated(ranges, number, replaced.get(number)) for number in range(len(ranges))]
    found: dict[str, str] = {}
    for before, number, first, last in _shared(ranges):
        two = ranges[before], ranges[number]
        sentence = f"Two ranges overlap: {two[0].name} and {two[1].name} share {keys_text(first, last)}."
        for each in two:
            found.setdefault(each.name, sentence)
    return found


def _gaps(ranges: Sequence[Range]) -> Iterator[Finding]:
    """Findings about the keys missing between ranges of one dataset."""
    for at, number in _neighbours(ranges):
        before, each = ranges[at], ranges[number]
        if each.first > before.last + 1:
            missing = keys_text(before.last + 1, each.first - 1)
            yield codes.RANGE_GAP.finding(
                f"No range of the dataset {visible(each.dataset)} has {missing}. "
                f"There is a gap between ranges, {before.name} and {each.name}, which is allowed."
            )


def keys_text(first: int, last: int) -> str:
    """Keys in words, both ends included."""
    return f"key {first:,}" if first == last else f"the keys {first:,} to {last:,}"
