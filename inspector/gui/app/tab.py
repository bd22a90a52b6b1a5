"""One document with its panels: the contents of a tab."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from importlib import import_module
from math import ceil
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from PySide6.QtCore import QByteArray, QCoreApplication, QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar, QTabWidget, QWidget

from inspector.core.edit import Edit
from inspector.core.finding import Severity
from inspector.core.numbers import count
from inspector.core.verdict import State
from inspector.gui.app.docks import DockTitles, LateDock, PaneFocus, QuietPanels
from inspector.gui.document.connections import Connections
from inspector.gui.document.document import Checking, Document
from inspector.gui.document.editing import Editing
from inspector.gui.document.trials import Experimenting, Replaying
from inspector.gui.document.watches import DiskWatch, ErrorActions, RequestWatch
from inspector.gui.flows.extract import ExtractFlow, dragged
from inspector.gui.flows.hex_overlays import Arrows, HexEditing, Navigation, OverlayLabel
from inspector.gui.flows.save import SaveFlow
from inspector.gui.flows.trials import TrialFlow
from inspector.gui.hex.hex_pane import HexPane
from inspector.gui.kit.building import Answer, ask, in_column
from inspector.gui.kit.files import TempDir
from inspector.gui.kit.help_texts import PANEL_LABELS
from inspector.gui.kit.locations import INSIDE
from inspector.gui.kit.style import card
from inspector.gui.kit.text import without_marks
from inspector.gui.panels.banner import Banner
from inspector.gui.panels.byte import BytePanel
from inspector.gui.panels.checksums import ChecksumsPanel
from inspector.gui.panels.findings import FindingsPanel
from inspector.gui.panels.members import MembersPanel
from inspector.gui.panels.structure import StructurePanel
from inspector.gui.tabs.side_tab import Page
from inspector.operations.protocol.views import FindingRow, Stage
from inspector.sources.s3.address import is_s3

if TYPE_CHECKING:  # each panel is loaded when it is made
    from inspector.gui.panels.changing.changes import ChangesPanel
    from inspector.gui.panels.changing.header import HeaderPanel
    from inspector.gui.panels.changing.repair import RepairPanel
    from inspector.gui.panels.changing.trials import ExperimentPanel, ReplayPanel
    from inspector.gui.panels.coverage.panel import CoveragePanel
    from inspector.gui.panels.diagram import DiagramPanel
    from inspector.gui.panels.reader import ReaderPanel
    from inspector.gui.panels.requests import RequestsPanel

MIN_SIDE_WIDTHS = (216, 160)
"""The least widths of the panels at the left and right: names and verdicts are read first."""
LANE_WIDTH = 210
"""Pixels that the panels at the sides leave to the names of structures."""
SIDE_SHARES = ((55, 22), (45, 18))
"""How much of what is left the panels at the left and right take, and of the width at most, in percent."""
MAX_BOTTOM_HEIGHT = 320
"""The greatest initial height of the bottom panels."""
LEFT, RIGHT = SIDES = (Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea)
TOP, FOOT = Qt.DockWidgetArea.TopDockWidgetArea, Qt.DockWidgetArea.BottomDockWidgetArea
DOCKS_VERSION = 7
"""The version of the dock arrangement; a stored one of another version is ignored."""
P = TypeVar("P", bound=QWidget)


class Late(Generic[P]):
    """A panel of a tab, made when it is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, tab: Tab, _: type) -> P:
        dock = tab.docks[self._name]
        assert isinstance(dock, LateDock), self._name
        return dock.panel()  # type: ignore[return-value]


