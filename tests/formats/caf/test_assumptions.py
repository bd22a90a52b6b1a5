"""Repairs of an index that wait for the user's word: ranges concluded from the others, ends, the version."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.edit import OverlaySource
from tests.formats.archives import codes
from tests.formats.caf.building import build_archive
from tests.formats.caf.repairing import checked, contents, edits, repaired, whole
from tests.samples.writers import index_json, ranges_of

Build = Callable[..., bytes]

FILES = {"a": b"one", "b": b"second", "c": b"3", "d": b"the fourth"}
DATA = b"".join(FILES.values())
SOUND = build_archive(index_json(ranges_of(FILES)), DATA)
MEMBERS = [(name.encode(), content) for name, content in FILES.items()]


def damaged(changes: dict[str, tuple[object, object]]) -> bytes:
    """The archive with other numbers for some members; None leaves a number out."""
    files: dict[str, object] = {}
    for name, start, stop in ranges_of(FILES):
        low, high = changes.get(name, (start, stop))
        entry = {"start_byte": low, "end_byte": high}
        files[name] = {word: number for word, number in entry.items() if number is not None}
    return build_archive(json.dumps({"format_version": "1.0", "files": files}, separators=(",", ":")), DATA)


@pytest.mark.parametrize(
    "numbers",
    [(0.5, 9), (3, None), (None, 9), (3, "9"), (-1, 9), (3, 2**80), (3, 99), (9, 3), (3, 1), (99, 9), (3, -9)],
)
def test_a_broken_range_is_what_the_other_members_leave(numbers: tuple[object, object]) -> None:
    before = checked(damaged({"b": numbers}))
    (repair,) = edits(before)
    assert repair.code == "caf-set-ranges"
    assert repair.claim.endswith("then 'b' is bytes 3 to 9.")
    assert set(codes(before)) <= repair.fixes
    after = repaired(before, claims=True)
    assert whole(after.source) == SOUND
    assert contents(after) == MEMBERS


def test_an_entry_that_is_no_object_tells_nothing() -> None:
    before = checked(SOUND.replace(b'{"start_byte":3,"end_byte":9}', b'"somewhere"'))
    assert codes(before) == ["caf-footer", "caf-entry-wrong-type", "caf-gap"]
    assert "caf-set-ranges" not in {each.code for each in edits(repaired(before, claims=True))}


def test_several_broken_ranges_are_inferred_from_the_numbers_left() -> None:
    after = repaired(checked(damaged({"a": (None, 3), "c": (9, "?")})), claims=True)
    assert contents(after) == MEMBERS
    assert not codes(after)


@pytest.mark.parametrize(
    "changes",
    [
        {"b": (4, None)},  # touches no gap
        {"b": (3, None), "c": (None, None)},  # two members in one gap
        {"b": (2, 9), "d": (11, 20)},  # an overlap and a gap
        {"b": (3, None), "d": (11, 20)},  # another gap is left
    ],
)
def test_what_is_not_sure_is_left_alone(changes: dict[str, tuple[object, object]]) -> None:
    assert not edits(checked(damaged(changes)))


def test_of_an_overlap_there_are_two_explanations() -> None:
    before = checked(damaged({"a": (0, 5)}))
    end, begin = edits(before)
    assert (end.code, begin.code) == ("caf-end-earlier", "caf-begin-later")
    assert end.title == "End 'a' where the next member begins"
    assert "does not say which" in end.claim
    assert whole(repaired(before, claims=True).source) == SOUND
    assert begin.edit is not None
    after = checked(OverlaySource(before.source, begin.edit))
    assert not codes(after)
    assert contents(after)[:2] == [(b"a", b"onese"), (b"b", b"cond")]


def test_a_number_that_stands_twice_is_written_once() -> None:
    before = checked(build_archive(SOUND[20:-4].replace(b'"end_byte":9', b'"end_byte":7,"end_byte":9'), DATA))
    assert codes(before) == ["caf-entry-duplicate-key"]
    assert whole(repaired(before, claims=True).source) == SOUND


@given(
    st.dictionaries(
        st.sampled_from("abcd"), st.tuples(st.none() | st.integers(-2, 25), st.none() | st.integers(-2, 25))
    )
)
def test_whatever_numbers_are_wrong_what_is_set_is_a_sound_archive(changes: dict[str, tuple[object, object]]) -> None:
    before = checked(damaged(changes))
    for repair in edits(before):
        assert repair.claim
        assert not codes(repaired(before, claims=True))


def test_ends_taken_as_inclusive_become_exclusive() -> None:
    shifted = [(name, start, stop - 1) for name, start, stop in ranges_of(FILES)]
    before = checked(build_archive(index_json(shifted), DATA))
    assert codes(before) == ["caf-end-byte-inclusive"]
    (repair,) = edits(before)
    assert "one byte longer" in repair.claim
    assert whole(repaired(before, claims=True).source) == SOUND


@pytest.mark.parametrize("empty", [0, -1])
def test_empty_members_stay_empty_when_ends_become_exclusive(empty: int) -> None:
    """Whether their writer took one from the end of an empty member too (``-1``) or not."""
    files = {**FILES, "none": b""}
    ranges = [(name, start, stop + (empty if start == stop else -1)) for name, start, stop in ranges_of(files)]
    before = checked(build_archive(index_json(ranges), DATA))
    assert set(codes(before)) - {"caf-entry-reversed"} == {"caf-end-byte-inclusive"}
    (repair,) = edits(before)
    assert repair.code == "caf-shift-ends"
    assert sorted(contents(repaired(before, claims=True))) == sorted((name.encode(), files[name]) for name in files)


@pytest.mark.parametrize(
    "index", ['{"files":{"a":{"start_byte":0,"end_byte":1}}}', '{ "files" : { "a":{"start_byte":0,"end_byte":1}} }']
)
def test_a_missing_version_is_written_in_front(index: str) -> None:
    before = checked(build_archive(index, b"x"))
    (repair,) = edits(before)
    assert "it does not say so" in repair.claim
    after = repaired(before, claims=True)
    assert not codes(after)
    assert json.loads(whole(after.source)[1:-4]) == {"format_version": "1.0", **json.loads(index)}


def test_one_broken_range_of_many_members() -> None:
    ranges: list[tuple[str, object, object]] = [(f"{number:06d}", number, number + 1) for number in range(8_000)]
    data = bytes(range(250)) * 32
    sound = build_archive(index_json(ranges), data)
    ranges[4_000] = ("004000", 4_000, 10**6)
    before = checked(build_archive(index_json(ranges), data, 7))
    assert whole(repaired(before, claims=True).source) == sound
