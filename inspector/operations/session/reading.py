"""One open location: its snapshots, and reading and checking what is open.

The modules beside this one answer more requests about it. Functions answer at once, except jobs, which take a Progress.
"""

from __future__ import annotations

import codecs
import re
from array import array
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import Lock

from inspector.core.field import Run
from inspector.core.field import runs as field_runs
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.limits import CONTENT
from inspector.core.names import visible
from inspector.core.numbers import count, rounded
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.reader import Step
from inspector.core.source import Source, SourceError, SplicedSource
from inspector.core.span import Spans
from inspector.core.verdict import Checksum, State
from inspector.operations.check.checking import judgement, state_from
from inspector.operations.edit.plan_repairs import Plan
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.listing import content as pieces_of
from inspector.operations.open.location import Location, NoDatasetError, NoRangeError, open_location
from inspector.operations.open.nested import is_stored
from inspector.operations.open.opening import Opened, learn
from inspector.operations.protocol.check_views import ReportKind
from inspector.operations.protocol.replay_views import Writes
from inspector.operations.protocol.views import (
    Chosen,
    ContentInfo,
    Explanation,
    FieldRow,
    FindingRow,
    FoundFields,
    LayerKind,
    MemberPlace,
    MemberRow,
    Page,
    SortKey,
    Stage,
    Status,
    TreeRow,
)
from inspector.operations.session.checks import ALL, Checks
from inspector.operations.session.layers import FieldView, Layers
from inspector.operations.session.members.members_view import Marks, MembersView
from inspector.operations.trials.experiment import Experiment
from inspector.operations.trials.replay import Replay
from inspector.sources.local.file import FileSource, TemporarySource
from inspector.sources.s3.connection import DEFAULT, Connection

_LOCK_POLL_S = 0.05
"""Seconds between two checks for cancellation while waiting for a lock."""


class SessionState:
    """One open location. If opening fails, ``failure`` says why.

    ``s3`` says how to reach S3; ``opened`` is it if it was opened before. Archives are decoded sparingly until they are
    checked.

    Attributes:
        now: what is shown: ``disk``, or that with a pending edit.
        disk: the location as it was read last.
        generation: grows when fields, layers, members or findings change.
        decoding: the archive that is being decoded, or was last.
        seen, found: the fields and the number of findings that ``generation`` knows.
        planned: the plan of repairs that was shown last, and the state of the location that it is for.
        error: why the location could not be opened.
        read_error: why it could not be opened, or bytes not be read; None once reading succeeds.
        unwritten: why the last change was not written.
        traced: the steps of the reader that was followed last.
        experiment: what ``now`` shows instead of the archive on disk, which is then not written.
        replay: the same, and which writes are replayed.

    """

    def __init__(self, location: str, s3: Connection = DEFAULT, opened: Location | None = None) -> None:
        self.name = location
        self.s3 = s3
        self.stage = Stage.OPENING
        self.failure = ""
        self.error: SourceError | None = None
        self.generation = 0
        self.decoding = 0
        self.seen: object = None
        self.found = 0
        self._lock = Lock()
        self.planned: tuple[Snapshot, Plan] | None = None
        self.unwritten = ""
        self.traced: Sequence[Step] = ()
        self.experiment: Experiment | None = None
        self.replay: tuple[Writes, Replay] | None = None
        try:
            opened = opened or open_location(location, s3, sparing=True)
        except SourceError as error:
            opened = Location([], error.collection if isinstance(error, NoRangeError) else None)
            self.failure = str(error)
            if opened.collection is not None:
                self.failure = judgement(state_from(frozenset(), opened.collection.findings), str(error))
            self.stage, self.error = Stage.FAILED, error
        self.read_error = self.error
        self.now = self.disk = Snapshot(location, opened)

    @property
    def unreal(self) -> str:
        """What is shown instead of the archive, in words; empty for the archive and its edits."""
        return "an experiment" if self.experiment is not None else "a replay" if self.replay is not None else ""

    @contextmanager
    def alone(self, progress: Progress) -> Iterator[None]:
        """Inside the block no other job of this session runs. Raises Cancelled while waiting for that."""
        while not self._lock.acquire(timeout=_LOCK_POLL_S):
            progress.advance(0)
        try:
            yield
        finally:
            self._lock.release()

    def show(self, snapshot: Snapshot) -> None:
        """Show a decoded snapshot instead of the current one; earlier answers are then stale."""
        self.now = snapshot
        self.stage, self.failure, self.decoding = Stage.READY, "", 0
        self.generation += 1


