"""Bytes of an interrupted write have the colour of torn, not the red of damage."""

from __future__ import annotations

import pytest

from inspector.drawing.palette import MARKS, Mark
from tests.gui.conftest import Show


@pytest.mark.parametrize(("name", "torn"), [("torn-after-write-2.tacozip", True), ("flipped-blob-byte.rca", False)])
def test_the_bytes_have_the_colour_of_the_state(checked: Show, name: str, torn: bool) -> None:
    pane = checked(name).hex_pane
    look, labels = pane.hex.look, {each.label for each in pane.legend._entries}

    assert (pane.hex.scene.torn, pane.map.torn) == (torn, torn)
    assert pane.hex.scene.damage
    assert labels & {"torn", "damaged"} == {"torn" if torn else "damaged"}
    assert look.torn.color().name() == MARKS[look.scheme][Mark.WARNING].lower()
