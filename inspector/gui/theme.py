"""Light and dark: a palette each over the Fusion style, and the few rules that the palette cannot say."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from inspector.resources import resource


class Theme(StrEnum):
    """What the user wants to see."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


STYLE = ("-style", "fusion")
"""Arguments for Qt. QApplication.setStyle would do, but is the only use of a class whose enums take long to load."""

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
    _R.PlaceholderText: "#6B737D",
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
_RULES = """
QToolTip {{ border: 1px solid {mid}; padding: 3px; color: {text}; background: {tip}; }}
QMainWindow::separator {{ width: 5px; height: 5px; background: transparent; }}
QMainWindow::separator:hover {{ background: {mid}; }}
QHeaderView::section {{ background: {window}; color: {quiet}; border: none; border-bottom: 1px solid {mid};
  border-right: 1px solid {mid}; padding: 3px 6px; }}
QTreeView, QTableView, QPlainTextEdit {{ border: 1px solid {mid}; }}
QToolBar {{ border: none; border-bottom: 1px solid {mid}; spacing: 4px; padding: 3px 6px; }}
QLineEdit {{ border: 1px solid {edge}; border-radius: 3px; padding: 2px 4px; background: {base}; }}
QLineEdit:focus {{ border-color: {accent}; }}
QLineEdit:disabled {{ border-color: {mid}; background: {window}; }}
QCheckBox::indicator, QListView::indicator {{ width: 13px; height: 13px; border: 1px solid {edge};
  border-radius: 2px; background: {base}; }}
QCheckBox::indicator:checked, QListView::indicator:checked {{ background: {chosen}; image: url("{tick}"); }}
QCheckBox::indicator:focus {{ border-color: {accent}; }}
QToolButton {{ border: 1px solid transparent; border-radius: 3px; padding: 3px 5px; }}
QToolButton:hover {{ background: {hover}; }}
QToolButton:pressed {{ background: {mid}; }}
QToolButton:checked {{ background: {hover}; border-color: {accent}; }}
QToolButton:focus {{ border-color: {accent}; }}
QDockWidget::title {{ padding: 4px 6px; }}
QStatusBar {{ border-top: 1px solid {mid}; }}
QStatusBar::item {{ border: none; }}
"""


def palette(dark: bool) -> QPalette:
    """The light or the dark palette."""
    colours = _DARK if dark else _LIGHT
    made = QPalette()
    for role, colour in colours.items():
        made.setColor(role, QColor(colour))
    faint = QColor(colours[_R.PlaceholderText])
    faint.setAlphaF(0.6)
    for role in (_R.WindowText, _R.Text, _R.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, faint)
    made.setColor(QPalette.ColorGroup.Disabled, _R.Highlight, QColor(colours[_R.Mid]))
    return made


def is_dark(app: QApplication, theme: Theme) -> bool:
    """Whether a theme is dark here and now."""
    if theme is Theme.SYSTEM:
        return app.styleHints().colorScheme() is Qt.ColorScheme.Dark
    return theme is Theme.DARK


def apply(app: QApplication, theme: Theme) -> None:
    """Make everything look like that; the style itself is chosen when the application is made, see STYLE."""
    colours = _DARK if is_dark(app, theme) else _LIGHT
    app.setPalette(palette(colours is _DARK))
    app.setStyleSheet(
        _RULES.format(
            mid=colours[_R.Mid],
            hover=colours[_R.Midlight],
            text=colours[_R.ToolTipText],
            tip=colours[_R.ToolTipBase],
            window=colours[_R.Window],
            quiet=colours[_R.PlaceholderText],
            edge=colours[_R.Shadow] if colours is _LIGHT else colours[_R.PlaceholderText],
            base=colours[_R.Base],
            accent=colours[_R.Accent],
            chosen=colours[_R.Highlight],
            tick=str(resource("icons", "tick.svg")).replace("\\", "/"),
        )
    )
