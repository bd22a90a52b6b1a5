from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QHelpEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from inspector.core.span import Span
from inspector.gui.hex.layout import Pane
from inspector.gui.hex.pages import HexModel
from tests.gui.hex.conftest import Shown

Show = Callable[..., Shown]
Key = Qt.Key
SHIFT = Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
LEFT = Qt.MouseButton.LeftButton
HUGE = 64 << 30


def drag(shown: Shown, place: QPoint) -> None:
    """Move the pointer with the left button down."""
    viewport = shown.view.viewport()
    event = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(place),
        QPointF(viewport.mapToGlobal(place)),
        Qt.MouseButton.NoButton,
        LEFT,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(viewport, event)


def hover(shown: Shown, place: QPoint) -> None:
    """Move the pointer with no button down."""
    viewport = shown.view.viewport()
    none = Qt.MouseButton.NoButton
    event = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(place),
        QPointF(viewport.mapToGlobal(place)),
        none,
        none,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(viewport, event)


# ---- keys ----------------------------------------------------------------------------------------------------------


def test_keys_move_the_caret_and_it_is_told(show: Show, qtbot: QtBot) -> None:
    shown = show()

    with qtbot.waitSignal(shown.view.caretMoved) as told:
        shown.press(Key.Key_Right)
    assert told.args == [1]

    for key, there in ((Key.Key_Down, 17), (Key.Key_End, 31), (Key.Key_Home, 16), (Key.Key_Left, 15), (Key.Key_Up, 0)):
        shown.press(key)
        assert shown.view.caret() == (there if key is not Key.Key_Up else 15)


def test_pages_are_as_high_as_what_is_shown(show: Show) -> None:
    shown = show(100_000)
    page = shown.view.viewport().height() // shown.view.look.line

    shown.press(Key.Key_PageDown)

    assert shown.view.caret() == page * 16
    shown.press(Key.Key_PageUp)
    assert shown.view.caret() == 0


def test_shift_selects_and_escape_lets_go(show: Show, qtbot: QtBot) -> None:
    shown = show()
    shown.view.goTo(5)

    with qtbot.waitSignal(shown.view.selectionChanged) as told:
        shown.press(Key.Key_Right, SHIFT)
    assert told.args == [5, 7]

    shown.press(Key.Key_Down, SHIFT)
    assert shown.view.selection() == Span(5, 23)
    shown.press(Key.Key_Escape)
    assert shown.view.selection() == Span(22, 22)


def test_tab_changes_between_hex_and_text(show: Show) -> None:
    shown = show()

    shown.press(Key.Key_Tab)
    assert shown.view._cursor.pane is Pane.TEXT
    shown.press(Key.Key_Tab)
    assert shown.view._cursor.pane is Pane.HEX
    assert shown.view.hasFocus()


def test_select_all(show: Show) -> None:
    shown = show(4000)

    shown.press(Key.Key_A, CONTROL)

    assert shown.view.selection() == Span(0, 4000)


# ---- the mouse -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pane", Pane)
def test_a_click_puts_the_caret_on_the_byte_in_its_pane(show: Show, pane: Pane) -> None:
    shown = show()

    QTest.mouseClick(shown.view.viewport(), LEFT, pos=shown.place(37, pane))

    assert (shown.view.caret(), shown.view._cursor.pane) == (37, pane)
    assert shown.view.selection().size == 0


@pytest.mark.parametrize("pane", Pane)
def test_dragging_selects_from_the_first_byte_to_the_last(show: Show, pane: Pane) -> None:
    shown = show()

    QTest.mousePress(shown.view.viewport(), LEFT, pos=shown.place(37, pane))
    drag(shown, shown.place(70, pane))
    assert shown.view.selection() == Span(37, 71)
    drag(shown, shown.place(20, pane))
    QTest.mouseRelease(shown.view.viewport(), LEFT, pos=shown.place(20, pane))

    assert shown.view.selection() == Span(20, 38)


def test_a_drag_from_hex_into_the_text_stays_in_hex(show: Show) -> None:
    shown = show()

    QTest.mousePress(shown.view.viewport(), LEFT, pos=shown.place(37))
    drag(shown, shown.place(33, Pane.TEXT))

    assert shown.view.selection() == Span(37, 48)
    assert shown.view._cursor.pane is Pane.HEX


def test_shift_and_click_extend(show: Show) -> None:
    shown = show()
    shown.view.goTo(10)

    QTest.mouseClick(shown.view.viewport(), LEFT, SHIFT, shown.place(20))

    assert shown.view.selection() == Span(10, 21)


def test_dragging_beyond_the_edge_scrolls_on(show: Show, qtbot: QtBot) -> None:
    shown = show(100_000)
    viewport = shown.view.viewport()
    QTest.mousePress(viewport, LEFT, pos=shown.place(5))

    drag(shown, QPoint(shown.place(5).x(), viewport.height() + 60))

    qtbot.waitUntil(lambda: shown.view.shown().start > 500)
    assert shown.view.selection().start == 5
    QTest.mouseRelease(viewport, LEFT, pos=QPoint(10, 10))
    before = shown.view.shown()
    assert not shown.view._timer.isActive()
    assert shown.view.shown() == before


