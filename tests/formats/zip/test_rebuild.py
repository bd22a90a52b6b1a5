"""Writing the end of a ZIP archive anew: what is cut off, destroyed or wrong, and what has to stay."""

from __future__ import annotations

import contextlib
import io
import struct
import zipfile
import zlib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.finding import Severity
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource, SourceError
from inspector.core.verdict import State
from inspector.formats import zip as plain_zip
from inspector.formats._zip.directory import Directory, new_members
from inspector.formats._zip.rebuild import rebuild
from inspector.operations.edit.plan_repairs import plan
from inspector.operations.open import opening
from inspector.sources.local.file import FileSource
from tests.formats.archives import after, salvaged
from tests.formats.zip.zip_building import (
    PLAIN,
    STREAMED,
    WHOLE,
    Unseekable,
    checked,
    contents,
    directory_of,
    ends_of,
    made,
    many_empty,
    patched,
    planned,
    verified,
    written,
    zip64_archive,
)
from tests.sweeping import every, places


@pytest.mark.parametrize("data", [WHOLE, STREAMED, PLAIN, written(comment=b"a comment")])
def test_a_sound_archive_has_nothing_to_repair(data: bytes) -> None:
    result = planned(data)
    assert (result.repairs, result.waiting, result.salvage) == ((), (), None)


@pytest.mark.parametrize("data", [WHOLE, STREAMED, PLAIN])
@every(7)
def test_an_archive_cut_off_anywhere_keeps_every_whole_member(data: bytes, step: int) -> None:
    everything, ends = contents(data), ends_of(data)
    for size in places(ends[0], len(data), step, ends):
        result = planned(data[:size])
        whole = list(everything)[: sum(end <= size for end in ends)]
        assert contents(after(result)) == {name: everything[name] for name in whole}, size
        assert (result.state, made(result)) == (State.SOUND, ["zip-rebuild-end"])


def test_what_is_cut_off_is_reported() -> None:
    result = planned(PLAIN[: ends_of(PLAIN)[1] - 5])
    losses = " ".join(result.repairs[0].loses)
    assert "b.txt, which is incomplete: its remaining 7 bytes" in losses
    assert result.repairs[0].claim == ""
    assert result.after.source.size < len(PLAIN)


def test_a_lost_directory_is_written_as_it_was_where_its_headers_are_left() -> None:
    """Only what is missing is written: what is left of the old directory stays."""
    cut = WHOLE[:-30]
    result = planned(cut)
    assert result.edit is not None
    assert min(patch.offset for patch in result.edit.patches) > directory_of(WHOLE) + 150
    assert after(result)[: len(cut) - 60] == cut[:-60]


@pytest.mark.parametrize("data", [WHOLE, STREAMED, PLAIN])
@pytest.mark.parametrize("fill", [b"\0", b"\xff", b"PK\1\2"])
def test_a_destroyed_directory_is_rebuilt_from_local_headers(data: bytes, fill: bytes) -> None:
    start, end = directory_of(data), data.rindex(b"PK\5\6")
    broken = patched(data, start, (fill * (end - start))[: end - start])
    result = planned(broken)
    assert result.state is State.SOUND
    assert contents(after(result)) == contents(data)


def test_bytes_of_which_nothing_is_known_are_not_cut_off() -> None:
    start = directory_of(PLAIN)
    result = planned(PLAIN[:start] + b"something else" * 5)
    assert result.state is State.WARNING
    assert b"something else" * 5 in after(result)
    assert contents(after(result)) == contents(PLAIN)
    assert "They stay" in " ".join(result.repairs[0].loses)


