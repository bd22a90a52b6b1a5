from __future__ import annotations

import tracemalloc
from contextlib import suppress
from random import Random

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.archive import Archive, Emitter
from inspector.core.format import MemberError
from inspector.core.kinds import Kind
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.core.span import Span
from inspector.formats.rca import FORMAT, blocks
from inspector.formats.rca.blocks import varint
from tests.formats.rca import build
from tests.formats.rca.decoding import codes, content, decoded, fields, listing, message

BLOBS = [(b"one", b"first " * 30), (b"two", b"second " * 40), (b"three", b"third " * 50)]
FULL = 0x8000


def segment_of(size: int, name: bytes = b"filler") -> bytes:
    """A segment of one blob whose blocks are exactly ``size`` bytes."""
    data = Random(3).randbytes(size)
    for less in range(10, 60):
        blocks_ = build.segment([(name, data[: size - less])])
        if len(blocks_) == size:
            return blocks_
    raise AssertionError(size)


def full_chunk() -> tuple[bytes, bytes]:
    """The blocks that exactly fill the first chunk, and the archive that they are."""
    stream = segment_of(FULL - 10)
    data = build.chunked(stream, build.digest(stream))
    assert len(data) == FULL
    return stream, data


def test_an_append_that_was_cut_off_is_trailing_garbage() -> None:
    sound = build.archive(BLOBS)
    archive = decoded(sound + b"\x12" * 40)
    assert listing(archive) == listing(decoded(sound))
    assert codes(archive) == {"rca-trailing-garbage"}
    assert "40 bytes" in message(archive, "rca-trailing-garbage")
    (garbage,) = [field for field in archive.fields if field.kind is Kind.GARBAGE]
    assert garbage.spans == (Span(len(sound), len(sound) + 40),)


@pytest.mark.parametrize(
    "tail",
    [
        b"\0",
        b"\0\0\0",
        b"\xff",
        b"\0\0\0\0",
        b"\0\0\0\0half",
        bytes(12),
        bytes(12) + b"payload of a blob",
        bytes(4) + b"metadata" + bytes(0x1000) + b"\0\0\0\0\0\0\x56\x78",
    ],
)
def test_what_follows_a_full_chunk_without_a_size_is_trailing_garbage(tail: bytes) -> None:
    _, sound = full_chunk()
    assert not codes(decoded(sound))
    archive = decoded(sound + tail)
    assert [path for path, _ in listing(archive)] == [b"filler"]
    assert codes(archive) == {"rca-trailing-garbage"}
    assert archive.fields[-1].spans == (Span(FULL, FULL + len(tail)),)


@pytest.mark.parametrize("size", [1, 2, 9, 300])
def test_a_first_append_that_was_cut_off_leaves_nothing(size: int) -> None:
    archive = decoded(bytes(size))
    assert not listing(archive)
    assert codes(archive) == {"rca-trailing-garbage"}


@pytest.mark.parametrize(
    ("header", "code", "words"),
    [
        (b"\0\0\0\x0b", "rca-chunk-size-small", "smaller than the chunk's own header of 12 bytes"),
        (b"\x80\0\0\1", "rca-chunk-size-reserved", "reserved"),
        (b"\0\0\0\x40", "rca-truncated", "truncated inside the chunk header"),
    ],
)
def test_a_bad_second_header_leaves_the_first_chunk(header: bytes, code: str, words: str) -> None:
    _, sound = full_chunk()
    archive = decoded(sound + header + b"1234567" + b"x" * 20 * (code != "rca-truncated"))
    assert [path for path, _ in listing(archive)] == [b"filler"]
    assert codes(archive) == {code}
    assert words in message(archive, code)
    assert len(list(fields(archive.fields, "chunk header"))) == 2


