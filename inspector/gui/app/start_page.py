"""The page shown while no tab is open: recent files, the last session, samples to try, and a drop area."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout

from inspector.core.names import visible
from inspector.core.numbers import count
from inspector.core.verdict import State
from inspector.gui.app.tabs import Tabs
from inspector.gui.kit.building import dressed, in_column, in_row, page_of, scrolling
from inspector.gui.kit.icons import Picture, icon, icon_of, program_icon
from inspector.gui.kit.locations import MAX_TABS_OPENED, name_of
from inspector.gui.kit.preferences import Settings
from inspector.gui.kit.style import GRID, PAGE_PX, TextSize, bold, font_of, secondary
from inspector.gui.kit.text import plain
from inspector.gui.kit.widgets import ElidedLabel, debounce, sentence_label
from inspector.resources import resource, samples
from inspector.sources.web.address import has_query

SAMPLE_COLUMNS = 2
SESSION = "session"
"""The setting that stores the open archives, as JSON."""
DEBOUNCE_MS = 1_000
"""Changes within this time are stored together."""
_MAX_NAMES = 3
"""The most tabs that the offer of a session names."""


def sample_notes(readme: Path) -> dict[str, tuple[str, str]]:
    """The state of each sample and the note on it, by file name, from the samples' README; empty if there is none."""
    try:
        lines = readme.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    found = {}
    for line in lines:
        cells = [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 3:
            found[cells[0]] = (cells[2], cells[1])
    return found


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
        self._shown_recent: Mapping[str, State | None] = {}
        self._was_painted = False
        outer.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt override: fill the lists after the first paint, which does not wait for them."""
        if event.type() is QEvent.Type.Paint and not self._was_painted:
            self._was_painted = True
            QTimer.singleShot(0, self, self._show_lists)
        return super().eventFilter(watched, event)

    def show_recent(self, recent: Mapping[str, State | None]) -> None:
        """List the recent locations, with the states they had when they were last open."""
        self._shown_recent = recent
        if self._was_painted:
            self._list_recent()

    def offer_session(self, text: str) -> None:
        """Offer to reopen the last session, described by ``text``; empty for no offer."""
        self._session_text.setText(text)
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
        entries = [
            self._entry(each, each.rstrip("/").rpartition("/")[0] if "://" in each else str(Path(each).parent), state)
            for each, state in self._shown_recent.items()
        ]
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
        mark = [Picture(icon_of(state), text.fontMetrics().height())] if state is not None else []
        layout = in_column(name, in_row(*mark, (text, 1), gap=GRID), on=button, edge=(0, GRID, 2 * GRID, GRID))
        button.setMinimumHeight(layout.sizeHint().height())
        button.clicked.connect(lambda: self.chosen.emit(location))
        return button


class Session(NamedTuple):
    """The locations of the tabs from left to right, and of the one shown."""

    locations: tuple[str, ...] = ()
    shown: str = ""

    @property
    def words(self) -> str:
        """A description: the number of tabs and the first names; empty for none."""
        names = [name_of(each) for each in self.locations[:_MAX_NAMES]]
        more = [f"{len(self.locations) - _MAX_NAMES} more"] if len(self.locations) > _MAX_NAMES else []
        return f"{count(len(self.locations), 'tab')}: {', '.join(names + more)}" if names else ""


NO_SESSION = Session()


def session_from_json(stored: str) -> Session:
    """The session in stored JSON; an empty one if it is invalid."""
    try:
        found: Any = json.loads(stored)
    except (ValueError, RecursionError):
        return NO_SESSION
    match found:
        case [list(locations), str(shown)] if all(isinstance(each, str) and each for each in locations):
            return Session(tuple(locations[:MAX_TABS_OPENED]), shown)
        case _:
            return NO_SESSION


class Sessions(QObject):
    """Stores which archives are open, and offers them at the next start. Holds no secrets.

    Nothing is stored before ``begin``, which screenshots, tests and further windows do not call.
    """

    def __init__(
        self,
        settings: Settings,
        tabs: Tabs,
        page: StartPage,
        reopen: Callable[[Sequence[str], str], object],
    ) -> None:
        super().__init__(tabs)
        self._settings = settings
        self._tabs = tabs
        self._page = page
        self._reopen = reopen
        self._stored: Session | None = None
        """What was stored last; None before ``begin``."""
        self.last = NO_SESSION
        self._timer = debounce(self, DEBOUNCE_MS, self.store)
        page.sessionWanted.connect(self.reopen_session)

    def begin(self) -> None:
        """Offer the last session, and store the open tabs from now on."""
        self.last = session_from_json(self._settings.text(SESSION))
        self._stored = NO_SESSION
        self._page.offer_session(self.last.words)
        for changed in (self._tabs.currentChanged, self._tabs.tabBar().tabMoved):
            changed.connect(lambda *_: self._timer.start())

    def store(self) -> None:
        """Store the open tabs now, unless nothing was ever open."""
        self._timer.stop()
        open_ones = (page.location for page in self._tabs.pages())
        locations = tuple(each for each in open_ones if each and not has_query(each))
        shown = self._tabs.shown_location()
        now = Session(locations, shown if shown in locations else "")
        if self._stored not in (None, now):
            self._stored = now
            self._settings.set_text(SESSION, json.dumps(now))

    def reopen_session(self) -> None:
        """Reopen the tabs of the last session."""
        if self.last == NO_SESSION:
            self._tabs.said.emit("No session to reopen: it is open already, or it had no tabs.")
            return
        last, self.last = self.last, NO_SESSION
        self._page.offer_session("")
        self._reopen(last.locations, last.shown)
