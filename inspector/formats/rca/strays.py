"""Whole segments anywhere in the file, whatever the chunks say (RCA: "Reset blocks (block type 0)").

Bytes that were lost or inserted before a chunk header, or in front of the archive, leave segments where the chain of
chunks does not lead, and what is left of an older archive behind a new one has none. A segment begins with a blob that
opens a zstd frame, perhaps after a reset block, and is proved by the hash in the reset block that follows it. Time is
linear in the bytes searched: all that is followed is counted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from inspector.core.archive import Archive, Emitter
from inspector.core.member import Codec, Members
from inspector.core.program.progress import Progress
from inspector.core.source import Source, SplicedSource
from inspector.core.span import Span, total
from inspector.formats._signatures import found_outside
from inspector.formats._zstd import MAGIC
from inspector.formats.rca.blobs import Decoding
from inspector.formats.rca.blocks import HASH_SIZE, RESET, walk
from inspector.formats.rca.chunks import ChunkLayer
from inspector.formats.rca.layout import Layout
from inspector.formats.rca.search import Budget, Follower

BUDGET_SHARE = 4
"""The fraction of the budget of a search that following segments may cost: 4 for a quarter."""
MAX_STRAYS = 10_000
"""Segments that are kept."""
MAX_SEARCHED_BYTES = 64 << 20
"""Bytes that are searched."""
MAX_SCANS = 4
"""Times that the file is searched for the hash of its last segment."""
_WINDOW_BYTES = 1 << 20


class Stray(Struct, frozen=True):
    """A proved segment: its first blob begins at ``start``, and it ends at ``stop``; the names of its blobs."""

    start: int
    stop: int
    names: tuple[bytes, ...]


def find_strays(
    source: Source, taken: Sequence[Span], known: frozenset[bytes], progress: Progress
) -> tuple[tuple[Stray, ...], bool]:
    """The proved segments outside the spans ``taken`` with a name that is not ``known``, and whether all was searched.

    Raises SourceError and Cancelled.
    """
    found: list[Stray] = []
    loose = _Loose(source, progress)
    names = set(known)
    free = 0
    progress.begin("Looking for whole segments", min(source.size, MAX_SEARCHED_BYTES))
    for frame in found_outside(source, MAGIC, taken, MAX_SEARCHED_BYTES, progress):
        if frame < free:
            continue
        if not loose.budget.left or len(found) == MAX_STRAYS:
            break
        stray = loose.segment(frame)
        if stray is not None and not names.issuperset(stray.names):
            found.append(stray)
            names.update(stray.names)
            free = stray.stop
    complete = loose.budget.left and len(found) < MAX_STRAYS and source.size - total(taken) <= MAX_SEARCHED_BYTES
    return tuple(found), complete and loose.scans >= 0


class _Loose(Follower):
    """Follows segments in a file as it is, wherever they begin."""

    def __init__(self, source: Source, progress: Progress) -> None:
        inner = SplicedSource(source, [Span(0, source.size)], source.name)
        super().__init__(inner, progress, Budget(min(source.size, MAX_SEARCHED_BYTES), BUDGET_SHARE))
        self.scans = MAX_SCANS

    def segment(self, frame: int) -> Stray | None:
        """The segment whose first zstd frame is at ``frame``, if a hash proves it."""
        for at in self._starts(frame, 0, bare=True):
            stop = self.follow(at).closed
            names = self._names(at, stop) if stop is not None else ()
            if stop is not None and names:
                block = self._block(at)
                return Stray(block[2] if block is not None and block[0] == RESET else at, stop, names)
        return None

    def _names(self, start: int, stop: int) -> tuple[bytes, ...]:
        inner = SplicedSource(self._inner, [Span(start, stop)], self._inner.name)
        layout = Layout(ChunkLayer((), (), False), inner, walk(inner, self._progress), inner)
        members = decoded(layout, inner, self._progress).members
        return tuple(bytes(members.path(each)) for each in range(len(members)))

    def _closes(self, edge: int, digests: Collection[bytes]) -> bool:
        """The same, or whether one of them stands in the file: that of the last segment is in a chunk header."""
        return super()._closes(edge, digests) or (edge == self._inner.size and self._is_recorded(digests))

    def _is_recorded(self, digests: Collection[bytes]) -> bool:
        self.scans -= 1
        if self.scans < 0:
            return False
        for at in range(0, self._inner.size, _WINDOW_BYTES):
            data = self._inner.read(at, _WINDOW_BYTES + HASH_SIZE)
            self._progress.advance(0)
            if any(each in data for each in digests):
                return True
        return False


def decoded(layout: Layout, source: Source, progress: Progress, first: int = 0) -> Archive:
    """The blobs of the segments from ``first`` on, as an archive in ``source``."""
    emitter = Emitter(Archive(source, "rca", "", (), detail=layout))
    emitter.begin_members(Members(codec=Codec.ZSTD, sizes=True, heads=True, stream=layout.inner))
    Decoding(layout, emitter, progress).run(first)
    return emitter.archive
