"""Ranges that are far away: what stands beside the tar is read, and headers when somebody looks."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.archive import Archive
from inspector.core.member import UNREAD, Member
from inspector.core.source import BytesSource, Source
from inspector.core.span import Span
from inspector.formats import datas3t, recognise
from tests.formats.datas3t.range_building import hashed_rows, points, rows_frame
from tests.formats.tar.tar_building import LONG, build, content, decoded

NAME = f"{1:020d}-{9:020d}.tar"
Rows = list[dict[str, str]]


class Far(BytesSource):
    """A source that counts what is read of it; beside it stand the sources of ``beside``, by their suffix."""

    def __init__(self, data: bytes, beside: Mapping[str, bytes], *, sparing: bool = True) -> None:
        super().__init__(data, NAME)
        self.sparing = sparing
        self.reads: list[tuple[int, int]] = []
        self.gathered: list[list[Span]] = []
        self._beside = beside

    def read(self, offset: int, length: int) -> bytes:
        self.reads.append((offset, length))
        return super().read(offset, length)

    def gather(self, spans: Sequence[Span]) -> Iterator[bytes]:
        self.gathered.append(list(spans))
        return (BytesSource.read(self, span.start, span.size) for span in spans)

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:  # noqa: ARG002 - all are called alike
        found = self._beside.get(suffix)
        return None if found is None else BytesSource(found, f"{NAME}{suffix}")


def described(data: bytes) -> dict[str, bytes]:
    return {".metadata": rows_frame(hashed_rows(data))}


def indexed(data: bytes) -> dict[str, bytes]:
    rows = [
        int(row["begin_offset"]).to_bytes(8, "big")
        + (1).to_bytes(2, "big")
        + tarfile.TarInfo.frombuf(
            data[int(row["begin_offset"]) : int(row["begin_offset"]) + 512], "utf-8", "strict"
        ).size.to_bytes(6, "big")
        for row in hashed_rows(data)
    ]
    return {".index": b"".join(rows)}


def far(data: bytes, beside: Mapping[str, bytes] | None = None) -> Archive:
    return decoded(Far(data, described(data) if beside is None else beside), datas3t.FORMAT)


def near(data: bytes, beside: Mapping[str, bytes] | None = None) -> Archive:
    return decoded(Far(data, described(data) if beside is None else beside, sparing=False), datas3t.FORMAT)


def codes(archive: Archive) -> list[str]:
    return [finding.code for finding in archive.findings]


def source(archive: Archive) -> Far:
    assert isinstance(archive.source, Far)
    return archive.source


DATA = build(points(1, 9).items())


@pytest.mark.parametrize("beside", [described, indexed])
def test_opening_does_not_read_the_tar(beside: Callable[[bytes], dict[str, bytes]]) -> None:
    there = Far(DATA, beside(DATA))
    assert recognise(there) is datas3t.FORMAT
    archive = far(DATA, beside(DATA))
    assert there.reads == source(archive).reads == []
    assert codes(archive) == ["datas3t-headers-not-read"]
    assert len(archive.members) == 9
    assert archive.members.path(3) == b"%020d" % 4


def test_a_shown_member_has_the_values_of_its_header() -> None:
    archive, whole = far(DATA), near(DATA)
    assert archive.members[4] == whole.members[4]
    assert source(archive).gathered == [[Span(whole.members[4].head, whole.members[4].head + 512)]]
    assert archive.members.seen(5).marks & UNREAD
    assert content(archive, 7, datas3t.FORMAT) == content(whole, 7, datas3t.FORMAT)


def test_resolved_members_are_not_read_again() -> None:
    archive = far(DATA)
    archive.members.learn((1, 2))
    archive.members.learn((2, 3))
    assert [len(spans) for spans in source(archive).gathered] == [2, 1]


def test_all_members_are_read_together() -> None:
    archive = far(DATA)
    assert list(archive.members) == list(near(DATA).members)
    assert len(source(archive).gathered) == 1


@given(st.lists(st.integers(0, 2_000), min_size=1, max_size=12), st.sampled_from((described, indexed)))
def test_sparing_and_full_reads_agree(sizes: list[int], beside: Callable[[bytes], dict[str, bytes]]) -> None:
    data = build([(f"{key:020d}.bin", bytes([key]) * size) for key, size in enumerate(sizes, 1)])
    archive, whole = far(data, beside(data)), near(data, beside(data))
    assert list(archive.members) == list(whole.members)
    assert not archive.members.misled


def test_extended_headers_are_read_whole() -> None:
    data = build(
        [(f"{1:020d}.{LONG.replace('/', '-')}", b"one"), (f"{2:020d}.txt", b"two"), (f"{3:020d}.txt", b"")],
        tarfile.PAX_FORMAT,
    )
    rows = hashed_rows(data)
    assert list(far(data).members) == list(near(data).members)
    assert far(data, {".metadata": rows_frame(rows)}).members[0].path.endswith(b"name.txt")


def edited(at: int, **fields: str) -> Rows:
    rows: Rows = hashed_rows(DATA)
    rows[at] |= fields
    return rows


UNUSABLE = {
    "a gap": edited(3, begin_offset="999424"),
    "beyond the end": edited(8, end_offset=str(1 << 40)),
    "a key twice": edited(3, id="3"),
    "unreadable": edited(3, begin_offset="here"),
    "nothing": [],
    "not from the beginning": hashed_rows(DATA)[1:],
}


@pytest.mark.parametrize("rows", UNUSABLE.values(), ids=UNUSABLE)
def test_a_gap_in_the_metadata_causes_headers_to_be_read(rows: Rows) -> None:
    beside = {".metadata": rows_frame(rows)}
    archive = far(DATA, beside)
    assert list(archive.members) == list(near(DATA, beside).members)
    assert "datas3t-headers-walked" in codes(archive)
    assert not source(archive).gathered


def test_without_metadata_reading_headers_is_reported() -> None:
    archive = far(DATA, {})
    assert codes(archive) == ["datas3t-metadata-missing", "datas3t-headers-walked"]
    assert archive.members[8].path == f"{9:020d}.json".encode()


def misleading() -> Iterator[tuple[str, bytes, bytes]]:
    """What a range may hold that its metadata, though without a gap, does not say."""
    rows = hashed_rows(DATA)
    metadata = rows_frame(rows)
    at = int(rows[3]["begin_offset"])
    yield "no header", DATA[:at] + bytes(512) + DATA[at + 512 :], metadata
    yield "another key", DATA, rows_frame([*rows[:3], rows[3] | {"id": "77"}, *rows[4:]])
    yield "a link", build([(f"{1:020d}.txt", b""), (link(2), b""), (f"{3:020d}.txt", b"")]), rows_frame(of_links())
    shifted = [rows[3] | {"end_offset": rows[4]["end_offset"]}, *rows[5:]]
    yield "two in the place of one", DATA, rows_frame([*rows[:3], *shifted])


def link(key: int) -> tarfile.TarInfo:
    made = tarfile.TarInfo(f"{key:020d}.txt")
    made.type, made.linkname = tarfile.SYMTYPE, "elsewhere"
    return made


def of_links() -> Rows:
    return [
        {"id": str(key), "begin_offset": str(512 * (key - 1)), "end_offset": str(512 * key), "data_hash": "1"}
        for key in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    ("data", "metadata"), [case[1:] for case in misleading()], ids=[case[0] for case in misleading()]
)
def test_misplaced_headers_are_noticed(data: bytes, metadata: bytes) -> None:
    archive = far(data, {".metadata": metadata})
    assert not archive.members.misled
    seen: list[Member] = list(archive.members)
    assert archive.members.misled
    whole = list(near(data, {".metadata": metadata}).members)
    first = next(at for at, member in enumerate(seen) if member.marks & UNREAD)
    assert seen[:first] == whole[:first]
