"""The actions and the menus that the table of commands describes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from inspector.gui.app.actions import COMMANDS, MENUS, SUBMENUS
from inspector.gui.app.command import Command, Key
from inspector.gui.kit.icons import icon

_ROLES = {"show_settings": QAction.MenuRole.PreferencesRole, "close": QAction.MenuRole.QuitRole}
"""Where macOS wants them."""

BEGIN = frozenset(
    (
        *("reopen_session", "close_tab", "copy", "find_bytes", "edit_bytes", "show_context_menu", "show_settings"),
        *("go_to", "next_finding", "add_bookmark", "next_unexplained", "next_pane", "zoom_in", "show_arrows"),
        *("extract", "mend", "write", "export_report", "cancel", "show_about"),
    )
)
"""The commands with which a group of a menu begins."""


def build(
    owner: QWidget, bar: QMenuBar, run: Callable[[Command], object]
) -> tuple[dict[str, QAction], dict[str, QMenu]]:
    """The actions by name and the menus that hold them; ``run`` does what a command says."""
    menus = {name: bar.addMenu(words) for name, words in MENUS.items()}
    menus |= {name: menus[above].addMenu(words) for name, (above, words) in SUBMENUS.items()}
    actions: dict[str, QAction] = {}
    for command in COMMANDS:
        action = QAction(command.text, owner)
        action.setObjectName(command.name)
        action.setShortcuts(_sequences(command.keys))
        action.setCheckable(command.check)
        action.setStatusTip(command.told)
        action.setToolTip(_tip(command, action))
        action.setWhatsThis(action.toolTip())
        action.triggered.connect(partial(_trigger, run, command))
        if command.name in BEGIN:
            menus[command.menu].addSeparator()
        menus[command.menu].addAction(action)
        if command.name in _ROLES:
            action.setMenuRole(_ROLES[command.name])
        actions[command.name] = action
        if command.icon:
            action.setIcon(icon(command.icon))
            action.setIconVisibleInMenu(False)
    return actions, menus


def _trigger(run: Callable[[Command], object], command: Command, _: bool = False) -> None:
    run(command)


def _sequences(keys: tuple[Key, ...]) -> list[QKeySequence]:
    found: list[QKeySequence] = []
    for key in keys:
        bindings = [QKeySequence(key)] if isinstance(key, str) else QKeySequence.keyBindings(key)
        found += [binding for binding in bindings if binding not in found]
    return found


def _tip(command: Command, action: QAction) -> str:
    keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    tip = command.told or command.called
    return f"{tip} ({keys})" if keys else tip