class Snapshot:
    """One state of a location; each pending edit has a snapshot of its own."""

    def __init__(self, name: str, location: Location) -> None:
        self.location = location
        self.archives = location.archives
        self.layers = Layers(location.total)
        self.members = MembersView(location, self.marks)
        self.checks = Checks(name, location)
        self.contents: dict[int, ContentInfo] = {}
        self._marks: dict[int, Marks] = {}
        if location.total:
            self.open(0)

    def open(self, at: int, *, ahead: bool = False) -> Opened:
        """The archive ``at`` and its layer, opened if it is the next one, or (``ahead``) out of order."""
        archive = self.location.ahead(at) if ahead else self.location.open(at)
        self.layers.add_file(at, self.location.title(at), archive)
        return archive

    def marks(self, at: int) -> Marks:
        """The findings of an archive by byte and by member."""
        known = self._marks.get(at)
        archive = self.location.known(at)
        if known is None or len(known.findings) != len(archive.findings):
            known = self._marks[at] = Marks(archive)
        return known

    def forget_marks(self) -> None:
        """Discard cached findings because they will change."""
        self._marks.clear()

    def view(self, number: int) -> FieldView:
        """The fields of a layer as rows."""
        layer = self.layers[number]
        # An archive opened out of order has no member numbers yet.
        first = self.location.number(layer.at, 0) if layer.at < len(self.archives) else None
        return FieldView(layer, self.marks(layer.at), first)


# ---- reading what is open --------------------------------------------------------------------------------------------


SAMPLE_BYTES = 64 * 1024
"""The bytes that encoding detection reads."""
MAX_IMAGE_BYTES = 64 << 20
"""The size of the largest file that is shown as an image."""

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\f\r\x1b")) + b"\x7f"
_IMAGE = re.compile(
    rb"(?P<png>\x89PNG\r\n\x1a\n)|(?P<jpeg>\xff\xd8\xff)|(?P<gif>GIF8[79]a)|(?P<bmp>BM)|(?P<webp>RIFF.{4}WEBP)",
    re.DOTALL,
)
"""The beginnings of images by format."""


def decoded_content(archive: Opened, index: int, progress: Progress, largest: int = 0) -> tuple[Source, str]:
    """The content of a member, and a sentence on what is missing, empty if it is complete.

    At most ``largest`` bytes are decoded, 0 for the user's limit. A stored member is a view of the file, not a copy.
    """
    member = archive.members[index]
    name = visible(member.path)
    largest = largest or CONTENT.value
    if not member.readable:
        return TemporarySource(name), "Its entry does not locate its content."
    if is_stored(archive.source, member):
        return SplicedSource(archive.source, member.spans, name), ""
    target = TemporarySource(name)
    progress.begin(f"Decoding {name}", member.size)
    try:
        for piece in pieces_of(archive, index, progress):
            target.append(piece[: largest - target.size])
            if target.size >= largest and target.size < member.size:
                return target, f"Only the first {rounded(largest)} are shown."
            progress.done = target.size
            progress.advance(0)
    except (MemberError, SourceError) as error:
        return target, str(error)
    return target, ""


def encoding_of(sample: bytes, whole: bool) -> str | None:
    """The encoding of a text, None for binary content; ``whole``: the sample is the complete content."""
    for mark, name in _BYTE_ORDER_MARKS:
        if sample.startswith(mark):
            return name
    if sample.translate(None, _CONTROLS) != sample:
        return None
    if sample.isascii():
        return "ascii"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=whole)
    except UnicodeDecodeError:
        return next((each for each in _OTHER_ENCODINGS if _decodes(sample, each)), None)
    return "utf-8"


_OTHER_ENCODINGS = ("cp1252", "latin-1")
"""What text that is no UTF-8 is taken for: most of it was written in Western Europe, and no byte is lost by that."""


def _decodes(sample: bytes, encoding: str) -> bool:
    """Whether a sample is text in an encoding: letters, mostly of ASCII."""
    try:
        sample.decode(encoding)
    except UnicodeDecodeError:
        return False
    return 2 * sum(each >= 0x80 for each in sample) < len(sample)


def image_of(start: bytes, size: int) -> str | None:
    """The image format according to the first bytes; None for other content and for images too large to show."""
    found = _IMAGE.match(start) if size <= MAX_IMAGE_BYTES else None
    return found.lastgroup if found else None


# ---- what the window shows -----------------------------------------------------------------------------------------

MAX_READ_BYTES = 1 << 20
"""The size of the largest answer of ``read``."""


def _stamp(source: Source) -> str:
    """What distinguishes this state of a file or an object from others; empty if that is unknown, as for an overlay."""
    if isinstance(source, FileSource):
        return f"{source.identity.size}-{source.identity.mtime_ns}"
    return str(getattr(source, "etag", ""))


