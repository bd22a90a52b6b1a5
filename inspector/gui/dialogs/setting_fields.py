"""A field for each kind of setting: it sets at once what is chosen in it, and follows what is set elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QCheckBox, QComboBox, QFontComboBox, QHBoxLayout, QLineEdit, QSpinBox, QWidget

from inspector.gui.kit.preferences import Choice, Flag, FontFamily, Number, Setting, Text
from inspector.gui.kit.settings import Settings
from inspector.gui.kit.widgets import push_button

Make = Callable[[Any, Settings], QWidget]
WIDEST = 320
"""Pixels that a field has at most."""
SPACE = 10
"""Pixels around a number, as much as around a text."""


def field_for(setting: Setting[Any], settings: Settings) -> QWidget:
    """The field of a setting, named and explained."""
    field = _made(setting, settings)
    field.setObjectName(setting.key)
    field.setAccessibleName(setting.label)
    field.setAccessibleDescription(setting.tip)
    field.setToolTip(setting.tip)
    field.setMaximumWidth(WIDEST)
    return field


def _made(setting: Setting[Any], settings: Settings) -> QWidget:
    kinds: tuple[tuple[type[Setting[Any]], Make], ...] = (
        *((Flag, _flag), (Choice, _choice), (Number, _number), (FontFamily, _Family)),
        (Text, _text),
    )
    return next(make for kind, make in kinds if isinstance(setting, kind))(setting, settings)


class _Following(QObject):
    """Shows the setting now and whenever it is another one, as long as the field is there; that sets nothing."""

    def __init__(
        self, setting: Setting[Any], settings: Settings, field: QObject, show: Callable[[Any], object]
    ) -> None:
        super().__init__(field)
        self._setting, self._settings, self._field, self._show = setting, settings, field, show
        settings.changed.connect(self._changed)
        self._changed(setting.key)

    def _changed(self, key: str) -> None:
        if key == self._setting.key:
            self._field.blockSignals(True)
            self._show(self._settings.get(self._setting))
            self._field.blockSignals(False)


def _flag(setting: Flag, settings: Settings) -> QWidget:
    field = QCheckBox(setting.label)
    _Following(setting, settings, field, field.setChecked)
    field.toggled.connect(lambda on: settings.put(setting, on))
    return field


def _choice(setting: Choice, settings: Settings) -> QWidget:
    field = QComboBox()
    for value in setting.words:
        field.addItem(setting.called(value), value)
    _Following(setting, settings, field, lambda value: field.setCurrentIndex(field.findData(value)))
    field.currentIndexChanged.connect(lambda at: settings.put(setting, str(field.itemData(at))))
    return field


def _number(setting: Number, settings: Settings) -> QWidget:
    field = QSpinBox()
    field.setRange(setting.least, setting.most)
    field.setSuffix(f" {setting.unit}" if setting.unit else "")
    field.setMinimumHeight(field.fontMetrics().height() + SPACE)
    field.setSpecialValueText(setting.special)
    field.setGroupSeparatorShown(True)
    field.setKeyboardTracking(False)  # a number is set when it has been typed, not with every digit
    _Following(setting, settings, field, field.setValue)
    field.valueChanged.connect(lambda number: settings.put(setting, number))
    return field


def _text(setting: Text, settings: Settings) -> QWidget:
    field = QLineEdit()
    field.setPlaceholderText(setting.hint)
    field.setClearButtonEnabled(True)
    _Following(setting, settings, field, field.setText)
    field.textChanged.connect(lambda text: settings.put(setting, text.strip()))
    return field


class _Family(QWidget):
    """The fonts whose letters are of one width, and a button for the system's own."""

    def __init__(self, setting: FontFamily, settings: Settings) -> None:
        super().__init__()
        self.fonts = QFontComboBox()
        self.fonts.setFontFilters(QFontComboBox.FontFilter.MonospacedFonts)
        self.fonts.setAccessibleName(setting.label)
        self.system = push_button("System", f"Use the other font: {setting.hint}")
        self.setFocusProxy(self.fonts)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.fonts, 1)
        layout.addWidget(self.system)
        _Following(setting, settings, self.fonts, self._show)
        self.fonts.currentFontChanged.connect(lambda font: settings.put(setting, font.family()))
        self.system.clicked.connect(lambda: settings.put(setting, setting.default))

    def _show(self, family: str) -> None:
        if family:
            self.fonts.setCurrentFont(QFont(family))
        else:
            self.fonts.setCurrentIndex(-1)
            self.fonts.setEditText("As the system")
