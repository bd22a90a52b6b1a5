"""The visual language: sizes, distances, edges and what stands out, for everything that the window draws.

- Every distance is a multiple of ``GRID``; rows of all trees and tables are ``row_height`` pixels high.
- There are three sizes of text, ``TextSize``, and two inks: that of text, and ``secondary`` for what is not the answer.
- A panel is a ``card``: one surface without a frame, and without one inside. Lines only separate a header from rows.
- One accent marks the focus (a ring of ``RING_PX``), what is chosen (a line below it) and what may be dropped on.
- A severity is an icon, a word and a stripe at the left edge; see ``STRIPE_ROLE``.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPalette
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLayout,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from inspector.drawing.palette import MARKS, Mark, Scheme, scheme_of

W = TypeVar("W", bound=QWidget)
L = TypeVar("L", bound=QLayout)

GRID = 4
"""Pixels of the grid: every distance is a multiple of it."""
EDGE = 3 * GRID
"""Pixels between the edge of a dialog, or of a tab that is a form, and what is in it."""
PAGE_PX = 375 * GRID
"""The most that a page or a form is wide: fields and lines that are wider take the eye too far."""
ICON_PX = 16
"""Pixels of the icons in rows."""
STRIPE_PX = GRID
"""Width in pixels of the stripe of a severity."""
RING_PX = 2
"""Width in pixels of the ring around what has the focus."""
STRIPE_ROLE = Qt.ItemDataRole.UserRole + 1_000
"""The role under which a model gives the Mark of a row's stripe, in the first column; None for no stripe."""


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


def bold(font: QFont) -> QFont:
    """The font in bold."""
    font.setBold(True)
    return font


def secondary(widget: W) -> W:
    """Write a widget in the ink for what is not the answer."""
    widget.setForegroundRole(QPalette.ColorRole.PlaceholderText)
    return widget


def card(panel: W) -> W:
    """Give a panel the surface on which rows stand, so that it is one quiet area."""
    panel.setAutoFillBackground(True)
    panel.setBackgroundRole(QPalette.ColorRole.Base)
    return panel


def on_grid(layout: L, margin: int = 0, gap: int = 2 * GRID) -> L:
    """Give a layout distances on the grid, where those of the system are not; layouts in it take over the gap."""
    layout.setContentsMargins(margin, margin, margin, margin)
    layout.setSpacing(gap)
    return layout


def keep_narrow(widget: QWidget) -> QHBoxLayout:
    """A row in which a widget is at most a page wide, at the left."""
    widget.setMaximumWidth(PAGE_PX)
    row = QHBoxLayout()
    row.addWidget(widget, 1)
    row.addStretch()
    return row


