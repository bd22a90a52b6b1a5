"""How the panels are arranged: once for all tabs, in layouts that come with the program or were saved under a name."""

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
from inspector.gui.kit.settings import Settings
from inspector.gui.kit.text import escaped, short

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab

STORED = "layouts"
"""The setting that is the saved layouts: an object in JSON, the state of the panels by name in base 64."""
MOST = 50
"""The most layouts that are saved."""


class Layout(NamedTuple):
    """Which panels are shown, which of those at the foot is in front, and what share of the height the foot has."""

    shown: tuple[str, ...]
    front: str
    foot: int


_SIDES = ("Members", "Structure", "Byte")
CHECK = Layout(("Members", "Findings", "Digests", "Repair", "Requests"), "Findings", 45)
EDIT = Layout((*_SIDES, "Changes", "Header", "Findings", "Repair"), "Changes", 30)


class Layouts(QObject):
    """The arrangement that all tabs share, and the menu of layouts."""

    def __init__(self, settings: Settings, shown: Callable[[], Tab | None], menu: QMenu, parent: QWidget) -> None:
        super().__init__(parent)
        self._settings = settings
        self._shown = shown
        self._parent = parent
        self._arrangement = settings.state("docks")
        self._requests = settings.number("requests_shown", 1) != 0
        self.menu = menu
        self._own: list[Any] = []
        menu.aboutToShow.connect(self._fill)

    # ---- one arrangement for all tabs --------------------------------------------------------------------------

    def arrange(self, tab: Tab) -> None:
        """Arrange a tab as the others are."""
        tab.shows_requests = self._requests
        tab.arrange(self._arrangement)

    def keep(self, tab: Tab | None) -> None:
        """Take over how a tab is arranged."""
        if tab is not None:
            self._arrangement = tab.arrangement()
            if tab.requests.is_remote:  # others have nothing to show there
                self._requests = not tab.docks["Requests"].isHidden()

    def store(self) -> None:
        """Remember the arrangement for the next start."""
        if not self._arrangement.isEmpty():
            self._settings.set_state("docks", self._arrangement)
            self._settings.set_number("requests_shown", int(self._requests))

    # ---- what comes with the program ---------------------------------------------------------------------------

    def layout_inspect(self) -> None:
        """Show all panels where they belong at first."""
        if (tab := self._shown()) is not None:
            tab.shows_requests = True
            tab.arrange_afresh()

    def layout_check(self) -> None:
        """Give room to what is wrong."""
        self._apply(CHECK)

    def layout_edit(self) -> None:
        """Give room to changes before they are written."""
        self._apply(EDIT)

    def _apply(self, layout: Layout) -> None:
        if (tab := self._shown()) is None:
            return
        tab.arrange_afresh()
        for name, dock in tab.docks.items():
            if dock is not tab.coverage:  # which is there only where it has something to show
                dock.setVisible(name in layout.shown)
        tab.hide_requests()
        tab.area.resizeDocks([tab.docks[layout.front]], [tab.height() * layout.foot // 100], Qt.Orientation.Vertical)
        tab.docks[layout.front].raise_()

    # ---- what the user saves -----------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """The names of the saved layouts, sorted."""
        return sorted(self._saved(), key=str.casefold)

    def save_layout(self) -> None:
        """Ask for a name and save the arrangement under it."""
        from PySide6.QtWidgets import QInputDialog  # the first paint does not wait for it

        dialog = QInputDialog(self._parent)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle("Save Layout")
        dialog.setLabelText("Name of this arrangement of panels; a layout of that name is replaced:")
        dialog.setComboBoxItems(self.names())
        dialog.setComboBoxEditable(True)
        dialog.setTextValue("")
        dialog.textValueSelected.connect(self.save)
        dialog.open()

    def save(self, name: str) -> None:
        """Save the arrangement of the tab that is shown under a name, in the place of another of that name."""
        tab, name = self._shown(), name.strip()
        if tab is not None and name:
            state = b64encode(tab.arrangement().data()).decode("ascii")
            others = [each for each in self._saved().items() if each[0] != name]
            self._store(dict([*others, (name, state)][-MOST:]))

    def choose(self, name: str, _: bool = False) -> None:
        """Arrange the tab that is shown as was saved under a name."""
        tab = self._shown()
        if tab is None:
            return
        if not tab.restore(_state(self._saved().get(name, ""))):
            tab.document.said.emit(f"The layout “{visible(name)}” was saved by another version of this program.")

    def remove(self, name: str, _: bool = False) -> None:
        """Forget the layout of a name."""
        self._store({each: state for each, state in self._saved().items() if each != name})

    def _saved(self) -> dict[str, str]:
        try:
            stored: Any = json.loads(self._settings.text(STORED) or "{}")
        except (ValueError, RecursionError):
            return {}
        found = stored.items() if isinstance(stored, dict) else ()
        return {name: state for name, state in found if isinstance(state, str)}

    def _store(self, saved: dict[str, str]) -> None:
        self._settings.set_text(STORED, json.dumps(saved))

    def _fill(self) -> None:
        for action in self._own:
            self.menu.removeAction(action)
        names = self.names()
        removing = QMenu("&Remove", self.menu)
        self._own = [self.menu.addSeparator()]
        for name in names:
            words = escaped(short(visible(name)))
            self._own.append(self.menu.addAction(words, partial(self.choose, name)))
            removing.addAction(words, partial(self.remove, name))
        if names:
            self._own.append(self.menu.addMenu(removing))


def _state(stored: str) -> QByteArray:
    try:
        return QByteArray(b64decode(stored, validate=True))
    except (Error, ValueError):
        return QByteArray()
