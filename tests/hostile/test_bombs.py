"""Each bomb, small enough to count what is done with it; in the sweep at its full size, in bytes of memory."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.__main__ import main
from inspector.core.field import Field, locate
from inspector.core.kinds import Kind
from inspector.core.limits import BOUNDS, Bounds
from inspector.core.member import SHARED
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.span import Span
from inspector.core.verdict import Verdict
from inspector.formats._tar import extension
from inspector.formats._zip import check
from inspector.formats._zip.directory import DirectoryWalk
from inspector.formats.caf.locate import caf_end
from inspector.formats.caf.scan import Scanner
from inspector.operations.check.checking import check_archive
from inspector.operations.open import opening
from inspector.operations.open.expressions import Places
from inspector.operations.open.opening import Opened
from tests.hostile import bombs
from tests.hostile.bounds import OUTPUT_PER_BYTE, memory_for, output_of, seconds_for
from tests.operations.archives import opened as session


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


def test_a_directory_that_many_end_records_claim_is_not_walked_for_each() -> None:
    data = bombs.many_ends(2_000, 1_500)
    _, source = decoded(data, "ends.zip")
    assert source.read_bytes < 40 * len(data)


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


def test_records_that_say_nothing_are_not_looked_at_one_by_one() -> None:
    shortest = bombs.pax_records(1)
    size = int(shortest[124:135], 8)
    assert extension.notable_records(shortest[512 : 512 + size]) == ([], size)
    archive, _ = decoded(shortest, "a.tar")
    assert [member.path for member in archive.members] == [b"a"]
    assert archive.findings == []


RECORD_KEYS = st.sampled_from([b"a", b"gid", b"path", b"size", b"mtime", b"atime", b"GNU.sparse.map", b"pathx", b"a\0"])
RECORD_VALUES = st.sampled_from([b"", b"1", b"x", b"12\n3", b"1.5", b"\0", b"-1", b"9" * 30, b"a=b", b"v" * 50])


def record(key: bytes, value: bytes) -> bytes:
    rest = len(b" %b=%b\n" % (key, value))
    length = next(number for number in range(rest, rest + 9) if len(str(number)) + rest == number)
    return b"%d %b=%b\n" % (length, key, value)


@given(
    st.lists(st.builds(record, RECORD_KEYS, RECORD_VALUES), max_size=6), st.integers(0, 99), st.sampled_from(b" \n=0a")
)
def test_only_records_that_say_nothing_are_passed_over(records: list[bytes], place: int, other: int) -> None:
    whole = b"".join(records)
    for body in (whole, whole[:place] + bytes([other]) + whole[place + 1 :]):
        every = list(extension.pax_records(body))
        notable, stop = extension.notable_records(body)
        assert stop == (every[-1].stop if every else 0)
        assert [each for each in every if each in notable] == notable
        for each in set(every) - set(notable):
            assert not {each.key} & {b"path", b"size", b"mtime", b"GNU.sparse.map"}
            assert extension.pax_problems(extension.Extension(b"x", body[each.start : each.stop])) == []


@pytest.mark.parametrize("bsd", [True, False])
def test_names_together_are_not_longer_than_the_archive_that_has_them(bsd: bool) -> None:
    data = bombs.ar_names(2_000, bsd=bsd)
    archive, _ = decoded(data, "names.a")
    assert len(archive.members) > 1_900
    assert len(archive.members.paths) < 2 * len(data)
    assert "ar-long-name" in {finding.code for finding in archive.findings}


def test_a_name_for_all_members_is_used_only_if_it_is_no_longer_than_a_header() -> None:
    archive, _ = decoded(bombs.one_name(300, 100_000), "a.tar")
    assert {member.path for member in archive.members} == {b"a"}
    assert "not used" in next(each.message for each in archive.findings if each.code == "tar-pax-global")
    archive, _ = decoded(bombs.one_name(3, 500), "a.tar")
    assert {member.path for member in archive.members} == {b"n" * 500}


def test_what_a_byte_stands_in_is_found_without_looking_at_all_that_stands_before() -> None:
    archive, _ = decoded(bombs.pax_headers(100), "a.tar")
    places = Places(archive.fields)
    for offset in range(0, 100 * 1024, 389):
        names = [visible(field.label or field.name) for _, field in locate(archive.fields, offset)]
        assert places.most_text(Span(offset, offset + 1)) == " > ".join(names)
    looked_at: list[int] = []

    class Counted(tuple[Field, ...]):
        def __getitem__(self, row: Any) -> Any:
            looked_at.append(row)
            return super().__getitem__(row)

        def __iter__(self) -> Iterator[Field]:
            for row in range(len(self)):
                yield self[row]

    places = Places(Counted(Field(f"{row}", Kind.BYTES, (Span(row, row + 1),)) for row in range(1_000)))
    assert [places.most_text(Span(offset, offset + 1)) for offset in range(1_000)] == [f"{row}" for row in range(1_000)]
    assert len(looked_at) <= 3_000


def test_a_long_label_is_told_beside_each_string_in_part() -> None:
    name = b"abcd\1" * 13_000
    archive, _ = decoded(bombs.named(name), "a.zip")
    places = Places(archive.fields)
    offsets = range(30, 30 + len(name), 5)
    assert sum(len(places.most_text(Span(offset, offset + 1))) for offset in offsets) <= len(name) * OUTPUT_PER_BYTE
    assert places.most_text(Span(30, 31)).endswith("… > local header > file name")


@pytest.mark.parametrize(
    "name",
    [
        *("nested.zip", "one-claim.zip", "quoted.zip", "named.zip", "same.caf"),
        *("bsd-names.a", "gnu-names.a", "one-name.tar", "pax-records.tar", "pax.tar"),
    ],
)
def test_no_more_is_written_about_a_file_than_its_size_allows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Without what small files have besides, so that they go beyond it.
    monkeypatch.setattr(Bounds, "budget_of_headers", lambda _, size: size)
    path = tmp_path / name
    path.write_bytes(SMALL[name]())
    main(["dump", "--json", str(path)])
    assert 0 < len(capsys.readouterr().out) <= output_of(path.stat().st_size)


def test_headers_in_each_other_are_shown_while_the_budget_lasts() -> None:
    data = bombs.nested_headers(300)
    archive, _ = decoded(data, "a.zip")
    rows = archive.fields[0].children
    headers = [row.children[0] for row in rows]
    whole = [bool(header.children) for header in headers]
    shown = sum(whole)
    assert 1 < shown < 20
    assert whole == [True] * shown + [False] * (len(headers) - shown)
    assert "claim these bytes too" in headers[-1].note
    assert headers[-1].spans == rows[len(rows) - 1].spans
    # Whichever is asked for first.
    other, _ = decoded(data, "b.zip")
    assert not other.fields[0].children[len(rows) - 1].children[0].children
    assert other.fields[0].children[0].children[0].children


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


@pytest.mark.parametrize("bomb", [bombs.one_claim(25_000, 10), bombs.nested_headers(25_000)], ids=["one", "nested"])
def test_entries_whose_faults_are_only_counted_are_listed_in_bulk(bomb: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    real = DirectoryWalk.entry

    def entry(self: DirectoryWalk, at: int, *given: Any) -> None:
        looked_at.append(at)
        real(self, at, *given)

    monkeypatch.setattr(DirectoryWalk, "entry", entry)
    quick, _ = decoded(bomb, "a.zip")
    assert len(looked_at) <= 10_100
    monkeypatch.setattr("inspector.formats._zip.decode.MIN_BULK_BYTES", 1 << 62)
    slow, _ = decoded(bomb, "a.zip")
    assert len(looked_at) > 25_000
    assert list(quick.members) == list(slow.members)
    assert (quick.findings, quick.findings_dropped) == (slow.findings, slow.findings_dropped)
    check_archive(quick, Progress(), causes=False)
    check_archive(slow, Progress(), causes=False)
    assert (quick.verdicts, quick.findings) == (slow.verdicts, slow.findings)
    assert (quick.findings_dropped, quick.detail.computed) == (slow.findings_dropped, slow.detail.computed)


def test_headers_that_name_nothing_that_is_missing_are_not_read_for_strays() -> None:
    data = bombs.nested_headers(5_000)
    archive, source = decoded(data, "a.zip")
    before = source.read_bytes
    check_archive(archive, Progress())
    assert source.read_bytes - before < 20 * len(data)


def test_what_most_of_an_archive_claims_is_damaged_for_all_of_it() -> None:
    data = bytearray(bombs.one_claim(12_000, 1 << 16))
    data[40] ^= 0xFF
    archive, _ = decoded(bytes(data), "a.zip")
    check_archive(archive, Progress())
    assert {archive.verdict(member) for member in range(12_000)} == {Verdict.MISMATCH}


def test_headers_of_ar_that_lie_close_are_read_together() -> None:
    data = bombs.ar_names(20_000, bsd=True)
    _, source = decoded(data, "names.a")
    assert source.reads < 2_000


def test_an_index_that_the_footer_names_is_not_scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    source = BytesSource(bombs.same_range(5_000, 100), "a.caf")
    monkeypatch.delattr(Scanner, "value")
    assert caf_end(source, 0, Progress()) == source.size


def test_what_is_around_very_many_places_is_looked_at_once() -> None:
    data = bombs.same_range(20_000, 1_000)
    archive, source = decoded(data, "a.caf")
    before = source.read_bytes
    check_archive(archive, Progress())
    assert source.read_bytes - before < 20 * len(data)


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
    assert "not extracted without your consent" in "".join(capsys.readouterr())
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
        overrides.apply(extension.Extension(b"x", b"23 GNU.sparse.offset=0\n" * 4_000))
    assert len(overrides.extents) <= 2_001


SMALL: dict[str, Callable[[], bytes]] = {
    "nested.zip": lambda: bombs.nested_headers(300),
    "one-claim.zip": lambda: bombs.one_claim(300, 10),
    "quoted.zip": lambda: bombs.quoted(100, 1 << 10),
    "named.zip": lambda: bombs.named(b"abcd\1" * 13_000),
    "same.caf": lambda: bombs.same_range(300, 100),
    "bsd-names.a": lambda: bombs.ar_names(300, bsd=True),
    "gnu-names.a": lambda: bombs.ar_names(300, bsd=False),
    "one-name.tar": lambda: bombs.one_name(100, 1_000),
    "pax-records.tar": lambda: bombs.pax_records(1),
    "pax.tar": lambda: bombs.pax_headers(300),
}

MEASURE = """
import resource, sys
from inspector.operations.check.checking import check_location
from inspector.core.program.progress import Progress
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
    "pax-records.tar": lambda: bombs.pax_records(60),
    "one-name.tar": lambda: bombs.one_name(100_000, 1_000_000),
    "bsd-names.a": lambda: bombs.ar_names(500_000, bsd=True),
    "gnu-names.a": lambda: bombs.ar_names(500_000, bsd=False),
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
    print(f"{name}: {seconds} s of {seconds_for(size, 1 << 20):.1f} s, {int(grown) >> 10} MiB")
    assert int(grown) << 10 < memory_for(size)


def test_what_is_said_of_a_member_that_does_not_follow_names_none(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    header = sample("pax.tar").read_bytes()[:512]
    path = tmp_path / "a.tar"
    path.write_bytes(header + bytes(1604) + b"\x7f\xff\xff\xff")
    archive, _ = decoded(path.read_bytes(), "a.tar")

    check_archive(archive, Progress())
    assert [each.member for each in archive.findings if each.code == "tar-extension"] == [0]
    assert len(archive.members) == 0
    rows = session(path).findings(0, 10).rows
    assert [each.member for each in rows if each.code == "tar-extension"] == [None]
