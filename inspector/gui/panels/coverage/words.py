"""What a band shows, in words."""

from __future__ import annotations

from inspector.core.names import visible
from inspector.core.numbers import count, grouped, rounded
from inspector.gui.panels.coverage.bands import Band
from inspector.operations.protocol.coverage_views import Beside, DatasetRow, RangeRow, RangeState


def keys_words(first: int, last: int) -> str:
    """``key 7`` or ``keys 7 to 9,000``."""
    if first == last:
        return f"key {grouped(first)}"
    return f"keys {grouped(first)} to {grouped(last)}"


def range_words(row: RangeRow, state: RangeState, number: int, of: int) -> str:
    """All that is known of one range; ``number`` is counted from 1."""
    return (
        f"Range {grouped(number)} of {grouped(of)}: {keys_words(row.first, row.last)}; {rounded(row.size)}, "
        f"{row.beside.value}; {state.value}."
    )


def summary_words(dataset: DatasetRow) -> str:
    """How much there is in a dataset."""
    return f"{count(dataset.ranges, 'range')}, {rounded(dataset.size)}"


def trouble_words(dataset: DatasetRow, band: Band | None) -> str:
    """What is particular about a dataset: gaps, overlaps, what stands beside its ranges, what has lost its archive."""
    found = []
    if band is not None and band.gaps.firsts:
        found.append(count(len(band.gaps.firsts), "gap"))
    if dataset.overlaps:
        found.append(count(len(dataset.overlaps), "overlap"))
    if dataset.orphans:
        found.append(count(len(dataset.orphans), "orphan"))
    kinds = dict(dataset.beside)
    if len(kinds) == 1:
        found += [_short(kind) for kind in kinds]
    else:
        found += [f"{kinds[kind]:,} {_short(kind)}" for kind in Beside if kind in kinds]
    return ", ".join(found)


def _short(kind: Beside) -> str:
    return "with an index" if kind is Beside.INDEX else kind.value


def dataset_words(dataset: DatasetRow, band: Band | None) -> str:
    """A dataset in sentences, for those who do not see the band."""
    words = (
        f"Dataset {visible(dataset.name)}: {summary_words(dataset)}, "
        f"{keys_words(dataset.first, dataset.last)}; {trouble_words(dataset, band)}."
    )
    if any(kind is Beside.INDEX for kind, _ in dataset.beside):
        words += " " + "Ranges with an index use the later layout."
    if dataset.orphans:
        names = ", ".join(visible(each.name) for each in dataset.orphans[:3])
        more = ", …" if len(dataset.orphans) > 3 else "."
        words += " " + f"Metadata without its archive: {names + more}"
    return words


def place_words(band: Band, rows: list[RangeRow], states: bytes, keys: tuple[int, int]) -> str:
    """What the keys ``[first, stop)`` are in: one range, several, a gap."""
    first, stop = keys
    number = band.count(first, stop)
    sentences = []
    if number == 1 and (at := band.at(first, stop)) is not None:
        sentences.append(range_words(rows[at], list(RangeState)[states[at]], at + 1, len(rows)))
    elif number:
        parts = ", ".join(f"{each:,} {state.value}" for state, each in band.tally(first, stop))
        keys_in = keys_words(first, stop - 1)
        sentences.append(f"{grouped(number)} ranges at the {keys_in}: {parts}.")
    if (gap := band.gaps.first(first, stop)) is not None:
        sentences.append(f"Gap: the {keys_words(*gap)}: in no range, which is allowed.")
    if (shared := band.overlaps.first(first, stop)) is not None:
        sentences.append(f"Overlap: two ranges share the {keys_words(*shared)}.")
    if (lost := band.orphans.first(first, stop)) is not None:
        sentences.append(f"Orphan: the archive of the {keys_words(*lost)} is missing, its metadata is there.")
    return " ".join(sentences) or "The dataset has no keys here."
