"""The tab that audits a folder or an S3 prefix: options, progress and a table of results."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMenu, QProgressBar, QPushButton, QVBoxLayout

from inspector.core.numbers import count, grouped
from inspector.core.program.progress import Eta
from inspector.gui.document.session import SIDES, OpenTab
from inspector.gui.ipc.client import Client, Job, audit_client
from inspector.gui.kit.item_views import ColumnWidener, RowTable
from inspector.gui.kit.locations import name_of
from inspector.gui.kit.style import GRID, Sentences, Stripes, keep_narrow
from inspector.gui.kit.widgets import Details, Emptiable, MessageBar, SelectableLabel
from inspector.gui.panels.status_line import show_progress
from inspector.gui.tabs.audit_model import (
    ERRORS,
    FORMAT,
    LOCATION,
    MEMBERS,
    SENTENCE,
    SIZE,
    STATE,
    TITLES,
    WARNINGS,
    AuditModel,
    details_text,
    line_text,
    state_label,
)
from inspector.gui.tabs.audit_options import AuditFilters, AuditOptions, several_places
from inspector.gui.tabs.side_tab import SideTab
from inspector.operations.protocol.audit_views import AuditStatus, ExportKind, Result
from inspector.operations.protocol.requests import AuditRequests
from inspector.operations.protocol.views import JobState
from inspector.sources.s3.connection import DEFAULT, Connection

WIDTHS = {LOCATION: 250, STATE: 120, FORMAT: 65, SIZE: 75, MEMBERS: 75, ERRORS: 60, WARNINGS: 75}
POLL_MS = 700
"""Milliseconds between two refreshes while the audit runs."""
HINT = "Choose a folder or prefix and press Start: every archive below it is checked."
NOTHING = "No archive was found."
NONE_MATCH = "No match: no result fits the filters."


class AuditTab(SideTab):
    """Runs one audit at a time; ``connection_of`` gives the connection of an S3 location.

    Signals:
        chosen(str): open this location.
    """

    chosen = Signal(str)

    def __init__(
        self, connection_of: Callable[[str], Connection] = lambda _: DEFAULT, places: Sequence[str] = ()
    ) -> None:
        super().__init__(_title(places))
        self._connection_of = connection_of
        self.client = audit_client(self)
        self._job: Job[AuditStatus] | None = None
        self._eta = Eta(0.0)
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
        self.message = MessageBar()
        self.message.hide()
        self.filters = AuditFilters()
        self.model = AuditModel(self.client, self)
        self.table = RowTable(self.model, WIDTHS, "Results of the audit", line_text)
        self.table.setItemDelegateForColumn(LOCATION, Stripes(self.table))
        ColumnWidener(self.table, SENTENCE)
        self.table.setItemDelegateForColumn(SENTENCE, Sentences(self.table))
        self.about = Details("The selected result in full")
        self.open = QPushButton("&Open")
        self.open.setToolTip("Open the selected archive (Enter)")
        self.exporting = {kind: QPushButton(f"Export {kind.value.upper()}…") for kind in ExportKind}
        self._stack = Emptiable(self.table)
        self._poll_timer = QTimer(self)
        self._poll_timer.setInterval(POLL_MS)
        self._lay_out()
        self._connect()
        self.options.set_places(places)
        self.setFocusProxy(self.table if places else self.options)
        self._refresh()

    def _lay_out(self) -> None:
        work = QHBoxLayout()
        work.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        work.setSpacing(2 * GRID)
        for widget in (self.begin, self.pause, self.stop):
            work.addWidget(widget)
        work.addWidget(self.sentence, 1)
        self.bar.setFixedWidth(160)
        work.addWidget(self.bar)
        chosen = QHBoxLayout()
        chosen.setContentsMargins(2 * GRID, GRID, 2 * GRID, 2 * GRID)
        chosen.setSpacing(2 * GRID)
        chosen.addWidget(self.filters, 1)
        for button in (self.open, *self.exporting.values()):
            chosen.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(keep_narrow(self.options))
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
        self.table.extend_menu = self._add_actions
        self.table.activated.connect(self._open)
        self.table.selectionModel().currentRowChanged.connect(self._describe)
        self.filters.changed.connect(lambda: self.model.choose(**self.filters.choice()))
        for kind, button in self.exporting.items():
            button.clicked.connect(lambda _=False, kind=kind: self._ask_export(kind))
        self.model.rowsInserted.connect(self._refresh)
        self.model.rowsRemoved.connect(self._refresh)
        self.model.dataChanged.connect(self._describe)
        self._poll_timer.timeout.connect(self._poll)
        self._connect_client(self.client)

    def _connect_client(self, client: Client[AuditRequests]) -> None:
        """Use this worker from now on."""
        self.client = self.model.results.client = client
        client.lost.connect(self._worker_lost)

    # ---- job ---------------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether an audit is running or paused."""
        return self._job is not None and self._job.running

    @property
    def settled(self) -> bool:
        return not self.client.is_open or not (self.running or self.client.outstanding)

    @property
    def kept(self) -> OpenTab | None:
        return self.options.kept()

    def restore(self, stored: OpenTab) -> None:
        """Restore the fields of an earlier session; Start resumes the audit."""
        self.message.say(self.options.restore(stored))

    def start(self) -> None:
        """Start the audit, or resume it from the results file."""
        if self.running:
            return
        problem = self.options.problem()
        if problem:
            self.message.say(problem)
            self.options.place.setFocus()
            return
        self.message.hide()
        if not self.client.is_open:
            self._connect_client(audit_client(self))
        request = self.options.request(self._connection_of(self.options.places[0]))
        self.model.results.start = _common_folder(request.places)
        self.standing, self._eta = AuditStatus(), Eta(monotonic())
        self._job = self.client.start(AuditRequests.audit, request).then(self._show_standing, self.message.say)
        self._job.progressed.connect(self._progressed)
        self._job.finished.connect(self._job_finished)
        self.pause.setChecked(False)
        self.bar.setRange(0, 0)
        self.sentence.setText("Looking for archives…")
        self._poll_timer.start()
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
        self._poll_timer.stop()
        self.client.close()

    def _progressed(self, state: JobState) -> None:
        if self._job is None or self._job.cancelled:
            return
        show_progress(self.bar, state)
        done, left = self.standing.done.files, self.standing.left.files
        files = ""
        if state.unit == "bytes" and done + left:
            files = f"{grouped(done)} of {count(done + left, 'file')}"
        self.sentence.setText(self._eta.text(state, monotonic(), files))

    def _poll(self) -> None:
        """Refresh the results unless the last answer is still outstanding."""
        if self.client.outstanding <= 1:
            self.client.ask(AuditRequests.status).then(self._show_standing)
            self.model.refetch()

    def _show_standing(self, standing: AuditStatus) -> None:
        self.standing = standing
        self.filters.offer(standing.formats)
        if not self.running:
            self.sentence.setText(self._summary())
            self.sentence.setToolTip(standing.text)
        self._refresh()

    def _job_finished(self) -> None:
        self._poll_timer.stop()
        self.sentence.setText(self._summary())
        self.client.ask(AuditRequests.status).then(self._show_standing, self.message.say)
        self.model.refetch()
        self._refresh()

    def _worker_lost(self, sentence: str) -> None:
        self._poll_timer.stop()
        stored = "Finished results are in the results file." if self._has_results_file else ""
        self.message.say(" ".join(filter(None, (sentence, stored, "Start begins again."))))
        self._refresh()

    # ---- display -----------------------------------------------------------------------------------------------

    def _summary(self) -> str:
        known = self.standing
        if not known.done.files and not known.left.files:
            return ""
        states = ", ".join(f"{grouped(number)} {state_label(state)}" for state, number in known.states)
        archives, nothing = count(sum(number for _, number in known.states), "archive"), "nothing was audited"
        sentences = [f"{archives}: {states or nothing}."]
        if known.others:
            sentences.append(f"{count(known.others, 'other file was', 'other files were')} skipped.")
        if known.earlier.files:
            sentences.append(f"{count(known.earlier.files, 'file was', 'files were')} finished earlier.")
        if known.left.files:
            then = "Start resumes" if self._has_results_file else "without a results file, Start begins from scratch"
            sentences.append(f"{count(known.left.files, 'file')} not audited yet; {then}.")
        return " ".join(sentences)

    @property
    def _has_results_file(self) -> bool:
        """Whether results are stored in a file."""
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
            hint = self._why_empty()
            action = {NONE_MATCH: ("Clear the Filters", self.filters.clear), HINT: ("Browse…", self.options.browse)}
            self._stack.show_sentence(hint, *action.get(hint, ()))
        self._describe()

    def _why_empty(self) -> str:
        if self.filters.any and self.standing.done.files:
            return NONE_MATCH
        if self.running:
            return "Waiting for the first results…"
        return NOTHING if self._job is not None and not self.standing.states else HINT

    def _selected(self) -> Result | None:
        return self.model.row(self.table.currentIndex())

    def _describe(self, *_: object) -> None:
        row = self._selected()
        self.open.setEnabled(row is not None)
        text = details_text(row) if row is not None else ""
        if text != self.about.text():
            self.about.say(text)

    # ---- actions -----------------------------------------------------------------------------------------------

    def _add_actions(self, menu: QMenu) -> None:
        """Add Open and Sort By to the context menu: column titles sort by mouse only."""
        opening = menu.addAction("Open")
        opening.setEnabled(self._selected() is not None)
        opening.triggered.connect(self._open_selected)
        sorting = menu.addMenu("Sort By")
        for column, title in enumerate(TITLES):
            sorting.addAction(title).triggered.connect(partial(self._sort, column))
        menu.addSeparator()

    def _sort(self, column: int, _: bool = False) -> None:
        """Sort by a column, or reverse the order if it is the current one."""
        header = self.table.horizontalHeader()
        ascending = (
            header.sortIndicatorSection() != column or header.sortIndicatorOrder() is Qt.SortOrder.DescendingOrder
        )
        self.table.sortByColumn(column, Qt.SortOrder.AscendingOrder if ascending else Qt.SortOrder.DescendingOrder)

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
        """Write all results to a file and show the outcome."""
        self.client.start(AuditRequests.export, path, kind).then(self.message.say, self.message.say)


def _title(places: Sequence[str]) -> str:
    """The title of a tab that audits these places; just that it is an audit if it is still to be said of what."""
    names = several_places(places) if len(places) > 1 else "".join(map(name_of, places))
    return ": ".join(filter(None, (SIDES["audit"], names)))


def _common_folder(places: Sequence[str]) -> str:
    """What all locations below these places begin with: the place if it is the only one, else their common folder."""
    if len(places) > 1:
        start = os.path.commonprefix([place.rpartition("/")[0] + "/" for place in places])  # noqa: RUF071 - cut below
        return start[: start.rfind("/") + 1]
    return places[0] if places[0].endswith("/") else f"{places[0]}/"
