"""Compare two locations: ask for what is not known yet, and open a tab with the result."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMenu, QWidget

from inspector.gui.app.actions.archives import WindowActions
from inspector.gui.app.tabs import Tabs
from inspector.gui.kit.building import context_menu
from inspector.gui.kit.files import ask_for_files
from inspector.gui.kit.locations import absolute
from inspector.gui.kit.preferences import Settings

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.core.edit import Edit
    from inspector.gui.app.tab import Tab
    from inspector.gui.kit.files import TempDir
    from inspector.gui.tabs.compare_tab import CompareTab
    from inspector.operations.protocol.compare_views import Version
    from inspector.operations.protocol.views import DiskChange


class Comparisons(WindowActions):
    """The actions that compare. ``temp_dir`` is where the old bytes of a replaced file are kept."""

    def __init__(self, parent: QWidget, tabs: Tabs, settings: Settings, temp_dir: TempDir) -> None:
        super().__init__(parent, tabs, settings)
        self._temp_dir = temp_dir
        self._say = tabs.said.emit
        bar = self._tabs.bar
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        bar.customContextMenuRequested.connect(self._show_tab_menu)

    def compare_with(self) -> None:
        """Ask what to compare the archive shown with; without one, ask for two files."""
        shown = self._tabs.shown_location()
        title = "Compare With" if shown else "Compare Two Files"
        ask_for_files(self._parent, title, partial(self._compare_chosen, shown), shown)

    def _compare_chosen(self, shown: str, chosen: list[str]) -> None:
        both = [shown, *chosen] if shown and len(chosen) == 1 else chosen
        if len(both) == 2:
            self.compare(*both)
        else:
            self._say("Choose one file to compare the archive shown with, or two files to compare with each other.")

    def compare(self, a: str, b: str, *, versions: tuple[Version, Version] | None = None) -> CompareTab:
        """Compare two locations in a new tab; ``versions`` say how each is read."""
        from inspector.gui.tabs.compare_tab import CompareTab  # the first paint does not wait for it
        from inspector.operations.protocol.compare_views import AS_IT_IS

        tab = CompareTab(absolute(a), absolute(b), self.connections.known, versions or (AS_IT_IS, AS_IT_IS))
        tab.changeTaken.connect(self._add_change)
        tab.archiveWritten.connect(self._show_written)
        tab.compareRequested.connect(self.compare)
        self._tabs.append(tab)
        tab.setFocus()
        tab.start()
        return tab

    # ---- versions of one file ----------------------------------------------------------------------------------

    def compare_before(self) -> None:
        """Compare the archive shown with its state before the pending changes, or before the last write."""
        from inspector.operations.protocol.compare_views import AS_IT_IS, Version

        tab = self._tabs.shown()
        if tab is None:
            return
        location, editing = tab.document.location, tab.editing
        if editing.pending is not None:
            versions = AS_IT_IS, Version("with the pending changes", (editing.pending,))
        elif editing.revert is not None:
            versions = Version("before the last write", (editing.revert,)), AS_IT_IS
        elif editing.past:
            self.compare_past(tab, 0)
            return
        else:
            self._say("There is no earlier state to compare with: nothing is pending, and nothing was written here.")
            return
        self.compare(location, location, versions=versions)

    def compare_past(self, tab: Tab, number: int) -> None:
        """Compare an archive with its state before one of its earlier writes, the newest of which has number 0."""
        from inspector.operations.protocol.compare_views import AS_IT_IS, Version

        location = tab.document.location
        label = f"before {tab.editing.past[number].label}"

        def compare(edits: tuple[Edit, ...]) -> None:
            self.compare(location, location, versions=(Version(label, edits), AS_IT_IS))

        tab.editing.start_before(number, compare)

    def compare_with_disk(self, tab: Tab, change: DiskChange) -> None:
        """Compare what a tab opened with what is on disk now under its name."""
        from inspector.core.edit import Edit
        from inspector.operations.protocol.compare_views import AS_IT_IS, Version
        from inspector.operations.protocol.requests import ArchiveRequests

        document, label = tab.document, "as it was opened"
        if change.grown and change.now is not None:
            before = Version(label, (Edit(label, (), change.now, change.size),))
            self.compare(document.location, document.location, versions=(before, AS_IT_IS))
            return
        try:
            path = f"{self._temp_dir.new_path()}-{document.name}"
        except OSError as error:
            self._say(f"The old file cannot be copied to compare it: {error.strerror}.")
            return
        versions = Version(label), AS_IT_IS
        job = document.start(ArchiveRequests.copy_shown, path)
        job.then(lambda _: self.compare(path, document.location, versions=versions))

    # ---- tabs --------------------------------------------------------------------------------------------------

    def _show_tab_menu(self, place: QPoint) -> None:
        if (menu := self.tab_menu(self._tabs.bar.tabAt(place))) is not None:
            menu.popup(self._tabs.bar.mapToGlobal(place))

    def tab_menu(self, at: int) -> QMenu | None:
        """The menu of the tab at an index: compare it with another one. None for a tab without a document."""
        own = self._tabs.pages()[at].location
        if not own:
            return None
        menu = context_menu(self._parent)
        others = menu.addMenu("Compare With")
        for other, page in enumerate(self._tabs.pages()):
            if page.location and other != at:
                action = others.addAction(self._tabs.tabText(other))
                action.triggered.connect(lambda _=False, location=page.location: self.compare(own, location))
        if not others.isEmpty():
            others.addSeparator()
        ask = partial(ask_for_files, self._parent, "Compare With", partial(self._compare_chosen, own), own)
        others.addAction("Another File…").triggered.connect(lambda _=False: ask())
        menu.addAction("Close").triggered.connect(lambda: self._tabs.tabCloseRequested.emit(at))
        return menu

    # ---- what a comparison leads to ----------------------------------------------------------------------------

    def _show_written(self, path: str, sentence: str) -> None:
        self._tabs.openRequested.emit([path])
        self._say(sentence)

    def _add_change(self, location: str, edit: Edit) -> None:
        """Make an edit pending in the tab of a location, as soon as that has been read."""
        self._tabs.openRequested.emit([location])
        if (tab := self._tabs.shown()) is not None:
            tab.document.when_ready(partial(tab.editing.add, edit))
