"""Following readers through what is open in a session: the table of all, and the steps of one."""

from __future__ import annotations

from inspector.core.program.progress import Progress
from inspector.core.reader import Step
from inspector.core.span import Span, total
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.trace_views import ReaderInfo, ReaderRow, ReadMark, TraceResult
from inspector.operations.protocol.views import Page
from inspector.operations.session.state import SessionState
from inspector.operations.trace.tracing import StepLog, compare_readers, reader_named, readers_of, trace

MAX_MARKS = 4_000
"""Reads of the timeline, and spans of each kind, that are sent; of more reads each so-and-so-manieth is."""
MAX_PAGE = 2_000
"""The most steps in one answer."""


class Following(SessionState):
    """Follows readers."""

    def readers(self, layer: int) -> tuple[ReaderInfo, ...]:
        """The known readers of a layer's archive."""
        known = readers_of(self.now.layers[layer].archive.decoder)
        return tuple(ReaderInfo(each.name, each.title, each.kind, each.about, each.present()) for each in known)

    def compare_readers(self, progress: Progress, layer: int) -> tuple[ReaderRow, ...]:
        """What each known reader makes of a layer's archive. Raises SourceError and Cancelled."""
        archive = self.now.layers[layer].archive
        return compare_readers(archive, archive.decoder, progress)

    def follow_reader(self, progress: Progress, layer: int, name: str, member: str | None = None) -> TraceResult:
        """Follow a reader and keep its steps. Raises OperationError, SourceError and Cancelled."""
        shown = self.now.layers[layer]
        log = StepLog()
        found = trace(shown.archive.source, reader_named(shown.archive.decoder, name), log.add, progress, member)
        self.traced = log.steps()
        reader, reads, size = found.reader, found.reads, shown.archive.source.size
        twice, never = reads.twice(), reads.never(size)
        stride = -(-len(reads) // MAX_MARKS) or 1
        every = zip(reads.starts[::stride], reads.stops[::stride], reads.steps[::stride], strict=True)
        return TraceResult(
            reader.name,
            reader.title,
            reader.kind,
            reader.about,
            found.outcome,
            len(self.traced),
            log.folded,
            len(reads),
            reads.total,
            tuple(ReadMark(Span(start, stop), step) for start, stop, step in every),
            tuple(twice[:MAX_MARKS]),
            total(twice),
            tuple(never[:MAX_MARKS]),
            total(never),
            size,
            shown.at,
        )

    def reader_steps(self, first: int, count: int) -> Page[Step]:
        """Steps of the reader that was followed last. Raises OperationError for a place before the first."""
        if first < 0:
            raise OperationError("Steps are counted from 0.")
        steps = self.traced
        return Page(len(steps), first, tuple(steps[first : first + min(max(count, 0), MAX_PAGE)]))
