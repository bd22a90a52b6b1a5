"""One document with its panels around it: what a tab holds."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar, QTabWidget, QVBoxLayout, QWidget

from inspector.gui.app.actions import PANELS, without_marks
from inspector.gui.app.floating_docks import FloatingDocks
from inspector.gui.app.pane_focus import PaneFocus
from inspector.gui.app.whats_this import WhatsThis
from inspector.gui.document.checking import Checking
from inspector.gui.document.connections import Connections
from inspector.gui.document.disk_watch import DiskWatch
from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing
from inspector.gui.document.navigation import Navigation
from inspector.gui.document.request_watch import RequestWatch
from inspector.gui.flows.arrows import Arrows
from inspector.gui.flows.error_actions import ErrorActions
from inspector.gui.flows.export import ExportFlow
from inspector.gui.flows.extract import ExtractFlow
from inspector.gui.flows.hex_editing import HexEditing
from inspector.gui.flows.overlay_label import OverlayLabel
from inspector.gui.flows.recovery import RecoveryFlow
from inspector.gui.flows.save import SaveFlow
from inspector.gui.flows.temp_files import TempFiles
from inspector.gui.flows.upload_confirmation import UploadConfirmation
from inspector.gui.hex.hex_pane import HexPane
from inspector.gui.ipc.temp_dir import TempDir
from inspector.gui.panels.banner import Banner
from inspector.gui.panels.byte import BytePanel
from inspector.gui.panels.changes import ChangesPanel
from inspector.gui.panels.checksums import ChecksumsPanel
from inspector.gui.panels.coverage.dock import CoverageDock
from inspector.gui.panels.findings import FindingsPanel
from inspector.gui.panels.header import HeaderPanel
from inspector.gui.panels.members import MembersPanel
from inspector.gui.panels.repair import RepairPanel
from inspector.gui.panels.requests import RequestsPanel
from inspector.gui.panels.structure import StructurePanel

NARROWEST = 200
"""Pixels that the panels beside the bytes have at least."""
WIDE = 1260
"""Pixels from which on rows of 16 bytes fit between the panels; beneath it the panels have what 8 bytes leave."""
ROOMY = 250
"""Pixels of a panel at the foot in which all seven entries of a TACO header are seen."""
LOW = 320
"""Pixels that the panels at the foot have at most before the user gives them more."""
VERSION = 4
"""Of the arrangement of docks; a stored one of another version is not used."""


def _title(name: str, number: int = 0) -> str:
    """What a panel is called, and how many there are of what it lists where there are some."""
    title = without_marks(PANELS[name])
    return f"{title} ({number:,})" if number else title


class Tab(QWidget):
    """A document and everything that shows it."""

    def __init__(self, document: Document, shelter: TempDir, connections: Connections) -> None:
        super().__init__()
        self.document = document
        document.setParent(self)
        self.banner = Banner(document)
        self.hex_pane = HexPane(document)
        self.note = OverlayLabel(document, self.hex_pane)
        self.members = MembersPanel(document)
        self.structure = StructurePanel(document, self.hex_pane.swatch)
        self.byte = BytePanel(document, self.hex_pane.inspector)
        self.findings = FindingsPanel(document)
        self.digests = ChecksumsPanel(document)
        self.editing = Editing(document)
        self.hex_editing = HexEditing(document, self.editing, self.hex_pane)
        self.header = HeaderPanel(document, self.editing)
        self.changes = ChangesPanel(document, self.editing)
        self.repair = RepairPanel(document, self.editing)
        self.requests = RequestWatch(document, self)
        self.request_panel = RequestsPanel(self.requests)
        self.remedies = ErrorActions(self.requests)
        self.writing = SaveFlow(document, self.editing, self.banner, connections, self)
        self.sending = UploadConfirmation(document, self.editing, self)
        self.recovering = RecoveryFlow(document, self.editing, self.banner, self)
        self.watching = DiskWatch(document, self.editing)
        self.watching.reopen.connect(self.banner.reopen)
        self.checking = Checking(document)
        self.saving = ExportFlow(document, self.banner, self)
        self.extracting = ExtractFlow(document, self.banner, self.members, self)
        self.temp_files = TempFiles(document, shelter, self)
        self.navigation = Navigation(document, self.hex_pane)
        self.arrows = Arrows(document, self.hex_pane.hex, self.navigation)
        self.members.drag_with(self.temp_files.files)
        self.findings.exportRequested.connect(self.saving.ask_report)
        self.findings.repairRequested.connect(self.plan_repairs)
        self.coverage = CoverageDock(document)
        self.area = QMainWindow()
        self.area.setWindowFlags(Qt.WindowType.Widget)
        self.area.setDockOptions(QMainWindow.DockOption.AllowTabbedDocks | QMainWindow.DockOption.AllowNestedDocks)
        self.area.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.area.setCentralWidget(self.hex_pane)
        left, right, foot = (
            Qt.DockWidgetArea.LeftDockWidgetArea,
            Qt.DockWidgetArea.RightDockWidgetArea,
            Qt.DockWidgetArea.BottomDockWidgetArea,
        )
        self.docks = {
            "Members": self._dock("Members", self.members, left),
            "Structure": self._dock("Structure", self.structure, left),
            "Byte": self._dock("Byte", self.byte, right),
            "Findings": self._dock("Findings", self.findings, foot),
            "Digests": self._dock("Digests", self.digests, foot),
            "Header": self._dock("Header", self.header, foot),
            "Changes": self._dock("Changes", self.changes, foot),
            "Repair": self._dock("Repair", self.repair, foot),
            "Requests": self._dock("Requests", self.request_panel, foot),
            "Coverage": self.coverage,
        }
        self.panes = PaneFocus(document, self.area, self.hex_pane, self.docks)
        self.area.addDockWidget(Qt.DockWidgetArea.TopDockWidgetArea, self.coverage)
        for name in ("Digests", "Header", "Changes", "Repair", "Requests"):
            self.area.tabifyDockWidget(self.docks["Findings"], self.docks[name])
        self.docks["Findings"].raise_()
        self.shows_requests = True
        self._first_layout = self.area.saveState(VERSION)
        self.floating = FloatingDocks(self.docks.values())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.banner)
        layout.addWidget(self.remedies)
        layout.addWidget(self.watching.message)
        layout.addWidget(self.area)
        self.hex_pane.selectionChanged.connect(self.header.set_marked)
        self.requests.kept.connect(self.hex_pane.map.setKept)
        self.remedies.told.connect(self.note.hide)  # which says the same
        self.editing.changed.connect(self.note.hide)  # which was about the state before
        self.editing.changed.connect(self._title_changes)
        self.banner.repairRequested.connect(self.plan_repairs)
        self.changes.copyRequested.connect(self.writing.ask_copy)
        self.changes.exportRequested.connect(self.writing.ask_export)
        self.repair.changesRequested.connect(self.show_changes)
        self.repair.copyRequested.connect(self.writing.ask_repaired)
        self.repair.salvageRequested.connect(self.writing.ask_salvage)
        document.statusChanged.connect(self._title_findings)
        self.whats_this = WhatsThis(document, self.hex_pane, self.docks, self.structure.tree, self)

    @property
    def settled(self) -> bool:
        """Whether all that was asked for has arrived and is shown."""
        return self.document.settled and self.coverage.settled

    def _dock(self, name: str, panel: QWidget, side: Qt.DockWidgetArea) -> QDockWidget:
        dock = QDockWidget(_title(name))
        dock.setObjectName(name)
        dock.setWidget(panel)
        dock.setFeatures(
            QDockWidget.DockWidgetFeature.DockWidgetMovable
            | QDockWidget.DockWidgetFeature.DockWidgetFloatable
            | QDockWidget.DockWidgetFeature.DockWidgetClosable
        )
        self.area.addDockWidget(side, dock)
        return dock

    def _title_findings(self) -> None:
        status = self.document.status
        found = sum(number for _, number in status.counts)
        self.docks["Findings"].setWindowTitle(_title("Findings", found))

    def _title_changes(self) -> None:
        pending = self.editing.pending
        self.docks["Changes"].setWindowTitle(_title("Changes", self.changes.model.count))
        self.banner.set_pending(pending is not None)

    # ---- arrangement -------------------------------------------------------------------------------------------

    def arrange(self, state: QByteArray) -> None:
        """Put the docks where they were, or where they belong at first."""
        if state.isEmpty() or not self.restore(state):
            self.arrange_afresh()

    def restore(self, state: QByteArray) -> bool:
        """Put the docks where they were; whether that state is one."""
        if state == self.arrangement():
            return True
        restored = self.area.restoreState(state, VERSION)
        # Qt makes new bars of tabs, and until it deletes the old ones they are painted over what lies there now.
        for bar in self.area.findChildren(QTabBar):
            QCoreApplication.sendPostedEvents(bar, QEvent.Type.DeferredDelete)
        self.coverage.update_visibility()
        self.hide_requests()
        return restored

    def hide_requests(self) -> None:
        """A file of this computer has no requests to show; those of others are shown unless the user closes them."""
        dock, remote = self.docks["Requests"], self.requests.is_remote
        dock.toggleViewAction().setVisible(remote)
        dock.setVisible(remote and self.shows_requests)

    def arrange_afresh(self) -> None:
        """Put the docks where they belong at first, in sizes that suit the window."""
        self.restore(self._first_layout)
        for dock in self.docks.values():
            dock.show()
        self.hide_requests()
        self.coverage.update_visibility()
        self.coverage.resize_to_bands()
        width, height = self.width(), self.height()
        sides = [self.docks["Members"], self.docks["Byte"]]
        shares = (26, 20) if width >= WIDE else (33, 23)
        wanted = [max(NARROWEST, width * share // 100) for share in shares]
        self.area.resizeDocks(sides, wanted, Qt.Orientation.Horizontal)
        left = [self.docks["Members"], self.docks["Structure"]]
        self.area.resizeDocks(left, [height * 45 // 100, height * 55 // 100], Qt.Orientation.Vertical)
        self.area.resizeDocks(
            [self.docks["Findings"]], [min(LOW, max(150, height * 24 // 100))], Qt.Orientation.Vertical
        )
        self.docks["Findings"].raise_()

    def arrangement(self) -> QByteArray:
        """How the docks are arranged, to be remembered: a tab that is not shown has its floating ones hidden."""
        return self.area.saveState(VERSION)

    # ---- the keyboard ------------------------------------------------------------------------------------------

    def next_pane(self) -> None:
        """Move the focus to the next pane."""
        self.panes.next_pane()

    def previous_pane(self) -> None:
        """Move the focus to the previous pane."""
        self.panes.previous_pane()

    def filter_members(self) -> None:
        """Move the keyboard to the filter of the members."""
        self._show_dock("Members")
        self.members.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)

    # ---- what the actions call ---------------------------------------------------------------------------------

    def back(self) -> None:
        """Go back."""
        self.document.step_history(-1)

    def forward(self) -> None:
        """Go forward."""
        self.document.step_history(1)

    def next_finding(self) -> None:
        """Show the next finding."""
        self.findings.step(1)

    def previous_finding(self) -> None:
        """Show the finding before."""
        self.findings.step(-1)

    def select_all(self) -> None:
        """Select all bytes of the layer."""
        self.hex_pane.select_all()

    def show_content(self) -> None:
        """Show the content of the selected member."""
        if self.document.selection.member is not None:
            self.document.open_content(self.document.selection.member)

    def check(self) -> None:
        """Check everything."""
        self.checking.start()

    def plan_repairs(self, code: str = "") -> None:
        """Plan repairs of the archive, or what the repair of a code would do."""
        self._show_dock("Repair")
        self._give_room("Repair")
        self.repair.ask(code)
        self.repair.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_header(self) -> None:
        """Move the keyboard to the editor of the TACO header."""
        self._show_dock("Header")
        self._give_room("Header")
        self.header.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_changes(self) -> None:
        """Move the keyboard to what is pending."""
        self._show_dock("Changes")
        self.changes.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_dock(self, name: str) -> None:
        self.docks[name].show()
        self.docks[name].raise_()

    def _give_room(self, name: str) -> None:
        """What is worked in has to be seen in full, as far as the bytes can spare the room."""
        wanted = min(ROOMY, self.height() * 42 // 100)
        if self.docks[name].height() < wanted:
            self.area.resizeDocks([self.docks[name]], [wanted], Qt.Orientation.Vertical)

    def export_report(self) -> None:
        """Write what is known to a file."""
        self.saving.ask_report()

    def write_manifest(self) -> None:
        """Write digests of all members beside the archive."""
        self.saving.ask_manifest()

    def cancel(self) -> None:
        """Cancel the running job."""
        self.document.cancel_jobs()
