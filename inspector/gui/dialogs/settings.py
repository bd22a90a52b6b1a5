"""The settings dialog. Changes apply at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFontComboBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QSpinBox,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from inspector.gui.kit import preferences
from inspector.gui.kit.preferences import Choice, Flag, FontFamily, Number, Setting, SettingsPage, Text
from inspector.gui.kit.settings import Settings
from inspector.gui.kit.style import EDGE, GRID, on_grid
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


class SettingsDialog(QDialog):
    """All settings, one page per topic."""

    def __init__(self, parent: QWidget, settings: Settings) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Settings")
        self.resize(*SIZE)
        self._settings = settings
        self.fields: dict[str, QWidget] = {}
        self.pages = QTabWidget()
        self.pages.setAccessibleName("Settings by topic")
        for page in SettingsPage:
            self.pages.addTab(self._page(page), page.value)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        self.reset = push_button("Reset This Page", "Reset this page to its defaults")
        self.reset_all = push_button("Reset All", "Reset all settings to their defaults; recent files stay")
        self.reset.clicked.connect(lambda: self._reset(list(SettingsPage)[self.pages.currentIndex()]))
        self.reset_all.clicked.connect(lambda: self._reset(*SettingsPage))
        for button in (self.reset, self.reset_all):
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ResetRole)
        layout = on_grid(QVBoxLayout(self), EDGE)
        layout.addWidget(self.pages)
        layout.addWidget(buttons)

    def go_to(self, key: str) -> None:
        """Show the page of a setting and focus its field; an unknown key means the first setting."""
        setting = next((one for one in preferences.ALL if one.key == key), preferences.ALL[0])
        self.pages.setCurrentIndex(list(SettingsPage).index(setting.page))
        self.fields[setting.key].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _page(self, page: SettingsPage) -> QWidget:
        inner = QWidget()
        form = on_grid(QFormLayout(inner), 4 * GRID)
        form.setVerticalSpacing(GRID)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
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
        area = QScrollArea()
        area.setAccessibleName(page.value)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(inner)
        return area

    def _add_recent(self, form: QFormLayout) -> None:
        self.clear = push_button("Clear", "Clear the list of recent files")
        self.clear.setAccessibleName("Clear recent files")
        self.clear.clicked.connect(self._settings.clear_recent)
        self.clear.clicked.connect(lambda: self.clear.setEnabled(False))
        self.clear.setEnabled(bool(self._settings.recent))
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
    field.setObjectName(setting.key)
    field.setAccessibleName(setting.label)
    field.setAccessibleDescription(setting.tip)
    field.setToolTip(setting.tip)
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
            self._field.blockSignals(True)
            self._show(self._settings.get(self._setting))
            self._field.blockSignals(False)


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
    field = QSpinBox()
    field.setRange(setting.least, setting.most)
    field.setSuffix(f" {setting.unit}" if setting.unit else "")
    field.setMinimumHeight(field.fontMetrics().height() + PADDING_PX)
    field.setSpecialValueText(setting.special)
    field.setGroupSeparatorShown(True)
    field.setKeyboardTracking(False)  # set the number when it is complete, not with each digit
    _SettingBinding(setting, settings, field, field.setValue)
    field.valueChanged.connect(lambda number: settings.put(setting, number))
    return field


def _text(setting: Text, settings: Settings) -> QWidget:
    field = QLineEdit()
    field.setPlaceholderText(setting.hint)
    field.setClearButtonEnabled(True)
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
        self.system = push_button("System", f"Use the default font: {setting.hint}")
        self.setFocusProxy(self.fonts)
        layout = on_grid(QHBoxLayout(self))
        layout.addWidget(self.fonts, 1)
        layout.addWidget(self.system)
        _SettingBinding(setting, settings, self.fonts, self._show)
        self.fonts.currentFontChanged.connect(lambda font: settings.put(setting, font.family()))
        self.system.clicked.connect(lambda: settings.put(setting, setting.default))

    def _show(self, family: str) -> None:
        if family:
            self.fonts.setCurrentFont(QFont(family))
        else:
            self.fonts.setCurrentIndex(-1)
            self.fonts.setEditText("System font")
