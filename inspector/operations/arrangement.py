"""Which members are shown, and in which order."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.operations.columns import column_of, names_of
from inspector.operations.name_order import NameOrder, Names, Numbers, kept, sort_names
from inspector.operations.shelf import Shelf
from inspector.operations.views import SortKey

NAMES = 1 << 16
"""Names looked through between two chances to cancel."""
_PLAIN = bytes(range(0x20, 0x7F))


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Rows of the flat table: ``order`` are the members shown; ``rows`` the row of every member, -1 where hidden."""

    order: Numbers
    rows: Numbers

    def row(self, member: int) -> int | None:
        """The row of a member; None where it is not shown."""
        found = int(self.rows[member]) if member < len(self.rows) else -1
        return found if found >= 0 else None


def arranged(order: Numbers, members: int) -> Arrangement:
    """The arrangement with these members in this order."""
    rows = np.full(members, -1, np.int32)
    rows[order] = np.arange(len(order), dtype=np.int32)
    return Arrangement(order.astype(np.uint32), rows)


class Arranger:
    """Filters and sorts the members of a shelf, and remembers the order of the names."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._whole: NameOrder | None = None
        self._plain: list[bool] = []

    def arrange(self, filter_text: str, key: SortKey, descending: bool, progress: Progress) -> Arrangement:
        """What to show: members whose visible path holds the text, whatever its case. Raises Cancelled."""
        count = len(self._shelf)
        names = names_of(self._shelf, count) if filter_text or key is SortKey.NAME else None
        shown = self._matching(filter_text, names, progress) if filter_text and names is not None else None
        if key is SortKey.NAME and names is not None:
            whole = self.name_order(names, progress)
            order = whole.order if shown is None else kept(whole, shown).order
        else:
            order = np.arange(count) if shown is None else np.flatnonzero(shown)
            if key is not SortKey.ARCHIVE:
                order = order[np.argsort(column_of(self._shelf, key, count)[order], kind="stable")]
        return arranged(order[::-1] if descending else order, count)

    def name_order(self, names: Names, progress: Progress) -> NameOrder:
        """The members in the order of their paths, which are ``names``."""
        if self._whole is None or len(self._whole.order) != len(names):
            self._whole = sort_names(names, progress)
        return self._whole

    def _matching(self, text: str, names: Names, progress: Progress) -> Numbers:
        count = len(names)
        progress.begin("Filtering", count, "members")
        shown = np.zeros(count, bool)
        needle = text.lower()
        for first in range(0, count, NAMES):
            stop = min(count, first + NAMES)
            if self._is_plain(names, first, stop):
                shown[first:stop] = _plain_matches(names, first, stop, needle.encode("utf-8", "replace"))
            else:
                shown[first:stop] = [needle in _lowered(names[index]) for index in range(first, stop)]
            progress.advance(stop - first)
        return shown

    def _is_plain(self, names: Names, first: int, stop: int) -> bool:
        """Whether the names are shown as they are and every character is a byte; remembered of full windows."""
        window = first // NAMES
        if window < len(self._plain):
            return self._plain[window]
        plain = not _slice(names, first, stop).translate(None, _PLAIN)
        if window == len(self._plain) and stop - first == NAMES:
            self._plain.append(plain)
        return plain


def _lowered(name: bytes) -> str:
    return visible(name).lower()


def _slice(names: Names, first: int, stop: int) -> bytes:
    return names.blob[int(names.starts[first]) : int(names.stops[stop - 1])]


def _plain_matches(names: Names, first: int, stop: int, needle: bytes) -> Numbers:
    """Which of these names, all of plain ASCII, hold the needle: found in all of them at once."""
    shown = np.zeros(stop - first, bool)
    blob = _slice(names, first, stop).lower()
    hits = np.array([match.start() for match in re.finditer(re.escape(needle), blob)], np.int64)
    if not len(hits):
        return shown
    stops = names.stops[first:stop] - names.starts[first]
    owners = np.searchsorted(stops, hits, "right")
    inside = hits + len(needle) <= stops[owners]
    shown[owners[inside]] = True
    # A hit across the border of two names may hide one that begins inside it: those names are looked at one by one.
    for hit, owner in zip(hits[~inside].tolist(), owners[~inside].tolist(), strict=True):
        at = owner + 1
        while at < len(stops) and stops[at - 1] < hit + len(needle):
            start = int(stops[at - 1])
            shown[at] |= needle in blob[start : int(stops[at])]
            at += 1
    return shown
