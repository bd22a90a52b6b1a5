"""What is remembered between two sessions."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QByteArray, QSettings

from inspector.gui.theme import Theme

RECENT = 12
"""The most recent locations kept."""


class Settings:
    """A typed view of the stored settings."""

    def __init__(self, store: QSettings | None = None) -> None:
        self._store = store or QSettings(
            QSettings.Format.IniFormat, QSettings.Scope.UserScope, "archive-inspector", "window"
        )

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

    @property
    def theme(self) -> Theme:
        """Light, dark or as the system."""
        stored = str(self._store.value("theme", ""))
        return next((theme for theme in Theme if theme == stored), Theme.SYSTEM)

    @theme.setter
    def theme(self, theme: Theme) -> None:
        self._store.setValue("theme", theme.value)

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
