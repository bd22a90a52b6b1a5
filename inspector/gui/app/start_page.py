"""The page shown while no tab is open: recent files, samples to try, and a drop area."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout

from inspector.core.names import visible
from inspector.core.verdict import State
from inspector.gui.kit.building import dressed, in_column, in_row, page_of, scrolling
from inspector.gui.kit.icons import Picture, icon, program_icon, state_icon
from inspector.gui.kit.style import GRID, PAGE_PX, TextSize, bold, font_of, secondary
from inspector.gui.kit.text import plain
from inspector.gui.kit.widgets import ElidedLabel, sentence_label
from inspector.resources import resource, samples

SAMPLE_COLUMNS = 2
_README_COLUMNS = ("sample", "what it is", "state")


def sample_notes(readme: Path) -> dict[str, tuple[str, str]]:
    """The state of each sample and the note on it, by file name, from the samples' README; empty if there is none."""
    try:
        lines = readme.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    found = {}
    for line in lines:
        cells = [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == len(_README_COLUMNS):
            name, what, state = cells
            found[name] = (state, what)
    return found


def _parent_of(location: str) -> str:
    """The folder or prefix of a location."""
    return location.rstrip("/").rpartition("/")[0] if "://" in location else str(Path(location).parent)


class StartPage(QScrollArea):
    """The start page.

    Signals:
        chosen(str): the user chose a location to open.
        openWanted(): the user wants to choose files.
        sessionWanted(): the user wants to reopen the last session.
    """

    chosen = Signal(str)
    openWanted = Signal()
    sessionWanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._recent = QGridLayout()
        self._samples = QGridLayout()
        self._recent_column = page_of(self._column("Recent", self._recent))
        self._recent_column.hide()
        lists = in_row(
            (self._recent_column, 1),
            (self._column("Samples to try", self._samples), SAMPLE_COLUMNS),
            gap=6 * GRID,
        )
        self._session_text = secondary(sentence_label())
        self.reopen = QPushButton(icon("reload"), "Reopen the Last Session", autoDefault=True)
        self.reopen.setToolTip("Reopen the tabs of the last session")
        self.reopen.clicked.connect(self.sessionWanted)
        self._session = page_of(in_row(self.reopen, (self._session_text, 1), gap=3 * GRID))
        self._session.hide()
        page = page_of(
            in_column(self._header(), self._drop_area(), self._session, lists, 1, edge=8 * GRID, gap=4 * GRID)
        )
        page.setMaximumWidth(PAGE_PX)
        outer = page_of(in_row(1, (page, 100), 1))
        scrolling(outer, self)
        self.setAccessibleName("Start page")
        self.sample_entries: list[QPushButton] = []
        self._locations: list[str] = []
        self._states: Mapping[str, State] = {}
        self._was_painted = False
        outer.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt override: fill the lists after the first paint, which does not wait for them."""
        if event.type() is QEvent.Type.Paint and not self._was_painted:
            self._was_painted = True
            QTimer.singleShot(0, self, self._show_lists)
        return super().eventFilter(watched, event)

    def show_recent(self, locations: list[str], states: Mapping[str, State]) -> None:
        """List the recent locations, with the states they had when they were last open."""
        self._locations = locations
        self._states = states
        if self._was_painted:
            self._list_recent()

    def offer_session(self, text: str, note: str) -> None:
        """Offer to reopen the last session, described by ``text``, with a note on how it ended; empty for no offer."""
        self._session_text.setText(f"{text}. {note}".strip() if note else text)
        self._session.setVisible(bool(text))

    def _show_lists(self) -> None:
        if not self.isVisible():  # what was opened meanwhile does not wait for them either
            self._was_painted = False
            return
        self._list_recent()
        notes = sample_notes(resource("samples", "README.md"))
        order = list(notes)
        paths = sorted(samples(), key=lambda path: order.index(path.name) if path.name in notes else len(order))
        self.sample_entries = [self._sample(str(path), *notes.get(path.name, ("", ""))) for path in paths]
        self._fill(self._samples, self.sample_entries, SAMPLE_COLUMNS, "No samples came with this installation.")

    def _list_recent(self) -> None:
        entries = [self._entry(each, _parent_of(each), self._states.get(each)) for each in self._locations]
        self._fill(self._recent, entries, 1)
        self._recent_column.setVisible(bool(entries))

    def _header(self) -> QHBoxLayout:
        title = QLabel("Archive Inspector")
        title.setFont(font_of(title, TextSize.TITLE))
        subtitle = secondary(sentence_label("See what every byte of a CAF, RCA, TACO or datas3t archive means."))
        return in_row(Picture(program_icon(), 10 * GRID), (in_column(title, subtitle), 1), gap=4 * GRID)

    def _drop_area(self) -> QFrame:
        area = dressed(QFrame(), objectName="drop")
        text = secondary(QLabel("Drop files or a folder here, or paste a path or an s3:// address"))
        button = QPushButton(icon("open"), "Open…", autoDefault=True)
        button.clicked.connect(self.openWanted)
        in_row(Picture(icon("drop"), 24), (text, 1), button, on=area, edge=4 * GRID, gap=3 * GRID)
        return area

    def _column(self, title: str, entries: QGridLayout) -> QVBoxLayout:
        label = QLabel(title)
        label.setFont(bold(label.font()))
        entries.setVerticalSpacing(0)
        entries.setHorizontalSpacing(3 * GRID)
        return in_column(label, entries, 1, gap=GRID)

    def _fill(self, grid: QGridLayout, entries: list[QPushButton], columns: int, placeholder: str = "") -> None:
        while (item := grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        per_column = -(-len(entries) // columns)
        for i, entry in enumerate(entries):
            grid.addWidget(entry, i % per_column, i // per_column)
        if not entries:
            grid.addWidget(secondary(sentence_label(placeholder)), 0, 0)
        for column in range(columns):
            grid.setColumnStretch(column, 1)

    def _sample(self, location: str, state: str, note: str) -> QPushButton:
        known = state in list(State)
        return self._entry(location, note if known else f"{state}: {note}", State(state) if known else None)

    def _entry(self, location: str, note: str, state: State | None = None) -> QPushButton:
        button = QPushButton(flat=True, autoDefault=True)  # Enter opens it
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        name = ElidedLabel(visible(Path(location).name or location))
        stated = note if state is None else f"{state.value} · {note}"
        text = ElidedLabel(visible(stated), Qt.TextElideMode.ElideRight)
        button.setAccessibleName(f"Open {name.text()}" if state is None else f"Open {name.text()}, {state.value}")
        button.setToolTip(plain(visible(location) if not note else f"{visible(location)}\n{visible(note)}"))
        name.setForegroundRole(name.palette().ColorRole.Link)
        text.setForegroundRole(text.palette().ColorRole.PlaceholderText)
        mark = [Picture(state_icon(state), text.fontMetrics().height())] if state is not None else []
        layout = in_column(name, in_row(*mark, (text, 1), gap=GRID), on=button, edge=(0, GRID, 2 * GRID, GRID))
        button.setMinimumHeight(layout.sizeHint().height())
        button.clicked.connect(lambda: self.chosen.emit(location))
        return button
