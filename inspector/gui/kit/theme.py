"""Themes: palettes, the colours of the style sheet, and the font for bytes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QPalette
from PySide6.QtWidgets import QApplication

from inspector.drawing.palette import COLOURS, CONTRAST, Scheme
from inspector.gui.kit import style
from inspector.resources import resource


def is_native(platform: str = sys.platform) -> bool:
    """Whether controls are those of the system: on macOS and Windows, which have their own."""
    return platform in ("darwin", "win32")


def style_arguments(platform: str = sys.platform) -> tuple[str, ...]:
    """Arguments for Qt. QApplication.setStyle would load QStyle, whose enums take long to import."""
    return () if is_native(platform) else ("-style", "fusion")


_R = QPalette.ColorRole
_SYSTEM_PALETTE = "colours of the system"


def scheme(app: QApplication, theme: Scheme | None) -> Scheme:
    """The theme that was chosen, or else the one that the system asks for."""
    if theme is not None:
        return theme
    hints = app.styleHints()  # what it gives lives as long as it does
    access = _access(app)
    high_contrast = access is not None and access.contrastPreference() is Qt.ContrastPreference.HighContrast
    if hints.colorScheme() is Qt.ColorScheme.Dark:
        return Scheme.CONTRAST_DARK if high_contrast or _black_system(app) else Scheme.DARK
    return Scheme.CONTRAST_LIGHT if high_contrast else Scheme.LIGHT


def _access(app: QApplication) -> Any:
    """The accessibility hints of the system; None before Qt 6.10."""
    ask = getattr(app.styleHints(), "accessibility", None)
    return ask() if ask is not None else None


def _black_system(app: QApplication) -> bool:
    """Whether the system palette is white on black: some systems ask for high contrast only in this way."""
    system: QPalette = app.property(_SYSTEM_PALETTE) or app.palette()
    app.setProperty(_SYSTEM_PALETTE, system)  # later palettes of the application are ours
    return style.scheme_for(system) is Scheme.CONTRAST_DARK


def on_system_change(app: QApplication, update: Callable[[object], object]) -> None:
    """Call ``update`` when the colour scheme or contrast of the system changes."""
    app.styleHints().colorSchemeChanged.connect(update)
    if (access := _access(app)) is not None:
        access.contrastPreferenceChanged.connect(update)


def _picture(name: str, *, on_dark: bool) -> str:
    return str(resource("icons", f"{name}-{'light' if on_dark else 'dark'}.svg")).replace("\\", "/")


def apply(app: QApplication, theme: Scheme | None) -> None:
    """Apply the palette and style sheet of a theme; the style itself is set at start, see STYLE."""
    _black_system(app)
    current = scheme(app, theme)
    wanted = palette(current)
    sheet = style.sheet(tokens(current), contrast=current in CONTRAST, native=is_native())
    # Qt polishes every widget again for either of them, also for those that are set already.
    if app.palette() != wanted:
        app.setPalette(wanted)
    if app.styleSheet() != sheet:
        app.setStyleSheet(sheet)


def tokens(current: Scheme) -> dict[str, str]:
    """The colours and pictures of the style sheet, by name."""
    colours = WINDOW_COLOURS[current]
    dark, contrast = current in (Scheme.DARK, Scheme.CONTRAST_DARK), current in CONTRAST
    return {
        "mid": colours[_R.Mid],
        "line": colours[_R.Shadow if contrast else _R.Light if dark else _R.Dark],
        "gutter": colours[_R.Mid] if contrast else "transparent",
        "hover": colours[_R.Midlight],
        "text": colours[_R.ToolTipText],
        "tip": colours[_R.ToolTipBase],
        "window": colours[_R.Window],
        "quiet": colours[_R.PlaceholderText],
        "faint": palette(current).color(QPalette.ColorGroup.Disabled, _R.Text).name(QColor.NameFormat.HexArgb),
        "edge": colours[_R.PlaceholderText if current is Scheme.DARK else _R.Shadow],
        "base": colours[_R.Base],
        "accent": colours[_R.Accent],
        "chosen": colours[_R.Highlight],
        "chosen_text": colours[_R.HighlightedText],
        "link": colours[_R.Link],
        "damage": COLOURS[current].damage,
        "close": _picture("close", on_dark=dark),
        "float": _picture("float", on_dark=dark),
        "tick": _picture("tick", on_dark=current is not Scheme.CONTRAST_DARK),
        "up": _picture("up", on_dark=dark),
        "down": _picture("down", on_dark=dark),
    }


_BY_ROLE = {
    _R.Window: ("#F3F4F6", "#22262C", "#FFFFFF", "#000000"),
    _R.AlternateBase: ("#F7F8FA", "#1E2227", "#F2F2F2", "#141414"),
    _R.Button: ("#F3F4F6", "#2A2F36", "#FFFFFF", "#000000"),
    _R.BrightText: ("#FFFFFF",) * 4,
    _R.ToolTipBase: ("#FFFFFF", "#2A2F36", "#FFFFFF", "#000000"),
    _R.PlaceholderText: ("#646C76", "#98A1AC", "#333333", "#D0D0D0"),
    _R.Link: ("#0B5CAD", "#7DB8F0", "#00388C", "#FFE866"),
    _R.LinkVisited: ("#6A4BA3", "#B9A2E8", "#4B2382", "#E5C9FF"),
    _R.Light: ("#FFFFFF", "#3A4149", "#FFFFFF", "#FFFFFF"),
    _R.Midlight: ("#E6E8EC", "#31373F", "#E0E0E0", "#333333"),
    _R.Mid: ("#C9CDD3", "#3D444D", "#333333", "#D0D0D0"),
    _R.Dark: ("#A3A9B2", "#14171A", "#000000", "#FFFFFF"),
    _R.Shadow: ("#70767E", "#0B0D0F", "#000000", "#FFFFFF"),
    _R.Accent: ("#1F6FBF", "#5AA4E6", "#00388C", "#FFE866"),
}
"""What the window has besides the colours of the bytes, in each scheme."""
WINDOW_COLOURS: dict[Scheme, dict[QPalette.ColorRole, str]] = {
    scheme: {
        **{role: colours[at] for role, colours in _BY_ROLE.items()},
        _R.Base: of_bytes.base,
        _R.Highlight: of_bytes.selection,
        _R.HighlightedText: of_bytes.selection_text,
        **dict.fromkeys((_R.WindowText, _R.Text, _R.ButtonText, _R.ToolTipText), of_bytes.text),
    }
    for at, (scheme, of_bytes) in enumerate(COLOURS.items())
}
"""The colour of each palette role as ``#RRGGBB``."""
_DISABLED_OPACITY = 0.6
_DISABLED_OPACITY_CONTRAST = 0.75
"""Opacity of disabled text."""


