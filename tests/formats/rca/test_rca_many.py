"""Small files that hold very many blocks: what is said of them is bounded, and nothing is passed over."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.archive import MAX_FINDINGS_PER_KIND, Archive
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource, SplicedSource
from inspector.core.span import Span
from inspector.formats._zstd import MAGIC
from inspector.formats.rca.blocks import kind_and_size, varint, walk
from inspector.formats.rca.chunks import ReadAhead
from tests.formats.rca import build
from tests.formats.rca.checking import checked
from tests.formats.rca.decoding import decoded, listing, message

MANY = MAX_FINDINGS_PER_KIND + 500


def counted(archive: Archive) -> Counter[str]:
    return Counter(finding.code for finding in archive.findings)


def sound(stream: bytes) -> bytes:
    return build.chunked(stream, build.digest(stream))


def test_neighbouring_blobs_without_a_payload_are_told_as_one() -> None:
    whole = build.segment([(b"one", b"first")])
    archive = decoded(sound(whole + bytes(MANY)))
    (finding,) = archive.findings
    assert finding.code == "rca-name-unterminated"
    assert f"and the {MANY - 1:,} blobs after it" in finding.message
    assert finding.spans == (Span(10 + len(whole), 10 + len(whole) + MANY),)
    assert listing(archive) == [(b"one", 5)]


def test_blobs_without_a_payload_end_at_every_other_block() -> None:
    compress = build.Compressor()
    first, second = build.blob(b"one", b"1", compress), build.blob(b"two", b"2", compress)
    for between in (build.control_block(5, b"?"), second):
        archive = decoded(sound(first + bytes(2) + between + bytes(1)))
        assert counted(archive)["rca-name-unterminated"] == 2
        assert "the 1 blob after" in message(archive, "rca-name-unterminated")
        assert listing(archive) == [(b"one", 1), (b"two", 1)][: 1 + (between is second)]


@given(
    st.lists(
        st.sampled_from([bytes(1), bytes(70), bytes(1500), b"\x80\x00", b"\x80\x80\x00", b"\x04ab", b"\x0b", b"\x0a"])
    )
)
def test_runs_of_empty_blobs_are_walked_as_one_after_another(parts: list[bytes]) -> None:
    stream = b"".join(parts)
    blocks = walk(SplicedSource(BytesSource(stream), [Span(0, len(stream))], "inner"), Progress())
    at, edges, kinds = 0, [], []
    while at < len(stream):
        value, payload = varint(stream, at)
        kind, size = kind_and_size(value)
        edges.append((at, payload))
        kinds.append(kind)
        at = payload + size

    assert list(zip(blocks.edges, blocks.payloads, strict=False)) == edges
    assert list(blocks.types) == kinds


def test_a_cut_off_blob_behind_empty_ones_is_told_apart() -> None:
    archive = decoded(sound(bytes(3) + b"\x08"))
    assert counted(archive)["rca-past-end"] == 1
    assert [finding.spans for finding in archive.findings if finding.code == "rca-name-unterminated"] == [
        (Span(10, 13),)
    ]
    assert archive.detail.damaged == {0: 3}


@pytest.mark.parametrize(
    ("blob", "code"),
    [
        ((b"", b""), "rca-name-empty"),
        ((b"..", b""), "rca-name-hazard"),
        ((b"\xff", b""), "rca-name-not-utf-8"),
    ],
)
def test_odd_names_past_the_first_are_counted(blob: build.Blob, code: str) -> None:
    archive = decoded(build.archive([blob] * MANY))
    assert len(archive.members) == MANY
    assert counted(archive)[code] == MAX_FINDINGS_PER_KIND + 1
    assert f"There are {MANY - MAX_FINDINGS_PER_KIND} more " in archive.findings[-1].message


def test_damaged_segments_past_the_first_are_counted_in_all_that_is_said() -> None:
    blob = build.blob_block(MAGIC + b"\x08" * 8)
    stream = blob + (build.control_block(0, b"12345678") + blob) * (MANY - 1)
    archive, sentence = checked(build.chunked(stream, bytes(8)))
    assert counted(archive) == {
        "rca-zstd": MAX_FINDINGS_PER_KIND + 1,
        "rca-reset-hash-mismatch": MAX_FINDINGS_PER_KIND + 1,
    }
    assert sentence.startswith(f"{MANY:,} of {MANY:,} segments are damaged; 0 of {MANY:,} blobs are proved whole")


def test_reset_blocks_without_a_hash_are_counted() -> None:
    archive, sentence = checked(
        build.chunked((build.control_block(0, b"") + build.segment([(b"one", b"1")])) * MANY, b"12345678")
    )
    assert counted(archive)["rca-reset-hash-short"] == MAX_FINDINGS_PER_KIND + 1
    assert f"There are {MANY - MAX_FINDINGS_PER_KIND} more reset blocks" in archive.findings[-1].message
    assert f"{MANY - 1:,} of {MANY:,} segments cannot be checked" in sentence


@pytest.mark.parametrize("convention", [build.SPEC, build.RCARCH])
def test_very_many_small_segments_are_all_compared(convention: str) -> None:
    _, sentence = checked(
        build.archive(*[[(b"%d" % number, b"x" * 50)] for number in range(MANY)], convention=convention)
    )
    assert sentence == f"{MANY:,} segments and {MANY:,} blobs are verified."


@given(st.data())
def test_bytes_read_in_small_pieces_are_those_of_the_stream(data: st.DataObject) -> None:
    stream = bytes(range(256)) * 700
    archive = decoded(sound(build.control_block(9, stream)))
    inner = archive.inner
    assert inner is not None
    near = ReadAhead(inner)
    for _ in range(5):
        start = data.draw(st.integers(0, inner.size))
        stop = data.draw(st.integers(start, inner.size))
        assert near.read(start, stop) == inner.read(start, stop - start)
