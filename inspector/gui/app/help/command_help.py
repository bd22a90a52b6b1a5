"""Finding actions and settings: the command palette, the list of keyboard shortcuts, the settings, the About box."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from inspector import __version__
from inspector.gui.kit.settings import Settings

if TYPE_CHECKING:  # the first paint does not wait for it
    from inspector.gui.app.help.command_palette import PaletteEntry


TITLE = "Archive Inspector"


class CommandHelp:
    """The actions of the Help menu and the settings dialog. ``parent`` owns the dialogs."""

    def __init__(self, parent: QWidget, actions: Mapping[str, QAction], settings: Settings) -> None:
        self._parent = parent
        self._actions = actions
        self._settings = settings

    def show_commands(self) -> None:
        """Open the command palette: all enabled actions and all settings."""
        from inspector.gui.app.help.command_palette import CommandPalette

        CommandPalette(self._parent, self._actions, self._setting_entries()).open()

    def show_keys(self) -> None:
        """List all actions with their shortcuts."""
        from inspector.gui.app.help.command_palette import KeysTable

        KeysTable(self._parent, self._actions).open()

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

    def _setting_entries(self) -> dict[PaletteEntry, Callable[[], object]]:
        """An entry for each setting, which opens it in the dialog, and one for each choice, which applies it."""
        from inspector.gui.app.help.command_palette import PaletteEntry
        from inspector.gui.kit import preferences
        from inspector.gui.kit.preferences import Choice

        entries: dict[PaletteEntry, Callable[[], object]] = {}
        for setting in preferences.ALL:
            label, tip, page = setting.label, setting.tip, f"Settings, {setting.page}"
            entry = PaletteEntry(f"setting {setting.key}", label, "", page, tip)
            entries[entry] = partial(self.show_settings, setting.key)
            if isinstance(setting, Choice):
                for value in setting.labels:
                    text = f"{label}: {setting.label_of(value)}"
                    entry = PaletteEntry(f"setting {setting.key} {value}", text, "", page, tip)
                    entries[entry] = partial(self._settings.put, setting, value)
        return entries

    def show_about(self) -> None:
        """Show the name and version of the program; the box does not block."""
        box = QMessageBox(QMessageBox.Icon.NoIcon, f"About {TITLE}", TITLE, QMessageBox.StandardButton.Ok, self._parent)
        box.setInformativeText(f"Version {__version__}. Shows what every byte of an archive means.")
        box.setIconPixmap(self._parent.windowIcon().pixmap(64, 64))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()
