"""The actions of going about: the menu Go, and in it the panels."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence

from inspector.gui.app.command import Command, Target

K = QKeySequence.StandardKey

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

GOING: tuple[Command, ...] = (
    Command(
        "go_to",
        "Go",
        "&Go To…",
        ("Ctrl+G",),
        "Go to an offset, a field or an expression",
        on=Target.SEEKING,
    ),
    Command("back", "Go", "&Back", (K.Back, "Alt+Left", "Shift+F12"), "Back to where you were", "back"),
    Command("forward", "Go", "&Forward", (K.Forward, "Alt+Right"), "Forward again", "forward"),
    Command(
        "follow",
        "Go",
        "Follow &Reference",
        ("F12",),
        "Go where the selected field leads",
        on=Target.FOLLOWING,
    ),
    Command("next_finding", "Go", "Next F&inding", ("F4",), "Show the next thing that is wrong"),
    Command(
        "previous_finding",
        "Go",
        "Previous Fin&ding",
        ("Shift+F4",),
        "Show the thing before that is wrong",
    ),
    Command(
        "add_bookmark",
        "Go",
        "&Add Bookmark…",
        ("Ctrl+D",),
        "Keep this byte, with a note",
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
        "Show the next bytes that nothing explains",
        on=Target.FOLLOWING,
    ),
    Command(
        "previous_unexplained",
        "Go",
        "Previous Une&xplained Bytes",
        ("Shift+F7",),
        "Show the bytes before that nothing explains",
        on=Target.FOLLOWING,
    ),
    Command(
        "next_alike",
        "Go",
        "Next of This &Kind",
        ("F8",),
        "Show the next field of the kind that is selected",
        on=Target.FOLLOWING,
    ),
    Command(
        "previous_alike",
        "Go",
        "Pre&vious of This Kind",
        ("Shift+F8",),
        "Show the field of this kind before",
        on=Target.FOLLOWING,
    ),
    Command("next_pane", "Go", "Next &Pane", ("F6",), "Move the keyboard to the next pane"),
    Command("previous_pane", "Go", "Previous Pa&ne", ("Shift+F6",), "Move the keyboard to the pane before"),
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
        "Show the archive before",
        on=Target.WINDOW,
    ),
    Command("list_tabs", "Go", "All Tab&s…", tip="Choose one of the tabs", on=Target.WINDOW),
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
)
