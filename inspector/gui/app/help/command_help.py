"""Finding actions and settings: the command palette, the list of keyboard shortcuts, the settings, the About box."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from inspector import __version__
from inspector.gui.app.tabs import Tabs
from inspector.gui.kit.preferences import Settings

TITLE = "Archive Inspector"


class CommandHelp:
    """The actions of the Help menu and the settings dialog. ``parent`` owns the dialogs."""

    def __init__(self, parent: QWidget, actions: Mapping[str, QAction], settings: Settings, tabs: Tabs) -> None:
        self._parent = parent
        self._tabs = tabs
        self._actions = actions
        self._settings = settings

    def show_commands(self) -> None:
        """Open the command palette: all enabled actions and all settings."""
        from inspector.gui.app.help.command_palette import CommandPalette, command_entries, setting_entries

        enabled = {name: action for name, action in self._actions.items() if action.isEnabled()}
        entries = [*command_entries(enabled), *setting_entries(self._settings, self.show_settings)]
        CommandPalette(self._parent, "Commands", entries).open()

    def show_tabs(self) -> None:
        """List all tabs, to go to one by a part of its name."""
        from inspector.gui.app.help.command_palette import CommandPalette, tab_entries

        CommandPalette(self._parent, "All Tabs", list(tab_entries(self._tabs))).open()

    def show_keys(self) -> None:
        """List all actions with their shortcuts."""
        from inspector.gui.app.help.command_palette import CommandPalette, command_entries

        CommandPalette(self._parent, "Keyboard Shortcuts", list(command_entries(self._actions))).open()

    def show_manual(self) -> None:
        """Open the manual."""
        from inspector.gui.dialogs.manual import ManualDialog

        ManualDialog(self._parent).show()

    def show_context_menu(self) -> None:
        """Open the context menu of the focused item; not every Qt platform does that for Shift+F10."""
        focus = QApplication.focusWidget()
        if focus is None:
            return
        position = focus.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle).center()
        reason = QContextMenuEvent.Reason.Keyboard
        QApplication.sendEvent(focus, QContextMenuEvent(reason, position, focus.mapToGlobal(position)))

    def show_settings(self, key: str = "") -> None:
        """Open the settings dialog at a setting."""
        from inspector.gui.dialogs.settings import SettingsDialog

        dialog = SettingsDialog(self._parent, self._settings)
        dialog.open()
        dialog.go_to(key)

    def show_about(self) -> None:
        """Show the name and version of the program; the box does not block."""
        box = QMessageBox(QMessageBox.Icon.NoIcon, f"About {TITLE}", TITLE, QMessageBox.StandardButton.Ok, self._parent)
        box.setInformativeText(f"Version {__version__}. Shows what every byte of an archive means.")
        box.setIconPixmap(self._parent.windowIcon().pixmap(64, 64))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()
