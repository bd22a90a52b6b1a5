import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.archive import Archive, Emitter
from inspector.core.finding import Severity
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import BytesSource
from inspector.core.span import Span, total
from inspector.core.verdict import Verdict
from inspector.formats import tar
from inspector.formats._tar.header import BLOCK
from tests.formats.archives import codes
from tests.formats.tar.tar_building import LONG, build, decoded, reheaded
from tests.sweeping import every

SOUND = build([("a.txt", b"alpha"), ("empty", b""), ("b.bin", bytes(range(256)) * 3), ("full", b"x" * 512)])
SPELLS_THE_SAME = {(148, 0x10), (154, 0x20), (155, 0x20)}
"""Bits of a header's checksum field that turn zero to space and space to NUL: the number stays, as others write it."""


def checked(data: bytes) -> tuple[Archive, str]:
    archive = decoded(data)
    return archive, tar.FORMAT.check(archive, Emitter(archive), Progress())


def flipped(data: bytes, at: int, bit: int) -> bytes:
    return data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]


def test_a_sound_tar_has_fitting_headers_and_data_that_nothing_is_recorded_of() -> None:
    archive, sentence = checked(SOUND)
    assert archive.findings == []
    assert [archive.verdict(index) for index in range(4)] == [Verdict.NOT_CHECKABLE] * 4
    assert sentence == ("The checksums of all 4 headers match; tar records no checksum of the data of 4 members.")


def test_a_tar_of_nothing() -> None:
    archive, sentence = checked(bytes(1024))
    assert (codes(archive), sentence) == ([], "It has no members.")


def test_the_ledger_has_a_row_for_each_header() -> None:
    archive, _ = checked(SOUND)
    assert [row.name for row in archive.checksums] == [
        f"checksum of the header of {name}" for name in ("a.txt", "empty", "b.bin", "full")
    ]
    row = archive.checksums[2]
    with tarfile.open(fileobj=io.BytesIO(SOUND)) as other:
        info = other.getmember("b.bin")
    assert int(row.stored, 16) == int(row.computed, 16) == info.chksum
    assert (row.member, row.verdict, row.algorithm) == (2, Verdict.VERIFIED, "sum of bytes")
    assert row.place == (Span(info.offset + 148, info.offset + 156),)
    assert total(row.covers) + total(row.omits) == BLOCK
    assert archive.checksums[-1] == archive.checksums[3]
    assert [each.member for each in archive.checksums[1:3]] == [1, 2]
    with pytest.raises(IndexError):
        archive.checksums[4]


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_extended_headers_have_rows_of_their_own(form: int) -> None:
    archive, _ = checked(build([("short", b"1"), (LONG, b"2")], form))
    assert [row.member for row in archive.checksums] == [0, 1, 1]
    assert {row.verdict for row in archive.checksums} == {Verdict.VERIFIED}


def test_the_ledger_of_many_members_is_that_of_the_headers() -> None:
    archive, sentence = checked(build([(f"{number:020d}.json", b"%d" % number) for number in range(400)]))
    assert [row.place[0].start - 148 for row in archive.checksums] == [member.head for member in archive.members]
    assert sentence.startswith("The checksums of all 400 headers match")


def test_a_header_that_does_not_fit_is_a_mismatch_in_the_ledger() -> None:
    listed, sentence = checked(flipped(SOUND, 0, 1))
    assert listed.checksums[0].verdict is Verdict.MISMATCH
    assert int(listed.checksums[0].computed, 16) == int(listed.checksums[0].stored, 16) + 1 - 2 * (ord("a") & 1)
    assert sentence.startswith("1 of 4 header checksums does not match")
    lost, sentence = checked(flipped(SOUND, 129, 1))
    assert (lost.checksums[0].verdict, lost.checksums[0].member) == (Verdict.MISMATCH, None)
    assert sentence.startswith("1 of 4 header checksums does not match")
    unread, _ = checked(flipped(SOUND, 150, 8))
    assert (unread.checksums[0].verdict, unread.checksums[0].note) == (Verdict.MISMATCH, "Not an octal number.")


def test_a_signed_sum_is_the_one_that_was_computed() -> None:
    block = bytearray(build([("\xe9" * 10, b"data")])[:512])
    signed = sum(byte - 256 * (byte > 127) for byte in block[:148] + block[156:]) + 8 * 0x20
    block[148:156] = b"%06o\0 " % signed
    row = checked(bytes(block) + b"data".ljust(512, b"\0") + bytes(1024))[0].checksums[0]
    assert (row.verdict, int(row.stored, 16), row.computed) == (Verdict.VERIFIED, signed, row.stored)


def test_padding_that_is_not_zeros_is_told_where_it_lies() -> None:
    archive, _ = checked(flipped(SOUND, 1000, 1))
    (finding,) = archive.findings
    assert (finding.code, finding.severity, finding.member) == ("tar-padding", Severity.WARNING, 0)
    assert finding.spans == (Span(517, 1024),)


