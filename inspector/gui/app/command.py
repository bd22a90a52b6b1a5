"""What an action of the window is: its words, place in the menus, keys and what it calls."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtGui import QKeySequence

Key = QKeySequence.StandardKey | str


class Target(StrEnum):
    """Whose method an action calls."""

    WINDOW = "window"
    LOOKS = "looks"
    TAB = "tab"
    CHECKS = "checks"
    EDITING = "editing"
    WRITING = "writing"
    EXTRACTING = "extracting"
    LENDING = "lending"
    FOLLOWING = "following"
    PANES = "panes"
    EXPLAINING = "explaining"
    HELPING = "helping"
    BOOKMARKS = "bookmarks"
    MAKING = "making"
    REMOTE = "remote"
    SESSIONS = "sessions"
    LAYOUTS = "layouts"
    CONFIGURING = "configuring"
    SEEKING = "seeking"


OF_WINDOW = frozenset(
    (
        *(Target.WINDOW, Target.LOOKS, Target.CHECKS, Target.MAKING, Target.REMOTE, Target.HELPING, Target.BOOKMARKS),
        *(Target.SESSIONS, Target.LAYOUTS, Target.CONFIGURING, Target.SEEKING),
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
