"""Folders with the ranges of datasets: a bucket's root or a part of it.

S3 Storage Layout for datas3t, Overall Structure: ``dataset/<name>/datapoints/<from>-<to>.tar`` and ``.tar.metadata``;
the later layout is ``datas3t/<name>/dataranges/<from>-<to>-<counter>.tar`` and ``.index``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from inspector.core.archive import MAX_FINDINGS_PER_KIND, Archive
from inspector.core.collection import Collection, Orphan, Overlap, Range
from inspector.core.finding import Finding, first_sentence
from inspector.core.names import visible
from inspector.core.numbers import count
from inspector.formats.datas3t import RangeName, codes, range_name
from inspector.operations.open.opening import DATASET_ROOTS, RANGE_FOLDERS
from inspector.sources.local.file import Entry, Folder, LocalFolder

OVERLAP = codes.RANGE_OVERLAP.code
"""The code of the finding that two ranges share keys."""

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
    findings = [
        codes.METADATA_ORPHAN_IN_DATASET.finding(
            f"{visible(orphan.name)} in the dataset {visible(orphan.dataset)} is an orphan: the tar that it "
            "describes is missing."
        )
        for orphan in orphans
    ]
    findings += _gaps(ranges)
    title = count(len(datasets), "dataset") + f", {count(len(ranges), 'range')}"
    return Collection(
        folder.location, title, datasets, tuple(ranges), tuple(findings), tuple(_overlaps(ranges)), tuple(orphans)
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
            ranges.append(Range(dataset, named.first, named.last, entry.name, entry.location, where, entry.size))
    orphans = [
        Orphan(dataset, named.first, named.last, entry.name)
        for tar, entry in beside.items()
        if (named := range_name(tar)) is not None
    ]
    return ranges, orphans


def _neighbours(ranges: Sequence[Range]) -> Iterator[tuple[Range, int]]:
    """For each range but the first of its dataset: the earlier range that reaches farthest, and its own number."""
    widest: Range | None = None
    for number, each in enumerate(ranges):
        if widest is not None and widest.dataset == each.dataset:
            yield widest, number
        if widest is None or widest.dataset != each.dataset or each.last > widest.last:
            widest = each


def _shared(ranges: Sequence[Range]) -> Iterator[tuple[Range, int, int, int]]:
    """The ranges of one dataset that share keys: the earlier range, the number of the later, the first and last key."""
    for before, number in _neighbours(ranges):
        first, last = ranges[number].first, min(ranges[number].last, before.last)
        if first <= last:
            yield before, number, first, last


def _overlaps(ranges: Sequence[Range]) -> Iterator[Overlap]:
    """The overlaps between ranges of one dataset."""
    for before, number, first, last in _shared(ranges):
        sentence = (
            f"Two ranges of the dataset {visible(before.dataset)} overlap: {before.name} and {ranges[number].name} "
            f"share {_keys(first, last)}."
        )
        yield Overlap(codes.RANGE_OVERLAP.finding(sentence), number, first, last)


def is_of_range(name: str) -> bool:
    """Whether a file is a range by its name, or describes one."""
    described = (name.removesuffix(suffix) + ".tar" for suffix in _BESIDE if name.endswith(suffix))
    return any(range_name(tar) is not None for tar in (name, *described))


def overlapping(names: Iterable[str]) -> dict[str, str]:
    """The files of one folder that are ranges and share keys with another: a sentence for each name that does."""
    named = ((name, range_name(name)) for name in names)
    ranges = sorted(Range("", keys.first, keys.last, name, "", "", 0) for name, keys in named if keys is not None)
    found: dict[str, str] = {}
    for before, number, first, last in _shared(ranges):
        sentence = f"Two ranges overlap: {before.name} and {ranges[number].name} share {_keys(first, last)}."
        for each in (before, ranges[number]):
            found.setdefault(each.name, sentence)
    return found


def _gaps(ranges: Sequence[Range]) -> Iterator[Finding]:
    """Findings about the keys missing between ranges of one dataset."""
    for before, number in _neighbours(ranges):
        each = ranges[number]
        if each.first > before.last + 1:
            missing = _keys(before.last + 1, each.first - 1)
            yield codes.RANGE_GAP.finding(
                f"No range of the dataset {visible(each.dataset)} has {missing}. "
                f"There is a gap between ranges, {before.name} and {each.name}, which is allowed."
            )


def _keys(first: int, last: int) -> str:
    return f"key {first:,}" if first == last else f"the keys {first:,} to {last:,}"
