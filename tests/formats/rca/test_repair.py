"""Repairs of RCA archives in place: what the hashes prove is repaired, what is only likely waits for a word."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.format import MemberError
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.repair import Repair
from inspector.core.source import BytesSource
from inspector.core.verdict import State
from inspector.formats.rca import FORMAT
from inspector.operations.check.checking import check_archive
from inspector.operations.edit.plan_repairs import Plan, plan
from inspector.operations.open.opening import Opened, decode
from inspector.resources import samples
from tests.formats.archives import after
from tests.formats.rca import build
from tests.formats.rca.checking import FULL, ONE, THREE, TWO, bad, flipped, full_chunk, noisy, opened, resumed
from tests.formats.rca.decoding import content
from tests.sweeping import every, places

CLAIMS = ("rca-drop-garbage", "rca-cut-back", "rca-accept-segments", "rca-mend-metadata")
CONVENTIONS = (build.SPEC, build.RCARCH)
each_convention = pytest.mark.parametrize("convention", CONVENTIONS)


def planned(data: bytes, *accepted: str) -> Plan:
    return plan(opened(data), Progress(), accepted)


def offered(data: bytes) -> list[Repair]:
    archive = opened(data)
    check_archive(archive, Progress())
    return list(FORMAT.repairs(archive, Progress()))


def codes(repairs: Sequence[Repair]) -> list[str]:
    return [repair.code for repair in repairs]


def blobs(archive: Opened) -> list[build.Blob]:
    """The blobs that can be read to their ends."""
    found = []
    for member in archive.members:
        try:
            found.append((member.path, content(archive, member.index)))
        except MemberError:
            continue
    return found


@pytest.mark.parametrize(
    ("whole", "garbage"),
    [
        (build.archive(ONE, TWO), b"cut off"),
        (build.archive(ONE, TWO, convention=build.RCARCH), bytes(60_000)),
        (full_chunk(), b"\0\0"),
        (full_chunk(), bytes(4) + b"deadhash" + b"payload"),
        (full_chunk(), bytes(4) + b"deadhash" + bytes(1 << 20)),
    ],
    ids=["in a chunk", "over the boundary", "partial header", "dead header", "much"],
)
def test_garbage_behind_a_right_hash_is_cut_off_and_nothing_else_is_touched(whole: bytes, garbage: bytes) -> None:
    repaired = planned(whole + garbage)

    assert codes(repaired.repairs) == ["rca-drop-garbage"]
    assert repaired.edit is not None
    assert not repaired.edit.patches
    assert repaired.repairs[0].fixes == {finding.code for finding in bad(repaired.before)}
    assert repaired.state is State.SOUND
    assert after(repaired) == whole


@pytest.mark.parametrize(
    ("size", "offered"),
    [
        (121, ["rca-finish-unproved", "rca-drop-garbage", "rca-salvage-readable"]),
        (131, ["rca-finish-append"]),
        (172, ["rca-finish-append", "rca-finish-unproved", "rca-salvage-readable"]),
    ],
    ids=["before the hash", "behind the hash", "all but the header"],
)
def test_an_append_is_finished_as_far_as_there_is_something_to_finish(size: int, offered: list[str]) -> None:
    """The header still says that the archive ends behind the first of three segments."""
    header = opened(build.archive(ONE)).detail.chunks.chunks[0].header.stop
    data = build.archive(ONE)[:header] + build.archive(ONE, TWO, THREE)[header:size]
    found = planned(data)

    assert [*codes(found.repairs), *codes(found.waiting)] == offered


@pytest.mark.parametrize("data", [flipped(build.archive(ONE), 30) + b"garbage", bytes(50)], ids=["wrong hash", "empty"])
def test_garbage_behind_no_right_hash_is_cut_off_on_a_word_only(data: bytes) -> None:
    waiting = planned(data)
    assert "rca-drop-garbage" in codes(waiting.waiting)
    assert not waiting.repairs

    assert planned(data, *CLAIMS).state is State.SOUND


@pytest.mark.parametrize("segments", [[], [TWO], [TWO, THREE]], ids=len)
def test_a_hash_that_was_resumed_wrongly_is_repaired_with_all_that_cover_it(segments: list[list[build.Blob]]) -> None:
    data, _ = resumed(b"deadhash", build.RCARCH)
    for each in segments:  # as rcarch goes on appending
        data = _appended(data, each)
    repaired = planned(data)

    assert codes(repaired.repairs) == ["rca-mend-reset-hash"]
    assert repaired.edit is not None
    assert len(repaired.edit.patches) == 2 + len(segments)
    assert repaired.state is State.SOUND
    assert blobs(repaired.after) == blobs(repaired.before)


def _appended(data: bytes, blobs: list[build.Blob]) -> bytes:
    """What rcarch makes of an archive: a reset block with the stored metadata, then blobs."""
    layout = opened(data).detail
    reset = build.control_block(0, layout.chunks.chunks[-1].metadata)
    after = build.segment(blobs)
    return build.chunked(layout.inner.read(0, layout.inner.size) + reset + after, build.digest(reset + after))


@each_convention
@pytest.mark.parametrize("first", [ONE, noisy(5_000, 8)], ids=["one chunk", "two chunks"])
@pytest.mark.parametrize("bit", [0, 27, 63])
def test_a_changed_bit_of_a_reset_hash_is_repaired(convention: str, first: list[build.Blob], bit: int) -> None:
    whole = build.archive(first, TWO, THREE, convention=convention)
    data = flipped(whole, opened(whole).checksums[0].place[0].start * 8 + bit)

    # By the specification no other hash covers this one, so nothing proves that it is all that has changed.
    claimed = [] if convention == build.RCARCH else ["rca-accept-segments"]
    assert codes(planned(data).waiting)[:1] == claimed
    repaired = planned(data, *claimed)
    assert codes(repaired.repairs) == (claimed or ["rca-mend-reset-hash"])
    assert after(repaired) == whole


@each_convention
def test_a_hash_on_both_sides_of_a_chunk_boundary_is_repaired(convention: str) -> None:
    noise = Random(1)
    first = build.segment([(b"a", noise.randbytes(FULL - 40))])
    control = build.control_block(5, bytes(FULL - 10 - len(first) - 2 - 2 - 3))
    stream, metadata = build.inner([first + control, build.segment(TWO)], convention)
    whole = build.chunked(stream, metadata)
    place = opened(whole).checksums[0].place
    assert len(place) == 2
    repaired = planned(flipped(whole, place[1].start * 8), "rca-accept-segments")

    assert after(repaired)[FULL + 4 + 8 :] == whole[FULL + 4 + 8 :]
    assert repaired.state is State.SOUND


def test_damage_that_a_later_hash_proves_is_never_called_right() -> None:
    """The wrong hash is covered by the next one, which is right: so the segment has changed, and not the hash."""
    whole = build.archive(noisy(2_000), TWO, convention=build.RCARCH)
    data = flipped(whole, 8 * 3_000)
    assert len(blobs(opened(data))) == len(blobs(opened(whole)))

    assert not planned(data, *CLAIMS).repairs


CHAIN = build.archive(ONE, TWO, THREE, convention=build.RCARCH)
PLAIN = build.archive(ONE, TWO)
AT = opened(PLAIN).checksums[0].place[0].start


@pytest.mark.parametrize(
    ("data", "code", "words", "whole"),
    [
        (PLAIN[:AT] + b"anything" + PLAIN[AT + 8 :], "rca-accept-segments", "Nothing proves it", PLAIN),
        # By the specification no hash covers the wrong one, so it need not have been written so.
        (resumed(b"deadhash", build.SPEC)[0], "rca-accept-segments", "Nothing proves it", None),
        *(
            (
                CHAIN[:2] + bytes(byte ^ 0x5A for byte in CHAIN[2 : 2 + size]) + CHAIN[2 + size :],
                *("rca-mend-metadata", words, CHAIN),
            )
            for size, words in ((1, "in one byte"), (8, "a changed byte may decode too"))
        ),
    ],
    ids=["a spoilt hash", "as if resumed wrongly", "a byte of the metadata", "the metadata"],
)
def test_a_hash_that_nothing_proves_wrong_waits_for_a_word(
    data: bytes, code: str, words: str, whole: bytes | None
) -> None:
    waiting = planned(data)
    assert not waiting.repairs
    assert codes(waiting.waiting) == [code, "rca-salvage-readable"]
    assert words in waiting.waiting[0].claim
    accepted = planned(data, code)
    assert accepted.state is State.SOUND
    assert whole is None or after(accepted) == whole


ARCHIVES = {
    "one chunk": build.archive(ONE, TWO, convention=build.RCARCH),
    "two chunks": build.archive(ONE, noisy(6_000, 7), TWO),
    "full chunk": full_chunk(),
}


@pytest.mark.parametrize("whole", ARCHIVES.values(), ids=ARCHIVES)
@given(st.data())
def test_any_size_of_a_chunk_that_is_wrong_is_found_again(whole: bytes, data: st.DataObject) -> None:
    chunk = data.draw(st.sampled_from(opened(whole).detail.chunks.chunks))
    width = chunk.bits // 8
    size = data.draw(st.integers(0, (1 << chunk.bits) - 1) | st.sampled_from([0, 1, width + 8, 1 << chunk.bits - 1]))
    # A size that is too large and garbage as well are two faults, and look like an archive that was cut off.
    short = size < len(whole) - chunk.start and len(whole) != FULL
    garbage = data.draw(st.sampled_from([b"", b"garbage" * 9])) if short else b""
    damaged = whole[: chunk.start] + size.to_bytes(width, "big") + whole[chunk.start + width :] + garbage
    repaired = planned(damaged, *(["rca-mend-chunk-size"] if garbage else []))

    # What stands behind the end then is garbage, which another run cuts off.
    assert after(repaired).removesuffix(garbage) == whole
    assert repaired.state is (State.TORN if len(after(repaired)) > len(whole) else State.SOUND)


@each_convention
@every(7)
@pytest.mark.parametrize("name", ["small", "two chunks"])
def test_wherever_an_archive_is_cut_off_what_is_left_is_a_sound_one(name: str, convention: str, step: int) -> None:
    segments = [ONE, TWO, THREE] if name == "small" else [ONE, noisy(9_000, 5), THREE]
    whole = build.archive(*segments, convention=convention)
    boundary = (*range(FULL - 12, min(len(whole), FULL + 16)), *range(len(whole) - 40, len(whole)))
    ends = {span.stop for member in opened(whole).members for span in member.spans}
    for size in places(12, len(whole), step, ends) if name == "small" else {*range(12, len(whole), 1_999), *boundary}:
        before = opened(whole[:size])
        readable = blobs(before)
        repaired = planned(whole[:size], *CLAIMS)

        assert blobs(repaired.after) == readable
        assert all(repair.code != "rca-accept-segments" for repair in repaired.repairs)
        if readable:
            assert repaired.state is State.SOUND, size
            assert repaired.repairs or size == len(whole)


@pytest.mark.parametrize("path", [path for path in samples() if path.suffix == ".rca"], ids=lambda path: path.name)
@given(st.data())
def test_wherever_a_sample_is_cut_off_no_readable_blob_is_lost(path: Path, data: st.DataObject) -> None:
    whole = path.read_bytes()
    cut = whole[: data.draw(st.integers(12, len(whole)))]
    readable = blobs(opened(cut))
    repaired = planned(cut, *CLAIMS)

    assert blobs(repaired.after) == readable
    # Only damage before the end is left to a salvage.
    assert repaired.state is State.SOUND or not readable or "flipped" in path.name


@each_convention
def test_an_archive_cut_off_inside_a_reset_block_ends_before_it(convention: str) -> None:
    whole = build.archive(ONE, TWO, convention=convention)
    reset = opened(whole).detail.blocks.edges[len(ONE)] + 10
    for size in range(reset + 1, reset + 14):
        waiting, repaired = planned(whole[:size]), planned(whole[:size], "rca-cut-back")

        # The hash is there, and not a byte of what was to follow.
        assert bool(waiting.repairs) == (size == reset + 10)
        assert codes(repaired.repairs) == ["rca-cut-back"]
        assert after(repaired) == build.archive(ONE)


def test_what_was_written_wrong_behind_whole_blobs_is_cut_off_and_said() -> None:
    blocks = build.segment(ONE) + build.varint(2_000_000) + b"12345"
    repaired = planned(build.chunked(blocks, build.digest(blocks)), "rca-cut-back")

    assert [repair.claim for repair in repaired.repairs] == [""]
    assert repaired.repairs[0].loses == ("The blob at the end, of which 5 of 1,000,000 bytes are there.",)
    assert after(repaired) == build.archive(ONE)


def test_no_repair_empties_an_archive_that_has_a_chunk() -> None:
    whole = build.archive(ONE)

    assert not planned(whole[:20], *CLAIMS).repairs
    assert not planned(build.chunked(b"\xff" * 32, build.digest(b"\xff" * 32)), *CLAIMS).repairs


@given(st.data())
def test_no_damage_keeps_planning_from_its_end(data: st.DataObject) -> None:
    whole = data.draw(st.sampled_from(list(ARCHIVES.values())))
    damaged = whole
    for _ in range(data.draw(st.integers(1, 3))):
        near = data.draw(st.booleans())
        damaged = flipped(damaged, data.draw(st.integers(0, 8 * (100 if near else len(whole)) - 1)))
    damaged = damaged[: data.draw(st.integers(len(damaged) - 100, len(damaged)))]
    repaired = planned(damaged, *CLAIMS)

    assert len(repaired.repairs) < 8
    for repair in repaired.repairs:
        assert repair.title
        assert all(sentence.endswith(".") for sentence in (*repair.loses, *filter(None, [repair.claim])))


@every(5)
def test_what_needs_no_word_loses_no_blob_that_was_whole(step: int) -> None:
    """Of archives with one bit changed: every repair without a claim gives back what was written, or less garbage."""
    for whole in (ARCHIVES["one chunk"], build.archive(ONE, TWO, THREE)):
        for bit in range(0, 8 * len(whole), step):
            repaired = planned(flipped(whole, bit))
            assert not repaired.repairs or after(repaired) == whole, bit


def test_planning_can_be_cancelled() -> None:
    data = build.archive(ONE, noisy(6_000, 7))
    archive = opened(data[:-50])
    check_archive(archive, Progress())
    progress = Progress()
    progress.cancel()

    with pytest.raises(Cancelled):
        FORMAT.repairs(archive, progress)


def test_a_sound_archive_and_one_that_was_never_compared_offer_nothing() -> None:
    assert not offered(build.archive(ONE))
    archive = Opened(BytesSource(b"", "test.rca"), FORMAT.name, FORMAT.title, (), decoder=FORMAT)

    assert not FORMAT.repairs(archive, Progress())
    decode(archive, Progress())
    assert not FORMAT.repairs(archive, Progress())


@pytest.mark.parametrize("size", [2, 9])
def test_a_zeroed_header_is_set_right_and_the_finding_names_that(size: int) -> None:
    """Nothing promises that what a hash proves is overwritten."""
    whole = build.archive(noisy(9_000, 6))

    repaired = planned(bytes(size) + whole[size:])

    assert codes(repaired.repairs) == ["rca-mend-chunk-size"]
    assert repaired.repairs[0].fixes >= {finding.code for finding in bad(repaired.before)}
    assert "A hash proves that the archive ends at byte 54,088" in bad(repaired.before)[0].message
    assert blobs(repaired.after) == noisy(9_000, 6)
