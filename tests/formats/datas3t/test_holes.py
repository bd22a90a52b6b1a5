"""Zeros inside a range, as a lost sector leaves them: what stands behind them is found by what is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.core.archive import Emitter
from inspector.core.program.progress import Progress
from inspector.core.verdict import Verdict
from inspector.formats import datas3t
from inspector.formats._tar.header import MAX_ZERO_SEARCH_BYTES
from inspector.operations.open.opening import Opened, decode, start
from inspector.sources.local.file import FileSource
from tests.formats.archives import assert_covered, codes
from tests.formats.datas3t.range_building import hashed_rows, index_rows, points, put, rows_frame
from tests.formats.tar.tar_building import build

POINTS = points(1, 9, 700)
SOUND = build(POINTS.items())
ROWS = hashed_rows(SOUND)
ENDS = [int(row["end_offset"]) for row in ROWS]
BEGINS = [int(row["begin_offset"]) for row in ROWS]


def opened(path: Path) -> Opened:
    archive = start(FileSource(path))
    decode(archive, Progress())
    return archive


def names(archive: Opened) -> list[str]:
    return [archive.members.path(at).decode() for at in range(len(archive.members))]


@pytest.mark.parametrize("first", [0, 3, 7])
@pytest.mark.parametrize("many", [1, 2])
@pytest.mark.parametrize("indexed", [False, True])
def test_members_after_a_hole_are_listed(tmp_path: Path, first: int, many: int, indexed: bool) -> None:
    last = first + many
    low, high = BEGINS[first], ENDS[last - 1]
    path = put(tmp_path, SOUND[:low] + bytes(high - low) + SOUND[high:], None, 1, 9)
    if indexed:
        path.with_suffix(".index").write_bytes(b"".join(index_rows(SOUND)))
    else:
        path.with_name(path.name + ".metadata").write_bytes(rows_frame(ROWS))
    archive = opened(path)
    left = list(POINTS)[:first] + list(POINTS)[last:]
    if last == len(POINTS):  # nothing that is recorded stands behind the zeros: they are the end
        assert "tar-zeros-inside" not in codes(archive)
    else:
        (hole,) = (each for each in archive.findings if each.code == "tar-zeros-inside")
        assert hole.spans == ((low, high),)
    assert names(archive) == left
    assert_covered(archive)
    if not indexed:
        gone = [each.spans[0] for each in archive.findings if each.code == "datas3t-metadata-row-extra"]
        assert gone == list(zip(BEGINS[first:last], ENDS[first:last], strict=True))


def test_data_after_a_hole_is_skipped(tmp_path: Path) -> None:
    """The zeros end inside the data of a member: the next header is looked for behind the rest of it."""
    stop = BEGINS[3] + 1024
    assert any(SOUND[stop : ENDS[3]])
    archive = opened(put(tmp_path, SOUND[: BEGINS[3]] + bytes(1024) + SOUND[stop:], rows_frame(ROWS), 1, 9))
    assert names(archive) == list(POINTS)[:3] + list(POINTS)[4:]


def test_the_zeros_of_a_sound_range_are_its_end_whatever_is_recorded(tmp_path: Path) -> None:
    more = {**ROWS[-1], "id": "10", "begin_offset": str(ENDS[-1] + 512), "end_offset": str(ENDS[-1] + 1024)}
    archive = opened(put(tmp_path, SOUND + bytes(8192), rows_frame([*ROWS, more]), 1, 9))
    assert codes(archive) == ["datas3t-metadata-row-extra"]


def test_an_endless_hole_is_not_read_through(tmp_path: Path) -> None:
    far = MAX_ZERO_SEARCH_BYTES << 6
    path = put(tmp_path, SOUND[: BEGINS[8]], None, 1, 9)
    with path.open("r+b") as file:
        file.seek(far)
        file.write(SOUND[BEGINS[8] :])
    moved = {**ROWS[8], "begin_offset": str(far), "end_offset": str(far + ENDS[8] - BEGINS[8])}
    path.with_name(path.name + ".metadata").write_bytes(rows_frame([*ROWS[:8], moved]))
    archive = opened(path)
    assert names(archive) == list(POINTS)
    (hole,) = archive.findings
    assert (hole.code, hole.spans) == ("tar-zeros-inside", ((BEGINS[8], far),))


@pytest.mark.parametrize("size", [b"77777777777\0", b"\xff" * 12, b"\x80" + b"\x7f" * 11, b"many bytes!\0"])
@pytest.mark.parametrize("member", [0, 4, 8])
def test_members_after_an_impossible_size_are_listed(tmp_path: Path, member: int, size: bytes) -> None:
    at = BEGINS[member]
    block = SOUND[at : at + 124] + size + SOUND[at + 136 : at + 148] + b" " * 8 + SOUND[at + 156 : at + 512]
    block = block[:148] + b"%06o\0 " % sum(block) + block[156:]
    archive = opened(put(tmp_path, SOUND[:at] + block + SOUND[at + 512 :], rows_frame(ROWS), 1, 9))
    assert names(archive) == list(POINTS)
    assert_covered(archive)
    datas3t.FORMAT.check(archive, Emitter(archive), Progress())
    verdicts = [archive.verdict(at) for at in range(len(POINTS))]
    assert verdicts.count(Verdict.VERIFIED) == len(POINTS) - 1
    assert verdicts[member] is Verdict.MISMATCH
    assert [each.member for each in archive.findings if each.code.startswith("tar-")][:1] == [member]


def test_a_hole_leaves_the_others_verified(tmp_path: Path) -> None:
    path = put(tmp_path, SOUND[: BEGINS[4]] + bytes(ENDS[4] - BEGINS[4]) + SOUND[ENDS[4] :], rows_frame(ROWS), 1, 9)
    archive = opened(path)
    datas3t.FORMAT.check(archive, Emitter(archive), Progress())
    assert {archive.verdict(at) for at in range(len(archive.members))} == {Verdict.VERIFIED}
