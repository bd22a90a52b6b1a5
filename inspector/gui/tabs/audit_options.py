"""The fields above the results of an audit: its options and the filters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLineEdit, QWidget

from inspector.core.names import visible
from inspector.gui.kit.building import choice_of, dressed, in_row, number_of
from inspector.gui.kit.dropping import PathField
from inspector.gui.kit.files import ALL_FILES, ask_for_folder, ask_for_new_file
from inspector.gui.kit.locations import absolute, name_of
from inspector.gui.kit.style import GRID
from inspector.gui.kit.text import plain
from inspector.gui.kit.widgets import debounce, label_of, push_button
from inspector.gui.tabs.audit_model import state_label
from inspector.operations.protocol.audit_views import NO_ARCHIVE, STATES, AuditRequest
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.connection import DEFAULT, Connection

_FILTER_DELAY_MS = 200
"""Milliseconds after the last key before the text filter applies."""

MAX_WORKERS = 64
_MAX_TIP_PLACES = 20
"""The most places that a tooltip lists."""


class AuditOptions(QWidget):
    """The options of an audit.

    Signals:
        changed(): a field was edited.
        submitted(): Enter was pressed in a field.
    """

    changed = Signal()
    submitted = Signal()

    def __init__(self) -> None:
        super().__init__()
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
        self._browse = push_button("&Browse…", "", self.browse)
        self._choose = push_button("Choose…", "", self._ask_results)
        self._lay_out()
        for field in (self.place, self.results):
            field.textChanged.connect(self.changed)
            field.returnPressed.connect(self.submitted)
        for signal in (self.quick.toggled, self.workers.valueChanged):
            signal.connect(self.changed)
        self.setFocusProxy(self.place)
        self._places: tuple[str, ...] = ()
        self.place.textChanged.connect(self._forget_places)

    @property
    def places(self) -> tuple[str, ...]:
        """What to audit."""
        place = self.place.text().strip()
        return self._places or ((place if is_s3(place) else absolute(place),) if place else ())

    def set_places(self, places: Sequence[str]) -> None:
        """Audit these; the field names one of them and counts several."""
        several = len(places) > 1
        self.place.setText(several_places(places) if several else next(iter(places), ""))
        self._places = tuple(places) if several else ()
        more = [f"and {len(places) - _MAX_TIP_PLACES:,} more"] if len(places) > _MAX_TIP_PLACES else []
        self.place.setToolTip(plain("\n".join([*map(visible, places[:_MAX_TIP_PLACES]), *more])) if several else "")

    def _forget_places(self) -> None:
        """Another place was typed."""
        self._places = ()
        self.place.setToolTip("")

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, GRID)
        grid.setHorizontalSpacing(2 * GRID)
        grid.setVerticalSpacing(GRID)
        rows = (("Fol&der or prefix", self.place, self._browse), ("&Results file", self.results, self._choose))
        for at, (text, field, button) in enumerate(rows):
            grid.addWidget(label_of(text, field), at, 0)
            grid.addWidget(field, at, 1)
            grid.addWidget(button, at, 2)
        more = in_row(self.quick, label_of("&Processes", self.workers), self.workers, 1)
        more.insertSpacing(1, 2 * GRID)
        grid.addLayout(more, len(rows), 1, 1, 2)

    def request(self, connection: Connection = DEFAULT) -> AuditRequest:
        """The audit that the fields describe, with this S3 connection."""
        results = self.results.text().strip()
        return AuditRequest(
            self.places,
            self.quick.isChecked(),
            workers=self.workers.value(),
            results=absolute(results) if results else "",
            connection=connection,
        )

    def problem(self) -> str:
        """Why the audit cannot start, "" if it can."""
        return "" if self.places else "Choose a folder or an S3 prefix."

    def browse(self) -> None:
        """Ask for the folder to audit."""
        ask_for_folder(self, "Folder to Audit", self.set_places)

    def _ask_results(self) -> None:
        near, filters = self.results.text().strip(), ("Audit results (*.audit)", ALL_FILES)
        # An existing results file is resumed.
        dialog = ask_for_new_file(
            self, "Results File", "", self.results.setText, near, filters, "audit", confirms=False
        )
        dialog.setLabelText(dialog.DialogLabel.Accept, "Use")


def several_places(places: Sequence[str]) -> str:
    """Several locations in a few words."""
    return f"{name_of(places[0])} and {len(places) - 1:,} more"


class AuditFilters(QWidget):
    """The filters above the table: by text, state and format.

    Signals:
        changed(): ``choice`` has changed.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        hint = "Filter by location, sentence or code"
        self.text = dressed(QLineEdit(placeholderText=hint), "Filter results", clearButtonEnabled=True)
        labels = {(): "All states", STATES[2:]: "Anything wrong"}
        labels |= {(state,): state_label(state).capitalize() for state in (*STATES, NO_ARCHIVE)}
        self.states = choice_of("Filter by state", labels)
        self.formats = choice_of("Filter by format", {(): "All formats"})
        in_row((self.text, 1), self.states, self.formats, on=self)
        self._delay = debounce(self, _FILTER_DELAY_MS, self.changed.emit)
        self.text.textChanged.connect(lambda _: self._delay.start())
        self.states.currentIndexChanged.connect(lambda _: self.changed.emit())
        self.formats.currentIndexChanged.connect(lambda _: self.changed.emit())

    def clear(self) -> None:
        """Show all results."""
        self.text.clear()
        for box in (self.states, self.formats):
            box.setCurrentIndex(0)

    def offer(self, formats: Iterable[str]) -> None:
        """Add formats to the list."""
        known = {self.formats.itemText(at) for at in range(self.formats.count())}
        for name in formats:
            if name not in known:
                self.formats.addItem(name, (name,))

    @property
    def any(self) -> bool:
        """Whether any filter is set."""
        return bool(self.text.text() or self.states.currentIndex() or self.formats.currentIndex())

    def choice(self) -> dict[str, object]:
        """The fields of a Query."""
        return {
            "text": self.text.text().strip(),
            "states": self.states.currentData(),
            "formats": self.formats.currentData(),
        }
