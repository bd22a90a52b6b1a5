"""Light, dark and high contrast: followed from the system, chosen, and switched while everything is on the screen."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QIcon, QImage, QPalette
from PySide6.QtWidgets import QApplication, QComboBox, QDialogButtonBox
from pytestqt.qtbot import QtBot

from inspector.core.finding import Severity
from inspector.drawing.palette import MARKS, Mark, Scheme
from inspector.gui.app.window import Window
from inspector.gui.kit import preferences, theme
from inspector.gui.kit.icons import icon, icon_of
from inspector.gui.kit.preferences import Settings
from inspector.gui.kit.theme import palette
from tests.gui.conftest import Show

FLAGS = (False, True)
APART = 60
"""Steps of 255 between what is to be told apart."""


class System:
    """An application on a system that says what it wants; ``own`` are the system's colours."""

    def __init__(self, dark: bool, contrast: bool | None, own: Scheme = Scheme.LIGHT) -> None:
        self._hints = SimpleNamespace(colorScheme=lambda: Qt.ColorScheme.Dark if dark else Qt.ColorScheme.Light)
        if contrast is not None:
            wanted = Qt.ContrastPreference.HighContrast if contrast else Qt.ContrastPreference.NoPreference
            self._hints.accessibility = lambda: SimpleNamespace(contrastPreference=lambda: wanted)
        self._kept: dict[str, Any] = {}
        self.palette = lambda: palette(own)

    def styleHints(self) -> Any:
        return self._hints

    def property(self, name: str) -> Any:
        return self._kept.get(name)

    def setProperty(self, name: str, value: Any) -> None:
        self._kept[name] = value


@pytest.mark.parametrize(
    ("system", "scheme"),
    [
        (System(False, False), Scheme.LIGHT),
        (System(True, False), Scheme.DARK),
        (System(False, True), Scheme.CONTRAST_LIGHT),
        (System(True, True), Scheme.CONTRAST_DARK),
        (System(False, None), Scheme.LIGHT),
        (System(True, None), Scheme.DARK),
        (System(True, None, Scheme.CONTRAST_DARK), Scheme.CONTRAST_DARK),
        (System(True, None, Scheme.DARK), Scheme.DARK),
    ],
)
def test_the_system_is_followed_where_it_says_what_it_wants(system: System, scheme: Scheme) -> None:
    assert theme.scheme(cast("QApplication", system), None) is scheme


@pytest.mark.parametrize("chosen", Scheme)
def test_what_is_chosen_holds_on_any_system(chosen: Scheme) -> None:
    found = {theme.scheme(cast("QApplication", System(dark, sharp)), chosen) for dark in FLAGS for sharp in FLAGS}
    assert found == {chosen}


def test_every_theme_is_offered() -> None:
    assert set(preferences.THEME.labels) == {"system", *Scheme}


def pixel_names(image: QImage) -> list[str]:
    points = ((x, y) for x in range(image.width()) for y in range(image.height()))
    return [image.pixelColor(*point).name() for point in points]


def colours(shown: QIcon, mode: QIcon.Mode = QIcon.Mode.Normal) -> set[str]:
    image = shown.pixmap(QSize(32, 32), 1.0, mode).toImage()
    points = ((x, y) for x in range(image.width()) for y in range(image.height()))
    return {pixel.name() for point in points if (pixel := image.pixelColor(*point)).alpha() == 255}


def marks_keep_their_shade_and_are_seen_where_they_are_selected(window: Window, chosen: Scheme) -> None:
    shown = icon_of(Severity.ERROR)
    assert MARKS[chosen][Mark.ERROR].lower() in colours(shown), chosen
    if chosen is Scheme.CONTRAST_DARK:
        lit = window.palette().color(QPalette.ColorRole.HighlightedText).name()
        assert lit in colours(shown, QIcon.Mode.Selected), "plain in high contrast"
    if chosen in (Scheme.CONTRAST_LIGHT, Scheme.CONTRAST_DARK):
        row = window.palette().color(QPalette.ColorRole.Highlight).name()
        for severity in Severity:
            assert row in colours(icon_of(severity), QIcon.Mode.Selected), (chosen, severity)


