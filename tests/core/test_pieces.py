"""Piece tables and their history against a plain bytearray."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from inspector.core.edit import History
from inspector.core.pieces import Piece, PieceSource, PieceTable, RepeatedSource
from inspector.core.source import BytesSource
from inspector.core.span import Span

FILE = bytes(range(256))


class Counted(BytesSource):
    """Counts reads, and the bytes they gave."""

    reads = 0
    bytes = 0

    def read(self, offset: int, length: int) -> bytes:
        found = super().read(offset, length)
        self.reads += 1
        self.bytes += len(found)
        return found


class Edited(RuleBasedStateMachine):
    """A table that is changed, undone and redone, and a bytearray that goes the same way."""

    @initialize(data=st.binary(max_size=40))
    def begin(self, data: bytes) -> None:
        self.history = History(PieceTable.of_bytes(data))
        self.plain = History(bytes(data))

    def put(self, table: PieceTable, start: int, stop: int, new: bytes) -> None:
        plain = bytearray(self.plain.now)
        plain[start:stop] = new
        self.history.put(table)
        self.plain.put(bytes(plain))

    def span(self, draw: st.DataObject) -> tuple[int, int]:
        places = st.integers(0, self.history.now.size)
        start, stop = sorted((draw.draw(places), draw.draw(places)))
        return start, stop

    @rule(draw=st.data(), new=st.binary(max_size=9))
    def replace(self, draw: st.DataObject, new: bytes) -> None:
        start, stop = self.span(draw)
        self.put(self.history.now.replace(start, stop, PieceTable.of_bytes(new)), start, stop, new)

    @rule(draw=st.data(), start=st.integers(0, 255), size=st.integers(0, 30))
    def insert_a_span_of_a_file(self, draw: st.DataObject, start: int, size: int) -> None:
        at, _ = self.span(draw)
        size = min(size, len(FILE) - start)
        content = PieceTable([Piece(BytesSource(FILE), start, size)])
        self.put(self.history.now.insert(at, content), at, at, FILE[start : start + size])

    @rule(draw=st.data(), pattern=st.binary(min_size=1, max_size=5), size=st.integers(0, 30))
    def insert_a_pattern(self, draw: st.DataObject, pattern: bytes, size: int) -> None:
        at, _ = self.span(draw)
        content = PieceTable.whole(RepeatedSource(pattern, size))
        self.put(self.history.now.insert(at, content), at, at, (pattern * 30)[:size])

    @rule(draw=st.data())
    def delete(self, draw: st.DataObject) -> None:
        start, stop = self.span(draw)
        self.put(self.history.now.delete(start, stop), start, stop, b"")

    @precondition(lambda self: self.history.now.size < 2_000)
    @rule(draw=st.data())
    def double(self, draw: st.DataObject) -> None:
        start, stop = self.span(draw)
        table = self.history.now
        self.put(table.insert(stop, table.slice(start, stop)), stop, stop, self.plain.now[start:stop])

    @rule()
    def undo(self) -> None:
        self.history.undo()
        self.plain.undo()

    @rule()
    def redo(self) -> None:
        self.history.redo()
        self.plain.redo()

    @rule(draw=st.data())
    def read_a_range(self, draw: st.DataObject) -> None:
        start, stop = self.span(draw)
        assert self.history.now.read(start, stop - start) == self.plain.now[start:stop]

    @invariant()
    def it_is_as_long(self) -> None:
        table = self.history.now
        assert table.size == len(self.plain.now)
        assert table.read(0, table.size + 1) == self.plain.now
        assert len(list(table.pieces())) == len(table)


TestEdited = Edited.TestCase


@given(st.binary(max_size=30), st.integers(0, 30))
def test_what_is_put_back_is_one_piece_again(data: bytes, at: int) -> None:
    base = PieceTable.of_bytes(data)
    at = min(at, len(data))
    back = base.insert(at, PieceTable.of_bytes(b"new")).delete(at, at + 3)

    assert len(back) <= 1
    assert back.read(0, 99) == data


def test_small_changes_are_read_with_one_read_of_what_is_beneath() -> None:
    base = Counted(bytes(10_000), "beneath")
    table = PieceTable.whole(base)
    for at in range(0, 10_000, 100):
        table = table.replace(at, at + 1, PieceTable.of_bytes(b"x"))

    assert table.read(0, 10_000).count(b"x") == 100
    assert (base.reads, base.bytes) == (1, 9_999)


def test_pieces_far_from_each_other_are_read_alone() -> None:
    base = Counted(bytes(1_000_000))
    table = PieceTable([Piece(base, 0, 10), Piece(base, 999_990, 10)])

    assert len(table.read(0, 20)) == 20
    assert base.bytes == 20


def test_a_file_that_became_shorter_gives_what_is_left_of_it() -> None:
    base = BytesSource(b"0123456789")
    table = PieceTable.whole(base).insert(8, PieceTable.of_bytes(b"abc"))
    base._data = b"01234"

    assert table.read(0, 20) == b"01234"


@pytest.mark.parametrize(("start", "stop"), [(-1, 2), (3, 2), (0, 5)])
def test_offsets_outside_are_refused(start: int, stop: int) -> None:
    with pytest.raises(ValueError, match="do not lie in 4"):
        PieceTable.of_bytes(b"abcd").delete(start, stop)


def test_a_source_of_pieces_says_what_is_of_its_base() -> None:
    base = BytesSource(b"0123456789", "name")
    table = PieceTable.whole(base)
    source = PieceSource(base, table.insert(4, PieceTable.of_bytes(b"--")).delete(0, 2))

    assert (source.name, source.read(0, 99)) == ("name", b"23--456789")
    assert list(source.from_base()) == [(0, Span(2, 4)), (4, Span(4, 10))]
