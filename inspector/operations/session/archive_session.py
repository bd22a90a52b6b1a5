"""The session of one open location: each public method answers the request of its name.

Beside what its parts answer, it says what bytes look like, how ranges cover keys, and what readers make of an archive.
"""

from __future__ import annotations

from inspector.core.collection import Range
from inspector.core.field import Census, census
from inspector.core.program.progress import Progress
from inspector.core.reader import Step
from inspector.core.source import is_remote, is_sparing
from inspector.core.span import Span, total
from inspector.core.verdict import State, Verdict
from inspector.drawing.diagram import Diagram
from inspector.operations.check.checking import own_state
from inspector.operations.check.checking import verdict_counts as counts_of
from inspector.operations.check.tracing import StepLog, compare_readers, reader_named, readers_of, trace
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.collection import datasets_of
from inspector.operations.open.opening import Opened
from inspector.operations.open.overview import in_kind_order, overview
from inspector.operations.protocol.check_views import NamedReader, ReaderRow, TraceResult
from inspector.operations.protocol.views import (
    FAILED,
    RANGE_STATES,
    Bands,
    DatasetRow,
    LayerKind,
    Page,
    RangeState,
)
from inspector.operations.session.changing import Changing
from inspector.operations.session.extracting import Extracting
from inspector.operations.session.navigation import Navigation
from inspector.operations.session.references import References
from inspector.operations.session.remote import Costs

MAX_UNREAD = 4_000
"""Spans that no reader read, of which more are not sent."""
MAX_PAGE = 2_000
"""The most steps in one answer."""
MAX_RANGE_ROWS = 10_000
"""The largest number of ranges in a page."""


def _state(archive: Opened) -> RangeState:
    if not archive.complete:
        return RangeState.NOT_READ
    state = own_state(archive)
    found = RangeState[state.name]
    if archive.checking and found not in FAILED:
        return RangeState.CHECKING
    if state is not State.SOUND:
        return found
    if not archive.checked:
        return RangeState.NOT_CHECKED
    return RangeState.VERIFIED if set(counts_of(archive)) <= {Verdict.VERIFIED} else RangeState.SOUND


class ArchiveSession(Navigation, Costs, Extracting, References, Changing):
    """Answers ArchiveRequests. Requests answer at once, except jobs, which take a Progress first."""

    # ---- what it looks like ------------------------------------------------------------------------------------

    def bands(self, progress: Progress, layer: int, start: int, stop: int, rows: int) -> Bands:
        """What each of ``rows`` equal stretches of a layer's bytes looks like; of a remote one, those that are cached.

        Raises SourceError and Cancelled.
        """
        from inspector.operations.open.byte_classes import bands  # brings numpy

        source = self.now.layers[layer].source
        cached = self.cached(layer) if is_remote(source) else None
        return bands(source, Span(start, stop), rows, progress, cached)

    def diagram(self, progress: Progress, archive: int, offset: int) -> Diagram | None:
        """The shape of what is opened; None where there is nothing to show."""
        from inspector.operations.diagram.shape import diagram_of_all

        progress.begin("Drawing the diagram", 0)
        now = self.now
        ranges = now.location.collection.ranges if now.location.collection is not None else ()
        return diagram_of_all(now.archives, ranges, around=archive, offset=offset)

    def overview(self, progress: Progress, layer: int, rows: int) -> list[int]:
        """The set of roles and families in each of ``rows`` equal stretches of a layer."""
        shown = self.now.layers[layer]
        return overview(shown.fields(), shown.source.size, rows, progress, sparing=is_sparing(shown.source))

    def census(self, progress: Progress, layer: int) -> Census:
        """How many structures of each kind a layer has, in the order of the format's kinds."""
        shown = self.now.layers[layer]
        return in_kind_order(census(shown.fields(), progress.advance), shown.archive)

    def verdict_counts(self, progress: Progress, layer: int) -> dict[Verdict, int]:
        """How many members of a layer's archive have each verdict."""
        archive = self.now.layers[layer].archive
        progress.advance(0)
        return dict(counts_of(archive))

    def verdict_overview(self, progress: Progress, layer: int, rows: int) -> list[int]:
        """What checking has said of members (a set, see ``Judged``) in each stretch of ``overview``."""
        from inspector.operations.session.members.arrangement import BITS, verdict_overview  # brings numpy

        shown = self.now.layers[layer]
        if shown.info.member is not None:
            verdict = self.now.members.row(shown.info.member).verdict
            return [int(BITS[verdict]) if shown.source.size else 0] * rows
        return verdict_overview(shown.archive, shown.info.kind is LayerKind.INNER, rows, progress)

    # ---- the ranges of a collection ----------------------------------------------------------------------------

    def datasets(self) -> tuple[DatasetRow, ...]:
        """All datasets in the order of their ranges; those with orphans only come last."""
        collection = self.now.location.collection
        return () if collection is None else datasets_of(collection)

    def ranges(self, first: int, count: int) -> Page[Range]:
        """Ranges ``[first, first + count)``, sorted by dataset and key."""
        collection = self.now.location.collection
        every = () if collection is None else collection.ranges
        first = max(0, min(first, len(every)))
        return Page(len(every), first, every[first : first + max(0, min(count, MAX_RANGE_ROWS))])

    def range_states(self, first: int, count: int) -> bytes:
        """The states of ranges ``[first, first + count)`` as positions in RANGE_STATES."""
        now = self.now
        archives = now.archives
        stop = min(first + count, now.location.total)
        codes = bytearray(RANGE_STATES.index(_state(archive)) for archive in archives[first:stop])
        return bytes(codes) + bytes(max(0, stop - first - len(codes)))

    def first_of_range(self, at: int) -> int | None:
        """The first member of range ``at``, None without members; raises OperationError if it was not read yet."""
        archives = self.now.archives
        if not 0 <= at < len(archives):
            raise OperationError("This range has not been read yet. Try again in a moment.")
        return self.now.location.number(at, 0) if len(archives[at].members) else None

    # ---- readers -----------------------------------------------------------------------------------------------

    def readers(self, layer: int) -> tuple[NamedReader, ...]:
        """The known readers of a layer's archive."""
        return tuple(map(NamedReader.of, readers_of(self.now.layers[layer].archive.decoder)))

    def compare_readers(self, progress: Progress, layer: int) -> tuple[ReaderRow, ...]:
        """What each known reader makes of a layer's archive."""
        archive = self.now.layers[layer].archive
        return compare_readers(archive, archive.decoder, progress)

    def follow_reader(self, progress: Progress, layer: int, name: str, member: str | None = None) -> TraceResult:
        """Follow a reader and keep its steps."""
        shown = self.now.layers[layer]
        log = StepLog()
        found = trace(shown.archive.source, reader_named(shown.archive.decoder, name), log.add, progress, member)
        self.traced = log.steps()
        reader, reads = found.reader, found.reads
        never = reads.never(shown.archive.source.size)
        return TraceResult(
            NamedReader.of(reader),
            found.outcome,
            len(self.traced),
            log.folded,
            len(reads),
            reads.total,
            total(reads.twice()),
            tuple(never[:MAX_UNREAD]),
            total(never),
            shown.at,
        )

    def reader_steps(self, first: int, count: int) -> Page[Step]:
        """Steps of the reader that was followed last. Raises OperationError for a place before the first."""
        if first < 0:
            raise OperationError("Steps are counted from 0.")
        steps = self.traced
        return Page(len(steps), first, tuple(steps[first : first + min(max(count, 0), MAX_PAGE)]))
