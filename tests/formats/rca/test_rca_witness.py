"""The metadata of a full chunk that is no longer the last: readers ignore it, and it proves what nothing else does."""

from __future__ import annotations

import pytest

from inspector.core.verdict import State, Verdict
from tests.formats.rca import build
from tests.formats.rca.checking import (
    FULL,
    TWO,
    bad,
    checked,
    flipped,
    full_chunk,
    hash_verdicts,
    opened,
    resumed,
    verdicts,
)
from tests.formats.rca.test_repair import blobs, codes, planned

WHOLE, WRONG = Verdict.VERIFIED, Verdict.MISMATCH
each_convention = pytest.mark.parametrize("convention", [build.SPEC, build.RCARCH])


def _as_rcarch_leaves_it(convention: str) -> tuple[bytes, bytes]:
    """Resumed behind a full chunk, whose header is not written again; and the right hash of what is in it."""
    data, first = resumed(b"deadhash", convention)
    return data[:2] + build.digest(first) + data[10:], build.digest(first)


@each_convention
def test_a_segment_that_was_resumed_wrongly_is_proved_whole_by_the_chunk_it_fills(convention: str) -> None:
    data, right = _as_rcarch_leaves_it(convention)
    archive, sentence = checked(data)

    assert sentence == "1 of 2 hashes is wrong; 2 of 2 blobs are proved whole."
    assert verdicts(archive) == [WHOLE, WHOLE]
    assert hash_verdicts(archive) == [WRONG, WHOLE]
    (finding,) = bad(archive)
    assert finding.code == "rca-hash-resumed-wrongly"
    assert right.hex() in finding.message
    assert "nothing is lost" in finding.message
    assert "no hash proves" not in finding.message


@each_convention
def test_the_reset_hash_beside_such_a_witness_is_repaired_without_a_word(convention: str) -> None:
    data, right = _as_rcarch_leaves_it(convention)
    repaired = planned(data)

    assert codes(repaired.repairs) == ["rca-mend-reset-hash"]
    assert repaired.state is State.SOUND
    assert opened(data).checksums[0].place[0].start == FULL + 12 + 2
    assert repaired.edit is not None
    assert repaired.edit.patches[0].new == right
    assert blobs(repaired.after) == blobs(repaired.before)


def test_a_changed_reset_hash_is_told_from_a_wrong_resume() -> None:
    _, right = _as_rcarch_leaves_it(build.SPEC)
    data, _ = resumed(right, build.SPEC)
    data = data[:2] + right + data[10:]
    archive, _ = checked(flipped(data, (FULL + 12 + 2) * 8))

    (finding,) = bad(archive)
    assert finding.code == "rca-reset-hash-mismatch"
    assert "the segment is whole" in finding.message
    assert verdicts(archive) == [WHOLE, WHOLE]


@pytest.mark.parametrize("metadata", [bytes(8), b"whatever"])
def test_another_metadata_witnesses_nothing(metadata: bytes) -> None:
    data, _ = resumed(b"deadhash", build.SPEC)
    archive, _ = checked(data[:2] + metadata + data[10:])

    assert verdicts(archive) == [Verdict.DOUBTFUL, WHOLE]


def test_a_changed_segment_is_not_proved_by_the_chunk_it_fills() -> None:
    data, _ = _as_rcarch_leaves_it(build.SPEC)
    archive, _ = checked(flipped(data, 9000 * 8))

    assert verdicts(archive)[0] is not WHOLE


@pytest.mark.parametrize("there", [0, 1, 20, -1])
def test_an_append_cut_off_in_a_chunk_it_began_with_its_final_size_is_taken_back(there: int) -> None:
    """As when a writer goes on where its last append has filled a chunk: the full chunk's header comes last."""
    whole = full_chunk()
    blocks = build.segment(TWO)
    begun = (len(blocks) + 12).to_bytes(4, "big") + b"new hash" + blocks[:there]
    # Payload that is there may be all that is left of a blob, so it is cut off with consent only.
    assert codes(planned(whole + begun).repairs) == ([] if there else ["rca-cut-back"])
    repaired = planned(whole + begun, "rca-cut-back")

    assert codes(repaired.repairs) == ["rca-cut-back"]
    assert repaired.state is State.SOUND
    assert blobs(repaired.after) == blobs(opened(whole))
