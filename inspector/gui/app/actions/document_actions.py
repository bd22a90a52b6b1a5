"""The actions on the archive shown: each is a function of its tab, whose module is loaded with the first archive."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from inspector.gui.app.help.help_texts import PANEL_LABELS
from inspector.gui.kit.actions import Action, K, action

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab
    from inspector.gui.document.editing import Editing
    from inspector.gui.document.experimenting import Experimenting


def _go_to_panel(name: str, tab: Tab) -> None:
    tab.panes.go_to_panel(name)


def panel_action(name: str) -> str:
    """The name of the action that goes to a panel."""
    return f"go_to_{name.lower()}"


PANEL_ACTIONS = tuple(
    Action(
        partial(_go_to_panel, name),
        panel_action(name),
        text,
        (f"Alt+{(at + 1) % 10}",) if at < 10 else (),
        f"Show the {name} panel and move the focus to it",
    )
    for at, (name, text) in enumerate(PANEL_LABELS.items())
)


def _has_pending(tab: Tab) -> bool:
    return tab.editing.pending is not None


def _can_take_back(tab: Tab) -> bool:
    return tab.editing.can_take_back and tab.editing.pending is None and not tab.document.in_experiment


def _has_member(tab: Tab) -> bool:
    return tab.document.selection.member is not None


def _changes(tab: Tab) -> Editing | Experimenting:
    """What is undone and redone: the steps of an experiment while one is on."""
    return tab.experiment if tab.experiment.is_on else tab.editing


@action("&Undo", K.Undo, enabled=lambda tab: _changes(tab).history.can_undo and not tab.document.in_replay)
def undo(tab: Tab) -> None:
    """Undo the last change."""
    _changes(tab).undo()


@action("&Redo", K.Redo, "Ctrl+Y", enabled=lambda tab: _changes(tab).history.can_redo and not tab.document.in_replay)
def redo(tab: Tab) -> None:
    """Redo the last undone change."""
    _changes(tab).redo()


@action("C&opy Path")
def copy_path(tab: Tab) -> None:
    """Copy the paths of the selected members."""
    tab.copy_path()


@action("Select A&ll", K.SelectAll)
def select_all(tab: Tab) -> None:
    """Select all bytes of the layer."""
    tab.select_all()


@action("Edit &Bytes", "Ctrl+Shift+B", checkable=True)
def edit_bytes(tab: Tab) -> None:
    """Overwrite bytes in the hex view."""
    tab.editing.edit_bytes()


@action("&Discard Changes", enabled=_has_pending)
def discard(tab: Tab) -> None:
    """Drop all pending changes."""
    tab.editing.discard()


@action("Filter &Members", "Ctrl+Shift+F")
def filter_members(tab: Tab) -> None:
    """Filter members by name."""
    tab.filter_members()


@action("&Back", K.Back, "Alt+Left", "Shift+F12", icon="back", enabled=lambda tab: tab.document.history.can_go_back)
def back(tab: Tab) -> None:
    """Back to where you were."""
    tab.back()


@action("&Forward", K.Forward, "Alt+Right", icon="forward", enabled=lambda tab: tab.document.history.can_go_forward)
def forward(tab: Tab) -> None:
    """Go forward."""
    tab.forward()


@action("Follow &Reference", "F12")
def follow(tab: Tab) -> None:
    """Go to the bytes that the selected field refers to."""
    tab.navigation.follow()


@action("Next F&inding", "F4")
def next_finding(tab: Tab) -> None:
    """Show the next finding."""
    tab.next_finding()


@action("Previous Fin&ding", "Shift+F4")
def previous_finding(tab: Tab) -> None:
    """Show the previous finding."""
    tab.previous_finding()


@action("Next &Unexplained Bytes", "F7")
def next_unexplained(tab: Tab) -> None:
    """Show the next bytes that no field explains."""
    tab.navigation.next_unexplained()


@action("Previous Une&xplained Bytes", "Shift+F7")
def previous_unexplained(tab: Tab) -> None:
    """Show the previous bytes that no field explains."""
    tab.navigation.previous_unexplained()


@action("Next of This &Kind", "F8")
def next_alike(tab: Tab) -> None:
    """Show the next field of the selected kind."""
    tab.navigation.next_alike()


@action("Pre&vious of This Kind", "Shift+F8")
def previous_alike(tab: Tab) -> None:
    """Show the previous field of the selected kind."""
    tab.navigation.previous_alike()


@action("Next &Pane", "F6")
def next_pane(tab: Tab) -> None:
    """Move the focus to the next pane."""
    tab.next_pane()


@action("Previous Pa&ne", "Shift+F6")
def previous_pane(tab: Tab) -> None:
    """Move the focus to the previous pane."""
    tab.previous_pane()


@action("Chec&k", "Ctrl+K", icon="check")
def check(tab: Tab) -> None:
    """Check structure and all checksums."""
    tab.check()


@action("&Extract…", "Ctrl+E", icon="extract")
def extract(tab: Tab) -> None:
    """Extract members to a folder."""
    tab.extract_flow.extract()


@action("Open as Archi&ve", "Ctrl+Shift+Return", enabled=lambda tab: _has_member(tab) or tab.can_unpack)
def open_inside(tab: Tab) -> None:
    """Open the member, or what the file is compressed from, as an archive of its own."""
    tab.open_inside()


@action("&Open Member Elsewhere…", enabled=_has_member)
def open_elsewhere(tab: Tab) -> None:
    """Open the member in another program."""
    tab.temp_files.open_elsewhere()


@action("Plan &Repairs…", "Ctrl+M", icon="repair")
def plan_repairs(tab: Tab) -> None:
    """Plan repairs of the archive."""
    tab.plan_repairs()


@action("TACO &Header", "Ctrl+Shift+H", icon="header")
def show_header(tab: Tab) -> None:
    """Edit the header of a TACO archive."""
    tab.show_header()


@action("&Write Changes", K.Save, enabled=_has_pending)
def write(tab: Tab) -> None:
    """Write the pending changes to the file."""
    tab.editing.write()


@action("&Take Back Last Write", enabled=_can_take_back)
def take_back(tab: Tab) -> None:
    """Write the old bytes back."""
    tab.editing.take_back()


@action("Fix Check&sums", "Ctrl+Shift+M", enabled=_has_pending)
def repair_checksums(tab: Tab) -> None:
    """Fix the checksums of changed bytes."""
    tab.editing.repair_checksums()


@action("Save a Changed Cop&y…", K.SaveAs, enabled=_has_pending)
def ask_copy(tab: Tab) -> None:
    """Write a changed copy; the file stays as it is."""
    tab.save_flow.ask_copy()


@action("Export &Patch…", enabled=_has_pending)
def ask_export(tab: Tab) -> None:
    """Write the pending changes to a patch file."""
    tab.save_flow.ask_export()


@action("&Import Patch…")
def ask_import(tab: Tab) -> None:
    """Load a patch as pending changes."""
    tab.save_flow.ask_import()


@action("R&eport…", "Ctrl+P")
def export_report(tab: Tab) -> None:
    """Write a report to hand over, as HTML, PDF or Markdown."""
    tab.export_report()


@action("Write Di&gest Manifest…")
def write_manifest(tab: Tab) -> None:
    """Write the digests of all members to a file beside the archive."""
    tab.write_manifest()


@action("&Cancel Job", "Esc")
def cancel(tab: Tab) -> None:
    """Cancel the running job."""
    tab.cancel()


@action("Show Co&ntent", "Ctrl+Return", enabled=_has_member)
def show_content(tab: Tab) -> None:
    """Show the selected member's content."""
    tab.show_content()