class Tab(Page):
    """A document with its panels, flows and docks.

    Signals:
        traced(): the steps of a reader are shown, or none any more.
        compareRequested(int): compare with the state before this one of the earlier writes.
        openRequested(str): the user wants to open this location, which lies in the one that is shown.
    """

    traced = Signal()
    compareRequested = Signal(int)
    openRequested = Signal(str)
    has_bytes = True

    header: Late[HeaderPanel] = Late("Header")
    changes: Late[ChangesPanel] = Late("Changes")
    repair: Late[RepairPanel] = Late("Repair")
    request_panel: Late[RequestsPanel] = Late("Requests")
    reader: Late[ReaderPanel] = Late("Reader")
    experiment_panel: Late[ExperimentPanel] = Late("Experiment")
    diagram: Late[DiagramPanel] = Late("Diagram")
    replay_panel: Late[ReplayPanel] = Late("Replay")
    coverage: Late[CoveragePanel] = Late("Coverage")

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
        self.docks = {name: self._dock(name, panel) for name, panel in PANELS.items()}
        self.banner = Banner(document)
        self.hex_pane = HexPane(document, self.area)
        self.note = OverlayLabel(document, self.hex_pane)
        self.members = MembersPanel(document, self.docks["Members"])
        self.structure = StructurePanel(document, self.hex_pane.swatch, self.docks["Structure"])
        self.byte = BytePanel(document, self.hex_pane.inspector, self.docks["Byte"])
        self.findings = FindingsPanel(document, self.docks["Findings"])
        self.digests = ChecksumsPanel(document, self.docks["Digests"])
        for panel in (self.members, self.structure, self.byte, self.findings, self.digests):
            dock = panel.parentWidget()
            assert isinstance(dock, QDockWidget)
            dock.setWidget(panel)
        self.editing = Editing(document)
        self.experiment = Experimenting(document, self.editing)
        self.replaying = Replaying(document, self.editing)
        self.hex_editing = HexEditing(document, self.editing, self.experiment, self.replaying, self.hex_pane)
        self.request_watch = RequestWatch(document, self)
        self.error_actions = ErrorActions(self.request_watch)
        self.save_flow = SaveFlow(document, self.editing, self.banner, connections, self)
        self.trial_flow = TrialFlow(document, self.experiment, self.replaying, self.hex_pane, self.banner, self)
        self.disk_watch = DiskWatch(document, self.editing)
        self.disk_watch.reopen.connect(self.banner.reopen)
        self.checking = Checking(document)
        self.extract_flow = ExtractFlow(document, self.banner, self.members, self)
        self.navigation = Navigation(document, self.hex_pane)
        self.arrows = Arrows(document, self.hex_pane.hex, self.navigation)
        self.members.drag_with(partial(dragged, document, temp_dir))
        self.findings.exportRequested.connect(self.save_flow.ask_report)
        self.findings.repairRequested.connect(self.plan_repairs)
        self.area.setCentralWidget(card(self.hex_pane))
        self.panes = PaneFocus(document, self.area, self.hex_pane, self.docks)
        for name, row in PANELS.items():
            if row.side is FOOT and name != "Findings":
                self.area.tabifyDockWidget(self.docks["Findings"], self.docks[name])
        self.docks["Findings"].raise_()
        self._first_layout = self.area.saveState(DOCKS_VERSION)
        for dock in self.docks.values():
            if isinstance(dock, LateDock):
                dock.hide()  # else it would be shown, and its panel made, with the tab
        says = {name: partial(row.says, self) for name, row in PANELS.items() if row.side in (FOOT, TOP)}
        self.quiet = QuietPanels(self.docks, says, self)
        self.dock_titles = DockTitles(self.area, self.docks.values())
        self._hidden: list[QDockWidget] = []
        self._found = 0
        self._sees_reader = False
        self._previewed: Edit | None = None
        self.editing.may_write = self._show_writes_once
        in_column(self.banner, self.error_actions, self.disk_watch.message, self.area, on=self)
        self.hex_pane.lookChanged.connect(partial(self.byte.set_fact, "Looks like"))
        self.request_watch.kept.connect(lambda spans: self.hex_pane.map.show_state(cached=spans))
        self.error_actions.shown.connect(self.note.hide)  # it shows the same message
        self.editing.changed.connect(self.note.hide)  # its message is outdated
        self.editing.changed.connect(self._title_changes)
        self.editing.written.connect(self._offer_undo)
        self.note.acted.connect(self.ask_to_take_back)
        self.banner.repairRequested.connect(self.plan_repairs)
        self.banner.checkRequested.connect(self.checking.start)
        self.banner.showRequested.connect(self._show_finding)
        self.banner.readersRequested.connect(partial(self.open_panel, "Reader"))
        self.traced.connect(self._show_unread)
        self.docks["Reader"].visibilityChanged.connect(self._reader_seen)
        self.checking.changed.connect(self._check_changed)
        self.experiment.changed.connect(self._experiment_changed)
        self.replaying.changed.connect(self._bytes_changed)
        document.statusChanged.connect(self._status_changed)
        for changed in (
            *(self.findings.model.rowsInserted, self.digests.model.rowsInserted),
            *(self.editing.changed, self.editing.pastChanged, self.editing.modeChanged),
        ):
            changed.connect(self.quiet.update)
        self._status_changed()

    # ---- as a page ---------------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        return self.document.name

    @property
    def location(self) -> str:
        return self.document.location

    @property
    def state(self) -> State | None:
        return self.document.state if self.editing.pending is None else None

    @property
    def unsaved(self) -> str:
        if self.editing.pending is not None:
            return f"an unwritten change of {self.title}"
        if self.experiment.unsaved:
            return f"an experiment on {self.title} that is not saved"
        is_busy = any(not job.traits.only_shows for job in self.document.client.jobs)
        return f"a running job on {self.title}" if is_busy else ""

    @property
    def settled(self) -> bool:
        """Whether all requests are answered and shown."""
        return self.document.settled and not (self.is_made("Coverage") and not self.coverage.settled)

    def report(self, sentence: str) -> None:
        self.document.reported.emit(sentence)

    def go_to_expression(self, expression: str) -> None:
        self.document.go_to_expression(expression)
        self.hex_pane.setFocus()

    def find_pattern(self, pattern: bytes, backwards: bool, ignore_case: bool) -> None:
        self.document.find(pattern, backwards, ignore_case)

    def end(self) -> None:
        self.document.close()

    # ---- docks -------------------------------------------------------------------------------------------------

    def _dock(self, name: str, row: Panel) -> QDockWidget:
        """The dock of a panel, which is its parent from the start."""
        late = partial(LateDock, partial(self._make, row)) if row.place else QDockWidget
        dock = late(_title(name), self.area)
        dock.setObjectName(name)
        card(dock)
        self.area.addDockWidget(row.side, dock)
        return dock

    def _make(self, row: Panel) -> QWidget:
        module, _, kind = row.place.rpartition(".")
        panel: QWidget = getattr(import_module(f"inspector.gui.panels.{module}"), kind)(*row.needs(self))
        for signal, slot in row.wires.items():
            getattr(panel, signal).connect(slot(self))
        if row.ready is not None:
            row.ready(self, panel)
        return panel

    def is_made(self, name: str) -> bool:
        """Whether there is the panel of a dock."""
        return self.docks[name].widget() is not None

    def open_panel(self, name: str) -> None:
        """Show a panel in front and in full, and focus it."""
        row = PANELS[name]
        row.begin(self)
        self.panes.go_to_panel(name)
        full, percent = row.height
        size = min(full, self.height() * percent // 100)
        if (layout := self.area.layout()) is not None:
            layout.activate()  # a panel that was shown or hidden just now has not changed the heights yet
        if self.docks[name].height() < size:
            self.area.resizeDocks([self.docks[name]], [size], Qt.Orientation.Vertical)

    def _show_dock(self, name: str) -> None:
        self.docks[name].show()
        self.docks[name].raise_()

    def hide_floating(self) -> None:
        """Hide the floating docks until ``show_floating``: another tab is shown.

        Hide events would not do: a window being closed or destroyed hides its widgets too, and by then its layout and
        docks must not be touched.
        """
        self._hidden = [dock for dock in self.docks.values() if dock.isFloating() and not dock.isHidden()]
        for dock in self._hidden:
            dock.hide()

    def show_floating(self) -> None:
        """Show the docks that ``hide_floating`` hid."""
        for dock in self._hidden:
            dock.show()
        self._hidden = []

    # ---- what they say -----------------------------------------------------------------------------------------

    @property
    def has_steps(self) -> bool:
        """Whether the steps of a reader are shown."""
        return self.is_made("Reader") and bool(self.reader.model.steps)

    def _status_changed(self) -> None:
        """Name the number of findings; show what now has something to say, and new errors and warnings in front."""
        counts = dict(self.document.status.counts)
        self.docks["Findings"].setWindowTitle(_title("Findings", sum(counts.values())))
        self.docks["Coverage"].toggleViewAction().setVisible(self.document.status.collection)
        self.docks["Header"].toggleViewAction().setVisible(self.document.status.header_edited)
        if self.document.status.header_edited:
            _ = self.header  # it knows what an edit of the header would write, also while it is closed
        self.quiet.update()
        wrong = sum(number for severity, number in counts.items() if severity is not Severity.INFO)
        if wrong > self._found and self.editing.pending is None and not self.document.in_experiment:
            self.quiet.rise("Findings")
        self._found = wrong

    def _show_writes_once(self, edit: Edit) -> bool:
        """Show the writes of a header edit before they are made, unless they were shown; whether to make them now."""
        shown = not self.is_made("Header") or self.header.shows_writes(edit) or self._previewed is edit
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

    def ask_to_clear(self) -> None:
        """Ask whether to remove the old bytes of earlier writes."""
        writes = count(len(self.editing.past), "write")
        sentence = f"The old bytes of {writes} are kept, so that they can be taken back. Remove them?"
        self.banner.ask(sentence, "Remove Them", self.editing.forget_past)

    def _offer_undo(self, _: object) -> None:
        if self.editing.can_take_back:
            self.note.show_message(self.note.text.text(), "Undo")

    def ask_to_take_back(self) -> None:
        """Ask whether to write the old bytes of the last write back; what is sent to S3 is asked with its upload."""
        if not self.editing.can_take_back or is_s3(self.location):
            self.editing.take_back()
            return
        sentence = f"Take back the last write to {self.title}: {self.editing.last_write}?"
        answers = Answer("Take Back", self.editing.take_back), Answer("Cancel", is_default=True)
        ask(self, "Take Back the Last Write", sentence, *answers, more="The bytes from before are written to the file.")

    def _title_changes(self) -> None:
        pending = self.editing.pending
        self.docks["Changes"].setWindowTitle(_title("Changes", self.changes.model.count if pending else 0))
        self.banner.set_pending(pending is not None)

    def _experiment_changed(self) -> None:
        self.note.hide()
        self.docks["Experiment"].setWindowTitle(_title("Experiment", len(self.experiment.steps)))
        self._bytes_changed()

    def _bytes_changed(self) -> None:
        """Other bytes are shown, of an experiment or a replay."""
        if self.is_made("Repair"):
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
        LateDock.are_held = True  # what is arranged says afterwards which panels are shown
        restored = self.area.restoreState(state, DOCKS_VERSION)
        LateDock.are_held = False
        # Qt creates new tab bars; until the old ones are deleted, they are painted over the panels.
        for bar in self.area.findChildren(QTabBar):
            QCoreApplication.sendPostedEvents(bar, QEvent.Type.DeferredDelete)
        return restored

    def show_speaking(self, closed: Collection[str]) -> None:
        """Show the panels at the foot that have something to say and are not ``closed``."""
        self.docks["Requests"].toggleViewAction().setVisible(self.request_watch.is_remote)
        self.quiet.arrange(closed)

    def reset_arrangement(self) -> None:
        """Apply the default arrangement, with sizes that suit the window."""
        self.restore(self._first_layout)
        width, height = self.width(), self.height()
        members, structure, byte, findings = (self.docks[name] for name in ("Members", "Structure", "Byte", "Findings"))
        # What rows of 16 bytes and the names beside them leave.
        free = width - self.hex_pane.wanted_width() - LANE_WIDTH
        size = [
            max(least, min(free * share // 100, width * most // 100))
            for least, (share, most) in zip(MIN_SIDE_WIDTHS, SIDE_SHARES, strict=True)
        ]
        self.area.resizeDocks([members, byte], size, Qt.Orientation.Horizontal)
        heights = [height * 45 // 100, height * 55 // 100]
        self.area.resizeDocks([members, structure], heights, Qt.Orientation.Vertical)
        foot = min(MAX_BOTTOM_HEIGHT, max(180, height * 24 // 100))
        self.area.resizeDocks([findings], [foot], Qt.Orientation.Vertical)
        findings.raise_()
        self.show_speaking(())
        self.fit_coverage()

    def fit_coverage(self) -> None:
        """Show the first bands in full, once they are known."""
        if self.is_made("Coverage") and (height := self.coverage.wanted_height):
            self.area.resizeDocks([self.docks["Coverage"]], [height], Qt.Orientation.Vertical)

    def arrangement(self) -> QByteArray:
        """The arrangement of the docks, to be stored."""
        return self.area.saveState(DOCKS_VERSION)

    # ---- actions -----------------------------------------------------------------------------------------------

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

    def show_content(self) -> None:
        """Show the content of the selected member."""
        if self.document.selection.member is not None:
            self.document.open_content(self.document.selection.member)

    def plan_repairs(self, code: str = "") -> None:
        """Plan repairs of the archive, or only the repair with a code."""
        self.repair.ask(code)
        self.open_panel("Repair")

    def show_header(self) -> None:
        """Focus the editor of the TACO header."""
        if self.document.status.header_edited:
            self.open_panel("Header")
            return
        from inspector.gui.panels.changing.header import ONLY_TACO

        self.document.reported.emit(ONLY_TACO)

    def _reader_seen(self, seen: bool) -> None:
        self._sees_reader = seen
        self._show_unread()

    def _show_unread(self) -> None:
        """Grey out what the reader never reads, as long as its steps are seen; where its reads are not, nothing."""
        result = self.reader.result if self.has_steps else None
        is_seen = result is not None and result.reads > 0 and self._sees_reader
        self.hex_pane.mark(unread=(result.layer, result.never) if result is not None and is_seen else (0, ()))

    def show_experiment(self) -> None:
        """Begin an experiment, and focus the list of its steps."""
        if self.experiment.begin():
            self.open_panel("Experiment")

    def show_replay(self) -> None:
        """Offer what can be replayed, or go on with the replay that is on."""
        if why := self.replaying.why_not:
            self.document.reported.emit(why)
        else:
            self.open_panel("Replay")


def _title(name: str, number: int = 0) -> str:
    """The title of a panel, with the number of its rows if there are any."""
    title = without_marks(PANEL_LABELS[name])
    return f"{title} ({number:,})" if number else title


class Panel(NamedTuple):
    """A panel of a tab.

    Attributes:
        says: whether it has something to say; the panels at the foot take room only then.
        place: the class of one that is made when it is first needed, below ``inspector.gui.panels``.
        needs: the arguments of that class.
        wires: what is done when it emits a signal, by the signal's name.
        ready: what else is done when it is made.
        begin: what its action does before it shows it.
        height: the pixels of its height that show it in full, and the percentage of the tab's that it takes at most.

    """

    side: Qt.DockWidgetArea = FOOT
    says: Callable[[Tab], bool] = lambda _: True
    place: str = ""
    needs: Callable[[Tab], tuple[object, ...]] = lambda tab: (tab.document,)
    wires: Mapping[str, Callable[[Tab], Any]] = {}
    ready: Callable[[Tab, Any], object] | None = None
    begin: Callable[[Tab], object] = lambda _: None
    height: tuple[int, int] = (0, 0)


def _has_changes(tab: Tab) -> bool:
    editing = tab.editing
    return editing.overwriting or editing.pending is not None or editing.can_take_back or bool(editing.past)


def _follow_marked(tab: Tab, panel: HeaderPanel) -> None:
    tab.hex_pane.selectionChanged.connect(panel.set_marked)
    panel.set_marked(*tab.hex_pane.hex.selection())


def _follow_bytes(tab: Tab, panel: ReaderPanel) -> None:
    for shown in (tab.experiment.shown, tab.replaying.shown):
        shown.connect(panel.follow_again)


PANELS: dict[str, Panel] = {
    "Members": Panel(LEFT),
    "Structure": Panel(LEFT),
    "Byte": Panel(RIGHT),
    "Findings": Panel(says=lambda tab: bool(tab.document.status.counts or tab.findings.model.rowCount())),
    "Digests": Panel(says=lambda tab: tab.digests.model.rowCount() > 0),
    "Header": Panel(
        says=lambda tab: tab.document.status.header_edited,
        place="changing.header.HeaderPanel",
        needs=lambda tab: (tab.document, tab.editing),
        ready=_follow_marked,
        height=(250, 42),
    ),
    "Changes": Panel(
        says=_has_changes,
        place="changing.changes.ChangesPanel",
        needs=lambda tab: (
            *(tab.document, tab.editing, tab.save_flow.ask_copy, tab.save_flow.ask_export),
            *(tab.ask_to_clear, tab.compareRequested.emit),
        ),
    ),
    "Repair": Panel(
        says=lambda tab: tab.is_made("Repair") and tab.repair.is_needed,
        place="changing.repair.RepairPanel",
        needs=lambda tab: (
            *(tab.document, tab.editing, partial(tab.open_panel, "Changes")),
            *(tab.save_flow.ask_repaired, tab.save_flow.ask_salvage),
        ),
        wires={"planned": lambda tab: tab.quiet.update},
        height=(250, 42),
    ),
    "Requests": Panel(
        says=lambda tab: tab.request_watch.is_remote,
        place="requests.RequestsPanel",
        needs=lambda tab: (tab.request_watch,),
    ),
    "Reader": Panel(
        says=lambda tab: tab.is_made("Reader") and tab.reader.is_needed,
        place="reader.ReaderPanel",
        wires={"traced": lambda tab: tab.traced},
        ready=_follow_bytes,
        begin=lambda tab: tab.reader.open(),
        height=(420, 52),
    ),
    "Experiment": Panel(
        says=lambda tab: tab.experiment.is_on,
        place="changing.trials.ExperimentPanel",
        needs=lambda tab: (tab.document, tab.experiment, tab.trial_flow.ask_damage, tab.trial_flow.ask_save),
    ),
    "Diagram": Panel(
        says=lambda tab: tab.is_made("Diagram") and tab.diagram.is_needed,
        place="diagram.DiagramPanel",
        begin=lambda tab: tab.diagram.open(),
        height=(420, 52),
    ),
    "Replay": Panel(
        says=lambda tab: tab.replaying.is_on,
        place="changing.trials.ReplayPanel",
        needs=lambda tab: (
            tab.document,
            tab.editing,
            tab.replaying,
            tab.repair.accepted,
            tab.trial_flow.ask_append,
            tab.trial_flow.ask_save,
        ),
        height=(420, 45),
    ),
    "Coverage": Panel(
        TOP,
        says=lambda tab: tab.document.status.collection,
        place="coverage.panel.CoveragePanel",
        wires={"datasetsLoaded": lambda tab: tab.fit_coverage},
    ),
}
"""All panels, in the order of their tabs."""
