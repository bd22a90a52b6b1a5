"""Edits, seen through an overlay, taken back and merged, against plain changes of bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.edit import Edit, OverlaySource, Patch, combined, differing, merged, overlaid
from inspector.core.source import BytesSource
from inspector.core.span import Span


def made(data: bytes, edit: Edit) -> bytes:
    """What the edit leaves, done the plain way."""
    found = bytearray(data)
    for patch in edit.patches:
        assert found[patch.offset : patch.offset + len(patch.old)] == patch.old
        found[patch.offset : patch.offset + len(patch.old)] = patch.new
    return bytes(found[: edit.new_size])


@st.composite
def edits(draw: st.DrawFn, data: bytes, same_size: bool = False) -> Edit:
    """Any edit of ``data``: runs that do not overlap, in any order, then growing, shrinking or neither."""
    size = len(data) if same_size else draw(st.integers(0, len(data) + 20))
    cuts = sorted(draw(st.lists(st.integers(0, min(size, len(data))), max_size=8, unique=True)))
    patches = []
    for start, stop in zip(cuts[::2], cuts[1::2], strict=False):
        patches.append(Patch(start, data[start:stop], draw(st.binary(min_size=stop - start, max_size=stop - start))))
    patches = draw(st.permutations(patches))
    if size > len(data):
        patches.append(Patch(len(data), b"", draw(st.binary(min_size=size - len(data), max_size=size - len(data)))))
    return Edit("Change", tuple(patches), len(data), size)


@given(st.data(), st.binary(max_size=60))
def test_overlay_reads_as_if_written(draw: st.DataObject, data: bytes) -> None:
    edit = draw.draw(edits(data))
    after = made(data, edit)
    overlay = OverlaySource(BytesSource(data), edit)
    assert overlay.size == len(after)
    offset, length = draw.draw(st.integers(0, len(after) + 3)), draw.draw(st.integers(0, len(after) + 3))
    assert overlay.read(offset, length) == after[offset : offset + length]


@given(st.data(), st.binary(max_size=60))
def test_taking_back_leaves_what_was(draw: st.DataObject, data: bytes) -> None:
    edit = draw.draw(edits(data))
    back = edit.reverted(data[edit.dropped.start : edit.dropped.stop])
    assert made(made(data, edit), back) == data
    # What was written last is taken back first; where the file grew there is nothing to put back.
    stood = [Span(each.offset, each.offset + len(each.old)) for each in reversed(edit.patches) if each.old]
    assert [each.span for each in back.patches] == stood + [edit.dropped] * bool(edit.dropped.size)


@given(st.data(), st.binary(max_size=60))
def test_merged_edits_leave_what_they_would_one_after_another(draw: st.DataObject, data: bytes) -> None:
    first = draw.draw(edits(data))
    between = made(data, first)
    second = draw.draw(edits(between))
    one = merged(BytesSource(data), [first, second], "Both")
    assert made(data, one) == made(between, second)
    source = overlaid(BytesSource(data), [first, second])
    assert source.read(0, source.size) == made(between, second)
    assert merged(BytesSource(data), [first], "Alone") is first


@given(st.data(), st.binary(max_size=60))
def test_combined_edits_keep_the_order_of_the_first(draw: st.DataObject, data: bytes) -> None:
    first = draw.draw(edits(data))
    between = made(data, first)
    second = draw.draw(edits(between, same_size=True))
    one = combined(first, second, "Both")
    assert made(data, one) == made(between, second)
    kept, asked = ([patch.span for patch in edit.patches] for edit in (one, first))
    assert [span.start for span in kept[: len(asked)]] == [span.start for span in asked]
    assert kept[: max(0, len(asked) - 1)] == asked[:-1]  # the last may have grown by what follows upon it


def test_what_follows_upon_the_last_patch_becomes_part_of_it() -> None:
    first = Edit("Change", (Patch(6, b"g", b"G"), Patch(0, b"ab", b"AB")), 8, 8)
    second = Edit("And", (Patch(1, b"Bcd", b"bCD"), Patch(7, b"h", b"H")), 8, 8)
    one = combined(first, second, "Both")
    assert one.patches == (Patch(6, b"g", b"G"), Patch(0, b"abcd", b"AbCD"), Patch(7, b"h", b"H"))


def test_an_edit_that_changes_the_size_is_combined_with_none_before_it() -> None:
    first, grown = Edit("Change", (Patch(0, b"a", b"x"),), 1, 1), Edit("Grow", (Patch(1, b"", b"b"),), 1, 2)
    for second in (grown, Edit("Cut", (), 1, 0), Edit("Of another file", (), 2, 2)):
        with pytest.raises(ValueError, match="The second edit changes the size"):
            combined(first, second, "Both")


@given(st.data(), st.binary(max_size=60))
def test_differing_bytes_are_exactly_those_that_change(draw: st.DataObject, data: bytes) -> None:
    edit = draw.draw(edits(data))
    after = made(data, edit)
    changed = {at for span in differing(edit) for at in range(span.start, span.stop)}
    assert changed == {at for at in range(len(after)) if data[at : at + 1] != after[at : at + 1]}


@pytest.mark.parametrize(
    ("patches", "size"),
    [
        ([Patch(0, b"ab", b"a")], 10),
        ([Patch(0, b"ab", b"abc")], 10),
        ([Patch(0, b"ab", b"xy"), Patch(1, b"b", b"z")], 10),
        ([Patch(-1, b"", b"")], 10),
        ([], 11),
        ([Patch(11, b"", b"x")], 12),
        ([Patch(8, b"ab", b"xy")], 9),
    ],
)
def test_what_is_no_edit_is_refused(patches: list[Patch], size: int) -> None:
    with pytest.raises(ValueError, match=r"\."):
        Edit("Change", tuple(patches), 10, size)
