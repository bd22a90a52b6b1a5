"""What compressed data consists of stands below it in the tree, and is read only for who looks there."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.field import Field, census, locate, runs
from inspector.core.kinds import Kind, Role
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource, Stored
from inspector.core.span import Span, intersect, total
from inspector.core.verdict import Verdict
from inspector.formats import _zstd_fields
from inspector.formats._zstd_fields import inside_zstd
from inspector.operations.open.listing import load
from inspector.operations.open.opening import Opened, decode, start
from inspector.operations.open.overview import overview
from inspector.operations.session.layers import StreamMapping
from tests.formats.archives import leaves
from tests.formats.zip.test_compression import by_hand
from tests.operations.archives import opened

NOISE = Random(17).randbytes(300_000)
FRAMES = zstandard.compress(NOISE) + zstandard.ZstdCompressor(write_checksum=True).compress(b"again " * 50_000)


class Recording(BytesSource):
    """Bytes that note which of them are read; ``sparing`` as a source that is far away."""

    def __init__(self, data: bytes, name: str, *, sparing: bool = False) -> None:
        super().__init__(data, name)
        self.sparing = sparing
        self.reads: list[Span] = []

    def read(self, offset: int, length: int) -> bytes:
        self.reads.append(Span(offset, offset + length))
        return super().read(offset, length)


def decoded(source: Recording) -> Opened:
    archive = start(source)
    decode(archive, Progress())
    source.reads.clear()
    return archive


def zipped(*, sparing: bool = False) -> Recording:
    return Recording(by_hand(93, FRAMES, NOISE + b"again " * 50_000), "zstd.zip", sparing=sparing)


def payloads(fields: Sequence[Field]) -> Iterator[Field]:
    """The fields that hold compressed data."""
    for field in fields:
        if field.inside:
            yield field
        yield from payloads(field.children)


def blocks(fields: Sequence[Field]) -> list[Field]:
    return [field for field in fields if field.name == "block"]


@pytest.mark.parametrize("name", ["two-chunks.rca", "zstd.zip"])
def test_the_blocks_are_those_that_their_headers_name(name: str, sample: Callable[[str], Path], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(zipped().read(0, 1 << 30) if name == "zstd.zip" else sample(name).read_bytes())
    (archive,) = load(str(path), Progress())
    fields = list(payloads(archive.fields))

    assert len(fields) == len(archive.members)
    for payload in fields:
        found = blocks(payload.inside)
        assert found
        for block in found:
            data = b"".join(archive.source.read(span.start, span.size) for span in block.spans)
            head = int.from_bytes(data[:3], "little")
            assert len(data) == 3 + (1 if head >> 1 & 3 == 1 else head >> 3)
        owned = [span for leaf in leaves(payload.inside) for span in leaf.spans]
        assert owned == sorted(owned)
        assert tuple(intersect(owned, payload.spans)) == tuple(owned)
        assert total(owned) == total(payload.spans)


def test_two_frames_of_a_member_are_taken_apart_to_their_checksums() -> None:
    archive = decoded(zipped())
    (payload,) = payloads(archive.fields)

    names = [field.name for field in payload.inside]

    assert names.count("magic number") == 2
    assert names.count("block") == len(blocks(payload.inside)) > 4
    assert names[-1] == "content checksum"


@pytest.mark.parametrize("name", ["two-chunks.rca", "zstd.zip"])
def test_who_does_not_look_inside_reads_nothing_there(name: str, sample: Callable[[str], Path]) -> None:
    source = zipped() if name == "zstd.zip" else Recording(sample(name).read_bytes(), name)
    archive = decoded(source)
    fields = list(payloads(archive.fields))
    inside = [span for payload in fields for span in payload.spans]
    size = source.size

    source.reads.clear()
    overview(archive.fields, size, 500, Progress())
    census(archive.fields)
    painted = runs(archive.fields, 0, size, lambda _: Verdict.VERIFIED)
    chain = [locate(archive.fields, payload.start)[-1][1] for payload in fields]
    if archive.inner is not None:
        mapped = list(payloads(StreamMapping(archive.inner).fields(archive.fields)))
        assert all(len(payload.spans) == 1 for payload in mapped)

    assert [span for read in source.reads for span in intersect([read], inside)] == []
    assert [field.name for field in chain] == [payload.name for payload in fields]
    data = [run for run in painted if run.kind is Kind.DATA]
    assert {(run.role, run.verdict) for run in data} == {(Role.DATA, Verdict.VERIFIED)}
    assert [Span(run.start, run.stop) for run in data] == inside

    source.reads.clear()
    found = fields[0].inside
    assert found[0].name == "magic number"
    assert len(source.reads) <= len(found) + 2
    assert max(read.size for read in source.reads) <= 18


def test_nothing_is_inside_where_reading_may_be_a_request(sample: Callable[[str], Path]) -> None:
    rca = sample("two-chunks.rca")
    for source in (zipped(sparing=True), Recording(rca.read_bytes(), rca.name, sparing=True)):
        assert not list(payloads(decoded(source).fields))


def test_only_so_many_blocks_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_zstd_fields, "MAX_BLOCKS", 3)
    source = Recording(FRAMES, "frames")

    found = inside_zstd(Stored(source, 0, source.size))

    assert [field.name for field in found][-3:] == ["block", "block", "further blocks"]
    assert found[-1].spans[-1].stop == source.size
    assert len(source.reads) == 3


@given(st.integers(0, len(FRAMES) - 1), st.integers(0, 7), st.integers(1, len(FRAMES)), st.booleans())
def test_damaged_data_keeps_its_bytes(at: int, bit: int, size: int, in_frame: bool) -> None:
    data = bytearray(FRAMES)
    data[at] ^= 1 << bit
    source = BytesSource(b"before" + bytes(data[:size]))

    found = inside_zstd(Stored(source, 6, source.size), in_frame=in_frame)

    spans = [span for leaf in leaves(found) for span in leaf.spans]
    assert [span.start for span in spans] == [6, *(span.stop for span in spans[:-1])]
    assert spans[-1].stop == source.size
    assert all(span.size for span in spans)


def test_a_piece_that_begins_inside_a_block_is_not_divided() -> None:
    cut = FRAMES[20_000:90_000]

    (field,) = inside_zstd(Stored(BytesSource(cut), 0, len(cut)), in_frame=True)

    assert (field.name, field.kind) == ("zstd data", Kind.DATA)


def test_the_tree_opens_the_data_and_keeps_a_chosen_block(sample: Callable[[str], Path]) -> None:
    session = opened(sample("two-chunks.rca"))
    for layer, pieces in ((0, 2), (1, 1)):
        run = next(run for run in session.runs(layer, 0, 1 << 20) if run.kind is Kind.DATA and run.start > 0x7D00)
        path = run.path
        closed = session.explain(layer, run.start).fields[-1]
        assert (closed.path, closed.children) == (path, 1)
        page = session.field_rows(layer, path, 0, 10)
        (block,) = page.rows
        assert (block.name, block.path, block.role, len(block.spans)) == ("block", (*path, 0), Role.DATA, pieces)
        chosen = session.explain(layer, block.spans[0].start, block.path)
        assert chosen.fields[-1] == block
        assert chosen.fields[:-1] == session.explain(layer, run.start).fields
        assert session.explain(layer, 0, block.path).fields == session.explain(layer, 0).fields


# ---- stored members that are compressed files -----------------------------------------------------------------------


def in_tar(name: str, data: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def in_stored_zip(name: str, data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, data)
    return file.getvalue()


def in_caf(name: str, data: bytes) -> bytes:
    index = json.dumps({"format_version": "1.0", "files": {name: {"start_byte": 0, "end_byte": len(data)}}}).encode()
    return data + index + len(index).to_bytes(4, "little")


def in_ar(name: str, data: bytes) -> bytes:
    head = f"{name + '/':16}{0:<12}{0:<6}{0:<6}{644:<8}{len(data):<10}`\n".encode()
    return b"!<arch>\n" + head + data + b"\n" * (len(data) % 2)


CONTAINERS = {"a.tar": in_tar, "a.zip": in_stored_zip, "a.caf": in_caf, "a.a": in_ar, "": lambda _, data: data}


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_frames_of_a_stored_member_are_fields_once_somebody_looks(container: str) -> None:
    source = Recording(CONTAINERS[container]("data.zst", FRAMES), container or "data.zst")
    (field,) = payloads(decoded(source).fields)
    assert not any(intersect([read], field.spans) for read in source.reads)

    assert [each.name for each in field.inside].count("magic number") == 2
    assert total(span for each in field.inside for span in each.spans) == len(FRAMES) == total(field.spans)


def test_compressed_data_keeps_its_bytes_wherever_it_is_cut() -> None:
    for size in range(1, 401):
        (field,) = payloads(start(BytesSource(FRAMES[-400:][:size], "data.zst")).fields)
        spans = [span for each in leaves(field.inside) for span in each.spans]
        assert [span.start for span in spans] == [0, *(span.stop for span in spans[:-1])]
        assert spans[-1].stop == size
