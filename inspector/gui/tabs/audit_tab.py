"""The tab that audits a folder or an S3 prefix: options, progress and a table of results."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QMenu, QPushButton

from inspector.core.numbers import count, grouped
from inspector.core.program.progress import Eta
from inspector.gui.ipc.client import Client, Job, audit_client
from inspector.gui.kit.building import LINE, dressed, in_column, in_row, progress_bar
from inspector.gui.kit.item_views import ColumnWidener
from inspector.gui.kit.listing import ListView, QueryTable
from inspector.gui.kit.locations import name_of
from inspector.gui.kit.style import GRID, Sentences, Stripes, keep_narrow
from inspector.gui.kit.widgets import Details, Emptiable, MessageBar, SelectableLabel, push_button
from inspector.gui.panels.status_line import show_progress
from inspector.gui.tabs.audit_model import LOCATION, SENTENCE, STATE, columns, details_text, line_text, state_label
from inspector.gui.tabs.audit_options import AuditFilters, AuditOptions, several_places
from inspector.gui.tabs.side_tab import SideTab
from inspector.operations.protocol.audit_views import AuditStatus, Query, Result
from inspector.operations.protocol.requests import AuditRequests
from inspector.operations.protocol.views import JobState
from inspector.sources.s3.connection import DEFAULT, Connection

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
        self.begin = push_button("S&tart", "", self.start)
        self.begin.setDefault(True)
        self.pause = dressed(QPushButton("Pa&use"), checkable=True, toolTip="Finish the running archives, then wait")
        self.stop = push_button("&Cancel", "Stop; finished results stay (Esc)", self.cancel)
        self.sentence = dressed(SelectableLabel(), "Progress of the audit")
        self.bar = progress_bar("Progress of the audit")
        self.message = MessageBar()
        self.filters = AuditFilters()
        self._start = ""
        self.model = QueryTable(
            columns(lambda: self._start),
            Query(),
            lambda *asked: self.client.ask(AuditRequests.page, *asked),
            ("sort", STATE),  # a first click shows the worst state first, for that is what is looked for among many
            self,
        )
        self.table = ListView(self.model, "Results of the audit", line_text)
        self.table.setItemDelegateForColumn(LOCATION, Stripes(self.table))
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        ColumnWidener(self.table, SENTENCE)
        self.table.setItemDelegateForColumn(SENTENCE, Sentences(self.table))
        self.about = Details("The selected result in full")
        self.open = push_button("&Open", "Open the selected archive (Enter)", self._open_selected)
        self._stack = Emptiable(self.table)
        self._poll_timer = QTimer(self, interval=POLL_MS)
        work = in_row(self.begin, self.pause, self.stop, (self.sentence, 1), self.bar, edge=LINE)
        edge = (2 * GRID, GRID, 2 * GRID, 2 * GRID)
        chosen = in_row((self.filters, 1), self.open, edge=edge)
        in_column(keep_narrow(self.options), work, self.message, chosen, (self._stack, 1), self.about, on=self)
        self._connect()
        self.options.set_places(places)
        self.setFocusProxy(self.table if places else self.options)
        self._refresh()

    def _connect(self) -> None:
        self.table.setSortingEnabled(True)
        self.table.horizontalHeader().setSortIndicator(LOCATION, Qt.SortOrder.AscendingOrder)
        self.options.submitted.connect(self.start)
        self.options.changed.connect(self._refresh)
        self.pause.toggled.connect(self._pause)
        self.table.extend_menu = self._add_actions
        self.table.activated.connect(self.table.each_row(self._open))
        self.table.selectionModel().currentRowChanged.connect(self._describe)
        self.filters.changed.connect(lambda: self.model.choose(**self.filters.choice()))
        self.model.rowsInserted.connect(self._refresh)
        self.model.rowsRemoved.connect(self._refresh)
        self.model.dataChanged.connect(self._describe)
        self._poll_timer.timeout.connect(self._poll)
        self._connect_client(self.client)

    def _connect_client(self, client: Client[AuditRequests]) -> None:
        """Use this worker from now on."""
        self.client = client
        client.lost.connect(self._worker_lost)

    # ---- job ---------------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether an audit is running or paused."""
        return self._job is not None and self._job.running

    @property
    def settled(self) -> bool:
        return not self.client.is_open or not (self.running or self.client.outstanding)

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
        self._start = _common_folder(request.places)
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

    def _describe(self, *_: object) -> None:
        row: Result | None = self.table.row()
        self.open.setEnabled(row is not None)
        text = details_text(row) if row is not None else ""
        if text != self.about.text():
            self.about.say(text)

    # ---- actions -----------------------------------------------------------------------------------------------

    def _add_actions(self, menu: QMenu) -> None:
        """Add Open and Sort By to the context menu: column titles sort by mouse only."""
        opening = menu.addAction("Open")
        opening.setEnabled(self.table.row() is not None)
        opening.triggered.connect(self._open_selected)
        sorting = menu.addMenu("Sort By")
        for at, column in enumerate(self.model.columns):
            sorting.addAction(column.title).triggered.connect(partial(self._sort, at))
        menu.addSeparator()

    def _sort(self, column: int, _: bool = False) -> None:
        """Sort by a column, or reverse the order if it is the current one."""
        header = self.table.horizontalHeader()
        ascending = (
            header.sortIndicatorSection() != column or header.sortIndicatorOrder() is Qt.SortOrder.DescendingOrder
        )
        self.table.sortByColumn(column, Qt.SortOrder.AscendingOrder if ascending else Qt.SortOrder.DescendingOrder)

    def _open_selected(self) -> None:
        self.table.each_row(self._open)(self.table.currentIndex())

    def _open(self, row: Result) -> None:
        self.chosen.emit(row.location)


def _title(places: Sequence[str]) -> str:
    """The title of a tab that audits these places; just that it is an audit if it is still to be said of what."""
    names = several_places(places) if len(places) > 1 else "".join(map(name_of, places))
    return ": ".join(filter(None, ("Audit", names)))


def _common_folder(places: Sequence[str]) -> str:
    """What all locations below these places begin with: the place if it is the only one, else their common folder."""
    if len(places) > 1:
        start = os.path.commonprefix([place.rpartition("/")[0] + "/" for place in places])  # noqa: RUF071 - cut below
        return start[: start.rfind("/") + 1]
    return places[0] if places[0].endswith("/") else f"{places[0]}/"
