"""The list of pending changes: what a row says of bytes that are written, cut off or appended."""

from __future__ import annotations

from inspector.core.edit import Edit, Patch
from inspector.gui.kit.listing import Rows
from inspector.gui.panels.changing.changes import CHANGES, PAST, changes_of
from inspector.operations.protocol.edit_views import PastWrite


def said(edit: Edit) -> list[str]:
    model = Rows(CHANGES)
    model.show(changes_of(edit))
    return [str(model.index(row, 1).data()) for row in range(model.rowCount())]


def test_what_is_cut_off_is_a_change_of_its_own() -> None:
    assert said(Edit("Cut", (), 165, 125)) == ["Cut off 40 bytes at 125"]


def test_what_is_appended_says_so_and_shows_its_bytes() -> None:
    assert said(Edit("Grow", (Patch(3, b"", b"\x01\x02"),), 3, 5)) == ["Append 2 bytes at 3\n+ 01 02"]


def test_what_is_overwritten_stands_over_what_will_be() -> None:
    assert said(Edit("Put", (Patch(1, b"\x0a", b"\x0b"),), 3, 3)) == ["\N{MINUS SIGN} 0A\n+ 0B"]


def test_a_filter_keeps_the_numbers_of_earlier_writes() -> None:
    model = Rows(PAST)
    writes = tuple(PastWrite(float(at), label, (), 0, at == 0) for at, label in enumerate(("Set", "Cut", "Set again")))
    model.show(enumerate(writes), "SET")
    assert [model.index(row, 1).data() for row in range(model.rowCount())] == ["Set", "Set again"]
    assert [number for number, _ in model.rows] == [0, 2]
    model.show(enumerate(writes), "nothing")
    assert model.rowCount() == 0
