"""Writing a TACO archive: its pieces make what tacozip makes."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from inspector.core.edit import EditError
from inspector.formats.taco.write import (
    MAX_ARCHIVE_BYTES,
    MAX_MEMBERS,
    WriteError,
    archive_size,
    dos_stamp,
    end_of_archive,
    header,
    slots,
)

SECOND = 10**9


def test_the_header_is_laid_out_as_specified() -> None:
    placed = slots([])
    data, crc = header(placed[0], [(1, 2), (2**64 - 1, 0)])

    assert len(data) == 157
    assert data[:14] == b"PK\3\4" + bytes((20, 0, 0, 0, 0, 0, 0, 0, 33, 0))
    assert data[14:18] == crc.to_bytes(4, "little")
    assert data[18:30] == (116).to_bytes(4, "little") * 2 + bytes((11, 0, 0, 0))
    assert data[30:41] == b"TACO_HEADER"
    assert data[41:61] == bytes((2, 0, 0, 0)) + (1).to_bytes(8, "little") + (2).to_bytes(8, "little")
    assert data[61:77] == b"\xff" * 8 + bytes(8)
    assert data[77:] == bytes(80)


def test_the_central_headers_are_laid_out_as_tacozip_writes_them() -> None:
    first, second = slots([(b"data", 3, None)])
    # Made by, needed, then flags, method, time and date; disk and internal attributes.
    common, rest = bytes((63, 3, 20, 0, 0, 0, 0, 0, 0, 0, 33, 0)), bytes(4)
    for slot, name, size, mode in ((first, b"TACO_HEADER", 116, 0o644), (second, b"data", 3, 0o100644)):
        sizes = size.to_bytes(4, "little") * 2
        lengths = bytes((len(name), 0, 0, 0, 0, 0))
        wanted = b"PK\1\2" + common + (7).to_bytes(4, "little") + sizes + lengths + rest
        wanted += (mode << 16).to_bytes(4, "little") + slot.head.to_bytes(4, "little") + name
        assert slot.central(7) == wanted


def test_an_entry_of_zeros_that_is_given_counts() -> None:
    assert header(slots([])[0], [(0, 0), (5, 6)])[0][41] == 2


def test_eight_entries_are_too_many() -> None:
    with pytest.raises(EditError, match="room for 7"):
        header(slots([])[0], [(1, 1)] * 8)


def test_an_archive_may_be_as_large_as_it_can_be_without_zip64() -> None:
    overhead = archive_size(slots([(b"a", 0, None)]))

    placed = slots([(b"a", MAX_ARCHIVE_BYTES - overhead, None)])

    assert archive_size(placed) == MAX_ARCHIVE_BYTES
    assert b"PK\6\6" not in b"".join(end_of_archive(placed, [0, 0]))
    with pytest.raises(WriteError, match=r"'a': 4,294,967,296 bytes.*at most 4,294,967,295"):
        slots([(b"a", MAX_ARCHIVE_BYTES - overhead + 1, None)])


def test_more_members_than_zip_counts_are_refused() -> None:
    def members(count: int) -> Iterator[tuple[bytes, int, None]]:
        return ((b"%d" % number, 0, None) for number in range(count))

    placed = slots(members(MAX_MEMBERS))
    assert b"PK\6\6" not in b"".join(end_of_archive(placed, [0] * len(placed)))
    with pytest.raises(WriteError, match="65,533 members"):
        slots(members(MAX_MEMBERS + 1))


def test_a_second_header_is_refused() -> None:
    with pytest.raises(WriteError, match="name of the header"):
        slots([(b"TACO_HEADER", 1, None)])


def test_the_header_is_as_new_as_the_newest_member() -> None:
    morning, evening = (int(time.mktime((2020, 5, day, hour, 0, 0, 0, 0, -1))) for day, hour in ((3, 6), (2, 22)))
    placed = slots([(b"a", 1, evening * SECOND), (b"b", 1, morning * SECOND), (b"c", 1, evening * SECOND)])
    assert placed[0].stamp == placed[2].stamp == dos_stamp(morning * SECOND)


def test_members_are_regular_files_and_the_header_has_no_kind() -> None:
    header_record, record, _ = end_of_archive(slots([(b"a", 1, None)]), [0, 0])
    assert [int.from_bytes(each[40:42], "little") for each in (header_record, record)] == [0o644, 0o100644]


@pytest.fixture(params=["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Local time somewhere."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("modified", [None, -(10**30), 0, 315_532_800 * SECOND, 4_354_819_199 * SECOND, 10**30])
def test_times_that_dos_does_not_know_become_the_nearest(zone: str, modified: int | None) -> None:
    clock, date = dos_stamp(modified)

    year, month, day = 1980 + (date >> 9), date >> 5 & 15, date & 31
    assert (year, month) in ((1980, 1), (2107, 12)), zone
    assert day in (1, 30, 31)
    assert 0 <= clock <= 23 << 11 | 59 << 5 | 29


def test_a_time_is_local_time(zone: str) -> None:
    clock, date = dos_stamp(1_000_000_000 * SECOND)

    then = time.localtime(1_000_000_000)
    assert (date >> 9, date >> 5 & 15, date & 31) == (then.tm_year - 1980, then.tm_mon, then.tm_mday), zone
    assert (clock >> 11, clock >> 5 & 63, (clock & 31) * 2) == (then.tm_hour, then.tm_min, then.tm_sec)
