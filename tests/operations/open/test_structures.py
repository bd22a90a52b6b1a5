"""What a session says of structures: how many there are, where the next one is, what stands in a stretch of bytes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from inspector.core.field import Structure
from inspector.core.kinds import FAMILIES, Family, Kind, family_bit
from inspector.core.program.progress import Progress
from inspector.core.verdict import Verdict
from inspector.formats._kinds import (
    CENTRAL_DIRECTORY,
    CENTRAL_HEADER,
    END_OF_DIRECTORY,
    INDEX,
    INDEX_ENTRY,
    LOCAL_HEADER,
    TAR_END,
    TAR_HEADER,
)
from inspector.formats.caf import FOOTER
from inspector.formats.rca import BLOB_BLOCK, CHUNK_HEADER, RESET_BLOCK
from inspector.formats.taco.codes import TACO_ENTRY
from inspector.operations.session.archive_session import ArchiveSession

Sample = Callable[[str], Path]
Opened = Callable[[str], ArchiveSession]


@pytest.fixture
def opened(sample: Sample) -> Opened:
    def make(name: str) -> ArchiveSession:
        session = ArchiveSession(str(sample(name)))
        session.decode(Progress())
        return session

    return make


def structures(session: ArchiveSession) -> list[Structure]:
    found: dict[tuple[int, ...], Structure] = {}
    for run in session.runs(0, 0, session.status().layers[0].size):
        structure = run.structure
        while structure is not None:
            found.setdefault((structure.start, *structure.path), structure)
            structure = structure.outer
    return sorted(found.values(), key=lambda each: (each.start, -each.stop))


COUNTS = {
    "two-chunks.rca": {CHUNK_HEADER: 2, RESET_BLOCK: 1, BLOB_BLOCK: 7, Kind.DATA: 7},
    "journey.caf": {INDEX: 1, INDEX_ENTRY: 8, FOOTER: 1, Kind.DATA: 7},
    "gap.caf": {INDEX: 1, INDEX_ENTRY: 8, FOOTER: 1, Kind.DATA: 7, Kind.GAP: 1},
    "plain.zip": {
        LOCAL_HEADER: 4,
        Kind.DATA: 4,
        CENTRAL_DIRECTORY: 1,
        CENTRAL_HEADER: 4,
        END_OF_DIRECTORY: 1,
    },
    "plain.tar": {TAR_HEADER: 3, Kind.DATA: 1, Kind.PADDING: 2, TAR_END: 1},
}


@pytest.mark.parametrize("name", COUNTS)
def test_structures_are_counted_without_being_made(opened: Opened, name: str) -> None:
    session = opened(name)
    found = session.census(Progress(), 0)

    assert found == {(kind, False): number for kind, number in COUNTS[name].items()}
    seen = {(each.kind, each.path) for each in structures(session)}  # a blob of two pieces is one structure
    made = {kind: sum(1 for other, _ in seen if other is kind) for kind in COUNTS[name]}
    assert made == COUNTS[name]


def test_unused_entries_are_counted_apart(opened: Opened) -> None:
    found = opened("two-entries.tacozip").census(Progress(), 0)

    assert (found[TACO_ENTRY, False], found[TACO_ENTRY, True]) == (2, 5)


@pytest.mark.parametrize("name", [*COUNTS, "two-entries.tacozip", "two-resets-spec.rca"])
def test_neighbours_of_one_family_take_turns(opened: Opened, name: str) -> None:
    runs = opened(name).runs(0, 0, 1 << 20)
    assert len({run.structure.family for run in runs if run.structure is not None}) <= len(FAMILIES) == 8
    for one, other in pairwise(runs):
        first, second = one.structure, other.structure
        if first is None or second is None or first.path == second.path or first.family is None:
            continue
        if first.family is second.family and not (first.unused and second.unused):
            assert first.level != second.level, (first.label, second.label)


def test_the_next_of_a_kind_is_found_both_ways_and_around_the_end(opened: Opened) -> None:
    session = opened("two-entries.tacozip")

    def next_from(offset: int, backwards: bool, unused: bool = True) -> int:
        found = session.next_field(Progress(), 0, offset, backwards, TACO_ENTRY, unused=unused)
        assert found is not None
        return found.start

    assert [next_from(0, False), next_from(0x4D, False), next_from(0x8D, False)] == [0x4D, 0x5D, 0x4D]
    assert [next_from(0x4D, True), next_from(0x60, True)] == [0x8D, 0x5D]
    assert next_from(0x2D, False, unused=False) == 0x3D
    assert session.next_field(Progress(), 0, 0, False, FOOTER, unused=False) is None


def test_the_map_knows_the_families_of_each_stretch(opened: Opened) -> None:
    session = opened("journey.caf")
    size = session.status().layers[0].size
    rows = session.overview(Progress(), 0, size)  # one byte each

    def holds(family: Family) -> list[int]:
        return [at for at, bits in enumerate(rows) if bits & family_bit(family)]

    assert holds(Family.END) == list(range(size - 4, size))
    assert holds(Family.INDEX) == list(range(0x273C, size - 4))
    assert holds(Family.CONTENT) == list(range(0x273C))


def test_verdicts_stand_on_the_data_of_members_only(opened: Opened) -> None:
    session = opened("two-entries.tacozip")
    session.check(Progress())

    judged = {run.verdict for run in session.runs(0, 0, 1 << 20) if run.kind is Kind.DATA}
    assert judged == {Verdict.VERIFIED}
    assert all(run.verdict is None for run in session.runs(0, 0, 1 << 20) if run.kind is not Kind.DATA)
    assert session.verdict_counts(Progress(), 0) == {Verdict.VERIFIED: 5}


def test_a_field_knows_the_family_of_its_structure(opened: Opened) -> None:
    explanation = opened("two-entries.tacozip").explain(0, 0x35)

    assert [row.name for row in explanation.fields[-2:]] == ["Entry 0", "length"]
    assert [row.family for row in explanation.fields[-2:]] == [Family.TACO, Family.TACO]
