"""The bytes of one layer, fetched in pages on demand, and what they are shown with: tints, spans, outlines."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import dropwhile, islice, takewhile
from typing import NamedTuple

from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from inspector.core.field import Run, Structure
from inspector.core.span import Span, united
from inspector.drawing.byte_class import SMALL_BLOCK, look_of
from inspector.drawing.colouring import PAINTS, ColourBy, Paint, paint_of_look
from inspector.gui.ipc.client import Pending

PAGE = 4096
"""Bytes in a page, about one screen. Larger pages take too long where every byte is a field of its own."""
MAX_CACHED_PAGES = 512
"""Pages cached."""
_MAX_PAGES_PER_REQUEST = 16
"""The most pages in one request."""
_READ_BYTES = 64 * 1024
"""Bytes in one request for the clipboard."""

Deliver = Callable[[bytes, list[Run]], None]
Fetch = Callable[[int, int, Deliver], None]
Failed = Callable[[str], object]


def deliver_both(read: Pending[bytes], runs: Pending[list[Run]], deliver: Deliver, failed: Failed = bool) -> None:
    """Deliver the answers to two requests, that for the bytes having been asked first."""
    found: list[bytes] = []
    read.then(found.append, failed)
    runs.then(lambda known: deliver(b"".join(found), known), lambda _: deliver(b"".join(found), []))


class _Page(Struct):
    data: bytes
    tints: list[Tint]
    structures: list[Structure]
    generation: int


class HexModel(QObject):
    """``size`` bytes of one layer; the pages used last are cached.

    ``fetch(start, stop, deliver)`` calls ``deliver(bytes, runs)``, now or later, with the bytes ``[start, stop)`` and
    their runs; with fewer bytes if the rest cannot be read.

    Signals:
        changed(object start, object stop): the bytes ``[start, stop)`` have arrived.
        resized(): the size has changed.
    """

    changed = Signal(object, object)
    resized = Signal()

    def __init__(self, size: int, fetch: Fetch, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.size = size
        self._fetch = fetch
        self._pages: OrderedDict[int, _Page] = OrderedDict()
        self._overlay: list[tuple[int, bytes]] = []
        self._notes: list[Structure] = []
        self._by = ColourBy.STRUCTURE
        self._generation = 0
        self._asked: object = None
        """What the request that is on its way is known by."""
        self._requested = range(0)
        self._direction = 1

    def own(self, start: int, stop: int) -> Span:
        """Where the bytes at positions ``[start, stop)`` stand in the layer; empty where it has none there."""
        return Span(start, stop)

    def gaps(self, start: int, stop: int) -> list[Span]:  # noqa: ARG002 - for models that have some
        """The positions in ``[start, stop)`` at which no byte stands."""
        return []

    # ---- cached bytes ------------------------------------------------------------------------------------------

    def bytes_at(self, start: int, stop: int) -> list[tuple[int, bytes]]:
        """The cached bytes of ``[start, stop)``, as pieces with their offsets."""
        found: list[tuple[int, bytes]] = []
        for number, page in self._cached(start, stop):
            at = max(start, number * PAGE)
            piece = page.data[at - number * PAGE : stop - number * PAGE]
            if found and found[-1][0] + len(found[-1][1]) == at:
                at, before = found.pop()
                piece = before + piece
            found.append((at, piece))
        return [(at, self._overlaid(at, piece)) for at, piece in found if piece]

    def _cached(self, start: int, stop: int) -> Iterator[tuple[int, _Page]]:
        for number in _pages_of(start, stop):
            if (page := self._pages.get(number)) is not None:
                yield number, page

    def set_overlay(self, runs: list[tuple[int, bytes]]) -> None:
        """Show these bytes (offset, data) in place of the fetched ones; later runs win."""
        self._overlay = runs
        self.changed.emit(0, self.size)

    def _overlaid(self, at: int, piece: bytes) -> bytes:
        if not self._overlay:
            return piece
        data, stop = bytearray(piece), at + len(piece)
        for offset, run in self._overlay:
            low, high = max(at, offset), min(stop, offset + len(run))
            if low < high:
                data[low - at : high - at] = run[low - offset : high - offset]
        return bytes(data)

    def tints_at(self, start: int, stop: int) -> list[Tint]:
        """The cached tints of ``[start, stop)``."""
        pages = self._cached(start, stop)
        return [tint for _, page in pages for tint in clip_tints(page.tints, start, stop)]

    def structures_at(self, start: int, stop: int) -> list[Structure]:
        """The known structures that meet ``[start, stop)``, in file order, outer ones before those inside."""
        known = (each for _, page in self._cached(start, stop) for each in page.structures)
        distinct = {(each.start, each.path): each for each in known}
        return [each for each in (*distinct.values(), *self._notes) if each.start < stop and start < each.stop]

    def set_notes(self, notes: Sequence[Structure]) -> None:
        """Outline and name the user's notes as if they were structures."""
        if list(notes) != self._notes:
            self._notes = list(notes)
            self.changed.emit(0, self.size)

    def tints_of(self, runs: Iterable[Run]) -> list[Tint]:
        """The backgrounds of runs in file order."""
        return tints(runs, self._by)

    def colour_by(self, by: ColourBy) -> None:
        """Colour bytes by something else; pages are fetched again."""
        if by is not self._by:
            self._by = by
            self.invalidate()

    # ---- fetching ----------------------------------------------------------------------------------------------

    def request(self, start: int, stop: int) -> None:
        """Fetch the missing bytes of ``[start, stop)``, instead of those requested before.

        The next page in the direction of scrolling is fetched too.
        """
        pages = _pages_of(max(0, start), min(stop, self.size))
        if pages != self._requested and pages:
            before, self._requested = self._requested, pages
            if before:
                self._direction = 1 if pages.stop >= before.stop and pages.start >= before.start else -1
        for number in pages:
            if number in self._pages:
                self._pages.move_to_end(number)
        self._fetch_next()

    def invalidate(self, size: int | None = None) -> None:
        """Mark all pages as stale: they are shown until they are fetched again. ``size`` is the new size, if any."""
        self._generation += 1
        self._asked = None
        if size is not None and size != self.size:
            self.size = size
            last = -(-size // PAGE)
            for number in [number for number in self._pages if number >= last]:
                del self._pages[number]
            self._requested = range(self._requested.start, min(self._requested.stop, last))
            self.resized.emit()
        self._fetch_next()

    def read(self, start: int, stop: int, done: Callable[[bytes], None]) -> None:
        """Call ``done`` with the bytes ``[start, stop)`` of the layer, with fewer if reading fails.

        Cached bytes may be stale: what is copied or written over is what is there now.
        """
        collected = bytearray()

        def take(data: bytes, _: list[Run]) -> None:
            collected.extend(self._overlaid(start + len(collected), data))
            at = start + len(collected)
            if data and at < stop:
                self._fetch(at, min(at + _READ_BYTES, stop), take)
            else:
                done(bytes(collected))

        self._fetch(start, min(start + _READ_BYTES, stop), take)

    def _fetch_next(self) -> None:
        span = self._missing(self._requested) or self._missing(self._page_ahead())
        if self._asked is not None or span is None:
            return
        asked = self._asked = object()

        def deliver(data: bytes, runs: list[Run]) -> None:
            if asked is self._asked:
                self._take(span, data, runs)

        self._fetch_pages(*span, deliver)

    def _fetch_pages(self, start: int, stop: int, deliver: Deliver) -> None:
        """Fetch what stands at positions ``[start, stop)``."""
        self._fetch(start, stop, deliver)

    def _page_ahead(self) -> range:
        """The page after the requested ones, in the direction of scrolling."""
        number = self._requested.stop if self._direction > 0 else self._requested.start - 1
        return range(number, number + 1) if self._requested and 0 <= number * PAGE < self.size else range(0)

    def _missing(self, pages: range) -> Span | None:
        """The first run of missing or stale pages, as bytes."""
        first = next(dropwhile(self._is_fresh, pages), None)
        if first is None:
            return None
        missing = takewhile(lambda number: not self._is_fresh(number), pages[first - pages.start :])
        count = len(list(islice(missing, _MAX_PAGES_PER_REQUEST)))
        return Span(first * PAGE, min((first + count) * PAGE, self.size))

    def _is_fresh(self, number: int) -> bool:
        page = self._pages.get(number)
        return page is not None and page.generation == self._generation

    def _take(self, span: Span, data: bytes, runs: list[Run]) -> None:
        self._asked = None
        all_tints = look_tints(span.start, data) if self._by is ColourBy.ENTROPY else self.tints_of(runs)
        structures = structures_of(runs)
        for number in _pages_of(span.start, span.stop):
            start, stop = number * PAGE, min((number + 1) * PAGE, span.stop)
            piece = data[start - span.start : stop - span.start]
            inside = [each for each in structures if each.start < stop and start < each.stop]
            self._pages[number] = _Page(piece, clip_tints(all_tints, start, stop), inside, self._generation)
            self._pages.move_to_end(number)
        while len(self._pages) > MAX_CACHED_PAGES:
            self._pages.popitem(last=False)
        self.changed.emit(*span)
        self._fetch_next()


def _pages_of(start: int, stop: int) -> range:
    return range(start // PAGE, -(-stop // PAGE)) if start < stop else range(0)


# ---- tints, spans and outlines -----------------------------------------------------------------------------------


class Tint(NamedTuple):
    """Neighbouring bytes ``[start, stop)`` with the same background."""

    start: int
    stop: int
    paint: Paint


def tints(runs: Iterable[Run], by: ColourBy = ColourBy.KIND) -> list[Tint]:
    """Tints for runs in file order; neighbours of the same colour are merged."""
    paint_of = PAINTS[by]
    return _joined(Tint(run.start, run.stop, paint) for run in runs if (paint := paint_of(run)) is not None)


def _joined(found: Iterable[Tint]) -> list[Tint]:
    joined: list[Tint] = []
    for each in found:
        if joined and joined[-1].stop == each.start and joined[-1].paint == each.paint:
            each = joined.pop()._replace(stop=each.stop)  # noqa: PLW2901 - the two are one
        joined.append(each)
    return joined


def look_tints(start: int, data: bytes) -> list[Tint]:
    """Tints by what bytes look like, in whole blocks; ``start`` is the first byte of a block."""
    blocks = ((start + at, data[at : at + SMALL_BLOCK]) for at in range(0, len(data), SMALL_BLOCK))
    return _joined(Tint(at, at + len(block), paint_of_look(look_of(block).byte_class)) for at, block in blocks)


def structures_of(runs: Iterable[Run]) -> list[Structure]:
    """The structures around runs in file order, each piece once, outer ones before those inside."""
    found: dict[tuple[int, tuple[int, ...]], Structure] = {}
    for run in runs:
        chain = []
        structure = run.structure
        while structure is not None and (structure.start, structure.path) not in found:
            chain.append(structure)
            structure = structure.outer
        for each in reversed(chain):
            found[each.start, each.path] = each
    return list(found.values())


def clip_tints(sorted_tints: Sequence[Tint], start: int, stop: int) -> list[Tint]:
    """The parts of tints (in file order, disjoint) in ``[start, stop)``."""
    first = max(0, bisect_right(sorted_tints, start, key=lambda tint: tint.start) - 1)
    inside = takewhile(lambda tint: tint.start < stop, sorted_tints[first:])
    return [Tint(max(low, start), min(high, stop), paint) for low, high, paint in inside if high > start]


def merged(spans: Iterable[tuple[int, int]], size: int) -> list[Span]:
    """Spans clipped to ``size`` bytes and sorted; spans that overlap or touch are merged.

    An empty span, where something is missing, becomes the byte at it (the last byte at the end of the file), so that it
    can be seen.
    """
    lows = ((max(0, min(start, size - 1)), stop) for start, stop in spans)
    clipped = (Span(low, min(max(stop, low + 1), size)) for low, stop in lows)
    return united(span for span in clipped if span.size)


def overlaps(spans: Sequence[Span], start: int, stop: int) -> bool:
    """Whether any of merged ``spans`` overlaps ``[start, stop)``."""
    return bool(overlapping(spans, start, stop))


def overlapping(spans: Sequence[Span], start: int, stop: int) -> Sequence[Span]:
    """The merged ``spans`` that overlap ``[start, stop)``."""
    low = bisect_right(spans, start, key=lambda span: span.stop)
    return spans[low : bisect_left(spans, stop, lo=low, key=lambda span: span.start)]


Lines = list[tuple[int, int, int]]


def outline_of(start: int, stop: int, columns: int, rows: range) -> tuple[Lines, Lines]:
    """The outline of the bytes ``[start, stop)`` in ``rows`` of ``columns`` bytes; open where it leaves them.

    First come its sides, vertical lines ``(column, first row, row after)``, left of a column, or (``~column``) right of
    it; then its edges, horizontal lines ``(row, first column, column after)``, above a row, or (``~row``) below.
    """
    (first, left), (last, right) = divmod(start, columns), divmod(stop - 1, columns)
    if first == last:
        sides = [(left, first, first + 1), (~right, first, first + 1)]
        edges = [(first, left, right + 1), (~first, left, right + 1)]
    else:
        sides = [(left, first, first + 1), (~(columns - 1), first, last)]
        sides += [(0, first + 1, last + 1), (~right, last, last + 1)]
        edges = [(first, left, columns), (~last, 0, right + 1)]
        if first + 1 == last and right < left:  # the end of one row and the start of the next: two pieces
            edges += [(~first, left, columns), (last, 0, right + 1)]
        else:
            edges += [(first + 1, 0, left), (~(last - 1), right + 1, columns)]
    clipped = [(column, max(low, rows.start), min(high, rows.stop)) for column, low, high in sides]
    shown = [edge for edge in edges if edge[1] < edge[2] and max(edge[0], ~edge[0]) in rows]
    return [side for side in clipped if side[1] < side[2]], shown
