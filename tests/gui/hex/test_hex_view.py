from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QHelpEvent, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSlider, QApplication, QToolTip
from pytestqt.qtbot import QtBot

from inspector.core.kinds import Role
from inspector.core.span import Span
from inspector.gui.hex.copying import LARGEST, CopyFormat
from inspector.gui.hex.cursor import Pane
from inspector.gui.hex.pages import HexModel
from inspector.gui.hex.view import HexView
from tests.gui.hex.conftest import Shown, byte_at

Show = Callable[..., Shown]
Key = Qt.Key
SHIFT = Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
LEFT = Qt.MouseButton.LeftButton
HUGE = 64 << 30


def wheel(view: HexView, notches: int, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    place = QPointF(50, 50)
    event = QWheelEvent(
        place,
        view.viewport().mapToGlobal(place),
        QPoint(),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        modifiers,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), event)


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
    assert shown.view.pane() is Pane.TEXT
    shown.press(Key.Key_Tab)
    assert shown.view.pane() is Pane.HEX
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

    assert (shown.view.caret(), shown.view.pane()) == (37, pane)
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
    assert shown.view.pane() is Pane.HEX


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
    assert not shown.view._pointer._timer.isActive()
    assert shown.view.shown() == before


def test_a_double_click_selects_the_outlined_field(show: Show) -> None:
    shown = show()
    shown.view.setOutline([(20, 40)])

    QTest.mouseDClick(shown.view.viewport(), LEFT, pos=shown.place(30))

    assert shown.view.selection() == Span(20, 40)


# ---- scrolling -----------------------------------------------------------------------------------------------------


def test_the_end_of_sixty_four_gibibytes_by_key(show: Show) -> None:
    shown = show(HUGE)

    shown.press(Key.Key_End, CONTROL)

    assert shown.view.caret() == HUGE - 1
    assert shown.view.shown().stop == HUGE
    assert shown.view.verticalScrollBar().value() == shown.view.verticalScrollBar().maximum()
    assert shown.colour(HUGE - 1) == shown.view.look.colours.fill(Role.DATA)


def test_the_end_by_the_thumb(show: Show) -> None:
    shown = show(HUGE)
    bar = shown.view.verticalScrollBar()

    bar.setSliderDown(True)
    bar.setSliderPosition(bar.maximum())
    bar.setSliderDown(False)

    assert shown.view.shown().stop == HUGE


def test_the_end_by_the_wheel_from_nearby_and_every_row_on_the_way(show: Show) -> None:
    shown = show(HUGE)
    shown.view.goTo(HUGE - 3000)
    seen = [shown.view.shown()]

    while shown.view.shown().stop < HUGE:
        wheel(shown.view, -1)
        seen.append(shown.view.shown())

    assert {later.start - earlier.start for earlier, later in pairwise(seen[:-1])} == {48}


