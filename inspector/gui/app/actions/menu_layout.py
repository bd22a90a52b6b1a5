"""The menus: which actions they hold in which order, and how actions become menu items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from inspector.gui.app.actions import document_actions
from inspector.gui.app.actions.document_actions import PANEL_ACTIONS
from inspector.gui.kit.actions import Action, Key, actions_in, without_marks
from inspector.gui.kit.icons import icon

MENUS = {"File": "&File", "Edit": "&Edit", "Go": "&Go", "View": "&View", "Archive": "&Archive", "Help": "&Help"}
"""The menus of the menu bar and their labels."""
SUBMENUS = {
    "Panel": ("Go", "To Pane&l"),
    "Layout": ("View", "&Layout"),
    "Reader": ("View", "&Reader"),
    "Experiment": ("Archive", "E&xperiment"),
    "Replay": ("Archive", "Rep&lay"),
}
"""The submenus: the menu each is in, and its label."""
LAYOUT: dict[str, tuple[str, ...]] = {
    "File": (
        "new_archive open_files open_folder ask_location browse paste_locations search_catalogue",
        "compare_with compare_before compare_selection",
        "reopen_session reload",
        "export_report export_notes import_notes",
        "close_tab close",
    ),
    "Edit": (
        "undo redo",
        "copy copy_path select_all",
        "find_bytes find_next find_previous",
        "edit_bytes discard",
        "show_context_menu filter_members",
        "show_settings",
    ),
    "Go": (
        "go_to back forward follow",
        "next_finding previous_finding",
        "add_bookmark next_bookmark",
        "next_unexplained previous_unexplained next_alike previous_alike",
        "next_pane previous_pane next_tab previous_tab list_tabs",
    ),
    "Panel": (" ".join(each.name for each in PANEL_ACTIONS),),
    "View": (
        "zoom_in zoom_out zoom_reset",
        "show_arrows show_bands show_diagram",
    ),
    "Reader": (
        "show_reader",
        "reader_next reader_previous reader_play",
        "reader_to_failure reader_to_byte reader_break",
    ),
    "Experiment": (
        "show_experiment leave_experiment",
        "flip_bit zero_bytes randomize_bytes replace_with_file",
        "insert_bytes insert_file delete_bytes duplicate_bytes swap_bytes cut_here",
        "damage",
        "save_experiment save_experiment_patch",
    ),
    "Replay": ("show_replay leave_replay", "next_write previous_write", "read_crashes save_state"),
    "Layout": ("layout_inspect layout_check layout_edit save_layout",),
    "Archive": (
        "check audit_files audit_folder new_audit",
        "extract open_inside open_elsewhere append",
        "plan_repairs show_header",
        "write take_back repair_checksums ask_copy ask_export ask_import",
        "write_manifest",
        "cancel show_content",
    ),
    "Help": (
        "show_commands show_manual show_keys explain point_and_ask",
        "copy_diagnostics show_about",
    ),
}
"""The actions of each menu by name: a line for each group."""
DOCUMENT_ACTIONS = (*actions_in(document_actions), *PANEL_ACTIONS)
"""The actions whose owner is the tab shown."""


def in_order(actions: Iterable[Action]) -> tuple[Action, ...]:
    """Actions in the order of the menus. Raises KeyError for one that is missing there or here."""
    by_name = {each.name: each for each in actions}
    ordered = tuple(by_name.pop(name) for groups in LAYOUT.values() for group in groups for name in group.split())
    if by_name:
        raise KeyError(*by_name)
    return ordered


def menu_of(name: str) -> str:
    """The label of the menu that an action is in, without its mnemonic mark."""
    menu = next(menu for menu, groups in LAYOUT.items() if any(name in group.split() for group in groups))
    return without_marks(MENUS[menu] if menu in MENUS else SUBMENUS[menu][1])


def build_actions(
    owner: QWidget, bar: QMenuBar, declared: Iterable[Action], run: Callable[[Action], object]
) -> tuple[dict[str, QAction], dict[str, QMenu]]:
    """Create the actions and the menus that contain them, both by name. Each calls ``run`` with what was declared."""
    menus = {name: bar.addMenu(label) for name, label in MENUS.items()}
    menus |= {name: menus[parent].addMenu(label) for name, (parent, label) in SUBMENUS.items()}
    actions = {each.name: _created(each, owner, run) for each in declared}
    for name, groups in LAYOUT.items():
        _fill(menus[name], groups, actions)
    return actions, menus


def _fill(menu: QMenu, groups: Sequence[str], actions: Mapping[str, QAction]) -> None:
    for at, group in enumerate(groups):
        if at:
            menu.addSeparator()
        for name in group.split():
            menu.addAction(actions[name])


def _created(declared: Action, owner: QWidget, run: Callable[[Action], object]) -> QAction:
    action = QAction(declared.text, owner)
    action.setObjectName(declared.name)
    action.setShortcuts(_sequences(declared.keys))
    action.setCheckable(declared.checkable)
    action.setStatusTip(declared.tip)
    action.setToolTip(_tip(declared, action))
    action.setWhatsThis(action.toolTip())
    action.triggered.connect(partial(_trigger, run, declared))
    if declared.role is not None:
        action.setMenuRole(declared.role)
    if declared.icon:
        action.setIcon(icon(declared.icon))
        action.setIconVisibleInMenu(False)
    return action


def _trigger(run: Callable[[Action], object], declared: Action, _: bool = False) -> None:
    run(declared)


def _sequences(keys: tuple[Key, ...]) -> list[QKeySequence]:
    found: list[QKeySequence] = []
    for key in keys:
        bindings = [QKeySequence(key)] if isinstance(key, str) else QKeySequence.keyBindings(key)
        found += [binding for binding in bindings if binding not in found]
    return found


def _tip(declared: Action, action: QAction) -> str:
    keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    tip = declared.tip or declared.label
    return f"{tip} ({keys})" if keys else tip
