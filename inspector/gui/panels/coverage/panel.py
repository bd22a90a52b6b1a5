"""The coverage panel: a band for each dataset, a legend and a line of text."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from inspector.core.collection import Range
from inspector.core.numbers import count
from inspector.gui.document.document import Document, Selection
from inspector.gui.kit.building import LINE, dressed, in_column, in_row, scrolling
from inspector.gui.kit.listing import read_pages
from inspector.gui.kit.style import GRID, secondary
from inspector.gui.kit.widgets import ElidedLabel, Emptiable, debounce, sentence_label
from inspector.gui.panels.coverage.view import BandView, CoverageLegend
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import DatasetRow, LayerKind, Page

RANGES_PER_REQUEST = 5_000
"""Ranges per request."""
POLL_MS = 400
"""Milliseconds between two requests for the states of ranges."""

_CHANGING = (ArchiveRequests.decode, ArchiveRequests.check)
"""Jobs during which states change."""

MAX_DATASETS = 300
"""Datasets that get a band; the rest is only counted."""
VISIBLE_DATASETS = 3
"""Datasets that fit into the initial height of the panel."""
_TITLE_PX = 30
"""Pixels: the height of a dock's title."""
_ORIGIN = "coverage"


class CoveragePanel(QWidget):
    """Shows the coverage of all datasets of a collection: fetches their ranges, then polls their states.

    Signals:
        datasetsLoaded(): there is a band for each dataset.
    """

    datasetsLoaded = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self.bands: list[BandView] = []
        self.description = secondary(dressed(ElidedLabel(elide=Qt.TextElideMode.ElideRight), "Description of the band"))
        self.legend = CoverageLegend()
        self._list = QWidget()
        self._rows = in_column(on=self._list)
        self._area = scrolling(self._list)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.stack = Emptiable(self._area)
        self.stack.show_sentence("Listing the ranges…")
        self.setFocusProxy(self.stack)
        foot = in_row((self.description, 1), self.legend, edge=LINE, gap=GRID)
        in_column((self.stack, 1), foot, on=self)
        self._number = 0
        self._is_waiting = False
        self._timer = debounce(self, POLL_MS, self._request_states)
        document.selected.connect(self._follow)
        document.rowsChanged.connect(self._schedule_states)
        document.jobsChanged.connect(self._schedule_states)
        document.lost.connect(self._stop)
        document.client.ask(ArchiveRequests.datasets).then(self._datasets_received, self.stack.show_sentence)

    @property
    def wanted_height(self) -> int:
        """The height of a dock that shows the first datasets and the line below them; 0 before there are any."""
        heights = [band.sizeHint().height() for band in self.bands[:VISIBLE_DATASETS]]
        return sum(heights) + self.description.sizeHint().height() + 16 + _TITLE_PX if heights else 0

    # ---- data --------------------------------------------------------------------------------------------------

    def _datasets_received(self, datasets: tuple[DatasetRow, ...]) -> None:
        for dataset in datasets[:MAX_DATASETS]:
            band = BandView(dataset)
            band.chosen.connect(lambda at, band=band: self._open(band, at))
            band.described.connect(self.description.setText)
            band.rangeSelected.connect(lambda band=band: self._clear_others(band))
            self.bands.append(band)
            self._rows.addWidget(band)
        if len(datasets) > MAX_DATASETS:
            more = count(len(datasets) - MAX_DATASETS, "more dataset")
            self._rows.addWidget(sentence_label(f"Not shown here: {more}. The members tree has all."))
        self._rows.addStretch(1)
        if self.bands:
            self.stack.show_view(self._area)
            self.setFocusProxy(self.bands[0])
            self.description.setText(
                "Click a range or press Enter to open it; arrows move between ranges; the wheel, +, - and 0 zoom."
            )
        else:
            self.stack.show_sentence("The collection contains no ranges.")
        self.datasetsLoaded.emit()
        client, fail = self._document.client, self.stack.show_sentence

        def ask(first: int, take: Callable[[Page[Range]], None]) -> None:
            client.ask(ArchiveRequests.ranges, first, RANGES_PER_REQUEST).then(take, fail)

        read_pages(ask, self._take_ranges)

    def _take_ranges(self, rows: list[Range]) -> None:
        self._number = len(rows)
        for band in self.bands:
            start = band.dataset.start
            band.set_ranges(rows[start : start + band.dataset.ranges])
        self._request_states()

    # ---- states ------------------------------------------------------------------------------------------------

    @property
    def settled(self) -> bool:
        """Whether the last states are final for now."""
        return not (self._is_waiting or self._timer.isActive())

    def _schedule_states(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _request_states(self) -> None:
        """Request all states, after those that are still to come."""
        if self._is_waiting:
            self._timer.start()
        elif self._number:
            self._is_waiting = True
            asked = self._document.client.ask(ArchiveRequests.range_states, 0, self._number)
            asked.then(self._take_states, self._states_failed)

    def _take_states(self, states: bytes) -> None:
        self._is_waiting = False
        for band in self.bands:
            start = band.dataset.start
            if (own := states[start : start + band.dataset.ranges]) != band.states:
                band.set_states(own)
        self.legend.show_bands([band.band for band in self.bands if band.band is not None], states)
        if any(job.request in _CHANGING for job in self._document.client.jobs):
            self._schedule_states()

    def _stop(self) -> None:
        """Stop polling: the worker is gone."""
        self._timer.stop()
        self._is_waiting = False

    def _states_failed(self, sentence: str) -> None:
        self._is_waiting = False
        self.stack.show_sentence(sentence)

    # ---- navigation --------------------------------------------------------------------------------------------

    def _open(self, band: BandView, at: int) -> None:
        """Go to the first member of a range, or to its first byte if it has none."""

        def go(member: int | None) -> None:
            if member is not None:
                self._document.select_member(member, _ORIGIN)
            else:
                self._document.go_to(band.dataset.start + at, 0, 0, _ORIGIN)

        self._document.client.ask(ArchiveRequests.first_of_range, band.dataset.start + at).then(
            go, self._document.reported.emit
        )

    def _clear_others(self, band: BandView) -> None:
        """Clear the selection in all other bands."""
        for other in self.bands:
            if other is not band:
                other.select(None)

    def _follow(self, selection: Selection) -> None:
        """Select the range whose bytes are shown; the layers of a collection have the numbers of its ranges."""
        info = self._document.layer_info(selection.layer)
        if info is None or info.kind is not LayerKind.FILE:
            return
        for band in self.bands:
            at = selection.layer - band.dataset.start
            mine = 0 <= at < len(band.states) and self._document.status.collection
            band.select(at if mine else None)
