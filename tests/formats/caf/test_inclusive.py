"""An index whose writer took ``end_byte`` as inclusive is read so; where it is not clear, nothing is assumed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from tests.cli.running import process
from tests.formats.archives import codes, opened
from tests.operations.archives import opened as session_of
from tests.samples.writers import index_json

FILES = {"one.txt": b"first\n", "two.bin": bytes(range(32)), "three": b"x", "four": b"last one"}


Ranges = Sequence[tuple[str, object, object]]


def inclusive(files: dict[str, bytes] = FILES) -> Ranges:
    at, ranges = 0, list[tuple[str, int, int]]()
    for name, data in files.items():
        ranges.append((name, at, at + len(data) - 1))
        at += len(data)
    return ranges


def archive(ranges: Ranges, data: bytes = b"".join(FILES.values())) -> bytes:
    index = index_json(ranges)
    index = index if isinstance(index, bytes) else index.encode()
    return data + index + len(index).to_bytes(4, "little")


def run(*arguments: object) -> tuple[int, bytes, str]:
    ended = process(*arguments)
    return ended.returncode, ended.stdout, ended.stderr.decode()


def test_every_way_of_reading_takes_it_so_and_says_it_once(tmp_path: Path) -> None:
    path = tmp_path / "a.caf"
    path.write_bytes(archive(inclusive()))
    said = "The writer took end_byte as inclusive: exactly 1 byte follows each of 4 members."
    status, out, err = run("list", "--json", path)
    assert (status, err.count(said)) == (0, 1)
    assert [b'"size": %d,' % len(data) in line for line, data in zip(out.splitlines(), FILES.values(), strict=True)]
    for name, data in FILES.items():
        status, out, err = run("cat", path, name)
        assert (status, out, err.count(said)) == (0, data, 1)
    status, _, err = run("extract", path, "--to", tmp_path / "to")
    assert (status, err.count(said)) == (0, 1)
    assert {each.name: each.read_bytes() for each in (tmp_path / "to").iterdir()} == FILES
    assert b"end_byte 5 = " in run("dump", path)[1]  # as stored
    for reader in ("caf-go", "caf-ts"):
        assert b"read one.txt: start_byte 0, end_byte 5 -> 5 bytes" in run("trace", "--reader", reader, path)[1]


@pytest.mark.parametrize(
    "ranges",
    [
        [("a", 0, 2), ("b", 3, 10)],  # the last ends where the index begins
        [("a", 0, 2), ("b", 3, 8)],  # two bytes are left
        [("a", 0, 3), ("b", 3, 9)],  # nothing is left
        [("a", 1, 2), ("b", 3, 9)],  # and one in front
        [("a", 1, 2), ("b", 2, 10)],  # only one in front
        [("a", 0, 2), ("b", 4, 9)],
        [("a", 0, 2), ("b", 3, 3), ("c", 3, 3), ("d", 4, 9)],  # which of the two has the byte?
        [("a", 0, -1), ("b", 0, 9)],  # no number
        [("a", 0, 4), ("b", 3, 9)],
    ],
)
def test_otherwise_nothing_is_assumed(ranges: Ranges) -> None:
    found = opened(BytesSource(archive(ranges, b"0123456789"), "a.caf"))
    assert "caf-end-byte-inclusive" not in codes(found)
    given = sorted((start, stop) for _, start, stop in ranges if isinstance(stop, int) and stop >= 0)
    assert [(each.spans[0].start, each.spans[0].stop) for each in found.members if each.readable] == given


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=5))
def test_no_other_ranges_are_read_otherwise_than_they_are_given(ranges: list[tuple[int, int]]) -> None:
    data = bytes(range(10))
    found = opened(BytesSource(archive([(f"{at}", *each) for at, each in enumerate(ranges)], data), "a.caf"))
    read = {
        bytes(each.path): (found.members.starts[each.index], found.members.stops[each.index]) for each in found.members
    }
    changed = [at for at, each in enumerate(ranges) if read[b"%d" % at] != each]
    if changed:
        assert "caf-end-byte-inclusive" in codes(found)
        stops = sorted(stop for at, (_, stop) in enumerate(ranges) if at in changed)
        assert b"".join(data[start:stop] for start, stop in sorted(read.values())) == data
        assert len({*stops}) == len(stops) or len(changed) < len(ranges)


def test_one_member_says_that_it_may_be_otherwise() -> None:
    (finding,) = opened(BytesSource(archive([("a", 0, 9)], b"0123456789"), "a.caf")).findings
    assert finding.message.endswith("Of a single member, one inserted byte would look the same.")


def test_the_window_shows_the_whole_members(tmp_path: Path) -> None:
    path = tmp_path / "a.caf"
    path.write_bytes(archive(inclusive()))
    session = session_of(path)
    result = session.extract(Progress(), None, str(tmp_path / "to"))
    assert (result.files, result.whole) == (len(FILES), True)
    assert len(result.warnings) == 1
    assert {each.name: each.read_bytes() for each in (tmp_path / "to").iterdir()} == FILES