def test_one_click_on_the_bars_arrow_is_one_row_anywhere(show: Show) -> None:
    shown = show(HUGE)
    shown.view.goTo(HUGE // 3 * 2)
    before = shown.view.shown().start

    shown.view.verticalScrollBar().triggerAction(QAbstractSlider.SliderAction.SliderSingleStepAdd)
    assert shown.view.shown().start == before + 16

    shown.view.verticalScrollBar().triggerAction(QAbstractSlider.SliderAction.SliderPageStepSub)
    assert shown.view.shown().start == before + 16 - 16 * shown.view.verticalScrollBar().pageStep()


def test_the_thumb_in_the_middle_is_the_middle(show: Show) -> None:
    shown = show(HUGE)
    bar = shown.view.verticalScrollBar()

    bar.setValue(bar.maximum() // 2)

    assert abs(shown.view.shown().start - HUGE // 2) < 10_000


def test_scrolling_tells_what_is_shown(show: Show, qtbot: QtBot) -> None:
    shown = show(100_000)

    with qtbot.waitSignal(shown.view.scrolled) as told:
        wheel(shown.view, -1)

    assert told.args == list(shown.view.shown())
    assert told.args is not None
    assert told.args[0] == 48


def test_going_somewhere_shows_and_selects_it_unless_told_not_to(show: Show) -> None:
    shown = show(100_000)

    shown.view.goTo(50_000, 100)
    assert shown.view.selection() == Span(50_000, 50_100)
    assert shown.view.shown().start <= 50_000
    assert shown.view.shown().stop >= 50_100

    before = shown.view.shown()
    shown.view.goTo(3, reveal=False)
    assert (shown.view.caret(), shown.view.shown()) == (3, before)


def test_scrolled_pixels_are_the_same_as_painted_ones(show: Show) -> None:
    shown = show(100_000)
    shown.view.setOutline([(100, 700)])
    screen = shown.view.screen()

    def on_screen() -> object:
        QApplication.processEvents()
        return screen.grabWindow(shown.view.winId()).toImage()

    on_screen()
    wheel(shown.view, -2)
    scrolled = on_screen()
    shown.view.viewport().update()

    assert scrolled == on_screen()


def test_another_number_of_bytes_a_row_keeps_the_place(show: Show) -> None:
    shown = show(100_000)
    shown.view.scroll_rows(100)

    shown.view.setBytesPerRow(32)
    assert shown.view.shown().start == 1600
    shown.view.setBytesPerRow(8)
    assert shown.view.shown().start == 1600


def test_fitting_the_width_takes_more_bytes_a_row_when_there_is_room(show: Show) -> None:
    shown = show(100_000)
    shown.view.setBytesPerRow(0)

    shown.view.resize(500, 500)
    assert shown.view.bytesPerRow() == 8
    shown.view.resize(1100, 500)
    assert shown.view.bytesPerRow() == 32
    assert shown.view.horizontalScrollBar().maximum() == 0


def test_a_narrow_view_scrolls_sideways_to_the_caret(show: Show) -> None:
    shown = show(width=300)

    shown.view.goTo(15)
    assert shown.view.viewport().rect().contains(shown.place(15))
    shown.press(Key.Key_Tab)
    assert shown.view.viewport().rect().contains(shown.place(15, Pane.TEXT))
    shown.press(Key.Key_Home)
    shown.press(Key.Key_Tab)
    assert shown.view.viewport().rect().contains(shown.place(0))


def test_control_and_the_wheel_ask_for_larger_letters(show: Show, qtbot: QtBot) -> None:
    shown = show()
    before = shown.view.look.line

    with qtbot.waitSignal(shown.view.zoomRequested) as told:
        wheel(shown.view, 1, CONTROL)
    assert told.args == [1]

    shown.view.setZoom(6)
    assert shown.view.look.line > before
    shown.view.setZoom(0)
    assert shown.view.look.line == before


# ---- copying -------------------------------------------------------------------------------------------------------


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


def test_copying_as_the_pane_has_it(show: Show) -> None:
    shown = show()
    shown.view.goTo(9, 3)

    shown.press(Key.Key_C, CONTROL)
    assert clipboard() == " ".join(f"{byte_at(offset):02X}" for offset in range(9, 12))

    shown.press(Key.Key_Tab)
    shown.view.goTo(9, 3)
    shown.press(Key.Key_C, CONTROL)
    assert clipboard() == "".join(chr(byte_at(offset)) for offset in range(9, 12))


def test_copying_in_every_form(show: Show) -> None:
    shown = show()
    shown.view.goTo(9, 2)
    first, second = byte_at(9), byte_at(10)

    expected = {
        CopyFormat.HEX: f"{first:02X} {second:02X}",
        CopyFormat.TEXT: chr(first) + chr(second),
        CopyFormat.C: f"const unsigned char data[2] = {{\n    0x{first:02X}, 0x{second:02X},\n}};\n",
        CopyFormat.PYTHON: repr(bytes([first, second])),
    }
    for how, text in expected.items():
        shown.view.copy(how)
        assert clipboard() == text


def test_without_a_selection_the_byte_at_the_caret_is_copied(show: Show) -> None:
    shown = show()
    shown.view.goTo(10)

    shown.view.copy(CopyFormat.HEX)

    assert clipboard() == f"{byte_at(10):02X}"


def test_bytes_that_were_never_shown_are_copied_too(show: Show, qtbot: QtBot) -> None:
    shown = show(400_000)
    shown.view.selectAll()

    with qtbot.waitSignal(shown.view.said) as told:
        shown.view.copy(CopyFormat.HEX)

    assert told.args == ["400,000 bytes copied as Hex."]
    assert bytes.fromhex(clipboard()) == bytes(map(byte_at, range(400_000)))


def test_too_much_is_refused_in_words(show: Show, qtbot: QtBot) -> None:
    shown = show(HUGE)
    QGuiApplication.clipboard().setText("before")
    shown.view.goTo(0, LARGEST + 1)

    with qtbot.waitSignal(shown.view.said) as told:
        shown.view.copy()

    assert told.args == ["4,194,305 bytes are too many for the clipboard: at most 4,194,304 bytes are copied at once."]
    assert clipboard() == "before"


def test_what_cannot_be_read_is_not_copied(show: Show, qtbot: QtBot) -> None:
    shown = show()
    QGuiApplication.clipboard().setText("before")
    shown.view.setModel(HexModel(100, lambda _start, _stop, deliver: deliver(b"", []), shown.view))
    shown.view.goTo(0, 4)

    with qtbot.waitSignal(shown.view.said) as told:
        shown.view.copy()

    assert told.args == ["Nothing was copied: only 0 bytes of 4 bytes could be read."]
    assert clipboard() == "before"


# ---- hovering, menus, words ----------------------------------------------------------------------------------------


def test_the_byte_under_the_pointer_is_told_once_and_none_between(show: Show) -> None:
    shown = show()
    told: list[int | None] = []
    shown.view.hovered.connect(told.append)

    for place in (shown.place(20), shown.place(20) + QPoint(1, 1), shown.place(21, Pane.TEXT), QPoint(3, 3)):
        hover(shown, place)
    QApplication.sendEvent(shown.view, QEvent(QEvent.Type.Leave))

    assert told == [20, 21, None]


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
    view.setEmptyText("There is not a single byte here.")

    for key in (Key.Key_Right, Key.Key_PageDown, Key.Key_End, Key.Key_Tab, Key.Key_A):
        shown.press(key, SHIFT)
    view.goTo(100, 5)
    view.selectAll()
    view.copy()
    view.setOutline([(0, 5)])
    view.setDamage([(3, 3)])
    wheel(view, -3)
    QTest.mouseClick(view.viewport(), LEFT, pos=QPoint(100, 100))

    assert view.caret() == 0
    assert view.selection() == Span(0, 0)
    assert view.look.colours.quiet in {
        shown.picture().pixelColor(x, y).name().upper()
        for x in range(view.viewport().width())
        for y in range(view.viewport().height() // 2 - 10, view.viewport().height() // 2 + 10)
    }


def test_a_layer_that_grows_shows_its_new_bytes(show: Show) -> None:
    shown = show(10)
    model = shown.view.model()
    assert model is not None

    model.invalidate(1000)
    shown.press(Key.Key_End, CONTROL)
    assert shown.view.caret() == 999

    model.invalidate(10)
    assert shown.view.caret() == 9
    assert shown.view.shown() == Span(0, 10)
