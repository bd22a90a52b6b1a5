"""What a session takes out of what it shows: members into a folder, and files lent to other programs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from inspector.core.progress import Progress
from inspector.operations.extract.extraction import Extraction, folder_at
from inspector.operations.extract.extraction_wanted import Wanted, everything, numbered
from inspector.operations.jobs.operation_error import Refused
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
from inspector.operations.session.temp_files import TOO_LARGE, lend, lend_one, size_of


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
        with self._job_lock.one(progress):
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

        Raises Refused where nothing can be extracted, SourceError and Cancelled, which leaves the files that are whole.
        """
        with self._job_lock.one(progress):
            options = ExtractionOptions(on_conflict, doubtful, keep_damaged, remove_unfinished)
            return self._extraction(members, folder, options, progress).run(progress)

    def lend(self, progress: Progress, chosen: Chosen, folder: str, most: int | None = None) -> ExportedFiles:
        """Extract what is chosen into a private folder (see ``lending``); nothing if that is more than ``most`` bytes.

        Raises Refused, SourceError and Cancelled.
        """
        with self._job_lock.one(progress):
            now = self._now
            wanted = self._wanted(now.members.numbers(chosen))
            if most is not None and size_of(wanted) > most:
                return ExportedFiles((), TOO_LARGE)
            self._learn(wanted, progress)
            return lend(wanted, now.members.heads(chosen), Path(folder), progress)

    def lend_one(self, progress: Progress, member: int, folder: str) -> ExportedFiles:
        """Extract a member for another program to open; raises Refused for what may be run (see ``lending``)."""
        with self._job_lock.one(progress):
            wanted = self._wanted([member])
            self._learn(wanted, progress)
            return lend_one(wanted, self._now.archive_set.path(member), Path(folder), progress)

    def _extraction(
        self, members: Collection[int] | None, folder: str, options: ExtractionOptions, progress: Progress
    ) -> Extraction:
        where = folder_at(folder)
        wanted = self._wanted(members)
        self._learn(wanted, progress)
        return Extraction(wanted, where, options)

    def _wanted(self, members: Collection[int] | None) -> list[Wanted]:
        if self._stage is not Stage.READY:
            raise Refused("Nothing was extracted: not all of the archive has been read.")
        every = everything(self._name, self._now.archives)
        return every if members is None else numbered(every, members)

    def _learn(self, wanted: Sequence[Wanted], progress: Progress) -> None:
        """Read headers that were left out; raises Refused where that shows the members to be others."""
        for each in wanted:
            if learn(each.archive, each.members, progress):
                self._generation += 1
                raise Refused(
                    "Nothing was extracted: headers are not where the metadata says. All headers have been "
                    "read now; plan the extraction again."
                )
