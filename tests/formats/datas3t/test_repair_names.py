"""Repairs that the tar of a range alone proves: names of datapoints, and the index of the later layout."""

from __future__ import annotations

import struct

import pytest

from inspector.formats import datas3t
from tests.formats.archives import codes
from tests.formats.datas3t.range_building import hashed_rows, points, rows_frame
from tests.formats.datas3t.range_repairs import Range, checked, made, plans
from tests.formats.tar.tar_building import LONG, build, content

POINTS = points(1, 5)


def range_named(names: list[str]) -> Range:
    data = build(zip(names, POINTS.values(), strict=False))
    return Range(data, rows_frame(hashed_rows(data)), 1, len(names))


def test_short_keys_in_names_are_padded() -> None:
    before = range_named(["1.json", f"{2:020d}.json", "003.json.zst", f"{4:025d}", "5"])
    (repair,) = plans(before)
    assert repair.title == "Write the key in the name of 1.json and of 3 more datapoints with 20 digits"
    assert "Only their names change" in repair.claim
    after = made(before, repair)
    archive = checked(after)
    assert archive.findings == []
    assert [member.path.decode() for member in archive.members] == [
        f"{1:020d}.json",
        f"{2:020d}.json",
        f"{3:020d}.json.zst",
        f"{4:020d}",
        f"{5:020d}",
    ]
    assert [content(archive, member, datas3t.FORMAT) for member in range(5)] == list(POINTS.values())
    assert repair.edit is not None
    assert all(patch.offset % 512 == 0 and len(patch.new) <= 156 for patch in repair.edit.patches)


@pytest.mark.parametrize(
    "names",
    [
        ["1.json", "readme.txt"],  # no key
        ["1." + 98 * "x"],  # no room for the digits
        ["1." + 120 * "x"],  # the name stands in an extended header
        ["1.a", f"{1:020d}.a"],  # a name would stand twice
    ],
)
def test_names_that_cannot_all_be_repaired_stay(names: list[str]) -> None:
    before = Range(build(zip(names, POINTS.values(), strict=False), 2), None, 1, 1)
    assert "datas3t-name-digits" not in {each.code for each in plans(before)}


def index_of(rows: list[tuple[int, int, int]]) -> bytes:
    return b"".join(struct.pack(">QH", head, blocks) + size.to_bytes(6, "big") for head, blocks, size in rows)


@pytest.mark.parametrize("wrong", ["cut", "more", "fewer", "offsets", "empty"])
def test_an_index_is_rebuilt(wrong: str) -> None:
    names = [f"{1:020d}.{LONG.replace('/', '_')}", f"{2:020d}.b", f"{3:020d}.c"]
    data = build(zip(names, [b"x" * 600, b"", b"z"], strict=True), 2)
    archive = checked(Range(data, None, 1, 3))
    assert archive.members.heads is not None
    heads = list(archive.members.heads)
    right = [(heads[0], (archive.members.starts[0] - heads[0]) // 512, 600), (heads[1], 1, 0), (heads[2], 1, 1)]
    index = {
        "cut": index_of(right)[:-3],
        "more": index_of([*right, right[0]]),
        "fewer": index_of(right[:2]),
        "offsets": index_of([(0, 1, 600), (1536, 1, 0), (2048, 1, 1)]),
        "empty": b"",
    }[wrong]
    before = Range(data, None, 1, 3, index=index)
    (repair,) = plans(before)
    assert repair.code == "datas3t-rebuild-index"
    assert set(codes(checked(before))) == repair.fixes
    after = made(before, repair)
    assert after.index == index_of(right)
    assert checked(after).findings == []
