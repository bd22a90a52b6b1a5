from __future__ import annotations

import threading
from random import Random

import pytest

from inspector.core.finding import Severity
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import BytesSource, SourceError
from inspector.core.span import Span
from inspector.core.verdict import State, Verdict
from inspector.formats.rca import FORMAT, blocks, hashes
from inspector.operations.check.checking import check_archive, state_of
from inspector.operations.open.opening import Opened, decode
from tests.formats.rca import build
from tests.formats.rca.checking import (
    ONE,
    THREE,
    TWO,
    UNSURE,
    WHOLE,
    WRONG,
    bad,
    checked,
    covered,
    hash_verdicts,
    noisy,
    opened,
    resumed,
    verdicts,
)
from tests.formats.rca.decoding import codes, message


def replaced(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


SHORT_HASH = build.segment(ONE) + build.control_block(0, b"1234") + build.segment(TWO)
FRAME = build.Compressor()(b"a\0" + b"1" * 99)
LARGE_WINDOW = build.blob_block(FRAME[:5] + b"\xa0" + FRAME[6:]) + build.blob_block(b"any")  # as of zstd --long=31
CASES = {
    **{
        f"sound, {convention}": (
            build.archive(ONE, TWO, THREE, convention=convention, extra=b"more"),
            *("3 segments and 6 blobs are verified.", [WHOLE] * 6, State.SOUND),
        )
        for convention in (build.SPEC, build.RCARCH)
    },
    "nothing yet": (b"", "It is an empty file: a sound archive that holds nothing yet.", [], State.SOUND),
    "an empty chunk": (
        build.chunked(b"", build.digest(b"")),
        *("1 segment and 0 blobs are verified.", [], State.SOUND),
    ),
    "no blob is left": (
        replaced(build.archive(ONE), 10, b"\xff\xff"),
        *("1 of 1 segment is damaged; no blob is found.", [], State.DAMAGED),
    ),
    # By the specification nothing proves that only the hash is wrong.
    "a spoilt hash": (
        replaced(build.archive(ONE, TWO, THREE), 10 + len(build.segment(ONE)) + 2, b"spoilt !"),
        *("1 of 3 segments disagrees with its hash; 3 of 6 blobs are proved whole.",),
        *([UNSURE] * 3 + [WHOLE] * 3, State.DAMAGED),
    ),
    "torn": (
        build.archive(ONE) + bytes(40),
        *("1 segment and 3 blobs are verified; 40 bytes follow that readers ignore.", [WHOLE] * 3, State.TORN),
    ),
    "torn at once": (bytes(30), "There is nothing in it that could be checked.", [], State.TORN),
    "a hash that is cut off": (
        build.chunked(SHORT_HASH, build.digest(SHORT_HASH[len(build.segment(ONE)) :])),
        *("1 of 2 segments cannot be checked; 1 of 4 blobs is proved whole.",),
        *([UNSURE] * 3 + [WHOLE], State.DAMAGED),
    ),
    # Its writer may have had more memory, so it is not called damaged.
    "a window that is too large": (
        build.chunked(*build.inner([build.segment(ONE), LARGE_WINDOW])),
        *("1 of 2 segments cannot be checked; 3 of 5 blobs are proved whole.", [WHOLE] * 3, State.WARNING),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_check_says_of_an_archive(case: str) -> None:
    data, sentence, expected, state = CASES[case]
    archive, said = checked(data)
    assert said == sentence
    assert verdicts(archive) == expected
    assert state_of([archive]) is state


def test_what_cannot_be_compared_is_no_damage_and_needs_no_repair() -> None:
    archive, _ = checked(CASES["a window that is too large"][0])
    assert codes(archive) == {"rca-zstd-not-read"}
    assert FORMAT.repairs(archive, Progress()) == []
    archive, _ = checked(CASES["a hash that is cut off"][0])
    assert archive.checksums[0].stored == b"1234".hex()
    assert "cut off" in archive.checksums[0].note


@pytest.mark.parametrize("convention", [build.SPEC, build.RCARCH])
def test_the_ledger_says_what_each_hash_covers(convention: str) -> None:
    data = build.archive(ONE, TWO, convention=convention)
    archive, _ = checked(data)
    first, last = archive.checksums
    at = 10 + len(build.segment(ONE))
    assert (first.name, first.algorithm, first.place) == (
        "hash of segment 1",
        "blake2s, 64 bits",
        (Span(at + 2, at + 10),),
    )
    assert first.stored == first.computed == data[at + 2 : at + 10].hex()
    assert (first.covers, first.omits) == ((Span(10, at),), ())
    assert last.place == (Span(2, 10),)
    assert last.stored == last.computed == data[2:10].hex()
    if convention == build.SPEC:
        assert last.covers == (Span(at, at + 2), Span(at + 10, len(data)))
        assert last.omits == (Span(at + 2, at + 10),)
    else:
        assert (last.covers, last.omits) == ((Span(at, len(data)),), ())
    assert convention[:4] in last.note
    for checksum in archive.checksums:
        assert build.digest(b"".join(data[start:stop] for start, stop in checksum.covers)).hex() == checksum.stored
    assert archive.checksums[0:2] == [first, last]
    assert archive.checksums[-1] == last


def test_before_the_check_of_a_large_archive_nothing_is_said_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.formats.rca.reading.MAX_HASHED_BYTES", 100)
    data = bytearray(build.archive(ONE, TWO))
    data[60] ^= 1
    archive = opened(bytes(data))
    assert {checksum.verdict for checksum in archive.checksums} == {Verdict.NOT_CHECKED}
    assert [checksum.computed for checksum in archive.checksums] == ["", ""]
    assert not any("mismatch" in code for code in codes(archive))
    check_archive(archive, Progress())
    assert hash_verdicts(archive) == [WRONG, WHOLE]


@pytest.mark.usefixtures("_both_ways")
def test_where_decompression_fails_bounds_where_the_damage_lies() -> None:
    """The second blob's block header is spoilt: the damage lies in the first two blobs, wherever it is."""
    data = bytearray(build.archive(TWO, ONE, THREE))
    compress = build.Compressor()
    sizes = [len(build.blob(*blob, compress)) for blob in ONE]
    start = 10 + len(build.segment(TWO)) + 10
    at = start + sizes[0] + 3
    data[at : at + 3] = b"\xff\xff\xff"
    archive, sentence = checked(bytes(data))
    assert sentence == "1 of 3 segments is damaged; 3 of 6 blobs are proved whole."
    assert [path for path, _ in ((m.path, m.size) for m in archive.members)] == [b"four", b"one", b"five", b"six"]
    assert verdicts(archive) == [WHOLE, UNSURE, WHOLE, WHOLE]
    (finding,) = [finding for finding in bad(archive) if finding.code == "rca-reset-hash-mismatch"]
    stored = start + sum(sizes) + 2
    assert finding.spans == (Span(start - 10, start + sizes[0] + sizes[1]), Span(stored, stored + 8))
    assert f"fails at the blob at byte {start + sizes[0]}, blob 2 of the segment's 3" in finding.message
    assert "the 1 blob before cannot be proved whole, though it decodes" in finding.message
    assert "1 blob before and 2 blobs after are proved whole" in finding.message
    assert state_of([archive]) is State.DAMAGED


@pytest.mark.usefixtures("_both_ways")
def test_a_change_that_decodes_can_lie_anywhere_in_its_segment() -> None:
    data = bytearray(build.archive(noisy(300), TWO))
    data[400] ^= 4
    archive, sentence = checked(bytes(data))
    assert sentence == "1 of 2 segments disagrees with its hash; 1 of 7 blobs is proved whole."
    assert verdicts(archive) == [UNSURE] * 6 + [WHOLE]
    assert hash_verdicts(archive) == [WRONG, WHOLE]
    (finding,) = bad(archive)
    end = 10 + len(build.segment(noisy(300)))
    assert finding.spans == (Span(end + 2, end + 10), Span(10, end)), "the smallest that may have changed comes first"
    assert "nothing shows which" in finding.message
    assert "none of them can be proved whole" in finding.message


def test_the_next_hash_of_rcarch_clears_the_one_it_covers() -> None:
    data = bytearray(build.archive(noisy(300), TWO, convention=build.RCARCH))
    data[400] ^= 4
    archive, _ = checked(bytes(data))
    (finding,) = bad(archive)
    assert "so this one is as it was written" in finding.message
    assert covered(archive, 400)


def test_the_end_may_have_moved_where_the_last_hash_is_wrong() -> None:
    archive, _ = checked(bytes(bytearray(build.archive(noisy(300))[:500]) + build.archive(noisy(300, seed=2))[500:]))
    (finding,) = bad(archive)
    assert finding.code == "rca-metadata-hash-mismatch"
    assert finding.spans[0] == Span(0, 10)
    assert "the hash or the size in the last chunk's header" in finding.message


@pytest.mark.usefixtures("_both_ways")
@pytest.mark.parametrize(
    ("convention", "whole"), [(build.SPEC, [UNSURE] * 3 + [WHOLE] * 3), (build.RCARCH, [WHOLE] * 6)]
)
def test_a_hash_that_is_wrong_in_one_byte_seems_to_have_changed_itself(convention: str, whole: list[Verdict]) -> None:
    """By rcarch's convention the next hash proves it, by the specification's nothing does."""
    data = bytearray(build.archive(ONE, TWO, THREE, convention=convention))
    at = 10 + len(build.segment(ONE)) + 2
    data[at + 5] ^= 0xA5
    archive, sentence = checked(bytes(data))
    assert sentence == f"1 of 3 hashes is wrong; {whole.count(WHOLE)} of 6 blobs are proved whole."
    assert verdicts(archive) == whole
    (finding,) = bad(archive)
    assert finding.spans == (Span(at, at + 8),)
    assert build.digest(build.segment(ONE)).hex() in finding.message
    assert ("No other hash proves it" in finding.message) == (convention == build.SPEC)
    assert hash_verdicts(archive) == [WRONG, WHOLE if convention == build.SPEC else WRONG, WHOLE]


def test_where_the_blocks_may_have_shifted_the_damage_may_lie_further_up() -> None:
    """The payload size in the first reset block is spoilt: what follows is taken apart in the wrong places."""
    data = bytearray(build.archive(ONE, noisy(40), THREE))
    at = 10 + len(build.segment(ONE)) + 1
    data[at] ^= 2
    archive, _ = checked(bytes(data))
    assert verdicts(archive)[:3] == [WHOLE] * 3
    assert covered(archive, at)
    data = bytearray(build.archive(noisy(300), noisy(300, seed=2), TWO))
    end = 10 + len(build.segment(noisy(300)))
    for place in (400, end + 400):
        data[place] ^= 4
    archive, sentence = checked(bytes(data))
    assert sentence == "2 of 3 segments disagree with their hashes; 1 of 13 blobs is proved whole."
    first, second = bad(archive)
    assert (first.spans[1].start, second.spans[1].start) == (10, 10)
    assert ["may start elsewhere" in finding.message for finding in (first, second)] == [False, True]


@pytest.mark.parametrize("convention", [build.SPEC, build.RCARCH])
def test_a_wrong_resume_is_named_and_the_right_hash_given(convention: str) -> None:
    data, first = resumed(b"deadhash", convention)
    archive, sentence = checked(data)
    assert sentence == "1 of 2 segments cannot be checked; 1 of 2 blobs is proved whole."
    assert verdicts(archive) == [UNSURE, WHOLE]
    assert hash_verdicts(archive) == [WRONG, WHOLE]
    (finding,) = bad(archive)
    assert finding.code == "rca-hash-resumed-wrongly"
    assert [data[start:stop] for start, stop in finding.spans] == [b"deadhash"], "every blob is whole"
    assert build.digest(first).hex() in finding.message
    assert ("so it was written so" in finding.message) == (convention == build.RCARCH)


def test_a_hash_at_the_very_beginning_is_compared_too() -> None:
    reset = build.control_block(0, build.digest(b""))
    body = build.segment(ONE)
    for hashed in (build.digest(reset + body), build.digest(reset[:2] + body)):
        archive, sentence = checked(build.chunked(reset + body, hashed))
        assert sentence == "1 segment and 3 blobs are verified."
        assert [checksum.name for checksum in archive.checksums] == [
            "hash of nothing, before segment 1",
            "hash of segment 1",
        ]
        assert archive.checksums[0].covers == ()
    wrong = build.control_block(0, b"whatever")
    archive, sentence = checked(build.chunked(wrong + body, build.digest(wrong + body)))
    assert sentence == "1 of 2 hashes is wrong; 3 of 3 blobs are proved whole."
    said = message(archive, "rca-hash-resumed-wrongly")
    assert build.digest(b"").hex() in said
    assert "first append was interrupted" in said
    archive, _ = checked(build.chunked(wrong + body, b"whatever"))
    assert "unless this was no reset block once" in message(archive, "rca-reset-hash-mismatch")


def test_a_blob_that_was_hashed_undecodable_was_written_so() -> None:
    compress = build.Compressor()
    blocks_ = build.blob(b"a", b"1", compress), build.blob_block(b"\xff\xff\xff no block")
    archive, sentence = checked(build.hashed(*blocks_))
    assert sentence == "1 of 1 segment is damaged; 1 of 2 blobs is proved whole."
    assert verdicts(archive) == [WHOLE]
    (finding,) = [finding for finding in archive.findings if finding.code == "rca-undecodable-as-written"]
    assert finding.severity is Severity.INFO


def test_what_is_cut_off_is_doubtful_and_what_is_broken_a_mismatch() -> None:
    noise = Random(1).randbytes(400_000)
    data = build.archive(ONE, [(b"small", b"x"), (b"large", noise)])
    archive, sentence = checked(data[:-100_000])
    assert verdicts(archive) == [WHOLE, WHOLE, WHOLE, UNSURE, WRONG]
    assert sentence == "1 of 2 segments is damaged; 3 of 5 blobs are proved whole."
    assert [(checksum.verdict, bool(checksum.computed)) for checksum in archive.checksums] == [
        (WHOLE, True),
        (Verdict.NOT_CHECKABLE, False),
    ]
    assert "missing" in archive.checksums[1].note


def test_an_unreadable_second_header_leaves_the_first_chunk_verified_where_its_hash_fits() -> None:
    _, first = resumed(b"deadhash", build.SPEC)
    for hashed, verdict in ((build.digest(first), WHOLE), (b"\xee" * 8, UNSURE)):
        archive, _ = checked(build.chunked(first, hashed) + b"\x90\0\0\0" + bytes(50))
        assert codes(archive) == {"rca-chunk-size-reserved"}
        assert verdicts(archive) == [verdict]


def test_too_many_blocks_are_not_checkable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_BLOCKS", 2)
    archive, sentence = checked(build.archive(noisy(3000), TWO))
    assert codes(archive) == {"rca-too-many-blocks"}
    assert set(verdicts(archive)) == {UNSURE}
    assert "cannot be checked" in sentence


def test_checking_again_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.formats.rca.reading.MAX_HASHED_BYTES", -1)
    data = bytearray(build.archive(noisy(300), TWO))
    data[400] ^= 4
    archive, sentence = checked(bytes(data))
    before = (list(archive.findings), verdicts(archive), hash_verdicts(archive))
    assert check_archive(archive, Progress()) == sentence
    assert (list(archive.findings), verdicts(archive), hash_verdicts(archive)) == before


class Waiting(Progress):
    """Cancels itself once something has been hashed; threads hash three pieces before that is looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces, self.cancelled_itself = 0, threading.Event()

    def wait(self) -> None:
        self.pieces += 1
        if self.pieces > 3 and threading.current_thread() is not threading.main_thread():
            self.cancelled_itself.wait(10)
        super().wait()

    def advance(self, count: int) -> None:
        if count and self.label == "Comparing hashes":
            self.cancel()
            self.cancelled_itself.set()
        super().advance(count)


@pytest.mark.parametrize("segments", [1, 3])
def test_cancelling_stops_all_threads_at_once(segments: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.formats.rca.reading.MAX_HASHED_BYTES", -1)
    monkeypatch.setattr(hashes, "BLOCK", 1024)
    archive = opened(build.archive(*(noisy(1 << 20, 4, seed) for seed in range(segments))))
    running, progress = threading.active_count(), Waiting()
    with pytest.raises(Cancelled):
        check_archive(archive, progress)
    assert threading.active_count() == running
    assert progress.done <= progress.total // 2
    assert check_archive(archive, Progress()).endswith("verified.")


def test_a_source_that_fails_fails_the_check_and_nothing_is_verified() -> None:
    class Failing(BytesSource):
        broken = False

        def read(self, offset: int, length: int) -> bytes:
            if self.broken:
                raise SourceError("The disk is gone.")
            return super().read(offset, length)

    source = Failing(build.archive(ONE, TWO))
    archive = Opened(source, FORMAT.name, FORMAT.title, (), decoder=FORMAT)
    decode(archive, Progress())
    source.broken = True
    assert check_archive(archive, Progress()) == ""
    assert set(verdicts(archive)) == {Verdict.NOT_CHECKED}
    assert codes(archive) == {"unreadable"}


def test_an_archive_that_could_not_be_decoded_is_not_called_sound() -> None:
    archive = Opened(BytesSource(b""), FORMAT.name, FORMAT.title, (), decoder=FORMAT)
    assert check_archive(archive, Progress()) == ""
