"""Checking TACO archives: the header's two CRCs, every member, and every bit."""

from __future__ import annotations

import io
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.field import locate
from inspector.core.finding import Severity
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.verdict import State, Verdict
from inspector.operations.check.checking import check_archive, check_location, state_of
from inspector.operations.open import opening
from tests.formats.taco.taco_building import updated, written
from tests.sweeping import every

CONTENT = b"0123456789" * 5


@pytest.fixture(scope="session")
def data() -> bytes:
    """A sound archive of three members as tacozip writes it; the entry leads to the second."""
    return written({"DATA/a.bin": CONTENT, "e": b""}, [(197, 50)])


def checked(data: bytes) -> tuple[opening.Opened, str]:
    archive = opening.start(BytesSource(data, "x.tacozip"))
    opening.decode(archive, Progress())
    return archive, check_archive(archive, Progress())


def verdicts(archive: opening.Opened) -> list[Verdict]:
    return [archive.verdict(member) for member in range(len(archive.members))]


PAYLOAD = b"\1\0\0\0" + struct.pack("<QQ", 200, 2) + bytes(96)
NOTHING_TELLS = {
    # The program and system that made it, hints about text, and permissions: each value is legal, stands once, and
    # is covered by no checksum.
    "version made by",
    "internal file attributes",
    "external file attributes",
}


@every(5)
def test_every_flipped_bit_is_found_or_cannot_be(data: bytes, step: int) -> None:
    sound, sentence = checked(data)
    assert (state_of([sound]), sentence) == (State.SOUND, "3 of 3 members are verified.")
    missed = set()
    for bit in range(0, 8 * len(data), step):
        broken = bytearray(data)
        broken[bit // 8] ^= 1 << bit % 8
        archive, _ = checked(bytes(broken))
        if state_of([archive]) is not State.SOUND:
            continue
        name = [field.name.lower() for _, field in locate(sound.fields, bit // 8)][-1]
        missed.add(name)
    assert missed == NOTHING_TELLS


@pytest.mark.parametrize(
    ("local", "central", "state", "header", "rows"),
    [
        (True, True, State.SOUND, Verdict.VERIFIED, [Verdict.VERIFIED, Verdict.VERIFIED]),
        (False, False, State.TORN, Verdict.MISMATCH, [Verdict.MISMATCH, Verdict.MISMATCH]),
        (True, False, State.TORN, Verdict.VERIFIED, [Verdict.MISMATCH, Verdict.VERIFIED]),
        (False, True, State.DAMAGED, Verdict.VERIFIED, [Verdict.VERIFIED, Verdict.MISMATCH]),
    ],
)
def test_the_three_writes_of_an_update(
    data: bytes, local: bool, central: bool, state: State, header: Verdict, rows: list[Verdict]
) -> None:
    broken = updated(data, PAYLOAD, local=local, central=central)
    archive, _ = checked(broken)
    assert state_of([archive]) is state
    assert verdicts(archive) == [header, Verdict.VERIFIED, Verdict.VERIFIED]
    # What decoding has reported of the header is not reported again.
    assert len(archive.findings) == (state is not State.SOUND)
    assert [row.verdict for row in archive.checksums] == [*rows, Verdict.VERIFIED, Verdict.VERIFIED]
    assert {row.computed for row in archive.checksums[:2]} == {f"{zlib.crc32(broken[41:157]):08x}"}
    with zipfile.ZipFile(io.BytesIO(broken)) as reference:
        # zipfile knows the central directory's CRC only.
        assert reference.testzip() == (None if central else "TACO_HEADER")


def test_padding_that_is_not_zero_is_a_warning_where_the_crcs_fit(data: bytes) -> None:
    payload = data[41:42] + b"\0\7\0" + data[45:157]
    crc = struct.pack("<I", zlib.crc32(payload))
    at = data.index(b"PK\1\2") + 16
    archive, sentence = checked(data[:14] + crc + data[18:41] + payload + data[157:at] + crc + data[at + 4 :])
    assert (state_of([archive]), sentence) == (State.WARNING, "3 of 3 members are verified.")


def test_the_ledger_has_both_crcs_of_the_header(data: bytes) -> None:
    archive = opening.start(BytesSource(data, "x.tacozip"))
    opening.decode(archive, Progress())
    at = data.index(b"PK\1\2") + 16
    assert len(archive.checksums) == 4
    central, local, first, _ = archive.checksums
    assert [row.place for row in (central, local)] == [((at, at + 4),), ((14, 18),)]
    assert [row.covers for row in (central, local)] == [((41, 157),)] * 2
    assert (central.member, local.member, first.member) == (0, 0, 1)
    assert local.name == "CRC-32 of TACO_HEADER, local header"
    assert {row.verdict for row in archive.checksums} == {Verdict.NOT_CHECKED}
    assert first.covers == ((data.index(CONTENT), data.index(CONTENT) + 50),)


def test_the_first_157_bytes_alone(data: bytes) -> None:
    archive, sentence = checked(data[:157])
    assert sentence == "1 error in the structure; the data of its one member matches its CRC-32."
    assert [row.place for row in archive.checksums] == [((14, 18),)]
    assert state_of([archive]) is State.DAMAGED


def test_truncation_at_every_byte_is_never_sound(data: bytes) -> None:
    for stop in range(len(data)):
        archive, _ = checked(data[:stop])
        assert state_of([archive]) in (State.DAMAGED, State.UNREADABLE)
        for member in archive.members:
            whole = member.readable and member.stored == member.size
            assert archive.verdict(member.index) is (Verdict.VERIFIED if whole else Verdict.MISMATCH)


@pytest.mark.parametrize(
    ("name", "state", "words", "span"),
    [
        ("two-entries.tacozip", State.SOUND, "", None),
        ("tacotoolbox.tacozip", State.SOUND, "", None),
        ("comment.tacozip", State.SOUND, "", None),
        ("torn-after-write-1.tacozip", State.TORN, "CRC", (41, 157)),
        ("torn-after-write-2.tacozip", State.TORN, "CRC", (14, 18)),
        ("flipped-member-byte.tacozip", State.DAMAGED, "CRC", (205, 2550)),
        ("count-8.tacozip", State.DAMAGED, "count", (41, 42)),
        ("padding-not-zero.tacozip", State.DAMAGED, "padding", (42, 45)),
        ("wrong-name.tacozip", State.DAMAGED, "name", (30, 41)),
        ("truncated.tacozip", State.DAMAGED, "central directory", (5539, 5816)),
        ("header-only.bin", State.DAMAGED, "central directory", (157, 157)),
        ("ghost.taco", State.WARNING, "TACO_GHOST", (0, 156)),
        ("plain.zip", State.SOUND, "", None),
        ("prefixed.zip", State.WARNING, "precede the archive", None),
        ("empty.zip", State.SOUND, "", None),
    ],
)
def test_the_samples(
    sample: Callable[[str], Path],
    tmp_path: Path,
    name: str,
    state: State,
    words: str,
    span: tuple[int, int] | None,
) -> None:
    path = Path(shutil.copy(sample(name), tmp_path))
    report = check_location(str(path), Progress())
    assert report.state is state
    (archive,) = report.archives
    doubts = [finding for finding in archive.findings if finding.severity is not Severity.INFO]
    assert bool(doubts) == (state is not State.SOUND)
    assert not words or any(words in finding.message for finding in doubts)
    assert span is None or any(span in finding.spans for finding in doubts)
