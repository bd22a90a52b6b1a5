from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.program.progress import Progress
from inspector.core.verdict import State
from inspector.formats.rca import hashes
from inspector.formats.rca.hashes import compare
from inspector.operations.check.checking import state_of
from tests.formats.rca import build
from tests.formats.rca.checking import (
    FULL,
    ONE,
    SMALL,
    TWO,
    UNSURE,
    WHOLE,
    checked,
    covered,
    flipped,
    noisy,
    opened,
    resumed,
    verdicts,
)
from tests.formats.rca.decoding import content
from tests.sweeping import every


def small_archives() -> Iterator[bytes]:
    leading = build.control_block(0, build.digest(b""))
    body = build.segment(SMALL)
    yield build.archive(SMALL)
    for convention in (build.SPEC, build.RCARCH):
        yield build.archive(SMALL, TWO, SMALL[:1], convention=convention, extra=b"!")
        covered = leading if convention == build.RCARCH else leading[:2]
        yield build.chunked(leading + body, build.digest(covered + body))


@pytest.mark.parametrize(
    "data", list(small_archives()), ids=["plain", "specification", "leading", "rcarch", "leading rcarch"]
)
@every(5)
def test_every_flipped_bit_is_found_and_lies_where_the_findings_point(data: bytes, step: int) -> None:
    for bit in range(0, 8 * len(data), step):
        archive, _ = checked(flipped(data, bit))
        assert state_of([archive]) in (State.DAMAGED, State.TORN)
        assert covered(archive, bit // 8)
        for index, verdict in enumerate(verdicts(archive)):
            if verdict is WHOLE:
                # What is verified has the content of a member of the sound archive.
                member = archive.members[index]
                assert (member.path, content(archive, index)) in [*SMALL, *TWO]


TWO_CHUNKS = build.archive(noisy(5000, 5), noisy(5000, 4, 2), convention=build.RCARCH)
HEADERS = [*range(80), *range(8 * FULL, 8 * (FULL + 12))]
IRRELEVANT = range(16, 80)
"""The metadata of the first chunk, which readers must ignore, in bits."""


@pytest.mark.parametrize("bit", HEADERS)
def test_of_the_headers_only_the_metadata_of_a_chunk_before_the_last_may_change(bit: int) -> None:
    archive, _ = checked(flipped(TWO_CHUNKS, bit))
    assert (state_of([archive]) is State.SOUND) == (bit in IRRELEVANT)
    assert covered(archive, bit // 8) == (bit not in IRRELEVANT)


@given(st.integers(0, 8 * len(TWO_CHUNKS) - 1))
def test_a_flipped_bit_of_two_chunks_is_found(bit: int) -> None:
    archive, _ = checked(flipped(TWO_CHUNKS, bit))
    assert (state_of([archive]) is State.SOUND) == (bit in IRRELEVANT)
    assert covered(archive, bit // 8) == (bit not in IRRELEVANT)


def assert_cut(data: bytes, size: int) -> None:
    """Cut to ``size`` bytes it is torn or damaged, and all blobs before the cut can be read."""
    sound = opened(data)
    archive, _ = checked(data[:size])
    assert state_of([archive]) in (State.TORN, State.DAMAGED)
    ends = [sound.members[index].spans[-1].stop for index in range(len(sound.members))]
    whole = bisect_left(ends, size + 1)
    allowed = 0 if size < 10 else whole  # without a whole first header there is no chunk
    assert len(archive.members) >= allowed
    for index in range(allowed):
        assert archive.members.path(index) == sound.members.path(index)
        assert len(content(archive, index)) == archive.members.size(index)
        assert archive.verdict(index) in (WHOLE, UNSURE)


@pytest.mark.parametrize(
    "data", list(small_archives()), ids=["plain", "specification", "leading", "rcarch", "leading rcarch"]
)
def test_cut_anywhere_a_small_archive_is_never_sound(data: bytes) -> None:
    for size in range(1, len(data)):
        assert_cut(data, size)


@given(st.one_of(st.integers(1, len(TWO_CHUNKS) - 1), st.integers(FULL - 20, FULL + 20)))
def test_cut_anywhere_two_chunks_are_never_sound(size: int) -> None:
    assert_cut(TWO_CHUNKS, size)


def test_a_cut_where_an_append_began_is_the_archive_as_it_was_then() -> None:
    """The one cut that nothing can tell: behind a full chunk whose metadata has been left as it was."""
    _, first = resumed(b"deadhash", build.SPEC)
    reset = build.control_block(0, build.digest(first))
    rest = build.segment(ONE)
    whole = (
        build.chunked(first, build.digest(first))
        + build.chunked(first + reset + rest, build.digest(reset[:2] + rest))[FULL:]
    )
    for data, segments in ((whole, 2), (whole[:FULL], 1)):
        archive, sentence = checked(data)
        assert state_of([archive]) is State.SOUND
        assert sentence.startswith(f"{segments} segment")


@given(
    st.lists(st.lists(st.tuples(st.binary(max_size=6), st.binary(max_size=500)), max_size=4), min_size=1, max_size=4),
    st.sampled_from((build.SPEC, build.RCARCH)),
)
def test_what_is_written_is_verified(segments: list[list[build.Blob]], convention: str) -> None:
    archive, sentence = checked(
        build.archive(
            *(
                [(b"%d-%d" % (number, index), data) for index, (_, data) in enumerate(blobs)]
                for number, blobs in enumerate(segments)
            ),
            convention=convention,
        )
    )
    assert state_of([archive]) is State.SOUND
    assert set(verdicts(archive)) <= {WHOLE}
    assert sentence.endswith("verified.")


def test_hashing_many_segments_in_threads_gives_what_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    data = build.archive(*(noisy(9000, 1, seed) for seed in range(40)), convention=build.RCARCH)
    found = []
    for workers in (1, 7):
        monkeypatch.setattr(hashes, "MAX_WORKERS", workers)
        monkeypatch.setattr(hashes, "BLOCK", 1024)
        monkeypatch.setattr("os.cpu_count", lambda: 8)
        archive = opened(data)
        compared = compare(archive.detail, Progress())
        found.append(
            [(compared.verdict(row), compared.matched(row), compared.stored(row)) for row in range(len(compared))]
        )
    assert found[0] == found[1]
    assert {verdict for verdict, _, _ in found[0]} == {WHOLE}
