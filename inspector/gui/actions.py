"""Every action of the window in one table: its words, place in the menus, keys and what it calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from inspector.gui.icons import icon

K = QKeySequence.StandardKey
Key = QKeySequence.StandardKey | str


@dataclass(frozen=True, slots=True)
class Command:
    """One action. ``name`` is also that of the method of the window that it calls; ``document`` whether it needs one."""

    name: str
    menu: str
    text: str
    keys: tuple[Key, ...] = ()
    tip: str = ""
    icon: str = ""
    document: bool = True


COMMANDS: tuple[Command, ...] = (
    Command("open_files", "File", "&Open…", (K.Open,), "Open archives", "open", document=False),
    Command("open_folder", "File", "Open &Folder…", ("Ctrl+Shift+O",), "Open a bucket's root folder", document=False),
    Command("paste_locations", "File", "Open &Pasted Path", (K.Paste,), "Open paths in the clipboard", document=False),
    Command("reload", "File", "&Reload", ("F5",), "Read the file again", "reload"),
    Command("close_tab", "File", "&Close", (K.Close,), "Close this archive"),
    Command("close", "File", "&Quit", (K.Quit, "Ctrl+Q"), document=False),
    Command("copy", "Edit", "&Copy", (K.Copy,), "Copy what is selected"),
    Command("select_all", "Edit", "Select &All", (K.SelectAll,), "Select all bytes of the layer"),
    Command("find", "Edit", "&Find…", (K.Find,), "Find bytes or text", "find"),
    Command("find_next", "Edit", "Find &Next", ("F3",), "Find the next one", "next"),
    Command("find_previous", "Edit", "Find &Previous", ("Shift+F3",), "Find the one before", "previous"),
    Command("filter_members", "Edit", "Filter &Members", ("Ctrl+Shift+F",), "Filter members by name"),
    Command("go_to", "Go", "&Go To…", ("Ctrl+G",), "Go to an offset, a field or an expression"),
    Command("back", "Go", "&Back", (K.Back, "Alt+Left"), "Back to where you were", "back"),
    Command("forward", "Go", "&Forward", (K.Forward, "Alt+Right"), "Forward again", "forward"),
    Command("next_finding", "Go", "Next F&inding", ("F4",), "Show the next thing that is wrong"),
    Command("previous_finding", "Go", "Previous Fin&ding", ("Shift+F4",), "Show the thing before that is wrong"),
    Command("next_pane", "Go", "Next &Pane", ("F6",), "Move the keyboard to the next pane"),
    Command("previous_pane", "Go", "Previous Pa&ne", ("Shift+F6",), "Move the keyboard to the pane before"),
    Command("next_tab", "Go", "Next &Tab", ("Ctrl+Tab", "Ctrl+PgDown"), "Show the next archive"),
    Command("previous_tab", "Go", "Previous Ta&b", ("Ctrl+Shift+Tab", "Ctrl+PgUp"), "Show the archive before"),
    Command("zoom_in", "View", "Zoom &In", (K.ZoomIn, "Ctrl+="), "Larger letters"),
    Command("zoom_out", "View", "Zoom &Out", (K.ZoomOut,), "Smaller letters"),
    Command("zoom_reset", "View", "&Normal Size", ("Ctrl+0",), "Letters of the usual size"),
    Command("cancel", "Archive", "&Cancel Work", ("Esc",), "Stop what is being done"),
    Command("show_content", "Archive", "Show &Content", ("Ctrl+Return",), "Show the selected member's content"),
    Command("show_about", "Help", "&About Archive Inspector", document=False),
)

MENUS = ("File", "Edit", "Go", "View", "Archive", "Help")


def build(owner: QWidget, bar: QMenuBar) -> tuple[dict[str, QAction], dict[str, QMenu]]:
    """The menus of a window whose methods are called by the names of the commands."""
    menus = {name: bar.addMenu(f"&{name}") for name in MENUS}
    actions: dict[str, QAction] = {}
    for command in COMMANDS:
        action = QAction(command.text, owner)
        action.setObjectName(command.name)
        action.setShortcuts(_sequences(command.keys))
        action.setStatusTip(command.tip)
        action.setToolTip(_tip(command, action))
        method: Callable[[], object] = getattr(owner, command.name)
        action.triggered.connect(lambda _=False, method=method: method())
        menus[command.menu].addAction(action)
        actions[command.name] = action
    refresh_icons(actions)
    return actions, menus


def refresh_icons(actions: dict[str, QAction]) -> None:
    """Draw the icons anew, in the colours of the palette."""
    for command in COMMANDS:
        if command.icon:
            actions[command.name].setIcon(icon(command.icon))
            actions[command.name].setIconVisibleInMenu(False)


def _sequences(keys: tuple[Key, ...]) -> list[QKeySequence]:
    found: list[QKeySequence] = []
    for key in keys:
        bindings = [QKeySequence(key)] if isinstance(key, str) else QKeySequence.keyBindings(key)
        found += [binding for binding in bindings if binding not in found]
    return found


def _tip(command: Command, action: QAction) -> str:
    keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    tip = command.tip or command.text.replace("&", "").rstrip("…")
    return f"{tip} ({keys})" if keys else tip
