"""The main window: tabs of documents, menus, tool bar and status status_line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QKeyCombination, QObject, QSize, Qt
from PySide6.QtGui import QCloseEvent, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow, QStackedWidget, QWidget

from inspector.core.numbers import plural
from inspector.gui.app.actions.actions import ACTIONS, build_actions
from inspector.gui.app.actions.archives import Archives
from inspector.gui.app.actions.bookmarks import Bookmarks
from inspector.gui.app.actions.comparisons import Comparisons
from inspector.gui.app.actions.menus import Appearance, Menus
from inspector.gui.app.help import TITLE, Help
from inspector.gui.app.start_page import Sessions, StartPage
from inspector.gui.app.tabs import Tabs, WaitingTab
from inspector.gui.app.toolbar import ToolBar
from inspector.gui.kit import building
from inspector.gui.kit.building import Answer, in_column, page_of
from inspector.gui.kit.files import Cover, DropZone, TempDir, ask_for_files, ask_for_folder
from inspector.gui.kit.icons import program_icon
from inspector.gui.kit.locations import MAX_TABS_OPENED, absolute, from_mime
from inspector.gui.kit.preferences import Settings
from inspector.gui.kit.widgets import MessageBar, copy_cells
from inspector.gui.panels.status_line import StatusLine
from inspector.gui.tabs.side_tab import Page
from inspector.sources.s3.address import is_s3

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.app.tab import Tab


MAX_TABS_AT_ONCE = 5
"""The most locations dropped, pasted or chosen together that have a tab each."""
DEFAULT_SIZE = QSize(1280, 800)
CLOSED_PANELS = "closed_panels"
"""The setting of the panels at the foot that the user closed: their names, separated by spaces."""
KEPT_CHORDS = [QKeyCombination(Qt.KeyboardModifier.ControlModifier, key) for key in (Qt.Key.Key_E, Qt.Key.Key_K)]
"""Extract and Check, also where a field has the focus: Qt means the end of the line and deleting it by them."""
FRAME_SIZE = QSize(20, 50)
"""Pixels that the frame of the window may need."""


class Window(DropZone, QMainWindow):
    """The main window. Actions call its public methods without arguments."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__()
        self.settings = settings or Settings()
        self.setAcceptDrops(True)
        self.setWindowTitle(TITLE)
        self.setWindowIcon(program_icon())
        self.actions_, menus = build_actions(self, self.menuBar(), lambda row: row.run(self, self.tab()))
        self.tabs = Tabs()
        self.appearance = Appearance(self.settings, self.tabs)
        self.menus = Menus(self, self.tabs, self.settings, menus, self.actions_)
        self.tool_bar = ToolBar(self.actions_, self.tabs.page, self)
        self.addToolBar(self.tool_bar)
        self.status_line = StatusLine(self)
        self.setStatusBar(self.status_line)
        self.message = MessageBar()
        self.start_page = StartPage()
        self.temp_dir = TempDir()
        parts = self, self.tabs, self.settings
        self.archives = Archives(*parts, self.status_line)
        self.comparisons = Comparisons(*parts, self.temp_dir)
        self.bookmarks = Bookmarks(*parts, menus["Notes"])
        self.help = Help(self, self.message, self.settings, self.actions_, self.tabs)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.start_page)
        self._stack.addWidget(self.tabs)
        centre = page_of(in_column(self.message, self._stack))
        self.setCentralWidget(centre)
        self.drop_light = Cover(centre, "Drop to open")
        self._shown: Tab | None = None
        self._close_agreed = False  # to lose unsaved work
        self._arrangement = self.settings.state("docks")
        self._closed_panels = frozenset(self.settings.text(CLOSED_PANELS).split())
        self.sessions = Sessions(self.settings, self.tabs, self.start_page, self.open_tabs)
        self._connect()
        self.resize(DEFAULT_SIZE.boundedTo(self.screen().availableSize() - FRAME_SIZE))
        self.restoreGeometry(self.settings.state("geometry"))
        self._tab_changed()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt override: the chords of fields that no one types give way to those of the program."""
        is_ours = isinstance(event, QKeyEvent) and event.type() is QEvent.Type.ShortcutOverride
        if is_ours and isinstance(event, QKeyEvent) and event.keyCombination() in KEPT_CHORDS:
            event.ignore()
            return True
        return super().eventFilter(watched, event)

    def _focus_moved(self, _: QWidget | None, now: QWidget | None) -> None:
        if isinstance(now, QLineEdit) and self.isAncestorOf(now):
            now.installEventFilter(self)

    def _connect(self) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._focus_moved)
        self.start_page.chosen.connect(self.open_location)
        self.start_page.openWanted.connect(self.open_files)
        self.tabs.currentChanged.connect(self._tab_changed)
        self.tabs.titlesChanged.connect(self._show_title)
        self.tabs.openRequested.connect(self.open_together)
        self.tabs.reloadRequested.connect(lambda anew: self.reopen() if anew else self.reload())
        self.tabs.said.connect(self.say)
        self.tabs.tabCloseRequested.connect(self._ask_to_close_tab)

    def open_locations(self, locations: Iterable[str]) -> None:
        """Open locations, one tab each."""
        found = [absolute(location) for location in islice(locations, MAX_TABS_OPENED)]
        if found:
            self.open_tabs(found, found[-1])

    def open_together(self, locations: Sequence[str]) -> None:
        """Open what was dropped, pasted or chosen at once: one tab each, or one list if they are many."""
        if len(locations) > MAX_TABS_AT_ONCE:
            self.archives.audit(locations).message.say(
                f"{len(locations):,} locations were opened together, so they are listed here. "
                "Open one by a double-click."
            )
        else:
            self.open_locations(locations)

    def open_location(self, location: str) -> None:
        """Open one location, or show its tab if it is open already."""
        self.open_locations([location])

    def open_tabs(self, locations: Sequence[str], shown: str) -> None:
        """Append tabs in this order and show that of ``shown``, or else the last; open ones stay where they are.

        The others open when they are first shown; until then they have the state that the archive had last.
        """
        new = [each for each in dict.fromkeys(locations) if self.tabs.index_of(each) < 0]
        first, at = shown if shown in locations else locations[-1], self.tabs.count()
        for location in new:
            self.settings.add_recent(location)
        # Open the tab to show first; otherwise Qt would show, and so open, another one.
        if first in new:
            self._open(first, at)
        else:
            self.tabs.setCurrentIndex(self.tabs.index_of(first))
        for place, location in enumerate(new, at):
            if location != first:
                self.tabs.insert(place, WaitingTab(location, self.settings.recent.get(location)))

    def _open(self, location: str, at: int, caret: int = 0) -> None:
        # Imported here so that the first paint does not wait for all the panels.
        from inspector.gui.app.tab import Tab
        from inspector.gui.document.document import Document

        connections = self.archives.connections
        tab = Tab(Document(location, connections.of(location)), self.temp_dir, connections, self.tabs.holder)
        tab.document.first_caret = caret
        self.appearance.attach(tab)
        tab.hex_pane.selectionChanged.connect(self._show_selection)
        tab.hex_pane.menuRequested.connect(self.menus.show_bytes_menu)
        tab.members.menuWanted.connect(self.menus.show_members_menu)
        tab.openRequested.connect(self.open_location)
        tab.hex_pane.bar.outerChosen.connect(self.open_location)
        tab.disk_watch.compareWanted.connect(partial(self.comparisons.compare_with_disk, tab))
        tab.compareRequested.connect(partial(self.comparisons.compare_past, tab))
        self.archives.attach(tab)
        self.bookmarks.attach(tab)
        tab.document.statusChanged.connect(self._show_header_button)
        tab.document.client.died.connect(self.help.worker_died)
        tab.document.statusChanged.connect(partial(self._audit_folder, tab))
        for changed in (tab.editing.changed, tab.experiment.changed, tab.replaying.changed, tab.document.statusChanged):
            changed.connect(self.tabs.update_titles)
            changed.connect(self._enable_actions)
        for changed in (tab.document.selected, tab.editing.pastChanged, tab.editing.modeChanged, tab.traced):
            changed.connect(self._enable_actions)
        for flow in (tab.save_flow, tab.trial_flow):
            flow.chosen.connect(self.open_location)
        self.tabs.insert(at, tab)
        self.tabs.setCurrentIndex(at)
        self._tab_changed()

    def _audit_folder(self, tab: Tab) -> None:
        """Replace the tab of a local folder that holds no dataset by an audit of it; a prefix costs requests."""
        at = self.tabs.indexOf(tab)
        if not tab.document.status.plain_folder or is_s3(tab.document.location) or at < 0:
            return
        shown = self.tabs.currentWidget() is tab
        before = self.tabs.currentWidget()
        audit = self.archives.audit([tab.document.location])
        self.tabs.tabBar().moveTab(self.tabs.indexOf(audit), at)
        self._close_tab(self.tabs.indexOf(tab))
        if not shown and before is not None:
            self.tabs.setCurrentWidget(before)

    def open_files(self) -> None:
        """Ask for files and open them."""
        ask_for_files(self, "Open Archives", self.open_together, self.tabs.shown_location())

    def open_folder(self) -> None:
        """Ask for a folder and open it."""
        ask_for_folder(self, "Open Folder", self.open_locations, self.tabs.shown_location())

    def toggle_full_screen(self) -> None:
        """Fill the screen with the window, or give it back its size."""
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def paste_locations(self) -> None:
        """Open the paths in the clipboard."""
        found = from_mime(QGuiApplication.clipboard().mimeData())
        if found:
            self.open_together(found)
        else:
            self.say("The clipboard holds no path to open.")

    def take_dropped(self, locations: list[str]) -> None:
        """Open what was dropped, or add it to the archive shown."""
        if locations:
            self.archives.take_dropped(locations)
        else:
            self.say("The dropped item is neither a file nor a folder that can be opened.")

    def tab(self) -> Tab | None:
        """The tab shown; None if it has no document."""
        return self.tabs.shown()

    def _tab_changed(self) -> None:
        if isinstance(waiting := self.tabs.page(), WaitingTab):
            self._open(waiting.location, self.tabs.indexOf(waiting))  # its tab is shown instead
            self.tabs.remove(self.tabs.indexOf(waiting))
            return
        tab = self.tab()
        self._stack.setCurrentWidget(self.tabs if self.tabs.count() else self.start_page)
        if not self.tabs.count():
            self.start_page.show_recent(self.settings.recent)
        if tab is not self._shown:
            self._leave_tab()
            self._shown = tab
            self.status_line.set_document(tab.document if tab is not None else None)
            self.tool_bar.go_to.clear()
            if tab is not None:
                tab.show_floating()
                tab.arrange(self._arrangement)
                tab.show_speaking(self._closed_panels)
                tab.hex_pane.setFocus()
        self._show_title()
        self._enable_actions()

    def _show_title(self) -> None:
        """Name the tab shown and its state in the title, and remember the state of what was opened."""
        page = self.tabs.page()
        name, state = (page.title, page.state) if page is not None else ("", None)
        name = name.replace("[*]", "[*][*]")  # Qt's placeholder for the mark of unsaved changes
        parts = (f"{name}[*]" if name else "", state.value if state is not None else "", TITLE)
        self.setWindowTitle(" – ".join(filter(None, parts)))
        for tab in self.tabs.all():
            if not tab.document.in_experiment:
                self.settings.set_recent_state(tab.document.location, tab.document.state)

    def _leave_tab(self) -> None:
        """Leave the tab shown: adopt its arrangement for the next one, and hide its floating panels."""
        if self._shown is not None:
            self._arrangement = self._shown.arrangement()
            self._closed_panels = self._shown.quiet.adopt()
            self._shown.hide_floating()
            self._shown = None

    def _show_header_button(self) -> None:
        tab = self.tab()
        self.tool_bar.show_header_button(tab is not None and tab.document.status.header_edited)

    def _enable_actions(self, *_: object) -> None:
        tab = self.tab()
        for row in ACTIONS:
            self.actions_[row.name].setEnabled(row.is_possible(self, tab))
        self.tool_bar.enable_fields()
        self._show_header_button()
        self.menus.copying.setEnabled(tab is not None)
        overwriting = tab is not None and tab.editing.overwriting
        self.actions_["edit_bytes"].setChecked(overwriting)
        self.status_line.show_mode(overwriting)

    def _ask_to_close_tab(self, at: int) -> None:
        page = self.tabs.pages()[at]
        if not self._has_to_ask([page], lambda: self._close_tab(self.tabs.indexOf(page))):
            self._close_tab(at)

    def _close_tab(self, at: int) -> None:
        if self.tabs.pages()[at] is self._shown:
            self._leave_tab()
            self.status_line.set_document(None)
        self.tabs.remove(at)
        self._tab_changed()

    def close_tab(self) -> None:
        """Close the tab shown; ask first if it has unsaved work."""
        self._ask_to_close_tab(self.tabs.currentIndex())

    def reload(self) -> None:
        """Reload the location of the tab shown, and keep its pending changes if they still apply."""
        tab = self.tab()
        if tab is not None and tab.editing.pending is not None and tab.document.client.is_open:
            tab.editing.read_again()
        else:
            self.reopen()

    def reopen(self) -> None:
        """Close the tab shown and open its location again at the same caret."""
        tab = self.tab()
        if tab is not None and not self._has_to_ask([tab], lambda: self._reload(tab), "Reload"):
            self._reload(tab)

    def _reload(self, tab: Tab) -> None:
        at, location, caret = self.tabs.indexOf(tab), tab.document.location, tab.document.selection.caret
        self._close_tab(at)
        self._open(location, at, caret)

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self._close_agreed and self._has_to_ask(self.tabs.pages(), self._close_now):
            event.ignore()
            return
        self._leave_tab()
        if not self._arrangement.isEmpty():
            self.settings.set_state("docks", self._arrangement)
            self.settings.set_text(CLOSED_PANELS, " ".join(sorted(self._closed_panels)))
        self.settings.set_state("geometry", self.saveGeometry())
        self.end()
        super().closeEvent(event)

    def _close_now(self) -> None:
        self._close_agreed = True
        self.close()

    def end(self) -> None:
        """Store the session and end all workers."""
        self.sessions.store()
        for page in self.tabs.pages():
            page.end()
        if (loaded := sys.modules.get("inspector.gui.ipc.client")) is not None:
            for client in self.findChildren(loaded.Client):  # those of dialogs that are still open
                client.close()
        self.temp_dir.clear()

    def copy(self) -> None:
        """Copy the selection of the focused list, or else the selected bytes."""
        tab = self.tab()
        if not copy_cells(QApplication.focusWidget()) and tab is not None:
            tab.hex_pane.hex.copy()

    def _show_selection(self, start: int, stop: int) -> None:
        if (tab := self.tab()) is not None and self.sender() is tab.hex_pane:
            self.status_line.show_selection(start, stop)

    def say(self, sentence: str) -> None:
        """Show a message about no particular document."""
        self.message.say(sentence)

    @property
    def settled(self) -> bool:
        """Whether all requests of all tabs are answered."""
        return all(page.settled for page in self.tabs.pages())

    def _has_to_ask(self, pages: Iterable[Page], close: Callable[[], object], label: str = "Close") -> bool:
        """Ask before closing tabs with unsaved work, and return whether there is any; does not block.

        ``close`` runs when the user agrees, ``label`` is the text of the button that closes them.
        """
        busy = [phrase for page in pages if (phrase := page.unsaved)]
        more = plural(" and {number} other thing", " and {number} other things", len(busy) - 1) if busy[1:] else ""
        if busy:
            building.ask(
                self,
                f"{label} Now?",
                f"There is still {busy[0]}{more}.",
                Answer("Keep Working", is_default=True),
                Answer(label, close),
                more="Unsaved changes and running jobs are lost.",
            )
        return bool(busy)
