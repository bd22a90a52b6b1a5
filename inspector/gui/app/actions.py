"""The actions of the window: the table that declares them all, and the menus that are built from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from inspector.gui.kit.icons import icon

K = QKeySequence.StandardKey
Key = K | str


class Target(StrEnum):
    """Whose method an action calls."""

    WINDOW = "window"
    APPEARANCE = "appearance"
    TAB = "tab"
    CHECKS = "checks"
    EDITING = "editing"
    WRITING = "writing"
    EXTRACTING = "extracting"
    TEMP_FILES = "temp_files"
    NAVIGATION = "navigation"
    PANES = "panes"
    WHATS_THIS = "whats_this"
    COMMAND_HELP = "command_help"
    BOOKMARKS = "bookmarks"
    MAKING = "making"
    REMOTE = "remote"
    SESSIONS = "sessions"
    LAYOUTS = "layouts"
    SETTINGS_ACTIONS = "settings_actions"
    FIND_BAR = "find_bar"


OF_WINDOW = frozenset(
    (
        *(
            Target.WINDOW,
            Target.APPEARANCE,
            Target.CHECKS,
            Target.MAKING,
            Target.REMOTE,
            Target.COMMAND_HELP,
            Target.BOOKMARKS,
        ),
        *(Target.SESSIONS, Target.LAYOUTS, Target.SETTINGS_ACTIONS, Target.FIND_BAR),
    )
)
"""Those that belong to the window rather than to the tab shown."""


@dataclass(frozen=True, slots=True)
class Command:
    """One action. ``name`` is also the name of the method it calls: of the tab shown, or of what ``on`` says.

    ``document`` says whether it needs an open one, ``check`` whether it switches something on and off, ``panel`` the
    panel that it goes to; then the method is ``go_to_panel``.
    """

    name: str
    menu: str
    text: str
    keys: tuple[Key, ...] = ()
    tip: str = ""
    icon: str = ""
    document: bool = True
    on: Target = Target.TAB
    check: bool = False
    panel: str = ""

    @property
    def called(self) -> str:
        """What the user knows it as, without the marks of a menu."""
        return without_marks(self.text).rstrip("…")

    @property
    def told(self) -> str:
        """What it does, in a few words; empty where its name says it. ``{name}`` in it is what it is called."""
        return self.tip.format(name=self.called)


def without_marks(text: str) -> str:
    """A text of a menu without the mark of its mnemonic."""
    return text.replace("&", "")


# ---- the table -------------------------------------------------------------------------------------------------------

PANELS = {
    "Members": "&Members",
    "Structure": "&Structure",
    "Byte": "&Byte",
    "Findings": "&Findings",
    "Digests": "&Digests",
    "Header": "&Header",
    "Changes": "&Changes",
    "Repair": "&Repair",
    "Requests": "Re&quests",
    "Coverage": "C&overage",
}
"""The panels and what the menu calls them; their keys are Alt with a digit."""

_TO_PANEL = "Show the panel {name}, in front of others, and move the keyboard to it"

COMMANDS: tuple[Command, ...] = (
    Command(
        "new_archive",
        "File",
        "&New Archive…",
        (K.New,),
        "Create an archive from files",
        document=False,
        on=Target.MAKING,
    ),
    Command(
        "open_files",
        "File",
        "&Open…",
        (K.Open,),
        "Open archives",
        "open",
        document=False,
        on=Target.WINDOW,
    ),
    Command(
        "open_folder",
        "File",
        "Open &Folder…",
        ("Ctrl+Shift+O",),
        "Open a folder that is a bucket's root",
        document=False,
        on=Target.WINDOW,
    ),
    Command(
        "ask_location",
        "File",
        "Open &Location…",
        ("Ctrl+L",),
        "Open a path or an address on S3",
        document=False,
        on=Target.REMOTE,
    ),
    Command(
        "browse",
        "File",
        "&Browse S3…",
        ("Ctrl+B",),
        "List buckets and prefixes",
        document=False,
        on=Target.REMOTE,
    ),
    Command(
        "paste_locations",
        "File",
        "Open &Pasted Path",
        (K.Paste,),
        "Open paths in the clipboard",
        document=False,
        on=Target.WINDOW,
    ),
    Command(
        "search_catalogue",
        "File",
        "Search Catalo&gue…",
        ("Ctrl+Shift+L",),
        "Find the archive that holds a member",
        document=False,
        on=Target.MAKING,
    ),
    Command(
        "reopen_session",
        "File",
        "Reopen Last Sess&ion",
        tip="Reopen the tabs of the last session",
        document=False,
        on=Target.SESSIONS,
    ),
    Command("reload", "File", "Reloa&d", ("F5",), "Reload the file", "reload", on=Target.WINDOW),
    Command("close_tab", "File", "&Close", (K.Close,), "Close this archive", on=Target.WINDOW),
    Command("close", "File", "&Quit", (K.Quit, "Ctrl+Q"), document=False, on=Target.WINDOW),
    Command("undo", "Edit", "&Undo", (K.Undo,), "Undo the last change", on=Target.EDITING),
    Command("redo", "Edit", "&Redo", (K.Redo, "Ctrl+Y"), "Redo the last undone change", on=Target.EDITING),
    Command("copy", "Edit", "&Copy", (K.Copy,), "Copy the selection", on=Target.WINDOW),
    Command("select_all", "Edit", "Select A&ll", (K.SelectAll,), "Select all bytes of the layer"),
    Command("find_bytes", "Edit", "&Find…", (K.Find,), "Find bytes or text", "find", on=Target.FIND_BAR),
    Command("find_next", "Edit", "Find &Next", ("F3",), "Find the next match", "next", on=Target.FIND_BAR),
    Command(
        "find_previous",
        "Edit",
        "Find &Previous",
        ("Shift+F3",),
        "Find the previous match",
        "previous",
        on=Target.FIND_BAR,
    ),
    Command(
        "edit_bytes",
        "Edit",
        "Edit &Bytes",
        ("Ctrl+Shift+B",),
        "Overwrite bytes in the hex view",
        on=Target.EDITING,
        check=True,
    ),
    Command(
        "discard",
        "Edit",
        "&Discard Changes",
        tip="Drop all pending changes",
        on=Target.EDITING,
    ),
    Command(
        "show_context_menu",
        "Edit",
        "Conte&xt Menu",
        ("Shift+F10",),
        "Open the context menu of the focused item",
        document=False,
        on=Target.COMMAND_HELP,
    ),
    Command("filter_members", "Edit", "Filter &Members", ("Ctrl+Shift+F",), "Filter members by name"),
    Command(
        "show_settings",
        "Edit",
        "Se&ttings…",
        ("Ctrl+,",),
        "Change settings",
        document=False,
        on=Target.SETTINGS_ACTIONS,
    ),
    Command(
        "go_to",
        "Go",
        "&Go To…",
        ("Ctrl+G",),
        "Go to an offset, a field or an expression",
        on=Target.FIND_BAR,
    ),
    Command("back", "Go", "&Back", (K.Back, "Alt+Left", "Shift+F12"), "Back to where you were", "back"),
    Command("forward", "Go", "&Forward", (K.Forward, "Alt+Right"), "Go forward", "forward"),
    Command(
        "follow",
        "Go",
        "Follow &Reference",
        ("F12",),
        "Go to the bytes that the selected field refers to",
        on=Target.NAVIGATION,
    ),
    Command("next_finding", "Go", "Next F&inding", ("F4",), "Show the next finding"),
    Command(
        "previous_finding",
        "Go",
        "Previous Fin&ding",
        ("Shift+F4",),
        "Show the previous finding",
    ),
    Command(
        "add_bookmark",
        "Go",
        "&Add Bookmark…",
        ("Ctrl+D",),
        "Bookmark this byte with a note",
        on=Target.BOOKMARKS,
    ),
    Command(
        "next_bookmark",
        "Go",
        "Next Book&mark",
        ("Ctrl+Shift+D",),
        "Go to the next bookmark",
        on=Target.BOOKMARKS,
    ),
    Command(
        "next_unexplained",
        "Go",
        "Next &Unexplained Bytes",
        ("F7",),
        "Show the next bytes that no field explains",
        on=Target.NAVIGATION,
    ),
    Command(
        "previous_unexplained",
        "Go",
        "Previous Une&xplained Bytes",
        ("Shift+F7",),
        "Show the previous bytes that no field explains",
        on=Target.NAVIGATION,
    ),
    Command(
        "next_alike",
        "Go",
        "Next of This &Kind",
        ("F8",),
        "Show the next field of the selected kind",
        on=Target.NAVIGATION,
    ),
    Command(
        "previous_alike",
        "Go",
        "Pre&vious of This Kind",
        ("Shift+F8",),
        "Show the previous field of the selected kind",
        on=Target.NAVIGATION,
    ),
    Command("next_pane", "Go", "Next &Pane", ("F6",), "Move the focus to the next pane"),
    Command("previous_pane", "Go", "Previous Pa&ne", ("Shift+F6",), "Move the focus to the previous pane"),
    Command(
        "next_tab",
        "Go",
        "Next &Tab",
        ("Ctrl+Tab", "Ctrl+PgDown"),
        "Show the next archive",
        on=Target.WINDOW,
    ),
    Command(
        "previous_tab",
        "Go",
        "Pr&evious Tab",
        ("Ctrl+Shift+Tab", "Ctrl+PgUp"),
        "Show the previous archive",
        on=Target.WINDOW,
    ),
    Command("list_tabs", "Go", "All Tab&s…", tip="Choose a tab", on=Target.WINDOW),
    *(
        Command(
            f"go_to_{name.lower()}",
            "Panel",
            text,
            (f"Alt+{(at + 1) % 10}",),
            _TO_PANEL,
            on=Target.PANES,
            panel=name,
        )
        for at, (name, text) in enumerate(PANELS.items())
    ),
    Command("zoom_in", "View", "Zoom &In", (K.ZoomIn, "Ctrl+="), "Increase the font size", on=Target.APPEARANCE),
    Command("zoom_out", "View", "Zoom &Out", (K.ZoomOut,), "Decrease the font size", on=Target.APPEARANCE),
    Command("zoom_reset", "View", "&Normal Size", ("Ctrl+0",), "Reset the font size", on=Target.APPEARANCE),
    Command(
        "show_arrows",
        "View",
        "Show Reference &Arrows",
        tip="Draw arrows from references to the bytes they point to",
        document=False,
        on=Target.APPEARANCE,
        check=True,
    ),
    Command(
        "layout_inspect",
        "Layout",
        "Layout to &Inspect",
        tip="All panels, the default layout",
        on=Target.LAYOUTS,
    ),
    Command("layout_check", "Layout", "Layout to &Check", tip="More room for findings", on=Target.LAYOUTS),
    Command(
        "layout_edit",
        "Layout",
        "Layout to &Edit",
        tip="More room for pending changes",
        on=Target.LAYOUTS,
    ),
    Command(
        "save_layout",
        "Layout",
        "&Save Layout As…",
        tip="Save the arrangement of the panels",
        on=Target.LAYOUTS,
    ),
    Command("check", "Archive", "Chec&k", ("Ctrl+K",), "Check structure and all checksums", "check"),
    Command(
        "check_files",
        "Archive",
        "Check &Files…",
        tip="Check several archives",
        document=False,
        on=Target.CHECKS,
    ),
    Command(
        "check_folder",
        "Archive",
        "Check Fol&der…",
        ("Ctrl+Shift+K",),
        "Check all archives in a folder",
        document=False,
        on=Target.CHECKS,
    ),
    Command(
        "audit_folder",
        "Archive",
        "A&udit Folder…",
        ("Ctrl+Shift+U",),
        "Check every archive below a folder or prefix and keep the results",
        document=False,
        on=Target.CHECKS,
    ),
    Command(
        "extract",
        "Archive",
        "&Extract…",
        ("Ctrl+E",),
        "Extract members to a folder",
        "extract",
        on=Target.EXTRACTING,
    ),
    Command(
        "open_elsewhere",
        "Archive",
        "&Open Member Elsewhere…",
        tip="Open the member in another program",
        on=Target.TEMP_FILES,
    ),
    Command("append", "Archive", "&Add to RCA…", tip="Add files to an RCA archive", on=Target.MAKING),
    Command("plan_repairs", "Archive", "&Repair…", ("Ctrl+M",), "Plan repairs of the archive", "repair"),
    Command(
        "show_header",
        "Archive",
        "TACO &Header",
        ("Ctrl+Shift+H",),
        "Edit the header of a TACO archive",
        "header",
    ),
    Command(
        "write",
        "Archive",
        "&Write Changes",
        (K.Save,),
        "Write the pending changes to the file",
        on=Target.EDITING,
    ),
    Command(
        "take_back",
        "Archive",
        "&Take Back Last Write",
        tip="Write the old bytes back",
        on=Target.EDITING,
    ),
    Command(
        "repair_checksums",
        "Archive",
        "Fix Check&sums",
        ("Ctrl+Shift+M",),
        "Fix the checksums of changed bytes",
        on=Target.EDITING,
    ),
    Command(
        "ask_copy",
        "Archive",
        "Save a Changed Cop&y…",
        (K.SaveAs,),
        "Write a changed copy; the file stays as it is",
        on=Target.WRITING,
    ),
    Command(
        "ask_export",
        "Archive",
        "Export &Patch…",
        tip="Write the pending changes to a patch file",
        on=Target.WRITING,
    ),
    Command(
        "ask_import",
        "Archive",
        "&Import Patch…",
        tip="Load a patch as pending changes",
        on=Target.WRITING,
    ),
    Command("export_report", "Archive", "E&xport Report…", tip="Write the findings as text, JSON or HTML"),
    Command(
        "write_manifest",
        "Archive",
        "Write Di&gest Manifest…",
        tip="Write the digests of all members to a file beside the archive",
    ),
    Command("cancel", "Archive", "&Cancel Job", ("Esc",), "Cancel the running job"),
    Command(
        "show_content",
        "Archive",
        "Show Co&ntent",
        ("Ctrl+Return",),
        "Show the selected member's content",
    ),
    Command(
        "show_commands",
        "Help",
        "&Commands…",
        ("Ctrl+Shift+P",),
        "Find an action by its name",
        document=False,
        on=Target.COMMAND_HELP,
    ),
    Command(
        "show_keys",
        "Help",
        "&Keyboard Shortcuts",
        ("F1",),
        "Show all actions with their keys",
        document=False,
        on=Target.COMMAND_HELP,
    ),
    Command(
        "explain",
        "Help",
        "&What’s This?",
        ("Shift+F1",),
        "Explain the focused item",
        on=Target.WHATS_THIS,
    ),
    Command(
        "point_and_ask",
        "Help",
        "&Explain by Clicking",
        tip="Explain the next item you click",
        on=Target.WHATS_THIS,
    ),
    Command("show_about", "Help", "&About Archive Inspector", document=False, on=Target.COMMAND_HELP),
)
MENUS = {
    "File": "&File",
    "Edit": "&Edit",
    "Go": "&Go",
    "View": "&View",
    "Archive": "&Archive",
    "Help": "&Help",
}
"""The menus of the bar: how commands call them, and how the user does."""
SUBMENUS = {"Panel": ("Go", "To Pane&l"), "Layout": ("View", "&Layout")}
"""The menus in them, and which they are in."""
_ROLES = {"show_settings": QAction.MenuRole.PreferencesRole, "close": QAction.MenuRole.QuitRole}
"""Where macOS wants them."""

BEGIN = frozenset(
    (
        *("reopen_session", "close_tab", "copy", "find_bytes", "edit_bytes", "show_context_menu", "show_settings"),
        *("go_to", "next_finding", "add_bookmark", "next_unexplained", "next_pane", "zoom_in", "show_arrows"),
        *("extract", "plan_repairs", "write", "export_report", "cancel", "show_about"),
    )
)
"""The commands with which a group of a menu begins."""


def menu_called(name: str) -> str:
    """How the user calls a menu of a command, without the mark of its mnemonic."""
    words = MENUS[name] if name in MENUS else SUBMENUS[name][1]
    return without_marks(words)


# ---- from the table to the menus -------------------------------------------------------------------------------------


def build_actions(
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