def the_line_of_a_list_that_is_lit_can_be_read(window: Window, box: QComboBox, qtbot: QtBot, chosen: Scheme) -> None:
    box.showPopup()
    box.view().setCurrentIndex(box.model().index(1, 0))
    qtbot.waitUntil(box.view().isVisible)
    picture = box.view().grab(box.view().visualRect(box.view().currentIndex())).toImage()
    found = [QColor(name).lightness() for name in pixel_names(picture)]
    filled = Counter(found).most_common(1)[0][0]
    assert abs(filled - window.palette().color(QPalette.ColorRole.Base).lightness()) > APART, chosen
    assert max(abs(each - filled) for each in found) > APART, chosen
    box.hidePopup()


@pytest.mark.qt_log_ignore("does not support (raise|grabbing)", extend=True)
def test_icons_marks_lists_and_buttons_can_be_told_apart_in_every_theme(
    window: Window, settings: Settings, qtbot: QtBot
) -> None:
    shown = icon("open")
    box = QComboBox(window)
    box.addItems(["first", "second"])
    box.show()
    for chosen in Scheme:
        settings.put(preferences.THEME, chosen.value)
        text = window.palette().color(QPalette.ColorRole.WindowText).name()
        assert colours(shown) == {text}, chosen
        marks_keep_their_shade_and_are_seen_where_they_are_selected(window, chosen)
        the_line_of_a_list_that_is_lit_can_be_read(window, box, qtbot, chosen)
        if chosen is Scheme.CONTRAST_DARK:
            buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, window)
            buttons.show()
            assert [each.icon().isNull() for each in buttons.buttons()] == [True], "no icon is dark on black"


def test_an_icon_has_all_the_pixels_of_the_screen_and_so_has_a_copy(qapp: QApplication) -> None:
    theme.apply(qapp, Scheme.LIGHT)
    for scale in (1.0, 1.5, 2.0, 3.0):
        picture = icon("open").pixmap(QSize(16, 16), scale)
        assert picture.size() == QSize(16, 16) * scale
        assert picture.devicePixelRatio() == scale
    copied = QIcon(icon("find"))
    copied.addPixmap(icon("open").pixmap(QSize(16, 16)))  # has the copy be another one
    assert not copied.pixmap(QSize(16, 16)).isNull()


def test_everything_follows_a_theme_that_is_switched(show: Show, window: Window, settings: Settings) -> None:
    tab = show("journey.caf")
    for chosen in (Scheme.CONTRAST_DARK, Scheme.LIGHT):
        settings.put(preferences.THEME, chosen.value)
        assert tab.hex_pane.hex.look.scheme is chosen
        picture = window.grab().toImage()
        wrong = {Scheme.LIGHT: "#000000", Scheme.CONTRAST_DARK: "#f3f4f6"}[chosen]
        width, height = picture.width(), picture.height()
        sampled = [picture.pixelColor(x, y).name() for x in range(0, width, 7) for y in range(0, height, 7)]
        assert sampled.count(wrong) / len(sampled) < 0.02


@pytest.mark.sweep
def test_links_follow_a_theme_that_is_switched_behind_another_tab(
    show: Show, window: Window, settings: Settings, qtbot: QtBot
) -> None:
    tab = show("journey.caf")
    leads = tab.byte.references
    leads.setText('<a href="0">somewhere</a>')
    leads.show()
    for chosen in (Scheme.CONTRAST_DARK, Scheme.LIGHT, Scheme.CONTRAST_DARK):
        show("plain.tar")
        settings.put(preferences.THEME, chosen.value)
        window.tabs.setCurrentWidget(tab)
        qtbot.waitUntil(leads.isVisible)
        link = window.palette().color(QPalette.ColorRole.Link)
        assert link.name() in pixel_names(leads.grab().toImage())
