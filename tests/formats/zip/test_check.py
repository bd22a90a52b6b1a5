"""Checking ZIP archives: every member against its CRC-32."""

from __future__ import annotations

import io
import os
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import pytest

from inspector.core.archive import Emitter
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import BytesSource, SourceError
from inspector.core.verdict import State, Verdict
from inspector.formats import zip as plain_zip
from inspector.formats._zip import check as zip_check
from inspector.operations.check.checking import check_archive, state_of
from inspector.operations.open import opening
from inspector.sources.local.file import FileSource
from tests.formats.archives import codes
from tests.formats.zip.zip_building import FILES, PLAIN, patched, written


def checked(data: bytes) -> tuple[opening.Opened, str]:
    archive = opening.start(BytesSource(data, "x.zip"))
    opening.decode(archive, Progress())
    return archive, check_archive(archive, Progress())


def verdicts(archive: opening.Opened) -> list[Verdict]:
    return [archive.verdict(member) for member in range(len(archive.members))]


def by_zipfile(data: bytes) -> str | None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.testzip()


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_sound_archives_are_verified_as_zipfile_verifies_them(method: int, streamed: bool) -> None:
    data = written(streamed=streamed, method=method)
    archive, sentence = checked(data)
    assert verdicts(archive) == [Verdict.VERIFIED] * len(FILES)
    assert sentence == "5 of 5 members are verified."
    assert state_of([archive]) is State.SOUND
    assert by_zipfile(data) is None


def test_an_empty_archive_has_nothing_to_verify() -> None:
    archive, sentence = checked(written({}))
    assert sentence == "There are no members."
    assert state_of([archive]) is State.SOUND
    assert list(archive.checksums) == []


def test_a_changed_byte_is_found_in_its_member_only() -> None:
    data = patched(PLAIN, 40, b"X")
    archive, sentence = checked(data)
    assert verdicts(archive) == [Verdict.MISMATCH, Verdict.VERIFIED]
    assert sentence == "1 of 2 members are verified; 1 does not match its CRC-32."
    (finding,) = archive.findings
    assert (finding.code, finding.member, finding.spans) == ("zip-crc-mismatch", 0, ((35, 47),))
    right, wrong = zlib.crc32(b"content of a"), zlib.crc32(data[35:47])
    assert f"give 0x{wrong:08x}; the central directory and the local header have 0x{right:08x}" in finding.message
    assert "Other members are not affected" in finding.message
    assert state_of([archive]) is State.DAMAGED
    assert by_zipfile(data) == "a.txt"


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_every_changed_bit_of_content_is_found_where_zipfile_finds_it(method: int) -> None:
    data = written({"a": b"first, " * 9, "b": b"second, " * 9}, method=method)
    sound, _ = checked(data)
    for member in sound.members:
        (span,) = member.spans
        for at in range(span.start, span.stop):
            for bit in range(8):
                broken = patched(data, at, bytes((data[at] ^ 1 << bit,)))
                archive, _ = checked(broken)
                other = 1 - member.index
                if archive.verdict(member.index) is not Verdict.MISMATCH:
                    # A bit in the padding after the last deflate block is no content: readers never look at it.
                    assert method == zipfile.ZIP_DEFLATED
                    assert at == span.stop - 1
                    assert by_zipfile(broken) is None
                    continue
                assert archive.verdict(other) is Verdict.VERIFIED
                assert state_of([archive]) is State.DAMAGED
                # zipfile stops at the declared size and never looks whether a deflate stream ends there.
                assert refused(broken, member.path.decode()) or codes(archive) == ["zip-content-damaged"]


def refused(data: bytes, name: str) -> bool:
    try:
        return by_zipfile(data) == name
    except zlib.error:
        return True  # testzip lets the errors of a damaged deflate stream through


@pytest.mark.parametrize(
    ("at", "place"), [(14, "local header"), (94 + 16, "central directory")], ids=["local", "central"]
)
def test_content_tells_which_of_two_records_is_wrong(at: int, place: str) -> None:
    data = patched(PLAIN, at, b"\0\0\0\0")
    archive, _ = checked(data)
    assert verdicts(archive) == [Verdict.VERIFIED, Verdict.VERIFIED]
    assert codes(archive) == ["zip-local-crc"]
    (finding,) = [finding for finding in archive.findings if finding.code == "zip-crc-field-wrong"]
    assert finding.spans == ((at, at + 4),)
    assert f"the {place} has 0x00000000" in finding.message
    assert state_of([archive]) is State.DAMAGED
    # zipfile goes by the central directory alone: it blames the content for a wrong record there, and misses the other.
    assert by_zipfile(data) == ("a.txt" if place == "central directory" else None)


