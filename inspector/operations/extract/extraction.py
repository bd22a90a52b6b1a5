"""Extracting members into a folder: planned first, then written, each file whole under its name or not at all.

Members that lie one after another are read in that order by one thread, independent ones by several threads.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import groupby
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock

from inspector.core.finding import Finding
from inspector.core.format import MemberError, one_group
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes, plural, rounded
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import Source, SourceError, change_of
from inspector.operations.extract.extraction_plan import Batch, Planner, ProblemList
from inspector.operations.extract.selection import MemberSelection, with_suffix
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.jobs.unfinished import removed_message
from inspector.operations.open.opening import Opened
from inspector.operations.open.reading import Doubts, Errors, Reading, noted
from inspector.operations.protocol.extraction_views import ExtractionOptions, ExtractionPlan, ExtractionResult
from inspector.sources.local.file import FileSource
from inspector.sources.local.member_writer import (
    Destination,
    FolderCalls,
    PartialFile,
    PlaceError,
    TakenError,
    origin_of,
)
from inspector.sources.s3.sentences import S3Error
from inspector.sources.web.address import is_remote

_MAX_THREADS = 8
_WORKER_ENDED = -1
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


class Extraction:
    """The extraction of members of decoded archives into ``folder``."""

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

    def plan(self, progress: Progress) -> ExtractionPlan:
        """What would be done. Raises SourceError if the folder cannot be used, and Cancelled."""
        return self._planner(progress).plan()

    def run(self, progress: Progress) -> ExtractionResult:
        """Extract. Raises OperationError if nothing can be extracted, SourceError and Cancelled.

        After a cancellation, the files that are complete stay.
        """
        planner = self._planner(progress)
        removed = self._remove_unfinished(planner)
        plan = planner.plan()
        if plan.obstacle:
            raise OperationError(plan.obstacle)
        sync = plan.files == 1 if self._options.sync is None else self._options.sync
        work = _Work(planner, partial(self._destination, sync=sync), self._options, progress)
        work.run(plan.size)
        changes = tuple(_changes(self._selections))
        refused, damaged = planner.refused.all(), work.damaged.all()
        missing = (
            planner.conflicts_left,
            refused.count,
            plan.doubtful.count,
            damaged.count,
            work.stopped,
            planner.damage,
        )
        sentence = plural(
            "{number} file, {size}, was extracted to {folder}.",
            "{number} files, {size}, were extracted to {folder}.",
            work.files,
            size=rounded(work.size),
            folder=plan.folder,
        )
        return ExtractionResult(
            plan.folder,
            work.files,
            work.folders,
            work.size,
            planner.conflicts.all(),
            refused,
            plan.doubtful,
            damaged,
            (*removed, *filter(None, (plan.unfinished,)), *plan.warnings, *work.left, *changes),
            work.unproved.all(),
            work.stopped,
            not any(missing) and not changes,
            sentence,
        )

    def _planner(self, progress: Progress) -> Planner:
        with self._destination() as destination:
            planner = Planner(self._selections, destination, self._options)
            planner.run(progress)
            return planner

    def _remove_unfinished(self, planner: Planner) -> tuple[str, ...]:
        """Remove unfinished files if the options ask for it, before free space is measured; a message if any were."""
        if not self._options.remove_unfinished or not planner.unfinished:
            return ()
        with self._destination() as destination:
            gone = [each for parts, each in planner.unfinished if destination.remove(parts, each)]
        planner.unfinished = [(parts, each) for parts, each in planner.unfinished if each not in gone]
        return (removed_message(gone, self._folder),) if gone else ()

    def _destination(self, *, sync: bool = False) -> Destination:
        """The target folder, opened for one thread."""
        sources = [each.archive.source for each in self._selections]
        protected = frozenset(identity for source in sources for identity in _identities(source))
        origin = origin_of(Path(sources[0].name)) if sources else {}
        return Destination(self._folder, self._calls, protected=protected, origin=origin, sync=sync)


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


# ---- writing -----------------------------------------------------------------------------------------------------


class _Work:
    """Writes the files and folders of a plan. ``stopped`` says why not all were tried, and is empty otherwise."""

    def __init__(
        self, planner: Planner, destination: Callable[[], Destination], options: ExtractionOptions, progress: Progress
    ) -> None:
        self.files = self.folders = self.size = 0
        self.damaged = ProblemList()
        self.unproved = ProblemList()
        self.left: list[str] = []
        self.stopped = ""
        self._unread = ""
        self._planner = planner
        self._destination = destination
        self._options = options
        self._progress = progress
        self._lock = Lock()
        self._stop = Event()
        self._all = sum(len(batch.files) for batch in planner.batches)

    def run(self, size: int) -> None:
        """Write everything, ``size`` bytes. Raises Cancelled after all threads have ended."""
        errors = [Errors(self._known(batch), noted(batch.selection.archive)) for batch in self._planner.batches]
        self._progress.begin("Extracting", size)
        try:
            for batch, wrong in zip(self._planner.batches, errors, strict=True):
                self._make_folders(batch)
                self._batch(batch, wrong)
        except SourceError as error:
            self.stopped = f"{error} {self._so_far(size)}"
        else:
            self.stopped = f"{self._unread} {self._so_far(size)}" if self._unread else ""

    def _add_unread(self, sentence: str) -> None:
        """Record that a member could not be read; the first such message is reported, the others with their members."""
        with self._lock:
            self._unread = self._unread or sentence

    def _known(self, batch: Batch) -> Sequence[Finding]:
        """The findings that tell whether the members of a batch are what was archived."""
        archive = batch.selection.archive
        return archive.decoder.prove(archive, batch.files, self._progress) if archive.decoder else archive.findings

    def _so_far(self, size: int) -> str:
        return (
            f"{grouped(self.files)} of {count(self._all, 'file')} were extracted, {rounded(self.size)} of "
            f"{rounded(size)}; the unfinished file was removed."
        )

    def _make_folders(self, batch: Batch) -> None:
        with self._destination() as destination:
            for member in batch.folders:
                self._progress.advance(0)
                try:
                    destination.make_folder(batch.parts(member))
                    self.folders += 1
                except PlaceError as error:
                    self._planner.refused.add(batch.selection, member, f"is not created: {error}")

    def _batch(self, batch: Batch, errors: Errors) -> None:
        archive = batch.selection.archive
        decoder = archive.decoder
        if decoder is None or not batch.files:
            return
        lanes: Iterator[list[int]] = iter((list(batch.files),))
        workers = 1
        if decoder.decode_group is not one_group:
            every = [
                list(lane) for _, lane in groupby(batch.files, lambda member: decoder.decode_group(archive, member))
            ]
            workers = min(_MAX_THREADS, os.cpu_count() or 1, len(every))
            lanes = iter(every)
        if workers == 1:
            quiet = _SilentProgress(lambda: self._progress.advance(0))
            with self._destination() as destination:
                state = _ThreadState(archive, destination, errors, quiet, self._progress.advance, self._add_unread)
                self._lanes(batch, lanes, state)
        else:
            self._run_threads(batch, lanes, errors, workers)

    def _run_threads(self, batch: Batch, lanes: Iterator[list[int]], errors: Errors, workers: int) -> None:
        """Distribute the lanes over threads, which report written bytes through a queue: progress has one writer."""
        written: SimpleQueue[int] = SimpleQueue()
        self._stop = Event()
        decoder = batch.selection.archive.decoder
        assert decoder is not None

        def work() -> None:
            archive = decoder.thread_copy(batch.selection.archive)
            assert isinstance(archive, Opened)
            try:
                with self._destination() as destination:
                    state = _ThreadState(
                        archive, destination, errors, _SilentProgress(self._check_stop), written.put, self._add_unread
                    )
                    self._lanes(batch, lanes, state)
            except SourceError:
                self._stop.set()
                raise
            finally:
                written.put(_WORKER_ENDED)

        with ThreadPoolExecutor(workers) as pool:
            running = [pool.submit(work) for _ in range(workers)]
            left = workers
            try:
                while left:
                    size = written.get()
                    left -= size == _WORKER_ENDED
                    self._progress.advance(max(size, 0))
            finally:
                self._stop.set()
        failures = [each.exception() for each in running]
        for failure in failures:
            if failure is not None and not isinstance(failure, Cancelled):
                raise failure

    def _check_stop(self) -> None:
        """Wait while paused; raises Cancelled once another thread has stopped."""
        self._progress.wait()
        if self._stop.is_set():
            raise Cancelled

    def _lanes(self, batch: Batch, lanes: Iterator[list[int]], state: _ThreadState) -> None:
        while (lane := self._next(lanes)) is not None:
            for member in lane:
                self._file(batch, member, state)

    def _next(self, lanes: Iterator[list[int]]) -> list[int] | None:
        with self._lock:
            return next(lanes, None)

    def _file(self, batch: Batch, member: int, state: _ThreadState) -> None:
        """Write one file, or add why it was not written."""
        try:
            size, reason, doubts = self._write(batch, member, state)
        except TakenError as error:
            with self._lock:
                self._planner.conflicts_left += 1
                self._planner.conflicts.add(batch.selection, member, f"is not extracted: {error}")
        except PlaceError as error:
            with self._lock:
                self._planner.refused.add(batch.selection, member, f"is not extracted: {error}")
        else:
            with self._lock:
                if reason:
                    self.damaged.add(batch.selection, member, reason)
                else:
                    self.files += 1
                    self.size += size
                if not doubts.wrong and doubts.unproved:
                    self.unproved.add(
                        batch.selection,
                        member,
                        f"is not proved to be what was archived: {doubts.unproved[0].removesuffix('.')}",
                    )
                done, every = grouped(self.files), grouped(self._all)
                self._progress.label = f"Extracting: {done} of {every}"

    def _write(self, batch: Batch, member: int, state: _ThreadState) -> tuple[int, str, Doubts]:
        """Write one file; returns its size, why it was not kept (empty if it was), and the doubts about it.

        Raises as PartialFile does.
        """
        parts, size = batch.parts(member), batch.size(member)
        part = state.destination.part(parts)
        try:
            doubts = state.copy(batch.source(member), size, part)
            if not doubts or (self._options.doubtful and not doubts.wrong):
                part.keep(parts[-1], replace=member in batch.replacing, changed=state.changed(member))
                return size, "", doubts
            end = "is not extracted"
            if self._options.keep_damaged:
                name = with_suffix(parts[-1], DAMAGED)
                part.keep(name, replace=False)
                end = f"is kept as {visible(name)}"
            doubt = next(iter(doubts))
            return 0, f"{end}, because it is not proved to be what was archived: {doubt}", doubts
        finally:
            part.drop()
            if part.left:
                self.left.append(part.left)


class _ThreadState:
    """What one thread works with: its own archive, folder and progress."""

    def __init__(
        self,
        archive: Opened,
        destination: Destination,
        errors: Errors,
        progress: Progress,
        written: Callable[[int], None],
        unread: Callable[[str], None],
    ) -> None:
        self.destination = destination
        self.unread = unread
        self._archive = archive
        self._errors = errors
        self._progress = progress
        self._written = written

    def copy(self, member: int, size: int, part: PartialFile) -> Doubts:
        """Write the content of a member and return the doubts about it. Raises as PartialFile does."""
        written = 0
        reading = Reading(self._archive, member, self._errors)
        self._progress.advance(0)
        try:
            for piece in _bounded(reading.pieces(self._progress), size):
                part.write(piece)
                written += len(piece)
                self._written(len(piece))
        except _UnreadError as error:
            self.unread(str(error))
            return Doubts((str(error),))
        except _ReadError as error:
            return Doubts((str(error),))
        if written < size:
            return Doubts((f"It ends after {in_bytes(written)} of {in_bytes(size)}.",))
        return reading.doubts(self._progress)

    def changed(self, member: int) -> int | None:
        """The modification time of a member in seconds since 1970, None if it is unknown or implausible."""
        decoder = self._archive.decoder
        changed = decoder.member_metadata(self._archive, member).changed if decoder else None
        return changed if changed is not None and changed in _PLAUSIBLE_DATES else None


class _ReadError(Exception):
    """A member cannot be read any further; the message is a sentence."""


class _UnreadError(_ReadError):
    """A member's bytes could not be read, which says nothing about them."""


def _bounded(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The pieces of a content that should have ``size`` bytes. Raises _ReadError if it is longer or cannot be read.

    Raises S3Error if the server sends nothing any more.
    """
    rest = iter(pieces)
    while True:
        try:
            piece = next(rest, None)
        except S3Error:
            raise  # it says nothing about this member, and the next one would fail too
        except SourceError as error:
            raise _UnreadError(str(error)) from error
        except MemberError as error:
            raise _ReadError(str(error)) from error
        if piece is None:
            return
        if len(piece) > size:
            yield piece[:size]
            raise _ReadError("It is longer than its recorded size.")
        size -= len(piece)
        yield piece


class _SilentProgress(Progress):
    """The progress of reading one member: it only checks for cancellation, because written bytes are counted."""

    def __init__(self, check: Callable[[], None]) -> None:
        super().__init__()
        self._check = check

    def begin(self, label: str, total: int, unit: str = "bytes") -> None:
        """See Progress."""

    def advance(self, count: int) -> None:  # noqa: ARG002 - see the class
        self._check()
