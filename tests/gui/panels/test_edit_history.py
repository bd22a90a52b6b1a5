"""Undo and redo of changes that are not written yet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.edit import Edit, OverlaySource, Patch
from inspector.core.source import BytesSource
from inspector.gui.document.editing import EditHistory

BASE = bytes(range(20))


def change(shown: bytes, offset: int, new: bytes) -> Edit:
    return Edit(f"Change {offset}", (Patch(offset, shown[offset : offset + len(new)], new),), len(shown), len(shown))


def shown(history: EditHistory) -> bytes:
    pending = history.now
    return BASE if pending is None else OverlaySource(BytesSource(BASE), pending).read(0, 100)


def label(history: EditHistory) -> str:
    return history.now.label if history.now is not None else ""


@given(
    st.lists(
        st.one_of(
            st.sampled_from(["undo", "redo"]),
            st.tuples(st.integers(0, 19), st.binary(min_size=1, max_size=4)),
        ),
        max_size=30,
    )
)
def test_undo_and_redo_walk_through_every_state(steps: list[str | tuple[int, bytes]]) -> None:
    history, states, at = EditHistory(), [BASE], 0
    for step in steps:
        if step == "undo":
            history.undo()
            at = max(0, at - 1)
        elif step == "redo":
            history.redo()
            at = min(len(states) - 1, at + 1)
        else:
            offset, new = int(step[0]), bytes(step[1])[: 20 - int(step[0])]
            history.add(change(states[at], offset, new))
            now = states[at][:offset] + new + states[at][offset + len(new) :]
            states[at + 1 :] = [now]
            at += 1
        assert shown(history) == states[at]
        assert (history.can_undo, history.can_redo) == (at > 0, at + 1 < len(states))
        for stale in states:  # whatever a view still holds
            held = bytearray(stale)
            for offset, data in history.overlay():
                held[offset : offset + len(data)] = data
            assert held == states[at]


def test_only_a_lone_change_may_change_the_size() -> None:
    history = EditHistory()
    history.add(change(BASE, 3, b"x"))
    with pytest.raises(ValueError, match="size"):
        history.add(Edit("Cut", (), 20, 10))


def test_the_label_says_what_undoing_would_take_back() -> None:
    history = EditHistory()
    history.add(change(BASE, 3, b"x"))
    history.add(change(shown(history), 4, b"y"))
    assert label(history) == "Change 4"
    history.undo()
    assert (label(history), history.can_redo) == ("Change 3", True)
    history.clear()
    assert (history.now, history.can_undo, history.can_redo) == (None, False, False)


@given(st.lists(st.tuples(st.integers(0, 19), st.binary(min_size=1, max_size=4)), max_size=12))
def test_what_stands_on_disk_is_known_of_every_byte_ever_touched(steps: list[tuple[int, bytes]]) -> None:
    history, touched = EditHistory(), set()
    for offset, data in steps:
        new = data[: len(BASE) - offset]
        history.add(change(shown(history), offset, new))
        touched |= set(range(offset, offset + len(new)))
        history.undo()  # what comes next takes the place of this step
    known = {offset + at: byte for offset, run in history.overlay() for at, byte in enumerate(run)}
    assert known == {offset: BASE[offset] for offset in touched}
