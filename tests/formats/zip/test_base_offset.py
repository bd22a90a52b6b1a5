"""An end record that says the directory is where it is not: what local headers tell of the members then."""

from __future__ import annotations

import zipfile

import pytest

from inspector.core.finding import Severity
from tests.formats.archives import assert_covered
from tests.formats.zip.zip_building import (
    PLAIN,
    STREAMED,
    checked,
    content,
    directory_of,
    doubts,
    handmade,
    opened,
    patched,
    verified,
    written,
    zip64_archive,
)

END = PLAIN.rindex(b"PK\5\6")
START = int.from_bytes(PLAIN[END + 16 : END + 20], "little")


@pytest.mark.parametrize("offset", [0, START - 1, START + 1, START + 5_000, 0x7FFFFFFF, 0xFFFFFFFF])
def test_a_wrong_offset_of_the_directory_hides_no_member(offset: int) -> None:
    archive = opened(patched(PLAIN, END + 16, offset.to_bytes(4, "little")))

    assert doubts(archive) == {"zip-directory-offset"}
    assert archive.findings[0].spans == ((END + 16, END + 20), (START, END))
    assert [member.head for member in archive.members] == [member.head for member in opened(PLAIN).members]
    assert content(archive, 1) == b"content of b"
    assert_covered(archive)


def test_a_wrong_offset_in_the_zip64_record_is_shown_there() -> None:
    data = zip64_archive()[0]
    record = data.index(b"PK\6\6")
    archive = opened(patched(data, record + 48, b"\1"))

    assert doubts(archive) == {"zip-directory-offset"}
    assert archive.findings[0].spans[0] == (record + 48, record + 56)


@pytest.mark.parametrize("change", [-5, 7])
def test_bytes_lost_or_put_in_leave_the_members_on_both_sides_of_them_readable(change: int) -> None:
    second = PLAIN.index(b"PK\3\4", 4)
    place = second - 6
    torn = PLAIN[:place] + bytes(max(0, change)) + PLAIN[place + max(0, -change) :]

    archive = opened(torn)

    code = "zip-bytes-inserted" if change > 0 else "zip-bytes-missing"
    found = next(each for each in archive.findings if each.code == code)
    assert found.spans == ((0, second + change),)
    assert [member.path for member in archive.members] == [b"a.txt", b"b.txt"]
    assert [member.head for member in archive.members] == [0, second + change]
    assert verified(checked(torn)).keys() == {b"b.txt"}
    assert_covered(archive)


def test_a_moved_archive_is_read_where_it_is_although_its_like_stands_before_it() -> None:
    archive = opened(PLAIN[:START] + PLAIN)

    assert "zip-prepended" in doubts(archive)
    assert [member.head for member in archive.members] == [START + each.head for each in opened(PLAIN).members]


def test_a_wrong_size_of_the_directory_is_shown_in_the_end_record() -> None:
    archive = opened(patched(PLAIN, END + 12, b"\1"))

    assert doubts(archive) == {"zip-directory-size"}
    assert (END + 12, END + 16) in archive.findings[0].spans


@pytest.mark.parametrize("rest", [b"\0", b"\r\n", bytes(40_000)])
def test_what_follows_a_whole_archive_is_marked_and_no_damage_to_it(rest: bytes) -> None:
    found = opened(PLAIN + rest).findings[0]

    assert (found.code, found.severity) == ("zip-end-not-at-end", Severity.WARNING)
    assert (len(PLAIN), len(PLAIN) + len(rest)) in found.spans


@pytest.mark.parametrize(
    "data",
    [PLAIN + bytes(70_000), patched(PLAIN, END + 20, b"\7"), b"#!" + PLAIN + b"more"],
    ids=["out of reach", "comment cut off", "moved too"],
)
def test_an_end_that_programs_cannot_find_or_believe_is_damage(data: bytes) -> None:
    found = next(each for each in opened(data).findings if each.code == "zip-end-not-at-end")
    assert found.severity is Severity.ERROR


