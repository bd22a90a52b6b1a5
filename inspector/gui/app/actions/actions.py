"""All actions, a row each in the order of the menus, and how rows become menu items."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from inspector.gui.kit import preferences
from inspector.gui.kit.help_texts import PANEL_LABELS, PANELS
from inspector.gui.kit.icons import icon
from inspector.gui.kit.text import without_marks

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab
    from inspector.gui.document.editing import Editing
    from inspector.gui.document.trials import Experimenting

K = QKeySequence.StandardKey


class Action(NamedTuple):
    """One action.

    Attributes:
        text: its label in the menu, with a mnemonic.
        does: a function of the tab shown, or where the window has the method that does it, given ``args``.
        needs_tab: a method of the window that needs an open archive.
        enabled: whether it can be done now: of the tab shown, or what the window has there; None for always.
        role: where macOS puts it.

    """

    name: str
    text: str
    keys: tuple[K | str, ...]
    tip: str
    does: str | Callable[[Tab], object]
    icon: str = ""
    checkable: bool = False
    needs_tab: bool = False
    enabled: str | Callable[[Tab], bool] | None = None
    role: QAction.MenuRole | None = None
    args: tuple[Any, ...] = ()

    def run(self, window: Any, tab: Tab | None) -> None:
        """Do it, if there is something to do it with."""
        if isinstance(self.does, str):
            attrgetter(self.does)(window)(*self.args)
        elif tab is not None:
            self.does(tab)

    def is_possible(self, window: Any, tab: Tab | None) -> bool:
        """Whether it can be done now."""
        if isinstance(self.enabled, str):
            can = attrgetter(self.enabled)(window)
            return bool(can() if callable(can) else can)
        if tab is None:
            return isinstance(self.does, str) and not self.needs_tab
        return self.enabled is None or self.enabled(tab)


class Menu(NamedTuple):
    """A menu, or one within that named ``parent``, ``before`` an action there; ``groups`` have a line between them."""

    name: str
    label: str
    parent: str
    groups: tuple[tuple[Action, ...], ...]
    before: str = ""


def _has_pending(tab: Tab) -> bool:
    return tab.editing.pending is not None


def _can_take_back(tab: Tab) -> bool:
    return tab.editing.can_take_back and not _has_pending(tab) and not tab.document.in_experiment


def _has_member(tab: Tab) -> bool:
    return tab.document.selection.member is not None


def _changes(tab: Tab) -> Editing | Experimenting:
    """What is undone and redone: the steps of an experiment while one is on."""
    return tab.experiment if tab.experiment.is_on else tab.editing


def _undo(tab: Tab) -> None:
    """Undo a change; where none is left, ask whether to take back what was written."""
    if _changes(tab).history.can_undo:
        _changes(tab).undo()
    else:
        tab.ask_to_take_back()


def _can_undo(tab: Tab) -> bool:
    return not tab.document.in_replay and (_changes(tab).history.can_undo or _can_take_back(tab))


def _has_steps(tab: Tab) -> bool:
    return tab.has_steps


def _can_experiment(tab: Tab) -> bool:
    return tab.experiment.is_on or not tab.experiment.why_not


def _has_experiment(tab: Tab) -> bool:
    return tab.experiment.is_on and bool(tab.experiment.steps)


def _has_state(tab: Tab) -> bool:
    return tab.replaying.view is not None


def _to_panel(at: int, name: str, text: str) -> Action:
    keys = (f"Alt+{(at + 1) % 10}",) if at < 10 else ()
    return Action(f"go_to_{name.lower()}", text, keys, PANELS[name], lambda tab: tab.panes.go_to_panel(name))


# fmt: off
MENUS = (
    Menu("File", "&File", "", (
        (
            Action("new_archive", "&New Archive…", (K.New,), "Create an archive from files",
                "archives.new_archive"),
            Action("open_files", "&Open…", (K.Open,), "Open archives", "open_files", icon="open"),
            Action("open_folder", "Open &Folder…", ("Ctrl+Shift+O",),
                "Open a dataset or a bucket's root; any other folder is audited",
                "open_folder"),
            Action("ask_location", "Open &Location…", ("Ctrl+L",), "Open a path, or an address on S3 or on the web",
                "archives.ask_location"),
            Action("browse", "&Browse S3…", ("Ctrl+B",), "List buckets and prefixes", "archives.browse"),
            Action("try_format_file", "&Try a Format File…", (),
                "Open archives with the format that a Python file describes: it is run, until the window is closed",
                "archives.try_format_file"),
            Action("paste_locations", "Open &Pasted Path", (K.Paste,), "Open paths in the clipboard",
                "paste_locations"),
        ),
        (
            Action("reload", "Reloa&d", ("F5",), "Reload the file", "reload", icon="reload", needs_tab=True),
        ),
        (
            Action("export_report", "R&eport…", ("Ctrl+P",), "Write a report to hand over, as HTML or PDF",
                lambda tab: tab.save_flow.ask_report()),
        ),
        (
            Action("close_tab", "&Close", (K.Close,), "Close this archive", "close_tab", enabled="tabs.count"),
            Action("close", "&Quit", (K.Quit, "Ctrl+Q"), "", "close", role=QAction.MenuRole.QuitRole),
        ),
    )),
    Menu("Recent", "Open &Recent", "File", (
        (
            Action("reopen_session", "Reopen Last Sess&ion", (), "Reopen the tabs of the last session",
                "sessions.reopen_session"),
        ),
    ), "paste_locations"),
    Menu("Compare", "Co&mpare", "File", (
        (
            Action("compare_with", "Compare &With…", ("Ctrl+Shift+C",),
                "Show where two files differ and which one is right",
                "comparisons.compare_with"),
            Action("compare_before", "Co&mpare with State Before", (),
                "Compare the archive with its state before the pending changes, or before the last write",
                "comparisons.compare_before", needs_tab=True),
        ),
    ), "reload"),
    Menu("Edit", "&Edit", "", (
        (
            Action("undo", "&Undo", (K.Undo,), "Undo the last change; where none is pending, take back the last write",
                _undo, enabled=_can_undo),
            Action("redo", "&Redo", (K.Redo, "Ctrl+Y"), "Redo the last undone change",
                lambda tab: _changes(tab).redo(),
                enabled=lambda tab: _changes(tab).history.can_redo and not tab.document.in_replay),
        ),
        (
            Action("copy", "&Copy", (K.Copy,), "Copy the selection", "copy", needs_tab=True),
            Action("select_all", "Select A&ll", (K.SelectAll,), "Select all bytes of the layer",
                lambda tab: tab.hex_pane.hex.selectAll()),
        ),
        (
            Action("edit_bytes", "Edit &Bytes", ("Ctrl+Shift+B",), "Overwrite bytes in the hex view",
                lambda tab: tab.editing.edit_bytes(), checkable=True),
        ),
        (
            Action("filter_members", "Filter &Members", ("Ctrl+Shift+F",), "Filter members by name",
                lambda tab: tab.filter_members()),
        ),
        (
            Action("show_settings", "Se&ttings…", ("Ctrl+,",), "Change settings",
                "help.show_settings", role=QAction.MenuRole.PreferencesRole),
        ),
    )),
    Menu("Find", "&Find", "Edit", (
        (
            Action("find_bytes", "&Find…", (K.Find,), "Find bytes or text",
                "tool_bar.ask_bytes", icon="find", enabled="tool_bar.has_bytes"),
            Action("find_next", "Find &Next", ("F3",), "Find the next match",
                "tool_bar.find_next", args=(False,), icon="next", enabled="tool_bar.has_bytes"),
            Action("find_previous", "Find &Previous", ("Shift+F3",), "Find the previous match",
                "tool_bar.find_next", args=(True,), icon="previous", enabled="tool_bar.has_bytes"),
        ),
    ), "edit_bytes"),
    Menu("Copying", "Copy &As", "Edit", (
        (
            Action("copy_path", "C&opy Path", (), "Copy the paths of the selected members",
                lambda tab: tab.members.copy_paths()),
        ),
    ), "select_all"),
    Menu("View", "&View", "", (
        (
            Action("show_arrows", "Show Reference &Arrows", (),
                "Draw arrows from references to the bytes they point to",
                "appearance.toggle", args=(preferences.ARROWS,), checkable=True),
            Action("toggle_full_screen", "&Full Screen", ("F11",), "Fill the screen with the window, or no longer",
                "toggle_full_screen"),
        ),
    )),
    Menu("Zoom", "&Zoom", "View", (
        (
            Action("zoom_in", "Zoom &In", (K.ZoomIn, "Ctrl+="), "Increase the font size",
                "appearance.zoom_by", args=(1,), needs_tab=True),
            Action("zoom_out", "Zoom &Out", (K.ZoomOut,), "Decrease the font size",
                "appearance.zoom_by", args=(-1,), needs_tab=True),
            Action("zoom_reset", "&Normal Size", ("Ctrl+0",), "Reset the font size",
                "appearance.zoom_reset", needs_tab=True),
        ),
    ), "show_arrows"),
    Menu("Panels", "&Panels", "View", ()),
    Menu("Panel", "&Go To", "Panels", (
        tuple(_to_panel(at, name, text) for at, (name, text) in enumerate(PANEL_LABELS.items())),
    )),
    Menu("Go", "&Go", "", (
        (
            Action("go_to", "&Go To…", ("Ctrl+G",), "Go to an offset, a field or an expression",
                "tool_bar.ask_place", enabled="tool_bar.has_bytes"),
            Action("back", "&Back", (K.Back, "Alt+Left", "Shift+F12"), "Back to where you were",
                lambda tab: tab.document.step_history(-1), icon="back",
                enabled=lambda tab: tab.document.history.can_undo),
            Action("forward", "&Forward", (K.Forward, "Alt+Right"), "Go forward",
                lambda tab: tab.document.step_history(1), icon="forward",
                enabled=lambda tab: tab.document.history.can_redo),
            Action("follow", "Follow &Reference", ("F12",), "Go to the bytes that the selected field refers to",
                lambda tab: tab.navigation.follow()),
        ),
        (
            Action("next_finding", "Next F&inding", ("F4",), "Show the next finding", lambda tab: tab.findings.step(1)),
            Action("previous_finding", "Previous Fin&ding", ("Shift+F4",), "Show the previous finding",
                lambda tab: tab.findings.step(-1)),
        ),
    )),
    Menu("Notes", "&Notes", "Go", (
        (
            Action("add_bookmark", "&Add Note…", ("Ctrl+D",), "Bookmark this byte, or the selected ones, with a note",
                "bookmarks.add_bookmark", needs_tab=True),
            Action("next_bookmark", "Next Book&mark", ("Ctrl+Shift+D",), "Go to the next bookmark",
                "bookmarks.next_bookmark", needs_tab=True),
        ),
    )),
    Menu("Bytes", "B&ytes", "Go", (
        (
            Action("next_unexplained", "Next &Unexplained Bytes", ("F7",), "Show the next bytes that no field explains",
                lambda tab: tab.navigation.step_unexplained(backwards=False)),
            Action("previous_unexplained", "Previous Une&xplained Bytes", ("Shift+F7",),
                "Show the previous bytes that no field explains",
                lambda tab: tab.navigation.step_unexplained(backwards=True)),
        ),
        (
            Action("next_alike", "Next of This &Kind", ("F8",), "Show the next field of the selected kind",
                lambda tab: tab.navigation.step_kind(backwards=False)),
            Action("previous_alike", "Pre&vious of This Kind", ("Shift+F8",),
                "Show the previous field of the selected kind",
                lambda tab: tab.navigation.step_kind(backwards=True)),
        ),
    )),
    Menu("Panes", "&Panes and Tabs", "Go", (
        (
            Action("next_pane", "Next &Pane", ("F6",), "Move the focus to the next pane",
                lambda tab: tab.panes.step(1)),
            Action("previous_pane", "Previous Pa&ne", ("Shift+F6",), "Move the focus to the previous pane",
                lambda tab: tab.panes.step(-1)),
        ),
        (
            Action("next_tab", "Next &Tab", ("Ctrl+Tab", "Ctrl+PgDown"), "Show the next archive",
                "tabs.step", args=(1,), enabled="tabs.count"),
            Action("previous_tab", "Pr&evious Tab", ("Ctrl+Shift+Tab", "Ctrl+PgUp"), "Show the previous archive",
                "tabs.step", args=(-1,), enabled="tabs.count"),
            Action("list_tabs", "All Tab&s…", (), "Choose a tab", "help.show_tabs", enabled="tabs.count"),
        ),
        (
            Action("show_context_menu", "Conte&xt Menu", ("Shift+F10",), "Open the context menu of the focused item",
                "help.show_context_menu"),
        ),
    )),
    Menu("Archive", "&Archive", "", (
        (
            Action("check", "Chec&k", ("Ctrl+K",), "Verify structure and all checksums: CRC, hashes",
                lambda tab: tab.checking.start(), icon="check"),
            Action("extract", "&Extract…", ("Ctrl+E",), "Extract members to a folder",
                lambda tab: tab.extract_flow.extract(), icon="extract"),
            Action("plan_repairs", "Plan &Repairs…", ("Ctrl+M",), "Plan repairs of the archive",
                lambda tab: tab.plan_repairs(), icon="repair"),
            Action("show_header", "TACO &Header", ("Ctrl+Shift+H",), "Edit the header of a TACO archive",
                lambda tab: tab.show_header(), icon="header"),
        ),
        (
            Action("show_content", "Show Co&ntent", ("Ctrl+Return",), "Show the selected member's content",
                lambda tab: tab.show_content(), enabled=_has_member),
            Action("open_inside", "Open as Archi&ve", ("Ctrl+Shift+Return",),
                "Open the member, or what the file is compressed from, as an archive of its own",
                lambda tab: tab.open_inside(), enabled=lambda tab: _has_member(tab) or tab.can_unpack),
            Action("new_audit", "A&udit…", ("Ctrl+Shift+U", "Ctrl+Shift+K"),
                "Check every archive below a folder or prefix, and keep the results in a file",
                "archives.new_audit"),
            Action("append", "&Add to RCA…", (), "Add files to an RCA archive",
                "archives.append", needs_tab=True),
        ),
        (
            Action("write", "&Write Changes", (K.Save,), "Write the pending changes to the file",
                lambda tab: tab.editing.write(), enabled=_has_pending),
            Action("take_back", "&Take Back Last Write", (), "Undo, revert, roll back: write the old bytes back",
                lambda tab: tab.editing.take_back(), enabled=_can_take_back),
        ),
        (
            Action("cancel", "&Cancel Job", ("Esc",), "Cancel the running job", lambda tab: tab.document.cancel_jobs()),
        ),
    )),
    Menu("More", "&More Changes", "Archive", (
        (
            Action("repair_checksums", "Fix Check&sums", ("Ctrl+Shift+M",),
                "Fix the checksums (CRC, hashes) of changed bytes",
                lambda tab: tab.editing.repair_checksums(), enabled=_has_pending),
            Action("ask_copy", "Save a Changed Cop&y…", (K.SaveAs,), "Write a changed copy; the file stays as it is",
                lambda tab: tab.save_flow.ask_copy(), enabled=_has_pending),
            Action("discard", "&Discard Changes", (), "Drop all pending changes",
                lambda tab: tab.editing.discard(), enabled=_has_pending),
        ),
        (
            Action("ask_export", "Export &Patch…", (), "Write the pending changes to a patch file",
                lambda tab: tab.save_flow.ask_export(), enabled=_has_pending),
            Action("ask_import", "&Import Patch…", (), "Load a patch as pending changes",
                lambda tab: tab.save_flow.ask_import()),
        ),
    ), "cancel"),
    Menu("Debug", "&Debug", "", (
        (
            Action("show_diagram", "Show Diagra&m", ("Ctrl+Shift+G",),
                "Show the shape of the archive, with lines to what its records lead to",
                lambda tab: tab.open_panel("Diagram")),
            Action("show_bands", "B&yte Bands", ("Ctrl+Shift+Y",), "Show what the bytes look like, and their entropy",
                "appearance.toggle", args=(preferences.BANDS,), checkable=True),
        ),
    )),
    Menu("Reader", "&Reader", "Debug", (
        (
            Action("show_reader", "&Follow a Reader", ("Ctrl+Shift+R",),
                "Show the steps another program takes through this archive, and where it stops",
                lambda tab: tab.open_panel("Reader")),
        ),
        (
            Action("reader_next", "&Next Step", ("F9",), "Go to the next step of the reader",
                lambda tab: tab.reader.step(1), enabled=_has_steps),
            Action("reader_previous", "&Previous Step", ("Shift+F9",), "Go to the previous step of the reader",
                lambda tab: tab.reader.step(-1), enabled=_has_steps),
        ),
        (
            Action("reader_to_failure", "&Run to the Failure", ("Ctrl+F9",), "Go to the step the reader fails at",
                lambda tab: tab.reader.to_failure(), enabled=_has_steps),
            Action("reader_to_byte", "Run to This &Byte", ("Ctrl+Shift+F9",),
                "Go to the next step that touches the byte at the caret",
                lambda tab: tab.reader.to_byte(), enabled=_has_steps),
        ),
    )),
    Menu("Replay", "Rep&lay", "Debug", (
        (
            Action("show_replay", "&Replay Writes", ("Ctrl+Shift+W",),
                "Show the archive after each write of a change, never writing it, "
                "and what readers make of a crash there",
                lambda tab: tab.show_replay(), enabled=lambda tab: not tab.replaying.why_not),
            Action("leave_replay", "&Leave Replay", (), "Show the archive as it is",
                lambda tab: tab.replaying.leave(), enabled=lambda tab: tab.replaying.is_on),
        ),
        (
            Action("next_write", "&Next Write", ("Alt+Shift+Right",), "Replay: the archive after the next write",
                lambda tab: tab.replaying.step(1), enabled=_has_state),
            Action("previous_write", "&Previous Write", ("Alt+Shift+Left",), "Replay: the archive before this write",
                lambda tab: tab.replaying.step(-1), enabled=_has_state),
        ),
        (
            Action("read_crashes", "&Crash Points", (),
                "Replay: what each reader makes of the archive if its writer stops at a write",
                lambda tab: tab.replaying.read_crashes(),
                enabled=lambda tab: _has_state(tab) and tab.replaying.matrix is None),
            Action("save_state", "&Save State as New File…", (),
                "Replay: write the archive as it is shown to a new file",
                lambda tab: tab.trial_flow.ask_save(), enabled=_has_state),
        ),
    )),
    Menu("Experiment", "E&xperiment", "Debug", (
        (
            Action("show_experiment", "&Begin Experiment", ("Ctrl+Shift+X",),
                "Change the bytes as they are shown, never the file, and see what becomes of the archive",
                lambda tab: tab.show_experiment(), enabled=_can_experiment),
            Action("leave_experiment", "&Leave Experiment", (),
                "Drop the steps of the experiment and show the archive as it is",
                lambda tab: tab.experiment.leave(), enabled=lambda tab: tab.experiment.is_on),
        ),
        (
            Action("flip_bit", "&Flip Bit…", (), "Experiment: flip a bit of the byte at the caret",
                lambda tab: tab.trial_flow.ask_flip(), enabled=_can_experiment),
            Action("zero_bytes", "&Zero", (), "Experiment: put zeros over the selected bytes",
                lambda tab: tab.trial_flow.change("zero"), enabled=_can_experiment),
            Action("randomize_bytes", "Fill with R&andom", (), "Experiment: put random bytes over the selected ones",
                lambda tab: tab.trial_flow.change("randomize"), enabled=_can_experiment),
            Action("replace_with_file", "&Replace with File…", (),
                "Experiment: put a file in the place of the selected bytes",
                lambda tab: tab.trial_flow.ask_file(instead=True), enabled=_can_experiment),
        ),
        (
            Action("insert_bytes", "&Insert…", (), "Experiment: insert bytes before the selected ones",
                lambda tab: tab.trial_flow.ask_insert(), enabled=_can_experiment),
            Action("insert_file", "Insert Fil&e…", (), "Experiment: insert a file before the selected bytes",
                lambda tab: tab.trial_flow.ask_file(instead=False), enabled=_can_experiment),
            Action("delete_bytes", "&Delete", (), "Experiment: take the selected bytes out",
                lambda tab: tab.trial_flow.change("delete"), enabled=_can_experiment),
            Action("duplicate_bytes", "D&uplicate", (), "Experiment: insert a copy of the selected bytes behind them",
                lambda tab: tab.trial_flow.change("duplicate"), enabled=_can_experiment),
            Action("swap_bytes", "S&wap With…", (), "Experiment: let the selected bytes change places with others",
                lambda tab: tab.trial_flow.ask_swap(), enabled=_can_experiment),
            Action("cut_here", "&Cut Here", (), "Experiment: end the file before the selected bytes",
                lambda tab: tab.trial_flow.change("cut"), enabled=_can_experiment),
        ),
        (
            Action("damage", "Da&mage…", (), "Experiment: damage the archive as a disk or a transfer does",
                lambda tab: tab.trial_flow.ask_damage(), enabled=_can_experiment),
        ),
        (
            Action("save_experiment", "&Save as New File…", (),
                "Write what the steps of the experiment leave to a new file",
                lambda tab: tab.trial_flow.ask_save(), enabled=_has_experiment),
            Action("save_experiment_patch", "Save Pa&tch…", (),
                "Write what differs as a patch, which can be imported and written in place after the experiment",
                lambda tab: tab.trial_flow.ask_patch(), enabled=_has_experiment),
        ),
    )),
    Menu("Help", "&Help", "", (
        (
            Action("show_commands", "&Commands…", ("Ctrl+Shift+P",), "Find an action by its name",
                "help.show_commands"),
            Action("show_manual", "&Manual", (), "Read and search the manual", "help.show_manual"),
            Action("show_keys", "&Keyboard Shortcuts", ("F1",), "Show all actions with their keys",
                "help.show_keys"),
        ),
        (
            Action("copy_diagnostics", "Copy &Diagnostics", (),
                "Copy versions, system and settings for a bug report, without names and secrets",
                "help.copy_diagnostics"),
            Action("show_about", "&About Archive Inspector", (), "", "help.show_about"),
        ),
    )),
)
# fmt: on
ACTIONS = tuple(action for menu in MENUS for group in menu.groups for action in group)


_PATHS: dict[str, str] = {"": ""}
for _menu in MENUS:
    _PATHS[_menu.name] = f"{_PATHS[_menu.parent]} > {without_marks(_menu.label)}".removeprefix(" > ")
MENU_OF = {row.name: _PATHS[menu.name] for menu in MENUS for group in menu.groups for row in group}
"""The menu that an action is in, with those around it and without marks of mnemonics: "Debug > Reader"."""


def build_actions(
    owner: QWidget, bar: QMenuBar, run: Callable[[Action], object]
) -> tuple[dict[str, QAction], dict[str, QMenu]]:
    """Create the actions and the menus that contain them, both by name. Each calls ``run`` with its row."""
    actions = {row.name: _created(row, owner, run) for row in ACTIONS}
    menus: dict[str, QMenu] = {}
    for menu in MENUS:
        made = menus[menu.name] = QMenu(menu.label, owner)
        parent = menus.get(menu.parent, bar)
        if menu.before:
            parent.insertMenu(actions[menu.before], made)
        else:
            parent.addMenu(made)
        for group in menu.groups:
            if group is not menu.groups[0]:
                made.addSeparator()
            made.addActions([actions[row.name] for row in group])
    return actions, menus


def _created(row: Action, owner: QWidget, run: Callable[[Action], object]) -> QAction:
    action = QAction(row.text, owner, checkable=row.checkable, statusTip=row.tip)
    action.setObjectName(row.name)
    keys = [[QKeySequence(key)] if isinstance(key, str) else QKeySequence.keyBindings(key) for key in row.keys]
    action.setShortcuts(list(dict.fromkeys(chain.from_iterable(keys))))
    key, tip = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText), row.tip or action.iconText()
    action.setToolTip(f"{tip} ({key})" if key else tip)
    action.triggered.connect(lambda _=False: run(row))
    if row.role is not None:
        action.setMenuRole(row.role)
    if row.icon:
        action.setIcon(icon(row.icon))
        action.setIconVisibleInMenu(False)
    return action
