"""Stretches of the central directory that are overwritten: no repair loses a member that a local header tells of."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.core.verdict import State, Verdict
from tests.formats.archives import after
from tests.formats.zip.zip_building import (
    PLAIN,
    STREAMED,
    WHOLE,
    checked,
    contents,
    directory_of,
    made,
    patched,
    planned,
    verified,
    written,
)

COMMENTED = written(comment=b"a comment")
FILLS = (b"\0", b"\xff", b"PK\1\2", b"\x5a\0\0\x17")


def _members(count: int) -> bytes:
    """An archive of members of some hundred bytes, one of them empty."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for index in range(count):
            archive.writestr(f"DATA/member {index}", bytes((index,)) * index * 100)
    return file.getvalue()


MANY = _members(6)


def _overwritten(data: bytes, first: int, size: int, fill: bytes) -> bytes:
    """``data`` with ``size`` bytes of its directory, at most to its end, overwritten from its byte ``first`` on."""
    start, end = directory_of(data), data.rindex(b"PK\5\6")
    at = start + first % (end - start)
    stop = min(end, at + size)
    return patched(data, at, (fill * size)[: stop - at])


@given(
    st.sampled_from([WHOLE, STREAMED, PLAIN, COMMENTED, MANY]),
    st.integers(0, 400),
    st.integers(1, 300),
    st.sampled_from(FILLS),
)
@example(MANY, 61, 120, b"\0")
@example(MANY, 42, 4, b"\0")
@example(MANY, 16, 12, b"\0")
@example(MANY, 75, 22, b"\0")
def test_no_repair_that_needs_no_word_loses_a_member(data: bytes, first: int, size: int, fill: bytes) -> None:
    result = planned(_overwritten(data, first, size, fill))

    whole = Counter(map(zlib.crc32, contents(data).values()))
    now = Counter(verified(result.after).values())
    assert set(now) >= set(verified(result.before).values())
    if "zip-rebuild-end" in made(result):
        assert now >= whole


@pytest.mark.parametrize("size", [100, 138, 150])
def test_an_entry_of_zeros_does_not_end_the_first_member(size: int) -> None:
    """An entry without a name and with the offset 0 claims the first member, and no content fits its CRC-32."""
    second = MANY.index(b"PK\1\2", directory_of(MANY) + 4)
    broken = patched(MANY, second + 5, bytes(size))

    result = planned(broken)

    assert (result.state, contents(after(result))) == (State.SOUND, contents(MANY))
    assert "have no local header" not in " ".join(result.repairs[0].loses)


def test_a_size_of_zero_is_not_proved_by_a_content_of_nothing() -> None:
    """CRC-32 and sizes of one entry are zero: the local header knows better, and is not set to that."""
    last = MANY.rindex(b"PK\1\2")
    broken = patched(MANY, last + 16, bytes(12))

    archive = checked(broken)
    result = planned(broken)

    assert archive.verdict(5) is Verdict.MISMATCH
    assert (result.state, contents(after(result))) == (State.SOUND, contents(MANY))


def test_an_entry_that_claims_another_member_gives_back_its_own() -> None:
    """The directory can be read to its end, and one of its entries leads where another one leads by right."""
    last = MANY.rindex(b"PK\1\2")
    broken = patched(MANY, last + 42, bytes(4))

    result = planned(broken)

    assert made(result) == ["zip-rebuild-end"]
    assert contents(after(result)) == contents(MANY)


def test_no_entries_at_all_are_not_an_archive_that_was_moved() -> None:
    """Without an entry nothing says that bytes were put before the archive; its members stand where they stood."""
    start, end = directory_of(PLAIN), PLAIN.rindex(b"PK\5\6")
    broken = patched(patched(PLAIN, start, bytes(end - start)), end + 8, bytes(8))

    assert contents(after(planned(broken))) == contents(PLAIN)
