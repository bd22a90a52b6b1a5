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
from tests.formats.rca.build import hashed
from tests.formats.rca.checking import FULL, ONE, full_chunk, resumed
from tests.formats.rca.decoding import codes, content, decoded, fields, listing, message

FULL_CHUNK = full_chunk()


def test_an_append_that_was_cut_off_is_trailing_garbage() -> None:
    sound = build.archive(ONE)
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
    assert not codes(decoded(FULL_CHUNK))
    archive = decoded(FULL_CHUNK + tail)
    assert [path for path, _ in listing(archive)] == [b"filler"]
    assert codes(archive) == {"rca-trailing-garbage"}
    assert archive.fields[-1].spans == (Span(FULL, FULL + len(tail)),)


@pytest.mark.parametrize(
    ("header", "code", "words"),
    [
        (b"\0\0\0\x0b", "rca-chunk-size-small", "smaller than the chunk's own header of 12 bytes"),
        (b"\x80\0\0\1", "rca-chunk-size-reserved", "reserved"),
        (b"\0\0\0\x40", "rca-truncated", "truncated inside the chunk header"),
    ],
)
def test_a_bad_second_header_leaves_the_first_chunk(header: bytes, code: str, words: str) -> None:
    archive = decoded(FULL_CHUNK + header + b"1234567" + b"x" * 20 * (code != "rca-truncated"))
    assert [path for path, _ in listing(archive)] == [b"filler"]
    assert codes(archive) == {code}
    assert words in message(archive, code)
    assert len(list(fields(archive.fields, "chunk header"))) == 2


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


