from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractSlider, QApplication
from pytestqt.qtbot import QtBot

from inspector.core.kinds import Role
from inspector.core.span import Span
from inspector.gui.hex.layout import MAX_COPY_BYTES, CopyFormat, Pane
from inspector.gui.hex.pages import HexModel
from tests.gui.hex.conftest import Shown, byte_at, fetch

Show = Callable[..., Shown]
Key = Qt.Key
CONTROL = Qt.KeyboardModifier.ControlModifier
HUGE = 64 << 30


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
        shown.wheel(-1)
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
        shown.wheel(-1)

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


def test_another_layer_is_shown_from_its_start_however_far_down_the_last_one_was(show: Show) -> None:
    shown = show(size=40_000)
    shown.view.goTo(39_000)
    assert shown.view.shown().start > 0
    shown.view.setModel(HexModel(7_000, fetch, shown.view))
    assert shown.view.shown().start == 0
    assert shown.view.verticalScrollBar().value() == 0


def test_scrolled_pixels_are_the_same_as_painted_ones(show: Show) -> None:
    shown = show(100_000)
    shown.view.mark(outline=[(100, 700)])
    screen = shown.view.screen()

    def on_screen() -> object:
        QApplication.processEvents()
        return screen.grabWindow(shown.view.winId()).toImage()

    on_screen()
    shown.wheel(-2)
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
    assert shown.view.bytesPerRow() == 16  # the names of structures come before more bytes
    shown.view.resize(1400, 500)
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
        shown.wheel(1, CONTROL)
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

    with qtbot.waitSignal(shown.view.message) as told:
        shown.view.copy(CopyFormat.HEX)

    assert told.args == ["400,000 bytes copied as Hex."]
    assert bytes.fromhex(clipboard()) == bytes(map(byte_at, range(400_000)))


def test_too_much_is_refused_in_words(show: Show, qtbot: QtBot) -> None:
    shown = show(HUGE)
    QGuiApplication.clipboard().setText("before")
    shown.view.goTo(0, MAX_COPY_BYTES + 1)

    with qtbot.waitSignal(shown.view.message) as told:
        shown.view.copy()

    assert told.args == ["4,194,305 bytes are too much for the clipboard: at most 4,194,304 bytes can be copied."]
    assert clipboard() == "before"


def test_what_cannot_be_read_is_not_copied(show: Show, qtbot: QtBot) -> None:
    shown = show()
    QGuiApplication.clipboard().setText("before")
    shown.view.setModel(HexModel(100, lambda _start, _stop, deliver: deliver(b"", []), shown.view))
    shown.view.goTo(0, 4)

    with qtbot.waitSignal(shown.view.message) as told:
        shown.view.copy()

    assert told.args == ["Nothing was copied: only 0 bytes of 4 bytes could be read."]
    assert clipboard() == "before"
