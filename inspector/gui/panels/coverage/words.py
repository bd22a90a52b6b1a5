"""What a band shows, in words."""

from __future__ import annotations

from inspector.core.counts import ranges
from inspector.core.names import visible
from inspector.core.numbers import grouped, rounded
from inspector.core.translation import tr, trn
from inspector.gui.kit.labels import word
from inspector.gui.panels.coverage.bands import Band
from inspector.operations.session.coverage import Beside, DatasetRow, RangeRow, RangeState


def keys_words(first: int, last: int) -> str:
    """``key 7`` or ``keys 7 to 9,000``."""
    if first == last:
        return tr("key {key}", key=grouped(first))
    return tr("keys {first} to {last}", first=grouped(first), last=grouped(last))


def range_words(row: RangeRow, state: RangeState, number: int, of: int) -> str:
    """All that is known of one range; ``number`` is counted from 1."""
    return tr(
        "Range {number} of {all}: {keys}; {size}, {beside}; {state}.",
        number=grouped(number),
        all=grouped(of),
        keys=keys_words(row.first, row.last),
        size=rounded(row.size),
        beside=word(row.beside),
        state=word(state),
    )


def summary_words(dataset: DatasetRow) -> str:
    """How much there is in a dataset."""
    return f"{ranges(dataset.ranges)}, {rounded(dataset.size)}"


def trouble_words(dataset: DatasetRow, band: Band | None) -> str:
    """What is particular about a dataset: gaps, overlaps, what stands beside its ranges, what has lost its archive."""
    found = []
    if band is not None and band.gaps.firsts:
        found.append(trn("{number} gap", "{number} gaps", len(band.gaps.firsts)))
    if dataset.overlaps:
        found.append(trn("{number} overlap", "{number} overlaps", len(dataset.overlaps)))
    if dataset.orphans:
        found.append(trn("{number} orphan", "{number} orphans", len(dataset.orphans)))
    kinds = dict(dataset.beside)
    if len(kinds) == 1:
        found += [_short(kind) for kind in kinds]
    else:
        found += [f"{kinds[kind]:,} {_short(kind)}" for kind in Beside if kind in kinds]
    return ", ".join(found)


def _short(kind: Beside) -> str:
    return tr("with an index") if kind is Beside.INDEX else word(kind)


def dataset_words(dataset: DatasetRow, band: Band | None) -> str:
    """A dataset in sentences, for those who do not see the band."""
    words = tr(
        "Dataset {name}: {summary}, {keys}; {remarks}.",
        name=visible(dataset.name),
        summary=summary_words(dataset),
        keys=keys_words(dataset.first, dataset.last),
        remarks=trouble_words(dataset, band),
    )
    if any(kind is Beside.INDEX for kind, _ in dataset.beside):
        words += " " + tr("Ranges with an index are of the later layout.")
    if dataset.orphans:
        names = ", ".join(visible(each.name) for each in dataset.orphans[:3])
        more = ", …" if len(dataset.orphans) > 3 else "."
        words += " " + tr("Metadata without its archive: {names}", names=names + more)
    return words


def place_words(band: Band, rows: list[RangeRow], states: bytes, keys: tuple[int, int]) -> str:
    """What the keys ``[first, stop)`` are in: one range, several, a gap."""
    first, stop = keys
    number = band.count(first, stop)
    sentences = []
    if number == 1 and (at := band.at(first, stop)) is not None:
        sentences.append(range_words(rows[at], list(RangeState)[states[at]], at + 1, len(rows)))
    elif number:
        parts = ", ".join(f"{each:,} {word(state)}" for state, each in band.tally(first, stop))
        keys_in = keys_words(first, stop - 1)
        sentences.append(
            tr("{number} ranges at the {keys}: {states}.", number=grouped(number), keys=keys_in, states=parts)
        )
    if (gap := band.gaps.first(first, stop)) is not None:
        sentences.append(tr("Gap: the {keys}: in no range, which is allowed.", keys=keys_words(*gap)))
    if (shared := band.overlaps.first(first, stop)) is not None:
        sentences.append(tr("Overlap: two ranges share the {keys}.", keys=keys_words(*shared)))
    if (lost := band.orphans.first(first, stop)) is not None:
        sentences.append(
            tr("Orphan: the archive of the {keys} is missing, its metadata is there.", keys=keys_words(*lost))
        )
    return " ".join(sentences) or tr("No range and no gap: the dataset has no keys here.")
