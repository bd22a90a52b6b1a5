import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.member import LARGEST, UNREADABLE, Codec, Members

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
    assert members[0].size == LARGEST
    assert not members[0].readable
    assert members[1].stored == 0
    assert members[1].spans[0].size == 0


def test_a_member_without_a_recorded_digest_says_so() -> None:
    members = Members(marks=True, digest="xxh64", digest_digits=16)
    members.append(b"with", 0, 1, digest=0)
    members.append(b"without", 1, 2)
    assert [member.digest for member in members] == ["xxh64:0000000000000000", None]


def test_there_is_no_member_beyond_the_last() -> None:
    with pytest.raises(IndexError):
        Members()[0]
