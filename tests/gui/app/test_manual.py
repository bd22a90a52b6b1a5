"""The manual in the window."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QColor, QPalette, QTextDocument
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.drawing.palette import COLOURS, CONTRAST, Scheme, contrast
from inspector.gui.app.window import Window
from inspector.gui.dialogs.manual import ManualDialog, in_colours
from inspector.gui.kit.theme import apply
from inspector.resources import manual_pages
from tests.gui.conftest import press


def manual(window: Window) -> ManualDialog:
    press(window, "show_manual")
    (dialog,) = window.findChildren(ManualDialog)
    return dialog


def test_every_page_is_shown(window: Window) -> None:
    dialog = manual(window)
    assert dialog.pages.count() == len(manual_pages()) >= 4
    for row in range(dialog.pages.count()):
        dialog.pages.setCurrentRow(row)
        assert len(dialog.text.toPlainText()) > 500
        assert "](" not in dialog.text.toPlainText()


def test_a_text_is_found_in_this_page_and_then_in_the_others(window: Window, qtbot: QtBot) -> None:
    dialog = manual(window)
    qtbot.keyClicks(dialog.wanted, "--on-conflict")
    qtbot.keyClick(dialog.wanted, Qt.Key.Key_Return)
    assert dialog.pages.currentItem().text() == "Terminal"
    assert dialog.text.textCursor().selectedText() == "--on-conflict"
    dialog.wanted.setText("no such words anywhere")
    dialog.find_next()
    assert dialog.outcome.text() == "No page has this text."


def test_pictures_are_drawn_in_the_colours_of_the_window(window: Window) -> None:
    dialog = manual(window)
    dialog.pages.setCurrentRow([path.stem for path in manual_pages()].index("rca"))
    kind = QTextDocument.ResourceType.ImageResource
    colours = []
    for base in ("#ffffff", "#191c20"):
        palette = dialog.text.palette()
        palette.setColor(QPalette.ColorRole.Base, QColor(base))
        dialog.text.setPalette(palette)
        picture = dialog.text.loadResource(kind, QUrl("pictures/rca.svg"))
        assert 300 < picture.width() / picture.devicePixelRatio() <= dialog.text.viewport().width()
        colours.append(picture.pixelColor(2, 2).name())
    assert colours == ["#ffffff", "#191c20"]
    path = next(path for path in manual_pages() if path.stem == "rca").parent / "pictures" / "rca.svg"
    light = path.read_text(encoding="utf-8")
    assert "<rect" in light
    for each in COLOURS[Scheme.LIGHT].text, COLOURS[Scheme.LIGHT].base:
        assert f'"{each}"' in light
        assert f'"{each}"' not in in_colours(light, Scheme.DARK)


@pytest.mark.parametrize("scheme", Scheme)
def test_text_in_pictures_is_as_readable_as_in_the_window(scheme: Scheme) -> None:
    least = 7 if scheme in CONTRAST else 4.5
    for path in (manual_pages()[0].parent / "pictures").glob("*.svg"):
        drawn = in_colours(path.read_text(encoding="utf-8"), scheme)
        base = COLOURS[scheme].base
        assert f'fill="{base}"' in drawn
        inks = set(re.findall(r'<text [^>]*fill="(#\w+)"', drawn))
        assert inks
        assert all(contrast(ink, base) >= least for ink in inks), path.name


def test_an_open_page_is_drawn_anew_for_another_theme(window: Window) -> None:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    dialog = manual(window)
    dialog.pages.setCurrentRow([path.stem for path in manual_pages()].index("rca"))
    for theme in (Scheme.CONTRAST_DARK, Scheme.LIGHT):
        apply(application, theme)
        page = dialog.text.document()
        picture = page.resource(QTextDocument.ResourceType.ImageResource, QUrl("pictures/rca.svg"))
        assert picture.pixelColor(2, 2) == dialog.text.palette().color(QPalette.ColorRole.Base)


def test_a_link_leads_to_its_page(window: Window) -> None:
    dialog = manual(window)
    dialog.text.anchorClicked.emit(QUrl("s3.md"))
    assert dialog.pages.currentItem().text() == "S3 and addresses on the web"