def test_a_truncated_chunk_keeps_the_members_before() -> None:
    data = build.archive(BLOBS)
    archive = decoded(data[:-5])
    assert [path for path, _ in listing(archive)] == [b"one", b"two"]
    assert codes(archive) == {"rca-truncated", "rca-past-end"}
    assert "5 bytes are missing" in message(archive, "rca-truncated")


def test_a_large_blob_that_is_cut_off_is_listed_as_far_as_it_goes() -> None:
    noise = Random(1).randbytes(1_000_000)
    data = build.archive([(b"small", b"x"), (b"large", noise)])
    archive = decoded(data[:-300_000])
    name, size = listing(archive)[1]
    assert name == b"large"
    assert 500_000 < size < 710_000
    assert [finding.member for finding in archive.findings if finding.code == "rca-zstd"] == [1]
    pieces: list[bytes] = []
    with pytest.raises(MemberError, match=r"large.*missing"):
        pieces.extend(FORMAT.read(archive, 1, Progress()))
    assert b"".join(pieces) == noise[:size]


def test_a_varint_without_end_stops_the_walk() -> None:
    whole = build.segment(BLOBS)
    stream = whole + b"\xff" * 40
    archive = decoded(build.chunked(stream, build.digest(stream)))
    assert len(archive.members) == 3
    assert codes(archive) == {"rca-varint"}
    (rest,) = fields(archive.fields, "unreadable blocks")
    assert (rest.kind, rest.spans) == (Kind.GAP, (Span(10 + len(whole), 10 + len(stream)),))
    cut_off = decoded(build.chunked(whole + b"\x80", build.digest(whole + b"\x80")))
    assert "cut off by the end" in message(cut_off, "rca-varint")


def test_a_varint_has_no_more_than_64_bits() -> None:
    assert varint(b"?" + b"\xff" * 9 + b"\1", 1) == (2**64 - 1, 11)
    for longer in (b"\xff" * 9 + b"\2", b"\x80" * 10 + b"\1", b"\xff" * 9):
        assert varint(longer, 0) == (0, 0)


@pytest.mark.parametrize("kind", ["blob", "control"])
def test_a_block_past_the_end_of_the_stream_is_shown_as_far_as_it_goes(kind: str) -> None:
    whole = build.segment(BLOBS)
    claim = build.varint(1_000_000_000 << 1 if kind == "blob" else 1_000_000_000 << 6 | 5 << 1 | 1)
    stream = whole + claim + b"12345"
    archive = decoded(build.chunked(stream, build.digest(stream)))
    assert len(archive.members) == 3
    assert codes(archive) == {"rca-past-end"}
    assert f"The {kind} block" in message(archive, "rca-past-end")
    assert "past the end" in message(archive, "rca-past-end")
    assert "of which 5 are there" in list(fields(archive.fields, f"{kind} block"))[-1].note


def test_damage_in_one_segment_leaves_the_next() -> None:
    first = bytearray(build.segment(BLOBS))
    at = len(build.segment(BLOBS[:1])) + 3
    first[at : at + 3] = b"\xff\xff\xff"
    archive = decoded(build.chunked(*build.inner([bytes(first), build.segment([(b"after", b"whole")])])))
    assert [path for path, _ in listing(archive)] == [b"one", b"after"]
    assert content(archive, 1) == b"whole"
    assert codes(archive) == {"rca-zstd"}
    assert "1 further blob of segment 1" in message(archive, "rca-zstd")


def test_a_member_that_no_longer_decodes_is_an_error_of_that_member() -> None:
    class Changing(BytesSource):
        data = b""

        def read(self, offset: int, length: int) -> bytes:
            return self.data[offset : offset + length]

    source = Changing(build.archive(BLOBS), "test.rca")
    source.data = build.archive(BLOBS)
    archive = Archive(source, "rca", "RCA", ())
    FORMAT.decode(source, Emitter(archive), Progress())
    for data, words in ((source.data[:60], "become shorter"), (bytes(source.size), "no zstd data")):
        source.data = data
        with pytest.raises(MemberError, match=words):
            list(FORMAT.read(archive, 2, Progress()))