@given(st.sampled_from([WHOLE, STREAMED, PLAIN]), st.data())
def test_one_wrong_byte_in_the_end_loses_no_content(data: bytes, choice: st.DataObject) -> None:
    at = choice.draw(st.integers(directory_of(data), len(data) - 1))
    broken = patched(data, at, bytes((data[at] ^ choice.draw(st.integers(1, 255)),)))
    result = planned(broken)
    before, now = sorted(verified(result.before).values()), sorted(verified(result.after).values())
    assert len(now) >= len(before)
    assert set(now) >= set(before)
    assert after(result)[: directory_of(data)] == data[: directory_of(data)]


@given(st.sampled_from([WHOLE, STREAMED, PLAIN, zip64_archive()[0]]), st.data())
def test_whatever_is_wrong_planning_and_salvaging_end_in_words(data: bytes, choice: st.DataObject) -> None:
    broken = bytearray(data)
    for _ in range(choice.draw(st.integers(1, 6))):
        broken[choice.draw(st.integers(0, len(data) - 1))] = choice.draw(st.integers(0, 255))
    archive = checked(bytes(broken[: choice.draw(st.integers(0, len(data)))]))
    result = plan(archive, Progress())
    codes = plan(archive, Progress(), [each.code for each in result.waiting])
    assert len(codes.repairs) < 20
    for repair in (*codes.repairs, *result.waiting):
        assert repair.title
        assert repair.fixes
    if result.salvage is not None and not codes.repairs:
        saved, seen = Counter(verified(checked(salvaged(result))).values()), Counter(verified(archive).values())
        assert saved >= seen
        assert saved - seen <= Counter(verified(checked(data)).values())  # found at other places


@pytest.mark.parametrize(
    ("at", "new", "code"),
    [
        (10, b"\7\0", "zip-entry-count"),
        (8, b"\7\0", "zip-entry-count"),
        (12, b"\7\0\0\0", "zip-directory-size"),
        (16, b"\7\0\0\0", "zip-directory-offset"),
        (16, b"\0\0\1\0", "zip-directory-offset"),
        (12, b"\7\0\0\0\7\0\0\0", "zip-directory-missing"),
        (20, b"\7\0", "zip-end-not-at-end"),
    ],
)
def test_a_wrong_end_record_is_set_right_where_the_directory_is_whole(at: int, new: bytes, code: str) -> None:
    broken = patched(WHOLE, WHOLE.rindex(b"PK\5\6") + at, new)
    before = checked(broken)
    result = plan(before, Progress())
    assert after(result) == WHOLE
    assert made(result) == ["zip-rebuild-end"]
    assert code in result.repairs[0].fixes & {each.code for each in before.findings}


@pytest.mark.parametrize("data", [WHOLE, STREAMED, PLAIN])
def test_a_wrong_offset_of_a_member_is_found_by_its_local_header(data: bytes) -> None:
    start = directory_of(data)
    for at, bits in ((42, 1), (43, 0x80), (45, 0xFF)):
        result = planned(patched(data, start + at, bytes((data[start + at] ^ bits,))))
        assert after(result) == data
        assert "zip-no-local-header" in result.repairs[0].fixes


@pytest.mark.parametrize(("at", "new"), [(10, b"\xc5"), (8, b"\x01"), (24, b"\7"), (20, b"\7")])
def test_a_header_that_belies_content_is_not_kept(at: int, new: bytes) -> None:
    """Content was found whole by the local header, so the directory's is the one that is damaged."""
    start = directory_of(PLAIN)
    result = planned(patched(PLAIN, start + at, new)[:-5])
    assert verified(result.after) == verified(result.before)
    assert result.state is State.SOUND


def test_members_that_were_deleted_stay_so() -> None:
    """An update leaves the bytes of what it took away; nothing is wrong with the directory."""
    both = written({"old": b"1", "new": b"2"})
    start, (gone, _) = directory_of(both), ends_of(both)
    size = 46 + len("old")
    deleted = both[:start] + both[start + size : -22] + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, size, start, 0)
    assert gone
    result = planned(deleted)
    assert (result.repairs, result.waiting) == ((), ())
    assert [each.path for each in result.before.members] == [b"new"]


