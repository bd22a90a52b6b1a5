"""Indexes too large to be read one entry after the other, and how they fall back when they are not plain."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.archive import Archive, Emitter
from inspector.core.field import locate
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import BytesSource
from inspector.core.span import Span
from inspector.formats.caf import FORMAT, reading
from inspector.formats.caf.reading import Index, read_exactly, read_fast
from tests.formats.caf.building import build_archive, decode_archive

COUNT = 6_000
SIZE = 3


def entries(count: int = COUNT) -> dict[str, dict[str, int]]:
    return {f"folder/number {i:06d}.txt": {"start_byte": i * SIZE, "end_byte": (i + 1) * SIZE} for i in range(count)}


def index_of(files: object, **layout: object) -> bytes:
    return json.dumps({"format_version": "1.0", "files": files}, ensure_ascii=False, **layout).encode()  # type: ignore[arg-type]


def fast_index(data: bytes) -> Index | None:
    return read_fast(BytesSource(data), Span(0, len(data)), Progress())


def said(index: Index) -> tuple[object, ...]:
    columns = index.paths, index.path_stops, index.starts, index.stops, index.heads, index.marks
    return *columns, index.parts, index.span


@pytest.mark.parametrize("layout", [{}, {"indent": 2}, {"separators": (",", ":")}])
def test_the_fast_way_says_what_the_exact_way_says(layout: dict[str, object]) -> None:
    data = index_of(entries() | {"ünï/cödé": {"start_byte": 0, "end_byte": 0}}, **layout)
    assert len(data) > reading.SLICE_BYTES
    quick = fast_index(data)
    assert quick is not None
    assert said(quick) == said(read_exactly(data, 0, Progress()))


names = st.text(alphabet='ab/{}:,"\\é\u202e\ud800', max_size=6)
numbers = st.integers(-1, 2**65) | st.sampled_from([0, 1, 2])


@given(st.lists(st.tuples(names, numbers, numbers), max_size=12), st.integers(40, 200), st.booleans())
def test_the_fast_way_is_right_or_silent(files: list[tuple[str, int, int]], size: int, ascii_only: bool) -> None:
    written = ",".join(
        f'{json.dumps(name, ensure_ascii=ascii_only)}:{{"start_byte":{start},"end_byte":{stop}}}'
        for name, start, stop in files
    )
    data = ('{"format_version":"1.0","files":{' + written + "}}").encode("utf-8", "surrogatepass")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "SLICE_BYTES", size)
        quick = fast_index(data)
    if quick is not None:
        slow = read_exactly(data, 0, Progress())
        assert said(quick) == said(slow)
        assert not slow.problems


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"start_byte": 6,', '"start_byte": 6, "start_byte": 6,'),
        ('"end_byte": 9', '"end_byte": 9, "end_byte": 9'),
        ('"end_byte": 9', '"end_byte": 9,'),
        ('"end_byte": 9', '"end_byte": 9.0'),
        ('"start_byte": 6', '"start_byte": -6'),
        ('"start_byte": 0', '"start_byte": -0'),
        ('"start_byte": 6', '"start_byte": "6"'),
        ('"start_byte": 6', '"start_byte": 99999999999999999999999'),
        ('"start_byte": 6, ', ""),
        ("number 000002", "number 000001"),
        ("number 000002", "number 005000"),
        ("number 000002", 'number \\"'),
        ("number 000002", "\\ud800"),
        ('"1.0"', '"2.0"'),
        ("}}}", '}}, "more": 1}'),
        ("}}}", "}}}}"),
    ],
)
def test_what_is_not_plain_is_left_to_the_exact_way(old: str, new: str) -> None:
    data = index_of(entries()).decode()
    assert old in data
    assert fast_index(data.replace(old, new, 1).encode()) is None


def test_a_large_archive_decodes_without_findings() -> None:
    archive = decode_archive(build_archive(index_of(entries()), data=b"abc" * COUNT))
    assert len(archive.members) == COUNT
    assert archive.members[COUNT - 1].path == f"folder/number {COUNT - 1:06d}.txt".encode()
    assert archive.members[COUNT - 1].spans == ((SIZE * (COUNT - 1), SIZE * COUNT),)
    assert not archive.findings


def test_members_of_a_large_index_stand_in_the_order_of_their_data() -> None:
    files = dict(sorted(entries().items(), key=lambda item: item[0][::-1]))
    archive = decode_archive(build_archive(index_of(files), data=b"abc" * COUNT))
    assert [member.path.decode() for member in archive.members] == list(entries())
    entry = archive.fields[1].children[3].children[7]
    assert entry.member is not None
    assert archive.members[entry.member].path.decode() == entry.value == list(files)[7]
    assert not archive.findings


def test_a_duplicate_among_many_is_found() -> None:
    index = index_of(entries()).replace(b"number 005000", b"number 000002")
    archive = decode_archive(build_archive(index, data=b"abc" * COUNT))
    assert len(archive.members) == COUNT
    assert [(finding.code, finding.member) for finding in archive.findings] == [("caf-duplicate-name", 5000)]


def test_hazardous_names_among_many_are_found() -> None:
    hazardous = [
        "",
        "..",
        "/a",
        "a//b",
        "a/./b",
        "C:x",
        "a\\b",
        "a\x7f",
        "a\u202eb",
        "a\u200bb",
        "a\u2028b",
        "x" * 70_000,
    ]
    hazardous += ["a\xadb", "a\x85b", "a\u061cb", "a\ufeffb", "../" * 3 + "x", "d/" * 200 + "x", "end/.."]
    plain = ["é", "報告", "a/.git/x", "..a", ".x", "a:b/cc", "ends/", "\u2100", "…"]
    files = entries()
    for step, name in enumerate([*hazardous, *plain[1:4], *plain[6:]]):
        at = (step + 1) * 300
        files = {name if i == at else old: value for i, (old, value) in enumerate(files.items())}
    archive = decode_archive(build_archive(index_of(files), data=b"abc" * COUNT))
    found = {
        archive.members.path(finding.member).decode() for finding in archive.findings if finding.member is not None
    }
    assert found == set(hazardous)


def test_members_stand_in_the_order_of_their_data_whatever_they_lack() -> None:
    files = {
        "b": {"start_byte": 6, "end_byte": 9},
        "../a": {"start_byte": 0, "end_byte": 3},
        "late": {"start_byte": 9, "end_byte": 90},
        "back": {"start_byte": 6, "end_byte": 3},
        "none": {"start_byte": 3},
    }
    archive = decode_archive(build_archive(index_of(files), data=b"abcdefghi"))
    assert [member.path for member in archive.members] == [b"../a", b"none", b"back", b"b", b"late"]
    assert [member.readable for member in archive.members] == [True, False, True, True, True]
    assert sorted((finding.code, finding.member or 0) for finding in archive.findings) == [
        ("caf-entry-missing-key", 1),
        ("caf-entry-out-of-range", 4),
        ("caf-entry-reversed", 2),
        ("caf-gap", 0),
        ("caf-name-hazard", 0),
    ]


def test_the_number_of_members_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_MEMBERS", 100)
    monkeypatch.setattr(reading, "_ENTRIES_PER_STEP", 50)
    archive = decode_archive(build_archive(index_of(entries()), data=b"abc" * COUNT))
    assert len(archive.members) == 100
    assert any("Only the first 100" in finding.message for finding in archive.findings)


def test_reading_can_be_cancelled() -> None:
    data = index_of(entries(20_000))
    for read in (lambda progress: read_fast(BytesSource(data), Span(0, len(data)), progress),
                 lambda progress: read_exactly(data, 0, progress)):  # fmt: skip
        progress = Progress()
        progress.cancel()
        with pytest.raises(Cancelled):
            read(progress)


def test_the_number_of_findings_of_one_kind_is_bounded() -> None:
    files = {f"/{i}": {"start_byte": 2 * i, "end_byte": 2 * i + 1} for i in range(1_500)}
    files |= {f"late {i}": {"start_byte": 5_000, "end_byte": 5_001} for i in range(1_200)}
    archive = decode_archive(build_archive(index_of(files), data=bytes(3_001)))
    for code, rest in (("caf-name-hazard", 500), ("caf-gap", 500), ("caf-entry-out-of-range", 200)):
        messages = [finding.message for finding in archive.findings if finding.code == code]
        assert len(messages) == 1_001
        assert f"{rest} more" in messages[-1]


class Hollow(BytesSource):
    """Very many zero bytes and then an archive's index and footer."""

    def __init__(self, zeros: int, tail: bytes) -> None:
        super().__init__(tail)
        self.zeros = zeros
        self.size += zeros

    def read(self, offset: int, length: int) -> bytes:
        return super().read(offset - self.zeros, length) if offset >= self.zeros else bytes(min(length, 4_096))


@pytest.mark.parametrize(("gibibytes", "codes"), [(30, []), (31, ["caf-above-target"]), (64, ["caf-too-large"])])
def test_only_an_archive_larger_than_allowed_is_warned_about(gibibytes: int, codes: list[str]) -> None:
    size = gibibytes << 30
    source = Hollow(size, build_archive(index_of({"a": {"start_byte": 0, "end_byte": size}}), data=b""))
    archive = Archive(source, FORMAT.name, FORMAT.title, ())
    FORMAT.decode(source, Emitter(archive), Progress())
    assert [finding.code for finding in archive.findings] == codes
    assert locate(archive.fields, size - 1)[-1][1].member == 0
