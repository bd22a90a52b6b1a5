"""Reading and checking what is open. Functions answer at once, except jobs, which take a Progress."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from inspector.core.field import Run
from inspector.core.field import runs as field_runs
from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import count, rounded
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import Source, SourceError
from inspector.core.span import Spans
from inspector.core.verdict import State
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.index_cache import keep, show_from_cache
from inspector.operations.open.location import NoDatasetError
from inspector.operations.open.opening import learn
from inspector.operations.protocol.check_views import ReportKind
from inspector.operations.protocol.views import (
    CheckResult,
    ChecksumRow,
    Chosen,
    ContentInfo,
    Explanation,
    FieldRow,
    FindingRow,
    FoundFields,
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
from inspector.operations.session.navigation import GotoTargets, search
from inspector.operations.session.state import SessionState
from inspector.sources.local.file import FileSource

MAX_READ_BYTES = 1 << 20
"""The size of the largest answer of ``read``."""


def status(session: SessionState) -> Status:
    """The current status."""
    now = session.now
    update_generation(session)
    first = now.archives[0] if now.archives else None
    collection = now.location.collection
    decoded = session.stage is Stage.READY
    failed = session.stage is Stage.FAILED
    known = first.decoder if first and not collection else None
    return Status(
        session.stage,
        _sentence(session),
        first.format if first else "",
        collection.title if collection else first.title if first else "",
        now.location.size if first else 0,
        len(now.archive_set),
        session.generation,
        now.checks.counts(),
        collection is not None,
        (State.DAMAGED if collection else State.UNREADABLE) if failed else now.checks.state() if decoded else None,
        now.checks.checked,
        now.checks.sentence() if decoded else "",
        now.checks.judged(),
        _stamp(first.source) if first and not collection else "",
        now.checks.main() if decoded else None,
        first is None or first.decoder is None or first.decoder.has_checksums,
        isinstance(session.error, NoDatasetError),
        decoded and now is session.disk and now.checks.unexplained,
        known is not None and known.appendable,
        known is not None and known.header_edited,
        known.anew if known is not None else "",
        now.layers.infos(),
    )


def _sentence(session: SessionState) -> str:
    now = session.now
    if session.stage is Stage.FAILED:
        return session.failure
    collection = now.location.collection
    title = collection.title if collection else now.archives[0].title
    if session.stage is Stage.CANCELLED:
        return "Decoding was cancelled; everything decoded so far is shown."
    if session.stage is not Stage.READY:
        return f"{title}: being decoded."
    if collection is None and now.archives[0].decoder is None:
        return "The format is unknown; it is shown as plain bytes."
    return f"{title}, {rounded(now.location.size)}, {count(len(now.archive_set), 'member')}."


def update_generation(session: SessionState) -> None:
    """Increment the generation if the decoder has new fields, or a check new findings."""
    now = session.now
    found = sum(len(archive.findings) for archive in tuple(now.archives))
    if now.checks.running and found != session.found:
        session.found = found
        session.generation += 1
    at = session.decoding
    if at >= len(now.archives):
        return
    archive = now.archives[at]
    if archive.fields is not session.seen:
        session.seen = archive.fields
        session.generation += 1
    if now.layers.add_inner(at, archive):
        session.generation += 1


def layers(session: SessionState) -> tuple[LayerInfo, ...]:
    """All layers; 0 is the file."""
    update_generation(session)
    return session.now.layers.infos()


def read(session: SessionState, layer: int, offset: int, length: int) -> bytes:
    """Bytes of a layer, at most 1 MiB; short at its end. Raises SourceError, which ``remote`` explains too."""
    try:
        found = session.now.layers[layer].source.read(offset, min(length, MAX_READ_BYTES))
    except SourceError as error:
        session.read_error = error
        raise
    session.read_error = None
    return found


def runs(session: SessionState, layer: int, start: int, stop: int) -> list[Run]:
    """The runs of leaves in ``[start, stop)``, at most 1 MiB of it."""
    shown = session.now.layers[layer]
    # The number of a content's member counts all archives; its own archive knows it by another one.
    verdict_of = None if shown.info.kind is LayerKind.CONTENT else shown.archive.verdict
    return field_runs(shown.fields(), start, min(stop, start + MAX_READ_BYTES), verdict_of)


def explain(session: SessionState, layer: int, offset: int, wanted: tuple[int, ...] | None = None) -> Explanation:
    """The fields that own a byte, and the findings on it; inside data, only those on the ``wanted`` path."""
    return session.now.view(layer).explain(offset, wanted)


def field_rows(session: SessionState, layer: int, path: tuple[int, ...], first: int, count: int) -> Page[FieldRow]:
    """The children of the field at ``path``; the outermost fields for ``()``."""
    return session.now.view(layer).rows(path, first, count)


def field(session: SessionState, layer: int, path: tuple[int, ...]) -> FieldRow | None:
    """The field at ``path``, None without one."""
    return session.now.view(layer).field(path)


def member(session: SessionState, index: int) -> MemberRow:
    """One member; raises OperationError if there is none."""
    return session.now.members.row(index)


def member_rows(session: SessionState, first: int, count: int) -> Page[MemberRow]:
    """Members in the current order."""
    return session.now.members.rows(first, count)


def tree_rows(session: SessionState, node: int, first: int, count: int) -> Page[TreeRow]:
    """The rows of a folder in the tree of paths; 0 is the root. Empty before ``build_tree``."""
    return session.now.members.tree_rows(node, first, count)


def chosen(session: SessionState, chosen: Chosen) -> array[int]:
    """The numbers of the selected members."""
    return session.now.members.numbers(chosen)


def place(session: SessionState, index: int) -> MemberPlace:
    """The location of a member; raises OperationError if there is none."""
    now = session.now
    at, local = now.archive_set.find(index)
    archive = now.archives[at]
    spans = (archive.members if local < len(archive.members) else archive.shown)[local].spans
    return MemberPlace(at, spans, now.members.flat_place(index), now.members.tree_place(index))


def findings(session: SessionState, first: int, count: int, severities: Collection[Severity] = ALL) -> Page[FindingRow]:
    """Findings of these severities, oldest first."""
    return session.now.checks.findings(first, count, severities)


def damage(session: SessionState, layer: int, most: int) -> Spans:
    """The damaged bytes of a layer: those of the first ``most`` errors and warnings."""
    shown = session.now.layers[layer]
    wrong = (finding for finding in tuple(shown.archive.findings) if finding.severity is not Severity.INFO)
    return tuple(span for finding in islice(wrong, most) for span in shown.from_file(finding.spans))


def find_fields(session: SessionState, progress: Progress, layer: int, text: str) -> FoundFields:
    """The fields that contain a text. Raises OperationError, SourceError and Cancelled."""
    progress.begin("Searching the structure", 0, "fields")
    return session.now.view(layer).search(text, progress)


def checksums(session: SessionState, first: int, count: int, text: str = "") -> Page[ChecksumRow]:
    """The recorded checksums and their verdicts, those with a text if one is given. Raises SourceError."""
    return session.now.checks.checksums(first, count, text)


def goto(session: SessionState, expression: str, layer: int, caret: int) -> Target:
    """The target of an expression (see ``goto``), relative to a caret in a layer. Raises OperationError."""
    now = session.now
    return GotoTargets(now.archives, now.archive_set, now.layers, partial(place, session)).target(
        expression, layer, caret
    )


def decode(session: SessionState, progress: Progress) -> Status:
    """Decode everything, and return the status then. Cancelling keeps what was decoded and raises nothing."""
    with session.job_lock.held(progress):
        if session.stage is Stage.OPENING:
            _decode_all(session, progress)
    return status(session)


def _decode_all(session: SessionState, progress: Progress) -> None:
    now = session.now
    session.stage = Stage.DECODING
    archive = now.archives[0] if now.location.collection is None and now.archives else None
    if archive is not None and show_from_cache(archive):
        session.generation += 1
    try:
        for at in now.location.read_all(progress):
            now.open(at)
            session.decoding = at
            update_generation(session)
        session.stage = Stage.READY
    except Cancelled:
        session.stage = Stage.CANCELLED
    if archive is None:
        session.generation += 1
        return
    listed, archive.listed = archive.listed, None
    same = listed is not None and listed.same_as(archive.members)
    if listed is not None and not same:
        now.forget_members()
    session.generation += 1
    if not same:
        keep(archive)


def decoded_place(session: SessionState, progress: Progress, index: int) -> tuple[int, int]:
    """The archive's number and the index in it of a member, once it is decoded.

    Raises OperationError if there is none, and Cancelled.
    """
    now = session.now
    at, local = now.archive_set.find(index)
    if local >= len(now.archives[at].members):  # from the index cache
        with session.job_lock.held(progress):
            progress.advance(0)
    return now.archive_set.locate(index)


def name_causes(session: SessionState, progress: Progress) -> bool:
    """Place the causes of what decoding found before it; a check that is started meanwhile ends this.

    Returns whether there is one. Cancelling raises nothing.
    """
    now = session.now
    if not now.checks.name_causes(progress):
        return False
    now.forget_marks()
    session.generation += 1
    return True


def run_check(session: SessionState, progress: Progress) -> CheckResult:
    """Decode the rest, and check everything, even if it was checked before.

    Cancelling keeps the verdicts so far and raises nothing, unless decoding was not finished.
    Raises OperationError if there is nothing to check.
    """
    session.now.checks.stop_naming()
    with session.job_lock.held(progress):
        now = session.now
        if session.stage is Stage.OPENING:
            _decode_all(session, progress)
            progress.advance(0)
        if session.stage is Stage.FAILED:
            raise OperationError(session.failure)
        if session.stage is Stage.CANCELLED:
            raise OperationError("Decoding was cancelled, so the check would be incomplete. Reload it.")
        now.forget_marks()
        try:
            return now.checks.run(progress)
        finally:
            now.forget_marks()
            session.generation += 1


def export(
    session: SessionState,
    progress: Progress,
    path: str,
    kind: ReportKind,
    redact: bool = False,
    notes: Sequence[str] = (),
) -> None:
    """Write a report with the user's notes to a file. Raises OperationError, SourceError and Cancelled."""
    progress.begin("Writing the report", 0)
    note = "" if session.now is session.disk else "with changes that are not written yet"
    if session.experiment is not None:
        note = f"as an experiment of {count(len(session.experiment.steps), 'step')} leaves it"
    if session.replay is not None:
        note = "as a replay of writes shows it"
    session.now.checks.export(Path(path), kind, progress, redact=redact, note=note, notes=notes)


