"""The main window: tabs of documents, menus, tool bar and status line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDragMoveEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from inspector.gui.app import close_confirmation
from inspector.gui.app.actions import COMMANDS, OF_WINDOW, Command, Target, build_actions
from inspector.gui.app.appearance import Appearance
from inspector.gui.app.bookmarks import Bookmarks
from inspector.gui.app.check_lists import CheckLists
from inspector.gui.app.command_help import CommandHelp
from inspector.gui.app.crash_reports import CrashReports
from inspector.gui.app.create import CreateActions
from inspector.gui.app.deferred_tabs import DeferredTabs
from inspector.gui.app.find_bar import FindBar
from inspector.gui.app.job_notifications import JobNotifications
from inspector.gui.app.layouts import Layouts
from inspector.gui.app.menus import Menus
from inspector.gui.app.s3_actions import S3Actions
from inspector.gui.app.sessions import Sessions
from inspector.gui.app.settings_actions import SettingsActions
from inspector.gui.app.start_page import StartPage
from inspector.gui.app.tabs import Tabs
from inspector.gui.app.toolbar import ToolBar
from inspector.gui.document.session import OpenTab
from inspector.gui.hex.copying import CopyFormat
from inspector.gui.ipc.temp_dir import TempDir
from inspector.gui.kit.dropping import take_copy
from inspector.gui.kit.file_dialogs import ask_for_files, ask_for_folder
from inspector.gui.kit.icons import program_icon
from inspector.gui.kit.locations import absolute, from_mime
from inspector.gui.kit.settings import Settings
from inspector.gui.kit.widgets import MessageBar, copy_cells
from inspector.gui.panels.status_line import StatusLine

if TYPE_CHECKING:  # see Window._new_tab
    from inspector.gui.app.tab import Tab

TITLE = "Archive Inspector"
DEFAULT_SIZE = QSize(1280, 800)
FRAME = QSize(20, 50)
"""Pixels that the frame of a window may take, in all."""


class Window(QMainWindow):
    """The main window. Its public methods without arguments are what actions call."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__()
        self.settings = settings or Settings()
        self.setAcceptDrops(True)
        self.setWindowTitle(TITLE)
        self.setWindowIcon(program_icon())
        self.actions_, menus = build_actions(self, self.menuBar(), self.run)
        self.tabs = Tabs()
        self.appearance = Appearance(self.settings, self.tabs)
        self.menus = Menus(self, self, menus, self.actions_)
        self.tools = ToolBar(self.actions_, self)
        self.find_bar = FindBar(self.tools, self.tab)
        self.addToolBar(self.tools)
        self.line = StatusLine(self)
        self.setStatusBar(self.line)
        self.message = MessageBar()
        self.start_page = StartPage()
        self.checks = CheckLists(self, self.tabs, self.open_location, self.settings)
        self.making = CreateActions(self, self)
        self.bookmarks = Bookmarks(self, self.settings, menus["Go"], self.tab)
        self.settings_actions = SettingsActions(self, self.settings)
        self.command_help = CommandHelp(self, self.actions_, TITLE, self.settings_actions)
        self.remote = S3Actions(self, self)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.start_page)
        self._stack.addWidget(self.tabs)
        centre = QWidget()
        layout = QVBoxLayout(centre)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.message)
        layout.addWidget(self._stack)
        self.setCentralWidget(centre)
        self.shelter = TempDir()
        self._shown: Tab | None = None
        self._agreed = False  # that what is unfinished is lost
        self.layouts = Layouts(self.settings, self.tab, menus["Layout"], self)
        self.job_notifications = JobNotifications(self, self.tabs, self.settings)
        sides = self.checks.sides | self.making.sides | self.remote.sides
        self.waiting = DeferredTabs(self.tabs, self._open_at, self.settings.add_recent, sides)
        self.sessions = Sessions(self.settings, self.tabs, self.start_page, self.waiting.open, self.say)
        self.crash_reports = CrashReports(self)
        self._connect()
        self.resize(DEFAULT_SIZE.boundedTo(self.screen().availableSize() - FRAME))
        self.restoreGeometry(self.settings.state("geometry"))
        self._change_tab()

    def _connect(self) -> None:
        self.start_page.chosen.connect(self.open_location)
        self.start_page.wanted.connect(self.open_files)
        self.crash_reports.saveRequested.connect(self._keep_unfinished)
        self.tabs.currentChanged.connect(self._change_tab)
        self.tabs.tabCloseRequested.connect(self._ask_to_close_tab)

    def run(self, command: Command) -> None:
        """Do what a command says."""
        tab = self.tab()
        if tab is not None and command.panel:
            tab.panes.go_to_panel(command.panel)
            return
        owner = self if command.on in OF_WINDOW else tab
        # The others are called as what they belong to calls them.
        target = owner if command.on in (Target.WINDOW, Target.TAB) else owner and getattr(owner, command.on)
        if target is not None:
            getattr(target, command.name)()

    def open_locations(self, locations: Iterable[str]) -> None:
        """Open locations, one tab each: the one door that all ways of opening lead through."""
        wanted = [OpenTab(absolute(location)) for location in locations]
        if wanted:
            self.waiting.open(wanted, len(wanted) - 1)

    def open_location(self, location: str) -> None:
        """Open one location, or show its tab where it is open already."""
        self.open_locations([location])

    def _open_at(self, location: str, at: int) -> Tab:
        tab = self._new_tab(location)
        self._add_tab(tab, at)
        return tab

    def _new_tab(self, location: str) -> Tab:
        # Imported when it is needed first: the first paint does not wait for all the panels.
        from inspector.gui.app.tab import Tab
        from inspector.gui.document.document import Document

        connections = self.remote.connections
        return Tab(Document(location, connections.of(location)), self.shelter, connections)

    def _add_tab(self, tab: Tab, at: int) -> None:
        self.appearance.dress(tab)
        tab.hex_pane.selectionChanged.connect(self._show_selection)
        tab.hex_pane.menuWanted.connect(self.menus.show_bytes_menu)
        tab.members.menuWanted.connect(self.menus.show_members_menu)
        tab.writing.chosen.connect(self.open_location)
        self.remote.dress(tab)
        self.sessions.dress(tab)
        self.job_notifications.dress(tab)
        tab.document.selected.connect(self._enable)
        tab.document.client.died.connect(self.crash_reports.worker_died)
        tab.editing.changed.connect(self._enable)
        tab.editing.modeChanged.connect(self._enable)
        self.tabs.insert(at, tab)
        self._change_tab()

    def open_files(self) -> None:
        """Ask for files and open them."""
        ask_for_files(self, "Open Archives", self.open_locations, self.tabs.shown_location())

    def open_folder(self) -> None:
        """Ask for a folder and open it."""
        ask_for_folder(self, "Open Folder", self.open_locations, self.tabs.shown_location())

    def paste_locations(self) -> None:
        """Open the paths in the clipboard."""
        found = from_mime(QGuiApplication.clipboard().mimeData())
        if found:
            self.open_locations(found)
        else:
            self.say("The clipboard holds no path to open.")

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls() or event.mimeData().hasText():
            take_copy(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        take_copy(event)

    def dropEvent(self, event: QDropEvent) -> None:
        found = from_mime(event.mimeData())
        if found and take_copy(event):
            self.making.take_dropped(found)
        else:
            event.ignore()
            self.say("The dropped item is neither a file nor a folder that can be opened.")

    def tab(self) -> Tab | None:
        """The tab that is shown."""
        return self.tabs.shown()

    def _change_tab(self) -> None:
        if self.waiting.wake():
            return  # what it stood for is shown instead
        tab = self.tab()
        self._stack.setCurrentWidget(self.tabs if self.tabs.count() else self.start_page)
        if not self.tabs.count():
            self.start_page.show_recent(self.settings.recent)
        if tab is not self._shown:
            self._leave()
            self._shown = tab
            self.line.set_document(tab.document if tab is not None else None)
            self.tools.go_to.clear()
            if tab is not None:
                tab.floating.show()
                self.layouts.arrange(tab)
                tab.hex_pane.setFocus()
        name = self.tabs.title().replace("[*]", "[*][*]")  # Qt's mark for what is changed
        self.setWindowTitle(f"{name}[*] – {TITLE}" if name else TITLE)
        self._enable()

    def _leave(self) -> None:
        """Take leave of the tab that was shown: the next one is arranged like it, and covers its floating panels."""
        if self._shown is not None:
            self.layouts.keep(self._shown)
            self._shown.floating.hide()
            self._shown = None

    def _enable(self, *_: object) -> None:
        tab = self.tab()
        for command in COMMANDS:
            if command.document:
                self.actions_[command.name].setEnabled(tab is not None)
        for name in ("close_tab", "next_tab", "previous_tab", "list_tabs"):
            self.actions_[name].setEnabled(self.tabs.count() > 0)
        self.tools.set_document(tab is not None)
        self.menus.copying.setEnabled(tab is not None)
        overwriting = tab is not None and tab.editing.overwriting
        self.actions_["edit_bytes"].setChecked(overwriting)
        self.line.show_mode(overwriting)
        if tab is not None:
            for name, can in tab.editing.possible().items():
                self.actions_[name].setEnabled(can)
            self.actions_["back"].setEnabled(tab.document.history.can_go_back)
            self.actions_["forward"].setEnabled(tab.document.history.can_go_forward)
            for name in ("show_content", "open_elsewhere"):
                self.actions_[name].setEnabled(tab.document.selection.member is not None)

    def _ask_to_close_tab(self, at: int) -> None:
        tab = self.tabs.every()[at]
        if not close_confirmation.waits(self, [tab], lambda: self._close_tab(self.tabs.indexOf(tab))):
            self._close_tab(at)

    def _close_tab(self, at: int) -> None:
        tab = self.tabs.document_tab(at)
        if tab is not None:
            if tab is self._shown:
                self._leave()
                self.line.set_document(None)
            tab.document.close()
        self.tabs.take_away(at)
        self._change_tab()

    def close_tab(self) -> None:
        """Close the tab that is shown, once the user agrees that its work stops."""
        self._ask_to_close_tab(self.tabs.currentIndex())

    def reload(self) -> None:
        """Read the location of the tab that is shown again; pending changes stay where they fit what is there now."""
        tab = self.tab()
        if tab is not None and tab.editing.pending is not None and tab.document.client.is_open:
            tab.editing.read_again()
        else:
            self.reopen()

    def reopen(self) -> None:
        """Open the location of the tab that is shown anew, and go where one was."""
        tab = self.tab()
        if tab is None:
            return
        if not close_confirmation.waits(self, [tab], lambda: self._reload(tab), "Reload"):
            self._reload(tab)

    def _reload(self, tab: Tab) -> None:
        at, location, caret = self.tabs.indexOf(tab), tab.document.location, tab.document.selection.caret
        fresh = self._new_tab(location)
        fresh.document.first_caret = caret
        self._close_tab(at)
        self._add_tab(fresh, at)

    def _keep_unfinished(self) -> None:
        """Keep what is open for the next start, and ask where changes are to be kept that are not written."""
        self.sessions.keep()
        for tab in self.tabs.all():
            tab.writing.ask_export()

    def next_tab(self) -> None:
        """Show the next tab."""
        self.tabs.step(1)

    def previous_tab(self) -> None:
        """Show the tab before."""
        self.tabs.step(-1)

    def list_tabs(self) -> None:
        """Open the list of all tabs."""
        self.tabs.list.open()

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self._agreed and close_confirmation.waits(self, self.tabs.every(), self._close_now):
            event.ignore()
            return
        self._leave()
        self.layouts.store()
        self.settings.set_state("geometry", self.saveGeometry())
        self.end()
        super().closeEvent(event)

    def _close_now(self) -> None:
        self._agreed = True
        self.close()

    def end(self) -> None:
        """End the work of all tabs."""
        self.sessions.end()
        for tab in self.tabs.all():
            tab.document.close()
        for side in self.tabs.sides():
            side.end()
        self.making.end()
        self.remote.end()
        self.shelter.clear()

    def copy(self) -> None:
        """Copy what is selected where the keyboard is: cells of a list, or else bytes."""
        tab = self.tab()
        if not copy_cells(QApplication.focusWidget()) and tab is not None:
            tab.hex_pane.copy()

    def copy_as(self, how: CopyFormat) -> None:
        """Copy the selected bytes in a form."""
        if (tab := self.tab()) is not None:
            tab.hex_pane.copy(how)

    def _show_selection(self, start: int, stop: int) -> None:
        if (tab := self.tab()) is not None and self.sender() is tab.hex_pane:
            self.line.show_selection(start, stop)

    def say(self, sentence: str) -> None:
        """Show a sentence about the program, not about one document."""
        self.message.say(sentence)

    @property
    def settled(self) -> bool:
        """Whether all that was asked for has arrived, in every tab."""
        return all(tab.settled for tab in self.tabs.all()) and all(s.settled for s in self.tabs.sides())
