"""Bytes of two sources, aligned: random edits are found exactly, whatever else the bytes are."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import BytesSource, Source, SourceError
from inspector.core.span import Span
from inspector.operations.compare import alignment
from inspector.operations.compare.alignment import Stretch, align, stretches
from inspector.operations.protocol.compare_views import A, Alignment, B, Change, Run

APART = 160
"""Bytes between two edits, so that it is plain which is which."""


def compared(a: bytes, b: bytes) -> Alignment:
    """The runs, after making sure that all between them is equal and that nothing is left out."""
    runs = align(BytesSource(a), BytesSource(b), Progress())
    a_at = b_at = 0
    for run in runs:
        assert a[a_at : run.a.start] == b[b_at : run.b.start]
        assert run.a.size == run.b.size or not (run.a.size and run.b.size)
        a_at, b_at = run.a.stop, run.b.stop
    assert a[a_at:] == b[b_at:]
    return runs


def edited(base: bytes, edits: list[tuple[str, int, int]], random: Random) -> tuple[bytes, list[tuple[int, int, int]]]:
    """The bytes after edits (what, bytes of distance, size), and where each is: place in A, bytes of A, bytes of B.

    The first byte of what is put in or cut out differs from the one behind it: otherwise there are two answers.
    """
    out, truth, at = bytearray(), [], 0
    for what, distance, size in edits:
        place = at + APART + distance
        if place + size + APART >= len(base):
            break
        while what == "delete" and base[place] == base[place + size]:
            place += 1
        out += base[at:place]
        if what == "insert":
            out += bytes([base[place] ^ 1]) + random.randbytes(size - 1)
            truth.append((place, 0, size))
            at = place
        elif what == "delete":
            truth.append((place, size, 0))
            at = place + size
        else:
            out += bytes(byte ^ random.randrange(1, 256) for byte in base[place : place + size])
            truth.append((place, size, size))
            at = place + size
    return bytes(out + base[at:]), truth


def last_place(a: bytes, b: bytes, run: Run) -> int:
    """Where a run begins that could begin at several places, because its first bytes repeat behind it: the last."""
    at, (data, span) = run.a.start, (a, run.a) if run.a.size else (b, run.b)
    while not (run.a.size and run.b.size) and data[span.start : span.start + 1] == data[span.stop : span.stop + 1]:
        at, span = at + 1, Span(span.start + 1, span.stop + 1)
    return at


EDITS = st.lists(
    st.tuples(st.sampled_from(["insert", "delete", "replace"]), st.integers(0, 3_000), st.integers(1, 600)),
    max_size=8,
)


@given(st.integers(0, 2**32), st.integers(2_000, 60_000), EDITS)
def test_edits_are_found_exactly(seed: int, size: int, edits: list[tuple[str, int, int]]) -> None:
    random = Random(seed)
    base = random.randbytes(size)
    other, truth = edited(base, edits, random)

    runs = compared(base, other)

    assert [(last_place(base, other, run), run.a.size, run.b.size) for run in runs] == truth
    assert runs.changed == sum(a for _, a, b in truth if a == b)
    assert runs.added == sum(b for _, a, b in truth if not a)
    assert runs.removed == sum(a for _, a, b in truth if not b)


@given(st.binary(max_size=300), st.binary(max_size=300), st.binary(max_size=40))
def test_any_two_byte_strings_are_aligned(a: bytes, b: bytes, shared: bytes) -> None:
    compared(a + shared * 3 + b, b + shared * 2 + a)


@given(st.lists(st.sampled_from([b"\0" * 700, b"ab" * 300, b"record ", b"x"]), max_size=30), st.randoms())
def test_bytes_that_repeat_are_aligned(parts: list[bytes], random: Random) -> None:
    others = [part for part in parts if random.random() > 0.3]
    compared(b"".join(parts), b"".join(others))


def test_a_shift_of_everything_and_one_in_the_middle_of_much_are_found() -> None:
    base = Random(1).randbytes(3 << 20)

    assert list(compared(base, b"!" + base)) == [(Span(0, 0), Span(0, 1))]
    shifted = base[: 1 << 20] + b"abc" + base[1 << 20 : 2 << 20] + base[(2 << 20) + 3 :]
    assert [(run.a.size, run.b.size) for run in compared(base, shifted)] == [(0, 3), (3, 0)]


@pytest.mark.parametrize("same_size", [False, True])
def test_large_sources_are_lined_up_without_anchors_over_all_of_them(
    monkeypatch: pytest.MonkeyPatch, same_size: bool
) -> None:
    data = Random(9).randbytes(12 << 20)
    inserted = b"x" * 7 + data[: 5 << 20] + b"?" + data[(5 << 20) + 1 : 6 << 20] + data[(6 << 20) + 100_000 :]
    other = inserted + (b"y" * (len(data) - len(inserted)) if same_size else b"y")
    longest = [0]

    def noted(a: Source, a_range: tuple[int, int], *rest: Any) -> list[Stretch]:
        longest.append(a_range[1] - a_range[0])
        return stretches(a, a_range, *rest)

    monkeypatch.setattr(alignment, "stretches", noted)

    runs = compared(data, other)

    five, six = 5 << 20, 6 << 20
    end = len(data), len(inserted)
    assert list(runs) == [
        Run(Span(0, 0), Span(0, 7)),
        Run(Span(five, five + 1), Span(five + 7, five + 8)),
        Run(Span(six, six + 100_000), Span(six + 7, six + 7)),
        Run(Span(end[0], end[0]), Span(end[1], len(other))),
    ]
    assert max(longest) < 2 << 20


def test_equal_bytes_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    base = Random(2).randbytes(1 << 20)
    read = 0
    before = alignment.read_exactly

    def counted(source: BytesSource, offset: int, length: int) -> bytes:
        nonlocal read
        read += length
        return before(source, offset, length)

    monkeypatch.setattr(alignment, "read_exactly", counted)
    compared(base, base)
    assert read == 2 * len(base)
    read = 0
    compared(base, b"!" + base)
    assert read <= 2 * len(base) + 2 * alignment.BLOCK_BYTES


def test_very_many_differences_become_fewer_and_stay_in_memory() -> None:
    base = Random(3).randbytes(1 << 20)
    other = bytearray(base)
    other[:: 1 << 4] = bytes(byte ^ 1 for byte in base[:: 1 << 4])

    runs = compared(base, bytes(other))

    assert runs.gap > 0
    assert 0 < len(runs) < 1_000

    few = Alignment(1_000, 1_000)
    for at in range(0, 1_000, 10):
        few.add(Span(at, at + 1), Span(at, at + 1), most=10)
    assert len(few) <= 10
    assert few.changed == 100
    assert (few[0].a.start, few[len(few) - 1].a.stop) == (0, 991)


def test_progress_reaches_its_end_once_and_can_be_cancelled() -> None:
    base = Random(4).randbytes(2 << 20)
    progress = Progress()
    align(BytesSource(base), BytesSource(base[: 1 << 20] + b"x" + base[1 << 20 :]), progress)
    assert progress.done == progress.total == len(base) + 1

    cancelled = Progress()
    cancelled.cancel()
    with pytest.raises(Cancelled):
        align(BytesSource(base), BytesSource(base), cancelled)


def test_a_source_that_ends_early_is_not_a_difference() -> None:
    short = BytesSource(b"abc")
    short.size = 10

    with pytest.raises(SourceError, match="became shorter while it was compared"):
        align(short, BytesSource(bytes(10)), Progress())


@given(st.integers(0, 2**32), EDITS)
def test_every_byte_has_one_place_beside_the_other_side(seed: int, edits: list[tuple[str, int, int]]) -> None:
    random = Random(seed)
    a = random.randbytes(8_000)
    b, _ = edited(a, edits, random)
    view = compared(a, b)

    pieces = view.pieces(0, view.size)

    assert [piece.start for piece in pieces[1:]] == [piece.stop for piece in pieces[:-1]]
    for side, data in ((A, a), (B, b)):
        own = [(at, at + piece.stop - piece.start) for piece in pieces if (at := piece.at(side)) is not None]
        assert b"".join(data[start:stop] for start, stop in own) == data
        for offset in random.sample(range(len(data)), 20):
            piece = view.pieces(at := view.aligned(side, offset), at + 1)[0]
            assert piece.at(side) == offset
    for piece in pieces:
        same = piece.a is not None and piece.b is not None and a[piece.a] == b[piece.b]
        assert same is (piece.change is None)
        size = piece.stop - piece.start
        if piece.change is None and piece.a is not None and piece.b is not None:
            assert view.equal(Span(piece.a, piece.a + size), Span(piece.b, piece.b + size))
            assert not view.equal(Span(piece.a, piece.a + size), Span(piece.b + 1, piece.b + size + 1))
    cut = random.randrange(view.size)
    assert [p.change for p in view.pieces(cut, cut + 1)] == [p.change for p in pieces if p.start <= cut < p.stop]


def test_equal_bytes_beside_a_difference_are_known_as_such() -> None:
    base = Random(5).randbytes(2_000)
    view = compared(base, base[:1_000] + bytes([base[1_000] ^ 1]) + b"more" + base[1_000:])

    assert [view.run(at).change for at in range(len(view))] == [Change.ADDED]
    assert view.equal(Span(0, 1_000), Span(0, 1_000))
    assert view.equal(Span(1_000, 2_000), Span(1_005, 2_005))
    assert not view.equal(Span(999, 1_001), Span(999, 1_001))