def test_a_blob_that_is_no_zstd_data_is_not_listed() -> None:
    stream = build.blob_block(b"plain text")
    archive = decoded(build.chunked(stream, build.digest(stream)))
    assert not listing(archive)
    assert "no zstd data" in message(archive, "rca-zstd")


def test_a_blob_without_a_name_is_not_listed_but_the_others_are() -> None:
    compress = build.Compressor()
    stream = (
        build.blob(b"a", b"1", compress)
        + build.blob_block(compress(b"no terminator"))
        + build.blob_block(b"")
        + build.blob(b"b", b"22", compress)
    )
    archive = decoded(build.chunked(stream, build.digest(stream)))
    assert listing(archive) == [(b"a", 1), (b"b", 2)]
    assert [content(archive, index) for index in range(2)] == [b"1", b"22"]
    assert codes(archive) == {"rca-name-unterminated"}
    assert [block.member for block in fields(archive.fields, "blob block")] == [0, None, None, 1]


def test_a_zstd_block_in_two_blobs_is_said() -> None:
    payload = build.Compressor()(b"name\0content " * 20)
    stream = build.blob_block(payload[:20]) + build.blob_block(payload[20:])
    archive = decoded(build.chunked(stream, build.digest(stream)))
    assert codes(archive) == {"rca-zstd-unaligned", "rca-name-unterminated"}
    assert [path for path, _ in listing(archive)] == [b"name"]


def test_a_window_above_the_limit_is_refused() -> None:
    stream = build.blob_block(b"\x28\xb5\x2f\xfd\x00\xff" + b"\x01\0\0")
    archive = decoded(build.chunked(stream, build.digest(stream)))
    assert "window" in message(archive, "rca-zstd")


def test_a_wrong_hash_names_the_segment_and_the_place() -> None:
    stream, hashed = build.inner([build.segment(BLOBS[:1]), build.segment(BLOBS[1:])])
    at = len(build.segment(BLOBS[:1])) + 2
    stream = stream[:at] + b"\x5a" * 8 + stream[at + 8 :]
    archive = decoded(build.chunked(stream, hashed))
    assert codes(archive) == {"rca-reset-hash-mismatch"}
    sentence = message(archive, "rca-reset-hash-mismatch")
    assert sentence.startswith("Hash mismatch at the reset block of segment 1. It hashes to ")
    assert archive.findings[0].spans == (Span(10 + at, 18 + at), Span(10, 8 + at))
    assert len(archive.members) == 3


def test_a_wrongly_resumed_archive_is_recognised() -> None:
    first, _ = full_chunk()
    reset = build.control_block(0, b"dead hash"[:8])
    after = build.segment([(b"after", b"resumed")])
    stream = first + reset + after
    archive = decoded(build.chunked(stream, build.digest(reset[:2] + after)))
    assert [path for path, _ in listing(archive)] == [b"filler", b"after"]
    assert codes(archive) == {"rca-hash-resumed-wrongly"}
    assert build.digest(first).hex() in message(archive, "rca-hash-resumed-wrongly")


def test_a_reset_block_too_short_for_its_hash_is_shown() -> None:
    stream = build.segment(BLOBS[:1]) + build.control_block(0, b"1234") + build.segment(BLOBS[1:])
    archive = decoded(build.chunked(stream, bytes(8)))
    assert len(archive.members) == 3
    assert "4 of the 8 bytes" in message(archive, "rca-reset-hash-short")