class Shrunk(BytesSource):
    """A file that someone else has cut off since it was opened."""

    left = 0

    def read(self, offset: int, length: int) -> bytes:
        return super().read(offset, max(0, min(length, self.left - offset)))


@pytest.mark.parametrize("data", [WHOLE[:-5], STREAMED[:-5], patched(WHOLE, 14, b"1"), patched(PLAIN, 22, b"1")])
def test_planning_meets_a_file_that_becomes_shorter(data: bytes) -> None:
    archive = checked(data)
    source = Shrunk(archive.source.read(0, archive.source.size), "x.zip")
    archive.source = source
    for left in range(0, source.size, 7):
        source.left = left
        with contextlib.suppress(SourceError):
            for repair in plain_zip.FORMAT.repairs(archive, Progress()):
                assert repair.title


def test_bytes_after_the_archive_are_cut_off_and_reported() -> None:
    result = planned(WHOLE + b"garbage")
    assert after(result) == WHOLE
    assert "7 bytes after the archive" in " ".join(result.repairs[0].loses)


@pytest.mark.parametrize("data", [WHOLE, STREAMED, written(comment=b"said")], ids=["whole", "streamed", "comment"])
def test_however_many_bytes_after_the_archive_are_cut_off_and_reported(data: bytes) -> None:
    result = planned(data + bytes(100_000))
    assert after(result) == data
    assert result.repairs[0].loses == (f"The 100,000 bytes after the archive, from {len(data):,} on.",)


def test_a_comment_stays() -> None:
    data = written(comment=b"a comment")
    end = data.rindex(b"PK\5\6")
    assert after(planned(patched(data, end + 10, b"\7\0"))) == data
    assert after(planned(patched(data, end, b"XX"))) == data
    cut = after(planned(data[:-3]))
    with zipfile.ZipFile(io.BytesIO(cut)) as archive:
        assert archive.comment == b"a comm"


def test_an_archive_put_after_other_bytes_keeps_its_offsets() -> None:
    moved = b"#!/bin/sh\n" * 4 + WHOLE
    broken = patched(moved, moved.rindex(b"PK\5\6") + 10, b"\7\0")
    assert after(planned(broken)) == moved


def test_numbers_that_need_zip64_get_it() -> None:
    data, size, _ = zip64_archive()
    end = data.rindex(b"PK\6\6")
    result = planned(data[:end])
    assert result.state is State.SOUND
    assert contents(after(result)) == {"x": b"abc"}
    assert after(result)[end - size : end] == data[end - size : end]


def test_the_real_count_of_many_members_is_written_in_zip64_records() -> None:
    data = many_empty(65_537)
    start, end = directory_of_zip64(data)
    modulo = data[:end] + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, end - start, start, 0)
    result = planned(modulo)
    assert made(result) == ["zip-rebuild-end"]
    with zipfile.ZipFile(io.BytesIO(after(result))) as archive:
        assert len(archive.namelist()) == 65_537
    assert result.state is State.SOUND


def directory_of_zip64(data: bytes) -> tuple[int, int]:
    record = data.rindex(b"PK\6\6")
    size, offset = struct.unpack("<2Q", data[record + 40 : record + 56])
    assert offset + size == record
    return offset, record


def test_an_archive_inside_is_not_taken_for_the_archive_around_it() -> None:
    inner = written({"deep": b"content" * 9})
    data = written({"a.zip": inner, "b": b"last"}, method=zipfile.ZIP_STORED)
    result = planned(data[: directory_of(data)])
    assert contents(after(result)) == {"a.zip": inner, "b": b"last"}


