"""The visual language: sizes, distances and what stands out, for everything that the window draws."""

from __future__ import annotations

from enum import Enum

from PySide6.QtGui import QFont
from PySide6.QtWidgets import QWidget

GRID = 4
"""Pixels of the grid: every distance is a multiple of it."""


class TextSize(Enum):
    """The three sizes of text, relative to the system's font: notes, all else, and the one title of a place."""

    SMALL = 0.9
    BODY = 1.0
    TITLE = 1.15


def font_of(widget: QWidget, size: TextSize = TextSize.BODY) -> QFont:
    """The font of a widget in one of the sizes; titles are bold."""
    font = QFont(widget.font())
    font.setPointSizeF(font.pointSizeF() * size.value)
    font.setBold(size is TextSize.TITLE)
    return font
