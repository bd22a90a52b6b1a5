"""The Help menu: commands and settings by name, and what a bug report needs, which names nothing of the user's."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Mapping
from types import TracebackType

from PySide6.QtCore import QObject, Qt, Signal, qVersion
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from inspector import __version__
from inspector.core.program import crash_report
from inspector.gui.app.tabs import Tabs
from inspector.gui.ipc.link import REPORTS
from inspector.gui.kit.building import ask
from inspector.gui.kit.preferences import Settings
from inspector.gui.kit.widgets import MessageBar

TITLE = "Archive Inspector"
MISTAKE = (
    "The program hit an internal error. It keeps running, but what you see may be out of date. Archives on disk are "
    "unchanged. The report names no files, so it can be shared with the developers."
)
COPIED = "Diagnostics were copied: versions, the system and internal errors. They name no files and hold no secrets."
MAX_REPORTS = 5
"""The most different reports kept."""


class Help(QObject):
    """The actions of the Help menu and the settings dialog; it collects crash reports from any thread.

    Signals:
        noted(str report): there is a new report; emitted in any thread, handled in the window's.
    """

    noted = Signal(str)

    def __init__(
        self, parent: QWidget, message: MessageBar, settings: Settings, actions: Mapping[str, QAction], tabs: Tabs
    ) -> None:
        super().__init__(parent)
        self._parent = parent
        self._message = message
        self._settings = settings
        self._actions = actions
        self._tabs = tabs
        self.kept: list[str] = []
        self.noted.connect(self._take)
        message.acted.connect(self.copy_diagnostics)

    def show_commands(self) -> None:
        """Open the command palette: all enabled actions and all settings."""
        from inspector.gui.app.command_palette import CommandPalette, command_entries, setting_entries

        enabled = {name: action for name, action in self._actions.items() if action.isEnabled()}
        entries = [*command_entries(enabled), *setting_entries(self.show_settings)]
        CommandPalette(self._parent, "Commands", entries).open()

    def show_tabs(self) -> None:
        """List all tabs, to go to one by a part of its name."""
        from inspector.gui.app.command_palette import CommandPalette, tab_entries

        CommandPalette(self._parent, "All Tabs", list(tab_entries(self._tabs))).open()

    def show_keys(self) -> None:
        """List all actions with their shortcuts."""
        from inspector.gui.app.command_palette import CommandPalette, command_entries

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
        what = f"Version {__version__}. Shows what every byte of an archive means."
        box = ask(self._parent, f"About {TITLE}", TITLE, more=what)
        box.setIconPixmap(self._parent.windowIcon().pixmap(64, 64))

    # ---- reports -----------------------------------------------------------------------------------------------

    def install(self) -> None:
        """Hook unhandled exceptions in slots, painting, threads and workers."""
        sys.excepthook = self._caught
        threading.excepthook = lambda caught: self._caught(*caught[:3], "window, in a thread")
        sys.unraisablehook = self._caught_unraisable
        REPORTS.received.connect(self.noted)

    def _caught(
        self,
        kind: type[BaseException],
        error: BaseException | None,
        trace: TracebackType | None,
        where: str = "window",
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error or kind(), trace)
        elif error is not None and kind is not SystemExit:
            traceback.print_exception(kind, error, trace or error.__traceback__)
            self.note(error, where)

    def _caught_unraisable(self, caught: sys.UnraisableHookArgs) -> None:
        sys.__unraisablehook__(caught)
        if caught.exc_value is not None:
            self.note(caught.exc_value, "window, where none can be raised")

    def note(self, error: BaseException, where: str) -> None:
        """Report an exception; callable from any thread."""
        self.noted.emit(crash_report.report(error, where, {"Qt": qVersion()}))

    def worker_died(self, exit_code: int | None, work: tuple[str, ...]) -> None:
        """Report that a worker died, and the requests that it was running."""
        self.noted.emit(crash_report.exit_report(exit_code, work, {"Qt": qVersion()}))

    def _take(self, report: str) -> None:
        if report not in self.kept and len(self.kept) < MAX_REPORTS:
            self.kept.append(report)
            self._message.say(MISTAKE, "Copy Report")

    def copy_diagnostics(self) -> None:
        """Copy to the clipboard what to send with a bug report: versions, the system, and the reports."""
        about = (*crash_report.environment("diagnostics", {"Qt": qVersion()}), f"Qt: {QGuiApplication.platformName()}")
        QGuiApplication.clipboard().setText("\n".join((*about, *(f"\n{each}" for each in self.kept))))
        self._message.say(COPIED)
