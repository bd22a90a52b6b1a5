"""The colours of the window, for each look that a theme may have."""

from __future__ import annotations

from PySide6.QtGui import QColor, QPalette

from inspector.gui.kit.palette import CONTRAST, Scheme

_R = QPalette.ColorRole
_LIGHT = {
    _R.Window: "#F3F4F6",
    _R.WindowText: "#1B1F24",
    _R.Base: "#FFFFFF",
    _R.AlternateBase: "#F7F8FA",
    _R.Text: "#1B1F24",
    _R.Button: "#F3F4F6",
    _R.ButtonText: "#1B1F24",
    _R.BrightText: "#FFFFFF",
    _R.ToolTipBase: "#FFFFFF",
    _R.ToolTipText: "#1B1F24",
    _R.PlaceholderText: "#646C76",
    _R.Highlight: "#1F6FBF",
    _R.HighlightedText: "#FFFFFF",
    _R.Link: "#0B5CAD",
    _R.LinkVisited: "#6A4BA3",
    _R.Light: "#FFFFFF",
    _R.Midlight: "#E6E8EC",
    _R.Mid: "#C9CDD3",
    _R.Dark: "#A3A9B2",
    _R.Shadow: "#70767E",
    _R.Accent: "#1F6FBF",
}
_DARK = {
    _R.Window: "#22262C",
    _R.WindowText: "#E4E7EB",
    _R.Base: "#191C20",
    _R.AlternateBase: "#1E2227",
    _R.Text: "#E4E7EB",
    _R.Button: "#2A2F36",
    _R.ButtonText: "#E4E7EB",
    _R.BrightText: "#FFFFFF",
    _R.ToolTipBase: "#2A2F36",
    _R.ToolTipText: "#E4E7EB",
    _R.PlaceholderText: "#98A1AC",
    _R.Highlight: "#2F6FB0",
    _R.HighlightedText: "#FFFFFF",
    _R.Link: "#7DB8F0",
    _R.LinkVisited: "#B9A2E8",
    _R.Light: "#3A4149",
    _R.Midlight: "#31373F",
    _R.Mid: "#3D444D",
    _R.Dark: "#14171A",
    _R.Shadow: "#0B0D0F",
    _R.Accent: "#5AA4E6",
}
_CONTRAST_LIGHT = {
    _R.Window: "#FFFFFF",
    _R.WindowText: "#000000",
    _R.Base: "#FFFFFF",
    _R.AlternateBase: "#F2F2F2",
    _R.Text: "#000000",
    _R.Button: "#FFFFFF",
    _R.ButtonText: "#000000",
    _R.BrightText: "#FFFFFF",
    _R.ToolTipBase: "#FFFFFF",
    _R.ToolTipText: "#000000",
    _R.PlaceholderText: "#333333",
    _R.Highlight: "#00388C",
    _R.HighlightedText: "#FFFFFF",
    _R.Link: "#00388C",
    _R.LinkVisited: "#4B2382",
    _R.Light: "#FFFFFF",
    _R.Midlight: "#E0E0E0",
    _R.Mid: "#333333",
    _R.Dark: "#000000",
    _R.Shadow: "#000000",
    _R.Accent: "#00388C",
}
_CONTRAST_DARK = {
    _R.Window: "#000000",
    _R.WindowText: "#FFFFFF",
    _R.Base: "#000000",
    _R.AlternateBase: "#141414",
    _R.Text: "#FFFFFF",
    _R.Button: "#000000",
    _R.ButtonText: "#FFFFFF",
    _R.BrightText: "#FFFFFF",
    _R.ToolTipBase: "#000000",
    _R.ToolTipText: "#FFFFFF",
    _R.PlaceholderText: "#D0D0D0",
    _R.Highlight: "#FFE866",
    _R.HighlightedText: "#000000",
    _R.Link: "#FFE866",
    _R.LinkVisited: "#E5C9FF",
    _R.Light: "#FFFFFF",
    _R.Midlight: "#333333",
    _R.Mid: "#D0D0D0",
    _R.Dark: "#FFFFFF",
    _R.Shadow: "#FFFFFF",
    _R.Accent: "#FFE866",
}
WINDOW_COLOURS: dict[Scheme, dict[QPalette.ColorRole, str]] = {
    Scheme.LIGHT: _LIGHT,
    Scheme.DARK: _DARK,
    Scheme.CONTRAST_LIGHT: _CONTRAST_LIGHT,
    Scheme.CONTRAST_DARK: _CONTRAST_DARK,
}
"""The colour of each role as ``#RRGGBB``."""
_FAINT = 0.6
_FAINT_IN_CONTRAST = 0.75
"""Opacity of the text of what cannot be done now."""


def palette(scheme: Scheme) -> QPalette:
    """The palette of a scheme."""
    colours = WINDOW_COLOURS[scheme]
    made = QPalette()
    for role, colour in colours.items():
        made.setColor(role, QColor(colour))
    faint = QColor(colours[_R.PlaceholderText])
    faint.setAlphaF(_FAINT_IN_CONTRAST if scheme in CONTRAST else _FAINT)
    for role in (_R.WindowText, _R.Text, _R.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, faint)
    made.setColor(QPalette.ColorGroup.Disabled, _R.Highlight, QColor(colours[_R.Mid]))
    return made
