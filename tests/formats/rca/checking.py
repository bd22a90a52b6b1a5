"""RCA archives as the tests of checking make them, and what they ask of the result."""

from __future__ import annotations

from random import Random

from inspector.core.archive import Emitter
from inspector.core.finding import Finding, Severity
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.verdict import Verdict
from inspector.formats.rca import FORMAT
from inspector.operations.open.opening import Opened, decode
from tests.formats.rca import build

ONE = [(b"one", b"first " * 30), (b"two", b"second " * 40), (b"three", b"third " * 50)]
TWO = [(b"four", b"fourth " * 20)]
THREE = [(b"five", b"fifth " * 20), (b"six", b"sixth")]
SMALL = [(b"a", b"1"), (b"b", b"22")]
FULL = 0x8000
WHOLE, WRONG, UNSURE = Verdict.VERIFIED, Verdict.MISMATCH, Verdict.DOUBTFUL


def opened(data: bytes) -> Opened:
    archive = Opened(BytesSource(data, "test.rca"), FORMAT.name, FORMAT.title, (), decoder=FORMAT)
    decode(archive, Progress())
    return archive


def checked(data: bytes) -> tuple[Opened, str]:
    """The archive after its check, and the sentence; no finding is made twice."""
    archive = opened(data)
    sentence = FORMAT.check(archive, Emitter(archive), Progress())
    assert len(set(archive.findings)) == len(archive.findings)
    return archive, sentence


def verdicts(archive: Opened) -> list[Verdict]:
    return [archive.verdict(member) for member in range(len(archive.members))]


def hash_verdicts(archive: Opened) -> list[Verdict]:
    return [checksum.verdict for checksum in archive.checksums]


def bad(archive: Opened) -> list[Finding]:
    return [finding for finding in archive.findings if finding.severity is not Severity.INFO]


def covered(archive: Opened, offset: int) -> bool:
    """Whether a finding points at a byte."""
    return any(start <= offset < stop for finding in bad(archive) for start, stop in finding.spans)


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def noisy(size: int, count: int = 6, seed: int = 1) -> list[build.Blob]:
    noise = Random(seed)
    return [(b"%03d" % index, noise.randbytes(size)) for index in range(count)]


def full_chunk(convention: str = build.SPEC) -> bytes:
    """A sound archive of exactly one full chunk."""
    first = [(b"filler", Random(3).randbytes(FULL - 40))]
    missing = FULL - 10 - len(build.segment(first))
    data = build.archive([(b"filler", Random(3).randbytes(FULL - 40 + missing))], convention=convention)
    assert len(data) == FULL
    return data


def resumed(dead: bytes, convention: str) -> tuple[bytes, bytes]:
    """An archive resumed behind a full chunk with the hash of a dead header, and the first segment's blocks."""
    first = build.segment([(b"filler", Random(3).randbytes(FULL - 40))])
    first = build.segment([(b"filler", Random(3).randbytes(FULL - 40 - len(first) + FULL - 10))])
    assert len(first) == FULL - 10
    reset = build.control_block(0, dead)
    after = build.segment([(b"after", b"resumed")])
    return build.chunked(
        first + reset + after, build.digest((reset if convention == build.RCARCH else reset[:2]) + after)
    ), first
