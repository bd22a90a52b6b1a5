from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
import zstandard

from inspector.core.archive import Archive, Emitter
from inspector.core.edit import Edit, OverlaySource, Patch
from inspector.core.field import Field
from inspector.core.format import ProbeResult
from inspector.core.kinds import Kind
from inspector.core.member import Codec
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import BytesSource, Source
from inspector.core.span import Span
from inspector.formats.rca import BLOB_BLOCK, CHUNK_HEADER, FORMAT, RESET_BLOCK
from inspector.formats.rca.blocks import varint
from inspector.formats.rca.chunks import reach
from inspector.sources.local.file import FileSource
from tests.formats.archives import opened
from tests.formats.rca import build
from tests.formats.rca.build import hashed
from tests.formats.rca.decoding import codes, content, decoded, fields, listing

THREE = [(b"foo", b"first " * 30), (b"bar", b"second " * 200), (b"deep/baz", b"first " * 31)]


def noise(size: int) -> bytes:
    return Random(7).randbytes(size)


def test_members_share_a_frame_and_are_read_in_any_order() -> None:
    archive = decoded(build.archive(THREE))
    assert listing(archive) == [(name, len(data)) for name, data in THREE]
    for index in (2, 0, 1, 2, 1):
        assert content(archive, index) == THREE[index][1]
    assert not archive.findings


