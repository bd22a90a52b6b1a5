"""The bytes of one layer and what is behind them, fetched in pages while they are looked at."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from inspector.core.field import Run
from inspector.core.span import Span
from inspector.gui.hex.highlights import Tint, tints, within

PAGE = 4096
"""Bytes in a page: a screen or so. Where every byte is a field of its own, more would take too long to fetch."""
KEPT = 512
"""Pages kept."""
_MOST_PAGES = 16
"""Pages asked for at once."""
_GATHERED = 64 * 1024
"""Bytes asked for at once for the clipboard."""

Deliver = Callable[[bytes, list[Run]], None]
Fetch = Callable[[int, int, Deliver], None]


@dataclass(slots=True)
class _Page:
    data: bytes
    tints: list[Tint]
    generation: int


class HexModel(QObject):
    """``size`` bytes of one layer, of which only those lately looked at are held.

    ``fetch(start, stop, deliver)`` is to have ``deliver(bytes, runs)`` called with the bytes ``[start, stop)`` and
    their runs, now or later, fewer bytes where there are no more.

    Signals:
        changed(object start, object stop): the bytes ``[start, stop)`` have arrived.
        resized(): the size is another one.
    """

    changed = Signal(object, object)
    resized = Signal()

    def __init__(self, size: int, fetch: Fetch, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.size = size
        self._fetch = fetch
        self._pages: OrderedDict[int, _Page] = OrderedDict()
        self._laid: list[tuple[int, bytes]] = []
        self._generation = 0
        self._request = 0
        self._fetching = False
        self._wanted = range(0)
        self._ahead = 1

    # ---- what is held ------------------------------------------------------------------------------------------

    def bytes_at(self, start: int, stop: int) -> list[tuple[int, bytes]]:
        """The bytes of ``[start, stop)`` that are here, as pieces with their offsets."""
        found: list[tuple[int, bytes]] = []
        for number in _pages_of(start, stop):
            page = self._pages.get(number)
            if page is None:
                continue
            base = number * PAGE
            piece = page.data[max(0, start - base) : stop - base]
            if not piece:
                continue
            at = max(start, base)
            if found and found[-1][0] + len(found[-1][1]) == at:
                at, before = found.pop()
                piece = before + piece
            found.append((at, piece))
        return [(at, self._overlaid(at, piece)) for at, piece in found] if self._laid else found

    def lay(self, runs: list[tuple[int, bytes]]) -> None:
        """Show these runs of bytes, one after another, in the place of what was fetched."""
        self._laid = runs
        self.changed.emit(0, self.size)

    def _overlaid(self, at: int, piece: bytes) -> bytes:
        data, stop = bytearray(piece), at + len(piece)
        for offset, run in self._laid:
            low, high = max(at, offset), min(stop, offset + len(run))
            if low < high:
                data[low - at : high - at] = run[low - offset : high - offset]
        return bytes(data)

    def tints_at(self, start: int, stop: int) -> list[Tint]:
        """What is behind the bytes of ``[start, stop)``, as far as it is here."""
        found: list[Tint] = []
        for number in _pages_of(start, stop):
            page = self._pages.get(number)
            if page is not None:
                found += within(page.tints, start, stop)
        return found

    # ---- fetching ----------------------------------------------------------------------------------------------

    def want(self, start: int, stop: int) -> None:
        """Have the bytes ``[start, stop)`` fetched where they are not here; what was wanted before no longer is.

        The page that comes next in the direction of wanting is fetched too.
        """
        pages = _pages_of(max(0, start), min(stop, self.size))
        if pages != self._wanted and pages:
            if self._wanted:
                self._ahead = 1 if pages.stop >= self._wanted.stop and pages.start >= self._wanted.start else -1
            self._wanted = pages
        for number in pages:
            if number in self._pages:
                self._pages.move_to_end(number)
        self._ask()

    def invalidate(self, size: int | None = None) -> None:
        """What is held may be out of date: it is shown until it is fetched again. The size may be another one."""
        self._generation += 1
        self._fetching = False
        if size is not None and size != self.size:
            self.size = size
            last = -(-size // PAGE)
            for number in [number for number in self._pages if number >= last]:
                del self._pages[number]
            self._wanted = range(self._wanted.start, min(self._wanted.stop, last))
            self.resized.emit()
        self._ask()

    def gather(self, start: int, stop: int, done: Callable[[bytes], None]) -> None:
        """Have ``done`` called with the bytes ``[start, stop)``, at once where they are here; fewer if there are."""
        pieces = self.bytes_at(start, stop)
        if pieces and len(pieces[0][1]) == stop - start:
            done(pieces[0][1])
            return
        gathered = bytearray()

        def take(data: bytes, _: list[Run]) -> None:
            gathered.extend(self._overlaid(start + len(gathered), data))
            at = start + len(gathered)
            if data and at < stop:
                self._fetch(at, min(at + _GATHERED, stop), take)
            else:
                done(bytes(gathered))

        self._fetch(start, min(start + _GATHERED, stop), take)

    def _ask(self) -> None:
        if self._fetching:
            return
        span = self._missing(self._wanted) or self._missing(self._next())
        if span is None:
            return
        self._fetching = True
        self._request += 1
        request, generation = self._request, self._generation

        def deliver(data: bytes, runs: list[Run]) -> None:
            if request == self._request and generation == self._generation:
                self._take(span, data, runs)

        self._fetch(span.start, span.stop, deliver)

    def _next(self) -> range:
        """The page after those wanted, in the direction in which they move."""
        number = self._wanted.stop if self._ahead > 0 else self._wanted.start - 1
        return range(number, number + 1) if self._wanted and 0 <= number * PAGE < self.size else range(0)

    def _missing(self, pages: range) -> Span | None:
        """The first stretch of pages that are not here or out of date."""
        missing = [number for number in pages if not self._fresh(number)]
        if not missing:
            return None
        count = 1
        while count < min(len(missing), _MOST_PAGES) and missing[count] == missing[0] + count:
            count += 1
        return Span(missing[0] * PAGE, min((missing[0] + count) * PAGE, self.size))

    def _fresh(self, number: int) -> bool:
        page = self._pages.get(number)
        return page is not None and page.generation == self._generation

    def _take(self, span: Span, data: bytes, runs: list[Run]) -> None:
        self._fetching = False
        behind = tints(runs)
        for number in _pages_of(span.start, span.stop):
            start, stop = number * PAGE, min((number + 1) * PAGE, span.stop)
            piece = data[start - span.start : stop - span.start]
            self._pages[number] = _Page(piece, within(behind, start, stop), self._generation)
            self._pages.move_to_end(number)
        while len(self._pages) > KEPT:
            self._pages.popitem(last=False)
        self.changed.emit(*span)
        self._ask()


def _pages_of(start: int, stop: int) -> range:
    return range(start // PAGE, -(-stop // PAGE)) if start < stop else range(0)
