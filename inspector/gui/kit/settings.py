"""Stored settings and other state remembered between sessions."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QByteArray, QObject, QSettings, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from inspector.core.verdict import State
from inspector.gui.kit import preferences
from inspector.gui.kit.preferences import Choice, Setting
from inspector.gui.kit.theme import Theme
from inspector.sources.web.address import has_query

MAX_RECENT = 12
"""The most recent locations that are stored."""
T = TypeVar("T")


class Settings(QObject):
    """A typed view of the stored settings.

    Signals:
        changed(str): the value of the setting with this key has changed.
    """

    changed = Signal(str)

    def __init__(self, store: QSettings | None = None) -> None:
        super().__init__()
        self._store = store or QSettings(
            QSettings.Format.IniFormat, QSettings.Scope.UserScope, "archive-inspector", "window"
        )

    @property
    def folder(self) -> Path:
        """The folder of the settings file."""
        return Path(self._store.fileName()).parent

    # ---- user settings -----------------------------------------------------------------------------------------

    def get(self, setting: Setting[T]) -> T:
        """The value of a setting."""
        return setting.read(str(self._store.value(setting.key, "")))

    def put(self, setting: Setting[T], value: T) -> None:
        """Set a value and emit ``changed`` if it differs. Defaults are not stored, so that they can change later."""
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
        """The theme of the window."""
        return Theme(self.get(preferences.THEME))

    # ---- remembered state --------------------------------------------------------------------------------------

    @property
    def recent(self) -> list[str]:
        """Recently opened locations, the latest first."""
        stored: Any = self._store.value("recent", [])
        found = [stored] if isinstance(stored, str) else list(stored or [])
        return [str(each) for each in found if each][:MAX_RECENT]

    def add_recent(self, location: str) -> None:
        """Move a location to the top of the recent ones, unless it has a query, which is not kept."""
        if has_query(location):
            return
        self._store.setValue("recent", [location, *(each for each in self.recent if each != location)][:MAX_RECENT])

    @property
    def recent_states(self) -> dict[str, State]:
        """The states that recent locations had when they were last open, as far as they are known."""
        try:
            stored: Any = json.loads(self.text("recent_states") or "{}")
        except (ValueError, RecursionError):
            return {}
        known = {state.value: state for state in State}
        found = stored.items() if isinstance(stored, dict) else ()
        return {location: known[state] for location, state in found if isinstance(state, str) and state in known}

    def set_recent_state(self, location: str, state: State | None) -> None:
        """Remember the state of a recent location; None leaves what is known."""
        states = self.recent_states
        if state is not None and location in self.recent and states.get(location) is not state:
            kept = {each: states[each].value for each in self.recent if each in states}
            self.set_text("recent_states", json.dumps({**kept, location: state.value}))

    def clear_recent(self) -> None:
        """Forget the recent locations."""
        self._store.remove("recent")
        self._store.remove("recent_states")
        self.changed.emit("recent")

    def text(self, name: str) -> str:
        """The text stored under a name; empty by default."""
        return str(self._store.value(name, ""))

    def set_text(self, name: str, text: str) -> None:
        """Store a text under a name."""
        self._store.setValue(name, text)

    def state(self, name: str) -> QByteArray:
        """The widget state stored under a name; empty by default."""
        stored: Any = self._store.value(name)
        return stored if isinstance(stored, QByteArray) else QByteArray()

    def set_state(self, name: str, state: QByteArray) -> None:
        """Store a widget's state under a name."""
        self._store.setValue(name, state)


class ChoiceMenu(QMenu):
    """A menu of the values of a setting, the current each checked."""

    def __init__(self, title: str, setting: Choice, settings: Settings, parent: QWidget) -> None:
        super().__init__(title, parent)
        self._setting = setting
        self._settings = settings
        group = QActionGroup(self)
        self._by_value: dict[str, QAction] = {}
        for value in setting.labels:
            action = self.addAction(setting.label_of(value))
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