class Reading(SessionState):
    """Decodes, checks and shows what is open."""

    def status(self) -> Status:
        """The current status."""
        now = self.now
        self.update_generation()
        first = now.archives[0] if now.archives else None
        collection = now.location.collection
        decoded = self.stage is Stage.READY
        failed = self.stage is Stage.FAILED
        known = first.decoder if first and not collection else None
        return Status(
            self.stage,
            self._sentence(),
            first.format if first else "",
            collection.title if collection else first.title if first else "",
            now.location.size if first else 0,
            now.location.members,
            self.generation,
            now.checks.counts(),
            collection is not None,
            self._failed_state() if failed else now.checks.state() if decoded else None,
            now.checks.checked,
            now.checks.sentence() if decoded else "",
            now.checks.judged(),
            _stamp(first.source) if first and not collection else "",
            now.checks.main() if decoded else None,
            first is None or first.decoder is None or first.decoder.has_checksums,
            isinstance(self.error, NoDatasetError),
            decoded and now is self.disk and now.checks.unexplained,
            known is not None and known.appendable,
            known is not None and known.header_edited,
            now.layers.infos(),
        )

    def _failed_state(self) -> State:
        collection = self.now.location.collection
        return State.UNREADABLE if collection is None else state_from(frozenset(), collection.findings)

    def _sentence(self) -> str:
        now = self.now
        if self.stage is Stage.FAILED:
            return self.failure
        collection = now.location.collection
        title = collection.title if collection else now.archives[0].title
        if self.stage is Stage.CANCELLED:
            return "Decoding was cancelled; everything decoded so far is shown."
        if self.stage is not Stage.READY:
            return f"{title}: being decoded."
        if collection is None and now.archives[0].decoder is None:
            return "The format is unknown; it is shown as plain bytes."
        return f"{title}, {rounded(now.location.size)}, {count(now.location.members, 'member')}."

    def update_generation(self) -> None:
        """Increment the generation if the decoder has new fields, or a check new findings."""
        now, seen, found, added = self.now, self.seen, self.found, False
        if now.checks.running:
            self.found = sum(len(archive.findings) for archive in tuple(now.archives))
        if self.decoding < len(now.archives):
            archive = now.archives[self.decoding]
            self.seen, added = archive.fields, now.layers.add_inner(self.decoding, archive)
        if added or self.seen is not seen or self.found != found:
            self.generation += 1

    def read(self, layer: int, offset: int, length: int) -> bytes:
        """Bytes of a layer, at most 1 MiB; short at its end. Raises SourceError, which ``remote`` explains too."""
        try:
            found = self.now.layers[layer].source.read(offset, min(length, MAX_READ_BYTES))
        except SourceError as error:
            self.read_error = error
            raise
        self.read_error = None
        return found

    def runs(self, layer: int, start: int, stop: int) -> list[Run]:
        """The runs of leaves in ``[start, stop)``, at most 1 MiB of it."""
        shown = self.now.layers[layer]
        # The number of a content's member counts all archives; its own archive knows it by another one.
        verdict_of = None if shown.info.kind is LayerKind.CONTENT else shown.archive.verdict
        return field_runs(shown.fields(), start, min(stop, start + MAX_READ_BYTES), verdict_of)

    def explain(self, layer: int, offset: int, wanted: tuple[int, ...] | None = None) -> Explanation:
        """The fields that own a byte, and the findings on it; inside data, only those on the ``wanted`` path."""
        return self.now.view(layer).explain(offset, wanted)

    def field_rows(self, layer: int, path: tuple[int, ...], first: int, count: int) -> Page[FieldRow]:
        """The children of the field at ``path``; the outermost fields for ``()``."""
        return self.now.view(layer).rows(path, first, count)

    def field(self, layer: int, path: tuple[int, ...]) -> FieldRow | None:
        """The field at ``path``, None without one."""
        return self.now.view(layer).field(path)

    def member(self, index: int) -> MemberRow:
        """One member; raises OperationError if there is none."""
        return self.now.members.row(index)

    def member_rows(self, first: int, count: int) -> Page[MemberRow]:
        """Members in the current order."""
        return self.now.members.rows(first, count)

    def tree_rows(self, node: int, first: int, count: int) -> Page[TreeRow]:
        """The rows of a folder in the tree of paths; 0 is the root. Empty before ``build_tree``."""
        return self.now.members.tree_rows(node, first, count)

    def chosen(self, chosen: Chosen) -> array[int]:
        """The numbers of the selected members."""
        return self.now.members.numbers(chosen)

    def place(self, index: int) -> MemberPlace:
        """The location of a member; raises OperationError if there is none."""
        now = self.now
        at, local = now.location.find(index)
        spans = now.archives[at].members[local].spans
        return MemberPlace(at, spans, now.members.flat_place(index), now.members.tree_place(index))

    def findings(self, first: int, count: int, severities: Collection[Severity] = ALL) -> Page[FindingRow]:
        """Findings of these severities, oldest first."""
        return self.now.checks.findings(first, count, severities)

    def damage(self, layer: int, most: int) -> Spans:
        """The damaged bytes of a layer: those of the first ``most`` errors and warnings."""
        shown = self.now.layers[layer]
        wrong = (finding for finding in tuple(shown.archive.findings) if finding.severity is not Severity.INFO)
        return tuple(span for finding in islice(wrong, most) for span in shown.from_file(finding.spans))

    def find_fields(self, progress: Progress, layer: int, text: str) -> FoundFields:
        """The fields that contain a text."""
        progress.begin("Searching the structure", 0, "fields")
        return self.now.view(layer).search(text, progress)

    def checksums(self, first: int, count: int, text: str = "") -> Page[Checksum]:
        """The recorded checksums and their verdicts, those with a text if one is given."""
        return self.now.checks.checksums(first, count, text)

    def decode(self, progress: Progress) -> Status:
        """Decode everything, and return the status then. Cancelling keeps what was decoded and raises nothing."""
        with self.alone(progress):
            if self.stage is Stage.OPENING:
                self._decode_all(progress)
        return self.status()

    def _decode_all(self, progress: Progress) -> None:
        now = self.now
        self.stage = Stage.DECODING
        try:
            for at in now.location.read_all(progress):
                now.open(at)
                self.decoding = at
                self.update_generation()
            self.stage = Stage.READY
        except Cancelled:
            self.stage = Stage.CANCELLED
        self.generation += 1

    def name_causes(self, progress: Progress) -> bool:
        """Place the causes of what decoding found before it; a check that is started meanwhile ends this.

        Returns whether there is one. Cancelling raises nothing.
        """
        now = self.now
        if not now.checks.name_causes(progress):
            return False
        now.forget_marks()
        self.generation += 1
        return True

    def check(self, progress: Progress) -> Status:
        """Decode the rest, check everything, even if it was checked before, and return the status then.

        Cancelling keeps the verdicts so far and raises nothing, unless decoding was not finished.
        Raises OperationError if there is nothing to check.
        """
        self.now.checks.stop_naming()
        with self.alone(progress):
            now = self.now
            if self.stage is Stage.OPENING:
                self._decode_all(progress)
                progress.advance(0)
            if self.stage is Stage.FAILED:
                raise OperationError(self.failure)
            if self.stage is Stage.CANCELLED:
                raise OperationError("Decoding was cancelled, so the check would be incomplete. Reload it.")
            now.forget_marks()
            try:
                now.checks.run(progress)
            finally:
                now.forget_marks()
                self.generation += 1
        return self.status()

    def export(
        self,
        progress: Progress,
        path: str,
        kind: ReportKind,
        redact: bool = False,
        notes: Sequence[str] = (),
    ) -> None:
        """Write a report with the user's notes to a file."""
        progress.begin("Writing the report", 0)
        note = "" if self.now is self.disk else "with changes that are not written yet"
        if self.experiment is not None:
            note = f"as an experiment of {count(len(self.experiment.steps), 'step')} leaves it"
        if self.replay is not None:
            note = "as a replay of writes shows it"
        self.now.checks.export(Path(path), kind, progress, redact=redact, note=note, notes=notes)

    def arrange(self, progress: Progress, filter_text: str, sort_key: SortKey, descending: bool) -> int:
        """Show the members whose visible path contains a text, sorted; returns their number."""
        shown = self.now.members.arrange(filter_text, sort_key, descending, progress)
        self.generation += 1
        return shown

    def build_tree(self, progress: Progress) -> None:
        """Build the tree of paths of the members shown."""
        self.now.members.build_tree(progress)
        self.generation += 1

    def content(self, progress: Progress, index: int) -> ContentInfo:
        """Decode a member and make its content a layer."""
        now = self.now
        at, local = now.location.find(index)
        known = now.contents.get(index)
        if known is not None and known.layer.layer in now.layers:
            return known
        source, sentence = decoded_content(now.archives[at], local, progress)
        layer = now.layers.add_content(visible(now.location.path(index)), source, at, index)
        start = source.read(0, SAMPLE_BYTES)
        image = image_of(start, source.size)
        encoding = None if image else encoding_of(start, len(start) == source.size)
        now.contents[index] = ContentInfo(layer.info, encoding, image, sentence)
        return now.contents[index]

    def name_members(self, progress: Progress, numbers: Collection[int]) -> tuple[MemberRow, ...]:
        """These members, after reading their headers."""
        now = self.now
        progress.begin("Reading names", len(numbers), "members")
        chosen: dict[int, list[int]] = {}
        for number in sorted(numbers):
            at, local = now.location.find(number)
            chosen.setdefault(at, []).append(local)
        for at, locals_ in chosen.items():
            if learn(now.archives[at], locals_, progress):
                now.forget_marks()
                self.generation += 1
            progress.advance(len(locals_))
        return tuple(now.members.row(number) for number in numbers if number < now.location.members)
