"""Each bomb, small enough to count what is done with it; in the sweep at its full size, in bytes of memory."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector.__main__ import main
from inspector.core.bounds import BOUNDS
from inspector.core.member import SHARED
from inspector.core.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.verdict import Verdict
from inspector.formats._tar import extension
from inspector.formats._zip import check
from inspector.operations.check.checking import check_archive
from inspector.operations.open import opening
from inspector.operations.open.opening import Opened
from tests.hostile import bombs


class CountingSource(BytesSource):
    """Counts what is read."""

    reads = read_bytes = 0

    def read(self, start: int, size: int) -> bytes:
        data = super().read(start, size)
        self.reads += 1
        self.read_bytes += len(data)
        return data


def decoded(data: bytes, name: str) -> tuple[Opened, CountingSource]:
    source = CountingSource(data, name)
    archive = opening.start(source)
    opening.decode(archive, Progress())
    return archive, source


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the pieces that members are unpacked to."""
    sizes: list[int] = []
    real = check.content

    def content(*given: Any) -> Iterator[bytes]:
        for piece in real(*given):
            sizes.append(len(piece))
            yield piece

    monkeypatch.setattr(check, "content", content)
    return sizes


def test_headers_before_no_member_are_not_held_as_fields() -> None:
    data = bombs.pax_headers(3_000)
    decoded(data, "a.tar")
    tracemalloc.start()
    try:
        archive, _ = decoded(data, "b.tar")
        assert tracemalloc.get_traced_memory()[1] < len(data)
    finally:
        tracemalloc.stop()
    first = next(field for field in archive.fields if field.name == "extended header")
    assert [(each.name, each.spans[0].size) for each in first.children] == [("extended header", 1024)] * 64
    assert [each.name for each in first.children[63].children] == ["header", "path", "padding"]


def test_bytes_that_all_members_claim_are_unpacked_once(unpacked: list[int]) -> None:
    archive, _ = decoded(bombs.one_claim(2_000, 1 << 20), "a.zip")
    check_archive(archive, Progress())
    assert sum(unpacked) == 1 << 20
    assert {archive.verdict(member) for member in range(2_000)} == {Verdict.VERIFIED}


def test_members_in_each_other_are_unpacked_within_a_budget(unpacked: list[int]) -> None:
    data = bombs.quoted(200, 1 << 20)
    archive, _ = decoded(data, "a.zip")
    check_archive(archive, Progress())
    assert sum(unpacked) <= BOUNDS.budget(len(data)) + 2 * (1 << 20)
    assert archive.verdict(0) is Verdict.VERIFIED
    assert archive.verdict(199) is Verdict.NOT_CHECKED
    assert "zip-overlap-not-checked" in {finding.code for finding in archive.findings}


def test_a_damaged_member_that_others_claim_is_damaged_for_all_of_them(unpacked: list[int]) -> None:
    data = bytearray(bombs.one_claim(50, 1 << 20))
    data[200] ^= 0xFF
    archive, _ = decoded(bytes(data), "a.zip")
    check_archive(archive, Progress())
    assert sum(unpacked) <= 1 << 20
    assert {archive.verdict(member) for member in range(50)} == {Verdict.MISMATCH}


def test_a_header_that_all_entries_claim_is_read_once() -> None:
    _, source = decoded(bombs.one_claim(5_000, 10), "a.zip")
    assert source.reads < 200


def test_headers_in_each_other_are_read_within_a_budget() -> None:
    data = bombs.nested_headers(1_000)
    archive, source = decoded(data, "a.zip")
    assert source.read_bytes < BOUNDS.shared_header_bytes + 10 * len(data)
    assert "zip-overlap-not-compared" in {finding.code for finding in archive.findings}


def test_members_that_claim_the_same_bytes_are_extracted_only_after_confirming(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = bombs.same_range(300, 1_000)
    archive, _ = decoded(data, "a.caf")
    assert archive.members.marks is not None
    assert all(marks & SHARED for marks in archive.members.marks)
    (tmp_path / "a.caf").write_bytes(data)
    assert main(["extract", str(tmp_path / "a.caf"), "--to", str(tmp_path / "out")]) == 1
    assert "only after confirming" in "".join(capsys.readouterr())
    assert not [each for each in tmp_path.glob("out/**/*") if each.is_file()]


def test_a_sparse_file_has_no_more_extents_in_memory_than_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.formats._tar.extension.MAX_EXTENTS", 1_000)
    held: list[int] = []
    pairs = extension._pairs

    def counted(numbers: Any) -> Any:
        held.append(len(numbers))
        return pairs(numbers)

    monkeypatch.setattr(extension, "_pairs", counted)
    archive, source = decoded(bombs.sparse_lines(2_000_000), "lines.tar")
    assert [finding.code for finding in archive.findings] == ["tar-sparse-map"]
    assert (held, source.read_bytes < 2 * source.size) == ([], True)

    overrides = extension.Overrides()
    for _ in range(3):
        overrides.apply(b"x", b"23 GNU.sparse.offset=0\n" * 4_000)
    assert len(overrides.extents) <= 2_001


MEASURE = """
import resource, sys
from inspector.operations.check.checking import check_location
from inspector.core.progress import Progress
def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    # Not ru_maxrss, which begins with that of the process that started this one.
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return int(peak.split()[1]), usage.ru_utime + usage.ru_stime
check_location(sys.argv[1], Progress())
memory, time = used()
report = check_location(sys.argv[2], Progress())
after, end = used()
print(after - memory, end - time)
"""

FULL: dict[str, Callable[[], bytes]] = {
    "pax.tar": lambda: bombs.pax_headers(100_000),
    "sparse-lines.tar": lambda: bombs.sparse_lines(100_000_000),
    "full.zip": lambda: bombs.one_claim(60_000, 1 << 20),
    "one-header.zip": lambda: bombs.one_claim(1_000_000, 10),
    "quoted.zip": lambda: bombs.quoted(2_000, 1 << 20),
    "nested.zip": lambda: bombs.nested_headers(100_000),
    "same.caf": lambda: bombs.same_range(1_000_000, 1_000),
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", FULL)
def test_a_bomb_of_full_size_stays_within_the_bounds(name: str, tmp_path: Path, sample: Callable[[str], Path]) -> None:
    bomb = tmp_path / name
    bomb.write_bytes(FULL[name]())
    size = bomb.stat().st_size
    command = [sys.executable, "-c", MEASURE, str(sample("journey.caf")), str(bomb)]
    grown, seconds = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    # The processor's time depends on what else the machine does: what is done is counted at small sizes.
    print(f"{name}: {seconds} s of {BOUNDS.seconds(size, 1 << 20):.1f} s, {int(grown) >> 10} MiB")
    assert int(grown) << 10 < BOUNDS.memory(size)
