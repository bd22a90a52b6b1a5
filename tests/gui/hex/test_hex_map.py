from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from inspector.core.kinds import ROLES, Family, Kind, Role, family_bit, role_bit
from inspector.drawing.colouring import ColourBy, roles_in
from inspector.drawing.palette import COLOURS, FAMILY_HUES, Scheme
from inspector.formats.rca import CHUNK_HEADER
from inspector.formats.taco.codes import TACO_ENTRY
from inspector.gui.hex.beside.legend import Legend, LegendEntry, role_entries, structure_entries
from inspector.gui.hex.beside.strip import FileMap, first_of, labels_of
from inspector.gui.kit.theme import palette

COLOUR = COLOURS[Scheme.LIGHT]
SIZE = 64 << 30
LEFT = Qt.MouseButton.LeftButton


def row_of(*roles: Role) -> int:
    return sum(role_bit(role) for role in roles)


@pytest.fixture
def made(qtbot: QtBot) -> Callable[..., FileMap]:
    def make(rows: list[int] | None = None) -> FileMap:
        drawn = FileMap()
        qtbot.addWidget(drawn)
        drawn.setPalette(palette(Scheme.LIGHT))
        drawn.resize(drawn.sizeHint().width(), 400)
        drawn.setSize(SIZE)
        if rows is not None:
            drawn.show_state(sets=rows)
        with qtbot.waitExposed(drawn):
            drawn.show()
        return drawn

    return make


def colours(drawn: FileMap, y: int) -> list[str]:
    """The colours of a row of pixels from left to right, each once."""
    picture = drawn.grab().toImage()
    return list(dict.fromkeys(picture.pixelColor(x, y).name().upper() for x in range(drawn.width())))


def test_names_on_the_map_do_not_cover_each_other_and_landmarks_come_first() -> None:
    data, footer = family_bit(Family.CONTENT), family_bit(Family.END)
    sets = [data] * 100 + [footer]
    names = labels_of(sets, 12, ColourBy.STRUCTURE)
    assert [each.name for each in names] == [Family.CONTENT.value, Family.END.value]
    assert names[0].row == 0
    assert 101 - 2 * 12 <= names[1].row <= 101 - 12
    crowded = labels_of(([data] * 3 + [footer] * 3) * 20, 12, ColourBy.STRUCTURE)
    assert crowded
    assert all(after.row - before.row >= 2 * 12 for before, after in pairwise(crowded))
    assert labels_of([], 12, ColourBy.KIND) == []


def test_names_on_the_map_are_brief_where_they_would_be_cut() -> None:
    found = [first_of(family.value) for family in Family]
    assert found == ["chunk headers", "reset", "headers", "TACO header", "member data", "index", "footer", "padding"]


def test_rows_are_wanted_when_the_height_is_another_one(made: Callable[..., FileMap], qtbot: QtBot) -> None:
    drawn = made()

    with qtbot.waitSignal(drawn.rowsRequested) as told:
        drawn.resize(drawn.width(), 300)

    assert told.args == [drawn.height()] == [300]


def test_several_roles_share_the_width(made: Callable[..., FileMap]) -> None:
    drawn = made([row_of(Role.DATA)] * 200 + [row_of(Role.DATA, Role.NAME)] + [row_of(Role.DIGEST)] * 199)

    data, name, digest = (COLOUR.fill(role) for role in (Role.DATA, Role.NAME, Role.DIGEST))
    assert {data, name, digest} & set(colours(drawn, 100)) == {data}
    assert [colour for colour in colours(drawn, 200) if colour in (data, name, digest)] == [name, data]
    assert {data, name, digest} & set(colours(drawn, 300)) == {digest}


def test_one_byte_of_gap_among_data_is_hatched(made: Callable[..., FileMap]) -> None:
    rows = [row_of(Role.DATA)] * 400
    rows[200] = row_of(Role.DATA, Role.GAP)
    drawn = made(rows)

    assert COLOUR.strokes[Role.GAP] in colours(drawn, 200)
    assert COLOUR.strokes[Role.GAP] not in colours(drawn, 199)


