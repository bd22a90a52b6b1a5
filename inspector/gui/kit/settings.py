"""What is remembered between two sessions."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QByteArray, QObject, QSettings, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from inspector.gui.kit import preferences
from inspector.gui.kit.preferences import Choice, Setting
from inspector.gui.kit.theme import Theme

RECENT = 12
"""The most recent locations kept."""
T = TypeVar("T")


class Settings(QObject):
    """A typed view of the stored settings.

    Signals:
        changed(str): the setting of that key has another value.
    """

    changed = Signal(str)

    def __init__(self, store: QSettings | None = None) -> None:
        super().__init__()
        self._store = store or QSettings(
            QSettings.Format.IniFormat, QSettings.Scope.UserScope, "archive-inspector", "window"
        )

    @property
    def folder(self) -> Path:
        """The folder that the settings are in."""
        return Path(self._store.fileName()).parent

    # ---- what the user sets ------------------------------------------------------------------------------------

    def get(self, setting: Setting[T]) -> T:
        """What a setting is."""
        return setting.read(str(self._store.value(setting.key, "")))

    def put(self, setting: Setting[T], value: T) -> None:
        """Set it, and tell where that is something new; a default is not stored, so that it may be another one day."""
        value = setting.read(setting.text(value))
        if value == self.get(setting):
            return
        if value == setting.default:
            self._store.remove(setting.key)
        else:
            self._store.setValue(setting.key, setting.text(value))
        self.changed.emit(setting.key)

    @property
    def theme(self) -> Theme:
        """Light, dark, high contrast or as the system."""
        return Theme(self.get(preferences.THEME))

    # ---- what is remembered ------------------------------------------------------------------------------------

    @property
    def recent(self) -> list[str]:
        """Locations opened before, the latest first."""
        stored: Any = self._store.value("recent", [])
        found = [stored] if isinstance(stored, str) else list(stored or [])
        return [str(one) for one in found if one][:RECENT]

    def add_recent(self, location: str) -> None:
        """Put a location at the head of the recent ones."""
        self._store.setValue("recent", [location, *(one for one in self.recent if one != location)][:RECENT])

    def clear_recent(self) -> None:
        """Forget the recent locations."""
        self._store.remove("recent")
        self.changed.emit("recent")

    def number(self, name: str, default: int) -> int:
        """A number stored under a name."""
        try:
            return int(str(self._store.value(name, default)))
        except ValueError:
            return default

    def set_number(self, name: str, number: int) -> None:
        """Store a number under a name."""
        self._store.setValue(name, number)

    def text(self, name: str) -> str:
        """A text stored under a name, empty where none is."""
        return str(self._store.value(name, ""))

    def set_text(self, name: str, text: str) -> None:
        """Store a text under a name."""
        self._store.setValue(name, text)

    def state(self, name: str) -> QByteArray:
        """A widget's state stored under a name, empty where none is."""
        stored: Any = self._store.value(name)
        return stored if isinstance(stored, QByteArray) else QByteArray()

    def set_state(self, name: str, state: QByteArray) -> None:
        """Store a widget's state under a name."""
        self._store.setValue(name, state)


class ChoiceMenu(QMenu):
    """Sets a setting; it follows where that is set elsewhere."""

    def __init__(self, title: str, setting: Choice, settings: Settings, parent: QWidget) -> None:
        super().__init__(title, parent)
        self._setting = setting
        self._settings = settings
        group = QActionGroup(self)
        self._by_value: dict[str, QAction] = {}
        for value in setting.words:
            action = self.addAction(setting.called(value))
            action.setCheckable(True)
            action.triggered.connect(partial(self._choose, value))
            group.addAction(action)
            self._by_value[value] = action
        self.aboutToShow.connect(self._mark)
        self._mark()

    def _choose(self, value: str, _: bool = False) -> None:
        self._settings.put(self._setting, value)

    def _mark(self) -> None:
        self._by_value[self._settings.get(self._setting)].setChecked(True)