def test_a_double_click_selects_the_outlined_field(show: Show) -> None:
    shown = show()
    shown.view.mark(outline=[(20, 40)])

    QTest.mouseDClick(shown.view.viewport(), LEFT, pos=shown.place(30))

    assert shown.view.selection() == Span(20, 40)


# ---- hovering, menus, words ----------------------------------------------------------------------------------------


def test_the_byte_under_the_pointer_is_told_once_and_none_between(show: Show) -> None:
    shown = show()
    told: list[int | None] = []
    shown.view.hovered.connect(told.append)

    for place in (shown.place(20), shown.place(20) + QPoint(1, 1), shown.place(21, Pane.TEXT), QPoint(3, 3)):
        hover(shown, place)
    QApplication.sendEvent(shown.view, QEvent(QEvent.Type.Leave))

    assert told == [20, 21, None]


def test_nothing_is_over_offsets_gaps_margins_and_the_missing_end(show: Show) -> None:
    view = show(18).view
    first, last, text = view.place_of(0, Pane.HEX), view.place_of(17, Pane.HEX), view.place_of(17, Pane.TEXT)
    assert (view.over(first.center()), view.over(last.center()), view.over(text.center())) == (0, 17, 17)
    assert view.over(first.topLeft() - QPoint(1, 0)) is None
    assert view.over(last.topRight() + QPoint(last.width() // 2, 0)) is None
    assert view.over(last.bottomLeft() + QPoint(0, 1)) is None
    assert view.over(view.place_of(15, Pane.TEXT).topRight() + QPoint(9, 0)) is None


@pytest.mark.qt_log_ignore("This plugin does not support raise")  # a tooltip raises itself; there is no screen
def test_a_tooltip_says_what_the_owner_says_also_when_it_says_it_late(show: Show, qtbot: QtBot) -> None:
    shown = show()
    place = shown.place(20)
    hover(shown, place)

    QApplication.sendEvent(
        shown.view.viewport(), QHelpEvent(QEvent.Type.ToolTip, place, shown.view.viewport().mapToGlobal(place))
    )
    assert not QToolTip.isVisible()
    shown.view.setHoverText(19, "of another byte")
    assert not QToolTip.isVisible()
    shown.view.setHoverText(20, "name: tile.bin")

    qtbot.waitUntil(QToolTip.isVisible)
    assert QToolTip.text() == "name: tile.bin"
    hover(shown, QPoint(3, 3))
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_a_menu_is_asked_for_at_the_byte_under_the_pointer_or_the_selection(show: Show) -> None:
    shown = show()
    asked: list[int] = []
    shown.view.menuRequested.connect(lambda offset, _: asked.append(offset))

    def menu(offset: int, reason: QContextMenuEvent.Reason = QContextMenuEvent.Reason.Mouse) -> None:
        place = shown.place(offset)
        event = QContextMenuEvent(reason, place, shown.view.viewport().mapToGlobal(place))
        QApplication.sendEvent(shown.view.viewport(), event)

    menu(20)
    shown.view.goTo(40, 10)
    menu(45)
    assert shown.view.selection() == Span(40, 50)
    menu(60)
    assert shown.view.selection() == Span(60, 60)
    menu(90, QContextMenuEvent.Reason.Keyboard)

    assert asked == [20, 40, 60, 60]


def test_the_caret_is_described_for_those_who_listen(show: Show) -> None:
    shown = show()

    shown.view.setCaretDescription("offset 14, byte 3 of 4, crc 32")

    assert shown.view.accessibleName() == "Bytes"
    assert shown.view.accessibleDescription() == "offset 14, byte 3 of 4, crc 32"


@pytest.mark.parametrize("size", [0, None])
def test_nothing_to_show_is_said_and_nothing_breaks(show: Show, size: int | None) -> None:
    shown = show()
    view = shown.view
    view.setModel(None if size is None else HexModel(size, lambda *_: None, view))

    for key in (Key.Key_Right, Key.Key_PageDown, Key.Key_End, Key.Key_Tab, Key.Key_A):
        shown.press(key, SHIFT)
    view.goTo(100, 5)
    view.selectAll()
    view.copy()
    view.mark(outline=[(0, 5)])
    view.mark(damage=[(3, 3)])
    shown.wheel(-3)
    QTest.mouseClick(view.viewport(), LEFT, pos=QPoint(100, 100))

    assert view.caret() == 0
    assert view.selection() == Span(0, 0)
    picture = shown.picture()
    assert view.look.colours.quiet in {
        picture.pixelColor(x, y).name().upper()
        for x in range(view.viewport().width())
        for y in range(view.viewport().height() // 2 - 10, view.viewport().height() // 2 + 10)
    }


def test_a_layer_that_grows_shows_its_new_bytes(show: Show) -> None:
    shown = show(10)
    model = shown.view.model
    assert model is not None

    model.invalidate(1000)
    shown.press(Key.Key_End, CONTROL)
    assert shown.view.caret() == 999

    model.invalidate(10)
    assert shown.view.caret() == 9
    assert shown.view.shown() == Span(0, 10)
