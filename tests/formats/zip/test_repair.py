"""Mending ZIP archives: the directory and the end records, CRC-32 values, salvage."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.core.edit import Edit
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import BytesSource
from inspector.core.verdict import State, Verdict
from inspector.formats._zip.directory import Directory
from inspector.operations import opening
from inspector.operations.checking import check_archive, state_of
from inspector.operations.repairing import Plan, plan
from tests.formats.zip.zip_building import FILES, PLAIN, Unseekable, patched, written, zip64_archive

STREAMED = written(streamed=True)
WHOLE = written()


def checked(data: bytes) -> opening.Opened:
    archive = opening.start(BytesSource(data, "x.zip"))
    opening.decode(archive, Progress())
    check_archive(archive, Progress())
    return archive


def planned(data: bytes, *accepted: str) -> Plan:
    return plan(checked(data), Progress(), accepted)


def after(made: Plan) -> bytes:
    return made.after.source.read(0, made.after.source.size)


def contents(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def made(result: Plan) -> list[str]:
    return [repair.code for repair in result.repairs]


def salvaged(result: Plan) -> bytes:
    assert result.salvage is not None
    assert result.salvage.content is not None
    return b"".join(result.salvage.content(Progress()))


def verified(archive: opening.Opened) -> dict[bytes, int]:
    """The CRC-32 of every member whose content is whole."""
    assert isinstance(archive.detail, Directory)
    crcs = archive.detail.computed
    return {each.path: crcs[each.index] for each in archive.members if archive.verdict(each.index) is Verdict.VERIFIED}


def directory_of(data: bytes) -> int:
    return struct.unpack("<I", data[data.rindex(b"PK\5\6") + 16 :][:4])[0]


def ends_of(data: bytes) -> list[int]:
    """Where each member ends, in file order."""
    archive = checked(data)
    directory = archive.detail
    return [each.spans[0].stop + directory.descriptors[each.index] for each in archive.members]


@pytest.mark.parametrize("data", [WHOLE, STREAMED, PLAIN, written(comment=b"a comment")])
def test_a_sound_archive_has_nothing_to_mend(data: bytes) -> None:
    result = planned(data)
    assert (result.repairs, result.waiting, result.salvage) == ((), (), None)


@pytest.mark.parametrize("data", [WHOLE, STREAMED, PLAIN])
def test_an_archive_cut_off_anywhere_keeps_every_whole_member(data: bytes) -> None:
    everything, ends = contents(data), ends_of(data)
    for size in range(ends[0], len(data)):
        result = planned(data[:size])
        whole = list(everything)[: sum(end <= size for end in ends)]
        assert contents(after(result)) == {name: everything[name] for name in whole}, size
        assert (result.state, made(result)) == (State.SOUND, ["zip-rebuild-end"])


def test_what_is_cut_off_is_said() -> None:
    result = planned(PLAIN[: ends_of(PLAIN)[1] - 5])
    losses = " ".join(result.repairs[0].loses)
    assert "b.txt, which is not whole: the 7 bytes of it that are left" in losses
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
    assert "they stay" in " ".join(result.repairs[0].loses)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([WHOLE, STREAMED, PLAIN]), st.data())
def test_one_wrong_byte_in_the_end_loses_no_content(data: bytes, choice: st.DataObject) -> None:
    at = choice.draw(st.integers(directory_of(data), len(data) - 1))
    broken = patched(data, at, bytes((data[at] ^ choice.draw(st.integers(1, 255)),)))
    result = planned(broken)
    before, now = sorted(verified(checked(data)).values()), sorted(verified(result.after).values())
    assert now == before or result.waiting or not result.repairs
    assert after(result)[: directory_of(data)] == data[: directory_of(data)]


@settings(max_examples=300, deadline=None)
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
        assert repair.mends
    if result.salvage is not None and not codes.repairs:
        new = checked(salvaged(result))
        assert sorted(verified(new).values()) == sorted(verified(archive).values())


@pytest.mark.parametrize(
    ("at", "new", "code"),
    [
        (10, b"\7\0", "zip-entry-count"),
        (8, b"\7\0", "zip-entry-count"),
        (12, b"\7\0\0\0", "zip-directory-size"),
        (16, b"\7\0\0\0", "zip-prepended"),
        (16, b"\0\0\1\0", "zip-bytes-missing"),
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
    assert code in result.repairs[0].mends & {each.code for each in before.findings}


def test_bytes_behind_the_archive_are_cut_off_and_said() -> None:
    result = planned(WHOLE + b"garbage")
    assert after(result) == WHOLE
    assert "7 bytes behind the archive" in " ".join(result.repairs[0].loses)


def test_a_comment_stays() -> None:
    data = written(comment=b"a comment")
    end = data.rindex(b"PK\5\6")
    assert after(planned(patched(data, end + 10, b"\7\0"))) == data
    assert after(planned(patched(data, end, b"XX"))) == data
    cut = after(planned(data[:-3]))
    with zipfile.ZipFile(io.BytesIO(cut)) as archive:
        assert archive.comment == b"a comm"


def test_an_archive_put_behind_other_bytes_keeps_its_offsets() -> None:
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
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for index in range(65_537):
            archive.writestr(zipfile.ZipInfo(f"{index}"), b"")
    data = target.getvalue()
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


def test_a_last_member_that_hides_others_is_cut_off_only_on_the_users_word() -> None:
    """A size that is too large swallows the members behind it; so does an archive that was cut off."""
    broken = patched(PLAIN[: directory_of(PLAIN)], 18, struct.pack("<II", 5000, 5000))
    both = written({"first": b"f", "b": b"x"}, method=0)
    start = ends_of(both)[0]
    data = both[:start] + broken
    result = planned(data)
    assert result.repairs == ()
    assert [each.code for each in result.waiting] == ["zip-rebuild-end"]
    assert "size of a.txt is assumed" in result.waiting[0].claim
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


def flipped_content() -> bytes:
    return patched(PLAIN, PLAIN.index(b"content of b"), b"C")


def test_a_wrong_crc_is_set_only_on_the_users_word() -> None:
    result = planned(flipped_content())
    assert result.repairs == ()
    assert [each.code for each in result.waiting] == ["zip-accept-content-1"]
    assert "Nothing in the archive shows that" in result.waiting[0].claim
    accepted = planned(flipped_content(), "zip-accept-content-1")
    assert accepted.state is State.SOUND
    assert contents(after(accepted))["b.txt"] == b"Content of b"


@pytest.mark.parametrize("place", ["local", "central"])
@pytest.mark.parametrize("field", [("crc", 14, 16, b"\1\2\3\4"), ("size", 22, 24, b"\1\0\0\0")])
def test_a_wrong_record_is_set_to_what_content_and_the_other_record_say(
    place: str, field: tuple[str, int, int, bytes]
) -> None:
    _, local, central, new = field
    at = local if place == "local" else directory_of(PLAIN) + central
    result = planned(patched(PLAIN, at, new))
    assert after(result) == PLAIN
    assert made(result) == ["zip-set-records"]
    assert result.repairs[0].claim == ""


def test_salvage_copies_what_is_whole_as_it_is() -> None:
    data = written(dict(FILES, broken=b"0123456789" * 3))
    at = data.index(b"broken") + 6
    result = planned(patched(data, at, b"\xff\xff"))
    new = salvaged(result)
    assert contents(new) == {name: content for name, content in contents(data).items() if name != "broken"}
    assert state_of([checked(new)]) is State.SOUND
    assert "1 member of 6" in " ".join(result.salvage.loses if result.salvage else ())
    stored = checked(data)
    copied = checked(new)
    for one, other in zip(stored.members, copied.members, strict=False):
        assert stored.source.read(*_bytes(one)) == copied.source.read(*_bytes(other))


def _bytes(member: object) -> tuple[int, int]:
    span = member.spans[0]  # type: ignore[attr-defined]
    return span.start, span.size


def test_salvage_takes_the_numbers_that_were_verified() -> None:
    broken = patched(patched(STREAMED, 14, b"\1\2\3\4"), STREAMED.index(b"folder/b.bin") + 12, b"\xff")
    archive = checked(broken)
    new = salvaged(plan(archive, Progress()))
    assert verified(checked(new)) == verified(archive)
    assert b"PK\7\x08" not in new


def test_nothing_whole_gives_no_salvage() -> None:
    data = written({"a": b"0123456789"}, method=0)
    result = planned(patched(data, data.index(b"0123"), b"X"))
    assert result.salvage is None


@pytest.mark.parametrize("disks", [b"\1\0", b"\0\0\1\0"])
def test_a_part_of_several_disks_is_left_alone(disks: bytes) -> None:
    broken = patched(WHOLE, WHOLE.rindex(b"PK\5\6") + 4, disks)
    assert planned(broken).repairs == ()


def test_a_repair_is_an_edit_of_the_archive_as_it_is() -> None:
    archive = checked(PLAIN[:-5])
    repair = plan(archive, Progress()).repairs[0]
    assert isinstance(repair, Repair)
    assert isinstance(repair.edit, Edit)
    for patch in repair.edit.patches:
        assert archive.source.read(patch.offset, len(patch.old)) == patch.old
    assert zlib.crc32(PLAIN[:100]) == zlib.crc32(archive.source.read(0, 100))
