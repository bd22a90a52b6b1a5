"""Fetches the ranges of a document's collection, page by page, and follows what is known of them."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.gui.document.document import Document
from inspector.operations.protocol.coverage_views import DatasetRow, RangeRow
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Page

PAGE = 5_000
"""Ranges asked for at a time."""
LOOK = 400
"""Milliseconds between two looks at the states of ranges."""

_CHANGING = (ArchiveRequests.decode, ArchiveRequests.check)
"""Work during which states change."""


class RangeSource(QObject):
    """The datasets and ranges of a document that is a collection. No method waits.

    Signals:
        found(object): which datasets there are: a tuple of DatasetRow.
        filled(object): all ranges have come: a list of RangeRow.
        judged(object): the states of all ranges, as bytes.
        failed(str): why there is nothing to show.
    """

    found = Signal(object)
    filled = Signal(object)
    judged = Signal(object)
    failed = Signal(str)

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._begun = False
        self._rows: list[RangeRow] = []
        self._codes = bytearray()
        self._asking = False
        self._stale = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(LOOK)
        self._timer.timeout.connect(self._look)
        document.rowsChanged.connect(self._want_states)
        document.jobsChanged.connect(self._want_states)
        document.lost.connect(self._end)

    @property
    def settled(self) -> bool:
        """Whether the states that were told are the last there are."""
        return not (self._asking or self._stale or self._timer.isActive())

    def begin(self) -> None:
        """Ask for all there is."""
        if not self._begun:
            self._begun = True
            self._document.client.ask(ArchiveRequests.datasets).then(self._take_datasets, self.failed.emit)

    def _take_datasets(self, datasets: tuple[DatasetRow, ...]) -> None:
        self.found.emit(datasets)
        self._ask_for_rows()

    def _ask_for_rows(self) -> None:
        self._document.client.ask(ArchiveRequests.ranges, len(self._rows), PAGE).then(self._take_rows, self.failed.emit)

    def _take_rows(self, page: Page[RangeRow]) -> None:
        self._rows += page.rows
        if page.rows and len(self._rows) < page.total:
            self._ask_for_rows()
            return
        self.filled.emit(self._rows)
        self._look()

    def _want_states(self) -> None:
        if self._begun and not self._timer.isActive():
            self._timer.start()

    def _look(self) -> None:
        """Ask for all states, one page after another; who asks meanwhile is answered afterwards."""
        self._stale = self._asking
        if self._rows and not self._asking:
            self._asking = True
            self._codes = bytearray()
            self._ask_for_states()

    def _ask_for_states(self) -> None:
        self._document.client.ask(ArchiveRequests.range_states, len(self._codes), PAGE).then(
            self._take_states, self._lose_states
        )

    def _take_states(self, codes: bytes) -> None:
        self._codes += codes
        if codes and len(self._codes) < len(self._rows):
            self._ask_for_states()
            return
        self._asking = False
        self.judged.emit(bytes(self._codes))
        if self._stale or any(job.request in _CHANGING for job in self._document.client.jobs):
            self._stale = False
            self._want_states()

    def _end(self) -> None:
        """Nothing more will be answered."""
        self._timer.stop()
        self._asking = self._stale = False

    def _lose_states(self, sentence: str) -> None:
        self._asking = False
        self.failed.emit(sentence)
