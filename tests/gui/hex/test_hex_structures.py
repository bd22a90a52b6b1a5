"""Structures on the bytes: their colours as painted, their outlines, and their names in the lane."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.core.field import Run, Structure
from inspector.core.kinds import FAMILIES, Family, Role, declared_kinds, family_of
from inspector.core.program.progress import Progress
from inspector.drawing.colouring import ColourBy
from inspector.drawing.palette import COLOURS, CONTRAST, FAMILY_HUES, Scheme, contrast
from inspector.formats.taco.codes import TACO_ENTRY
from inspector.gui.hex.layout import Pane
from inspector.gui.hex.pages import Deliver, HexModel
from inspector.gui.hex.view import HexView
from inspector.gui.kit.theme import palette
from inspector.operations.session.archive_session import ArchiveSession
from tests.gui.hex.test_hex_palette import NOTICEABLE, VISIBLE, VISIONS, seen

Sample = Callable[[str], Path]
Show = Callable[..., HexView]
every_scheme = pytest.mark.parametrize("scheme", Scheme)


@pytest.fixture
def show(qtbot: QtBot, sample: Sample) -> Show:
    """Show the bytes of a sample from an offset on, as its session explains them."""

    def made(name: str, offset: int = 0, scheme: Scheme = Scheme.LIGHT, width: int = 1000) -> HexView:
        session = ArchiveSession(str(sample(name)))
        session.decode(Progress())

        def fetch(start: int, stop: int, deliver: Deliver) -> None:
            deliver(session.read(0, start, stop - start), session.runs(0, start, stop))

        view = HexView()
        qtbot.addWidget(view)
        view.setPalette(palette(scheme))
        view.resize(width, 500)
        view.setModel(HexModel(session.status().layers[0].size, fetch, view))
        with qtbot.waitExposed(view):
            view.show()
        view.goTo(offset)
        view.viewport().repaint()
        return view

    return made


def picture_of(view: HexView) -> QImage:
    return view.viewport().grab().toImage()


def colour(view: HexView, offset: int, picture: QImage | None = None) -> str:
    """The colour behind a byte, inside any line around it."""
    place = view.place_of(offset, Pane.HEX)
    return QColor((picture or picture_of(view)).pixel(place.left() + 3, place.top() + 3)).name().upper()


def assert_apart(one: str, other: str) -> None:
    for vision in VISIONS:
        assert math.dist(seen(one, vision), seen(other, vision)) >= NOTICEABLE, (vision, one, other)


@every_scheme
def test_a_chunk_header_is_not_a_reset_block(show: Show, scheme: Scheme) -> None:
    view = show("two-chunks.rca", 0x8F87, scheme)
    reset, blob = colour(view, 0x8F88), colour(view, 0x8F92)
    view.goTo(0x8010)
    view.viewport().repaint()
    chunk, content = colour(view, 0x8001), colour(view, 0x8020)

    for one, other in ((chunk, reset), (chunk, content), (reset, content), (reset, blob), (chunk, blob)):
        assert_apart(one, other)


@every_scheme
def test_a_footer_is_not_an_index_and_entries_differ(show: Show, scheme: Scheme) -> None:
    view = show("journey.caf", 0x291F, scheme)
    footer, index, last, before = (colour(view, at) for at in (0x291E, 0x291C, 0x28F0, 0x28D0))

    for one, other in ((footer, index), (index, last), (last, before), (footer, last)):
        assert_apart(one, other)


@every_scheme
def test_an_entry_is_not_the_next_one_nor_an_unused_one(show: Show, scheme: Scheme) -> None:
    view = show("two-entries.tacozip", 0xC8, scheme)
    first, second, unused, header, content = (colour(view, at) for at in (0x2E, 0x3E, 0x4E, 0x11, 0xD8))

    for one, other in ((first, second), (second, unused), (first, unused), (header, first), (header, content)):
        assert_apart(one, other)


@every_scheme
def test_what_is_painted_stands_out_from_the_base(show: Show, scheme: Scheme) -> None:
    least = 1.25 if scheme in CONTRAST else 1.1
    colours = COLOURS[scheme]
    for name, offset in (("two-chunks.rca", 0x8001), ("journey.caf", 0x291E), ("two-entries.tacozip", 0x2E)):
        view = show(name, offset + 1, scheme)
        assert contrast(colour(view, offset), colours.base) >= least
    for tones in colours.tones.values():
        assert contrast(tones.line, colours.base) >= VISIBLE


@every_scheme
def test_all_families_are_told_apart_as_painted(qtbot: QtBot, scheme: Scheme) -> None:
    """Two rows for each family, at the levels that neighbours take in turn."""
    kinds = {family: next(kind for kind in declared_kinds() if family_of(kind) is family) for family in FAMILIES}
    runs = [
        Run(at, at + 16, kind, Role.DATA, 0, (row,), Structure(at, at + 16, kind, family, "", level, (row,), None))
        for row, (family, kind, level) in enumerate((*each, level) for each in kinds.items() for level in (1, 2))
        for at in (row * 16,)
    ]
    view = HexView()
    qtbot.addWidget(view)
    view.setPalette(palette(scheme))
    view.resize(1000, 500)
    view.setModel(HexModel(len(runs) * 16, lambda start, stop, deliver: deliver(bytes(stop - start), runs), view))
    with qtbot.waitExposed(view):
        view.show()
    picture = picture_of(view)
    painted = [colour(view, run.start + 4, picture) for run in runs]

    for one, other in combinations({*painted, COLOURS[scheme].base}, 2):
        assert_apart(one, other)
    assert len(set(painted)) == 16
    if scheme in CONTRAST:
        assert min(contrast(each, COLOURS[scheme].base) for each in painted) >= 1.25


def test_a_structure_has_one_outline_around_its_whole_extent(show: Show) -> None:
    view = show("two-entries.tacozip", 0xC8)
    line = COLOURS[Scheme.LIGHT].tones[FAMILY_HUES[Family.TACO]].line
    picture = picture_of(view)

    def colours_at(offset: int, x: str, y: str) -> str:
        place = view.place_of(offset, Pane.HEX)
        at = {"left": place.left(), "middle": place.center().x(), "top": place.top(), "bottom": place.bottom()}
        return picture.pixelColor(at[x], at.get(y, place.center().y())).name().upper()

    for offset in range(0x2D, 0x30):
        assert colours_at(offset, "middle", "top") == line
    for offset in range(0x3A, 0x3D):
        assert colours_at(offset, "middle", "bottom") == line
    assert colours_at(0x2D, "left", "") == line
    assert colours_at(0x35, "left", "") not in (line, colour(view, 0x35, picture))  # a thin line between two fields


def test_each_structure_has_its_name_beside_its_rows(show: Show) -> None:
    view = show("two-entries.tacozip", 0)
    names = [text for _, text in view.lane.labels()]

    assert {"TACO_HEADER", "local header"} <= set(names)
    assert "TACO header, 2 of 7 entries in use" in names
    assert {"entry 0, METADATA/level0.parquet", "entry 1, COLLECTION.json"} <= set(names)
    assert {f"entry {number}, unused" for number in range(2, 7)} <= set(names)
    for bracket in view.lane.brackets:
        outer = bracket.structure.outer
        assert outer is None or (outer.start <= bracket.structure.start and bracket.structure.stop <= outer.stop)


def test_chunks_and_segments_are_numbered_and_say_where_they_began(show: Show) -> None:
    view = show("two-chunks.rca", 0x8F87)
    names = [text for _, text in view.lane.labels()]

    assert "reset block, hash of segment 1" in names
    assert any(name.startswith("↑ photos/tile_0001.png") for name in names)
    view.goTo(0x8000)
    assert "chunk 2 header, the last" in [text for _, text in view.lane.labels()]


def test_names_are_elided_to_fit_and_the_tooltip_has_the_rest(show: Show) -> None:
    view = show("two-entries.tacozip", 0, width=760)
    assert view.bytesPerRow() == 16
    for rect, text in view.lane.labels():
        assert rect.right() <= view.lane.width()
        bracket = view.lane.bracket_at(rect.center())
        assert bracket is not None
        if text.endswith("…"):
            assert bracket.structure.label in view.lane.describe(rect.center())
    assert any(text.endswith("…") for _, text in view.lane.labels())


def test_rows_of_sixteen_come_before_the_lane(show: Show) -> None:
    view = show("two-entries.tacozip", 0, width=620)

    assert (view.bytesPerRow(), view.lane.isVisible()) == (16, False)
    view.resize(1200, 500)
    assert (view.bytesPerRow(), view.lane.isVisible()) == (16, True)


def test_clicking_a_name_chooses_its_structure(show: Show, qtbot: QtBot) -> None:
    view = show("two-entries.tacozip", 0)
    place = next(rect for rect, text in view.lane.labels() if text == "entry 3, unused").center()

    with qtbot.waitSignal(view.lane.chosen) as told:
        QTest.mousePress(view.lane, Qt.MouseButton.LeftButton, pos=place)

    structure = told.args[0]
    assert (structure.kind, structure.start, structure.stop) == (TACO_ENTRY, 0x5D, 0x6D)


def test_only_what_is_lit_up_keeps_its_colour(show: Show) -> None:
    view = show("two-entries.tacozip", 0xC8)
    before = colour(view, 0x3E)

    view.mark(lit=frozenset({(TACO_ENTRY, False)}))
    assert (colour(view, 0x3E), colour(view, 0x4E)) == (before, COLOURS[Scheme.LIGHT].base)
    view.mark(lit=None)
    assert colour(view, 0x4E) != COLOURS[Scheme.LIGHT].base


@pytest.mark.parametrize("by", [ColourBy.KIND, ColourBy.VERDICT, ColourBy.MEMBER])
def test_colours_say_something_else_on_request(show: Show, by: ColourBy) -> None:
    view = show("two-entries.tacozip", 0xC8)
    entry, header, content = (colour(view, at) for at in (0x2E, 0x11, 0xD8))

    view.setColourBy(by)
    after = (colour(view, 0x2E), colour(view, 0x11), colour(view, 0xD8))

    assert after != (entry, header, content)
    base = COLOURS[Scheme.LIGHT].base
    assert [each == base for each in after] == {
        ColourBy.KIND: [False, False, False],
        ColourBy.VERDICT: [True, True, False],  # no digest says anything about headers
        ColourBy.MEMBER: [False, False, False],
    }[by]
