"""What helps to find actions: the palette of commands and the table of keys. Loaded when they are wanted."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtWidgets import QApplication, QWidget

from inspector.gui.app.settings_actions import SettingsActions


class CommandHelp:
    """What the actions call. ``parent`` is what the dialogs belong to, ``program`` what it is called."""

    def __init__(
        self, parent: QWidget, actions: Mapping[str, QAction], program: str, settings_actions: SettingsActions
    ) -> None:
        self._parent = parent
        self._program = program
        self._actions = actions
        self._settings_actions = settings_actions

    def show_commands(self) -> None:
        """Offer all actions that can be done now and all settings, to be found by name."""
        from inspector.gui.app.command_palette import CommandPalette

        CommandPalette(self._parent, self._actions, self._settings_actions.lines()).open()

    def show_keys(self) -> None:
        """Show all actions with their keys."""
        from inspector.gui.app.command_palette import KeysTable

        KeysTable(self._parent, self._actions).open()

    def show_context_menu(self) -> None:
        """Open the context menu of the focused item: of Qt's platforms not all do that for Shift+F10."""
        focus = QApplication.focusWidget()
        if focus is None:
            return
        place = focus.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle).center()
        reason = QContextMenuEvent.Reason.Keyboard
        QApplication.sendEvent(focus, QContextMenuEvent(reason, place, focus.mapToGlobal(place)))

    def show_about(self) -> None:
        """Say what this program is."""
        from inspector.gui.app import about

        about.show_about(self._parent, self._program)