def row_height(widget: QWidget) -> int:
    """The height in pixels of a row with one line of text."""
    return max(5 * GRID, -(-(widget.fontMetrics().height() + GRID) // GRID) * GRID)


def scheme_for(palette: QPalette) -> Scheme:
    """The scheme that a palette is of."""
    return scheme_of(palette.color(QPalette.ColorRole.Base).name(), palette.color(QPalette.ColorRole.Text).name())


def paint_stripe(painter: QPainter, box: QRect, mark: Mark, palette: QPalette) -> None:
    """Paint the stripe of a severity or state at the left edge of a box."""
    painter.fillRect(QRect(box.left(), box.top(), STRIPE_PX, box.height()), QColor(MARKS[scheme_for(palette)][mark]))


class Rows(QStyledItemDelegate):
    """Gives the rows of a tree one height."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width(), max(size.height(), -(-(option.fontMetrics.height() + GRID) // GRID) * GRID))


class Sentences(Rows):
    """Elides sentences at their end, for what comes first in them is what was found."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideRight


class Stripes(QStyledItemDelegate):
    """Paints the stripes of rows; for the first column of a view."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        box = QRect(option.rect)
        mark = index.data(STRIPE_ROLE)
        option.rect = box.adjusted(2 * STRIPE_PX, 0, 0, 0)
        super().paint(painter, option, index)
        if mark is not None:
            paint_stripe(painter, box.adjusted(0, 1, 0, -1), Mark(mark), option.palette)


# ---- the style sheet -------------------------------------------------------------------------------------------------

_SURFACES = """
QToolTip {{ border: 1px solid {line}; padding: 4px; color: {text}; background: {tip}; }}
QMainWindow::separator {{ width: 4px; height: 4px; background: {gutter}; }}
QMainWindow::separator:hover {{ background: {accent}; }}
QTreeView, QTableView, QListView, QPlainTextEdit {{ border: none; background: {base}; }}
QHeaderView {{ background: {base}; border: none; }}
QHeaderView::section {{ background: {base}; color: {quiet}; border: none; border-bottom: 1px solid {mid};
  padding: 4px 4px; }}
QHeaderView::section:hover {{ color: {text}; }}
QToolBar {{ border: none; border-bottom: 1px solid {mid}; spacing: 4px; padding: 2px 8px; }}
QDockWidget {{ color: {quiet}; titlebar-close-icon: url("{close}"); titlebar-normal-icon: url("{float}"); }}
QDockWidget::title {{ background: {base}; padding: 4px 8px; }}
QStatusBar {{ border-top: 1px solid {mid}; }}
QStatusBar::item {{ border: none; }}
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
#drop {{ border: 1px dashed {quiet}; border-radius: 4px; background: {base}; }}
#details {{ border: none; border-left: 1px solid {mid}; border-top: 1px solid {mid}; }}
"""
"""What is ours on every system."""
_CONTROLS = """
QPushButton {{ border: 1px solid {line}; border-radius: 4px; padding: 3px 11px; background: {base}; }}
QPushButton:hover {{ background: {hover}; }}
QPushButton:pressed, QPushButton:checked {{ background: {hover}; border-color: {accent}; }}
QPushButton:default {{ border-color: {accent}; }}
QPushButton:focus {{ border: 2px solid {accent}; padding: 2px 10px; }}
QPushButton:disabled {{ border-color: {mid}; color: {faint}; background: transparent; }}
QPushButton:flat {{ border: 2px solid transparent; padding: 2px 10px; background: transparent; }}
QPushButton:flat:hover {{ background: {hover}; }}
QPushButton:flat:focus {{ border-color: {accent}; }}
#link {{ color: {link}; }}
QToolButton {{ border: 2px solid transparent; border-radius: 4px; padding: 2px 4px; }}
QToolButton:hover {{ background: {hover}; }}
QToolButton:pressed {{ background: {mid}; }}
QToolButton:checked {{ background: {hover}; border-bottom: 2px solid {accent}; }}
QToolButton:focus {{ border: 2px solid {accent}; }}
#plain::menu-indicator {{ image: none; }}
QLineEdit {{ border: 1px solid {edge}; border-radius: 4px; padding: 2px 4px; background: {base}; }}
QLineEdit:focus {{ border: 2px solid {accent}; padding: 1px 3px; }}
QLineEdit:disabled {{ border-color: {mid}; background: {window}; }}
QLineEdit[wrong="true"] {{ border: 2px solid {damage}; padding: 1px 3px; }}
QCheckBox::indicator, QListView::indicator {{ width: 14px; height: 14px; border: 1px solid {edge};
  border-radius: 2px; background: {base}; }}
QCheckBox::indicator:checked, QListView::indicator:checked {{ background: {chosen}; image: url("{tick}"); }}
QCheckBox::indicator:focus {{ width: 12px; height: 12px; border: 2px solid {accent}; }}
QTabBar::tab {{ border: none; border-bottom: 2px solid transparent; padding: 4px 12px; color: {quiet};
  background: transparent; }}
QTabBar::tab:hover {{ background: {hover}; color: {text}; }}
QTabBar::tab:selected {{ border-bottom: 2px solid {accent}; color: {text}; background: {base}; }}
QTabBar::tab:focus {{ border: 2px solid {accent}; padding: 2px 10px 4px 10px; }}
QTabBar::close-button {{ image: url("{close}"); subcontrol-position: right; width: 16px; height: 16px; }}
QTabBar::close-button:hover {{ background: {mid}; border-radius: 4px; }}
QTabWidget::pane {{ border: none; border-top: 1px solid {mid}; }}
QAbstractSpinBox {{ border: 1px solid {edge}; border-radius: 4px; padding: 2px; background: {base}; }}
QAbstractSpinBox:focus {{ border: 2px solid {accent}; padding: 1px; }}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{ subcontrol-origin: padding; width: 16px; border: none; }}
QAbstractSpinBox::up-button {{ subcontrol-position: top right; }}
QAbstractSpinBox::down-button {{ subcontrol-position: bottom right; }}
QAbstractSpinBox::up-arrow {{ image: url("{up}"); width: 8px; }}
QAbstractSpinBox::down-arrow {{ image: url("{down}"); width: 8px; }}
QAbstractSpinBox > QLineEdit, QComboBox > QLineEdit {{ border: none; padding: 0px; }}
QComboBox {{ border: 1px solid {edge}; border-radius: 4px; padding: 2px 4px; background: {base}; combobox-popup: 0; }}
QComboBox:hover {{ background: {hover}; }}
QComboBox:focus {{ border: 2px solid {accent}; padding: 1px 3px; }}
QComboBox:disabled {{ border-color: {mid}; color: {faint}; background: transparent; }}
QComboBox::drop-down {{ border: none; width: 20px; }}
QComboBox::down-arrow {{ image: url("{down}"); width: 8px; }}
QComboBox QAbstractItemView {{ border: 1px solid {line}; color: {text}; background: {base};
  selection-color: {chosen_text}; selection-background-color: {chosen}; }}
QComboBox QAbstractItemView::item {{ padding: 4px; }}
QComboBox QAbstractItemView::item:selected {{ color: {chosen_text}; background: {chosen}; }}
"""
"""Controls, where they are not those of the system."""
_CONTRAST = """
QMainWindow::separator {{ width: 2px; height: 2px; }}
QPushButton:disabled, QComboBox:disabled {{ border-style: dashed; }}
QPushButton:hover, QToolButton:hover, QComboBox:hover {{ border-color: {accent}; }}
QMenuBar::item:selected, QMenu::item:selected {{ background: {chosen}; color: {chosen_text}; }}
QMenu {{ border: 1px solid {text}; }}
QTabBar::tab {{ color: {text}; border: 1px solid {mid}; padding: 4px 11px; }}
QTabBar::tab:selected {{ border: 2px solid {accent}; padding: 3px 10px; }}
QToolButton:checked {{ border: 1px solid {text}; border-bottom: 4px solid {accent}; padding: 2px 5px 1px 5px; }}
QToolButton:focus {{ border: 2px solid {accent}; padding: 2px 4px; }}
"""
"""High contrast: edges that Fusion draws in shades of the window colour are invisible on black or white."""


def sheet(tokens: dict[str, str], *, contrast: bool, native: bool) -> str:
    """The one style sheet of the program; controls stay those of the system with ``native``."""
    parts = (_SURFACES, "" if native else _CONTROLS, _CONTRAST if contrast and not native else "")
    return "".join(parts).format(**tokens)