def test_a_wrong_record_in_a_data_descriptor() -> None:
    data = written({"a": b"abc"}, streamed=True, method=zipfile.ZIP_STORED)
    at = data.index(b"PK\7\x08") + 4
    archive, _ = checked(patched(data, at, b"\0\0\0\0"))
    assert verdicts(archive) == [Verdict.VERIFIED]
    (finding,) = [finding for finding in archive.findings if finding.code == "zip-crc-field-wrong"]
    assert finding.spans == ((at, at + 4),)


def test_what_cannot_be_read_is_not_called_verified() -> None:
    data = written({"a": b"abc", "b": b"abc"}, method=zipfile.ZIP_STORED)
    at = data.index(b"PK\1\2")
    for local, central, new in ((6, 8, b"\1"), (8, 10, b"\x09")):
        archive, sentence = checked(patched(patched(data, local, new), at + central, new))
        assert verdicts(archive) == [Verdict.NOT_CHECKABLE, Verdict.VERIFIED]
        assert sentence == "1 of 2 members are verified; 1 cannot be checked."
    lost, _ = checked(patched(PLAIN, 94 + 42, struct.pack("<I", 20)))
    assert verdicts(lost) == [Verdict.NOT_CHECKABLE, Verdict.VERIFIED]


def test_without_central_directory_the_local_headers_are_gone_by() -> None:
    archive, sentence = checked(PLAIN[:150])
    assert verdicts(archive) == [Verdict.VERIFIED, Verdict.VERIFIED]
    assert [row.note for row in archive.checksums] == ["in the local header"] * 2
    assert state_of([archive]) is State.DAMAGED
    cut, sentence = checked(PLAIN[:90])
    assert verdicts(cut) == [Verdict.VERIFIED, Verdict.MISMATCH]
    assert sentence == "1 error in the structure; 1 of 2 members are verified; 1 does not match its CRC-32."
    # Decoding has said that its data are cut off; that they do not fit any more is no news.
    assert "zip-crc-mismatch" not in codes(cut)


def test_deflate_streams_of_another_length_than_declared() -> None:
    data = written({"a": b"abc" * 100})
    at = data.index(b"PK\1\2")
    for size in (299, 301):
        new = struct.pack("<I", size)
        archive, _ = checked(patched(patched(data, 22, new), at + 24, new))
        assert verdicts(archive) == [Verdict.MISMATCH]
        assert codes(archive) == ["zip-content-damaged"]
        assert "CRC-32" in archive.findings[-1].message


def test_the_ledger_tells_before_and_after() -> None:
    data = patched(PLAIN, 40, b"X")
    archive = opening.start(BytesSource(data, "x.zip"))
    opening.decode(archive, Progress())
    before = list(archive.checksums)
    assert [(row.name, row.computed, row.verdict) for row in before] == [
        ("CRC-32 of a.txt", "", Verdict.NOT_CHECKED),
        ("CRC-32 of b.txt", "", Verdict.NOT_CHECKED),
    ]
    assert [row.covers for row in before] == [((35, 47),), ((82, 94),)]
    for row in before:
        ((start, stop),) = row.place
        assert data[start:stop] == bytes.fromhex(row.stored)[::-1]
    check_archive(archive, Progress())
    first, second = archive.checksums
    assert (first.stored, first.computed) == (before[0].stored, f"{zlib.crc32(data[35:47]):08x}")
    assert first.verdict is Verdict.MISMATCH
    assert (second.computed, second.verdict) == (second.stored, Verdict.VERIFIED)
    assert archive.checksums[-1] == second
    assert list(archive.checksums[1:]) == [second]
    with pytest.raises(IndexError):
        archive.checksums[2]


def test_checking_again_says_the_same_once() -> None:
    archive, sentence = checked(patched(PLAIN, 40, b"X"))
    found = list(archive.findings)
    assert check_archive(archive, Progress()) == sentence
    assert archive.findings == found


def test_large_and_small_members_in_any_order(tmp_path: Path) -> None:
    sizes = [0, 5, 600_000, 70_000, 1, 2_000_000, 300, 0]
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as target:
        for number, size in enumerate(sizes):
            method = zipfile.ZIP_DEFLATED if number % 3 == 1 else zipfile.ZIP_STORED
            target.writestr(zipfile.ZipInfo(f"{number}"), os.urandom(size), method)
    data = path.read_bytes()
    archive, _ = checked(data)
    assert verdicts(archive) == [Verdict.VERIFIED] * len(sizes)
    for number in (2, 3, 5, 6):
        at = archive.members.stops[number] - 100
        broken, _ = checked(patched(data, at, bytes((data[at] ^ 1,))))
        assert [at for at, verdict in enumerate(verdicts(broken)) if verdict is not Verdict.VERIFIED] == [number]


def test_members_in_another_order_than_the_directory() -> None:
    # The two headers of the directory change places.
    data = PLAIN[:94] + PLAIN[145:196] + PLAIN[94:145] + PLAIN[196:]
    archive, _ = checked(data)
    assert [member.head for member in archive.members] == [47, 0]
    assert verdicts(archive) == [Verdict.VERIFIED, Verdict.VERIFIED]
    assert codes(archive) == []


