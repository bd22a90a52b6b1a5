"""A session: one open location for a front end. Methods answer at once, except jobs, which take a Progress."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from itertools import islice
from pathlib import Path

from inspector.core.field import Run, runs
from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import count, rounded
from inspector.core.progress import Cancelled, Progress
from inspector.core.source import Source, SourceError
from inspector.core.span import Spans
from inspector.core.verdict import State
from inspector.operations.check.checking import judgement
from inspector.operations.jobs.job_lock import JobLock
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.location import Location, NoRangeError, open_location
from inspector.operations.protocol.check_views import ReportKind
from inspector.operations.protocol.views import (
    CheckResult,
    ChecksumRow,
    Chosen,
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
    SortKey,
    Stage,
    Status,
    Target,
    TreeRow,
)
from inspector.operations.session.checks import ALL, write_manifest_beside
from inspector.operations.session.content import SAMPLE_BYTES, decoded_content, encoding_of, image_of
from inspector.operations.session.coverage import Coverage
from inspector.operations.session.goto import Datapoints, GotoTargets
from inspector.operations.session.navigation import FieldNavigation, search
from inspector.operations.session.overview import LayerMap
from inspector.operations.session.references import Arrows, References
from inspector.operations.session.snapshot import LazyNames, Snapshot
from inspector.sources.local.file import FileSource
from inspector.sources.s3.connection import DEFAULT, Connection

MAX_READ_BYTES = 1 << 20
"""The size of the largest answer of ``read``."""


class Session(Datapoints, Coverage, LazyNames, LayerMap, Arrows, References, FieldNavigation):
    """One open location. If opening fails, the session has a status that says why.

    ``s3`` says how to reach S3. Archives are decoded sparingly until they are checked.
    """

    def __init__(self, location: str, s3: Connection = DEFAULT) -> None:
        self._stage = Stage.OPENING
        self._failure = ""
        self._error: SourceError | None = None
        self._generation = 0
        self._decoding = 0
        self._seen: object = None
        self._found = 0
        self._name = location
        self._s3 = s3
        self._job_lock = JobLock()
        try:
            opened = open_location(location, s3, sparing=True)
        except NoRangeError as error:
            opened = Location([], error.collection)
            self._stage, self._failure, self._error = Stage.FAILED, judgement(State.DAMAGED, str(error)), error
        except SourceError as error:
            opened = Location([])
            self._stage, self._failure, self._error = Stage.FAILED, str(error), error
        self._now = Snapshot(location, opened)

    # ---- state -------------------------------------------------------------------------------------------------

    def status(self) -> Status:
        """The current status."""
        now = self._now
        self._update_generation()
        first = now.archives[0] if now.archives else None
        collection = now.location.collection
        decoded = self._stage is Stage.READY
        failed = self._stage is Stage.FAILED
        return Status(
            self._stage,
            self._sentence(),
            first.format if first else "",
            collection.title if collection else first.title if first else "",
            now.location.size if first else 0,
            len(now.archive_set),
            self._generation,
            now.checks.counts(),
            collection is not None,
            (State.DAMAGED if collection else State.UNREADABLE) if failed else now.checks.state() if decoded else None,
            now.checks.checked,
            now.checks.sentence() if decoded else "",
            now.checks.judged(),
            _stamp(first.source) if first and not collection else "",
        )

    def _sentence(self) -> str:
        now = self._now
        if self._stage is Stage.FAILED:
            return self._failure
        collection = now.location.collection
        title = collection.title if collection else now.archives[0].title
        if self._stage is Stage.CANCELLED:
            return "Decoding was cancelled; everything decoded so far is shown."
        if self._stage is not Stage.READY:
            return f"{title}: being decoded."
        if collection is None and now.archives[0].decoder is None:
            return "The format is unknown; it is shown as plain bytes."
        return f"{title}, {rounded(now.location.size)}, {count(len(now.archive_set), 'member')}."

    def _update_generation(self) -> None:
        """Increment the generation if the decoder has new fields, or a check new findings."""
        now = self._now
        found = sum(len(archive.findings) for archive in tuple(now.archives))
        if now.checks.running and found != self._found:
            self._found = found
            self._generation += 1
        at = self._decoding
        if at >= len(now.archives):
            return
        archive = now.archives[at]
        if archive.fields is not self._seen:
            self._seen = archive.fields
            self._generation += 1
        if now.layers.add_inner(at, archive):
            self._generation += 1

    def layers(self) -> tuple[LayerInfo, ...]:
        """All layers; 0 is the file."""
        self._update_generation()
        return self._now.layers.infos()

    def _show(self, snapshot: Snapshot) -> None:
        """Show a decoded snapshot instead of the current one; earlier answers are then stale."""
        self._now = snapshot
        self._stage, self._failure, self._decoding = Stage.READY, "", 0
        self._generation += 1

    # ---- bytes and fields --------------------------------------------------------------------------------------

    def read(self, layer: int, offset: int, length: int) -> bytes:
        """Bytes of a layer, at most 1 MiB; short at its end. Raises SourceError."""
        return self._now.layers[layer].source.read(offset, min(length, MAX_READ_BYTES))

    def runs(self, layer: int, start: int, stop: int) -> list[Run]:
        """The runs of leaves in ``[start, stop)``, at most 1 MiB of it."""
        shown = self._now.layers[layer]
        # The number of a content's member counts all archives; its own archive knows it by another one.
        verdict_of = None if shown.info.kind is LayerKind.CONTENT else shown.archive.verdict
        return runs(shown.fields(), start, min(stop, start + MAX_READ_BYTES), verdict_of)

    def explain(self, layer: int, offset: int) -> Explanation:
        """The fields that own a byte, and the findings on it."""
        return self._now.view(layer).explain(offset)

    def field_rows(self, layer: int, path: tuple[int, ...], first: int, count: int) -> Page[FieldRow]:
        """The children of the field at ``path``; the outermost fields for ``()``."""
        return self._now.view(layer).rows(path, first, count)

    def field(self, layer: int, path: tuple[int, ...]) -> FieldRow | None:
        """The field at ``path``, None without one."""
        return self._now.view(layer).field(path)

    # ---- members -----------------------------------------------------------------------------------------------

    def member(self, index: int) -> MemberRow:
        """One member; raises OperationError if there is none."""
        return self._now.members.row(index)

    def member_rows(self, first: int, count: int) -> Page[MemberRow]:
        """Members in the current order."""
        return self._now.members.rows(first, count)

    def tree_rows(self, node: int, first: int, count: int) -> Page[TreeRow]:
        """The rows of a folder in the tree of paths; 0 is the root. Empty before ``build_tree``."""
        return self._now.members.tree_rows(node, first, count)

    def chosen(self, chosen: Chosen) -> array[int]:
        """The numbers of the selected members."""
        return self._now.members.numbers(chosen)

    def place(self, index: int) -> MemberPlace:
        """The location of a member; raises OperationError if there is none."""
        now = self._now
        at, local = now.archive_set.locate(index)
        spans = now.archives[at].members[local].spans
        return MemberPlace(at, spans, now.members.flat_place(index), now.members.tree_place(index))

    # ---- findings and targets ----------------------------------------------------------------------------------

    def findings(self, first: int, count: int, severities: Collection[Severity] = ALL) -> Page[FindingRow]:
        """Findings of these severities, oldest first."""
        return self._now.checks.findings(first, count, severities)

    def damage(self, layer: int, most: int) -> Spans:
        """The damaged bytes of a layer: those of the first ``most`` errors and warnings."""
        shown = self._now.layers[layer]
        wrong = (finding for finding in tuple(shown.archive.findings) if finding.severity is not Severity.INFO)
        return tuple(span for finding in islice(wrong, most) for span in shown.from_file(finding.spans))

    def checksums(self, first: int, count: int) -> Page[ChecksumRow]:
        """The recorded checksums and their verdicts. Raises SourceError."""
        return self._now.checks.checksums(first, count)

    def goto(self, expression: str, layer: int, caret: int) -> Target:
        """The target of an expression (see ``goto``), relative to a caret in a layer. Raises OperationError."""
        now = self._now
        return GotoTargets(now.archives, now.archive_set, now.layers, self.place).target(expression, layer, caret)

    # ---- jobs --------------------------------------------------------------------------------------------------

    def decode(self, progress: Progress) -> None:
        """Decode everything. Cancelling keeps what was decoded and raises nothing."""
        with self._job_lock.held(progress):
            if self._stage is Stage.OPENING:
                self._decode(progress)

    def _decode(self, progress: Progress) -> None:
        now = self._now
        self._stage = Stage.DECODING
        try:
            for at in now.location.read_all(progress):
                now.open(at)
                self._decoding = at
                self._update_generation()
            self._stage = Stage.READY
        except Cancelled:
            self._stage = Stage.CANCELLED
        self._generation += 1

    def check(self, progress: Progress) -> CheckResult:
        """Decode the rest, and check everything, even if it was checked before.

        Cancelling keeps the verdicts so far and raises nothing, unless decoding was not finished.
        Raises OperationError if there is nothing to check.
        """
        with self._job_lock.held(progress):
            now = self._now
            if self._stage is Stage.OPENING:
                self._decode(progress)
                progress.advance(0)
            if self._stage is Stage.FAILED:
                raise OperationError(self._failure)
            if self._stage is Stage.CANCELLED:
                raise OperationError("Decoding was cancelled, so the check would be incomplete. Reload it.")
            now.forget_marks()
            try:
                return now.checks.run(progress)
            finally:
                now.forget_marks()
                self._generation += 1

    def export(self, progress: Progress, path: str, kind: ReportKind) -> None:
        """Write a report to a file. Raises OperationError, SourceError and Cancelled."""
        progress.begin("Writing the report", 0)
        self._now.checks.export(Path(path), kind)

    def write_manifest(self, progress: Progress, algorithm: str, replace: bool) -> ManifestResult:
        """Write the digests of all members beside the archive. Raises OperationError, SourceError and Cancelled."""
        if self._stage is not Stage.READY:
            raise OperationError("No manifest was written: not all of the archive has been read.")
        return write_manifest_beside(self._now.location, algorithm, progress, replace=replace)

    def arrange(self, progress: Progress, filter_text: str, sort_key: SortKey, descending: bool) -> int:
        """Show the members whose visible path contains a text, sorted; returns their number. Raises Cancelled."""
        shown = self._now.members.arrange(filter_text, sort_key, descending, progress)
        self._generation += 1
        return shown

    def build_tree(self, progress: Progress) -> None:
        """Build the tree of paths of the members shown. Raises Cancelled."""
        self._now.members.build_tree(progress)
        self._generation += 1

    def search(
        self, progress: Progress, layer: int, pattern: bytes, start: int, backwards: bool, ignore_case: bool
    ) -> int | None:
        """The first match at or after ``start``, backwards the last before it. Raises SourceError and Cancelled."""
        return search(self._now.layers[layer].source, pattern, start, backwards, ignore_case, progress)

    def content(self, progress: Progress, index: int) -> ContentInfo:
        """Decode a member and make its content a layer. Raises OperationError, SourceError and Cancelled."""
        now = self._now
        at, local = now.archive_set.locate(index)
        known = now.contents.get(index)
        if known is not None and now.layers.content(index) is not None:
            return known
        source, sentence = decoded_content(now.archives[at], local, progress)
        layer = now.layers.add_content(visible(now.archive_set.path(index)), source, at, index)
        start = source.read(0, SAMPLE_BYTES)
        image = image_of(start, source.size)
        encoding = None if image else encoding_of(start, len(start) == source.size)
        now.contents[index] = ContentInfo(layer.info, encoding, image, sentence)
        return now.contents[index]


def _stamp(source: Source) -> str:
    """What distinguishes this state of a file or an object from others; empty if that is unknown, as for an overlay."""
    if isinstance(source, FileSource):
        return f"{source.identity.size}-{source.identity.mtime_ns}"
    return str(getattr(source, "etag", ""))
