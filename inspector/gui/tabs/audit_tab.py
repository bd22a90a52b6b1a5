"""The tab that audits a folder or an S3 prefix: options, progress and a table of results."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QPushButton, QWidget

from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes, rounded
from inspector.core.verdict import State
from inspector.drawing.palette import Mark
from inspector.gui.ipc.client import audit_client
from inspector.gui.kit.building import LINE, choice_of, dressed, in_column, in_row, number_of
from inspector.gui.kit.files import ALL_FILES, PathField, ask_for_folder, ask_for_new_file
from inspector.gui.kit.icons import icon, icon_of, mark_of
from inspector.gui.kit.item_views import ColumnWidener
from inspector.gui.kit.listing import ListView, QueryTable
from inspector.gui.kit.locations import absolute, name_of
from inspector.gui.kit.style import GRID, STRIPE_ROLE, Sentences, Stripes, keep_narrow
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.widgets import Details, Emptiable, FilterLine, label_of, push_button
from inspector.gui.tabs.job_tab import JobTab
from inspector.operations.protocol.audit_views import (
    MAX_STORED_FINDINGS,
    NO_ARCHIVE,
    STATES,
    UNCHECKED,
    WAITING,
    AuditRequest,
    AuditStatus,
    Query,
    Result,
)
from inspector.operations.protocol.requests import AuditRequests
from inspector.operations.protocol.views import JobState
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.connection import DEFAULT, Connection

POLL_MS = 700
"""Milliseconds between two refreshes while the audit runs."""
HINT = "Choose a folder or prefix and press Start: every archive below it is checked."
NOTHING = "No archive was found."
NONE_MATCH = "No match: no result fits the filters."
MAX_WORKERS = 64


# ---- results ---------------------------------------------------------------------------------------------------------

_STATE_LABELS = {
    UNCHECKED: "content not read",
    State.WARNING.value: "with warnings",
    NO_ARCHIVE: "no archive",
    WAITING: "not checked yet",
}


def state_label(state: str) -> str:
    """The label of a state."""
    return _STATE_LABELS.get(state, state)


def _worst_message(row: Result) -> str:
    """The message of the worst finding, "" if there are no errors or warnings."""
    return visible(json.loads(row.findings)[0]["message"]) if row.errors or row.warnings else ""


def line_text(row: Result) -> str:
    """A result as one line for the clipboard."""
    return f"{visible(row.location)}: {row.sentence or state_label(row.state)}"


def details_text(row: Result) -> str:
    """A result in full: the location, the sentence and the worst findings."""
    if row.state == WAITING:
        return f"{visible(row.location)}\n{in_bytes(row.size)}; not checked yet."
    findings = json.loads(row.findings)
    lines = [visible(row.location), row.sentence]
    lines += [visible(f"{each['severity']}: {each['message']} [{each['code']}]") for each in findings]
    more = row.errors + row.warnings + row.infos - len(findings)
    if more > 0:
        kept = f"only the worst {MAX_STORED_FINDINGS} are stored. Open the archive to see all."
        lines.append(f"{count(more, 'more finding')}; {kept}")
    read = "only the structure" if row.quick else "everything"
    was = f"{read} was read, in {row.seconds:,.2f} s."
    lines.append(f"{in_bytes(row.size)}, {count(row.members, 'member')}; {was}")
    return "\n".join(filter(None, lines))


def _icon(state: str) -> Any:
    if state in (UNCHECKED, WAITING):
        return icon("not-checked", Mark.QUIET)
    return icon("open") if state == NO_ARCHIVE else icon_of(State(state))


def _unless_waiting(text: Callable[[Result], str]) -> Callable[[Result], str]:
    return lambda row: "" if row.state == WAITING else text(row)


def _stripe(row: Result) -> Mark | None:
    return mark_of(State(row.state)) if row.state in list(State) else None


def columns(start: Callable[[], str]) -> tuple[Column, ...]:
    """The columns; locations are shown relative to what ``start`` gives."""
    return (
        Column(
            "Location",
            lambda row: visible(row.location.removeprefix(start())),
            250,
            lambda row: visible(row.location),
            sort="location",
            roles={STRIPE_ROLE: _stripe},
        ),
        Column("State", lambda row: state_label(row.state), 120, icon=lambda row: _icon(row.state), sort="state"),
        Column("Format", _unless_waiting(lambda row: row.format or ""), 65, sort="format"),
        Column("Size", lambda row: rounded(row.size), 75, lambda row: in_bytes(row.size), is_number=True, sort="size"),
        Column("Members", _unless_waiting(lambda row: grouped(row.members)), 75, is_number=True, sort="members"),
        Column("Errors", _unless_waiting(lambda row: grouped(row.errors)), 60, is_number=True, sort="errors"),
        Column("Warnings", _unless_waiting(lambda row: grouped(row.warnings)), 75, is_number=True, sort="warnings"),
        Column("What was found", _unless_waiting(lambda row: _worst_message(row) or row.sentence), sort="code"),
    )


LOCATION, STATE, FORMAT, SIZE, MEMBERS, ERRORS, WARNINGS, SENTENCE = range(8)


# ---- the tab ---------------------------------------------------------------------------------------------------------


def several_places(places: Sequence[str]) -> str:
    """Several locations in a few words."""
    return f"{name_of(places[0])} and {len(places) - 1:,} more"


class AuditTab(JobTab[AuditRequests]):
    """Runs one audit at a time; ``connection_of`` gives the connection of an S3 location.

    Signals:
        chosen(str): open this location.
    """

    chosen = Signal(str)

    def __init__(
        self, connection_of: Callable[[str], Connection] = lambda _: DEFAULT, places: Sequence[str] = ()
    ) -> None:
        super().__init__(_title(places), audit_client, "Stop; finished results stay")
        self._connection_of = connection_of
        self.standing = AuditStatus()
        self._places: tuple[str, ...] = ()
        self._start = ""
        hint = "a folder, or s3://bucket/prefix/"
        self.place = dressed(PathField(), "Folder or prefix to audit", placeholderText=hint)
        hint = "none (results are lost when this tab closes)"
        tip = "With a results file, a cancelled audit can be resumed"
        self.results = dressed(PathField(), "Results file", placeholderText=hint, toolTip=tip)
        tip = "Read the structure but no content: faster, but finds less"
        self.quick = dressed(QCheckBox("Structure on&ly"), toolTip=tip)
        tip = "The number of archives checked at the same time"
        self.workers = number_of("Number of processes", 0, MAX_WORKERS, 0, toolTip=tip)
        self.workers.setSpecialValueText("one per processor")
        self.options = QWidget()
        self.begin = push_button("S&tart", "", self.start)
        self.begin.setDefault(True)
        self.pause = dressed(QPushButton("Pa&use"), checkable=True, toolTip="Finish the running archives, then wait")
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
        self.filter = FilterLine(self.table, "Filter by location, sentence or code", "Filter results")
        labels = {(): "All states", STATES[2:]: "Anything wrong"}
        labels |= {(state,): state_label(state).capitalize() for state in (*STATES, NO_ARCHIVE)}
        self.states = choice_of("Filter by state", labels)
        self.formats = choice_of("Filter by format", {(): "All formats"})
        self.about = Details("The selected result in full")
        self.open = push_button("&Open", "Open the selected archive (Enter)", self._open_selected)
        self._stack = Emptiable(self.table)
        self._poll_timer = QTimer(self, interval=POLL_MS)
        self._lay_out()
        self._connect()
        several = len(places) > 1
        self.place.setText(several_places(places) if several else next(iter(places), ""))
        self._places = tuple(places) if several else ()
        self.setFocusProxy(self.table if places else self.place)
        self._refresh()

    def _lay_out(self) -> None:
        grid = QGridLayout(self.options)
        grid.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, GRID)
        grid.setHorizontalSpacing(2 * GRID)
        grid.setVerticalSpacing(GRID)
        rows = (
            (label_of("Fo&lder or prefix", self.place), self.place, push_button("&Browse…", "", self.browse)),
            (label_of("&Results file", self.results), self.results, push_button("Choose…", "", self.ask_results)),
        )
        for at, row in enumerate(rows):
            for column, widget in enumerate(row):
                grid.addWidget(widget, at, column)
        more = in_row(self.quick, label_of("&Processes", self.workers), self.workers, 1)
        more.insertSpacing(1, 2 * GRID)
        grid.addLayout(more, len(rows), 1, 1, 2)
        work = in_row(self.begin, self.pause, self.stop, (self.sentence, 1), self.bar, edge=LINE)
        edge = (2 * GRID, GRID, 2 * GRID, 2 * GRID)
        chosen = in_row((self.filter, 1), self.states, self.formats, self.open, edge=edge)
        in_column(keep_narrow(self.options), work, self.message, chosen, (self._stack, 1), self.about, on=self)

    def _connect(self) -> None:
        self.table.setSortingEnabled(True)
        self.table.horizontalHeader().setSortIndicator(LOCATION, Qt.SortOrder.AscendingOrder)
        for field in (self.place, self.results):
            field.textChanged.connect(self._refresh)
            field.returnPressed.connect(self.start)
        self.place.textChanged.connect(self._forget_places)
        self.pause.toggled.connect(self._pause)
        self.table.activated.connect(self.table.each_row(self._open))
        self.table.selectionModel().currentRowChanged.connect(self._describe)
        for changed in (self.filter.applied, self.states.currentIndexChanged, self.formats.currentIndexChanged):
            changed.connect(self._choose)
        self.model.rowsInserted.connect(self._refresh)
        self.model.rowsRemoved.connect(self._refresh)
        self.model.dataChanged.connect(self._describe)
        self._poll_timer.timeout.connect(self._poll)

    # ---- what is audited and shown -----------------------------------------------------------------------------

    @property
    def places(self) -> tuple[str, ...]:
        """What to audit; the field names one of several places and counts the others."""
        place = self.place.text().strip()
        return self._places or ((place if is_s3(place) else absolute(place),) if place else ())

    def _forget_places(self) -> None:
        self._places = ()

    def browse(self) -> None:
        """Ask for the folder to audit."""
        ask_for_folder(self, "Folder to Audit", lambda found: self.place.setText(found[0]))

    def ask_results(self) -> None:
        """Ask for the results file; an existing one is resumed."""
        near, filters = self.results.text().strip(), ("Audit results (*.audit)", ALL_FILES)
        take = self.results.setText
        dialog = ask_for_new_file(self, "Results File", "", take, near, filters, "audit", confirms=False)
        dialog.setLabelText(dialog.DialogLabel.Accept, "Use")

    def _choose(self, *_: object) -> None:
        states, formats = self.states.currentData(), self.formats.currentData()
        self.model.choose(text=self.filter.wanted, states=states, formats=formats)

    def _show_all(self) -> None:
        self.filter.clear()
        self.filter.apply()
        for box in (self.states, self.formats):
            box.setCurrentIndex(0)

    # ---- job ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the audit, or resume it from the results file."""
        if self.running:
            return
        if not self.places:
            self.message.say("Choose a folder or an S3 prefix.")
            self.place.setFocus()
            return
        results = self.results.text().strip()
        request = AuditRequest(
            self.places,
            self.quick.isChecked(),
            workers=self.workers.value(),
            results=absolute(results) if results else "",
            connection=self._connection_of(self.places[0]),
        )
        self._start = _common_folder(request.places)
        self.standing = AuditStatus()
        job = self.open_client().start(AuditRequests.audit, request).then(self._show_standing, self.message.say)
        self._follow(job, "Looking for archives…", self._job_finished)
        self.pause.setChecked(False)
        self._poll_timer.start()

    def _pause(self, paused: bool) -> None:
        self.pause.setText("Resu&me" if paused else "Pa&use")
        if self.job is not None:
            self.job.pause(paused)

    def end(self) -> None:
        self._poll_timer.stop()
        super().end()

    def _counted(self, state: JobState) -> str:
        done, left = self.standing.done.files, self.standing.left.files
        return f"{grouped(done)} of {count(done + left, 'file')}" if state.unit == "bytes" and done + left else ""

    def _poll(self) -> None:
        """Refresh the results unless the last answer is still outstanding."""
        if self.client.outstanding <= 1:
            self.client.ask(AuditRequests.status).then(self._show_standing)
            self.model.refetch()

    def _show_standing(self, standing: AuditStatus) -> None:
        self.standing = standing
        for name in standing.formats:
            if self.formats.findText(name) < 0:
                self.formats.addItem(name, (name,))
        if not self.running:
            self.sentence.setText(self._summary())
            self.sentence.setToolTip(standing.text)
        self._refresh()

    def _job_finished(self) -> None:
        self._poll_timer.stop()
        self.sentence.setText(self._summary())
        self.client.ask(AuditRequests.status).then(self._show_standing, self.message.say)
        self.model.refetch()

    def _lost(self, sentence: str) -> None:
        self._poll_timer.stop()
        stored = "Finished results are in the results file." if self.results.text().strip() else ""
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
            then = (
                "Start resumes" if self.results.text().strip() else "without a results file, Start begins from scratch"
            )
            sentences.append(f"{count(known.left.files, 'file')} not audited yet; {then}.")
        return " ".join(sentences)

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
            action = {NONE_MATCH: ("Clear the Filters", self._show_all), HINT: ("Browse…", self.browse)}
            self._stack.show_sentence(hint, *action.get(hint, ()))
        self._describe()

    def _why_empty(self) -> str:
        query = self.model.query
        if (query.text or query.states or query.formats) and self.standing.done.files:
            return NONE_MATCH
        if self.running:
            return "Waiting for the first results…"
        return NOTHING if self.job is not None and not self.standing.states else HINT

    def _describe(self, *_: object) -> None:
        row: Result | None = self.table.row()
        self.open.setEnabled(row is not None)
        text = details_text(row) if row is not None else ""
        if text != self.about.text():
            self.about.say(text)

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