SEGMENT, NAMES = build.segment(ONE), [b"one", b"two", b"three"]
HUGE = 1_000_000_000
DECODER = build.Compressor()
HALF = build.Compressor()(b"name\0content " * 20)
RESUMED, FILLER = resumed(b"dead hash"[:8], build.SPEC)
CASES: dict[str, tuple[bytes, list[bytes], set[str], str]] = {
    "a first append": (bytes(300), [], {"rca-trailing-garbage"}, "300 bytes"),
    "a byte of it": (bytes(1), [], {"rca-trailing-garbage"}, "1 byte"),
    "a header of it": (bytes(9), [], {"rca-trailing-garbage"}, "9 bytes"),
    "a truncated chunk": (build.archive(ONE)[:-5], NAMES[:2], {"rca-truncated", "rca-past-end"}, "5 bytes are missing"),
    "a varint without end": (hashed(SEGMENT, b"\xff" * 40), NAMES, {"rca-varint"}, "does not end within 64 bits"),
    "a varint cut off": (hashed(SEGMENT, b"\x80"), NAMES, {"rca-varint"}, "cut off by the end"),
    "a blob past the end": (
        hashed(SEGMENT, build.varint(HUGE << 1), b"12345"),
        *(NAMES, {"rca-past-end"}, f"The blob block at byte {len(SEGMENT) + 10} reaches past the end"),
    ),
    "a control block past the end": (
        hashed(SEGMENT, build.varint(HUGE << 6 | 5 << 1 | 1), b"12345"),
        *(NAMES, {"rca-past-end"}, f"The control block at byte {len(SEGMENT) + 10} reaches past the end"),
    ),
    "no zstd data": (hashed(build.blob_block(b"plain text")), [], {"rca-zstd"}, "no zstd data"),
    "a window above the limit": (
        hashed(build.blob_block(b"\x28\xb5\x2f\xfd\x00\xff" + b"\x01\0\0")),
        *([], {"rca-zstd"}, "window"),
    ),
    "a blob without a name": (
        hashed(
            *(build.blob(b"a", b"1", DECODER), build.blob_block(DECODER(b"no terminator"))),
            *(build.blob_block(b""), build.blob(b"b", b"22", DECODER)),
        ),
        *([b"a", b"b"], {"rca-name-unterminated"}, "has no name"),
    ),
    "a zstd block in two blobs": (
        hashed(build.blob_block(HALF[:20]), build.blob_block(HALF[20:])),
        *([b"name"], {"rca-zstd-unaligned", "rca-name-unterminated"}, "ends inside a zstd block"),
    ),
    "resumed wrongly": (
        RESUMED,
        *([b"filler", b"after"], {"rca-hash-resumed-wrongly"}, build.digest(FILLER).hex()),
    ),
    "a short hash": (
        build.chunked(build.segment(ONE[:1]) + build.control_block(0, b"1234") + build.segment(ONE[1:]), bytes(8)),
        *(NAMES, {"rca-reset-hash-short", "rca-metadata-hash-mismatch"}, "4 of the 8 bytes"),
    ),
    "damage in one segment": (
        build.chunked(
            *build.inner(
                [
                    SEGMENT[: len(build.segment(ONE[:1])) + 3]
                    + b"\xff\xff\xff"
                    + SEGMENT[len(build.segment(ONE[:1])) + 6 :],
                    build.segment([(b"after", b"whole")]),
                ]
            )
        ),
        *([b"one", b"after"], {"rca-zstd"}, "1 further blob of segment 1"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_damaged_is_named_and_the_rest_is_listed(case: str) -> None:
    data, names, expected, words = CASES[case]
    archive = decoded(data)
    assert [path for path, _ in listing(archive)] == names
    assert codes(archive) == expected
    assert any(words in finding.message for finding in archive.findings)


def test_blocks_that_cannot_be_told_or_are_not_whole_are_shown_as_far_as_they_go() -> None:
    (rest,) = fields(decoded(CASES["a varint without end"][0]).fields, "unreadable blocks")
    assert (rest.kind, rest.spans) == (Kind.GAP, (Span(10 + len(SEGMENT), 50 + len(SEGMENT)),))
    for kind in ("blob", "control"):
        block = list(
            fields(
                decoded(CASES[f"a {'control block' if kind == 'control' else kind} past the end"][0]).fields,
                f"{kind} block",
            )
        )[-1]
        assert "of which 5 are there" in block.note


def test_blobs_beside_those_without_a_name_are_read() -> None:
    archive = decoded(CASES["a blob without a name"][0])
    assert [content(archive, index) for index in range(2)] == [b"1", b"22"]
    assert [block.member for block in fields(archive.fields, "blob block")] == [0, None, None, 1]


def test_a_varint_has_no_more_than_64_bits() -> None:
    assert varint(b"?" + b"\xff" * 9 + b"\1", 1) == (2**64 - 1, 11)
    for longer in (b"\xff" * 9 + b"\2", b"\x80" * 10 + b"\1", b"\xff" * 9):
        assert varint(longer, 0) == (0, 0)


def test_a_member_that_no_longer_decodes_is_an_error_of_that_member() -> None:
    class Changing(BytesSource):
        data = b""

        def read(self, offset: int, length: int) -> bytes:
            return self.data[offset : offset + length]

    source = Changing(build.archive(ONE), "test.rca")
    source.data = build.archive(ONE)
    archive = Archive(source, "rca", "RCA", ())
    FORMAT.decode(source, Emitter(archive), Progress())
    for data, words in ((source.data[:60], "become shorter"), (bytes(source.size), "no zstd data")):
        source.data = data
        with pytest.raises(MemberError, match=words):
            list(FORMAT.read(archive, 2, Progress()))


WRONG_AT = 12 + len(build.segment(ONE[:1]))


@pytest.mark.parametrize(
    ("at", "changed", "code", "where", "spans"),
    [
        (
            *(WRONG_AT, b"\x5a" * 8, "rca-reset-hash-mismatch", "reset block of segment 1"),
            (Span(WRONG_AT, WRONG_AT + 8), Span(10, WRONG_AT - 2)),
        ),
        (2, b"\x5a", "rca-metadata-hash-mismatch", "chunk metadata of segment 2", (Span(2, 10),)),
    ],
)
def test_a_wrong_hash_names_the_segment_and_the_place(
    at: int, changed: bytes, code: str, where: str, spans: tuple[Span, ...]
) -> None:
    data = build.archive(ONE[:1], ONE[1:])
    archive = decoded(data[:at] + changed + data[at + len(changed) :])
    assert codes(archive) == {code}
    assert message(archive, code).startswith(f"Hash mismatch at the {where}. It hashes to ")
    assert archive.findings[0].spans == spans
    assert len(archive.members) == 3


def test_a_bomb_is_listed_and_read_in_little_memory() -> None:
    compress = build.Compressor()
    size = 256 << 20
    block = compress(b"bomb\0" + bytes(1 << 20))
    payload = block + b"".join(compress(bytes(16 << 20)) for _ in range(size // (16 << 20)))
    data = hashed(build.blob_block(payload), build.blob(b"small", b"after", compress))
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


TWO_SEGMENTS = build.archive(ONE, [(b"four", Random(4).randbytes(200)), (b"five", b"5")], extra=b"x")


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
    data = hashed(*(build.blob(b"%d" % index, noise.randbytes(4000), compress) for index in range(10)))
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
    decoded(hashed(stream))


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
    archive = decoded(hashed(build.blob_block(payload)))
    assert content(archive, 0) == b"content"
    assert not codes(archive)
