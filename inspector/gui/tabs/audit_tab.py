"""A tab that audits a folder or a prefix: its options, how far it is, and its results as a table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import monotonic

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMenu, QProgressBar, QPushButton, QVBoxLayout

from inspector.core.numbers import count, grouped, plural
from inspector.gui.document.session import SIDES, OpenTab
from inspector.gui.ipc.client import Job, audit_client
from inspector.gui.kit.eta import Eta
from inspector.gui.kit.message_bar import Message
from inspector.gui.kit.row_table import RowTable
from inspector.gui.kit.widgets import Details, Emptiable, SelectableLabel
from inspector.gui.panels.status_line import STEPS
from inspector.gui.tabs.audit_filters import Filters
from inspector.gui.tabs.audit_model import (
    ERRORS,
    FORMAT,
    LOCATION,
    MEMBERS,
    SIZE,
    STATE,
    TITLES,
    WARNINGS,
    AuditModel,
    described,
    line,
    state_words,
)
from inspector.gui.tabs.audit_options import AuditOptions
from inspector.gui.tabs.side_tab import SideTab
from inspector.operations.protocol.audit_views import AuditStatus, ExportKind, Result
from inspector.operations.protocol.requests import AuditRequests
from inspector.operations.protocol.views import JobState
from inspector.sources.s3.connection import DEFAULT, Connection

WIDTHS = {LOCATION: 250, STATE: 120, FORMAT: 65, SIZE: 75, MEMBERS: 75, ERRORS: 60, WARNINGS: 75}
LOOK = 700
"""Milliseconds between two looks at the results while the audit runs."""
BEGIN = "Choose a folder or prefix and press Start: every archive below it is checked."
NOTHING = "No archive was found."
NONE_CHOSEN = "No results match the filters."


class AuditTab(SideTab):
    """One audit at a time. ``connection_of`` says how a location on S3 is reached.

    Signals:
        chosen(str): a location is to be opened.
    """

    chosen = Signal(str)

    def __init__(self, connection_of: Callable[[str], Connection] = lambda _: DEFAULT) -> None:
        super().__init__(SIDES["audit"])
        self._connection_of = connection_of
        self.client = audit_client(self)
        self._job: Job[AuditStatus] | None = None
        self._pace = Eta(0.0)
        self.standing = AuditStatus()
        self.options = AuditOptions()
        self.begin = QPushButton("S&tart")
        self.begin.setDefault(True)
        self.pause = QPushButton("Pa&use")
        self.pause.setCheckable(True)
        self.pause.setToolTip("Finish the running archives, then wait")
        self.stop = QPushButton("&Cancel")
        self.stop.setToolTip("Stop; finished results stay (Esc)")
        self.sentence = SelectableLabel()
        self.sentence.setAccessibleName("Progress of the audit")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of the audit")
        self.message = Message()
        self.message.hide()
        self.filters = Filters()
        self.model = AuditModel(self.client, self)
        self.table = RowTable(self.model, WIDTHS, "Results of the audit", line)
        self.about = Details("The selected result in full")
        self.open = QPushButton("&Open")
        self.open.setToolTip("Open the selected archive (Enter)")
        self.exporting = {kind: QPushButton(f"Export {kind.value.upper()}…") for kind in ExportKind}
        self._stack = Emptiable(self.table)
        self._looking = QTimer(self)
        self._looking.setInterval(LOOK)
        self._lay_out()
        self._connect()
        self.setFocusProxy(self.options)
        self._refresh()

    def _lay_out(self) -> None:
        work = QHBoxLayout()
        work.setContentsMargins(10, 4, 8, 6)
        work.setSpacing(8)
        for widget in (self.begin, self.pause, self.stop):
            work.addWidget(widget)
        work.addWidget(self.sentence, 1)
        self.bar.setFixedWidth(160)
        work.addWidget(self.bar)
        chosen = QHBoxLayout()
        chosen.setContentsMargins(10, 2, 8, 4)
        chosen.setSpacing(6)
        chosen.addWidget(self.filters, 1)
        for button in (self.open, *self.exporting.values()):
            chosen.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.options)
        layout.addLayout(work)
        layout.addWidget(self.message)
        layout.addLayout(chosen)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.about)

    def _connect(self) -> None:
        self.table.setSortingEnabled(True)
        self.table.horizontalHeader().setSortIndicator(LOCATION, Qt.SortOrder.AscendingOrder)
        self.begin.clicked.connect(self.start)
        self.options.submitted.connect(self.start)
        self.options.changed.connect(self._refresh)
        self.options.changed.connect(self.keptChanged)
        self.pause.toggled.connect(self._pause)
        self.stop.clicked.connect(self.cancel)
        self.open.clicked.connect(self._open_selected)
        self.table.wanted = self._offer
        self.table.activated.connect(self._open)
        self.table.selectionModel().currentRowChanged.connect(self._describe)
        self.filters.changed.connect(lambda: self.model.choose(**self.filters.choice()))
        for kind, button in self.exporting.items():
            button.clicked.connect(lambda _=False, kind=kind: self._ask_export(kind))
        self.model.rowsInserted.connect(self._refresh)
        self.model.rowsRemoved.connect(self._refresh)
        self.model.dataChanged.connect(self._describe)
        self._looking.timeout.connect(self._look)
        self.client.lost.connect(self._lose)

    # ---- the work ----------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether an audit is under way, be it paused."""
        return self._job is not None and self._job.running

    @property
    def settled(self) -> bool:
        return not self.running and not self.client.outstanding

    @property
    def kept(self) -> OpenTab | None:
        return self.options.kept()

    def take_up(self, kept: OpenTab) -> None:
        """Show what an earlier session audited; it goes on when that is wanted."""
        self.message.say(self.options.take_up(kept))

    def start(self) -> None:
        """Begin, or go on with what the results file has not got yet."""
        if self.running:
            return
        trouble = self.options.trouble()
        if trouble:
            self.message.say(trouble)
            self.options.place.setFocus()
            return
        self.message.hide()
        wanted = self.options.wanted(self._connection_of(self.options.place.text().strip()))
        self.model.results.start = _folder(wanted.place)
        self.standing, self._pace = AuditStatus(), Eta(monotonic())
        self._job = self.client.start(AuditRequests.audit, wanted).then(self._take, self.message.say)
        self._job.progressed.connect(self._progressed)
        self._job.finished.connect(self._over)
        self.pause.setChecked(False)
        self.bar.setRange(0, 0)
        self.sentence.setText("Looking for archives…")
        self._looking.start()
        self._refresh()

    def _pause(self, paused: bool) -> None:
        self.pause.setText("Resu&me" if paused else "Pa&use")
        if self._job is not None and self.running:
            self._job.pause(paused)

    def cancel(self) -> None:
        if self._job is not None and self.running:
            self._job.cancel()
            self.sentence.setText("Stopping…")

    def end(self) -> None:
        self._looking.stop()
        self.client.close()

    def _progressed(self, state: JobState) -> None:
        if self._job is None or self._job.cancelled:
            return
        self.bar.setRange(0, STEPS if state.total else 0)
        self.bar.setValue(STEPS * state.done // state.total if state.total else 0)
        done, left = self.standing.done.files, self.standing.left.files
        files = ""
        if state.unit == "bytes" and done + left:
            files = f"{grouped(done)} of {count(done + left, 'file')}"
        self.sentence.setText(self._pace.tell(state, monotonic(), files))

    def _look(self) -> None:
        """Ask for what has come since; not twice, so that a slow answer does not pile up."""
        if self.client.outstanding <= 1:
            self.client.ask(AuditRequests.status).then(self._take)
            self.model.refetch()

    def _take(self, standing: AuditStatus) -> None:
        self.standing = standing
        self.filters.offer(standing.formats)
        if not self.running:
            self.sentence.setText(self._summary())
            self.sentence.setToolTip(standing.text)
        self._refresh()

    def _over(self) -> None:
        self._looking.stop()
        self.sentence.setText(self._summary())
        self.client.ask(AuditRequests.status).then(self._take, self.message.say)
        self.model.refetch()
        self._refresh()

    def _lose(self, sentence: str) -> None:
        self._looking.stop()
        kept = "Finished results are in the results file." if self._keeps else ""
        self.message.say(" ".join(filter(None, (sentence, kept, "Close this tab and start the audit again."))))
        self._refresh()

    # ---- words -------------------------------------------------------------------------------------------------

    def _summary(self) -> str:
        known = self.standing
        if not known.done.files and not known.left.files:
            return ""
        told = ", ".join(f"{grouped(number)} {state_words(state)}" for state, number in known.states)
        archives, nothing = count(sum(number for _, number in known.states), "archive"), "nothing was audited"
        words = [f"{archives}: {told or nothing}."]
        if known.others:
            words.append(plural("{number} other file left out.", "{number} other files left out.", known.others))
        if known.earlier.files:
            words.append(f"{count(known.earlier.files, 'file')} finished earlier.")
        if known.left.files:
            text = "{files} not audited yet; Start continues."
            if not self._keeps:
                text = "{files} not audited yet; Start begins again, as there is no results file."
            words.append(text.format(files=count(known.left.files, "file")))
        return " ".join(words)

    @property
    def _keeps(self) -> bool:
        """Whether results are kept in a file."""
        return bool(self.options.results.text().strip())

    def _refresh(self, *_: object) -> None:
        running, rows = self.running, self.model.rowCount()
        self.options.setEnabled(not running)
        self.begin.setEnabled(not running)
        self.pause.setEnabled(running)
        self.stop.setEnabled(running)
        self.bar.setVisible(running)
        for button in self.exporting.values():
            button.setEnabled(not running and self.standing.done.files > 0)
        if rows:
            self._stack.show_view(self.table)
        else:
            self._stack.show_sentence(self._why_empty())
        self._describe()

    def _why_empty(self) -> str:
        if self.filters.any and self.standing.done.files:
            return NONE_CHOSEN
        if self.running:
            return "Waiting for the first results…"
        return NOTHING if self._job is not None and not self.standing.states else BEGIN

    def _selected(self) -> Result | None:
        return self.model.row(self.table.currentIndex())

    def _describe(self, *_: object) -> None:
        row = self._selected()
        self.open.setEnabled(row is not None)
        text = described(row) if row is not None else ""
        if text != self.about.text():
            self.about.say(text)

    # ---- what can be done with results -------------------------------------------------------------------------

    def _offer(self, menu: QMenu) -> None:
        """What the menu of the table has beside copying; sorting too, which titles offer to the pointer alone."""
        opening = menu.addAction("Open")
        opening.setEnabled(self._selected() is not None)
        opening.triggered.connect(self._open_selected)
        sorting = menu.addMenu("Sort By")
        for column, title in enumerate(TITLES):
            sorting.addAction(title).triggered.connect(partial(self._sort, column))
        menu.addSeparator()

    def _sort(self, column: int, _: bool = False) -> None:
        """Sort by a column, the other way round where that was done already."""
        header = self.table.horizontalHeader()
        up = header.sortIndicatorSection() != column or header.sortIndicatorOrder() is Qt.SortOrder.DescendingOrder
        self.table.sortByColumn(column, Qt.SortOrder.AscendingOrder if up else Qt.SortOrder.DescendingOrder)

    def _open_selected(self) -> None:
        self._open(self.table.currentIndex())

    def _open(self, index: QModelIndex) -> None:
        row = self.model.row(index)
        if row is not None:
            self.chosen.emit(row.location)

    def _ask_export(self, kind: ExportKind) -> None:
        dialog = QFileDialog(self, f"Export Results as {kind.value.upper()}")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(kind.value)
        dialog.setNameFilters([f"{kind.value.upper()} (*.{kind.value})", "All files (*)"])
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: self.export(path, kind))
        dialog.open()

    def export(self, path: str, kind: ExportKind) -> None:
        """Write all results to a file; what came of it is said."""
        self.client.start(AuditRequests.export, path, kind).then(self.message.say, self.message.say)


def _folder(place: str) -> str:
    """What locations beneath a place begin with."""
    return place if place.endswith("/") else f"{place}/"
