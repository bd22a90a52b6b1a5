"""From one field to the next: compared with looking at every byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.field import Field, FieldTable
from inspector.core.kinds import Kind, Role, role_bit
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.span import Span
from inspector.formats._kinds import TAR_HEADER
from inspector.operations.protocol.views import Target
from inspector.operations.session.archive_session import ArchiveSession
from inspector.operations.session.navigation import FieldSearch
from tests.operations.archives import opened

Sample = Callable[[str], Path]


def unexplained(session: ArchiveSession, offset: int, backwards: bool = False) -> Target | None:
    return session.next_field(Progress(), 0, offset, backwards)


def test_a_gap_is_found_from_either_side(sample: Sample) -> None:
    session = opened(sample("gap.caf"))
    size = session.status().layers[0].size
    gap = unexplained(session, 0)
    assert gap is not None
    assert session.explain(0, gap.start).fields[-1].kind is Kind.GAP
    assert unexplained(session, size, backwards=True) == gap
    assert unexplained(session, gap.start) is None
    assert unexplained(session, gap.start, backwards=True) is None
    assert unexplained(session, gap.stop - 1, backwards=True) == gap


def test_garbage_counts_as_unexplained(sample: Sample) -> None:
    session = opened(sample("torn-at-boundary.rca"))
    assert unexplained(session, 0) == Target(0, 32768, 32880)


def test_a_whole_archive_has_nothing_unexplained(sample: Sample) -> None:
    assert unexplained(opened(sample("two-entries.tacozip")), 0) is None


def test_the_next_of_a_kind_of_plain_values_has_the_same_name(sample: Sample) -> None:
    session = opened(sample("plain.zip"))
    here = next(at for at in range(200) if session.explain(0, at).fields[-1].name == "crc-32")
    found = session.next_field(Progress(), 0, here, False, Kind.DIGEST, "crc-32")
    assert found is not None
    assert found.start > here
    assert session.explain(0, found.start).fields[-1].name == "crc-32"
    assert session.next_field(Progress(), 0, found.start, True, Kind.DIGEST, "crc-32") == Target(0, here, here + 4)


def test_within_a_field_the_one_before_is_another_field(sample: Sample) -> None:
    session = opened(sample("plain.tar"))
    second = session.next_field(Progress(), 0, 0, False, TAR_HEADER, "header")
    assert second is not None
    assert session.next_field(Progress(), 0, second.start + 5, True, TAR_HEADER, "header") == Target(0, 0, 512)


def test_it_can_be_cancelled() -> None:
    rows = FieldTable(range(10_000), lambda at: Field("x", Kind.NUMBER, (Span(at, at + 1),)), 1)
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        FieldSearch(lambda _: False, 0, 0, False, progress).among(rows)


KINDS = st.sampled_from((Kind.GAP, Kind.DATA, Kind.GARBAGE))


@given(kinds=st.lists(KINDS, max_size=30), at=st.integers(-1, 70), backwards=st.booleans(), table=st.booleans())
def test_it_finds_what_looking_at_every_field_finds(kinds: list[Kind], at: int, backwards: bool, table: bool) -> None:
    fields = [Field("x", kind, (Span(2 * row, 2 * row + 2),)) for row, kind in enumerate(kinds)]
    starts = [field.start for field in fields if field.kind is not Kind.DATA]
    beyond = [start for start in starts if (start < at if backwards else start > at)]
    roles = [role_bit({Kind.GAP: Role.GAP, Kind.DATA: Role.DATA}.get(kind, Role.GARBAGE)) for kind in kinds]
    rows = FieldTable(range(0, 2 * len(kinds), 2), fields.__getitem__, roles) if table else fields
    unexplained = role_bit(Role.GAP) | role_bit(Role.GARBAGE)
    found = FieldSearch(lambda field: field.kind is not Kind.DATA, unexplained, at, backwards, Progress()).among(rows)
    assert (found.start if found else None) == ((max if backwards else min)(beyond) if beyond else None)