def test_damage_has_a_mark_however_small(made: Callable[..., FileMap]) -> None:
    drawn = made([row_of(Role.DATA)] * 400)

    drawn.show_state(damage=[(SIZE // 2, SIZE // 2 + 1)])

    assert COLOUR.damage in colours(drawn, 200)
    assert COLOUR.damage not in colours(drawn, 210)


def test_what_is_shown_is_framed(made: Callable[..., FileMap]) -> None:
    drawn = made([row_of(Role.DATA)] * 400)

    drawn.setShown(SIZE - 640, SIZE)

    drawn.clearFocus()
    assert COLOUR.outline in colours(drawn, 398)
    assert COLOUR.outline not in colours(drawn, 200)
    drawn.setFocus()
    assert COLOUR.selection in colours(drawn, 398)
    assert "shown" in drawn.accessibleDescription()


def test_a_click_jumps_there_and_a_drag_goes_on(made: Callable[..., FileMap]) -> None:
    drawn = made([row_of(Role.DATA)] * 400)
    jumps: list[int] = []
    drawn.jumped.connect(jumps.append)

    QTest.mousePress(drawn, LEFT, pos=QPoint(20, 100))
    QTest.mouseMove(drawn, QPoint(20, 300))
    QTest.mouseRelease(drawn, LEFT, pos=QPoint(20, 300))

    assert jumps[0] == SIZE // 4
    assert all(0 <= jump < SIZE for jump in jumps)


def test_keys_jump(made: Callable[..., FileMap]) -> None:
    drawn = made([row_of(Role.DATA)] * 400)
    drawn.setShown(1000, 2000)
    jumps: list[int] = []
    drawn.jumped.connect(jumps.append)

    for key in (
        Qt.Key.Key_Home,
        Qt.Key.Key_End,
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
        Qt.Key.Key_PageDown,
        Qt.Key.Key_PageUp,
    ):
        QTest.keyClick(drawn, key)

    assert jumps == [0, SIZE - 1, 0, 2000, 1000 + SIZE // 20, 0]


def test_a_tooltip_says_what_is_there(made: Callable[..., FileMap]) -> None:
    drawn = made([row_of(Role.DATA, Role.GAP)] * 400)
    drawn.show_state(damage=[(SIZE // 2, SIZE // 2 + 1)])

    assert drawn.describe(0) == f"0x00000000 … 0x{SIZE // 400:08x}\nmember data, gap"
    assert drawn.describe(200).endswith("damaged: see the findings")
    assert drawn.describe(-1) == drawn.describe(400) == ""


@pytest.mark.qt_log_ignore("This plugin does not support raise")  # a tooltip raises itself; there is no screen
def test_the_tooltip_is_shown(made: Callable[..., FileMap], qtbot: QtBot) -> None:
    drawn = made([row_of(Role.DIGEST)] * 400)
    place = QPoint(20, 50)

    QApplication.sendEvent(drawn, QHelpEvent(QEvent.Type.ToolTip, place, drawn.mapToGlobal(place)))

    qtbot.waitUntil(QToolTip.isVisible)
    assert "digest or checksum" in QToolTip.text()
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_a_map_of_nothing_is_empty_and_jumps_nowhere(made: Callable[..., FileMap]) -> None:
    drawn = made()
    drawn.setSize(0)
    drawn.show_state(sets=[])
    drawn.show_state(damage=[(0, 0)])
    jumps: list[int] = []
    drawn.jumped.connect(jumps.append)

    QTest.mouseClick(drawn, LEFT, pos=QPoint(20, 100))
    QTest.keyClick(drawn, Qt.Key.Key_End)

    assert jumps == []
    assert set(colours(drawn, 100)) == {COLOUR.base, COLOUR.rule}


def test_colours_follow_the_palette(made: Callable[..., FileMap]) -> None:
    drawn = made([row_of(Role.NAME)] * 400)

    drawn.setPalette(palette(Scheme.DARK))

    assert COLOURS[Scheme.DARK].fill(Role.NAME) in colours(drawn, 200)


# ---- the legend ----------------------------------------------------------------------------------------------------


def legend(qtbot: QtBot, width: int = 900) -> Legend:
    shown = Legend()
    shown.setEntries(role_entries(row_of(*ROLES)), damage="damaged")
    qtbot.addWidget(shown)
    shown.setPalette(palette(Scheme.LIGHT))
    shown.resize(width, shown.heightForWidth(width))
    with qtbot.waitExposed(shown):
        shown.show()
    return shown


def test_every_role_has_a_swatch_and_a_word(qtbot: QtBot) -> None:
    shown = legend(qtbot)
    picture = shown.grab().toImage()
    seen = {picture.pixelColor(x, y).name().upper() for x in range(shown.width()) for y in range(shown.height())}

    assert shown.labels() == [*ROLES, "damaged"]
    assert {COLOUR.fill(role) for role in ROLES} <= seen
    assert COLOUR.fill(Role.DATA, 1) in seen
    assert set(COLOUR.strokes.values()) <= seen
    assert COLOUR.damage in seen
    assert "gap" in shown.accessibleDescription()


def test_only_what_is_there_is_explained(qtbot: QtBot) -> None:
    shown = legend(qtbot)

    shown.setEntries(role_entries(row_of(Role.NAME, Role.GAP)), damage="damaged")

    assert shown.labels() == ["name", "gap", "damaged"]
    assert shown.accessibleDescription() == "name, gap, damaged"
    shown.setEntries(())
    assert shown.labels() == []
    assert shown.heightForWidth(300) == 0


def test_a_narrow_legend_has_more_lines_and_cuts_nothing(qtbot: QtBot) -> None:
    shown = legend(qtbot)

    assert shown.heightForWidth(250) > shown.heightForWidth(1500)
    for width in (shown.minimumSizeHint().width(), 250, 1500):
        assert all(place.right() <= width for place in shown._rects(width))


def test_a_set_of_roles_is_its_bits() -> None:
    assert roles_in(row_of(Role.GAP, Role.HEADER)) == [Role.HEADER, Role.GAP]
    assert roles_in(0) == []


COUNTS = {
    (CHUNK_HEADER, False): 1_234,
    (TACO_ENTRY, False): 2,
    (TACO_ENTRY, True): 5,
    (Kind.GAP, False): 1,
}


def test_structures_are_counted_and_unused_ones_stand_apart(qtbot: QtBot) -> None:
    shown = legend(qtbot)
    shown.setEntries(structure_entries(COUNTS))

    assert shown.labels() == ["chunk header · 1,234", "TACO entry in use · 2", "TACO entry unused · 5", "gap · 1"]


def test_pointing_at_an_entry_lights_it_up_and_clicks_go_both_ways(qtbot: QtBot) -> None:
    shown = legend(qtbot)
    shown.setEntries(structure_entries(COUNTS))
    place = shown.place_of("TACO entry unused · 5").center()
    lit: list[LegendEntry | None] = []
    shown.litChanged.connect(lit.append)

    QTest.mouseMove(shown, place)
    qtbot.waitUntil(lambda: bool(lit))
    assert lit[-1] is not None
    assert (lit[-1].lit, lit[-1].bits) == (frozenset({(TACO_ENTRY, True)}), family_bit(Family.TACO))
    for modifiers, backwards in ((Qt.KeyboardModifier.NoModifier, False), (Qt.KeyboardModifier.ShiftModifier, True)):
        with qtbot.waitSignal(shown.stepRequested) as told:
            QTest.mouseClick(shown, LEFT, modifiers, place)
        assert told.args == [lit[-1], backwards]
    QApplication.sendEvent(shown, QEvent(QEvent.Type.Leave))
    assert lit[-1] is None


def test_the_legend_works_with_keys(qtbot: QtBot) -> None:
    shown = legend(qtbot)
    shown.setEntries(structure_entries(COUNTS))
    QTest.keyClick(shown, Qt.Key.Key_Right)
    QTest.keyClick(shown, Qt.Key.Key_Right)

    with qtbot.waitSignal(shown.stepRequested) as told:
        QTest.keyClick(shown, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)

    assert (told.args[0].label, told.args[1]) == ("TACO entry in use · 2", True)


def test_four_bytes_of_footer_are_seen_in_the_map_of_a_large_file(made: Callable[..., FileMap]) -> None:
    content, index, end = (family_bit(each) for each in (Family.CONTENT, Family.INDEX, Family.END))
    drawn = made([content] * 398 + [content | index, index | end])
    drawn.show_state(by=ColourBy.STRUCTURE)
    tones = {family: COLOUR.tones[FAMILY_HUES[family]] for family in (Family.INDEX, Family.END)}

    for y in (397, 398, 399):
        assert tones[Family.INDEX].line in colours(drawn, y)
        assert tones[Family.END].line in colours(drawn, y)
    assert tones[Family.END].line not in colours(drawn, 200)
    assert "footer or end record" in drawn.describe(399)

    drawn.show_state(lit=end)
    assert tones[Family.INDEX].line not in colours(drawn, 399)
    assert tones[Family.END].line in colours(drawn, 399)
