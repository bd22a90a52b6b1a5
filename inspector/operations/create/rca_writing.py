"""Growing RCA archives in place."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.archive import Emitter
from inspector.core.edit import EditError
from inspector.core.finding import Severity
from inspector.core.format import ProbeResult
from inspector.core.names import visible
from inspector.core.numbers import in_bytes, plural
from inspector.core.program.progress import Progress
from inspector.formats import rca, recognise
from inspector.formats.rca.blocks import Convention
from inspector.formats.rca.check import StoredHashes
from inspector.formats.rca.chunks import ChunkLayer, Layout, scan
from inspector.formats.rca.findings import report_hashes
from inspector.formats.rca.hashes import Hashes, compare
from inspector.formats.rca.reading import MAX_HASHED_BYTES
from inspector.formats.rca.repair import finish
from inspector.formats.rca.write import Writer, header
from inspector.operations.create.creating import Created, NewArchive
from inspector.operations.create.creating_rca import (
    CONVENTION_NAMES,
    CONVENTIONS,
    RcaOptions,
    blob_pieces,
    check_level,
    storage_beside,
)
from inspector.operations.create.inputs import Input, check_names, gather, skipped_outputs
from inspector.operations.jobs.local_paths import local_path
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import Opened, decode
from inspector.sources.local.changes.append import appending
from inspector.sources.local.changes.in_place import write
from inspector.sources.local.changes.recovery import settle_append
from inspector.sources.local.choices import remember, remembered
from inspector.sources.local.disk_calls import DISK, Disk
from inspector.sources.local.file import FileSource, TemporarySource
from inspector.sources.local.rehearsal import Rehearsal
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.connection import DEFAULT, Connection

DISCARD = "rca-discard-tail"
"""Consent to overwrite readable but unproved blobs of an interrupted append."""


def append_rca(
    progress: Progress, target: str, locations: Sequence[str], options: RcaOptions, *, connection: Connection = DEFAULT
) -> Created:
    """Add what is at the locations to an archive in place, all of it or nothing.

    Whatever happens on the way, its own blobs stay readable. An earlier append that was interrupted is finished first
    as far as hashes prove it; blobs of it that only can be read are overwritten with consent only. Raises
    OperationError where it is no RCA archive or that consent is missing, EditError where it cannot be written or is
    damaged, SourceError and Cancelled: the archive then holds what it held.
    """
    if is_s3(target):
        raise OperationError(
            f"{visible(target)} cannot be added to: an object on S3 does not grow, a new one would have to take its "
            "place. Download it, add to it here and put it back, or make another archive beside it."
        )
    path = local_path(target)
    grown = grow(path, gather(locations, progress, [path.resolve()], connection), options, progress)
    return replace(grown, warnings=(*grown.warnings, *skipped_outputs([path], locations)))


def grow(
    target: Path,
    inputs: Sequence[Input],
    options: RcaOptions,
    progress: Progress,
    disk: Disk = DISK,
    *,
    rehearsal: Rehearsal | None = None,
) -> Created:
    """See append_rca. With ``rehearsal`` all is written to that instead."""
    check_level(options)
    name, disk = visible(str(target)), rehearsal or disk
    opened = rehearsal.source if rehearsal is not None else FileSource
    settled = settle_append(target, disk)
    finished = (*settled, *_finish_interrupted(opened(target), target, options, progress, disk))
    with appending(target, disk) as file:
        ready = _examined(opened(target), target, options, progress)
        file.begin(ready.source.identity, ready.end, ready.header)
        warnings = (*finished, *ready.warnings(options), *check_names(inputs, ready.names))
        if not inputs:
            sentence = f"Nothing was added to {name}: there is nothing to add."
            return Created((), sentence, (*file.warnings, *warnings))
        convention, warning = _convention(ready, options, name)
        room = storage_beside(target) if rehearsal is None else TemporarySource
        writer = Writer(ready.chunks, convention, room, options.level)
        for piece in blob_pieces(writer, inputs, progress):
            file.write(*piece)
        commit = writer.commit()
        assert commit.last is not None
        file.commit(commit.headers, commit.last, commit.size)
    if not ready.members and rehearsal is None:
        remember(writer.digest, CONVENTION_NAMES[convention])
    sentence = plural(
        "{name} has {number} blob more, and has grown by {size}.",
        "{name} has {number} blobs more, and has grown by {size}.",
        len(inputs),
        name=name,
        size=in_bytes(commit.size - ready.end),
    )
    archive = NewArchive(str(target), ready.members + len(inputs), commit.size)
    return Created((archive,), sentence, (*warnings, *warning, *file.warnings))


def _convention(ready: _Ready, options: RcaOptions, name: str) -> tuple[Convention, tuple[str, ...]]:
    """The convention to append by, and what to know of it as sentences."""
    known = ready.convention if ready.convention_known else CONVENTIONS.get(ready.remembered)
    if options.convention or known or not ready.members:
        return options.convention or known or Convention.SPECIFICATION, ()
    followed = (
        f"{name} fitted both hash conventions; from now on it follows the specification, and rcarch rejects it. For "
        "rcarch, the first append needs --hash-convention rcarch."
    )
    return Convention.SPECIFICATION, (followed,)


# ---- what is there already ---------------------------------------------------------------------------------------


class _Ready(Struct, frozen=True):
    """An archive that can be added to. ``convention`` is its own, ``convention_known`` whether a hash shows it."""

    source: FileSource
    chunks: ChunkLayer
    hashes: Hashes
    convention: Convention
    convention_known: bool
    members: int
    names: Collection[bytes]

    @property
    def end(self) -> int:
        """Where the archive ends in the file."""
        return self.chunks.chunks[-1].stop if self.chunks.chunks else 0

    @property
    def remembered(self) -> str:
        """The convention that was chosen when the archive was made here; empty if that is not known."""
        sized = [chunk for chunk in self.chunks.chunks if chunk.payload.size]
        return remembered(sized[-1].metadata) if sized else ""

    @property
    def header(self) -> tuple[int, bytes]:
        """Offset and bytes of the header that the append will replace; no bytes where it will stand after the end."""
        last = self.chunks.chunks[-1] if self.chunks.chunks else None
        return (last.start, header(last.size, last.bits, last.metadata)) if last and not last.full else (self.end, b"")

    def warnings(self, options: RcaOptions) -> tuple[str, ...]:
        """What to know of adding to it, as sentences."""
        found: tuple[str, ...] = ()
        left = self.source.size - self.end
        if left:
            found += (f"An earlier append was interrupted; the {in_bytes(left)} that it left are overwritten.",)
        if self.convention_known and options.convention not in (None, self.convention):
            found += (
                "The archive's other hashes follow another convention than the chosen one: no reader accepts both.",
            )
        return found


def _finish_interrupted(
    source: FileSource, target: Path, options: RcaOptions, progress: Progress, disk: Disk
) -> tuple[str, ...]:
    """Finish an earlier append that was interrupted, where hashes prove it; says what was done.

    Raises what _examined does.
    """
    if not scan(source).tail:
        return ()
    ready = _examined(source, target, options, progress)
    proved = next((each for each in finish(source, ready.hashes) if not each.claim), None)
    if proved is None or proved.edit is None:
        return ()
    written = write(target, proved.edit, ready.source.identity, disk)
    return (*written.warnings, f"{proved.title}: that was done first, as hashes prove it.")


def names_in(source: FileSource, progress: Progress) -> frozenset[bytes]:
    """The names of the blobs of an archive, as far as it can be read. Raises SourceError and Cancelled."""
    archive = Opened(source, rca.FORMAT.name, rca.FORMAT.title, (), decoder=rca.FORMAT)
    decode(archive, progress)
    return frozenset(archive.members.path(index) for index in range(len(archive.members)))


def _examined(source: FileSource, target: Path, options: RcaOptions, progress: Progress) -> _Ready:
    """Read an archive as far as adding to it needs. Raises OperationError, EditError, SourceError and Cancelled."""
    name = visible(target.name)
    if source.size and recognise(source) is not rca.FORMAT:
        raise OperationError(f"Nothing was added to {name}: it is no RCA archive.")
    archive = Opened(source, rca.FORMAT.name, rca.FORMAT.title, (), decoder=rca.FORMAT)
    decode(archive, progress)
    layout = archive.detail
    if isinstance(layout, Layout):
        hashes = _hashes(archive, layout, progress)
    wrong = next((each for each in archive.findings if each.severity is Severity.ERROR), None)
    if wrong is not None:
        raise EditError(f"{name} is damaged; repair it first. {wrong.message}")
    behind = layout.behind
    unproved = behind.counted[1] if behind is not None else 0
    if behind is not None and unproved and DISCARD not in options.accept:
        them = "it" if unproved == 1 else "them"
        raise OperationError(
            f"Nothing was added to {name}: an earlier append was interrupted, and {behind.unproved} "
            f"can be read after the end of the archive, though nothing proves {them}. Repair it first to keep {them}, "
            f"or append with --accept {DISCARD} to overwrite {them}."
        )
    if source.size and not layout.chunks.chunks and rca.FORMAT.probe(source) is ProbeResult.NO:
        raise OperationError(
            f"Nothing was added to {name}: it holds no blob, and its {in_bytes(source.size)} do not look like what an "
            "interrupted append leaves, so they may be something else. Make a new archive instead."
        )
    if layout.blocks.incomplete:
        raise OperationError(f"Nothing was added to {name}: it holds more blocks than can be looked at.")
    told, members = hashes.convention, archive.members
    names = {members.path(index) for index in range(len(members))}
    return _Ready(
        source, layout.chunks, hashes, told or Convention.SPECIFICATION, told is not None, len(members), names
    )


def _hashes(archive: Opened, layout: Layout, progress: Progress) -> Hashes:
    """Hashes that are compared: all of a small archive, of a large one that of the end and one for the convention.

    The hash of the end proves that it is the end: a chunk header that was changed to end earlier would else make good
    blobs look like what an interrupted append has left.
    """
    if layout.inner.size <= MAX_HASHED_BYTES:
        assert isinstance(archive.checksums, StoredHashes)
        return archive.checksums.hashes
    hashes = Hashes(layout)
    last = len(hashes) - 1
    telling = [row for row in range(last) if hashes.conventions_differ(row)]
    smallest = min(telling, key=lambda row: hashes.bounds(row)[1] - hashes.bounds(row)[0], default=last)
    hashes = compare(layout, progress, sorted({smallest, last}))
    report_hashes(hashes, Emitter(archive))
    return hashes
