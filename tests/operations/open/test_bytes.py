"""What bytes look like: classes and entropy, against the plainest way to find them."""

from __future__ import annotations

import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import BytesSource
from inspector.core.span import Span
from inspector.drawing.byte_class import CLASSES, ByteClass, look_of
from inspector.operations.open.byte_classes import LARGE_BLOCK, MAX_EXACT_STRETCH, bands, looks

NOISE = random.Random(7).randbytes(40_000)
WORDS = ("the", "bytes", "of", "an", "archive", "say", "what", "they", "are", "when", "read")
PROSE = " ".join(random.Random(3).choices(WORDS, k=9_000))

PIECES = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=200).map(str.encode),
    st.text("abc d", max_size=200).map(str.encode),
    st.integers(0, 700).map(bytes),
    st.builds(lambda one, times: one * times, st.binary(min_size=1, max_size=70), st.integers(2, 40)),
    st.integers(0, 30_000).map(lambda at: NOISE[at : at + 600]),
)
DATA = st.lists(PIECES, max_size=8).map(b"".join)


# ---- classes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (bytes(256), ByteClass.ZEROS),
        (b"\xff" * 256, ByteClass.REPEATED),
        (b"abcdefg" * 40, ByteClass.REPEATED),
        (PROSE[:256].encode(), ByteClass.TEXT),
        (("größer, " + PROSE)[:250].encode(), ByteClass.UTF8),
        (("größer, " + PROSE)[:250].encode()[3:-1], ByteClass.UTF8),
        ("äöü".encode()[1:] + PROSE[:100].encode() + "ä".encode()[:1], ByteClass.UTF8),
        (NOISE[:256], ByteClass.RANDOM),
        (zlib.compress(PROSE.encode())[10:266], ByteClass.RANDOM),
        (bytes(range(16)) * 15 + b"\x01\x00\x00", ByteClass.OTHER),
        (PROSE[:255].encode() + b"\0", ByteClass.OTHER),
        (b"\xc0\xaf" + PROSE[:200].encode(), ByteClass.OTHER),
        (b"", ByteClass.OTHER),
        (b"\0", ByteClass.ZEROS),
    ],
)
def test_a_block_is_what_it_looks_like(data: bytes, expected: ByteClass) -> None:
    assert look_of(data).byte_class is expected


@pytest.mark.parametrize("size", [128, 200, 256, 4096, LARGE_BLOCK])
def test_random_bytes_count_as_random_in_blocks_of_any_size(size: int) -> None:
    generator = random.Random(size)
    found = [look_of(generator.randbytes(size)).byte_class for _ in range(50)]

    assert set(found) == {ByteClass.RANDOM}


@given(DATA, st.sampled_from([16, 64, 256]))
def test_many_blocks_at_once_look_as_each_does(data: bytes, block: int) -> None:
    classes, entropies = looks(data, block)
    each = [look_of(data[at : at + block]) for at in range(0, len(data), block)]

    assert [CLASSES[number] for number in classes] == [look.byte_class for look in each]
    assert entropies.tolist() == pytest.approx([look.entropy for look in each], abs=1e-3)


def test_large_blocks_look_as_each_does() -> None:
    data = NOISE[:LARGE_BLOCK] + bytes(LARGE_BLOCK) + (PROSE.encode() * 2)[:LARGE_BLOCK] + b"abc" * LARGE_BLOCK
    classes, _ = looks(data, LARGE_BLOCK)

    expected = [ByteClass.RANDOM, ByteClass.ZEROS, ByteClass.TEXT, *[ByteClass.REPEATED] * 3]
    assert [CLASSES[number] for number in classes] == expected


# ---- bands -----------------------------------------------------------------------------------------------------------


@given(DATA, st.integers(1, 40), st.data())
def test_every_row_shows_a_block_that_meets_it(data: bytes, rows: int, draw: st.DataObject) -> None:
    start = draw.draw(st.integers(0, len(data)))
    stop = draw.draw(st.integers(start, len(data)))
    found = bands(BytesSource(data), Span(start, stop), rows, Progress())

    assert found.exact
    for row in range(rows if stop > start else 0):
        low, high = found.span(row)
        near = range(low // 256 * 256, high, 256)
        there = {look_of(data[at : at + 256]).byte_class for at in near}
        shown = {each for each, _ in found.classes(row)}
        assert shown
        assert shown <= there


def test_a_single_odd_block_in_a_row_is_seen() -> None:
    data = bytearray(bytes(600 * LARGE_BLOCK))
    data[300 * LARGE_BLOCK : 301 * LARGE_BLOCK] = NOISE[:LARGE_BLOCK]
    found = bands(BytesSource(bytes(data)), Span(0, len(data)), 1, Progress())

    assert [each for each, _ in found.classes(0)] == [ByteClass.ZEROS, ByteClass.RANDOM]
    assert "compressed or random" in found.text(0)


class Sparse:
    """A source of zeros of any size that has noise where it is told to; it counts what is read."""

    name = "sparse"

    def __init__(self, size: int, noise: Span) -> None:
        self.size, self.noise, self.read_bytes = size, noise, 0

    def read(self, offset: int, length: int) -> bytes:
        """See Source.read."""
        length = max(0, min(length, self.size - offset))
        self.read_bytes += length
        if offset + length <= self.noise.start or self.noise.stop <= offset:
            return bytes(length)
        return bytes(NOISE[at % 9973] if at in range(*self.noise) else 0 for at in range(offset, offset + length))

    def sibling(self, suffix: str, instead_of: str = "") -> None:
        """See Source.sibling."""


def test_what_is_sampled_is_exact_when_zoomed_in() -> None:
    size = 1 << 38
    place = size // 2 + 5 * LARGE_BLOCK
    source = Sparse(size, Span(place, place + 4096))
    whole = bands(source, Span(0, size), 100, Progress())
    looked_at = source.read_bytes
    near = bands(source, Span(place - LARGE_BLOCK, place + LARGE_BLOCK), 100, Progress())

    assert not whole.exact
    assert "(sampled)" in whole.text(0)
    assert looked_at < 100 * MAX_EXACT_STRETCH // 10
    assert near.exact
    assert ByteClass.RANDOM in {each for row in range(100) for each, _ in near.classes(row)}


def test_only_known_bytes_are_read_where_that_is_asked_for() -> None:
    data = NOISE[:LARGE_BLOCK] + bytes(LARGE_BLOCK)
    found = bands(BytesSource(data), Span(0, len(data)), 2, Progress(), (Span(0, LARGE_BLOCK),))

    assert found.classes(0) == [(ByteClass.RANDOM, 1.0)]
    assert found.text(1) == ""


def test_measuring_is_cancelled_between_two_reads() -> None:
    progress = Progress()
    progress.cancel()

    with pytest.raises(Cancelled):
        bands(BytesSource(NOISE), Span(0, len(NOISE)), 10, progress)
