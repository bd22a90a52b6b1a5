"""The table of all actions of the window, and the menus built from it."""

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
    """The object whose method an action calls: an attribute of the window or of the tab."""

    WINDOW = "window"
    APPEARANCE = "appearance"
    TAB = "tab"
    CHECK_LISTS = "check_lists"
    EDITING = "editing"
    SAVE_FLOW = "save_flow"
    EXTRACT_FLOW = "extract_flow"
    TEMP_FILES = "temp_files"
    NAVIGATION = "navigation"
    PANES = "panes"
    WHATS_THIS = "whats_this"
    COMMAND_HELP = "command_help"
    BOOKMARKS = "bookmarks"
    CREATE = "create_actions"
    COMPARE = "comparisons"
    S3 = "s3_actions"
    SESSIONS = "sessions"
    LAYOUTS = "layouts"
    FIND_BAR = "find_bar"


WINDOW_TARGETS = frozenset(
    (
        *(
            Target.WINDOW,
            Target.APPEARANCE,
            Target.CHECK_LISTS,
            Target.CREATE,
            Target.COMPARE,
            Target.S3,
            Target.COMMAND_HELP,
            Target.BOOKMARKS,
        ),
        *(Target.SESSIONS, Target.LAYOUTS, Target.FIND_BAR),
    )
)
"""The targets that belong to the window; the others belong to the tab shown."""


@dataclass(frozen=True, slots=True)
class Command:
    """One action. ``name`` is also the name of the method that it calls on the target ``on``.

    ``document``: it needs an open document. ``check``: it switches something on and off. ``panel``: the panel that it
    goes to, through ``go_to_panel``.
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
    def label(self) -> str:
        """Its label without mnemonic and ellipsis."""
        return without_marks(self.text).rstrip("…")

    @property
    def description(self) -> str:
        """What it does; empty if the label says enough."""
        return self.tip.format(name=self.label)


def without_marks(text: str) -> str:
    """The text of a menu item without its mnemonic mark."""
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
"""The panels and their labels in the menu; their keys are Alt and a digit."""

_TO_PANEL = "Show the {name} panel and move the focus to it"

COMMANDS: tuple[Command, ...] = (
    Command(
        "new_archive",
        "File",
        "&New Archive…",
        (K.New,),
        "Create an archive from files",
        document=False,
        on=Target.CREATE,
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
        on=Target.S3,
    ),
    Command(
        "browse",
        "File",
        "&Browse S3…",
        ("Ctrl+B",),
        "List buckets and prefixes",
        document=False,
        on=Target.S3,
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
        on=Target.CREATE,
    ),
    Command(
        "compare_with",
        "File",
        "Compare &With…",
        ("Ctrl+Shift+C",),
        "Show where two files differ and which one is right",
        document=False,
        on=Target.COMPARE,
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
        on=Target.COMMAND_HELP,
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
        on=Target.CHECK_LISTS,
    ),
    Command(
        "check_folder",
        "Archive",
        "Check Fol&der…",
        ("Ctrl+Shift+K",),
        "Check all archives in a folder",
        document=False,
        on=Target.CHECK_LISTS,
    ),
    Command(
        "audit_folder",
        "Archive",
        "A&udit Folder…",
        ("Ctrl+Shift+U",),
        "Check every archive below a folder or prefix and keep the results",
        document=False,
        on=Target.CHECK_LISTS,
    ),
    Command(
        "extract",
        "Archive",
        "&Extract…",
        ("Ctrl+E",),
        "Extract members to a folder",
        "extract",
        on=Target.EXTRACT_FLOW,
    ),
    Command(
        "open_elsewhere",
        "Archive",
        "&Open Member Elsewhere…",
        tip="Open the member in another program",
        on=Target.TEMP_FILES,
    ),
    Command("append", "Archive", "&Add to RCA…", tip="Add files to an RCA archive", on=Target.CREATE),
    Command("plan_repairs", "Archive", "Plan &Repairs…", ("Ctrl+M",), "Plan repairs of the archive", "repair"),
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
        on=Target.SAVE_FLOW,
    ),
    Command(
        "ask_export",
        "Archive",
        "Export &Patch…",
        tip="Write the pending changes to a patch file",
        on=Target.SAVE_FLOW,
    ),
    Command(
        "ask_import",
        "Archive",
        "&Import Patch…",
        tip="Load a patch as pending changes",
        on=Target.SAVE_FLOW,
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
        "show_manual",
        "Help",
        "&Manual",
        tip="Read and search the manual",
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
"""The menus of the menu bar: their names in ``Command.menu`` and their labels."""
SUBMENUS = {"Panel": ("Go", "To Pane&l"), "Layout": ("View", "&Layout")}
"""The submenus: the menu each is in, and its label."""
_ROLES = {"show_settings": QAction.MenuRole.PreferencesRole, "close": QAction.MenuRole.QuitRole}
"""The actions that macOS moves to the application menu."""

GROUP_STARTS = frozenset(
    (
        *("reopen_session", "close_tab", "copy", "find_bytes", "edit_bytes", "show_context_menu", "show_settings"),
        *("go_to", "next_finding", "add_bookmark", "next_unexplained", "next_pane", "zoom_in", "show_arrows"),
        *("extract", "plan_repairs", "write", "export_report", "cancel", "show_about"),
    )
)
"""The commands that start a new group of their menu."""


def menu_label(name: str) -> str:
    """The label of a menu without its mnemonic mark."""
    return without_marks(MENUS[name] if name in MENUS else SUBMENUS[name][1])


# ---- from the table to the menus -------------------------------------------------------------------------------------


def build_actions(
    owner: QWidget, bar: QMenuBar, run: Callable[[Command], object]
) -> tuple[dict[str, QAction], dict[str, QMenu]]:
    """Create the actions and the menus that contain them, both by name. An action calls ``run`` with its command."""
    menus = {name: bar.addMenu(label) for name, label in MENUS.items()}
    menus |= {name: menus[parent].addMenu(label) for name, (parent, label) in SUBMENUS.items()}
    actions: dict[str, QAction] = {}
    for command in COMMANDS:
        action = QAction(command.text, owner)
        action.setObjectName(command.name)
        action.setShortcuts(_sequences(command.keys))
        action.setCheckable(command.check)
        action.setStatusTip(command.description)
        action.setToolTip(_tip(command, action))
        action.setWhatsThis(action.toolTip())
        action.triggered.connect(partial(_trigger, run, command))
        if command.name in GROUP_STARTS:
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
    tip = command.description or command.label
    return f"{tip} ({keys})" if keys else tip