@action("&Follow a Reader", "Ctrl+Shift+R")
def show_reader(tab: Tab) -> None:
    """Show the steps another program takes through this archive, and where it stops."""
    tab.show_reader()


@action("Show Diagra&m", "Ctrl+Shift+G")
def show_diagram(tab: Tab) -> None:
    """Show the shape of the archive, with lines to what its records lead to."""
    tab.show_diagram()


def _has_steps(tab: Tab) -> bool:
    return tab.has_steps


@action("&Next Step", "F9", enabled=_has_steps)
def reader_next(tab: Tab) -> None:
    """Go to the next step of the reader."""
    tab.reader.step(1)


@action("&Previous Step", "Shift+F9", enabled=_has_steps)
def reader_previous(tab: Tab) -> None:
    """Go to the previous step of the reader."""
    tab.reader.step(-1)


@action("P&lay or Pause", "F11", enabled=_has_steps)
def reader_play(tab: Tab) -> None:
    """Play the steps of the reader, or stop playing."""
    tab.reader.play()


@action("&Run to the Failure", "Ctrl+F9", enabled=_has_steps)
def reader_to_failure(tab: Tab) -> None:
    """Go to the step the reader fails at."""
    tab.reader.to_failure()


@action("Run to This &Byte", "Ctrl+Shift+F9", enabled=_has_steps)
def reader_to_byte(tab: Tab) -> None:
    """Go to the next step that touches the byte at the caret."""
    tab.reader.to_byte()


@action("&Stop Playing Here", "Ctrl+F11", enabled=_has_steps)
def reader_break(tab: Tab) -> None:
    """Stop playing at the selected bytes, or no longer."""
    tab.reader.toggle_break()


def _can_experiment(tab: Tab) -> bool:
    return tab.experiment.is_on or not tab.experiment.why_not


def _is_experiment(tab: Tab) -> bool:
    return tab.experiment.is_on


def _has_experiment(tab: Tab) -> bool:
    return tab.experiment.is_on and bool(tab.experiment.steps)


