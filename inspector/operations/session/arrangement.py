"""Which members are shown, and in which order."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.operations.protocol.views import SortKey
from inspector.operations.session.archive_set import ArchiveSet
from inspector.operations.session.columns import column_of, names_between, names_of
from inspector.operations.session.name_order import NameOrder, Names, Numbers, kept, sort_names

NAMES_PER_STEP = 1 << 16
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
    """Filters and sorts the members of an archive set, and remembers the order of the names."""

    def __init__(self, archive_set: ArchiveSet) -> None:
        self._archive_set = archive_set
        self._whole: NameOrder | None = None
        self._plain: dict[tuple[int, int, int], bool] = {}

    def arrange(self, filter_text: str, key: SortKey, descending: bool, progress: Progress) -> Arrangement:
        """What to show: members whose visible path holds the text, whatever its case. Raises Cancelled."""
        count = len(self._archive_set)
        shown = self._matching(filter_text.lower(), count, progress) if filter_text else None
        if key is SortKey.NAME:
            whole = self.name_order(names_of(self._archive_set, count), progress)
            order = whole.order if shown is None else kept(whole, shown).order
        else:
            order = np.arange(count) if shown is None else np.flatnonzero(shown)
            if key is not SortKey.ARCHIVE:
                order = order[np.argsort(column_of(self._archive_set, key, count)[order], kind="stable")]
        return arranged(order[::-1] if descending else order, count)

    def name_order(self, names: Names, progress: Progress) -> NameOrder:
        """The members in the order of their paths, which are ``names``."""
        if self._whole is None or len(self._whole.order) != len(names):
            self._whole = sort_names(names, progress)
        return self._whole

    def _matching(self, needle: str, count: int, progress: Progress) -> Numbers:
        progress.begin("Filtering", count, "members")
        shown = np.zeros(count, bool)
        base = 0
        for at, here in enumerate(self._archive_set.counts(count)):
            for first in range(0, here, NAMES_PER_STEP):
                stop = min(here, first + NAMES_PER_STEP)
                blob, stops = names_between(self._archive_set, at, first, stop)
                matches = _plain_matches if self._is_plain((at, first, stop), blob) else _matches
                shown[base + first : base + stop] = matches(blob, stops, needle)
                progress.advance(stop - first)
            base += here
        return shown

    def _is_plain(self, window: tuple[int, int, int], blob: bytes | bytearray) -> bool:
        """Whether names are shown as they are and every character is a byte; remembered, for names do not change."""
        if window not in self._plain:
            self._plain[window] = not blob.translate(None, _PLAIN)
        return self._plain[window]


def _matches(blob: bytes | bytearray, stops: Numbers, needle: str) -> Numbers:
    """Which of these names hold the needle, as they are shown and in lower case."""
    starts = [0, *stops[:-1].tolist()]
    names = (bytes(blob[start:stop]) for start, stop in zip(starts, stops.tolist(), strict=True))
    return np.array([needle in visible(name).lower() for name in names], bool)


def _plain_matches(blob: bytes | bytearray, stops: Numbers, needle: str) -> Numbers:
    """Which of these names, all of plain ASCII, hold the needle: looked for in all of them at once."""
    shown = np.zeros(len(stops), bool)
    if not needle.isascii():
        return shown
    wanted = needle.encode()
    if wanted.upper() != wanted:
        blob = blob.lower()
    hits = np.array([match.start() for match in re.finditer(re.escape(wanted), blob)], np.int64)
    if not len(hits):
        return shown
    owners = np.searchsorted(stops, hits, "right")
    inside = hits + len(wanted) <= stops[owners]
    shown[owners[inside]] = True
    # A hit across the border of two names may hide one that begins inside it: those names are looked at one by one.
    for hit, owner in zip(hits[~inside].tolist(), owners[~inside].tolist(), strict=True):
        at = owner + 1
        while at < len(stops) and stops[at - 1] < hit + len(wanted):
            shown[at] |= wanted in blob[int(stops[at - 1]) : int(stops[at])]
            at += 1
    return shown