def test_a_bomb_is_listed_and_read_in_little_memory() -> None:
    compress = build.Compressor()
    size = 256 << 20
    block = compress(b"bomb\0" + bytes(1 << 20))
    payload = block + b"".join(compress(bytes(16 << 20)) for _ in range(size // (16 << 20)))
    stream = build.blob_block(payload) + build.blob(b"small", b"after", compress)
    data = build.chunked(stream, build.digest(stream))
    tracemalloc.start()
    try:
        archive = decoded(data)
        total = 0
        for piece in FORMAT.read(archive, 0, Progress()):
            assert len(piece) <= 1 << 20
            total += len(piece)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert total == size + (1 << 20)
    assert listing(archive) == [(b"bomb", total), (b"small", 5)]
    assert content(archive, 1) == b"after"
    assert peak < 16 << 20


def test_more_blocks_than_are_told_apart_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_BLOCKS", 1000)
    archive = decoded(build.chunked(bytes(20_000), bytes(8)))
    assert "rca-too-many-blocks" in codes(archive)
    assert len(archive.detail.blocks) < 20_000


TWO_SEGMENTS = build.archive(BLOBS, [(b"four", Random(4).randbytes(200)), (b"five", b"5")], extra=b"x")


def test_cut_off_at_every_byte_it_still_lists_what_stands_before() -> None:
    ends = [member.spans[-1].stop for member in decoded(TWO_SEGMENTS).members]
    for size in range(len(TWO_SEGMENTS)):
        archive = decoded(TWO_SEGMENTS[:size])
        whole = sum(end <= size for end in ends)
        # Beyond the whole ones at most the one that was cut off is listed, as far as it goes.
        assert whole <= len(archive.members) <= whole + 1
        for index in range(whole):
            assert len(content(archive, index)) == archive.members.size(index)
        for index in range(whole, len(archive.members)):
            with pytest.raises(MemberError):
                content(archive, index)
        assert size == 0 or codes(archive)


def test_cut_off_around_a_chunk_boundary_it_raises_nothing() -> None:
    compress = build.Compressor()
    noise = Random(5)
    stream = b"".join(build.blob(b"%d" % index, noise.randbytes(4000), compress) for index in range(10))
    data = build.chunked(stream, build.digest(stream))
    for size in (*range(FULL - 30, FULL + 40), len(data) - 1):
        archive = decoded(data[:size])
        # A file that ends inside the second header before its size is known looks like an interrupted append.
        assert "rca-truncated" in codes(archive) or FULL <= size < FULL + 4


@given(st.integers(0, len(TWO_SEGMENTS) * 8 - 1), st.integers(0, 2**64))
def test_flipped_bits_raise_nothing_and_are_noticed(bit: int, seed: int) -> None:
    data = bytearray(TWO_SEGMENTS)
    data[bit // 8] ^= 1 << bit % 8
    archive = decoded(bytes(data))
    assert codes(archive)
    noise = Random(seed)
    for _ in range(5):
        data[noise.randrange(len(data))] = noise.randrange(256)
    archive = decoded(bytes(data))
    for index in range(len(archive.members)):
        with suppress(MemberError):
            assert len(content(archive, index)) == archive.members.size(index)


@given(st.binary(max_size=300))
def test_any_blob_layer_can_be_decoded(stream: bytes) -> None:
    decoded(build.chunked(stream, build.digest(stream)))


@given(
    st.lists(st.lists(st.tuples(st.binary(max_size=8), st.binary(max_size=2000)), max_size=5), min_size=1, max_size=4)
)
def test_whatever_is_archived_comes_back(segments: list[list[tuple[bytes, bytes]]]) -> None:
    segments = [[(name.replace(b"\0", b""), data) for name, data in blobs] for blobs in segments]
    archive = decoded(build.archive(*segments))
    expected = [blob for blobs in segments for blob in blobs]
    assert [(member.path, content(archive, member.index)) for member in archive.members] == expected


def test_a_frame_with_a_checksum_is_read_to_its_end() -> None:
    payload = zstandard.ZstdCompressor(write_checksum=True).compress(b"name\0content")
    stream = build.blob_block(payload)
    archive = decoded(build.chunked(stream, build.digest(stream)))
    assert content(archive, 0) == b"content"
    assert not codes(archive)
