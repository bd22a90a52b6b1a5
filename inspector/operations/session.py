"""A session: one open location as a face works with it. Quick methods answer at once; jobs take a Progress."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from inspector.core.field import Run, runs
from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import count as counted
from inspector.core.numbers import rounded
from inspector.core.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.core.verdict import State
from inspector.operations.checks import ALL, Checks
from inspector.operations.content import SAMPLE, decoded_content, encoding_of, image_of
from inspector.operations.digest_job import write_beside
from inspector.operations.fields_view import View
from inspector.operations.guide import Guide
from inspector.operations.layers import Layers
from inspector.operations.location import Location, open_location
from inspector.operations.marks import Marks
from inspector.operations.members_view import MembersView
from inspector.operations.opening import UNKNOWN, Opened, decode
from inspector.operations.refused import Refused
from inspector.operations.search import search
from inspector.operations.shelf import Shelf
from inspector.operations.turns import Turns
from inspector.operations.views import (
    CheckResult,
    ChecksumRow,
    ContentInfo,
    Explanation,
    FieldRow,
    FindingRow,
    LayerInfo,
    LayerKind,
    ManifestResult,
    MemberPlace,
    MemberRow,
    Page,
    ReportKind,
    SortKey,
    Stage,
    Status,
    Target,
    TreeRow,
)

LARGEST_READ = 1 << 20
"""The most bytes given at once."""


class Session:
    """One open location. What cannot be opened is a session too, which says why in its status."""

    def __init__(self, location: str) -> None:
        self._stage = Stage.OPENING
        self._failure = ""
        self._changes = 0
        self._decoding = 0
        self._seen: object = None
        self._found = 0
        self._marks: dict[int, Marks] = {}
        self._contents: dict[int, ContentInfo] = {}
        try:
            self._location = open_location(location)
        except SourceError as error:
            self._location = Location([])
            self._stage, self._failure = Stage.FAILED, str(error)
        self._archives = self._location.archives
        self._shelf = Shelf(self._location)
        self._layers = Layers(self._location.total)
        self._members = MembersView(self._shelf, self._marks_of)
        self._checks = Checks(location, self._location, self._shelf)
        self._turns = Turns()
        if self._location.total:
            self._open(0)

    # ---- state -------------------------------------------------------------------------------------------------

    def status(self) -> Status:
        """How far it has come."""
        self._notice()
        first = self._archives[0] if self._archives else None
        collection = self._location.collection
        decoded = self._stage is Stage.READY
        failed = self._stage is Stage.FAILED
        return Status(
            self._stage,
            self._sentence(),
            first.format if first else "",
            collection.title if collection else first.title if first else "",
            self._location.size if first else 0,
            len(self._shelf),
            self._changes,
            self._checks.counts(),
            collection is not None,
            State.UNREADABLE if failed else self._checks.state() if decoded else None,
            self._checks.checked,
            self._checks.sentence() if decoded else "",
            self._checks.judged(),
        )

    def _sentence(self) -> str:
        if self._stage is Stage.FAILED:
            return self._failure
        collection = self._location.collection
        title = collection.title if collection else self._archives[0].title
        if self._stage is Stage.CANCELLED:
            return "Decoding was cancelled: what was decoded until then is shown."
        if self._stage is not Stage.READY:
            return f"{title}: being decoded."
        if collection is None and self._archives[0].decoder is None:
            return UNKNOWN
        return f"{title}, {rounded(self._location.size)}, {counted(len(self._shelf), 'member')}."

    def _open(self, at: int) -> Opened:
        archive = self._location.open(at)
        self._layers.add_file(at, self._location.title(at), archive)
        return archive

    def _notice(self) -> None:
        """Let the generation grow when the decoder has laid fields, or a check has found something."""
        found = sum(len(archive.findings) for archive in tuple(self._archives))
        if self._checks.running and found != self._found:
            self._found = found
            self._changes += 1
        at = self._decoding
        if at >= len(self._archives):
            return
        archive = self._archives[at]
        if archive.fields is not self._seen:
            self._seen = archive.fields
            self._changes += 1
        if self._layers.add_inner(at, archive):
            self._changes += 1

    def layers(self) -> tuple[LayerInfo, ...]:
        """All layers; 0 is the file."""
        self._notice()
        return self._layers.infos()

    # ---- bytes and fields --------------------------------------------------------------------------------------

    def read(self, layer: int, offset: int, length: int) -> bytes:
        """Bytes of a layer, at most 1 MiB; short at its end. Raises SourceError."""
        return self._layers[layer].source.read(offset, min(length, LARGEST_READ))

    def runs(self, layer: int, start: int, stop: int) -> list[Run]:
        """The runs of leaves in ``[start, stop)``, at most 1 MiB of it."""
        return runs(self._layers[layer].fields(), start, min(stop, start + LARGEST_READ))

    def explain(self, layer: int, offset: int) -> Explanation:
        """What a byte is."""
        return self._view(layer).explain(offset)

    def field_rows(self, layer: int, path: tuple[int, ...], first: int, count: int) -> Page[FieldRow]:
        """The children of the field at ``path``, the outermost fields for ``()``."""
        return self._view(layer).rows(path, first, count)

    def field(self, layer: int, path: tuple[int, ...]) -> FieldRow | None:
        """The field at ``path``; None where there is none."""
        return self._view(layer).field(path)

    def _view(self, number: int) -> View:
        layer = self._layers[number]
        return View(layer, self._marks_of(layer.at), self._shelf.number(layer.at, 0))

    def _marks_of(self, at: int) -> Marks:
        known = self._marks.get(at)
        if known is None or len(known.findings) != len(self._archives[at].findings):
            known = self._marks[at] = Marks(self._archives[at])
        return known

    # ---- members -----------------------------------------------------------------------------------------------

    def member(self, index: int) -> MemberRow:
        """One member; raises Refused where there is none."""
        return self._members.row(index)

    def member_rows(self, first: int, count: int) -> Page[MemberRow]:
        """Members in the present arrangement."""
        return self._members.rows(first, count)

    def tree_rows(self, node: int, first: int, count: int) -> Page[TreeRow]:
        """What lies in a folder of the tree of paths; 0 is its root. Empty until planted."""
        return self._members.tree_rows(node, first, count)

    def place(self, index: int) -> MemberPlace:
        """Where a member is; raises Refused where there is none."""
        at, local = self._shelf.locate(index)
        spans = self._archives[at].members[local].spans
        return MemberPlace(at, spans, self._members.flat_place(index), self._members.tree_place(index))

    # ---- findings and places -----------------------------------------------------------------------------------

    def findings(self, first: int, count: int, severities: Collection[Severity] = ALL) -> Page[FindingRow]:
        """Findings of these severities in the order in which they were made."""
        return self._checks.findings(first, count, severities)

    def checksums(self, first: int, count: int) -> Page[ChecksumRow]:
        """The checksums that are recorded, and what comparing has found. Raises SourceError."""
        return self._checks.checksums(first, count)

    def goto(self, expression: str, layer: int, caret: int) -> Target:
        """Where an expression (see ``goto``) leads, from a caret in a layer; raises Refused for nonsense."""
        return Guide(self._archives, self._shelf, self._layers, self.place).target(expression, layer, caret)

    # ---- jobs --------------------------------------------------------------------------------------------------

    def decode(self, progress: Progress) -> None:
        """Decode everything. Cancelling leaves what is there and is no exception."""
        with self._turns.one(progress):
            if self._stage is Stage.OPENING:
                self._decode(progress)

    def _decode(self, progress: Progress) -> None:
        self._stage = Stage.DECODING
        try:
            for at in range(self._location.total):
                archive = self._open(at)
                self._decoding = at
                decode(archive, progress)
                self._notice()
            self._stage = Stage.READY
        except Cancelled:
            self._stage = Stage.CANCELLED
        self._changes += 1

    def check(self, progress: Progress) -> CheckResult:
        """Decode what is not decoded yet, and check everything, again if need be.

        Cancelling leaves what was judged until then and is no exception, unless decoding was not over. Raises
        Refused where there is nothing to check.
        """
        with self._turns.one(progress):
            if self._stage is Stage.OPENING:
                self._decode(progress)
                progress.advance(0)
            if self._stage is Stage.FAILED:
                raise Refused(self._failure)
            if self._stage is Stage.CANCELLED:
                raise Refused("Decoding was cancelled, so not all is known that has to be checked: open it again.")
            self._marks.clear()
            try:
                return self._checks.run(progress)
            finally:
                self._marks.clear()
                self._changes += 1

    def export(self, progress: Progress, path: str, kind: ReportKind) -> None:
        """Write a report of what is known to a file. Raises Refused, SourceError and Cancelled."""
        progress.begin("Writing the report", 0)
        self._checks.export(Path(path), kind)

    def write_manifest(self, progress: Progress, algorithm: str, replace: bool) -> ManifestResult:
        """Write digests of all members beside the archive. Raises Refused, SourceError and Cancelled."""
        if self._stage is not Stage.READY:
            raise Refused("No manifest was written: not all of the archive has been read.")
        return write_beside(self._location, algorithm, progress, replace=replace)

    def arrange(self, progress: Progress, filter_text: str, sort_key: SortKey, descending: bool) -> int:
        """Show the members whose visible path holds a text, sorted; the count of what is shown. Raises Cancelled."""
        shown = self._members.arrange(filter_text, sort_key, descending, progress)
        self._changes += 1
        return shown

    def plant(self, progress: Progress) -> None:
        """Build the tree of paths of what is shown. Raises Cancelled."""
        self._members.plant(progress)
        self._changes += 1

    def search(
        self, progress: Progress, layer: int, pattern: bytes, start: int, backwards: bool, ignore_case: bool
    ) -> int | None:
        """The first match at or after ``start``, backwards the last before it. Raises SourceError and Cancelled."""
        return search(self._layers[layer].source, pattern, start, backwards, ignore_case, progress)

    def overview(self, progress: Progress, layer: int, rows: int) -> list[int]:
        """The set of roles in each of ``rows`` equal stretches of a layer. Raises Cancelled."""
        from inspector.operations.overview import overview  # brings numpy

        shown = self._layers[layer]
        return overview(shown.fields(), shown.source.size, rows, progress)

    def verdict_overview(self, progress: Progress, layer: int, rows: int) -> list[int]:
        """What checking has said of members (a set, see ``Judged``) in each stretch of ``overview``."""
        from inspector.operations.verdict_overview import BITS, verdict_overview  # brings numpy

        shown = self._layers[layer]
        if shown.info.member is not None:
            verdict = self.member(shown.info.member).verdict
            return [int(BITS[verdict]) if shown.source.size else 0] * rows
        return verdict_overview(shown.archive, shown.info.kind is LayerKind.INNER, rows, progress)

    def content(self, progress: Progress, index: int) -> ContentInfo:
        """Decode a member and make its content a layer. Raises Refused, SourceError and Cancelled."""
        at, local = self._shelf.locate(index)
        known = self._contents.get(index)
        if known is not None and self._layers.content(index) is not None:
            return known
        source, sentence = decoded_content(self._archives[at], local, progress)
        layer = self._layers.add_content(visible(self._shelf.path(index)), source, at, index)
        start = source.read(0, SAMPLE)
        image = image_of(start, source.size)
        encoding = None if image else encoding_of(start, len(start) == source.size)
        self._contents[index] = ContentInfo(layer.info, encoding, image, sentence)
        return self._contents[index]


QUICK = frozenset(
    (
        *("status", "layers", "read", "runs", "explain", "field_rows", "field"),
        *("member_rows", "tree_rows", "member", "place", "findings", "checksums", "goto"),
    )
)
"""Methods that answer at once; safe while jobs run."""
JOBS = frozenset(
    (
        *("decode", "check", "export", "write_manifest", "arrange", "plant", "search"),
        *("overview", "verdict_overview", "content"),
    )
)
"""Methods that take a Progress first and may take long; each may run in a thread of its own."""
