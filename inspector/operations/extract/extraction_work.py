"""Writing what was planned. What lies one behind the other is read so; what does not, by several threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from queue import SimpleQueue
from threading import Event, Lock

from inspector.core.finding import Finding
from inspector.core.format import MemberError, one_group
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes, rounded
from inspector.core.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.operations.extract.extraction_names import ended
from inspector.operations.extract.extraction_plan import Batch, Gathered, Planner
from inspector.operations.open.opening import Opened
from inspector.operations.open.reading import Doubts, Errors, Reading
from inspector.operations.protocol.extraction_views import ExtractionOptions
from inspector.sources.local.member_writer import Destination, Part, PlaceError, TakenError
from inspector.sources.s3.sentences import S3Error

_WORKERS = 8
_ENDED = -1
_SANE = range(315_532_800, 4_354_819_200)
"""Dates that files are given: the years 1980 to 2107, in seconds since 1970."""
DAMAGED = b".damaged"
"""What the names of files end with that are kept although they are not proved to be what was archived."""


class Work:
    """The files and folders of a plan, written. ``stopped`` says why not all were tried, and is empty otherwise."""

    def __init__(
        self, planner: Planner, destination: Callable[[], Destination], options: ExtractionOptions, progress: Progress
    ) -> None:
        self.files = self.folders = self.size = 0
        self.damaged = Gathered()
        self.unproved = Gathered()
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
        """Write everything, ``size`` bytes. Raises Cancelled, after all threads have ended."""
        errors = [Errors(self._known(batch)) for batch in self._planner.batches]
        self._progress.begin("Extracting", size)
        try:
            for batch, wrong in zip(self._planner.batches, errors, strict=True):
                self._make_folders(batch)
                self._batch(batch, wrong)
        except SourceError as error:
            self.stopped = f"{error} {self._so_far(size)}"
        else:
            self.stopped = f"{self._unread} {self._so_far(size)}" if self._unread else ""

    def _tell_unread(self, sentence: str) -> None:
        """Take down that not all could be read; the first sentence on it is told, the others with their members."""
        with self._lock:
            self._unread = self._unread or sentence

    def _known(self, batch: Batch) -> Sequence[Finding]:
        """What tells whether the members of a batch are what was archived."""
        archive = batch.wanted.archive
        return archive.decoder.prove(archive, batch.files, self._progress) if archive.decoder else archive.findings

    def _so_far(self, size: int) -> str:
        return (
            f"{grouped(self.files)} of {count(self._all, 'file')} were extracted, {rounded(self.size)} of "
            f"{rounded(size)}; what was being written was taken away."
        )

    def _make_folders(self, batch: Batch) -> None:
        with self._destination() as destination:
            for member in batch.folders:
                self._progress.advance(0)
                try:
                    destination.make_folder(batch.parts(member))
                    self.folders += 1
                except PlaceError as error:
                    self._planner.refused.add(batch.wanted, member, f"is not made: {error}")

    def _batch(self, batch: Batch, errors: Errors) -> None:
        archive = batch.wanted.archive
        decoder = archive.decoder
        if decoder is None or not batch.files:
            return
        lanes: Iterator[list[int]] = iter((list(batch.files),))
        workers = 1
        if decoder.decode_group is not one_group:
            every = [
                list(lane) for _, lane in groupby(batch.files, lambda member: decoder.decode_group(archive, member))
            ]
            workers = min(_WORKERS, os.cpu_count() or 1, len(every))
            lanes = iter(every)
        if workers == 1:
            quiet = _Quiet(lambda: self._progress.advance(0))
            with self._destination() as destination:
                self._lanes(
                    batch, lanes, _Hand(archive, destination, errors, quiet, self._progress.advance, self._tell_unread)
                )
        else:
            self._share(batch, lanes, errors, workers)

    def _share(self, batch: Batch, lanes: Iterator[list[int]], errors: Errors, workers: int) -> None:
        """Give the lanes to threads. What they have written they say in a queue: progress has one writer."""
        written: SimpleQueue[int] = SimpleQueue()
        self._stop = Event()
        decoder = batch.wanted.archive.decoder
        assert decoder is not None

        def work() -> None:
            archive = decoder.thread_copy(batch.wanted.archive)
            assert isinstance(archive, Opened)
            try:
                with self._destination() as destination:
                    hand = _Hand(archive, destination, errors, _Quiet(self._look), written.put, self._tell_unread)
                    self._lanes(batch, lanes, hand)
            except SourceError:
                self._stop.set()
                raise
            finally:
                written.put(_ENDED)

        with ThreadPoolExecutor(workers) as pool:
            running = [pool.submit(work) for _ in range(workers)]
            left = workers
            try:
                while left:
                    size = written.get()
                    left -= size == _ENDED
                    self._progress.advance(max(size, 0))
            finally:
                self._stop.set()
        failures = [each.exception() for each in running]
        for failure in failures:
            if failure is not None and not isinstance(failure, Cancelled):
                raise failure

    def _look(self) -> None:
        """Wait while paused; stop where the others have."""
        self._progress.wait()
        if self._stop.is_set():
            raise Cancelled

    def _lanes(self, batch: Batch, lanes: Iterator[list[int]], hand: _Hand) -> None:
        while (lane := self._next(lanes)) is not None:
            for member in lane:
                self._file(batch, member, hand)

    def _next(self, lanes: Iterator[list[int]]) -> list[int] | None:
        with self._lock:
            return next(lanes, None)

    def _file(self, batch: Batch, member: int, hand: _Hand) -> None:
        """Write one file, or say why not."""
        try:
            size, why, doubts = self._write(batch, member, hand)
        except TakenError as error:
            with self._lock:
                self._planner.conflicts_left += 1
                self._planner.conflicts.add(batch.wanted, member, f"is not extracted: {error}")
        except PlaceError as error:
            with self._lock:
                self._planner.refused.add(batch.wanted, member, f"is not extracted: {error}")
        else:
            with self._lock:
                if why:
                    self.damaged.add(batch.wanted, member, why)
                else:
                    self.files += 1
                    self.size += size
                if not doubts.wrong and doubts.unproved:
                    self.unproved.add(
                        batch.wanted, member, f"is extracted only on your word: {doubts.unproved[0].removesuffix('.')}"
                    )
                done, every = grouped(self.files), grouped(self._all)
                self._progress.label = f"Extracting: {done} of {every}"

    def _write(self, batch: Batch, member: int, hand: _Hand) -> tuple[int, str, Doubts]:
        """Write one file; gives its size, why it was not kept (empty where it was), and what speaks against it.

        Raises as Part does.
        """
        parts, size = batch.parts(member), batch.size(member)
        part = hand.destination.part(parts)
        try:
            doubts = hand.copy(batch.source(member), size, part)
            if not doubts or (self._options.doubtful and not doubts.wrong):
                part.keep(parts[-1], replace=member in batch.replacing, changed=hand.changed(member))
                return size, "", doubts
            end = "is not extracted"
            if self._options.keep_damaged:
                name = ended(parts[-1], DAMAGED)
                part.keep(name, replace=False)
                end = f"is kept as {visible(name)}"
            why = next(iter(doubts))
            return 0, f"{end}, for it is not proved to be what was archived: {why}", doubts
        finally:
            part.drop()


class _Hand:
    """What one thread works with."""

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

    def copy(self, member: int, size: int, part: Part) -> Doubts:
        """Write the content of a member; says what speaks against it. Raises as Part does."""
        given = 0
        reading = Reading(self._archive, member, self._errors)
        self._progress.advance(0)
        try:
            for piece in _bounded(reading.pieces(self._progress), size):
                part.write(piece)
                given += len(piece)
                self._written(len(piece))
        except _UnreadError as error:
            self.unread(str(error))
            return Doubts((str(error),))
        except _ReadError as error:
            return Doubts((str(error),))
        if given < size:
            return Doubts((f"It ends after {in_bytes(given)} of {in_bytes(size)}.",))
        return reading.doubts()

    def changed(self, member: int) -> int | None:
        """When a member was changed, if that is known and can be true."""
        decoder = self._archive.decoder
        changed = decoder.member_metadata(self._archive, member).changed if decoder else None
        return changed if changed is not None and changed in _SANE else None


class _ReadError(Exception):
    """A member cannot be read any further; the message is a sentence."""


class _UnreadError(_ReadError):
    """Its bytes cannot be had, which says nothing about them."""


def _bounded(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The pieces of a content that should have ``size`` bytes. Raises _ReadError where it has not, or cannot be had.

    Raises S3Error where nothing can be had from where the archive is.
    """
    coming = iter(pieces)
    while True:
        try:
            piece = next(coming, None)
        except S3Error:
            raise  # says nothing about this member, and is as true of the next one
        except SourceError as error:
            raise _UnreadError(str(error)) from error
        except MemberError as error:
            raise _ReadError(str(error)) from error
        if piece is None:
            return
        if len(piece) > size:
            yield piece[:size]
            raise _ReadError("It goes on after the bytes that it should have.")
        size -= len(piece)
        yield piece


class _Quiet(Progress):
    """The progress of reading one member: it only asks whether to go on, for what counts is what has been written."""

    def __init__(self, ask: Callable[[], None]) -> None:
        super().__init__()
        self._ask = ask

    def begin(self, label: str, total: int, unit: str = "bytes") -> None:
        """See Progress."""

    def advance(self, count: int) -> None:  # noqa: ARG002 - see the class
        self._ask()
