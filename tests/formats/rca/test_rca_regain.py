"""Segments behind damage in which it was lost where blocks begin: they are found by their hashes, and saved."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.program.progress import Progress
from inspector.core.verdict import State
from inspector.operations.check.checking import check_archive, state_of
from inspector.operations.edit.plan_repairs import Plan, plan
from tests.formats.rca import build
from tests.formats.rca.checking import ONE, THREE, TWO, WHOLE, checked, flipped, noisy, opened, verdicts
from tests.formats.rca.decoding import codes, content, message

SEGMENTS = (ONE, noisy(200, 3), TWO, THREE)
ALL = [blob for segment in SEGMENTS for blob in segment]
each_convention = pytest.mark.parametrize("convention", [build.SPEC, build.RCARCH])


def _saved(data: bytes) -> tuple[list[build.Blob], Plan]:
    """The blobs of what a salvage that needs no word saves."""
    planned = plan(opened(data), Progress())
    assert planned.salvage is not None
    assert planned.salvage.content is not None
    saved = opened(b"".join(planned.salvage.content(Progress())))
    check_archive(saved, Progress())
    assert state_of([saved]).fine
    return [(member.path, content(saved, member.index)) for member in saved.members], planned


def _starts(segments: tuple[list[build.Blob], ...]) -> list[int]:
    """Where each segment of an archive of one chunk begins in the file, and where the last ends."""
    sizes = [len(build.segment(each)) + 10 for each in segments]
    return [sum(sizes[:number]) for number in range(1, len(segments))] + [sum(sizes)]


@each_convention
@pytest.mark.parametrize("bit", range(8))
@pytest.mark.parametrize("number", range(9))
def test_a_changed_varint_costs_nothing(convention: str, number: int, bit: int) -> None:
    """A hash proves what it was: everything is listed, verified, and put right without being asked."""
    whole = build.archive(*SEGMENTS, convention=convention)
    at = opened(whole).detail.outer_start(number)
    archive, _ = checked(flipped(whole, 8 * at + bit))
    planned = plan(archive, Progress())

    assert [(member.path, content(archive, member.index)) for member in archive.members] == ALL
    assert set(verdicts(archive)) == {WHOLE}
    assert "rca-varint-wrong" in codes(archive)
    assert [repair.code for repair in planned.repairs] == ["rca-mend-varint"]
    assert planned.after.source.read(0, len(whole)) == whole


@each_convention
@pytest.mark.parametrize("wiped", [(1, 2), (0, 1), (0, 1, 2)], ids=str)
def test_what_stands_behind_wiped_bytes_is_found_again(convention: str, wiped: tuple[int, ...]) -> None:
    """The first blocks of each segment that is wiped are gone, so nothing tells how long they were."""
    data = bytearray(build.archive(*SEGMENTS, convention=convention))
    for number in wiped:
        start = _starts(SEGMENTS)[number - 1] + 10 if number else 10
        data[start : start + 12] = b"\xff" * 12
    blobs, _ = _saved(bytes(data))

    assert blobs == [blob for number, segment in enumerate(SEGMENTS) if number not in wiped for blob in segment]


def test_blocks_are_found_again_over_a_chunk_boundary() -> None:
    segments = (noisy(9000, 3), noisy(9000, 3, 2), noisy(9000, 3, 3), TWO)
    whole = build.archive(*segments)
    blobs, _ = _saved(whole[:10] + b"\xff" * 12 + whole[22:])

    assert blobs == [blob for segment in segments[1:] for blob in segment]


def test_a_check_says_where_the_blocks_go_on() -> None:
    data = bytearray(build.archive(*SEGMENTS))
    data[10:22] = b"\xff" * 12
    archive, _ = checked(bytes(data))
    said = message(archive, "rca-blocks-regained")

    assert f"a reset block begins at byte {_starts(SEGMENTS)[0]:,}" in said
    assert "No blob is found at byte 10, so the damage lies there" in message(archive, "rca-reset-hash-mismatch")
    assert state_of([archive]) is State.DAMAGED
    assert [member.path for member in archive.members] == [path for path, _ in ALL[len(ONE) :]]
    assert set(verdicts(archive)) == {WHOLE}


@pytest.mark.parametrize(
    "data",
    [
        build.archive(*SEGMENTS),
        build.archive(ONE) + b"garbage",
        flipped(build.archive(*SEGMENTS), 30 * 8),
        build.archive(noisy(200, 3), ONE)[:-4],
    ],
    ids=["sound", "torn", "a blob", "cut off"],
)
def test_where_the_blocks_were_not_lost_nothing_is_said(data: bytes) -> None:
    assert "rca-blocks-regained" not in codes(checked(data)[0])


def test_a_reset_block_inside_a_blob_is_none_without_its_hash() -> None:
    noise = Random(1).randbytes(500)
    inside = [(b"inside", b"\x81\x04" + bytes(8) + noise), (b"noise", noise[::-1])]
    archive, _ = checked(flipped(build.archive(ONE, inside, TWO), 40 * 8))

    assert "rca-blocks-regained" not in codes(archive)


@given(st.data())
def test_wherever_bytes_are_changed_no_segment_is_lost_but_those_they_are_in(data: st.DataObject) -> None:
    whole = build.archive(*SEGMENTS)
    starts = [10, *_starts(SEGMENTS)]
    start = data.draw(st.integers(10, len(whole) - 1))
    stop = min(start + data.draw(st.integers(1, 60)), len(whole))
    changed = whole[:start] + bytes(byte ^ 0xA5 for byte in whole[start:stop]) + whole[stop:]
    # A reset block opens a segment, and holds the hash of the one before.
    hit = {number for number in range(4) if starts[number] < stop and start < starts[number + 1] + 10 * (number < 3)}
    if plan(opened(changed), Progress()).state is State.SOUND or hit == set(range(4)):
        return

    wanted = [blob for number in range(4) if number not in hit for blob in SEGMENTS[number]]
    saved, _ = _saved(changed)
    assert [blob for blob in saved if blob in wanted] == wanted


def test_an_archive_inside_a_blob_is_not_gone_into_where_blocks_follow_one_another() -> None:
    inside = [(b"first", b"a to z"), (b"inside", build.archive(noisy(60, 2), noisy(70, 2), noisy(80, 2)))]
    whole = build.archive(inside, TWO)
    assert whole.count(b"\x81\x04") == 3
    damaged = bytearray(whole)
    damaged[whole.index(b"a to z")] ^= 1

    assert "rca-blocks-regained" not in codes(checked(bytes(damaged))[0])
