"""What a session takes out of what it shows: members into a folder, and files lent to other programs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from inspector.core.progress import Progress
from inspector.operations.extract.extraction import Extraction, folder_at
from inspector.operations.extract.selection import MemberSelection, all_members, members_numbered
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import learn
from inspector.operations.protocol.extraction_views import (
    ExportedFiles,
    ExtractionOptions,
    ExtractionPlan,
    ExtractionResult,
    OnConflict,
)
from inspector.operations.protocol.views import Chosen, Stage
from inspector.operations.session.session import Session
from inspector.operations.session.temp_files import TOO_MUCH, lend, lend_one, size_of


class ExtractSession(Session):
    """One open location of which members can be taken out."""

    def plan_extraction(
        self,
        progress: Progress,
        members: Collection[int] | None,
        folder: str,
        on_conflict: OnConflict = OnConflict.REFUSE,
        doubtful: bool = False,
    ) -> ExtractionPlan:
        """What ``extract`` would do. Raises as it does."""
        with self._job_lock.held(progress):
            return self._extraction(members, folder, ExtractionOptions(on_conflict, doubtful), progress).plan(progress)

    def extract(
        self,
        progress: Progress,
        members: Collection[int] | None,
        folder: str,
        on_conflict: OnConflict = OnConflict.REFUSE,
        doubtful: bool = False,
        keep_damaged: bool = False,
        remove_unfinished: bool = False,
    ) -> ExtractionResult:
        """Write members of what is shown, all for None, into a folder (see ``ExtractionOptions``).

        Raises OperationError where nothing can be extracted, SourceError and Cancelled, which leaves the files that are
        whole.
        """
        with self._job_lock.held(progress):
            options = ExtractionOptions(on_conflict, doubtful, keep_damaged, remove_unfinished)
            return self._extraction(members, folder, options, progress).run(progress)

    def lend(self, progress: Progress, chosen: Chosen, folder: str, most: int | None = None) -> ExportedFiles:
        """Extract what is chosen into a private folder (see ``lending``); nothing if that is more than ``most`` bytes.

        Raises OperationError, SourceError and Cancelled.
        """
        with self._job_lock.held(progress):
            now = self._now
            wanted = self._wanted(now.members.numbers(chosen))
            if most is not None and size_of(wanted) > most:
                return ExportedFiles((), TOO_MUCH)
            self._learn(wanted, progress)
            return lend(wanted, now.members.heads(chosen), Path(folder), progress)

    def lend_one(self, progress: Progress, member: int, folder: str) -> ExportedFiles:
        """Extract a member for another program to open; raises OperationError for what may be run (see ``lending``)."""
        with self._job_lock.held(progress):
            wanted = self._wanted([member])
            self._learn(wanted, progress)
            return lend_one(wanted, self._now.shelf.path(member), Path(folder), progress)

    def _extraction(
        self, members: Collection[int] | None, folder: str, options: ExtractionOptions, progress: Progress
    ) -> Extraction:
        where = folder_at(folder)
        wanted = self._wanted(members)
        self._learn(wanted, progress)
        return Extraction(wanted, where, options)

    def _wanted(self, members: Collection[int] | None) -> list[MemberSelection]:
        if self._stage is not Stage.READY:
            raise OperationError("Nothing was extracted: not all of the archive has been read.")
        every = all_members(self._name, self._now.archives)
        return every if members is None else members_numbered(every, members)

    def _learn(self, wanted: Sequence[MemberSelection], progress: Progress) -> None:
        """Read headers that were left out; raises OperationError where that shows the members to be others."""
        for each in wanted:
            if learn(each.archive, each.members, progress):
                self._changes += 1
                raise OperationError(
                    "Nothing was extracted: headers are not where the metadata says. All headers have been "
                    "read now; plan the extraction again."
                )
