"""Changing settings: the dialog, and each setting as something that the palette of commands finds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from inspector.gui.kit.settings import Settings

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.command_palette import Line


class SettingsActions:
    """What the actions call. ``parent`` is what the dialog belongs to."""

    def __init__(self, parent: QWidget, settings: Settings) -> None:
        self._parent = parent
        self._settings = settings

    def show_settings(self) -> None:
        """Show all settings."""
        self._show("")

    def _show(self, key: str) -> None:
        from inspector.gui.dialogs.settings import SettingsDialog

        dialog = SettingsDialog(self._parent, self._settings)
        dialog.open()
        dialog.go_to(key)

    def lines(self) -> dict[Line, Callable[[], object]]:
        """Each setting as a line of the palette of commands, which shows it in the dialog; each choice makes it so."""
        from inspector.gui.app.command_palette import Line
        from inspector.gui.kit import preferences
        from inspector.gui.kit.preferences import Choice

        found: dict[Line, Callable[[], object]] = {}
        for one in preferences.EVERY:
            name, tip, page = one.label, one.tip, f"Settings, {one.page}"
            found[Line(f"setting {one.key}", name, "", page, tip)] = partial(self._show, one.key)
            if isinstance(one, Choice):
                for value in one.words:
                    words = f"{name}: {one.called(value)}"
                    line = Line(f"setting {one.key} {value}", words, "", page, tip)
                    found[line] = partial(self._settings.put, one, value)
        return found
