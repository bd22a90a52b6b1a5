"""What proves the content of blobs, and what is said of those that nothing proves."""

from __future__ import annotations

import pytest

from inspector.core.finding import Severity
from inspector.core.program.progress import Progress
from inspector.formats.rca import FORMAT
from tests.formats.rca import build
from tests.formats.rca.checking import (
    ONE,
    THREE,
    TWO,
    UNSURE,
    WHOLE,
    bad,
    checked,
    flipped,
    full_chunk,
    noisy,
    opened,
    resumed,
    verdicts,
)


def test_no_blob_is_called_whole_whose_hash_can_be_repaired_on_a_word_only() -> None:
    data = flipped(build.archive(ONE, TWO), 20)
    archive, _ = checked(data)
    assert verdicts(archive) == [WHOLE] * 3 + [UNSURE]
    (finding,) = bad(archive)
    assert "probably the hash changed" in finding.message
    assert [repair.code for repair in FORMAT.repairs(archive, Progress()) if repair.claim] == [
        "rca-mend-metadata",
        "rca-salvage-readable",
    ]


def test_the_next_hash_of_rcarch_proves_that_only_the_hash_is_wrong() -> None:
    data = bytearray(build.archive(ONE, TWO, THREE, convention=build.RCARCH))
    at = 10 + len(build.segment(ONE)) + 2
    data[at : at + 8] = b"spoilt !"
    archive, sentence = checked(bytes(data))
    assert sentence == "1 of 3 hashes is wrong; 6 of 6 blobs are proved whole."
    assert verdicts(archive) == [WHOLE] * 6
    (finding,) = bad(archive)
    assert "the hash of segment 2, which covers them, is right" in finding.message
    assert "2 blobs after are proved whole by the hashes of other segments" in finding.message
    assert "repaired" in archive.checksums[1].note
    assert "next hash covers it" in archive.checksums[0].note


def unproved(data: bytes) -> list[tuple[int, str]]:
    """The members that a finding lies on which says that nothing proves them, with that sentence."""
    archive = opened(data)
    members = range(len(archive.members))
    found = [each for each in FORMAT.prove(archive, members, Progress()) if each.code == "rca-unproved"]
    assert all(finding.severity is Severity.ERROR for finding in found)
    assert not any(finding.code == "rca-unproved" for finding in archive.findings)
    return [
        (member.index, finding.message)
        for member in archive.members
        for finding in found
        if any(span.start <= member.spans[0].start < span.stop for span in finding.spans)
    ]


RESUMED, _ = resumed(b"deadhash", build.RCARCH)
LONG = build.archive(ONE, TWO, noisy(5_000, 8))
CASES = {
    "cut off": (LONG[:-100], range(4, 12), "bytes that are missing"),
    "wrong": (build.archive(ONE, TWO).replace(build.digest(build.segment(ONE)), b"spoilt !"), range(3), "is wrong"),
    "wrong in one byte": (flipped(build.archive(ONE, TWO), 20), range(3, 4), "is wrong"),
    "resumed wrongly": (RESUMED, range(1), "is wrong"),
}


@pytest.mark.usefixtures("_both_ways")
@pytest.mark.parametrize("case", CASES)
def test_what_nothing_proves_is_said_to_whoever_reads_it(case: str) -> None:
    data, members, words = CASES[case]
    found = unproved(data)
    assert [member for member, _ in found] == list(members)
    assert all(words in message for _, message in found)


CHAIN = build.archive(ONE, TWO, THREE, convention=build.RCARCH)
PROVED = {
    "sound": build.archive(ONE, TWO, THREE),
    "a dead header": full_chunk() + bytes(4) + b"deadhash",
    # The next hash, which covers it, proves that only the first is wrong.
    "a wrong hash": CHAIN.replace(build.digest(build.segment(ONE)), b"spoilt !"),
}


@pytest.mark.usefixtures("_both_ways")
@pytest.mark.parametrize("case", PROVED)
def test_of_what_is_proved_nothing_is_said(case: str) -> None:
    archive = opened(PROVED[case])
    assert unproved(PROVED[case]) == []
    assert not [each for each in FORMAT.prove(archive, [0], Progress()) if each.code == "rca-unproved"]


@pytest.mark.usefixtures("_both_ways")
@pytest.mark.parametrize("convention", [build.SPEC, build.RCARCH])
def test_a_single_blob_is_proved_by_the_hash_of_its_own_segment(convention: str) -> None:
    archive = opened(build.archive(ONE, TWO, THREE, convention=convention))

    for member in range(len(archive.members)):
        assert [each.code for each in FORMAT.prove(archive, [member], Progress()) if each.code == "rca-unproved"] == []
