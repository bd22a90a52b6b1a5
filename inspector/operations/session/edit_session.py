"""A session that also changes its archive: previews of edits, writing, repairs. Nothing is written unasked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from inspector.core.edit import Edit, EditError, OverlaySource, Patch
from inspector.core.names import visible
from inspector.core.progress import Cancelled, Progress
from inspector.core.source import Source, SourceError
from inspector.operations.edit import patch_file
from inspector.operations.edit.apply_repairs import apply_plan, describe, save_copy, save_salvage, write_edit
from inspector.operations.edit.dependents import broken, repair_checksums
from inspector.operations.edit.interrupted import interrupted, recover, take_back
from inspector.operations.edit.patch_file import require_match
from inspector.operations.edit.plan_repairs import Plan, plan
from inspector.operations.edit.s3_writing import sending_lines
from inspector.operations.edit.taco_header import header_draft, header_view, member_target
from inspector.operations.edit.taco_header import preview as preview_header
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.location import Location
from inspector.operations.open.opening import Opened, decode, start
from inspector.operations.protocol.edit_views import Interrupted, OnlyWhole, Repaired, RepairPlan, WayOut, WriteResult
from inspector.operations.protocol.header_draft import HeaderDraft, HeaderView, TacoEntry
from inspector.operations.protocol.views import Stage
from inspector.operations.session.extract_session import ExtractSession
from inspector.operations.session.session import Session
from inspector.operations.session.snapshot import Snapshot
from inspector.sources.local.atomic import AtomicFile
from inspector.sources.local.file import FileSource
from inspector.sources.s3.cancelling import cancelling
from inspector.sources.s3.connection import DEFAULT, Connection, Profile, profiles
from inspector.sources.s3.sentences import CannotCopyError
from inspector.sources.s3.source import TAIL_BYTES, S3Source

MAX_PREVIEW_CHECK_BYTES = 64 << 20
"""Archives up to this size are checked with every preview, larger ones only if they were checked before."""


class EditSession(ExtractSession):
    """An open location that can be changed."""

    def __init__(self, location: str, s3: Connection = DEFAULT) -> None:
        super().__init__(location, s3)
        self._disk = self._now
        self._planned: tuple[Snapshot, Plan] | None = None

    # ---- previews ----------------------------------------------------------------------------------------------

    def preview(self, progress: Progress, edit: Edit | None) -> tuple[str, ...] | None:
        """Show the archive with ``edit`` applied, or as it is on disk for None. Raises OperationError and Cancelled.

        Returns the names of the checksums that the edit makes wrong, None if the preview was not checked.
        """
        with self._job_lock.held(progress):
            snapshot = self._disk if edit is None else self._snapshot_with(edit, progress)
            self._show(snapshot)
            return broken(snapshot.archives[0], edit) if edit is not None and snapshot.checks.checked else None

    def _snapshot_with(self, edit: Edit, progress: Progress) -> Snapshot:
        source = self._file()
        changed = OverlaySource(source, edit)
        changed.sparing = isinstance(source, S3Source) and source.size > TAIL_BYTES
        snapshot = Snapshot(self._name, Location([start(changed)]))
        decode(snapshot.archives[0], progress)
        if not changed.sparing and (self._disk.checks.checked or snapshot.location.size <= MAX_PREVIEW_CHECK_BYTES):
            snapshot.checks.run(progress)
            progress.advance(0)
        return snapshot

    def _file(self) -> FileSource | S3Source:
        """The archive on disk or on S3; raises OperationError if it cannot be changed."""
        if self._stage in (Stage.OPENING, Stage.DECODING):
            raise OperationError("The archive is still being read. Change it after that.")
        archives = self._disk.archives
        if self._disk.location.collection is not None:
            raise OperationError("This is a folder of several files. Open the one to change.")
        source = archives[0].source if archives else None
        if not isinstance(source, FileSource | S3Source):
            raise OperationError("There is no file to change.")
        return source

    def repair_checksums(self, progress: Progress, edit: Edit) -> Repaired:
        """The edit extended by all checksums that it makes wrong. Raises OperationError and Cancelled."""
        return repair_checksums(self._file(), edit, progress)

    # ---- the TACO header ---------------------------------------------------------------------------------------

    def header(self, draft: HeaderDraft | None) -> HeaderView:
        """The TACO header that is shown, or a draft of it; raises OperationError if there is none.

        ``changed`` are the indices of entries that differ from the file on disk, ``stood`` its entries.
        """
        shown = header_view(self._archive(), draft)
        stands = header_draft(self._disk.archives[0]).entries
        changed = frozenset(each.index for each in shown.entries if (each.offset, each.length) != stands[each.index])
        return replace(shown, changed=changed, stood=tuple(stands))

    def header_edit(self, draft: HeaderDraft) -> Edit:
        """The edit that writes a draft into the header. Raises OperationError and SourceError.

        Its old bytes are those on disk where it has them, because a pending edit may have changed what is shown.
        """
        edit, disk = preview_header(self._archive(), draft), self._file()
        return replace(edit, patches=tuple(_with_old_bytes_of(patch, disk) for patch in edit.patches))

    def header_target(self, member: int) -> TacoEntry:
        """Offset and length of a member's data; raises OperationError if they are unknown."""
        return member_target(self._archive(), member)

    def _archive(self) -> Opened:
        if self._stage is not Stage.READY or self._now.location.collection is not None:
            raise OperationError("There is no TACO header to show.")
        return self._now.archives[0]

    # ---- writing -----------------------------------------------------------------------------------------------

    def upload_preview(self, edit: Edit, whole: bool = False) -> tuple[str, ...]:
        """What writing an edit would send to S3, in lines; none if the archive is local."""
        source = self._file()
        return tuple(sending_lines(source, edit, whole=whole)) if isinstance(source, S3Source) else ()

    def write(self, progress: Progress, edit: Edit, whole: bool = False) -> WriteResult | OnlyWhole:
        """Write an edit into the file and read it again; ``whole`` as in write_edit.

        Raises OperationError and EditError if nothing was written, or if the sentence says that this is unknown.
        """
        return self._write(progress, lambda source: write_edit(source, edit, progress, whole=whole))

    def _write(
        self, progress: Progress, write: Callable[[FileSource | S3Source], WriteResult]
    ) -> WriteResult | OnlyWhole:
        """Change the archive and read it again. If reading fails, the result still reports the change."""
        with self._job_lock.held(progress):
            source = self._file()
            progress.begin("Writing", 0)
            try:
                result = write(source)
            except CannotCopyError as error:
                return OnlyWhole(str(error))
            except Cancelled:
                raise EditError(f"{visible(source.name)} was not changed: writing it was cancelled.") from None
            try:
                self._read_again(progress)
            except (OperationError, SourceError, Cancelled) as error:
                if isinstance(source, S3Source):
                    source.replaced = True
                why = "cancelled" if isinstance(error, Cancelled) else f"not possible ({error})"
                unread = f"Reading it again was {why}, so the old content is still shown. Reload it."
                return replace(result, warnings=(*result.warnings, unread), revert=None, kept=None)
            return result

    def reload(self, progress: Progress, edit: Edit | None = None) -> None:
        """Read the archive again, without checking it, and show it with ``edit`` if given.

        Raises OperationError if it is gone or the edit does not match it; then nothing changes.
        """
        with self._job_lock.held(progress):
            before = self._disk
            self._disk = self._reloaded(progress)
            try:
                if edit is not None:
                    self._require_pending_edit_matches(edit, progress)
                self._show(self._disk if edit is None else self._snapshot_with(edit, progress))
            except BaseException:
                self._disk = before
                raise

    def _require_pending_edit_matches(self, edit: Edit, progress: Progress) -> None:
        """Raise OperationError if the pending edit does not match the current file."""
        with cancelling(progress):
            try:
                require_match(edit, self._file(), "The pending change")
            except OperationError as error:
                raise OperationError(
                    f"{error} It stays pending over the old content. Export it as a patch or discard it, then reload."
                ) from error

    def _read_again(self, progress: Progress) -> None:
        source = self._disk.archives[0].source
        checked = self._disk.checks.checked and not (isinstance(source, S3Source) and source.size > TAIL_BYTES)
        self._disk = self._reloaded(progress)
        if checked:
            self._disk.checks.run(progress)
        self._show(self._disk)

    def _reloaded(self, progress: Progress) -> Snapshot:
        """A decoded snapshot of the current archive. Raises OperationError and Cancelled."""
        fresh = Session(self._name, self._s3)
        fresh.decode(progress)
        progress.advance(0)
        if (failed := fresh.status()).stage is Stage.FAILED:
            raise OperationError(failed.sentence)
        now = fresh._now  # noqa: SLF001 - one of its own kind
        for before, after in zip(self._disk.archives, now.archives, strict=False):
            if isinstance(before.source, S3Source) and isinstance(after.source, S3Source):
                after.source.ledger.follow(before.source.ledger)
        return now

    def save_copy(self, progress: Progress, edit: Edit, path: str, over: bool, s3: Connection = DEFAULT) -> str:
        """Write the archive with ``edit`` applied to another file or object; ``s3`` says how to reach that.

        Raises OperationError, SourceError, Cancelled.
        """
        save_copy(self._file(), edit, path, progress, over, s3)
        return f"The changed copy is {visible(path)}."

    def profiles(self, progress: Progress) -> tuple[Profile, ...]:
        """The profiles of this machine, for copies on S3."""
        return profiles(progress)

    def export_patch(self, progress: Progress, edit: Edit, path: str) -> str:
        """Write an edit to a patch file. Raises SourceError."""
        progress.begin("Writing the patch", 0)
        with AtomicFile(Path(path), replace=True) as out:
            out.write(patch_file.encoded(edit))
        return f"The patch was written to {visible(path)}."

    def import_patch(self, progress: Progress, path: str) -> Edit:
        """The edit in a patch file that matches this archive. Raises OperationError and SourceError."""
        progress.begin("Reading the patch", 0)
        return patch_file.decoded(FileSource(Path(path)), self._file())

    # ---- interrupted changes -----------------------------------------------------------------------------------

    def interrupted(self) -> Interrupted | None:
        """The interrupted change of this archive, None without one. Raises EditError."""
        return interrupted(self._name) if self._stage is not Stage.FAILED else None

    def recover(self, progress: Progress, way: WayOut) -> WriteResult:
        """Finish, roll back or forget an interrupted change, and read the file again. Raises EditError."""
        with self._job_lock.held(progress):
            result = WriteResult(recover(self._name, way))
            self._read_again(progress)
            return result

    def take_back(self, progress: Progress, whole: bool = False) -> WriteResult | OnlyWhole:  # noqa: ARG002 - the signature of write
        """Undo the last change of the file from the store of old bytes, and read it again.

        Raises OperationError and EditError if nothing was changed.
        """
        return self._write(progress, lambda _: WriteResult(take_back(self._name)))

    # ---- repairs -----------------------------------------------------------------------------------------------

    def plan_repairs(self, progress: Progress, accepted: Collection[str]) -> RepairPlan:
        """How the archive on disk can be repaired. Raises OperationError, SourceError and Cancelled."""
        with self._job_lock.held(progress):
            self._file()
            checks = self._disk.checks
            if not checks.checked:
                checks.run(progress)
                self._generation += 1
                progress.advance(0)
            new = plan(self._disk.archives[0], progress, accepted)
            self._planned = self._disk, new
            return describe(new)

    def _plan_for(self, progress: Progress, accepted: Collection[str]) -> Plan:
        """The plan that was shown, since consent covers only that; a new one if none was. Raises OperationError."""
        if self._planned is None or self._planned[0] is not self._disk:
            return plan(self._disk.archives[0], progress, accepted)
        if self._planned[1].accepted != frozenset(accepted):
            raise OperationError(
                "Nothing was changed: these are not the repairs of the plan that was shown. Review the plan."
            )
        return self._planned[1]

    def make_repairs(
        self,
        progress: Progress,
        accepted: Collection[str],
        copy: str,
        whole: bool = False,
        over: bool = True,
        s3: Connection = DEFAULT,
    ) -> WriteResult | OnlyWhole:
        """Repair in place, or to the file or object ``copy``; ``over`` replaces an existing one.

        ``whole`` is as in write_edit; ``s3`` says how to reach the copy.

        Raises OperationError and EditError if nothing was written, SourceError and Cancelled.
        """

        def repair(source: FileSource | S3Source) -> WriteResult:
            shown = self._plan_for(progress, accepted)
            return apply_plan(shown, source, copy, progress, over=over, whole=whole, connection=s3)

        if not copy:
            return self._write(progress, repair)
        with self._job_lock.held(progress):
            return repair(self._file())

    def salvage(
        self,
        progress: Progress,
        accepted: Collection[str],
        copy: str,
        over: bool = True,
        s3: Connection = DEFAULT,
    ) -> WriteResult:
        """Write the undamaged members to a new archive ``copy``; see ``make_repairs``."""
        with self._job_lock.held(progress):
            source = self._file()
            return save_salvage(self._plan_for(progress, accepted), source, copy, progress, over=over, connection=s3)

    # ---- appending ---------------------------------------------------------------------------------------------

    def append(self, progress: Progress, locations: Sequence[str], level: int, convention: str) -> WriteResult:
        """Append files to an RCA archive and read it again; see ``Draft`` for the options.

        Raises OperationError, EditError, SourceError and Cancelled: the archive is then unchanged.
        """
        # Imported here because opening an archive need not wait for the writers.
        from inspector.operations.create.rca_writing import append_rca, rca_options

        with self._job_lock.held(progress):
            self._file()
            grown = append_rca(progress, self._name, locations, rca_options(level, convention))
            self._read_again(progress)
            return WriteResult(grown.sentence, grown.warnings)


def _with_old_bytes_of(patch: Patch, disk: Source) -> Patch:
    stands = disk.read(patch.offset, len(patch.old))
    return replace(patch, old=stands + patch.old[len(stands) :])
