"""Where a walk over a tar is, and what it has passed."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from inspector.core.archive import Emitter
from inspector.core.kinds import Kind
from inspector.core.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._tar.header import BLOCK

WINDOW = 64 * 1024
"""Bytes read at a time where headers are read one by one."""


@dataclass(frozen=True, slots=True)
class Stray:
    """The bytes of ``span``, between or after the members, that belong to none."""

    name: str
    kind: Kind
    span: Span
    note: str


@dataclass(slots=True)
class Layout:
    """What the walk learns besides the members: ``runs`` are the spans that members fill without a break.

    ``headers`` are where header blocks stand, in file order, ``unfit`` how many of them have a checksum that does not
    fit.
    """

    runs: list[Span] = field(default_factory=list)
    strays: list[Stray] = field(default_factory=list)
    headers: array[int] = field(default_factory=lambda: array("Q"))
    unfit: int = 0


Recorded = Callable[[], Sequence[int]]
"""Gives the offsets at which members begin by what is recorded outside the tar, in ascending order."""


def nothing_recorded() -> Sequence[int]:
    """For a tar that stands alone."""
    return ()


class Cursor:
    """The next byte to be understood; it only moves forward. ``ended`` says that nothing is expected any more."""

    def __init__(
        self,
        source: Source,
        emitter: Emitter,
        progress: Progress,
        layout: Layout,
        recorded: Recorded = nothing_recorded,
    ) -> None:
        self.source = source
        self.emitter = emitter
        self.progress = progress
        self.layout = layout
        self.recorded = recorded
        self.at = 0
        self.ended = False
        self._buffer = b""
        self._buffer_start = 0

    def block(self, at: int) -> bytes:
        """The block at ``at``; short at the end of the file."""
        inner = at - self._buffer_start
        if inner < 0 or inner + BLOCK > len(self._buffer):
            self._buffer, self._buffer_start, inner = self.source.read(at, WINDOW), at, 0
        return self._buffer[inner : inner + BLOCK]

    def fill(self, stop: int) -> None:
        """Members fill the bytes up to ``stop``."""
        runs = self.layout.runs
        if runs and runs[-1].stop == self.at:
            runs[-1] = Span(runs[-1].start, stop)
        else:
            runs.append(Span(self.at, stop))
        self.at = stop

    def stray(self, name: str, kind: Kind, stop: int, note: str) -> None:
        """The bytes up to ``stop`` belong to no member."""
        stop = min(stop, self.source.size)
        if stop > self.at:
            self.layout.strays.append(Stray(name, kind, Span(self.at, stop), note))
        self.at = stop
