"""What the bytes of a layer look like, the shape of what is opened, and the map of a layer.

The map has the roles, families and verdicts in each of many equal stretches, exact at any size.
"""

from __future__ import annotations

from inspector.core.field import Census, census
from inspector.core.program.progress import Progress
from inspector.core.source import is_remote, is_sparing
from inspector.core.span import Span
from inspector.core.verdict import Verdict
from inspector.drawing.diagram import Diagram
from inspector.operations.check.checking import verdict_counts as counts_of
from inspector.operations.open.overview import in_kind_order, overview
from inspector.operations.protocol.bytes_views import Bands
from inspector.operations.protocol.views import LayerKind
from inspector.operations.session.reading import Reading
from inspector.operations.session.remote import Costs

MAX_BANDS = 64
"""Bands that are kept of one state of a location; the oldest are dropped first."""


class Looks(Reading, Costs):
    """What the bytes of a layer look like."""

    def bands(self, progress: Progress, layer: int, start: int, stop: int, rows: int) -> Bands:
        """What each of ``rows`` equal stretches of a layer's bytes looks like; of a remote one, those that are cached.

        Raises SourceError and Cancelled.
        """
        from inspector.operations.bytes.classes import bands  # brings numpy

        source = self.now.layers[layer].source
        if is_remote(source):
            return bands(source, Span(start, stop), rows, progress, self.cached(layer))
        kept = self.now.bands
        key = (layer, start, stop, rows)
        if key not in kept:
            kept[key] = bands(source, Span(start, stop), rows, progress)
            while len(kept) > MAX_BANDS:
                del kept[next(iter(kept))]
        return kept[key]

    def diagram(self, progress: Progress, archive: int, offset: int) -> Diagram | None:
        """The shape of what is opened; None where there is nothing to show. Raises SourceError and Cancelled."""
        from inspector.operations.diagram.shape import diagram_of_all

        progress.begin("Drawing the diagram", 0)
        now = self.now
        ranges = now.location.collection.ranges if now.location.collection is not None else ()
        return diagram_of_all(now.archives, ranges, around=archive, offset=offset)

    def overview(self, progress: Progress, layer: int, rows: int) -> list[int]:
        """The set of roles and families in each of ``rows`` equal stretches of a layer. Raises Cancelled."""
        shown = self.now.layers[layer]
        return overview(shown.fields(), shown.source.size, rows, progress, sparing=is_sparing(shown.source))

    def census(self, progress: Progress, layer: int) -> Census:
        """How many structures of each kind a layer has, in the order of the format's kinds. Raises Cancelled."""
        shown = self.now.layers[layer]
        return in_kind_order(census(shown.fields(), progress.advance), shown.archive)

    def verdict_counts(self, progress: Progress, layer: int) -> dict[Verdict, int]:
        """How many members of a layer's archive have each verdict. Raises Cancelled."""
        archive = self.now.layers[layer].archive
        progress.advance(0)
        return dict(counts_of(archive))

    def verdict_overview(self, progress: Progress, layer: int, rows: int) -> list[int]:
        """What checking has said of members (a set, see ``Judged``) in each stretch of ``overview``."""
        from inspector.operations.session.verdict_overview import BITS, verdict_overview  # brings numpy

        shown = self.now.layers[layer]
        if shown.info.member is not None:
            verdict = self.now.members.row(shown.info.member).verdict
            return [int(BITS[verdict]) if shown.source.size else 0] * rows
        return verdict_overview(shown.archive, shown.info.kind is LayerKind.INNER, rows, progress)
