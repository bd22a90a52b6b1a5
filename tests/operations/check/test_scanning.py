"""Scanning: every archive and fragment in any bytes, with its place and what proves it, in linear time."""

from __future__ import annotations

import io
import random
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import BytesSource
from inspector.formats._causes import joined
from inspector.operations.check.scanning import MAX_SCANNED_BYTES, Hit, Scan
from tests.counting import Counted, Work, work

Sample = Callable[[str], Path]

KINDS = {
    "journey.caf": ("caf", "structure"),
    "two-chunks.rca": ("rca", "hash"),
    "two-resets-spec.rca": ("rca", "hash"),
    "two-entries.tacozip": ("taco", "CRC-32"),
    "plain.zip": ("zip", "CRC-32"),
    "plain.tar": ("tar", "structure"),
    "library.a": ("ar", "structure"),
}


def noise(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


def hits(data: bytes) -> list[Hit]:
    return list(Scan("x.bin", place=BytesSource(data, "x.bin")).hits(Progress()))


def places(data: bytes) -> list[tuple[str, int, int, str]]:
    return [(each.format, *each.span, str(each.state)) for each in hits(data)]


@pytest.mark.parametrize("name", KINDS)
def test_each_format_is_found_between_other_bytes(sample: Sample, name: str) -> None:
    data = sample(name).read_bytes()
    for before, behind in ((70_001, 50_003), (0, 9_000), (12, 0)):
        (hit,) = hits(noise(before) + data + noise(behind, 2))
        assert (hit.format, hit.proved_by) == KINDS[name], before
        assert hit.path == f"x.bin!/@{before}-{hit.span.stop}"
        assert hit.members > 0
        if name == "library.a":  # nothing in it says where its last member ends but that member's header
            assert (hit.span.start, str(hit.state)) == (before, "warning" if behind else "sound")
            assert hit.fine == hit.members - bool(behind)
            continue
        assert (hit.span, str(hit.state), hit.fine) == ((before, before + len(data)), "sound", hit.members)


def test_several_in_one_file_are_all_named(sample: Sample) -> None:
    zipped, tarred, caf, rca = (
        sample(name).read_bytes() for name in ("plain.zip", "plain.tar", "journey.caf", "two-chunks.rca")
    )
    for parts in (
        (("zip", zipped), ("tar", tarred)),
        (("", noise(5_000)), ("rca", rca), ("caf", caf)),
        (("caf", caf), ("", noise(999)), ("caf", caf), ("zip", zipped)),
        (("tar", tarred), ("", noise(77)), ("tar", tarred)),
        (("zip", zipped), ("zip", zipped), ("rca", rca), ("rca", rca)),
    ):
        expected, at = [], 0
        for kind, data in parts:
            if kind:
                expected.append((kind, at, at + len(data), "sound"))
            at += len(data)
        assert places(b"".join(data for _, data in parts)) == expected


def test_what_is_inside_another_is_told_as_that(sample: Sample) -> None:
    inner, out = sample("plain.tar").read_bytes(), io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("inner.tar", inner)
        archive.writestr("note.txt", "a note")
    outer, found = hits(noise(100) + out.getvalue() + noise(100, 2))
    assert (outer.format, outer.inside) == ("zip", "")
    assert (found.format, found.inside, found.span.size) == ("tar", outer.path, len(inner))
    assert found.text.endswith(f"  inside {outer.path}")


@pytest.mark.parametrize("name", ["two-entries.tacozip", "plain.zip", "gnu.tar", "library.a", "two-resets-spec.rca"])
def test_one_that_is_cut_off_is_named_with_what_is_left(sample: Sample, name: str) -> None:
    data = sample(name).read_bytes()
    cut = data.rstrip(b"\0")[: len(data.rstrip(b"\0")) * 2 // 3]
    first = hits(noise(3_000) + cut + noise(40_000, 2))[0]
    assert first.span.start == 3_000
    assert str(first.state) in ("damaged", "warning")
    assert first.fine < hits(data)[0].members or first.proved_by == "CRC-32"
    whole = sample("journey.caf").read_bytes()
    found = hits(cut + whole)
    assert found[0].span.start == 0
    assert (found[-1].format, str(found[-1].state), found[-1].span.size) == ("caf", "sound", len(whole))


def test_changed_content_is_found_as_damaged(sample: Sample) -> None:
    data = bytearray(sample("two-resets-spec.rca").read_bytes())
    data[300] ^= 8
    (hit,) = hits(noise(500) + bytes(data) + noise(500, 2))
    assert (hit.format, str(hit.state), hit.proved_by) == ("rca", "damaged", "hash")
    assert 0 < hit.fine < 6
    assert hit.span.start == 500


def test_nothing_is_found_where_nothing_is() -> None:
    assert hits(b"") == hits(noise(300_000)) == hits(b'PK\x03\x04 and ustar and {"files": are words\n' * 9) == []


def searched(data: bytes) -> Work:
    source = Counted(data, "x.bin")
    return work(lambda: list(Scan("x.bin", place=source).hits(Progress())), source)


def test_zeros_are_passed_quickly() -> None:
    zeros = bytes(64 << 20)
    assert hits(zeros) == []
    passed = searched(zeros)
    assert passed.bytes < 1.1 * len(zeros)
    assert passed.reads < 100
    assert passed.calls < 2_000


@pytest.mark.parametrize(
    "repeated",
    [
        *(b"PK\3\4", b"PK\5\6", b"PK\5\6" + bytes(18), b"ustar", b"!<arch>\n", b"\x28\xb5\x2f\xfd"),
        *(b'{"files":', b'{"files":{"a":{"start_byte":0,"end_byte":1}}}', b"PK\3\4!<arch>\n"),
        b"\x00\x40" + bytes(8) + b"\x91\x01\x28\xb5\x2f\xfd",
    ],
    ids=repr,
)
def test_repeated_signatures_take_linear_time(repeated: bytes) -> None:
    small, large = (searched(repeated * (size // len(repeated))) for size in (50_000, 200_000))
    assert large.is_linear(small, 4), (small, large)
    assert large.bytes < 60 * 200_000
    assert large.calls < 10 * 200_000


def test_a_tar_of_headers_only_is_walked_once() -> None:
    header = tarfile.TarInfo("a").tobuf(tarfile.USTAR_FORMAT)
    (hit,) = hits(header * 4_000 + noise(2_000))
    assert (hit.members, hit.fine) == (4_000, 4_000)
    small, large = (searched(header * number + noise(2_000)) for number in (300, 1_200))
    assert large.is_linear(small, 4), (small, large)


def test_archives_that_overlap_are_read_so_often_only() -> None:
    data = bytearray(400_000)
    for _ in range(150):
        index = b'{"files":{"a":{"start_byte":0,"end_byte":%d}},"format_version":"1.0"}' % len(data)
        data += index + len(index).to_bytes(4, "little")
    scan = Scan("x.bin", place=BytesSource(bytes(data), "x.bin"))
    found = list(scan.hits(Progress()))
    assert 10 < len(found) < 60
    assert all(each.format == "caf" and not each.span.start for each in found)
    assert scan.limit.endswith("was not checked.")


def test_the_bound_of_the_search_is_told(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_SCANNED_BYTES == 1 << 40
    monkeypatch.setattr(joined, "MAX_FOUND", 2)
    data = sample("plain.zip").read_bytes()
    scan = Scan("x.bin", place=BytesSource(data + noise(100) + data, "x.bin"))
    assert len(data) == next(scan.hits(Progress())).span.stop
    assert scan.limit.startswith("The search ended after ")
    assert f" of {2 * len(data) + 100:,} bytes." in scan.limit
    assert scan.limit.endswith("too much to look at for the rest.")


def test_a_scan_is_cancelled(sample: Sample) -> None:
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        list(Scan("x", place=BytesSource(sample("plain.zip").read_bytes())).hits(progress))
