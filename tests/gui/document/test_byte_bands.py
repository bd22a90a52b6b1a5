"""The byte bands: what bytes look like beside the map, in the hex view, in words, and the ways to zeros and repeats."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.drawing.byte_class import CLASSES, ByteClass
from inspector.drawing.colouring import ColourBy, paint_of_look
from inspector.drawing.palette import COLOURS, Scheme
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.hex.beside.strip import PATTERNS, ByteBand
from inspector.gui.kit import preferences
from tests.gui.conftest import Show, press, settle

NOISE = random.Random(11).randbytes(60_000)


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A ZIP of stored members: text, zeros, noise and the text again."""
    path = tmp_path / "mixed.zip"
    text = " ".join(f"line {number}" for number in range(6_000)).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in (("text", text), ("zeros", bytes(60_000)), ("noise", NOISE), ("again", text)):
            archive.writestr(zipfile.ZipInfo(name), data)
    return path


@pytest.fixture
def tab(mixed: Path, show: Show, window: Window, qtbot: QtBot) -> Tab:
    """The ZIP with its byte bands."""
    tab = show(mixed)
    press(window, "show_bands")
    settle(qtbot, window)
    return tab


def seen_at(band: ByteBand, share: float) -> str:
    return band.describe(round(share * band.height()))


def test_bands_are_shown_on_request_and_say_in_words_what_each_stretch_is(
    tab: Tab, window: Window, qtbot: QtBot
) -> None:
    band, whole = tab.hex_pane.band, tab.document.size
    assert band.isVisible()
    assert "ASCII text" in seen_at(band, 0.1)
    assert "zeros" in seen_at(band, 0.35)
    assert "0.00 bits a byte" in seen_at(band, 0.35)
    assert "compressed or random" in seen_at(band, 0.6)
    assert any(label.startswith("zeros · ") for label in tab.hex_pane.legend.labels())

    band.setFocus()
    assert band.bands is not None
    assert (band.bands.start, band.bands.stop, band.bands.exact) == (0, whole, True)
    QTest.keyClick(band, Qt.Key.Key_End)
    settle(qtbot, window)
    assert tab.document.selection.caret == whole - 1

    press(window, "show_bands")
    settle(qtbot, window)
    assert not band.isVisible()
    assert not any(label.startswith("zeros") for label in tab.hex_pane.legend.labels())


def test_coloured_by_entropy_bytes_say_what_they_look_like(tab: Tab, window: Window, qtbot: QtBot) -> None:
    window.settings.put(preferences.COLOUR_BY, ColourBy.ENTROPY)
    press(window, "show_bands")  # they stay while the colours need them
    place = tab.document.size // 3
    tab.document.go_to(0, place, place)
    settle(qtbot, window)
    model = tab.hex_pane.hex.model
    assert tab.hex_pane.band.isVisible()
    assert model is not None
    assert {tint.paint for tint in model.tints_at(place, place + 256)} == {paint_of_look(ByteClass.ZEROS)}
    assert tab.byte.facts["Looks like"].plain_text() == "zeros, 0.00 bits a byte"
    assert all(" · " in label for label in tab.hex_pane.legend.labels())
    window.settings.put(preferences.COLOUR_BY, ColourBy.STRUCTURE)
    settle(qtbot, window)
    assert tab.byte.facts["Looks like"].plain_text() == ""


def test_no_two_classes_have_the_same_texture_or_colour() -> None:
    assert len({PATTERNS[each] for each in CLASSES}) == len(CLASSES)
    for scheme in Scheme:
        colours = COLOURS[scheme]
        fills = {colours.tones[hue].fills[1][0] for hue in colours.tones}
        assert len(fills) == len(colours.tones)
