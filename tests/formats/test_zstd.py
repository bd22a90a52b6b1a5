from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from random import Random

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.field import Field
from inspector.core.source import BytesSource, Stored
from inspector.formats._zstd import PIECE, Stream, ZstdError, decompress
from inspector.formats._zstd_fields import inside_zstd
from tests.formats.archives import leaves

NOISE = Random(11).randbytes(300_000)
CONTENTS = [b"", b"short", b"again " * 50_000, bytes(2_000_000), NOISE, NOISE + bytes(400_000)]


def compressed(content: bytes, size: bool = True, checksum: bool = True) -> bytes:
    return zstandard.ZstdCompressor(write_content_size=size, write_checksum=checksum).compress(content)


@pytest.mark.parametrize("content", CONTENTS, ids=range(len(CONTENTS)))
@pytest.mark.parametrize("size", [True, False])
@pytest.mark.parametrize("checksum", [True, False])
def test_a_frame_comes_back_however_it_is_cut(content: bytes, size: bool, checksum: bool) -> None:
    data = compressed(content, size, checksum)
    assert decompress(data, len(content)) == content
    for step in (1, 2, 3, 7, 1000) if len(data) < 1000 else (1000, 65_537):
        stream = Stream()
        pieces = [piece for at in range(0, len(data), step) for piece in stream.feed(data[at : at + step])]
        assert b"".join(pieces) == content
        assert max(map(len, pieces), default=0) <= PIECE
        assert stream.ended
        assert stream.frames == 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "cut off"),
        (compressed(b"content")[:-1], "cut off"),
        (compressed(b"content")[:5], "cut off"),
        (compressed(b"content") + compressed(b"more"), "goes on"),
        (compressed(b"content") + b"x", "goes on|no zstd data"),
        (b"plain text", "no zstd data"),
        (compressed(bytes(1000)), "more than 999 bytes"),
        (b"\x28\xb5\x2f\xfd\x08\x00", "reserved bit"),
        (b"\x28\xb5\x2f\xfd\x00\xff\x01\0\0", "window"),
        (b"\x28\xb5\x2f\xfd\x01\x00\x07\x01\0\0", "dictionary 7"),
        (b"\x28\xb5\x2f\xfd\x00\x58\x07\0\0", "reserved"),
    ],
)
def test_what_is_no_single_whole_frame_is_refused_with_a_sentence(data: bytes, words: str) -> None:
    with pytest.raises(ZstdError, match=words) as caught:
        decompress(data, 999)
    assert str(caught.value).endswith(".")


def inside(data: bytes) -> Sequence[Field]:
    return inside_zstd(Stored(BytesSource(data), 0, len(data)))


@given(st.integers(0, 5000), st.integers(0, 7), st.integers(0, 5000))
def test_a_damaged_frame_raises_nothing_else_and_keeps_its_bytes(at: int, bit: int, size: int) -> None:
    data = bytearray(compressed(NOISE[:300] + b"again " * 2000))
    data[at % len(data)] ^= 1 << bit
    del data[max(6, size) :]
    with suppress(ZstdError):
        decompress(bytes(data), 100_000)
    spans = sorted(span for leaf in leaves(inside(bytes(data))) for span in leaf.spans if span.size)
    assert [span.start for span in spans] == [0, *(span.stop for span in spans[:-1])]
    assert spans[-1].stop == len(data)


def test_the_structure_of_a_frame() -> None:
    data = compressed(NOISE)
    magic, descriptor, size, *blocks, checksum = inside(data)
    names = [field.name for field in (magic, descriptor, size, checksum)]
    assert names == ["magic number", "frame header descriptor", "frame content size", "content checksum"]
    assert magic.text == "0xfd2fb528"
    assert descriptor.note == "Single segment, with the content size, a checksum at the end."
    assert size.value == len(NOISE)
    assert [block.note for block in blocks] == [
        "raw block, size 131,072",
        "raw block, size 131,072",
        "raw block, size 37,856, the last",
    ]
    assert checksum.value == int.from_bytes(data[-4:], "little")


def test_a_frame_with_a_window_says_how_large_it_is() -> None:
    window = inside(b"\x28\xb5\x2f\xfd\x00\x59\x01\0\0")[2]
    assert (window.name, window.text) == ("window descriptor", "0x59")
    assert "2,359,296 bytes" in window.note


def skippable(content: bytes, kind: int = 0) -> bytes:
    return bytes((0x50 + kind,)) + b"\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content


@pytest.mark.parametrize("step", [1, 3, 4, 5, 8, 1000])
def test_skippable_frames_are_passed_over_where_they_may_stand(step: int) -> None:
    data = skippable(b"") + skippable(b"note", 15) + compressed(b"one") + skippable(bytes(300)) + compressed(b"two")
    data += skippable(b"")
    stream = Stream(skippable=True)
    fed = b"".join(piece for at in range(0, len(data), step) for piece in stream.feed(data[at : at + step]))
    assert (fed, stream.ended) == (b"onetwo", True)
    for cut in (1, 7):
        stream = Stream(skippable=True)
        list(stream.feed(data[:-cut]))
        assert not stream.ended
    for odd in (
        b"\x4f\x2a\x4d\x18" + bytes(4),
        b"\x60\x2a\x4d\x18" + bytes(4),
        b"\x50\x2a\x4d\x19" + bytes(4),
        b"\x50\x2aab",
    ):
        with pytest.raises(ZstdError, match="no zstd data"):
            list(Stream(skippable=True).feed(odd))
    with pytest.raises(ZstdError, match="no zstd data"):
        list(Stream().feed(data))
