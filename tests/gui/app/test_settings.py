"""What settings are, that they hold at once, and the dialog that they are changed in."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QSpinBox
from pytestqt.qtbot import QtBot

from inspector.drawing.palette import Scheme
from inspector.gui.app.command_palette import CommandPalette
from inspector.gui.app.window import Window
from inspector.gui.dialogs.settings import SettingsDialog
from inspector.gui.document.connections import Connections
from inspector.gui.kit import preferences
from inspector.gui.kit.preferences import Settings, SettingsPage
from inspector.sources.s3.connection import DEFAULT, Connection
from tests.gui.conftest import Show, dialog_of, press


@pytest.fixture
def dialog(window: Window) -> SettingsDialog:
    press(window, "show_settings")
    found = dialog_of(window, SettingsDialog)
    assert isinstance(found, SettingsDialog)
    return found


# ---- what they are ---------------------------------------------------------------------------------------------------


def test_every_setting_has_a_name_of_its_own() -> None:
    keys = [setting.key for setting in preferences.ALL]
    assert len(set(keys)) == len(keys)
    assert {setting.page for setting in preferences.ALL} == set(SettingsPage)


def test_what_is_stored_badly_is_the_default_or_a_text() -> None:
    for setting, stored in product(preferences.ALL, ("", "nonsense", "-1", "99999999999999999999", "[]")):
        found = setting.read(stored)
        assert type(found) is type(setting.default), (setting.key, stored)
        if setting.values or setting.labels:
            assert found == setting.default, (setting.key, stored)


def test_settings_are_kept_and_defaults_are_not(tmp_path: Path) -> None:
    def settings() -> Settings:
        return Settings(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))

    settings().put(preferences.FONT_SIZE, 12)
    settings().put(preferences.ARROWS, False)
    assert (settings().get(preferences.FONT_SIZE), settings().get(preferences.ARROWS)) == (12, False)
    settings().put(preferences.FONT_SIZE, preferences.FONT_SIZE.default)
    again = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    assert again.allKeys() == ["arrows"]


def test_only_what_is_new_is_told(settings: Settings) -> None:
    told: list[str] = []
    settings.changed.connect(told.append)
    settings.put(preferences.FONT_SIZE, 12)
    settings.put(preferences.FONT_SIZE, 12)
    settings.put(preferences.FONT_SIZE, preferences.FONT_SIZE.values[-1] + 1)  # becomes the default
    assert told == ["font_size", "font_size"]
    assert settings.get(preferences.FONT_SIZE) == preferences.FONT_SIZE.default


def test_an_endpoint_is_kept_without_its_password(settings: Settings, tmp_path: Path) -> None:
    settings.put(preferences.ENDPOINT, "https://user:secret@storage.example:9000")
    assert settings.get(preferences.ENDPOINT) == "https://storage.example:9000"
    QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat).sync()
    assert "secret" not in (tmp_path / "settings.ini").read_text()


# ---- what they do ----------------------------------------------------------------------------------------------------


def test_a_new_tab_looks_as_is_set_and_follows_at_once(show: Show, settings: Settings) -> None:
    settings.put(preferences.BYTES_PER_ROW, "32")
    view = show("journey.caf").hex_pane.hex
    assert view.bytesPerRow() == 32
    settings.put(preferences.BYTES_PER_ROW, "8")
    assert view.bytesPerRow() == 8
    line = view.look.line
    settings.put(preferences.FONT_SIZE, 30)
    assert view.look.line > line
    settings.put(preferences.FONT_SIZE, 0)
    assert view.look.line == line


def test_buckets_that_are_new_are_reached_as_is_set(settings: Settings) -> None:
    connections = Connections(settings)
    assert connections.of("s3://bucket/key") == DEFAULT
    settings.put(preferences.PROFILE, "field")
    settings.put(preferences.REGION, "eu-north-1")
    assert connections.of("s3://bucket/key") == Connection("field", "eu-north-1")
    connections.remember("s3://bucket/key", Connection("other"))
    assert connections.of("s3://bucket/key") == Connection("other")
    assert connections.known("s3://new/key") == Connection("field", "eu-north-1")
    assert connections.of("/a/file") == DEFAULT


# ---- the dialog ------------------------------------------------------------------------------------------------------


def test_every_setting_has_a_field_with_a_name_and_an_explanation(dialog: SettingsDialog) -> None:
    for setting in preferences.ALL:
        field = dialog.fields[setting.key]
        assert field.accessibleName() == setting.label
        assert field.toolTip() == setting.tip
        assert field.focusPolicy().value, setting.key


def test_a_field_sets_at_once_and_follows(dialog: SettingsDialog, settings: Settings) -> None:
    fields = dialog.fields
    theme, size = fields[preferences.THEME.key], fields[preferences.FONT_SIZE.key]
    arrows, region = fields[preferences.ARROWS.key], fields[preferences.REGION.key]
    assert isinstance(theme, QComboBox)
    assert isinstance(size, QSpinBox)
    assert isinstance(arrows, QCheckBox)
    assert isinstance(region, QLineEdit)
    theme.setCurrentIndex(theme.findData(Scheme.DARK.value))
    size.setValue(20)
    arrows.click()
    QTest.keyClicks(region, "eu-1")
    assert settings.theme is Scheme.DARK
    assert (settings.get(preferences.FONT_SIZE), settings.get(preferences.ARROWS)) == (20, False)
    assert settings.get(preferences.REGION) == "eu-1"
    settings.put(preferences.FONT_SIZE, 30)
    settings.put(preferences.THEME, Scheme.LIGHT.value)
    assert size.value() == 30
    assert theme.currentData() == Scheme.LIGHT.value


def test_the_font_is_one_of_those_with_equal_letters_or_the_systems(dialog: SettingsDialog, settings: Settings) -> None:
    box = dialog.fields[preferences.FONT.key]
    assert isinstance(box, QComboBox)
    assert box.currentText() == "System font"
    box.setCurrentIndex(box.findData("DejaVu Sans Mono"))
    assert settings.get(preferences.FONT) == "DejaVu Sans Mono"
    assert box.findData("DejaVu Sans") < 0
    settings.put(preferences.FONT, "")
    assert box.currentText() == "System font"


def test_all_is_reset(dialog: SettingsDialog, settings: Settings) -> None:
    settings.put(preferences.FONT_SIZE, 30)
    settings.put(preferences.OFFSETS, "10")
    settings.put(preferences.ARROWS, False)
    dialog.reset_all.click()
    assert [settings.get(setting) for setting in preferences.ALL] == [each.default for each in preferences.ALL]


def test_the_palette_of_commands_leads_to_a_setting(window: Window, qtbot: QtBot) -> None:
    press(window, "show_commands")
    palette = dialog_of(window, CommandPalette)
    assert isinstance(palette, CommandPalette)
    palette.query.setText("bytes per row")
    palette.query.returnPressed.emit()
    found = dialog_of(window, SettingsDialog)
    assert isinstance(found, SettingsDialog)
    assert found.pages.tabText(found.pages.currentIndex()) == SettingsPage.BYTES
    field = found.fields[preferences.BYTES_PER_ROW.key]
    qtbot.waitUntil(lambda: bool(field.hasFocus()))


def test_a_closed_dialog_follows_nothing(window: Window, settings: Settings, qtbot: QtBot) -> None:
    press(window, "show_settings")
    found = dialog_of(window, SettingsDialog)
    with qtbot.waitSignal(found.destroyed):
        found.reject()
    settings.put(preferences.FONT_SIZE, 7)
    assert settings.get(preferences.FONT_SIZE) == 7