def test_a_last_member_that_hides_others_is_cut_off_only_after_confirming() -> None:
    """A size that is too large swallows the members after it; so does an archive that was cut off."""
    broken = patched(PLAIN[: directory_of(PLAIN)], 18, struct.pack("<II", 5000, 5000))
    both = written({"first": b"f", "b": b"x"}, method=0)
    start = ends_of(both)[0]
    data = both[:start] + broken
    result = planned(data)
    assert result.repairs == ()
    assert [each.code for each in result.waiting] == ["zip-rebuild-end"]
    assert "size of a.txt is right" in result.waiting[0].claim
    assert contents(after(planned(data, "zip-rebuild-end"))) == {"first": b"f"}


def test_a_deflate_stream_shows_where_it_ends() -> None:
    target = Unseekable()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("large", b"\0" * 3_000_000)
        archive.writestr("empty", b"")
        archive.writestr("next", b"content")
    data = bytes(target.data)
    result = planned(data[: data.index(b"PK\1\2")])
    assert contents(after(result)) == contents(data)
    assert result.state is State.SOUND


def test_times_and_unicode_names_come_back_from_local_headers() -> None:
    extra = struct.pack("<HHBII", 0x5455, 9, 3, 1_700_000_000, 1_700_000_001)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        info = zipfile.ZipInfo("żółw", (2023, 11, 14, 22, 13, 20))
        info.extra = extra
        archive.writestr(info, b"slow")
        archive.writestr("folder/", b"")
    data = target.getvalue()
    result = planned(data[: directory_of(data)])
    assert result.state is State.SOUND
    with zipfile.ZipFile(io.BytesIO(after(result))) as archive:
        first, second = archive.infolist()
    assert (first.filename, first.date_time) == ("żółw", (2023, 11, 14, 22, 13, 20))
    assert first.extra == struct.pack("<HHBI", 0x5455, 5, 3, 1_700_000_000)
    assert second.is_dir()


def test_what_lies_beyond_4_gib_is_found_again(tmp_path: Path) -> None:
    """A file with a hole in it: a member of 5 GiB, and one after it."""
    path = tmp_path / "large.zip"
    size = 5 << 30
    wide = struct.pack("<HHQQ", 1, 16, size, size)
    full = 0xFFFFFFFF
    with path.open("wb") as file:
        file.write(struct.pack("<4s5H3I2H", b"PK\3\4", 45, 0, 0, 0, 33, 0, full, full, 4, len(wide)) + b"hole" + wide)
        file.seek(size, io.SEEK_CUR)
        file.write(struct.pack("<4s5H3I2H", b"PK\3\4", 10, 0, 0, 0, 33, zlib.crc32(b"abc"), 3, 3, 1, 0) + b"xabc")
    source = FileSource(path)
    rebuilt = rebuild(source, Directory(new_members()), {}, Progress())
    assert rebuilt is not None
    (patch,) = rebuilt.edit.patches
    with path.open("r+b") as file:
        file.seek(patch.offset)
        file.write(patch.new)
    with zipfile.ZipFile(path) as archive:
        assert [(each.filename, each.file_size) for each in archive.infolist()] == [("hole", size), ("x", 3)]
        assert archive.read("x") == b"abc"
    archive = opening.start(FileSource(path))
    opening.decode(archive, Progress())
    assert {(each.code, each.severity) for each in archive.findings} == {("zip-local-needed", Severity.INFO)}


@pytest.mark.parametrize("data", [WHOLE, STREAMED], ids=["whole", "streamed"])
@pytest.mark.parametrize("change", [-40, -1, 1, 40, 5_000])
def test_where_bytes_were_put_in_or_taken_out_all_other_members_come_back(data: bytes, change: int) -> None:
    """Members before that place are where the directory says, those after it are displaced."""
    at = data.index(b"folder/b.bin") + 60
    torn = data[:at] + bytes(max(0, change)) + data[at + max(0, -change) :]
    known = verified(checked(data))
    known.pop(b"folder/b.bin")
    before, result = checked(torn), planned(torn)
    assert known.items() <= verified(before).items()
    assert known.items() <= verified(result.after).items()
    assert not any(repair.loses or repair.claim for repair in result.repairs)