def palette(scheme: Scheme) -> QPalette:
    """The palette of a colour scheme."""
    colours = WINDOW_COLOURS[scheme]
    made = QPalette()
    for role, colour in colours.items():
        made.setColor(role, QColor(colour))
    disabled = QColor(colours[_R.PlaceholderText])
    disabled.setAlphaF(_DISABLED_OPACITY_CONTRAST if scheme in CONTRAST else _DISABLED_OPACITY)
    for role in (_R.WindowText, _R.Text, _R.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, disabled)
    made.setColor(QPalette.ColorGroup.Disabled, _R.Highlight, QColor(colours[_R.Mid]))
    return made


_MIN_POINTS = 5.0
"""The smallest font size in points."""


_font_choice: list[tuple[str, int]] = [("", 0)]
"""The family and the points of the font for bytes."""


def set_fixed_font(family: str, points: int) -> None:
    """Set the font for bytes; an empty family and 0 points mean those of the system."""
    _font_choice[0] = (family, points)


def fixed_font(steps: int = 0) -> QFont:
    """The font for bytes, enlarged by ``steps`` points."""
    system = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    return QFont(_fixed(system.key(), *_font_choice[0], steps))


@lru_cache(maxsize=32)
def _fixed(_system: str, family: str, points: int, steps: int) -> QFont:
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    if family:
        font.setFamilies([family])
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setPointSizeF(max(_MIN_POINTS, (points or font.pointSizeF()) + steps))
    # One cell per byte: no ligatures, no kerning.
    font.setStyleStrategy(QFont.StyleStrategy.PreferNoShaping)
    font.setKerning(False)
    # Cells of whole pixels, so that a letter looks the same in every column.
    width = QFontMetricsF(font).horizontalAdvance("0" * 64) / 64
    font.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, round(width) - width)
    return font
