"""The arrangement of the panels, shared by all tabs: built-in layouts, and those that the user saved by name."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QByteArray, QObject, Qt
from PySide6.QtWidgets import QMenu, QWidget

from inspector.core.names import visible
from inspector.gui.kit.actions import action
from inspector.gui.kit.settings import Settings
from inspector.gui.kit.text import escaped, short

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab

SETTING = "layouts"
"""The setting that stores them: a JSON object of dock states in base 64, by name."""
CLOSED = "closed_panels"
"""The setting that stores the panels at the foot that the user closed: their names, separated by spaces."""
MAX_LAYOUTS = 50


class Layout(NamedTuple):
    """A built-in layout: the panels shown, the front one at the bottom, and the height of the bottom in percent."""

    shown: tuple[str, ...]
    front: str
    bottom: int


FOOT = frozenset(
    (
        *("Findings", "Digests", "Header", "Changes", "Repair", "Requests", "Reader"),
        *("Experiment", "Diagram", "Replay"),
    )
)
"""The panels that are shown while they have something to say."""
_SIDES = ("Members", "Structure", "Byte")
CHECK_LAYOUT = Layout(("Members", "Findings", "Digests", "Repair", "Requests"), "Findings", 45)
EDIT_LAYOUT = Layout((*_SIDES, "Changes", "Header", "Findings", "Repair"), "Changes", 30)


class Layouts(QObject):
    """The arrangement of the panels that all tabs share, and the menu of layouts."""

    def __init__(self, settings: Settings, shown: Callable[[], Tab | None], menu: QMenu, parent: QWidget) -> None:
        super().__init__(parent)
        self._settings = settings
        self._shown = shown
        self._parent = parent
        self._arrangement = settings.state("docks")
        self._closed = frozenset(settings.text(CLOSED).split())
        self.menu = menu
        self._menu_items: list[Any] = []
        menu.aboutToShow.connect(self._fill)

    # ---- one arrangement for all tabs --------------------------------------------------------------------------

    def arrange(self, tab: Tab) -> None:
        """Apply the shared arrangement to a tab."""
        tab.arrange(self._arrangement)
        tab.show_speaking(self._closed)

    def adopt(self, tab: Tab | None) -> None:
        """Make the arrangement of a tab the shared one."""
        if tab is not None:
            self._arrangement = tab.arrangement()
            self._closed = tab.quiet.adopt()

    def store(self) -> None:
        """Store the arrangement for the next start."""
        if not self._arrangement.isEmpty():
            self._settings.set_state("docks", self._arrangement)
            self._settings.set_text(CLOSED, " ".join(sorted(self._closed)))

    # ---- built-in layouts --------------------------------------------------------------------------------------

    @action("Layout to &Inspect", tip="All panels, the default layout", document=True)
    def layout_inspect(self) -> None:
        """Apply the default layout: all panels in their first places."""
        if (tab := self._shown()) is not None:
            tab.reset_arrangement()

    @action("Layout to &Check", tip="More room for findings", document=True)
    def layout_check(self) -> None:
        """Apply the layout with more room for findings."""
        self._apply(CHECK_LAYOUT)

    @action("Layout to &Edit", tip="More room for pending changes", document=True)
    def layout_edit(self) -> None:
        """Apply the layout with more room for pending changes."""
        self._apply(EDIT_LAYOUT)

    def _apply(self, layout: Layout) -> None:
        if (tab := self._shown()) is None:
            return
        tab.reset_arrangement()
        for name, dock in tab.docks.items():
            if dock is not tab.coverage:  # it shows itself for datasets only
                dock.setVisible(name in layout.shown)
        tab.show_speaking(FOOT - set(layout.shown), layout.front)
        tab.area.resizeDocks([tab.docks[layout.front]], [tab.height() * layout.bottom // 100], Qt.Orientation.Vertical)
        tab.docks[layout.front].raise_()

    # ---- saved layouts -----------------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """The names of the saved layouts, sorted."""
        return sorted(self._saved(), key=str.casefold)

    @action("&Save Layout As…", tip="Save the arrangement of the panels", document=True)
    def save_layout(self) -> None:
        """Ask for a name and save the arrangement under it."""
        from PySide6.QtWidgets import QInputDialog  # the first paint does not wait for it

        dialog = QInputDialog(self._parent)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle("Save Layout")
        dialog.setLabelText("Name of the layout; an existing one of that name is replaced:")
        dialog.setComboBoxItems(self.names())
        dialog.setComboBoxEditable(True)
        dialog.setTextValue("")
        dialog.textValueSelected.connect(self.save)
        dialog.open()

    def save(self, name: str) -> None:
        """Save the arrangement of the tab shown; this replaces a layout of the same name."""
        tab, name = self._shown(), name.strip()
        if tab is not None and name:
            state = " ".join((b64encode(tab.arrangement().data()).decode("ascii"), *sorted(tab.quiet.adopt())))
            others = [each for each in self._saved().items() if each[0] != name]
            self._store(dict([*others, (name, state)][-MAX_LAYOUTS:]))

    def choose(self, name: str, _: bool = False) -> None:
        """Apply a saved layout to the tab shown."""
        tab = self._shown()
        if tab is None:
            return
        state, *closed = self._saved().get(name, "").split() or [""]
        if tab.restore(_state(state)):
            tab.show_speaking(closed)
        else:
            tab.document.reported.emit(f"The layout “{visible(name)}” was saved by another version of this program.")

    def remove(self, name: str, _: bool = False) -> None:
        """Remove a saved layout."""
        self._store({each: state for each, state in self._saved().items() if each != name})

    def _saved(self) -> dict[str, str]:
        try:
            stored: Any = json.loads(self._settings.text(SETTING) or "{}")
        except (ValueError, RecursionError):
            return {}
        found = stored.items() if isinstance(stored, dict) else ()
        return {name: state for name, state in found if isinstance(state, str)}

    def _store(self, saved: dict[str, str]) -> None:
        self._settings.set_text(SETTING, json.dumps(saved))

    def _fill(self) -> None:
        for item in self._menu_items:
            self.menu.removeAction(item)
        names = self.names()
        removing = QMenu("&Remove", self.menu)
        self._menu_items = [self.menu.addSeparator()]
        for name in names:
            words = escaped(short(visible(name)))
            self._menu_items.append(self.menu.addAction(words, partial(self.choose, name)))
            removing.addAction(words, partial(self.remove, name))
        if names:
            self._menu_items.append(self.menu.addMenu(removing))


def _state(stored: str) -> QByteArray:
    try:
        return QByteArray(b64decode(stored, validate=True))
    except (Error, ValueError):
        return QByteArray()
