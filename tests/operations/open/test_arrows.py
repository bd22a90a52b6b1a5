"""The references around some bytes: each pair of a place that is said and the bytes at it, from either side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.program.progress import Progress
from inspector.core.span import Span
from inspector.operations.protocol.views import Arrow, LayerKind
from inspector.operations.session.archive_session import ArchiveSession
from tests.operations.archives import caf, opened

Sample = Callable[[str], Path]
ROOT = Path(__file__).parents[3] / "resources" / "samples"


def at(session: ArchiveSession, offset: int, layer: int = 0) -> list[Arrow]:
    """The arrows that touch one byte."""
    return list(session.arrows(layer, offset, offset + 1))


def ends(arrows: list[Arrow]) -> list[tuple[int | None, int]]:
    return [(arrow.source.start if arrow.source else None, arrow.target.start) for arrow in arrows]


PAIRS = {
    "a footer to its index": ("journey.caf", "footer", "index"),
    "an entry of an index to the data": ("journey.caf", "index entry[4]", "56"),
    "an entry of a TACO header to the member": ("two-entries.tacozip", "entry 0", "5109"),
    "a header of the central directory to the local header": ("plain.zip", "central directory header[2]", "4899"),
    "the end of the central directory to it": ("plain.zip", "end of central directory", "central directory"),
    "a reset block to what its hash covers": ("two-resets-spec.rca", "reset[1]", "503"),
    "the last chunk to the last segment": ("two-resets-spec.rca", "0", "997"),
}


def place(session: ArchiveSession, expression: str) -> int:
    return session.goto(expression, 0, 0).start


@pytest.mark.parametrize("name", list(PAIRS))
def test_each_end_of_a_reference_has_its_arrow(sample: Sample, name: str) -> None:
    file, source, target = PAIRS[name]
    session = opened(sample(file))
    wanted = (place(session, source), place(session, target))
    assert wanted in ends(at(session, wanted[0]))
    assert wanted in ends(at(session, wanted[1]))


def test_an_arrow_says_both_ends_in_words(sample: Sample) -> None:
    session = opened(sample("two-entries.tacozip"))
    (arrow,) = at(session, 45)
    assert (arrow.source_words, arrow.target_words) == ("The Entry 0", "The data of METADATA/level0.parquet")
    assert arrow.target == Span(5109, 5417)


def test_an_entry_that_is_not_in_use_leads_nowhere(sample: Sample) -> None:
    session = opened(sample("two-entries.tacozip"))
    assert at(session, 77) == []
    assert session.references(0, 77) == ()


def test_a_row_beside_the_archive_leads_into_it_from_nowhere() -> None:
    session = opened(ROOT / "weather")
    (arrow,) = at(session, 1024)
    assert arrow.source is None
    assert arrow.target == Span(1024, 1536)
    assert "metadata row" in arrow.source_words


def test_the_middle_of_long_data_has_no_arrow(sample: Sample) -> None:
    session = opened(sample("journey.caf"))
    assert session.arrows(0, 200, 2_000) == ()


def test_content_has_no_arrows(sample: Sample) -> None:
    session = opened(sample("journey.caf"))
    layer = session.content(Progress(), 1).layer.layer
    assert session.arrows(layer, 0, 1_000) == ()


def test_the_inner_stream_has_the_arrows_of_its_resets(sample: Sample) -> None:
    session = opened(sample("two-resets-spec.rca"))
    inner = next(info for info in session.status().layers if info.kind is LayerKind.INNER)
    found = ends(list(session.arrows(inner.layer, 0, inner.size)))
    assert len(found) == 2
    assert found[0][1] == 0


def test_an_answer_stays_small_where_every_byte_leads_somewhere(tmp_path: Path) -> None:
    session = opened(caf(tmp_path / "many.caf", {f"{number:04}": b"x" for number in range(3_000)}))
    found = session.arrows(0, 0, 8_192)
    assert len(found) == 200
    assert all(arrow.target.start <= 3_000 for arrow in found)


@given(
    name=st.sampled_from(sorted(path.name for path in ROOT.iterdir() if path.is_file())),
    start=st.integers(-2, 40_000),
    size=st.integers(0, 8_192),
)
def test_arrows_stay_in_the_layer_and_touch_what_is_shown(name: str, start: int, size: int) -> None:
    session = opened(ROOT / name)
    for info in session.status().layers:
        for arrow in session.arrows(info.layer, start, start + size):
            source, target = arrow.source, arrow.target
            assert all(0 <= span.start <= span.stop <= info.size for span in (source, target) if span is not None)
            begins = start <= target.start < start + size
            assert begins or (source is not None and source.start < start + size and start < source.stop)
