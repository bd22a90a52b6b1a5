"""What the bytes of a layer look like, its zeros and repeats, the strings in it, and its map.

The map has the roles, families and verdicts in each of many equal stretches, exact at any size.
"""

from __future__ import annotations

from collections.abc import Collection

from inspector.core.drawing.diagram import Diagram
from inspector.core.drawing.sizes import Scope, SizePlot
from inspector.core.field import Census, census
from inspector.core.program.progress import Progress
from inspector.core.source import is_remote, is_sparing
from inspector.core.span import Span
from inspector.core.verdict import Verdict
from inspector.operations.bytes.places import field_text, name_at
from inspector.operations.check.checking import verdict_counts as counts_of
from inspector.operations.open.overview import in_kind_order, overview
from inspector.operations.protocol.bytes_views import (
    Bands,
    DecodedInfo,
    Encoding,
    Repeat,
    StringRow,
    StringsFound,
    Text,
)
from inspector.operations.protocol.views import LayerKind, Page
from inspector.operations.session.reading import Reading
from inspector.operations.session.remote import Costs
from inspector.operations.session.state import Snapshot

MAX_BANDS = 64
"""Bands that are kept of one state of a location; the oldest are dropped first."""
MAX_STRINGS = 100_000
"""Strings that are kept: memory."""
MAX_SHOWN_CHARACTERS = 500
"""Characters of a string that are kept."""
MAX_PAGE_ROWS = 1_000
MAX_READ_BYTES = 1 << 20


# ---- decoded ---------------------------------------------------------------------------------------------------------


# ---- the shape -------------------------------------------------------------------------------------------------------


# ---- strings ---------------------------------------------------------------------------------------------------------


def _row(now: Snapshot, layer: int, text: Text) -> StringRow:
    shown = now.layers[layer]
    if shown.info.kind is LayerKind.CONTENT:
        return StringRow(layer, text, "", shown.info.title)
    outer = shown.in_file((Span(text.start, text.start + 1),))
    member = name_at(shown.archive, outer[0].start) if outer else None
    return StringRow(layer, text, field_text(shown.fields(), text.start), member or "")


# ---- the map of a layer ----------------------------------------------------------------------------------------------


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

    def next_zeros(self, progress: Progress, layer: int, offset: int, backwards: bool) -> Span | None:
        """The nearest run of zeros beyond ``offset``. Raises SourceError and Cancelled."""
        from inspector.operations.bytes.runs import next_zeros

        return next_zeros(self.now.layers[layer].source, offset, backwards, progress)

    def next_repeat(self, progress: Progress, layer: int, offset: int, backwards: bool) -> Repeat | None:
        """The nearest bytes beyond ``offset`` that stand earlier too. Raises SourceError and Cancelled."""
        from inspector.operations.bytes.runs import next_repeat, repeats

        now = self.now
        if layer not in now.repeats:
            now.repeats[layer] = repeats(now.layers[layer].source, progress)
        return next_repeat(now.repeats[layer], offset, backwards)

    def decode_member(self, progress: Progress, index: int) -> DecodedInfo:
        """Decode a member piece by piece; its bytes are kept for ``decoded_bytes`` until another one is.

        Raises OperationError for one that is not compressed, SourceError and Cancelled.
        """
        from inspector.operations.bytes.decoded import Decoded

        now = self.now
        at, local = self.decoded_place(progress, index)
        decoded = Decoded(now.archives[at], local, progress)
        progress.advance(0)  # a member that a later one superseded does not replace that
        now.decoded = (index, decoded.source)
        size = decoded.source.size
        return DecodedInfo(index, decoded.name, at, size, tuple(decoded.pieces), decoded.sentence)

    def decoded_bytes(self, index: int, offset: int, length: int) -> bytes:
        """Decoded bytes of the member that was decoded last, at most 1 MiB; none of another one."""
        member, source = self.now.decoded
        return source.read(offset, min(length, MAX_READ_BYTES)) if member == index else b""

    def diagram(self, progress: Progress, archive: int, offset: int) -> Diagram | None:
        """The shape of what is opened; None where there is nothing to show. Raises SourceError and Cancelled."""
        from inspector.operations.diagram.shape import diagram_of_all

        progress.begin("Drawing the diagram", 0)
        now = self.now
        ranges = now.location.collection.ranges if now.location.collection is not None else ()
        return diagram_of_all(now.archives, ranges, around=archive, offset=offset)

    def sizes(self, progress: Progress, scope: Scope) -> SizePlot | None:
        """What is stored against its content; None where nothing is to compare. Raises SourceError and Cancelled."""
        from inspector.operations.diagram.sizes import sizes_of

        progress.begin("Counting sizes", 0)
        now = self.now
        ranges = now.location.collection.ranges if now.location.collection is not None else ()
        return sizes_of(now.archives, ranges, scope)

    def find_strings(
        self,
        progress: Progress,
        layer: int,
        encodings: Collection[Encoding],
        minimum: int,
        wanted: str,
    ) -> StringsFound:
        """Search a layer for strings; those found so far are rows of ``string_rows``."""
        from inspector.operations.bytes.strings import strings

        now = self.now
        found: list[Text] = []
        progress.advance(0)  # a search that a later one superseded does not replace what that finds
        now.strings = (layer, found)
        for text in strings(now.layers[layer].source, encodings, minimum, progress, wanted):
            if len(found) == MAX_STRINGS:
                return StringsFound(len(found), complete=False)
            found.append(text._replace(text=text.text[:MAX_SHOWN_CHARACTERS]))
        return StringsFound(len(found), complete=True)

    def string_rows(self, first: int, count: int) -> Page[StringRow]:
        """Strings of the last search, each with where it stands."""
        now = self.now
        layer, found = now.strings
        first = max(0, min(first, len(found)))
        part = found[first : first + max(0, min(count, MAX_PAGE_ROWS))]
        return Page(len(found), first, tuple(_row(now, layer, text) for text in part))

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
