from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.member import HAS_DIGEST, LARGEST, STRETCH, UNREAD, UNREADABLE, Codec, Members
from inspector.core.source import BytesSource, SplicedSource
from inspector.core.span import Span

names = st.lists(st.binary(max_size=12), max_size=20)


@given(names)
def test_columns_give_back_what_was_put_in(paths: list[bytes]) -> None:
    members = Members(sizes=True, codecs=True, heads=True, marks=True, digest="crc32", digest_digits=8)
    for number, path in enumerate(paths):
        assert (
            members.append(path, number, number + 5, size=number, codec=Codec.ZSTD, head=number, digest=number)
            == number
        )
    assert [member.path for member in members] == paths
    assert [member.size for member in members] == list(range(len(paths)))
    assert all(member.stored == 5 and member.codec is Codec.ZSTD for member in members)
    assert [member.digest for member in members] == [f"crc32:{number:08x}" for number in range(len(paths))]


def test_claims_too_large_for_a_column_are_clamped() -> None:
    members = Members(sizes=True, marks=True)
    members.append(b"huge", 0, 2**80, size=2**90, marks=UNREADABLE)
    members.append(b"reversed", 10, 5)
    members.append(b"before the file", -7, -2)
    assert members[0].size == LARGEST
    assert not members[0].readable
    assert members[1].stored == 0
    assert members[1].spans[0].size == 0
    assert (members[2].spans, members[2].stored) == ((Span(0, 0),), 0)


def test_a_member_without_a_recorded_digest_says_so() -> None:
    members = Members(marks=True, digest="xxh64", digest_digits=16)
    members.append(b"with", 0, 1, digest=0)
    members.append(b"without", 1, 2)
    assert [member.digest for member in members] == ["xxh64:0000000000000000", None]


def test_the_codecs_of_a_stretch_are_those_of_its_members() -> None:
    members = Members(codecs=True)
    for codec in (Codec.STORED, Codec.ZSTD, Codec.DEFLATE):
        members.append(b"a", 0, 1, codec=codec)
    assert members.codecs_in(1, 3) == {Codec.ZSTD, Codec.DEFLATE}
    assert Members().codecs_in(0, 0) == {Codec.STORED}


def unread(count: int) -> tuple[Members, list[Sequence[int]]]:
    """Members whose headers are read when they are looked at, and which of them were read together."""
    members = Members(sizes=True, marks=True, digest="xxh64", digest_digits=2)
    for index in range(count):
        members.append(b"begin", 0, 9, digest=index % 200, marks=UNREAD)
    asked: list[Sequence[int]] = []

    def read(indices: Sequence[int]) -> None:
        asked.append(indices)
        for index in indices:
            members.settle(index, b"whole %d" % index, 10, 14)

    members.reader = read
    return members, asked


def test_a_member_whose_header_was_left_out_is_read_when_it_is_looked_at() -> None:
    members, asked = unread(3)
    assert (members.path(1), members.seen(1).path, members.unread(1)) == (b"begin", b"begin", True)
    assert (members.as_appended, asked) == (True, [])

    found = members[1]
    assert (found.path, found.size, found.spans, found.marks) == (b"whole 1", 4, (Span(10, 14),), HAS_DIGEST)
    assert found.digest == "xxh64:01"
    assert (members.path(1), members.unread(1), members.unread(2)) == (b"whole 1", False, True)
    assert members[1] == found
    assert (members.as_appended, asked) == (False, [[1]])


def test_headers_that_were_left_out_are_read_many_at_a_time() -> None:
    members, asked = unread(STRETCH + 2)
    members.learn([0])
    assert all(member.path.startswith(b"whole") for member in members)
    assert [len(indices) for indices in asked] == [1, STRETCH - 1, 2]


def test_there_is_no_member_beyond_the_last() -> None:
    with pytest.raises(IndexError):
        Members()[0]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.lists(st.integers(1, 20), min_size=1, max_size=5))
def test_many_members_at_once_are_what_they_are_one_by_one(sizes: list[int], pieces: list[int]) -> None:
    spans = [Span(3 * sum(pieces[:at]), 3 * sum(pieces[:at]) + size) for at, size in enumerate(pieces)]
    for stream in (None, SplicedSource(BytesSource(bytes(400)), spans, "stream")):
        members = Members(codec=Codec.ZSTD, sizes=True, stream=stream)
        for number, size in enumerate(sizes):
            start = sum(sizes[:number])
            members.append(b"%d" % number, start, start + size, size=number)
        for first in range(len(sizes)):
            for stop in range(first, len(sizes) + 1):
                plain = members.plain(first, stop)
                one_by_one = [members.seen(at) for at in range(first, stop)]
                if plain is None:
                    assert stream is not None
                    continue
                assert plain.paths == [each.path for each in one_by_one]
                assert [*plain.sizes] == [each.size for each in one_by_one]
                assert [*zip(plain.starts, plain.stops, strict=True)] == [each.spans[0] for each in one_by_one]
                assert all(len(each.spans) == 1 for each in one_by_one)
