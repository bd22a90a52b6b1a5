"""Finding actions and settings: the command palette, the list of keyboard shortcuts, the settings, the About box."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from inspector import __version__
from inspector.gui.kit.actions import action
from inspector.gui.kit.settings import Settings

if TYPE_CHECKING:  # the first paint does not wait for it
    from inspector.gui.app.help.command_palette import PaletteEntry
    from inspector.operations.protocol.views import Status


class CommandHelp:
    """The actions of the Help menu and the settings dialog. ``parent`` owns the dialogs; ``program`` is its name.

    ``open_archives`` gives the state of each open archive, ``say`` shows a message in the window.
    """

    def __init__(
        self,
        parent: QWidget,
        actions: Mapping[str, QAction],
        program: str,
        settings: Settings,
        *,
        open_archives: Callable[[], Iterable[Status]],
        say: Callable[[str], object],
    ) -> None:
        self._open_archives = open_archives
        self._say = say
        self._parent = parent
        self._program = program
        self._actions = actions
        self._settings = settings

    @action("&Commands…", "Ctrl+Shift+P", tip="Find an action by its name")
    def show_commands(self) -> None:
        """Open the command palette: all enabled actions and all settings."""
        from inspector.gui.app.help.command_palette import CommandPalette

        CommandPalette(self._parent, self._actions, self._setting_entries()).open()

    @action("&Keyboard Shortcuts", "F1", tip="Show all actions with their keys")
    def show_keys(self) -> None:
        """List all actions with their shortcuts."""
        from inspector.gui.app.help.command_palette import KeysTable

        KeysTable(self._parent, self._actions).open()

    @action("&Manual", tip="Read and search the manual")
    def show_manual(self) -> None:
        """Open the manual."""
        from inspector.gui.dialogs.manual import ManualDialog

        ManualDialog(self._parent).show()

    @action("Conte&xt Menu", "Shift+F10", tip="Open the context menu of the focused item")
    def show_context_menu(self) -> None:
        """Open the context menu of the focused item; not every Qt platform does that for Shift+F10."""
        focus = QApplication.focusWidget()
        if focus is None:
            return
        position = focus.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle).center()
        reason = QContextMenuEvent.Reason.Keyboard
        QApplication.sendEvent(focus, QContextMenuEvent(reason, position, focus.mapToGlobal(position)))

    @action("Se&ttings…", "Ctrl+,", tip="Change settings", role=QAction.MenuRole.PreferencesRole)
    def show_settings(self) -> None:
        """Open the settings dialog."""
        self._show_setting("")

    def _show_setting(self, key: str) -> None:
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
            entries[entry] = partial(self._show_setting, setting.key)
            if isinstance(setting, Choice):
                for value in setting.labels:
                    text = f"{label}: {setting.label_of(value)}"
                    entry = PaletteEntry(f"setting {setting.key} {value}", text, "", page, tip)
                    entries[entry] = partial(self._settings.put, setting, value)
        return entries

    @action("Copy &Diagnostics", tip="Copy versions, system and settings for a bug report, without names and secrets")
    def copy_diagnostics(self) -> None:
        """Copy to the clipboard what to send with a bug report."""
        from inspector.gui.app.help.diagnostics import diagnostics

        QGuiApplication.clipboard().setText(diagnostics(self._settings, self._open_archives()))
        self._say("Diagnostics were copied: versions, system and settings. They name no files and hold no secrets.")

    @action("&About Archive Inspector", tip="")
    def show_about(self) -> None:
        """Show the name and version of the program; the box does not block."""
        show_about(self._parent, self._program)


def show_about(parent: QWidget, program: str) -> None:
    """Open a box with the name and version of the program; it stays open until it is closed."""
    box = QMessageBox(QMessageBox.Icon.NoIcon, f"About {program}", program, QMessageBox.StandardButton.Ok, parent)
    box.setInformativeText(f"Version {__version__}. Shows what every byte of an archive means.")
    box.setIconPixmap(parent.windowIcon().pixmap(64, 64))
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
