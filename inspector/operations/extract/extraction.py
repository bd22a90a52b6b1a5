"""Extracting members into a folder: planned first, then written, each file whole under its name or not at all.

Members that lie one after another are read in that order by one thread, independent ones by several threads.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import groupby
from pathlib import Path
from threading import Event, Lock
from typing import NamedTuple

from inspector.core.archive import Archive
from inspector.core.finding import Finding
from inspector.core.format import MemberError, one_group
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes, rounded, verb
from inspector.core.program.progress import Cancelled, Progress, Quiet
from inspector.core.source import Source, SourceError, change_of
from inspector.operations.extract.extraction_plan import Batch, Planner
from inspector.operations.extract.selection import MemberSelection, with_suffix
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.jobs.unfinished import removed_message
from inspector.operations.open.opening import Opened
from inspector.operations.open.reading import Doubts, Errors, Reading, noted
from inspector.operations.protocol.extraction_views import (
    ExtractionOptions,
    ExtractionPlan,
    ExtractionResult,
    Problems,
)
from inspector.sources.local.file import FileSource
from inspector.sources.local.member_writer import (
    Destination,
    FolderCalls,
    PartialFile,
    Parts,
    PlaceError,
    TakenError,
    origin_of,
)
from inspector.sources.s3.sentences import S3Error
from inspector.sources.web.address import is_remote

_MAX_THREADS = 8
_PLAUSIBLE_DATES = range(315_532_800, 4_354_819_200)
"""Modification times that are restored: the years 1980 to 2107, in seconds since 1970."""
DAMAGED = b".damaged"
"""The suffix of files that are kept although they are not proved to be what was archived."""
_SIBLINGS = ((".metadata", ""), (".index", ".tar"))
"""Files that belong to an archive, as arguments of ``Source.sibling``."""


def folder_at(location: str) -> Path:
    """The local folder that a user names; raises OperationError for an address on S3 or on the web."""
    if is_remote(location):
        raise OperationError(
            f"Nothing was extracted: {visible(location)} is not a folder on this machine. Extract "
            "into a local folder, then upload it."
        )
    return Path(location)


class _Lane(NamedTuple):
    """What one thread works with: its own archive and folder."""

    archive: Opened
    destination: Destination
    errors: Errors
    progress: Progress


class Extraction:
    """The extraction of members of decoded archives into ``folder``; plan it or run it, once."""

    def __init__(
        self,
        selections: Sequence[MemberSelection],
        folder: Path,
        options: ExtractionOptions,
        calls: FolderCalls | None = None,
    ) -> None:
        self._selections = selections
        self._folder = folder
        self._options = options
        self._calls = calls
        self._sync = False
        self._progress = Progress()
        self._lock = Lock()
        self._stop = Event()
        self._files = self._size = 0
        self._damaged, self._unproved = Problems(), Problems()
        self._left: list[str] = []
        self._unread = ""
        """Why the first member that could not be read was not; the others have their own reasons."""

    def plan(self, progress: Progress) -> ExtractionPlan:
        """What would be done. Raises SourceError if the folder cannot be used, and Cancelled."""
        return self._planned(progress).plan()

    def run(self, progress: Progress) -> ExtractionResult:
        """Extract. Raises OperationError if nothing can be extracted, SourceError and Cancelled.

        After a cancellation, the files that are complete stay.
        """
        self._planner = planner = self._planned(progress)
        removed = self._remove_unfinished()
        plan = planner.plan()
        if plan.obstacle:
            raise OperationError(plan.obstacle)
        self._sync = plan.files == 1 if self._options.sync is None else self._options.sync
        self._progress, self._all = progress, plan.files
        folders, stopped = 0, self._unread
        errors = [Errors(self._proving(batch), noted(batch.selection.archive)) for batch in planner.batches]
        progress.begin("Extracting", plan.size)
        try:
            for batch, wrong in zip(planner.batches, errors, strict=True):
                folders += self._make_folders(batch)
                self._batch(batch, wrong)
            stopped = self._unread
        except SourceError as error:
            stopped = str(error)
        if stopped:
            stopped += (
                f" {grouped(self._files)} of {count(self._all, 'file')} were extracted, {rounded(self._size)} of "
                f"{rounded(plan.size)}; the unfinished file was removed."
            )
        changes = tuple(_changes(self._selections))
        missing = (planner.conflicts_left, planner.refused.count, plan.doubtful.count, self._damaged.count)
        were = verb(self._files, "was", "were")
        return ExtractionResult(
            plan.folder,
            self._files,
            folders,
            self._size,
            planner.conflicts,
            planner.refused,
            plan.doubtful,
            (*removed, *filter(None, (plan.unfinished,)), *plan.warnings, *self._left, *changes),
            self._damaged,
            self._unproved,
            stopped,
            not (any(missing) or stopped or planner.damage() or changes),
            f"{count(self._files, 'file')}, {rounded(self._size)}, {were} extracted to {plan.folder}.",
        )

    def _planned(self, progress: Progress) -> Planner:
        with self._destination() as destination:
            planner = Planner(self._selections, destination, self._options)
            planner.run(progress)
            return planner

    def _remove_unfinished(self) -> tuple[str, ...]:
        """Remove unfinished files if the options ask for it, before free space is measured; a message if any were."""
        if not self._options.remove_unfinished or not self._planner.unfinished:
            return ()
        with self._destination() as destination:
            gone = [each for parts, each in self._planner.unfinished if destination.remove(parts, each)]
        self._planner.unfinished = [(parts, each) for parts, each in self._planner.unfinished if each not in gone]
        return (removed_message(gone, self._folder),) if gone else ()

    def _destination(self) -> Destination:
        """The target folder, opened for one thread."""
        sources = [each.archive.source for each in self._selections]
        protected = frozenset(identity for source in sources for identity in _identities(source))
        origin = origin_of(Path(sources[0].name)) if sources else {}
        return Destination(self._folder, self._calls, protected=protected, origin=origin, sync=self._sync)

    def _proving(self, batch: Batch) -> Iterable[Finding]:
        """The findings that tell whether the members of a batch are what was archived."""
        archive = batch.selection.archive
        return archive.decoder.prove(archive, batch.files, self._progress) if archive.decoder else archive.findings

    # ---- writing -----------------------------------------------------------------------------------------------

    def _make_folders(self, batch: Batch) -> int:
        """Make the folders of a batch, and return how many could be."""
        made = 0
        with self._destination() as destination:
            for member in batch.folders:
                self._progress.advance(0)
                try:
                    destination.make_folder(batch.parts(member))
                    made += 1
                except PlaceError as error:
                    batch.selection.note(self._planner.refused, member, f"is not created: {error}")
        return made

    def _batch(self, batch: Batch, errors: Errors) -> None:
        """Write the files of a batch, those whose content can be decoded independently by several threads."""
        archive = batch.selection.archive
        decoder = archive.decoder
        if decoder is None or not batch.files:
            return
        groups = [list(batch.files)]
        if decoder.decode_group is not one_group:
            groups = [
                list(some) for _, some in groupby(batch.files, lambda member: decoder.decode_group(archive, member))
            ]
        workers = min(_MAX_THREADS, os.cpu_count() or 1, len(groups))
        waiting = iter(groups)
        self._stop = Event()

        def work(own: Archive) -> None:
            assert isinstance(own, Opened)
            try:
                with self._destination() as destination:
                    lane = _Lane(own, destination, errors, Quiet(self._advance))
                    for group in waiting:  # each thread takes the next one: a list's iterator gives none twice
                        for member in group:
                            self._file(batch, member, lane)
            except BaseException:
                self._stop.set()
                raise

        if workers == 1:
            work(archive)
            return
        with ThreadPoolExecutor(workers) as pool:
            running = [pool.submit(work, decoder.thread_copy(archive)) for _ in range(workers)]
            try:
                wait(running)
            finally:
                self._stop.set()
        failures = [failure for each in running if (failure := each.exception()) is not None]
        if failures:
            raise min(failures, key=lambda each: isinstance(each, Cancelled))

    def _advance(self, size: int) -> None:
        """Count written bytes, and wait while paused; raises Cancelled, also once another thread has failed."""
        with self._lock:
            self._progress.advance(size)
        if self._stop.is_set():
            raise Cancelled

    def _file(self, batch: Batch, member: int, lane: _Lane) -> None:
        """Write one file, or add why it was not written or not kept."""
        note, parts, size = batch.selection.note, batch.parts(member), batch.size(member)
        try:
            end, doubts = self._written(batch, member, parts, size, lane)
        except (TakenError, PlaceError) as error:
            taken = isinstance(error, TakenError)
            with self._lock:
                self._planner.conflicts_left += taken
                problems = self._planner.conflicts if taken else self._planner.refused
                note(problems, member, f"is not extracted: {error}")
            return
        with self._lock:
            if end:
                doubt = next(iter(doubts))
                note(self._damaged, member, f"{end}, because it is not proved to be what was archived: {doubt}")
            else:
                self._files += 1
                self._size += size
            if not doubts.wrong and doubts.unproved:
                why = doubts.unproved[0].removesuffix(".")
                note(self._unproved, member, f"is not proved to be what was archived: {why}")
            self._progress.label = f"Extracting: {grouped(self._files)} of {grouped(self._all)}"

    def _written(self, batch: Batch, member: int, parts: Parts, size: int, lane: _Lane) -> tuple[str, Doubts]:
        """Write one file; returns what became of it if it was not kept under its name, and the doubts about it.

        Raises as PartialFile does.
        """
        part = lane.destination.part(parts)
        try:
            doubts = self._copy(batch.source(member), size, part, lane)
            if not doubts or (self._options.doubtful and not doubts.wrong):
                part.keep(parts[-1], replace=member in batch.replacing, changed=_changed(lane.archive, member))
                return "", doubts
            if not self._options.keep_damaged:
                return "is not extracted", doubts
            name = with_suffix(parts[-1], DAMAGED)
            part.keep(name, replace=False)
            return f"is kept as {visible(name)}", doubts
        finally:
            part.drop()
            if part.left:
                self._left.append(part.left)

    def _copy(self, member: int, size: int, part: PartialFile, lane: _Lane) -> Doubts:
        """Write the content of a member and return the doubts about it.

        Raises as PartialFile does, and S3Error if the server sends nothing any more: that says nothing about this
        member, and the next one would fail too.
        """
        left = size
        reading = Reading(lane.archive, member, lane.errors)
        lane.progress.advance(0)
        pieces = reading.pieces(lane.progress)
        while True:
            try:
                piece = next(pieces, None)
            except S3Error:
                raise
            except (SourceError, MemberError) as error:
                if isinstance(error, SourceError):  # its bytes could not be read, which says nothing about them
                    with self._lock:
                        self._unread = self._unread or str(error)
                return Doubts((str(error),))
            if piece is None:
                break
            part.write(piece[:left])
            self._advance(min(len(piece), left))
            if len(piece) > left:
                return Doubts(("It is longer than its recorded size.",))
            left -= len(piece)
        if left:
            return Doubts((f"It ends after {in_bytes(size - left)} of {in_bytes(size)}.",))
        return reading.doubts(lane.progress)


def _changed(archive: Opened, member: int) -> int | None:
    """The modification time of a member in seconds since 1970, None if it is unknown or implausible."""
    changed = archive.decoder.member_metadata(archive, member).changed if archive.decoder else None
    return changed if changed is not None and changed in _PLAUSIBLE_DATES else None


def _changes(selections: Iterable[MemberSelection]) -> Iterator[str]:
    """A sentence for each archive that another program has changed while it was read."""
    for source in {id(each.archive.source): each.archive.source for each in selections}.values():
        if change := change_of(source):
            yield (
                f"{visible(source.name)} {change}: what was extracted may mix old and new bytes. Extract it again when "
                "nothing writes to it."
            )


def _identities(source: Source) -> Iterator[tuple[int, int]]:
    """Device and inode of the files that an archive is in."""
    if isinstance(source, FileSource):
        yield source.identity.device, source.identity.inode
        for sibling in _SIBLINGS:
            with contextlib.suppress(SourceError):  # decoding has reported that it cannot be read
                each = source.sibling(*sibling)
                if isinstance(each, FileSource):
                    yield each.identity.device, each.identity.inode
    with contextlib.suppress(OSError, ValueError):  # the file may be gone, or the source has no path
        status = Path(source.name).stat()
        yield status.st_dev, status.st_ino
