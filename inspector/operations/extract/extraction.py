"""Extracting members into a folder: planned first, then written, each file whole under its name or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from inspector.core.names import visible
from inspector.core.numbers import plural, rounded
from inspector.core.progress import Progress
from inspector.core.source import Source, SourceError
from inspector.operations.extract.extraction_plan import Planner
from inspector.operations.extract.extraction_wanted import Wanted
from inspector.operations.extract.extraction_work import Work
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.jobs.unfinished import told_removed
from inspector.operations.protocol.extraction_views import ExtractionOptions, ExtractionPlan, ExtractionResult
from inspector.sources.local.file import FileSource
from inspector.sources.local.folder_calls import Calls, origin_of
from inspector.sources.local.member_writer import Destination
from inspector.sources.s3.address import is_s3

_BESIDE = ((".metadata", ""), (".index", ".tar"))
"""What stands beside an archive and belongs to it, as ``Source.sibling`` finds it."""


def folder_at(location: str) -> Path:
    """The folder of this machine that a user names; raises OperationError for an address on S3."""
    if is_s3(location):
        raise OperationError(
            f"Nothing was extracted: {visible(location)} is not on this machine, and members become files. Extract "
            "them into a folder here, and upload that."
        )
    return Path(location)


class Extraction:
    """The extraction of ``wanted`` members, of archives that have been decoded, into ``folder``."""

    def __init__(
        self, wanted: Sequence[Wanted], folder: Path, options: ExtractionOptions, calls: Calls | None = None
    ) -> None:
        self._wanted = wanted
        self._folder = folder
        self._options = options
        self._calls = calls

    def plan(self, progress: Progress) -> ExtractionPlan:
        """What would be done. Raises SourceError where the folder cannot be used, and Cancelled."""
        planner = self._planner(progress)
        return planner.plan()

    def run(self, progress: Progress) -> ExtractionResult:
        """Do it. Raises OperationError where nothing can be done, SourceError and Cancelled.

        Cancelling leaves the files that are whole by then.
        """
        planner = self._planner(progress)
        tidied = self._tidied(planner)
        plan = planner.plan()
        if plan.obstacle:
            raise OperationError(plan.obstacle)
        work = Work(planner, self._destination, self._options, progress)
        work.run(plan.size)
        refused, damaged = planner.refused.all(), work.damaged.all()
        left = (planner.conflicts_left, refused.count, plan.doubtful.count, damaged.count, work.stopped, planner.damage)
        said = plural(
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
            (*tidied, *filter(None, (plan.unfinished,)), *plan.warnings),
            work.unproved.all(),
            work.stopped,
            not any(left),
            said,
        )

    def _planner(self, progress: Progress) -> Planner:
        with self._destination() as destination:
            planner = Planner(self._wanted, destination, self._options)
            planner.run(progress)
            return planner

    def _tidied(self, planner: Planner) -> tuple[str, ...]:
        """Remove what is unfinished, if that is wanted: it may be in the way of the room there is."""
        if not self._options.remove_unfinished or not planner.unfinished:
            return ()
        with self._destination() as destination:
            gone = [each for parts, each in planner.unfinished if destination.remove(parts, each)]
        planner.unfinished = [(parts, each) for parts, each in planner.unfinished if each not in gone]
        return (told_removed(gone, self._folder),) if gone else ()

    def _destination(self) -> Destination:
        """The folder for one thread."""
        sources = [each.archive.source for each in self._wanted]
        spared = frozenset(identity for source in sources for identity in _identities(source))
        origin = origin_of(Path(sources[0].name)) if sources else {}
        return Destination(self._folder, self._calls, spared=spared, origin=origin)


def _identities(source: Source) -> Iterator[tuple[int, int]]:
    """Device and inode of the files that an archive is in."""
    if isinstance(source, FileSource):
        yield source.identity.device, source.identity.inode
        for beside in _BESIDE:
            with contextlib.suppress(SourceError):  # decoding has said that it cannot be had
                each = source.sibling(*beside)
                if isinstance(each, FileSource):
                    yield each.identity.device, each.identity.inode
    with contextlib.suppress(OSError, ValueError):  # another file may be there by now, or it is shown with changes
        status = Path(source.name).stat()
        yield status.st_dev, status.st_ino
