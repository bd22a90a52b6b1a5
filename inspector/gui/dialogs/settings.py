"""The dialog of all settings: what is changed in it holds at once."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QFrame,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from inspector.gui.dialogs.setting_fields import field_for
from inspector.gui.kit import preferences
from inspector.gui.kit.preferences import Flag, SettingsPage
from inspector.gui.kit.settings import Settings
from inspector.gui.kit.widgets import push_button, sentence_label

SIZE = (560, 460)
NOTES = {
    SettingsPage.LIMITS: "These settings apply to archives opened from now on.",
    SettingsPage.S3: (
        "These settings apply to archives opened from now on. A bucket that was opened before keeps its own "
        "connection. Keys are never stored here; they stay where the AWS tools keep them."
    ),
}


class SettingsDialog(QDialog):
    """All settings, a page for each subject."""

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
        self.reset = push_button("Reset This SettingsPage", "Reset this page to its defaults")
        self.reset_all = push_button("Reset All", "Reset all settings to their defaults; recent files stay")
        self.reset.clicked.connect(lambda: self._reset(list(SettingsPage)[self.pages.currentIndex()]))
        self.reset_all.clicked.connect(lambda: self._reset(*SettingsPage))
        for button in (self.reset, self.reset_all):
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ResetRole)
        layout = QVBoxLayout(self)
        layout.addWidget(self.pages)
        layout.addWidget(buttons)

    def go_to(self, key: str) -> None:
        """Show the page of a setting and move the keyboard to its field; to the first page where there is none."""
        setting = next((one for one in preferences.EVERY if one.key == key), preferences.EVERY[0])
        self.pages.setCurrentIndex(list(SettingsPage).index(setting.page))
        self.fields[setting.key].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _page(self, page: SettingsPage) -> QWidget:
        inner = QWidget()
        form = QFormLayout(inner)
        form.setContentsMargins(16, 16, 16, 16)
        form.setVerticalSpacing(4)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for setting in preferences.EVERY:
            if setting.page is page:
                field = self.fields[setting.key] = field_for(setting, self._settings)
                label = QLabel("" if isinstance(setting, Flag) else setting.label)
                label.setBuddy(field)
                form.addRow(label, field)
                form.addRow("", _quiet(setting.tip))
        if page is SettingsPage.GENERAL:
            self._add_recent(form)
        if page in NOTES:
            form.addRow(_quiet(NOTES[page]))
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
        for setting in preferences.EVERY:
            if setting.page in pages:
                self._settings.put(setting, setting.default)


def _quiet(text: str) -> QLabel:
    label = sentence_label(text)
    label.setForegroundRole(label.palette().ColorRole.PlaceholderText)
    label.setContentsMargins(0, 0, 0, 8)
    return label
