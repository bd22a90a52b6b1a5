"""A session that extracts members: into a folder, or as temporary files for other programs."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from inspector.core.numbers import count
from inspector.core.program.progress import Progress
from inspector.operations.extract.extraction import Extraction, folder_at
from inspector.operations.extract.selection import MemberSelection, all_members, members_numbered, parts_of, refusal
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
from inspector.operations.session.reading import SessionState

TOO_LARGE = "These members are too large to copy before they are requested."


def export_members(
    wanted: Sequence[MemberSelection], roots: Sequence[bytes], folder: Path, progress: Progress
) -> ExportedFiles:
    """Extract members into a private folder; ``roots`` are the paths of members or folders to return.

    Raises OperationError if nothing could be extracted, SourceError and Cancelled.
    """
    result = Extraction(wanted, folder, ExtractionOptions(OnConflict.SKIP)).run(progress)
    safe = outermost([head for head in roots if not refusal(head)])
    paths = [os.path.join(os.fsencode(folder), *parts_of(head)) for head in safe]  # noqa: PTH118 - bytes
    given = tuple(os.fsdecode(path) for path in paths if os.path.lexists(path))
    missing = _missing(result)
    if not given:
        raise OperationError(missing or "None of the selected members has content.")
    return ExportedFiles(given, missing)


def outermost(paths: Sequence[bytes]) -> list[bytes]:
    """The paths that are not inside another one of them, without duplicates."""
    found: list[bytes] = []
    for path in sorted({b"/".join(parts_of(path)) for path in paths} - {b""}, key=lambda path: path.split(b"/")):
        if not found or not path.startswith(found[-1] + b"/"):
            found.append(path)
    return found


def _missing(result: ExtractionResult) -> str:
    groups = (result.refused, result.doubtful, result.damaged, result.unproved, result.conflicts)
    left = sum(group.count for group in groups)
    if result.stopped or not left:
        return result.stopped
    first = next(group.listed[0].sentence for group in groups if group.listed)
    return first if left == 1 else f"{count(left, 'member')} are left out. {first}"


class Extracting(SessionState):
    """Extracts members."""

    def plan_extraction(
        self,
        progress: Progress,
        members: Collection[int] | None,
        folder: str,
        on_conflict: OnConflict = OnConflict.REFUSE,
        doubtful: bool = False,
    ) -> ExtractionPlan:
        """What ``extract`` would do. Raises what that raises."""
        with self.alone(progress):
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
        """Extract members, all for None, into a folder (see ``ExtractionOptions``).

        Raises OperationError if nothing can be extracted, SourceError, and Cancelled; complete files stay then.
        """
        with self.alone(progress):
            options = ExtractionOptions(on_conflict, doubtful, keep_damaged, remove_unfinished)
            return self._extraction(members, folder, options, progress).run(progress)

    def export_members(self, progress: Progress, chosen: Chosen, folder: str, most: int | None = None) -> ExportedFiles:
        """Extract the selection into a private folder; nothing if it has more than ``most`` bytes."""
        with self.alone(progress):
            now = self.now
            wanted = self._wanted(now.members.numbers(chosen))
            sizes = (each.archive.members.size(member) for each in wanted for member in each.members)
            if most is not None and sum(sizes) > most:
                return ExportedFiles((), TOO_LARGE)
            self._learn(wanted, progress)
            return export_members(wanted, now.members.paths(chosen), Path(folder), progress)

    def _extraction(
        self, members: Collection[int] | None, folder: str, options: ExtractionOptions, progress: Progress
    ) -> Extraction:
        where = folder_at(folder)
        wanted = self._wanted(members)
        self._learn(wanted, progress)
        return Extraction(wanted, where, options)

    def _wanted(self, members: Collection[int] | None) -> list[MemberSelection]:
        if self.stage is not Stage.READY:
            raise OperationError("Nothing was extracted: not all of the archive has been read.")
        every = all_members(self.name, self.now.archives)
        return every if members is None else members_numbered(every, members)

    def _learn(self, wanted: Sequence[MemberSelection], progress: Progress) -> None:
        """Read headers that were not read yet; raises OperationError if they change the list of members."""
        for each in wanted:
            if learn(each.archive, each.members, progress):
                self.generation += 1
                raise OperationError(
                    "Nothing was extracted: headers are not where the metadata says. All headers have been "
                    "read now; plan the extraction again."
                )