def write_manifest(session: SessionState, progress: Progress, algorithm: str, replace: bool) -> ManifestResult:
    """Write the digests of all members beside the archive. Raises OperationError, SourceError and Cancelled."""
    if session.unreal:
        raise OperationError(
            f"No manifest was written: its digests would be those of the {session.unreal}, not of the archive."
        )
    if session.stage is not Stage.READY:
        raise OperationError("No manifest was written: not all of the archive has been read.")
    return write_manifest_beside(session.now.location, algorithm, progress, replace=replace)


def arrange(session: SessionState, progress: Progress, filter_text: str, sort_key: SortKey, descending: bool) -> int:
    """Show the members whose visible path contains a text, sorted; returns their number. Raises Cancelled."""
    shown = session.now.members.arrange(filter_text, sort_key, descending, progress)
    session.generation += 1
    return shown


def build_tree(session: SessionState, progress: Progress) -> None:
    """Build the tree of paths of the members shown. Raises Cancelled."""
    session.now.members.build_tree(progress)
    session.generation += 1


def find_bytes(
    session: SessionState,
    progress: Progress,
    layer: int,
    pattern: bytes,
    start: int,
    backwards: bool,
    ignore_case: bool,
) -> int | None:
    """The first match at or after ``start``, backwards the last before it. Raises SourceError and Cancelled."""
    return search(session.now.layers[layer].source, pattern, start, backwards, ignore_case, progress)


def content(session: SessionState, progress: Progress, index: int) -> ContentInfo:
    """Decode a member and make its content a layer. Raises OperationError, SourceError and Cancelled."""
    now = session.now
    at, local = decoded_place(session, progress, index)
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


def name_members(session: SessionState, progress: Progress, numbers: Collection[int]) -> tuple[MemberRow, ...]:
    """These members, after reading their headers. Raises OperationError, SourceError and Cancelled."""
    now = session.now
    progress.begin("Reading names", len(numbers), "members")
    chosen: dict[int, list[int]] = {}
    for number in sorted(numbers):
        at, local = decoded_place(session, progress, number)
        chosen.setdefault(at, []).append(local)
    for at, locals_ in chosen.items():
        if learn(now.archives[at], locals_, progress):
            now.forget_marks()
            session.generation += 1
        progress.advance(len(locals_))
    return tuple(now.members.row(number) for number in numbers if number < len(now.archive_set))
