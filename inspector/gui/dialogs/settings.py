"""The settings dialog. Changes apply at once."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QCheckBox, QDialogButtonBox, QLabel, QLineEdit, QSpinBox, QTabWidget, QWidget

from inspector.gui.kit import preferences
from inspector.gui.kit.building import Dialog, choice_of, dressed, edited, in_form, scrolling, set_value, value_of
from inspector.gui.kit.preferences import Setting, Settings, SettingsPage
from inspector.gui.kit.style import GRID
from inspector.gui.kit.widgets import push_button, sentence_label

MAX_FIELD_PX = 320
"""Pixels: the maximum width of a field."""
PADDING_PX = 2 * GRID
"""Pixels around a number, as around a text."""

SIZE = (560, 460)
NOTES = {
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
        tip = "Reset all settings to their defaults; recent files stay"
        self.reset_all = push_button("Reset All", tip, self._reset)
        self.buttons.addButton(self.reset_all, QDialogButtonBox.ButtonRole.ResetRole)
        self.lay_out(self.pages)
        settings.changed.connect(self._changed)

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
                field = self._field(setting)
                label = QLabel("" if isinstance(setting.default, bool) else setting.label)
                label.setBuddy(field)
                form.addRow(label, field)
                form.addRow("", _hint_label(setting.tip))
        if page in NOTES:
            form.addRow(_hint_label(NOTES[page]))
        return dressed(scrolling(inner), page.value)

    def _field(self, setting: Setting[Any]) -> QWidget:
        """The field of a setting, with its label and tooltip, which shows and sets its value."""
        field, tip = _created(setting), setting.tip
        self.fields[setting.key] = dressed(
            field, setting.label, objectName=setting.key, accessibleDescription=tip, toolTip=tip
        )
        field.setMaximumWidth(MAX_FIELD_PX)
        set_value(field, self._settings.get(setting))
        edited(field).connect(lambda _: self._settings.put(setting, value_of(field)))
        return field

    def _changed(self, key: str) -> None:
        for setting in preferences.ALL:
            if setting.key == key:
                with QSignalBlocker(self.fields[key]):
                    set_value(self.fields[key], self._settings.get(setting))

    def _reset(self) -> None:
        for setting in preferences.ALL:
            self._settings.put(setting, setting.default)


def _hint_label(text: str) -> QLabel:
    label = sentence_label(text)
    label.setForegroundRole(label.palette().ColorRole.PlaceholderText)
    label.setContentsMargins(0, 0, 0, 2 * GRID)
    return label


def _created(setting: Setting[Any]) -> QWidget:
    """The field for a kind of setting."""
    if isinstance(setting.default, bool):
        return QCheckBox(setting.label)
    if setting.values:
        unit = f" {setting.unit}" if setting.unit else ""
        number = QSpinBox(minimum=min(setting.values), maximum=max(setting.values), suffix=unit)
        number.setMinimumHeight(number.fontMetrics().height() + PADDING_PX)
        number.setSpecialValueText(setting.empty)
        number.setGroupSeparatorShown(True)
        number.setKeyboardTracking(False)  # set the number when it is complete, not with each digit
        return number
    labels = dict(setting.labels)
    if setting is preferences.FONT:
        fixed = [each for each in QFontDatabase.families() if QFontDatabase.isFixedPitch(each)]
        labels = {"": setting.empty, **dict(zip(fixed, fixed, strict=True))}
    if labels:
        return choice_of(setting.label, labels)
    return QLineEdit(placeholderText=setting.empty, clearButtonEnabled=True)
