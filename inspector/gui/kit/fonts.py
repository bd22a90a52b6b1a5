"""The font of the bytes: the system's fixed one, or what the user has chosen."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from PySide6.QtGui import QFont, QFontDatabase, QFontMetricsF

_SMALLEST = 5.0
"""The smallest size of letters in points."""


class _Chosen(NamedTuple):
    family: str = ""
    points: int = 0


_chosen: list[_Chosen] = [_Chosen()]


def choose(family: str, points: int) -> None:
    """Show bytes in another font from now on; an empty family and 0 points are the system's."""
    _chosen[0] = _Chosen(family, points)


def fixed_font(steps: int = 0) -> QFont:
    """The font for bytes, ``steps`` points larger."""
    system = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    return QFont(_fixed(system.key(), *_chosen[0], steps))


@lru_cache(maxsize=32)
def _fixed(_system: str, family: str, points: int, steps: int) -> QFont:
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    if family:
        font.setFamilies([family])
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setPointSizeF(max(_SMALLEST, (points or font.pointSizeF()) + steps))
    # Every byte has its own cell: no ligatures, no kerning.
    font.setStyleStrategy(QFont.StyleStrategy.PreferNoShaping)
    font.setKerning(False)
    # Cells of whole pixels: a letter looks the same wherever it stands.
    width = QFontMetricsF(font).horizontalAdvance("0" * 64) / 64
    font.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, round(width) - width)
    return font
