"""The settings dialog. Changes apply at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QSignalBlocker, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialogButtonBox,
    QFontComboBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QSpinBox,
    QTabWidget,
    QWidget,
)

from inspector.gui.kit import preferences
from inspector.gui.kit.building import Dialog, dressed, in_form, in_row, scrolling
from inspector.gui.kit.preferences import Choice, Flag, FontFamily, Number, Setting, SettingsPage, Text
from inspector.gui.kit.settings import Settings
from inspector.gui.kit.style import GRID
from inspector.gui.kit.widgets import push_button, sentence_label

CreateField = Callable[[Any, Settings], QWidget]
MAX_FIELD_PX = 320
"""Pixels: the maximum width of a field."""
PADDING_PX = 2 * GRID
"""Pixels around a number, as around a text."""

SIZE = (560, 460)
NOTES = {
    SettingsPage.LIMITS: "These settings apply to archives opened from now on.",
    SettingsPage.S3: (
        "These settings apply to archives opened from now on. A bucket that was opened before keeps its own "
        "connection. Keys are never stored here; they stay where the AWS tools keep them."
    ),
}


class SettingsDialog(Dialog):
    """All settings, one page per topic."""

    def __init__(self, parent: QWidget, settings: Settings) -> None:
        super().__init__(parent, "Settings")
        self.resize(*SIZE)
        self._settings = settings
        self.fields: dict[str, QWidget] = {}
        self.pages = dressed(QTabWidget(), "Settings by topic")
        for page in SettingsPage:
            self.pages.addTab(self._page(page), page.value)
        self.reset = push_button(
            "Reset This Page",
            "Reset this page to its defaults",
            lambda: self._reset(list(SettingsPage)[self.pages.currentIndex()]),
        )
        tip = "Reset all settings to their defaults; recent files stay"
        self.reset_all = push_button("Reset All", tip, lambda: self._reset(*SettingsPage))
        for button in (self.reset, self.reset_all):
            self.buttons.addButton(button, QDialogButtonBox.ButtonRole.ResetRole)
        self.lay_out(self.pages)

    def go_to(self, key: str) -> None:
        """Show the page of a setting and focus its field; an unknown key means the first setting."""
        setting = next((one for one in preferences.ALL if one.key == key), preferences.ALL[0])
        self.pages.setCurrentIndex(list(SettingsPage).index(setting.page))
        self.fields[setting.key].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _page(self, page: SettingsPage) -> QWidget:
        inner = QWidget()
        form = in_form(on=inner, edge=4 * GRID)
        form.setVerticalSpacing(GRID)
        for setting in preferences.ALL:
            if setting.page is page:
                field = self.fields[setting.key] = field_for(setting, self._settings)
                label = QLabel("" if isinstance(setting, Flag) else setting.label)
                label.setBuddy(field)
                form.addRow(label, field)
                form.addRow("", _hint_label(setting.tip))
        if page is SettingsPage.GENERAL:
            self._add_recent(form)
        if page in NOTES:
            form.addRow(_hint_label(NOTES[page]))
        return dressed(scrolling(inner), page.value)

    def _add_recent(self, form: QFormLayout) -> None:
        def clear() -> None:
            self._settings.clear_recent()
            self.clear.setEnabled(False)

        button = push_button("Clear", "Clear the list of recent files", clear)
        self.clear = dressed(button, "Clear recent files", enabled=bool(self._settings.recent))
        self.clear.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        form.addRow(QLabel("Recent files"), self.clear)

    def _reset(self, *pages: SettingsPage) -> None:
        for setting in preferences.ALL:
            if setting.page in pages:
                self._settings.put(setting, setting.default)


def _hint_label(text: str) -> QLabel:
    label = sentence_label(text)
    label.setForegroundRole(label.palette().ColorRole.PlaceholderText)
    label.setContentsMargins(0, 0, 0, 2 * GRID)
    return label


def field_for(setting: Setting[Any], settings: Settings) -> QWidget:
    """The field of a setting, with its label and tooltip."""
    field = _create_field(setting, settings)
    dressed(field, setting.label, objectName=setting.key, accessibleDescription=setting.tip, toolTip=setting.tip)
    field.setMaximumWidth(MAX_FIELD_PX)
    return field


def _create_field(setting: Setting[Any], settings: Settings) -> QWidget:
    kinds: tuple[tuple[type[Setting[Any]], CreateField], ...] = (
        *((Flag, _flag), (Choice, _choice), (Number, _number), (FontFamily, _FontFamilyField)),
        (Text, _text),
    )
    return next(create for kind, create in kinds if isinstance(setting, kind))(setting, settings)


class _SettingBinding(QObject):
    """Keeps a field in step with its setting while the field exists."""

    def __init__(
        self, setting: Setting[Any], settings: Settings, field: QObject, show: Callable[[Any], object]
    ) -> None:
        super().__init__(field)
        self._setting, self._settings, self._field, self._show = setting, settings, field, show
        settings.changed.connect(self._changed)
        self._changed(setting.key)

    def _changed(self, key: str) -> None:
        if key == self._setting.key:
            with QSignalBlocker(self._field):
                self._show(self._settings.get(self._setting))


def _flag(setting: Flag, settings: Settings) -> QWidget:
    field = QCheckBox(setting.label)
    _SettingBinding(setting, settings, field, field.setChecked)
    field.toggled.connect(lambda on: settings.put(setting, on))
    return field


def _choice(setting: Choice, settings: Settings) -> QWidget:
    field = QComboBox()
    for value in setting.labels:
        field.addItem(setting.label_of(value), value)
    _SettingBinding(setting, settings, field, lambda value: field.setCurrentIndex(field.findData(value)))
    field.currentIndexChanged.connect(lambda at: settings.put(setting, str(field.itemData(at))))
    return field


def _number(setting: Number, settings: Settings) -> QWidget:
    field = QSpinBox(minimum=setting.least, maximum=setting.most, suffix=f" {setting.unit}" if setting.unit else "")
    field.setMinimumHeight(field.fontMetrics().height() + PADDING_PX)
    field.setSpecialValueText(setting.special)
    field.setGroupSeparatorShown(True)
    field.setKeyboardTracking(False)  # set the number when it is complete, not with each digit
    _SettingBinding(setting, settings, field, field.setValue)
    field.valueChanged.connect(lambda number: settings.put(setting, number))
    return field


def _text(setting: Text, settings: Settings) -> QWidget:
    field = QLineEdit(placeholderText=setting.hint, clearButtonEnabled=True)
    _SettingBinding(setting, settings, field, field.setText)
    field.textChanged.connect(lambda text: settings.put(setting, text.strip()))
    return field


class _FontFamilyField(QWidget):
    """The monospaced fonts, and a button for the system's font."""

    def __init__(self, setting: FontFamily, settings: Settings) -> None:
        super().__init__()
        self.fonts = QFontComboBox()
        self.fonts.setFontFilters(QFontComboBox.FontFilter.MonospacedFonts)
        self.fonts.setAccessibleName(setting.label)
        tip = f"Use the default font: {setting.hint}"
        self.system = push_button("System", tip, lambda: settings.put(setting, setting.default))
        self.setFocusProxy(self.fonts)
        in_row((self.fonts, 1), self.system, on=self)
        _SettingBinding(setting, settings, self.fonts, self._show)
        self.fonts.currentFontChanged.connect(lambda font: settings.put(setting, font.family()))

    def _show(self, family: str) -> None:
        if family:
            self.fonts.setCurrentFont(QFont(family))
        else:
            self.fonts.setCurrentIndex(-1)
            self.fonts.setEditText("System font")