def test_a_member_says_where_its_payload_lies() -> None:
    data = build.archive(THREE)
    member = decoded(data).members[0]
    size, start = varint(data, 10)
    assert member.head == 10
    assert member.spans == (Span(start, start + size // 2),)
    assert (member.stored, member.codec, member.digest) == (size // 2, Codec.ZSTD, None)


def test_a_reader_that_stops_halfway_does_not_disturb_the_next() -> None:
    archive = decoded(build.archive([(b"large", noise(3_000_000)), (b"small", b"!")]))
    reader = FORMAT.read(archive, 0, Progress())
    assert next(reader) == noise(3_000_000)[: len(next(FORMAT.read(archive, 0, Progress())))]
    assert content(archive, 1) == b"!"
    assert content(archive, 0) == noise(3_000_000)
    reader.close()


@pytest.mark.parametrize("convention", [build.SPEC, build.RCARCH])
@pytest.mark.parametrize("extra", [b"", b"ignored"])
def test_both_hash_conventions_are_sound(convention: str, extra: bytes) -> None:
    data = build.archive(THREE[:1], THREE[1:2], THREE[2:], convention=convention, extra=extra)
    archive = decoded(data)
    assert listing(archive) == [(name, len(content)) for name, content in THREE]
    assert content(archive, 2) == THREE[2][1]
    assert not codes(archive)
    assert [finding.code for finding in archive.findings] == ["rca-hash-convention"]


def test_a_segment_hashed_the_other_way_is_worth_a_warning() -> None:
    stream, hashed = build.inner([build.segment(THREE[:1]), build.segment(THREE[1:2])], build.SPEC)
    reset = build.control_block(0, hashed)
    last = build.segment(THREE[2:])
    archive = decoded(build.chunked(stream + reset + last, build.digest(reset + last)))
    assert codes(archive) == {"rca-hash-conventions"}


def test_a_reset_block_opens_its_segment() -> None:
    data = build.archive(THREE[:2], THREE[2:], extra=b"more")
    archive = decoded(data)
    first, second = fields(archive.fields, "segment")
    assert [block.kind for block in first.children] == [BLOB_BLOCK, BLOB_BLOCK]
    assert [block.kind for block in second.children] == [RESET_BLOCK, BLOB_BLOCK]
    (reset,) = fields(archive.fields, "reset block")
    assert [(part.name, part.kind, part.spans[0].size) for part in reset.children] == [
        ("varint", Kind.LENGTH, 2),
        ("hash", Kind.DIGEST, 8),
        ("additional payload", Kind.BYTES, 4),
    ]
    assert reset.spans[0].stop - reset.spans[0].start == 14
    assert reset.children[1].value == build.digest(build.segment(THREE[:2])).hex()
    assert "segment 1" in reset.note


def test_a_blob_block_shows_its_varint_and_its_member() -> None:
    archive = decoded(build.archive(THREE))
    block = list(fields(archive.fields, "blob block"))[2]
    size, payload = block.children
    assert (block.value, block.member) == ("deep/baz", 2)
    assert size.value == payload.spans[0].size << 1
    assert size.note == f"blob, {payload.spans[0].size} bytes of payload"
    assert payload.spans == archive.members[2].spans


def test_unknown_control_blocks_are_skipped_and_explained() -> None:
    compress = build.Compressor()
    first, second = build.blob(b"a", b"one", compress), build.blob(b"b", b"two", compress)
    archive = decoded(hashed(first, build.control_block(5, b"future"), build.control_block(3, b""), second))
    assert listing(archive) == [(b"a", 3), (b"b", 3)]
    assert content(archive, 1) == b"two"
    assert not archive.findings
    future, nothing = fields(archive.fields, "control block")
    assert (future.value, nothing.value) == (5, 3)
    assert future.children[1].spans[0].size == 6
    assert "type 5" in future.note


def test_a_block_over_a_chunk_boundary_has_two_spans() -> None:
    names = [b"%03d" % index for index in range(9)]
    compress = build.Compressor()
    stream = b"".join(build.blob(name, Random(int(name)).randbytes(7000), compress) for name in names)
    data = build.chunked(stream, build.digest(stream))
    archive = decoded(data)
    assert not archive.findings
    headers = list(fields(archive.fields, "chunk header"))
    assert [header.spans for header in headers] == [(Span(0, 10),), (Span(32768, 32780),)]
    assert [part.shown for part in headers[0].children] == ["0x8000", "ee" * 8]
    assert headers[0].children[0].note == "32,768 bytes, full: another chunk follows"
    (split,) = [block for block in fields(archive.fields, "blob block") if len(block.spans) == 2]
    assert (split.spans[0].stop, split.spans[1].start) == (32768, 32780)
    assert len(archive.members[split.member or 0].spans) == 2
    assert content(archive, 8) == Random(8).randbytes(7000)
    assert archive.inner is not None
    assert archive.inner.read(0, len(stream) + 1) == stream


def test_names_that_are_odd_are_listed_and_said() -> None:
    names = [b"", "naïve/名前".encode(), b"\xff\xfe", b"../out", b"line\nend", b"n" * 70_000]
    archive = decoded(build.archive([(name, b"x" * index) for index, name in enumerate(names)]))
    assert listing(archive) == [(name[:65_535], index) for index, name in enumerate(names)]
    assert content(archive, 5) == b"x" * 5
    found = {(finding.code, finding.member) for finding in archive.findings}
    assert found == {
        ("rca-name-empty", 0),
        ("rca-name-not-utf-8", 2),
        ("rca-name-hazard", 3),
        ("rca-name-hazard", 4),
        ("rca-name-too-long", 5),
    }


def test_blobs_in_frames_of_their_own_are_read_with_a_warning() -> None:
    archive = decoded(hashed(*(build.blob_block(zstandard.compress(name + b"\0" + data)) for name, data in THREE)))
    assert [content(archive, index) for index in range(3)] == [data for _, data in THREE]
    assert codes(archive) == {"rca-zstd-frames"}


class Watching(Progress):
    """Notes how many members there are, and whether there are fields, each time work goes on."""

    def __init__(self, archive: Archive) -> None:
        super().__init__()
        self.seen: list[tuple[str, int, bool]] = []
        self._archive = archive

    def advance(self, count: int) -> None:
        super().advance(count)
        self.seen.append((self.label, len(self._archive.members), bool(self._archive.fields)))


def test_fields_come_before_members_and_members_one_after_another() -> None:
    source = BytesSource(build.archive([(b"%d" % index, noise(100)) for index in range(1000)]))
    archive = Archive(source, "rca", "RCA", ())
    progress = Watching(archive)
    FORMAT.decode(source, Emitter(archive), progress)
    while_decoding = [seen for seen in progress.seen if seen[0] == "Decoding names"]
    assert all(fields for _, _, fields in while_decoding)
    assert len({members for _, members, _ in while_decoding}) > 5
    assert progress.done == progress.total
    assert listing(archive) == [(b"%d" % index, 100) for index in range(1000)]


def test_cancelling_leaves_what_was_decoded() -> None:
    source = BytesSource(build.archive([(b"%d" % index, noise(100)) for index in range(1000)]))
    archive = Archive(source, "rca", "RCA", ())

    class Stopping(Watching):
        def advance(self, count: int) -> None:
            if len(self._archive.members) > 200:
                self.cancel()
            super().advance(count)

    with pytest.raises(Cancelled):
        FORMAT.decode(source, Emitter(archive), Stopping(archive))
    assert 200 < len(archive.members) < 1000
    assert content(archive, 100) == noise(100)


class Counting:
    """A file that counts what is read of it."""

    def __init__(self, path: Path) -> None:
        self._file = FileSource(path)
        self.name, self.size, self.read_bytes = str(path), self._file.size, 0

    def read(self, offset: int, length: int) -> bytes:
        data = self._file.read(offset, length)
        self.read_bytes += len(data)
        return data

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:  # noqa: ARG002
        return None


def test_the_walk_skips_large_payloads_and_the_third_chunk_has_a_wide_header(tmp_path: Path) -> None:
    """A sparse file of 3 GiB: chunks of 0x8000, 0x80000000 and the rest, of which few bytes are ever read."""
    path = tmp_path / "huge.rca"
    size, second = 3 << 30, 0x8000 + 0x80000000
    with path.open("wb") as file:
        file.write(b"\x80\x00" + bytes(8) + build.varint((size - 100_000) << 1) + b"no zstd")
        file.seek(0x8000)
        file.write((0x80000000).to_bytes(4, "big") + bytes(8))
        file.seek(second)
        file.write((size - second).to_bytes(8, "big") + bytes(8))
        file.truncate(size)
    source = Counting(path)
    archive = Archive(source, "rca", "RCA", ())
    FORMAT.decode(source, Emitter(archive), Progress())
    headers = [field for field in fields_below(archive.fields, 2) if field.kind is CHUNK_HEADER]
    assert [header.spans for header in headers] == [
        (Span(0, 10),),
        (Span(0x8000, 0x8000 + 12),),
        (Span(second, second + 16),),
    ]
    assert "rca-zstd" in codes(archive)
    assert source.read_bytes < 4 << 20


def fields_below(parents: object, depth: int) -> list[Field]:
    found: list[Field] = []
    for field in parents if depth else ():  # type: ignore[attr-defined]
        found += [field, *fields_below(field.children, depth - 1)]
    return found


@pytest.mark.parametrize(
    ("data", "likeness"),
    [
        (build.archive(THREE), ProbeResult.CERTAIN),
        (build.archive(THREE) + b"garbage", ProbeResult.CERTAIN),
        (build.archive([(b"large", noise(50_000))]), ProbeResult.CERTAIN),
        (build.chunked(b"", build.digest(b"")), ProbeResult.CERTAIN),
        (
            build.chunked(build.control_block(0, build.digest(b"")) + build.segment(THREE), bytes(8)),
            ProbeResult.CERTAIN,
        ),
        (build.archive(THREE)[:-1], ProbeResult.POSSIBLE),
        (b"\0\5" + build.archive(THREE)[2:], ProbeResult.POSSIBLE),
        (b"\0\0" + build.archive(THREE)[2:], ProbeResult.POSSIBLE),
        (b"", ProbeResult.NO),
        (b"\0\x7d", ProbeResult.NO),
        (b"\0\x20" + bytes(100), ProbeResult.NO),
        (b"Some text that is long enough.\n" * 2000, ProbeResult.NO),
    ],
)
def test_probe(data: bytes, likeness: ProbeResult) -> None:
    assert FORMAT.probe(BytesSource(data)) is likeness


def test_the_inner_stream_of_a_changed_archive_has_the_change() -> None:
    data = build.archive(THREE)
    at = decoded(data).members[0].spans[0].start
    flip = Edit("", (Patch(at, data[at : at + 1], bytes((data[at] ^ 1,))),), len(data), len(data))
    before, after = decoded(data), opened(OverlaySource(BytesSource(data, "a.rca"), flip))
    assert before.inner is not None
    assert after.inner is not None
    old, new = before.inner.read(0, 1 << 20), after.inner.read(0, 1 << 20)
    assert [a ^ b for a, b in zip(old, new, strict=True) if a != b] == [1]


def test_an_archive_that_goes_on_ends_before_a_header_with_nothing_after_it() -> None:
    ends = {size: reach(BytesSource(bytes(size)), (0, 16)) for size in (32_780, 32_781, 65_546, 98_316)}
    assert ends == {32_780: 32_768, 32_781: 32_781, 65_546: 65_546, 98_316: 98_316}
