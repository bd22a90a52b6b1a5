"""The actions of going about: the menu Go, and in it the panels."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence

from inspector.core.translation import marked
from inspector.gui.app.command import Command, Target

K = QKeySequence.StandardKey

PANELS = {
    "Members": marked("&Members"),
    "Structure": marked("&Structure"),
    "Byte": marked("&Byte"),
    "Findings": marked("&Findings"),
    "Digests": marked("&Digests"),
    "Header": marked("&Header"),
    "Changes": marked("&Changes"),
    "Repair": marked("&Repair"),
    "Requests": marked("Re&quests"),
    "Coverage": marked("C&overage"),
}
"""The panels and what the menu calls them; their keys are Alt with a digit."""


_TO_PANEL = marked("Show the panel {name}, in front of others, and move the keyboard to it")

GOING: tuple[Command, ...] = (
    Command(
        "go_to",
        "Go",
        marked("&Go To…"),
        ("Ctrl+G",),
        marked("Go to an offset, a field or an expression"),
        on=Target.SEEKING,
    ),
    Command("back", "Go", marked("&Back"), (K.Back, "Alt+Left", "Shift+F12"), marked("Back to where you were"), "back"),
    Command("forward", "Go", marked("&Forward"), (K.Forward, "Alt+Right"), marked("Forward again"), "forward"),
    Command(
        "follow",
        "Go",
        marked("Follow &Reference"),
        ("F12",),
        marked("Go where the selected field leads"),
        on=Target.FOLLOWING,
    ),
    Command("next_finding", "Go", marked("Next F&inding"), ("F4",), marked("Show the next thing that is wrong")),
    Command(
        "previous_finding",
        "Go",
        marked("Previous Fin&ding"),
        ("Shift+F4",),
        marked("Show the thing before that is wrong"),
    ),
    Command(
        "add_bookmark",
        "Go",
        marked("&Add Bookmark…"),
        ("Ctrl+D",),
        marked("Keep this byte, with a note"),
        on=Target.BOOKMARKS,
    ),
    Command(
        "next_bookmark",
        "Go",
        marked("Next Book&mark"),
        ("Ctrl+Shift+D",),
        marked("Go to the next bookmark"),
        on=Target.BOOKMARKS,
    ),
    Command(
        "next_unexplained",
        "Go",
        marked("Next &Unexplained Bytes"),
        ("F7",),
        marked("Show the next bytes that nothing explains"),
        on=Target.FOLLOWING,
    ),
    Command(
        "previous_unexplained",
        "Go",
        marked("Previous Une&xplained Bytes"),
        ("Shift+F7",),
        marked("Show the bytes before that nothing explains"),
        on=Target.FOLLOWING,
    ),
    Command(
        "next_alike",
        "Go",
        marked("Next of This &Kind"),
        ("F8",),
        marked("Show the next field of the kind that is selected"),
        on=Target.FOLLOWING,
    ),
    Command(
        "previous_alike",
        "Go",
        marked("Pre&vious of This Kind"),
        ("Shift+F8",),
        marked("Show the field of this kind before"),
        on=Target.FOLLOWING,
    ),
    Command("next_pane", "Go", marked("Next &Pane"), ("F6",), marked("Move the keyboard to the next pane")),
    Command(
        "previous_pane", "Go", marked("Previous Pa&ne"), ("Shift+F6",), marked("Move the keyboard to the pane before")
    ),
    Command(
        "next_tab",
        "Go",
        marked("Next &Tab"),
        ("Ctrl+Tab", "Ctrl+PgDown"),
        marked("Show the next archive"),
        on=Target.WINDOW,
    ),
    Command(
        "previous_tab",
        "Go",
        marked("Pr&evious Tab"),
        ("Ctrl+Shift+Tab", "Ctrl+PgUp"),
        marked("Show the archive before"),
        on=Target.WINDOW,
    ),
    Command("list_tabs", "Go", marked("All Tab&s…"), tip=marked("Choose one of the tabs"), on=Target.WINDOW),
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