@pytest.mark.parametrize(("at", "value"), [(4, 1), (16, 2), (19, 1)])
def test_a_zip64_locator_that_speaks_of_other_disks_is_wrong(at: int, value: int) -> None:
    data = zip64_archive()[0]
    locator = data.index(b"PK\6\7")
    archive = opened(patched(data, locator + at, bytes((value,))))

    assert doubts(archive) == {"zip-zip64-locator"}
    assert archive.findings[0].spans == ((locator, locator + 20),)


def test_a_zip64_locator_that_counts_no_disk_is_a_warning() -> None:
    data = zip64_archive()[0]
    locator = data.index(b"PK\6\7")
    archive = opened(patched(data, locator + 16, bytes(4)))

    assert [(each.code, each.severity) for each in archive.findings] == [("zip-zip64-disks", Severity.WARNING)]
    assert archive.findings[0].spans == ((locator, locator + 20),)


@pytest.mark.parametrize("record", [b"", b"PK\6\6" + b"\x2c".ljust(52, b"a")])
@pytest.mark.parametrize("field", ["name", "comment"])
def test_the_end_of_a_directory_is_no_zip64_locator_whatever_it_looks_like(record: bytes, field: str) -> None:
    locator = record + b"PK\6\7" + b"abcdabcdefghabcd"
    data = bytearray(handmade(locator if field == "name" else b"name"))
    if field == "comment":
        end = data.rindex(b"PK\5\6")
        central = data.rindex(b"PK\1\2")
        data[central + 32 : central + 34] = len(locator).to_bytes(2, "little")
        data[end + 12 : end + 16] = (end - central + len(locator)).to_bytes(4, "little")
        data[end:end] = locator
    archive = opened(bytes(data))

    assert (doubts(archive), len(archive.members), content(archive, 0)) == (
        {"zip-name-hazard"} if field == "name" else set(),
        1,
        b"content",
    )
    assert_covered(archive)


def test_zip64_records_behind_the_directory_are_read_although_the_end_record_needs_none() -> None:
    data, size, _ = zip64_archive(entries=1)
    end, record = data.rindex(b"PK\5\6"), data.index(b"PK\6\6")
    data = patched(data, end + 12, size.to_bytes(4, "little") + (record - size).to_bytes(4, "little"))

    assert doubts(opened(data)) == set()
    assert doubts(opened(patched(data, record + 48, b"\2"))) == {"zip-zip64-disagrees"}


@pytest.mark.parametrize("at", [4, 6])
def test_end_records_that_disagree_on_the_disk_are_wrong(at: int) -> None:
    data = zip64_archive()[0]
    end = data.rindex(b"PK\5\6")

    assert doubts(opened(patched(data, end + at, b"\1\0"))) == {"zip-zip64-disagrees"}
    assert doubts(opened(patched(data, end + at, b"\xff\xff"))) == set()


def test_a_descriptor_that_disagrees_is_shown_with_what_it_disagrees_with() -> None:
    start = directory_of(STREAMED)
    found = opened(patched(STREAMED, start + 16, bytes((STREAMED[start + 16] ^ 1,)))).findings

    assert [(start + 16, start + 28) in each.spans for each in found if each.code == "zip-descriptor-differs"] == [True]


@pytest.mark.parametrize("missing", [0, 3])
def test_an_archive_cut_off_after_one_that_it_holds_is_not_taken_for_that(missing: int) -> None:
    inner = written({"within": b"abc"})
    data = written({"before": b"abc", "inner.zip": inner, "behind": b"x"}, method=zipfile.ZIP_STORED)
    stop = data.index(inner) + len(inner)
    archive = opened(data[: stop - missing])

    assert [member.path for member in archive.members] == [b"before", b"inner.zip"]
    assert "zip-no-central-directory" in doubts(archive)
    assert_covered(archive)


def test_a_member_whose_claim_is_impossible_casts_no_doubt_on_those_it_runs_over() -> None:
    size = PLAIN.index(b"PK\1\2") + 20
    archive = opened(patched(PLAIN, size, (1 << 30).to_bytes(4, "little")))

    overlaps = [each for each in archive.findings if each.code == "zip-overlap"]
    assert {each.member for each in overlaps} == {0}
    assert len(overlaps) == 1