def test_old_programs_leave_what_was_in_their_buffer_in_the_padding() -> None:
    archive, _ = checked(reheaded(SOUND, (257, bytes(243)), (600, b"stale")))
    (finding,) = archive.findings
    assert (finding.code, finding.severity, finding.member) == ("tar-padding", Severity.INFO, 0)
    assert archive.verdict(0) is Verdict.NOT_CHECKABLE


def test_the_padding_of_a_large_member_is_read_and_its_data_is_not() -> None:
    data = build([("large", bytes(3 << 20) + b"end"), ("small", b"s")])
    at = data.index(b"end") + 3
    reads: list[int] = []

    class Counting(BytesSource):
        def read(self, offset: int, length: int) -> bytes:
            reads.append(length)
            return super().read(offset, length)

    archive = decoded(Counting(flipped(data, at, 4), "large.tar"))
    reads.clear()
    tar.FORMAT.check(archive, Emitter(archive), Progress())
    assert codes(archive) == ["tar-padding"]
    assert sum(reads) < 4 * BLOCK


def test_the_padding_of_an_extended_header() -> None:
    data = build([(LONG, b"2")], tarfile.PAX_FORMAT)
    archive, _ = checked(flipped(data, 1023, 1))
    assert codes(archive) == ["tar-padding"]
    assert archive.findings[0].spans[0].stop == 1024


def test_very_many_paddings_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.core.archive.MAX_FINDINGS_PER_KIND", 100)
    data = bytearray(build([(f"{number}", b"x") for number in range(150)]))
    data[1023 : 150 * 1024 : 1024] = b"\1" * 150
    archive, _ = checked(bytes(data))
    assert len(archive.findings) == 101
    assert "50 more paddings" in archive.findings[-1].message


@every(7)
def test_every_bit_of_a_header_is_found(step: int) -> None:
    """A bit that leaves the checksum's number as it was, in a spelling that other programs use, is no damage."""
    for header in (0, 1536):
        for place in range(0, 8 * BLOCK, step):
            at, bit = place // 8, 1 << place % 8
            archive, _ = checked(flipped(SOUND, header + at, bit))
            assert bool(codes(archive)) != ((at, bit) in SPELLS_THE_SAME), (header + at, bit)


@given(st.integers(2048 + 768, len(SOUND) - 1).filter(lambda at: not 3072 <= at < 4096), st.sampled_from(range(8)))
def test_every_bit_of_padding_and_end_is_found(at: int, place: int) -> None:
    assert codes(checked(flipped(SOUND, at, 1 << place))[0])


@given(st.integers(0, len(SOUND) - 1), st.integers(1, 255))
def test_what_another_reader_lists_is_listed(at: int, change: int) -> None:
    """Damage included: whatever tarfile still finds is found here; here more may be found, after the damage."""
    data = flipped(SOUND, at, change)
    try:
        with tarfile.open(fileobj=io.BytesIO(data), errorlevel=0) as other:
            expected = [(info.name, info.size) for info in other]
    except (tarfile.TarError, ValueError):
        return
    archive, _ = checked(data)
    found = [(member.path.decode("utf-8", "surrogateescape").rstrip("/"), member.size) for member in archive.members]
    assert [each for each in expected if each not in found] == []


def test_a_truncated_tar_is_no_torn_one() -> None:
    """Many things shorten a tar: one interrupted write does not explain an end that is missing."""
    for size in range(0, len(SOUND), 256):
        archive, _ = checked(SOUND[:size])
        ended = {"tar-end-short", "tar-end-missing"} & set(codes(archive))
        assert ended or any(finding.severity is Severity.ERROR for finding in archive.findings)
        assert not {finding.code for finding in archive.findings} & tar.FORMAT.torn


@given(st.binary(max_size=3000), st.integers(0, 3000))
def test_whatever_the_bytes_are_checking_raises_nothing(data: bytes, at: int) -> None:
    archive, sentence = checked((SOUND[: at // BLOCK * BLOCK] + data)[:6000])
    assert sentence
    verdicts = {archive.verdict(index) for index in range(len(archive.members))}
    assert verdicts <= {Verdict.NOT_CHECKABLE, Verdict.DOUBTFUL}
    for row in archive.checksums:
        assert row.verdict in (Verdict.VERIFIED, Verdict.MISMATCH)


def test_sizes_beyond_everything_are_only_looked_for() -> None:
    archive, _ = checked(reheaded(SOUND, (124, b"\x80" + b"\xff" * 11)))
    assert codes(archive) == ["tar-shift"]
    assert [member.path for member in archive.members] == [b"a.txt", b"empty", b"b.bin", b"full"]
    archive, _ = checked(reheaded(SOUND[:1024], (124, b"\x80" + b"\xff" * 11)))
    assert codes(archive) == ["tar-truncated-data"]


def test_checking_is_cancelled_at_once_and_can_be_done_again() -> None:
    archive = decoded(SOUND)
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        tar.FORMAT.check(archive, Emitter(archive), progress)
    assert archive.verdict(3) is Verdict.NOT_CHECKED
    progress = Progress()
    tar.FORMAT.check(archive, Emitter(archive), progress)
    assert archive.verdict(3) is Verdict.NOT_CHECKABLE
    assert progress.done == progress.total
