"""One document with its panels: the contents of a tab."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from math import ceil
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QByteArray, QCoreApplication, QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar, QTabWidget, QVBoxLayout, QWidget

from inspector.core.edit import Edit
from inspector.core.finding import Severity
from inspector.core.numbers import count
from inspector.gui.app.docks import DockTitles, LateDock, QuietPanels, held
from inspector.gui.app.help.help_texts import PANEL_LABELS
from inspector.gui.app.help.whats_this import WhatsThis
from inspector.gui.app.pane_focus import PaneFocus
from inspector.gui.document.connections import Connections
from inspector.gui.document.disk_watch import DiskWatch
from inspector.gui.document.document import Checking, Document
from inspector.gui.document.editing import Editing
from inspector.gui.document.experimenting import Experimenting
from inspector.gui.document.navigation import Navigation
from inspector.gui.document.replaying import Replaying
from inspector.gui.document.request_watch import RequestWatch
from inspector.gui.flows.error_actions import ErrorActions
from inspector.gui.flows.experiment import ExperimentFlow
from inspector.gui.flows.extract import ExtractFlow, TempFiles
from inspector.gui.flows.hex_overlays import Arrows, HexEditing, OverlayLabel
from inspector.gui.flows.replay import ReplayFlow
from inspector.gui.flows.save import ExportFlow, RecoveryFlow, SaveFlow, UploadConfirmation
from inspector.gui.hex.hex_pane import HexPane
from inspector.gui.kit.accessible_names import name_focused_window
from inspector.gui.kit.actions import without_marks
from inspector.gui.kit.dropping import leave_drops
from inspector.gui.kit.files import TempDir
from inspector.gui.kit.locations import INSIDE
from inspector.gui.kit.style import card
from inspector.gui.panels.banner import Banner
from inspector.gui.panels.byte import BytePanel
from inspector.gui.panels.checksums import ChecksumsPanel
from inspector.gui.panels.coverage.dock import CoverageDock
from inspector.gui.panels.findings import FindingsPanel
from inspector.gui.panels.members import MembersPanel
from inspector.gui.panels.structure import StructurePanel
from inspector.operations.protocol.views import FindingRow, Stage
from inspector.sources.s3.address import is_s3

if TYPE_CHECKING:  # each panel is loaded when it is made
    from inspector.gui.panels.changing.changes import ChangesPanel
    from inspector.gui.panels.changing.experiment import ExperimentPanel
    from inspector.gui.panels.changing.header import HeaderPanel
    from inspector.gui.panels.changing.repair import RepairPanel
    from inspector.gui.panels.changing.replay import ReplayPanel
    from inspector.gui.panels.diagram.panel import DiagramPanel
    from inspector.gui.panels.reader.panel import ReaderPanel
    from inspector.gui.panels.requests import RequestsPanel

MIN_SIDE_WIDTHS = (216, 160)
"""The least widths of the panels at the left and right: names and verdicts are read first."""
LANE_WIDTH = 210
"""Pixels that the panels at the sides leave to the names of structures."""
SIDE_SHARES = ((55, 22), (45, 18))
"""How much of what is left the panels at the left and right take, and of the width at most, in percent."""
FULL_HEADER_HEIGHT = 250
"""The height of a bottom panel that shows all seven entries of a TACO header."""
FULL_READER_HEIGHT = 420
"""The height of the bottom panel that shows steps, variables, readers and the order of reads."""
MAX_BOTTOM_HEIGHT = 320
"""The greatest initial height of the bottom panels."""
SIDES = (Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea)
DOCKS_VERSION = 7
"""The version of the dock arrangement; a stored one of another version is ignored."""


def _title(name: str, number: int = 0) -> str:
    """The title of a panel, with the number of its rows if there are any."""
    title = without_marks(PANEL_LABELS[name])
    return f"{title} ({number:,})" if number else title


class Tab(QWidget):
    """A document with its panels, flows and docks.

    Signals:
        traced(): the steps of a reader are shown, or none any more.
        compareRequested(int): compare with the state before this one of the earlier writes.
        openRequested(str): the user wants to open this location, which lies in the one that is shown.
    """

    traced = Signal()
    compareRequested = Signal(int)
    openRequested = Signal(str)

    def __init__(
        self, document: Document, temp_dir: TempDir, connections: Connections, parent: QWidget | None = None
    ) -> None:
        # With a style sheet, Qt styles a widget and all in it again for each new parent: parents come first.
        super().__init__(parent)
        self.document = document
        document.setParent(self)
        self.area = QMainWindow(self)
        self.area.setWindowFlags(Qt.WindowType.Widget)
        self.area.setDockOptions(QMainWindow.DockOption.AllowTabbedDocks | QMainWindow.DockOption.AllowNestedDocks)
        self.area.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.banner = Banner(document)
        self.hex_pane = HexPane(document, self.area)
        self.note = OverlayLabel(document, self.hex_pane)
        self.members = MembersPanel(document, self._new_dock("Members"))
        self.structure = StructurePanel(document, self.hex_pane.swatch, self._new_dock("Structure"))
        self.byte = BytePanel(document, self.hex_pane.inspector, self._new_dock("Byte"))
        self.findings = FindingsPanel(document, self._new_dock("Findings"))
        self.digests = ChecksumsPanel(document, self._new_dock("Digests"))
        self.editing = Editing(document)
        self.experiment = Experimenting(document, self.editing)
        self.replaying = Replaying(document, self.editing)
        self.hex_editing = HexEditing(document, self.editing, self.experiment, self.replaying, self.hex_pane)
        self.request_watch = RequestWatch(document, self)
        self.error_actions = ErrorActions(self.request_watch)
        self.save_flow = SaveFlow(document, self.editing, self.banner, connections, self)
        self.experiment_flow = ExperimentFlow(document, self.experiment, self.hex_pane, self.banner, self)
        self.replay_flow = ReplayFlow(document, self.replaying, self.banner, self)
        self.upload_confirmation = UploadConfirmation(document, self.editing, self)
        self.recovery = RecoveryFlow(document, self.editing, self.banner, self)
        self.disk_watch = DiskWatch(document, self.editing)
        self.disk_watch.reopen.connect(self.banner.reopen)
        self.checking = Checking(document)
        self.export_flow = ExportFlow(document, self.banner, self)
        self.extract_flow = ExtractFlow(document, self.banner, self.members, self)
        self.temp_files = TempFiles(document, temp_dir, self)
        self.navigation = Navigation(document, self.hex_pane)
        self.arrows = Arrows(document, self.hex_pane.hex, self.navigation)
        self.members.drag_with(self.temp_files.files)
        self.findings.exportRequested.connect(self.export_flow.ask_report)
        self.findings.repairRequested.connect(self.plan_repairs)
        self.coverage = card(CoverageDock(document))
        card(self.hex_pane)
        self.area.setCentralWidget(self.hex_pane)
        left, right, bottom = (
            Qt.DockWidgetArea.LeftDockWidgetArea,
            Qt.DockWidgetArea.RightDockWidgetArea,
            Qt.DockWidgetArea.BottomDockWidgetArea,
        )
        self.docks = {
            "Members": self._dock("Members", self.members, left),
            "Structure": self._dock("Structure", self.structure, left),
            "Byte": self._dock("Byte", self.byte, right),
            "Findings": self._dock("Findings", self.findings, bottom),
            "Digests": self._dock("Digests", self.digests, bottom),
            "Header": self._dock("Header", self._make_header, bottom),
            "Changes": self._dock("Changes", self._make_changes, bottom),
            "Repair": self._dock("Repair", self._make_repair, bottom),
            "Requests": self._dock("Requests", self._make_requests, bottom),
            "Reader": self._dock("Reader", self._make_reader, bottom),
            "Experiment": self._dock("Experiment", self._make_experiment, bottom),
            "Diagram": self._dock("Diagram", self._make_diagram, bottom),
            "Replay": self._dock("Replay", self._make_replay, bottom),
            "Coverage": self.coverage,
        }
        self.panes = PaneFocus(document, self.area, self.hex_pane, self.docks)
        self.area.addDockWidget(Qt.DockWidgetArea.TopDockWidgetArea, self.coverage)
        beside_findings = ("Digests", "Header", "Changes", "Repair", "Requests", "Reader")
        for name in (*beside_findings, "Experiment", "Diagram", "Replay"):
            self.area.tabifyDockWidget(self.docks["Findings"], self.docks[name])
        self.docks["Findings"].raise_()
        self._first_layout = self.area.saveState(DOCKS_VERSION)
        for dock in self.docks.values():
            if isinstance(dock, LateDock):
                dock.hide()  # else it would be shown, and its panel made, with the tab
        self.quiet = QuietPanels(self.docks, self._speaking(), self)
        self.dock_titles = DockTitles(self.area, self.docks.values())
        self._found = 0
        self._sees_reader = False
        self._previewed: Edit | None = None
        self.editing.may_write = self._show_writes_once
        self.floating = FloatingDocks(self.docks.values())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.banner)
        layout.addWidget(self.error_actions)
        layout.addWidget(self.disk_watch.message)
        layout.addWidget(self.area)
        self.hex_pane.lookChanged.connect(self.byte.about.show_look)
        self.request_watch.kept.connect(self.hex_pane.map.setCached)
        self.error_actions.shown.connect(self.note.hide)  # it shows the same message
        self.editing.changed.connect(self.note.hide)  # its message is outdated
        self.editing.changed.connect(self._title_changes)
        self.banner.repairRequested.connect(self.plan_repairs)
        self.banner.checkRequested.connect(self.check)
        self.banner.showRequested.connect(self._show_finding)
        self.banner.readerChosen.connect(self._follow_reader)
        self.traced.connect(self._show_unread)
        self.docks["Reader"].visibilityChanged.connect(self._reader_seen)
        self.checking.changed.connect(self._check_changed)
        self.experiment.changed.connect(self._experiment_changed)
        self.replaying.changed.connect(self._replay_changed)
        document.statusChanged.connect(self._status_changed)
        for changed in (self.findings.model.rowsInserted, self.digests.model.rowsInserted):
            changed.connect(self.quiet.update)
        for changed in (self.editing.changed, self.editing.pastChanged, self.editing.modeChanged):
            changed.connect(self.quiet.update)
        self.whats_this = WhatsThis(document, self.hex_pane, self.docks, self.structure.tree, self)
        self._status_changed()

    @property
    def settled(self) -> bool:
        """Whether all requests are answered and shown."""
        return self.document.settled and self.coverage.settled

    def _new_dock(self, name: str) -> QDockWidget:
        """A dock that is the parent of its panel from the start."""
        return QDockWidget(_title(name), self.area)

    def _dock(self, name: str, panel: QWidget | Callable[[], QWidget], side: Qt.DockWidgetArea) -> QDockWidget:
        """The dock around a panel, or one for a panel that is made when it is first needed."""
        if isinstance(panel, QWidget):
            dock = panel.parentWidget()
            assert isinstance(dock, QDockWidget), name
            dock.setWidget(panel)
        else:
            dock = LateDock(_title(name), self.area, panel)
            dock.made.connect(self._panel_made)
        dock.setObjectName(name)
        card(dock)
        dock.setFeatures(
            QDockWidget.DockWidgetFeature.DockWidgetMovable
            | QDockWidget.DockWidgetFeature.DockWidgetFloatable
            | QDockWidget.DockWidgetFeature.DockWidgetClosable
        )
        self.area.addDockWidget(side, dock)
        return dock

    # ---- panels that are made when they are first needed -------------------------------------------------------

    @property
    def header(self) -> HeaderPanel:
        """The editor of the TACO header."""
        return cast("HeaderPanel", self._panel("Header"))

    @property
    def changes(self) -> ChangesPanel:
        """The pending and the earlier changes."""
        return cast("ChangesPanel", self._panel("Changes"))

    @property
    def repair(self) -> RepairPanel:
        """The repair plan."""
        return cast("RepairPanel", self._panel("Repair"))

    @property
    def request_panel(self) -> RequestsPanel:
        """The log of requests."""
        return cast("RequestsPanel", self._panel("Requests"))

    @property
    def reader(self) -> ReaderPanel:
        """The steps of other readers."""
        return cast("ReaderPanel", self._panel("Reader"))

    @property
    def experiment_panel(self) -> ExperimentPanel:
        """The steps of the experiment."""
        return cast("ExperimentPanel", self._panel("Experiment"))

    @property
    def diagram(self) -> DiagramPanel:
        """The shape of the archive."""
        return cast("DiagramPanel", self._panel("Diagram"))

    @property
    def replay_panel(self) -> ReplayPanel:
        """The writes of a replay."""
        return cast("ReplayPanel", self._panel("Replay"))

    @property
    def has_header(self) -> bool:
        """Whether the archive has a TACO header."""
        return self.document.has_header

    @property
    def has_steps(self) -> bool:
        """Whether the steps of a reader are shown."""
        return self._is_made("Reader") and bool(self.reader.model.steps)

    def _panel(self, name: str) -> QWidget:
        dock = self.docks[name]
        assert isinstance(dock, LateDock), name
        return dock.panel()

    def _is_made(self, name: str) -> bool:
        return self.docks[name].widget() is not None

    def _panel_made(self, panel: QWidget) -> None:
        """Do for a panel what is done once for all that is in a new tab."""
        leave_drops(panel)
        self.whats_this.watch(panel)
        name_focused_window(None, panel)

    def _make_header(self) -> HeaderPanel:
        from inspector.gui.panels.changing.header import HeaderPanel

        panel = HeaderPanel(self.document, self.editing)
        self.hex_pane.selectionChanged.connect(panel.set_marked)
        marked = self.hex_pane.hex.selection()
        panel.set_marked(marked.start, marked.stop)
        return panel

    def _make_changes(self) -> ChangesPanel:
        from inspector.gui.panels.changing.changes import ChangesPanel

        panel = ChangesPanel(self.document, self.editing)
        panel.copyRequested.connect(self.save_flow.ask_copy)
        panel.exportRequested.connect(self.save_flow.ask_export)
        panel.clearRequested.connect(self._ask_to_clear)
        panel.compareRequested.connect(self.compareRequested)
        return panel

    def _make_repair(self) -> RepairPanel:
        from inspector.gui.panels.changing.repair import RepairPanel

        panel = RepairPanel(self.document, self.editing)
        panel.changesRequested.connect(self.show_changes)
        panel.copyRequested.connect(self.save_flow.ask_repaired)
        panel.salvageRequested.connect(self.save_flow.ask_salvage)
        panel.planned.connect(self.quiet.update)
        return panel

    def _make_reader(self) -> ReaderPanel:
        from inspector.gui.panels.reader.panel import ReaderPanel

        panel = ReaderPanel(self.document)
        panel.traced.connect(self.traced)
        self.experiment.shown.connect(panel.follow_again)
        self.replaying.shown.connect(panel.follow_again)
        return panel

    def _make_experiment(self) -> ExperimentPanel:
        from inspector.gui.panels.changing.experiment import ExperimentPanel

        panel = ExperimentPanel(self.document, self.experiment)
        self.experiment_flow.serve(panel)
        return panel

    def _make_replay(self) -> ReplayPanel:
        from inspector.gui.panels.changing.replay import ReplayPanel

        panel = ReplayPanel(self.document, self.editing, self.replaying, self.repair.accepted)
        self.replay_flow.serve(panel)
        return panel

    def _make_requests(self) -> RequestsPanel:
        from inspector.gui.panels.requests import RequestsPanel

        return RequestsPanel(self.request_watch)

    def _make_diagram(self) -> DiagramPanel:
        from inspector.gui.panels.diagram.panel import DiagramPanel

        return DiagramPanel(self.document)

    # ---- what they say -----------------------------------------------------------------------------------------

    def _speaking(self) -> dict[str, Callable[[], bool]]:
        """Whether each panel at the foot has something to say."""
        editing = self.editing
        return {
            "Findings": lambda: bool(self.document.status.counts or self.findings.model.rowCount()),
            "Digests": lambda: self.digests.model.rowCount() > 0,
            "Header": lambda: self.has_header,
            "Changes": lambda: (
                editing.overwriting or editing.pending is not None or editing.can_take_back or bool(editing.past)
            ),
            "Repair": lambda: self._is_made("Repair") and self.repair.is_needed,
            "Requests": lambda: self.request_watch.is_remote,
            "Reader": lambda: self._is_made("Reader") and self.reader.is_needed,
            "Experiment": lambda: self.experiment.is_on,
            "Diagram": lambda: self._is_made("Diagram") and self.diagram.is_needed,
            "Replay": lambda: self.replaying.is_on,
        }

    def _status_changed(self) -> None:
        """Name the number of findings; show what now has something to say, and new errors and warnings in front."""
        counts = dict(self.document.status.counts)
        self.docks["Findings"].setWindowTitle(_title("Findings", sum(counts.values())))
        self.docks["Header"].toggleViewAction().setVisible(self.has_header)
        if self.has_header:  # it knows what an edit of the header would write, also while it is closed
            self._panel("Header")
        self.quiet.update()
        wrong = sum(number for severity, number in counts.items() if severity is not Severity.INFO)
        if wrong > self._found and self.editing.pending is None and not self.document.in_experiment:
            self.quiet.rise("Findings")
        self._found = wrong

    def _show_writes_once(self, edit: Edit) -> bool:
        """Show the writes of a header edit before they are made, unless they were shown; whether to make them now."""
        shown = not self._is_made("Header") or self.header.shows_writes(edit) or self._previewed is edit
        if shown or is_s3(self.document.location):  # what is sent to S3 is shown before it is agreed to
            return True
        self._previewed = edit
        self.show_header()
        self.document.reported.emit("These writes are pending, in this order. Press Ctrl+S again to make them.")
        return False

    def _check_changed(self) -> None:
        self._found = 0  # a check finds everything anew
        self.banner.set_checking(self.checking.running)

    def _show_finding(self, row: FindingRow) -> None:
        """Show the bytes of a finding, and all findings with this one selected."""
        self._show_dock("Findings")
        self.findings.show_finding(row)
        self.document.select_finding(row, "banner")

    def _ask_to_clear(self) -> None:
        writes = count(len(self.editing.past), "write")
        sentence = f"The old bytes of {writes} are kept, so that they can be taken back. Remove them?"
        self.banner.ask(sentence, "Remove Them", self.editing.forget_past)

    def _title_changes(self) -> None:
        pending = self.editing.pending
        self.docks["Changes"].setWindowTitle(_title("Changes", self.changes.model.count if pending else 0))
        self.banner.set_pending(pending is not None)

    def _experiment_changed(self) -> None:
        if self._is_made("Repair"):
            self.repair.forget()  # its plan is of other bytes
        self.note.hide()
        self.docks["Experiment"].setWindowTitle(_title("Experiment", len(self.experiment.steps)))
        self.banner.refresh()
        self.quiet.update()

    def _replay_changed(self) -> None:
        self.repair.forget()  # its plan is of other bytes
        self.banner.refresh()
        self.quiet.update()

    # ---- arrangement -------------------------------------------------------------------------------------------

    def arrange(self, state: QByteArray) -> None:
        """Restore an arrangement, or apply the default one if there is none."""
        if state.isEmpty() or not self.restore(state):
            self.reset_arrangement()
        if (layout := self.area.layout()) is not None:
            layout.activate()  # gives the docks their new sizes
        self._keep_rows()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._keep_rows()

    def _keep_rows(self) -> None:
        """Narrow the panels at the sides until rows of 16 bytes and their text fit, or the panels are at their least.

        Only in another width: what the user drags stays.
        """
        sides = [dock for side in SIDES if (dock := self._shown_at(side)) is not None]
        missing = self.hex_pane.wanted_width() - self.hex_pane.width()
        spare = [max(0, dock.width() - dock.minimumSizeHint().width()) for dock in sides]
        room = sum(spare)
        if missing > 0 and room:
            share = min(1.0, missing / room)
            widths = [dock.width() - ceil(each * share) for dock, each in zip(sides, spare, strict=True)]
            self.area.resizeDocks(sides, widths, Qt.Orientation.Horizontal)

    def _shown_at(self, side: Qt.DockWidgetArea) -> QDockWidget | None:
        """The widest visible panel at a side."""
        docks = [each for each in self.docks.values() if each.isVisible() and not each.isFloating()]
        found = (each for each in docks if self.area.dockWidgetArea(each) is side)
        return max(found, key=QDockWidget.width, default=None)

    def restore(self, state: QByteArray) -> bool:
        """Restore an arrangement of the docks; return whether it is valid."""
        if state == self.arrangement():
            return True
        with held(self.docks.values()):
            restored = self.area.restoreState(state, DOCKS_VERSION)
        # Qt creates new tab bars; until the old ones are deleted, they are painted over the panels.
        for bar in self.area.findChildren(QTabBar):
            QCoreApplication.sendPostedEvents(bar, QEvent.Type.DeferredDelete)
        self.coverage.update_visibility()
        return restored

    def show_speaking(self, closed: Collection[str], keep: str = "") -> None:
        """Show the panels at the foot that have something to say and are not ``closed``, and ``keep``."""
        self.docks["Requests"].toggleViewAction().setVisible(self.request_watch.is_remote)
        self.quiet.arrange(closed, keep)

    def reset_arrangement(self) -> None:
        """Apply the default arrangement, with sizes that suit the window."""
        self.restore(self._first_layout)
        with held(self.docks.values()):
            for dock in self.docks.values():
                dock.show()
        self.coverage.update_visibility()
        self.coverage.resize_to_bands()
        width, height = self.width(), self.height()
        sides = [self.docks["Members"], self.docks["Byte"]]
        # What rows of 16 bytes and the names beside them leave.
        free = width - self.hex_pane.wanted_width() - LANE_WIDTH
        size = [
            max(least, min(free * share // 100, width * most // 100))
            for least, (share, most) in zip(MIN_SIDE_WIDTHS, SIDE_SHARES, strict=True)
        ]
        self.area.resizeDocks(sides, size, Qt.Orientation.Horizontal)
        left = [self.docks["Members"], self.docks["Structure"]]
        self.area.resizeDocks(left, [height * 45 // 100, height * 55 // 100], Qt.Orientation.Vertical)
        self.area.resizeDocks(
            [self.docks["Findings"]], [min(MAX_BOTTOM_HEIGHT, max(180, height * 24 // 100))], Qt.Orientation.Vertical
        )
        self.docks["Findings"].raise_()
        self.show_speaking(())

    def arrangement(self) -> QByteArray:
        """The arrangement of the docks, to be stored."""
        return self.area.saveState(DOCKS_VERSION)

    # ---- focus -------------------------------------------------------------------------------------------------

    def next_pane(self) -> None:
        """Move the focus to the next pane."""
        self.panes.next_pane()

    def previous_pane(self) -> None:
        """Move the focus to the previous pane."""
        self.panes.previous_pane()

    def filter_members(self) -> None:
        """Focus the filter of the members."""
        self._show_dock("Members")
        self.members.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def open_inside(self) -> None:
        """Open the current member, or what is compressed here, as an archive of its own."""
        name = "" if self.can_unpack else self.members.chosen_name()
        if name is None:
            self.document.reported.emit("Select a member that is a file to open it as an archive.")
        else:
            self.openRequested.emit(f"{self.document.location}{INSIDE}{name}")

    @property
    def can_unpack(self) -> bool:
        """Whether the file is of no known format, and may be compressed."""
        status = self.document.status
        return status.format == "bytes" and status.stage is Stage.READY

    def copy_path(self) -> None:
        """Copy the paths of the selected members."""
        self.members.copy_paths()

    # ---- actions -----------------------------------------------------------------------------------------------

    def back(self) -> None:
        """Go back in the history."""
        self.document.step_history(-1)

    def forward(self) -> None:
        """Go forward in the history."""
        self.document.step_history(1)

    def next_finding(self) -> None:
        """Show the next finding."""
        self.findings.step(1)

    def previous_finding(self) -> None:
        """Show the previous finding."""
        self.findings.step(-1)

    def select_all(self) -> None:
        """Select all bytes of the layer."""
        self.hex_pane.select_all()

    def show_content(self) -> None:
        """Show the content of the selected member."""
        if self.document.selection.member is not None:
            self.document.open_content(self.document.selection.member)

    def check(self) -> None:
        """Check structure and checksums."""
        self.checking.start()

    def plan_repairs(self, code: str = "") -> None:
        """Plan repairs of the archive, or only the repair with a code."""
        self._show_dock("Repair")
        self._enlarge("Repair")
        self.repair.ask(code)
        self.repair.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_header(self) -> None:
        """Focus the editor of the TACO header."""
        if not self.has_header:
            from inspector.gui.panels.changing.header import ONLY_TACO

            self.document.reported.emit(ONLY_TACO)
            return
        self._show_dock("Header")
        self._enlarge("Header")
        self.header.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_reader(self) -> None:
        """Show the readers of the archive, and follow the first one unless one was followed."""
        self.reader.open()
        self._show_dock("Reader")
        self._enlarge("Reader", FULL_READER_HEIGHT, 52)
        self.reader.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_diagram(self) -> None:
        """Show the shape of the archive."""
        self.diagram.open()
        self._show_dock("Diagram")
        self._enlarge("Diagram", FULL_READER_HEIGHT, 52)
        self.diagram.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _follow_reader(self, name: str) -> None:
        """Follow this reader in its panel."""
        self.reader.follow_next(name)
        self.show_reader()

    def _reader_seen(self, seen: bool) -> None:
        self._sees_reader = seen
        self._show_unread()

    def _show_unread(self) -> None:
        """Grey out what the reader never reads, as long as its steps are seen; where its reads are not, nothing."""
        result = self.reader.result if self.has_steps else None
        if result is not None and result.reads > 0 and self._sees_reader:
            self.hex_pane.set_unread(result.layer, result.never)
        else:
            self.hex_pane.set_unread(0, ())

    def show_experiment(self) -> None:
        """Begin an experiment, and focus the list of its steps."""
        if self.experiment.begin():
            self._show_dock("Experiment")
            self.experiment_panel.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_replay(self) -> None:
        """Offer what can be replayed, or go on with the replay that is on."""
        if why := self.replaying.why_not:
            self.document.reported.emit(why)
            return
        self._show_dock("Replay")
        self._enlarge("Replay", FULL_READER_HEIGHT, 45)
        self.replay_panel.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_changes(self) -> None:
        """Focus the list of pending changes."""
        self._show_dock("Changes")
        self.changes.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_dock(self, name: str) -> None:
        self.docks[name].show()
        self.docks[name].raise_()

    def _enlarge(self, name: str, full: int = FULL_HEADER_HEIGHT, percent: int = 42) -> None:
        """Enlarge a bottom panel to show it in ``full``, up to ``percent`` of the tab's height."""
        size = min(full, self.height() * percent // 100)
        if (layout := self.area.layout()) is not None:
            layout.activate()  # a panel that was shown or hidden just now has not changed the heights yet
        if self.docks[name].height() < size:
            self.area.resizeDocks([self.docks[name]], [size], Qt.Orientation.Vertical)

    def export_report(self) -> None:
        """Ask where to write a report."""
        self.export_flow.ask_report()

    def write_manifest(self) -> None:
        """Write a digest manifest next to the archive."""
        self.export_flow.ask_manifest()

    def cancel(self) -> None:
        """Cancel the running job."""
        self.document.cancel_jobs()


class FloatingDocks:
    """Hides the floating docks of a tab while another tab is shown.

    The window calls it when tabs change. Hide events would not do: a window being closed or destroyed hides its
    widgets too, and by then its layout and docks must not be touched.
    """

    def __init__(self, docks: Iterable[QDockWidget]) -> None:
        self._docks = tuple(docks)
        self._hidden: list[QDockWidget] = []

    def hide(self) -> None:
        """Hide the visible floating docks until ``show``."""
        self._hidden = [dock for dock in self._docks if dock.isFloating() and not dock.isHidden()]
        for dock in self._hidden:
            dock.hide()

    def show(self) -> None:
        """Show the docks that ``hide`` hid."""
        for dock in self._hidden:
            dock.show()
        self._hidden = []