@action("&Begin Experiment", "Ctrl+Shift+X", enabled=_can_experiment)
def show_experiment(tab: Tab) -> None:
    """Change the bytes as they are shown, never the file, and see what becomes of the archive."""
    tab.show_experiment()


@action("&Leave Experiment", enabled=_is_experiment)
def leave_experiment(tab: Tab) -> None:
    """Drop the steps of the experiment and show the archive as it is."""
    tab.experiment.leave()


@action("&Flip Bit…", enabled=_can_experiment)
def flip_bit(tab: Tab) -> None:
    """Experiment: flip a bit of the byte at the caret."""
    tab.experiment_flow.ask_flip()


@action("&Zero", enabled=_can_experiment)
def zero_bytes(tab: Tab) -> None:
    """Experiment: put zeros over the selected bytes."""
    tab.experiment_flow.zero()


@action("Fill with R&andom", enabled=_can_experiment)
def randomize_bytes(tab: Tab) -> None:
    """Experiment: put random bytes over the selected ones."""
    tab.experiment_flow.randomize()


@action("&Replace with File…", enabled=_can_experiment)
def replace_with_file(tab: Tab) -> None:
    """Experiment: put a file in the place of the selected bytes."""
    tab.experiment_flow.ask_replace()


@action("&Insert…", enabled=_can_experiment)
def insert_bytes(tab: Tab) -> None:
    """Experiment: insert bytes before the selected ones."""
    tab.experiment_flow.ask_insert()


@action("Insert Fil&e…", enabled=_can_experiment)
def insert_file(tab: Tab) -> None:
    """Experiment: insert a file before the selected bytes."""
    tab.experiment_flow.ask_insert_file()


@action("&Delete", enabled=_can_experiment)
def delete_bytes(tab: Tab) -> None:
    """Experiment: take the selected bytes out."""
    tab.experiment_flow.delete()


@action("D&uplicate", enabled=_can_experiment)
def duplicate_bytes(tab: Tab) -> None:
    """Experiment: insert a copy of the selected bytes behind them."""
    tab.experiment_flow.duplicate()


@action("S&wap With…", enabled=_can_experiment)
def swap_bytes(tab: Tab) -> None:
    """Experiment: let the selected bytes change places with others."""
    tab.experiment_flow.ask_swap()


@action("&Cut Here", enabled=_can_experiment)
def cut_here(tab: Tab) -> None:
    """Experiment: end the file before the selected bytes."""
    tab.experiment_flow.cut()


@action("Da&mage…", enabled=_can_experiment)
def damage(tab: Tab) -> None:
    """Experiment: damage the archive as a disk or a transfer does."""
    tab.experiment_flow.ask_damage()


@action("&Save as New File…", enabled=_has_experiment)
def save_experiment(tab: Tab) -> None:
    """Write what the steps of the experiment leave to a new file."""
    tab.experiment_flow.ask_save()


@action("Save Pa&tch…", enabled=_has_experiment)
def save_experiment_patch(tab: Tab) -> None:
    """Write what differs as a patch, which can be imported and written in place after the experiment."""
    tab.experiment_flow.ask_patch()


@action("&What’s This?", "Shift+F1")
def explain(tab: Tab) -> None:
    """Explain the focused item."""
    tab.whats_this.explain()


@action("&Explain by Clicking")
def point_and_ask(tab: Tab) -> None:
    """Explain the next item you click."""
    tab.whats_this.point_and_ask()


def _can_replay(tab: Tab) -> bool:
    return not tab.replaying.why_not


def _is_replay(tab: Tab) -> bool:
    return tab.replaying.is_on


def _has_state(tab: Tab) -> bool:
    return tab.replaying.view is not None


@action("&Replay Writes", "Ctrl+Shift+W", enabled=_can_replay)
def show_replay(tab: Tab) -> None:
    """Show the archive after each write of a change, never writing it, and what readers make of a crash there."""
    tab.show_replay()


@action("&Leave Replay", enabled=_is_replay)
def leave_replay(tab: Tab) -> None:
    """Show the archive as it is."""
    tab.replaying.leave()


@action("&Next Write", "Alt+Shift+Right", enabled=_has_state)
def next_write(tab: Tab) -> None:
    """Replay: the archive after the next write."""
    tab.replaying.step(1)


@action("&Previous Write", "Alt+Shift+Left", enabled=_has_state)
def previous_write(tab: Tab) -> None:
    """Replay: the archive before this write."""
    tab.replaying.step(-1)


@action("&Crash Points", enabled=lambda tab: _has_state(tab) and tab.replaying.matrix is None)
def read_crashes(tab: Tab) -> None:
    """Replay: what each reader makes of the archive if its writer stops at a write."""
    tab.replaying.read_crashes()


@action("&Save State as New File…", enabled=_has_state)
def save_state(tab: Tab) -> None:
    """Replay: write the archive as it is shown to a new file."""
    tab.replay_flow.ask_save()