def bomb(members: int, size: int) -> bytes:
    """Many entries for the same data: what is claimed is far more than the file."""
    data = bytes(size)
    crc = zlib.crc32(data)
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 0, 0, 33, crc, size, size, 1, 0) + b"x"
    central = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 0, 0, 33, crc, size, size, 1, 0, 0, 0, 0, 0, 0) + b"x"
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, members, members, len(central) * members, len(local) + size, 0)
    return local + data + central * members + end


def test_members_that_claim_the_same_bytes_are_not_read_for_ever() -> None:
    archive, sentence = checked(bomb(100, 50_000))
    assert "zip-overlap" in codes(archive)
    assert set(verdicts(archive)) == {Verdict.VERIFIED}
    assert sentence.endswith("the data of all 100 members matches its CRC-32.")


def test_memory_is_flat_whatever_is_compressed() -> None:
    data = written({"zeros": bytes(64 << 20)})
    archive = opening.start(BytesSource(data, "x.zip"))
    opening.decode(archive, Progress())
    tracemalloc.start()
    check_archive(archive, Progress())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert verdicts(archive) == [Verdict.VERIFIED]
    assert peak < 8 << 20


class Counting(BytesSource):
    """Cancels after a number of reads."""

    progress: Progress
    left = 1 << 30

    def read(self, offset: int, length: int) -> bytes:
        self.left -= 1
        if not self.left:
            self.progress.cancel()
        return super().read(offset, length)


def test_progress_adds_up_and_cancelling_stops_at_once() -> None:
    data = written({"a": bytes(3 << 20), "b": b"abc", "c": bytes(600_000)}, method=zipfile.ZIP_STORED)
    progress = Progress()
    source = Counting(data, "x.zip")
    source.progress = progress
    archive = opening.start(source)
    opening.decode(archive, progress)
    emitter = Emitter(archive)
    plain_zip.FORMAT.check(archive, emitter, progress)
    assert progress.done == progress.total == (3 << 20) + 3 + 600_000
    check_archive(archive, Progress())
    source.left = 2
    with pytest.raises(Cancelled):
        check_archive(archive, progress)
    assert progress.done == 2 * (512 << 10)
    assert verdicts(archive) == [Verdict.NOT_CHECKED] * 3
    assert archive.checksums[0].computed == ""


def test_a_file_that_became_shorter(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(written({"a": b"abc", "b": bytes(700_000)}, method=zipfile.ZIP_STORED))
    archive = opening.start(FileSource(path))
    opening.decode(archive, Progress())
    with path.open("r+b") as file:
        file.truncate(1000)
    check_archive(archive, Progress())
    assert verdicts(archive) == [Verdict.VERIFIED, Verdict.MISMATCH]
    assert any("has become shorter" in finding.message for finding in archive.findings)


class Failing(BytesSource):
    """Cannot be read at the end of checking."""

    broken = False

    def read(self, offset: int, length: int) -> bytes:
        if self.broken:
            raise SourceError("The disk is gone.")
        return super().read(offset, length)


def test_a_source_that_fails_is_a_finding() -> None:
    source = Failing(PLAIN, "x.zip")
    archive = opening.start(source)
    opening.decode(archive, Progress())
    source.broken = True
    check_archive(archive, Progress())
    assert codes(archive) == ["unreadable"]
    assert verdicts(archive) == [Verdict.NOT_CHECKED] * 2


def test_neighbours_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"{number}": b"%d" % number for number in range(500)}
    data = written(files, method=zipfile.ZIP_STORED)
    archive = opening.start(BytesSource(data, "x.zip"))
    opening.decode(archive, Progress())
    reads: list[int] = []
    read = BytesSource.read
    monkeypatch.setattr(BytesSource, "read", lambda self, at, size: (reads.append(at), read(self, at, size))[1])
    plain_zip.FORMAT.check(archive, Emitter(archive), Progress())
    assert reads == [31]
    monkeypatch.setattr(zip_check, "_WINDOW_BYTES", 100)
    broken, _ = checked(data.replace(b"\x0037777", b"x"))
    assert verdicts(broken) == [Verdict.VERIFIED] * 500


def test_bytes_after_the_end_of_a_deflate_stream_are_found() -> None:
    hidden = b"hidden " * 20
    data = written({"a": b"hello " * 50})
    directory, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    stored = int.from_bytes(data[18:22], "little") + len(hidden)
    data = patched(data, 18, stored.to_bytes(4, "little"))
    data = patched(data, directory + 20, stored.to_bytes(4, "little"))
    data = patched(data, end + 16, (directory + len(hidden)).to_bytes(4, "little"))
    archive, _ = checked(data[:directory] + hidden + data[directory:])
    assert verdicts(archive) == [Verdict.MISMATCH]
    assert any("140 bytes before" in finding.message for finding in archive.findings)
