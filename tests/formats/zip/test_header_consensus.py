"""One of a member's two headers is wrong: its content tells which, but for its name."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.verdict import State
from inspector.operations.check.checking import state_of
from tests.formats.archives import after
from tests.formats.zip.zip_building import (
    STREAMED,
    WHOLE,
    checked,
    contents,
    directory_of,
    made,
    patched,
    planned,
    verified,
)

MEMBER = 3
"""One that has content."""
FIELDS = {
    "method": (10, 8, 2),
    "encrypted": (8, 6, 1),
    "stored size": (20, 18, 4),
    "size": (24, 22, 4),
    "name length": (None, 26, 2),
    "extra length": (None, 28, 2),
    "signature": (None, 0, 4),
}
"""Where each stands in the central and in the local header, and how many bytes it has."""


def headers(data: bytes) -> tuple[int, int]:
    """Where the central and the local header of the member MEMBER begin."""
    at = directory_of(data)
    for _ in range(MEMBER):
        at += 46 + sum(struct.unpack("<HHH", data[at + 28 : at + 34]))
    return at, int.from_bytes(data[at + 42 : at + 46], "little")


def contradicted() -> Iterator[object]:
    """Every field of both headers, of a member with its sizes in the local one, and of one with a descriptor.

    Lengths in the central header lead to the next one, so they stay; a descriptor takes the place of the local sizes.
    """
    for name, data in (("whole", WHOLE), ("streamed", STREAMED)):
        for field, (*places, _) in FIELDS.items():
            for side, at in enumerate(places):
                if at is not None and not (data is STREAMED and side and field in ("stored size", "size")):
                    place = headers(data)[side] + at
                    yield pytest.param(data, place, id=f"{name}-{field}-{('central', 'local')[side]}")


@pytest.mark.parametrize(("data", "at"), list(contradicted()))
def test_the_header_that_the_content_contradicts_is_set_right(data: bytes, at: int) -> None:
    broken = patched(data, at, bytes([data[at] ^ 1]))
    result = planned(broken)
    assert state_of([checked(broken)]) in (State.DAMAGED, State.WARNING)
    assert after(result) == data
    assert made(result) == ["zip-set-headers"]
    assert not result.repairs[0].claim
    assert not result.repairs[0].loses


@pytest.mark.parametrize("side", [0, 1], ids=["central", "local"])
def test_which_name_is_right_is_for_the_user_to_say(side: int) -> None:
    at = headers(WHOLE)[side] + (46, 30)[side]
    broken = patched(WHOLE, at, bytes([WHOLE[at] ^ 2]))
    result = planned(broken)
    assert made(result) == []
    assert [each.code for each in result.waiting] == ["zip-name-central-3", "zip-name-local-3"]
    assert all("is its name" in each.claim for each in result.waiting)
    right = planned(broken, ("zip-name-local-3", "zip-name-central-3")[side])
    assert after(right) == WHOLE
    other = planned(broken, ("zip-name-central-3", "zip-name-local-3")[side])
    assert other.state is State.SOUND
    assert set(contents(after(other)).values()) == set(contents(WHOLE).values())


def test_a_name_that_is_a_hazard_is_not_offered() -> None:
    at = headers(WHOLE)[1] + 30
    result = planned(patched(WHOLE, at, b"\0"))
    assert [each.code for each in result.waiting] == ["zip-name-central-3"]


def test_content_that_neither_header_fits_is_left_alone() -> None:
    at, head = headers(WHOLE)
    broken = patched(patched(WHOLE, at + 10, b"\x63"), head + 60, bytes([WHOLE[head + 60] ^ 1]))
    result = planned(broken)
    assert "zip-set-headers" not in made(result)
    assert result.state is State.DAMAGED


@pytest.mark.parametrize("field", [28, 30, 32], ids=["name", "extra", "comment"])
@pytest.mark.parametrize("bit", range(6))
def test_a_header_whose_own_lengths_are_wrong_is_made_anew(field: int, bit: int) -> None:
    at = headers(WHOLE)[0] + field
    result = planned(patched(WHOLE, at, bytes([WHOLE[at] ^ 1 << bit])))
    assert result.state is State.SOUND
    assert contents(after(result)) == contents(WHOLE)


def test_the_method_with_which_content_was_read_goes_before_that_of_a_damaged_local_header() -> None:
    """The directory's entry is made anew for its name, and its method is the only right one that is left."""
    at, head = headers(WHOLE)
    broken = patched(patched(WHOLE, head + 8, b"\0"), at + 28, b"\0")
    result = planned(broken)
    assert result.state is State.SOUND
    assert contents(after(result)) == contents(WHOLE)


@given(st.data())
def test_whatever_is_wrong_with_headers_what_is_whole_stays(choice: st.DataObject) -> None:
    data = choice.draw(st.sampled_from((WHOLE, STREAMED)))
    broken = bytearray(data)
    for _ in range(choice.draw(st.integers(1, 3))):
        start = choice.draw(st.sampled_from(headers(data)))
        broken[start + choice.draw(st.integers(0, 50))] = choice.draw(st.integers(0, 255))
    archive = checked(bytes(broken))
    # By content, for a name that was cut short comes back whole.
    assert set(verified(archive).values()) <= set(verified(planned(bytes(broken)).after).values())
