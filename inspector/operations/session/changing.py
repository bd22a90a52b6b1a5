"""Changing what is open: previews of edits, writing, repairs, experiments and replays. Nothing is written unasked."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from msgspec.structs import replace

from inspector.core.edit import Edit, EditError, OverlaySource, Patch
from inspector.core.finding import Finding, Severity
from inspector.core.names import visible
from inspector.core.pieces import PieceSource
from inspector.core.program.progress import Cancelled, Progress, cancelling
from inspector.core.source import Source, SourceError
from inspector.operations.edit import edits
from inspector.operations.edit.apply_repairs import (
    Readable,
    apply_plan,
    describe,
    save_copy,
    save_salvage,
    sending_lines,
    write_edit,
)
from inspector.operations.edit.edits import broken, header_view, member_target, repair_checksums, require_match
from inspector.operations.edit.edits import preview as preview_header
from inspector.operations.edit.interrupted import interrupted, recover
from inspector.operations.edit.past_writes import edits_before, forget_past_writes, past_writes, take_back
from inspector.operations.edit.plan_repairs import Plan, plan
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.location import Location
from inspector.operations.open.opening import Opened, decode, start
from inspector.operations.protocol.edit_views import (
    Interrupted,
    NeedsConsent,
    PastWrite,
    RepairPlan,
    WayOut,
    WriteResult,
)
from inspector.operations.protocol.experiment_views import Content, ExperimentView, Step, Steps
from inspector.operations.protocol.header_draft import HeaderDraft, HeaderView, TacoEntry
from inspector.operations.protocol.replay_views import (
    AppendWrites,
    EditWrites,
    Matrix,
    PastWrites,
    Point,
    RepairWrites,
    ReplayState,
    Writes,
)
from inspector.operations.protocol.views import Stage
from inspector.operations.session.reading import Reading, Snapshot
from inspector.operations.trials.experiment import Experiment, file_content, save_as_new
from inspector.operations.trials.replay import Replay
from inspector.sources.local.atomic import atomic_file
from inspector.sources.local.file import FileSource
from inspector.sources.s3.connection import DEFAULT, Connection, Consent
from inspector.sources.s3.sentences import ConsentNeededError
from inspector.sources.s3.source import TAIL_BYTES, RemoteSource, S3Source

MAX_PREVIEW_CHECK_BYTES = 64 << 20
"""Archives up to this size are checked with every preview, larger ones only if they were checked before."""


def _with_old_bytes_of(patch: Patch, disk: Source) -> Patch:
    stands = disk.read(patch.offset, len(patch.old))
    return patch._replace(old=stands + patch.old[len(stands) :])


class Changing(Reading):
    """Previews, writes and repairs."""

    def preview(self, progress: Progress, edit: Edit | None) -> tuple[str, ...] | None:
        """Show the archive with ``edit`` applied, or as it is on disk for None; an experiment or a replay is left.

        Returns the names of the checksums that the edit makes wrong, None if the preview was not checked. Raises
        OperationError and Cancelled.
        """
        with self.alone(progress):
            # Jobs get the lock in any order: one that a later one superseded must not undo what that has shown.
            progress.advance(0)
            if self.unreal:
                self.experiment = self.replay = None
                self.show(self.disk)
            snapshot = self.disk if edit is None else self._snapshot_with(edit, progress)
            self.show(snapshot)
            return broken(snapshot.archives[0], edit) if edit is not None and snapshot.checks.checked else None

    def _snapshot_with(self, edit: Edit, progress: Progress) -> Snapshot:
        changed = OverlaySource(self.file_to_change(), edit)
        return self._preview_of(changed, progress, self.disk.archives[0].findings)

    def _preview_of(
        self, source: OverlaySource | PieceSource, progress: Progress, before: Sequence[Finding] | None = None
    ) -> Snapshot:
        """An archive in the place of the one on disk: checked if it is small, or that one was.

        With the findings ``before`` a change, what the change brings is at least a warning, though it may be allowed.
        """
        disk = self.disk.archives[0].source
        source.sparing = isinstance(disk, RemoteSource) and disk.size > TAIL_BYTES
        snapshot = Snapshot(self.name, Location([start(source)]))
        decode(snapshot.archives[0], progress)
        if before is not None:
            known, findings = {(each.code, each.message) for each in before}, snapshot.archives[0].findings
            findings[:] = (
                each._replace(severity=Severity.WARNING)
                if each.severity is Severity.INFO and (each.code, each.message) not in known
                else each
                for each in findings
            )
        progress.advance(0)
        if not source.sparing and (self.disk.checks.checked or source.size <= MAX_PREVIEW_CHECK_BYTES):
            snapshot.checks.run(progress)
            progress.advance(0)
        return snapshot

    def require_no_experiment(self) -> None:
        """Raise OperationError while an experiment or a replay is shown: the archive is not written meanwhile."""
        if self.unreal:
            raise OperationError(
                f"This is {self.unreal}, so nothing is written to the archive. Save it as a new file, or leave it "
                "first."
            )

    def file_to_change(self) -> Readable:
        """The archive on disk or on S3; raises OperationError if it cannot be changed."""
        self.require_no_experiment()
        if self.stage in (Stage.OPENING, Stage.DECODING):
            raise OperationError("The archive is still being read. Change it after that.")
        archives = self.disk.archives
        if self.disk.location.collection is not None:
            raise OperationError("This is a folder of several files. Open the one to change.")
        source = archives[0].source if archives else None
        if not isinstance(source, (FileSource, RemoteSource)):
            raise OperationError("There is no file to change.")
        return source

    def repair_checksums(self, progress: Progress, edit: Edit) -> tuple[Edit, tuple[str, ...]]:
        """The edit extended by all checksums that it makes wrong, and their names. Raises as ``write`` does."""
        return repair_checksums(self.file_to_change(), edit, progress)

    def header(self, draft: HeaderDraft | None) -> HeaderView:
        """The TACO header that is shown, or a draft of it; raises OperationError if there is none.

        ``before`` are the entries of the file on disk.
        """
        shown = header_view(self._header_archive(), draft)
        return replace(shown, before=header_view(self.disk.archives[0]).entries)

    def header_edit(self, draft: HeaderDraft) -> Edit:
        """The edit that writes a draft into the header.

        Its old bytes are those on disk where it has them, because a pending edit may have changed what is shown.
        """
        edit, disk = preview_header(self._header_archive(), draft), self.file_to_change()
        return dataclasses.replace(edit, patches=tuple(_with_old_bytes_of(patch, disk) for patch in edit.patches))

    def header_target(self, member: int) -> TacoEntry:
        """Offset and length of a member's data; raises OperationError if they are unknown."""
        return member_target(self._header_archive(), member)

    def _header_archive(self) -> Opened:
        if self.stage is not Stage.READY or self.now.location.collection is not None:
            raise OperationError("There is no TACO header to show.")
        return self.now.archives[0]

    def upload_preview(self, edit: Edit, consents: Consent = Consent.NONE) -> tuple[str, ...]:
        """What writing an edit would send to S3, in lines; none if the archive is local."""
        source = self.file_to_change()
        return tuple(sending_lines(source, edit, consents)) if isinstance(source, S3Source) else ()

    def write(self, progress: Progress, edit: Edit, consents: Consent = Consent.NONE) -> WriteResult | NeedsConsent:
        """Write an edit into the file and read it again; ``consents`` as in write_edit.

        Raises OperationError and EditError if nothing was written, or if the sentence says that this is unknown.
        """
        return self._write_with(progress, lambda source: write_edit(source, edit, progress, consents))

    def _write_with(self, progress: Progress, write: Callable[[Readable], WriteResult]) -> WriteResult | NeedsConsent:
        """Change the archive and read it again. If reading fails, the result still reports the change."""
        self.unwritten = ""
        with self.alone(progress):
            source = self.file_to_change()
            progress.begin("Writing", 0)
            try:
                result = write(source)
            except ConsentNeededError as error:
                return NeedsConsent(str(error), error.consent)
            except Cancelled:
                self.unwritten = f"{visible(source.name)} was not changed: writing it was cancelled."
                raise EditError(self.unwritten) from None
            except EditError as error:
                self.unwritten = str(error)
                raise
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
        with self.alone(progress), cancelling(progress):
            self.require_no_experiment()
            before, self.disk = self.disk, self._reloaded(progress)
            try:
                if edit is not None:
                    require_match(edit, self.file_to_change(), "The pending change")
                self.show(self.disk if edit is None else self._snapshot_with(edit, progress))
            except OperationError as error:
                self.disk = before
                raise OperationError(
                    f"{error} It stays pending over the old content. Export it as a patch or discard it, then reload."
                ) from error
            except BaseException:
                self.disk = before
                raise

    def _read_again(self, progress: Progress) -> None:
        source = self.disk.archives[0].source
        checked = self.disk.checks.checked and not (isinstance(source, RemoteSource) and source.size > TAIL_BYTES)
        self.disk = self._reloaded(progress)
        if checked:
            self.disk.checks.run(progress)
        self.show(self.disk)

    def _reloaded(self, progress: Progress) -> Snapshot:
        """A decoded snapshot of the current archive."""
        fresh = Reading(self.name, self.s3)
        fresh.decode(progress)
        progress.advance(0)
        if (failed := fresh.status()).stage is Stage.FAILED:
            raise OperationError(failed.sentence)
        now = fresh.now
        for before, after in zip(self.disk.archives, now.archives, strict=False):
            if isinstance(before.source, S3Source) and isinstance(after.source, S3Source):
                after.source.log.follow(before.source.log)
        return now

    def save_copy(self, progress: Progress, edit: Edit, path: str, over: bool, s3: Connection = DEFAULT) -> str:
        """Write the archive with ``edit`` applied to another file or object; ``s3`` says how to reach that."""
        save_copy(self.file_to_change(), edit, path, progress, over, s3)
        return f"The changed copy is {visible(path)}."

    def copy_shown(self, progress: Progress, path: str) -> None:
        """Write the bytes of the open file to a new file."""
        save_as_new(self.disk.archives[0].source, Path(path), progress, replace=False)

    def export_patch(self, progress: Progress, edit: Edit, path: str) -> str:
        """Write an edit to a patch file."""
        progress.begin("Writing the patch", 0)
        with atomic_file(Path(path), replace=True) as out:
            out.write(edits.encoded(edit))
        return f"The patch was written to {visible(path)}."

    def import_patch(self, progress: Progress, path: str) -> Edit:
        """The edit in a patch file that matches this archive."""
        progress.begin("Reading the patch", 0)
        return edits.decoded(FileSource(Path(path)), self.file_to_change())

    def interrupted(self) -> Interrupted | None:
        """The interrupted change of this archive, None without one."""
        return interrupted(self.name) if self.stage is not Stage.FAILED else None

    def recover(self, progress: Progress, way: WayOut) -> WriteResult:
        """Finish, roll back or forget an interrupted change, and read the file again."""
        with self.alone(progress):
            self.require_no_experiment()
            result = WriteResult(recover(self.name, way))
            self._read_again(progress)
            return result

    def take_back(
        self,
        progress: Progress,
        consents: Consent = Consent.NONE,  # noqa: ARG002 - the signature of write
    ) -> WriteResult | NeedsConsent:
        """Undo the last change of the file from the store of old bytes, and read it again.

        Raises OperationError and EditError if nothing was changed.
        """
        return self._write_with(progress, lambda _: WriteResult(take_back(self.name)))

    def past_writes(self, progress: Progress) -> tuple[PastWrite, ...]:
        """What this program wrote to the file, newest first; nothing where that cannot be found out."""
        with self.alone(progress), cancelling(progress):
            try:
                return past_writes(self.name, self.disk.archives[0].source if self.disk.archives else None)
            except (EditError, SourceError):
                return ()

    def edits_before(self, progress: Progress, number: int) -> tuple[Edit, ...]:
        """The edits that lead to the state before write ``number`` of those listed."""
        with self.alone(progress), cancelling(progress):
            return edits_before(self.name, number, self.file_to_change())

    def forget_past_writes(self, progress: Progress) -> str:
        """Remove the stored old bytes of the file; returns a sentence."""
        with self.alone(progress):
            return forget_past_writes(self.name)

    def plan_repairs(self, progress: Progress, accepted: Collection[str]) -> RepairPlan:
        """How the archive on disk can be repaired, or what an experiment or a replay shows, to be saved first."""
        with self.alone(progress):
            if not self.unreal:
                self.file_to_change()
            shown = self.now if self.unreal else self.disk
            if not shown.checks.checked:
                shown.checks.run(progress)
                self.generation += 1
                progress.advance(0)
            new = plan(shown.archives[0], progress, accepted, in_place=not self.unreal)
            self.planned = shown, new
            return describe(new)

    def _plan_for(self, progress: Progress, accepted: Collection[str]) -> Plan:
        """The plan that was shown, since consent covers only that; a new one if none was."""
        if self.planned is None or self.planned[0] is not self.disk:
            return plan(self.disk.archives[0], progress, accepted)
        if self.planned[1].accepted != frozenset(accepted):
            raise OperationError(
                "Nothing was changed: these are not the repairs of the plan that was shown. Review the plan."
            )
        return self.planned[1]

    def make_repairs(
        self,
        progress: Progress,
        accepted: Collection[str],
        copy: str,
        consents: Consent = Consent.NONE,
        over: bool = True,
        s3: Connection = DEFAULT,
    ) -> WriteResult | NeedsConsent:
        """Repair in place, or to the file or object ``copy``; ``over`` replaces an existing one.

        ``consents`` are as in write_edit; ``s3`` says how to reach the copy.

        Raises OperationError and EditError if nothing was written, SourceError and Cancelled.
        """

        def repair(source: Readable) -> WriteResult:
            shown = self._plan_for(progress, accepted)
            return apply_plan(shown, source, copy, progress, over=over, consents=consents, connection=s3)

        if not copy:
            return self._write_with(progress, repair)
        with self.alone(progress):
            return repair(self.file_to_change())

    def salvage(
        self,
        progress: Progress,
        accepted: Collection[str],
        copy: str,
        over: bool = True,
        s3: Connection = DEFAULT,
    ) -> WriteResult:
        """Write the undamaged members to a new archive ``copy``; see ``make_repairs``."""
        with self.alone(progress):
            source = self.file_to_change()
            return save_salvage(self._plan_for(progress, accepted), source, copy, progress, over=over, connection=s3)

    def append(self, progress: Progress, locations: Sequence[str], level: int, convention: str) -> WriteResult:
        """Append files to an RCA archive and read it again; see ``Draft`` for the options.

        Raises OperationError, EditError, SourceError and Cancelled: the archive is then unchanged.
        """
        # Imported here because opening an archive need not wait for the writers.
        from inspector.operations.create.creating_rca import rca_options
        from inspector.operations.create.rca_writing import append_rca

        with self.alone(progress):
            self.file_to_change()
            grown = append_rca(progress, self.name, locations, rca_options(level or None, convention))
            self._read_again(progress)
            return WriteResult(grown.sentence, grown.warnings)

    # ---- experiments -------------------------------------------------------------------------------------------

    def show_experiment(self, progress: Progress, steps: Steps) -> ExperimentView:
        """Show what steps leave of the archive.

        Raises OperationError where they cannot be done, SourceError and Cancelled: what is shown stays.
        """
        with self.alone(progress):
            # Jobs get the lock in any order: one that a later one superseded must not undo what that has shown.
            progress.advance(0)
            experiment = self._with(steps, progress)
            shown = self._preview_of(experiment.source, progress)
            self.experiment = experiment
            self.show(shown)
            return experiment.view

    def _only_archive(self, begin: str, several: str) -> Opened:
        """The archive on disk; raises OperationError with these words where it is not read yet, several or none."""
        if self.stage is not Stage.READY:
            raise OperationError(f"The archive is still being read. {begin} after that.")
        if self.disk.location.collection is not None or not self.disk.archives:
            raise OperationError(f"{several} on one archive. Open one of these files.")
        return self.disk.archives[0]

    def _with(self, steps: Steps, progress: Progress) -> Experiment:
        """The experiment with exactly these steps."""
        base = self.experiment or Experiment(self._only_archive("Begin the experiment", "An experiment is made").source)
        base.set(steps, progress)
        return base

    def damage_step(self, progress: Progress, steps: Steps, name: str, seed: int) -> Step:
        """The step after these that makes a damage by name."""
        with self.alone(progress):
            return self._with(steps, progress).damage(name, seed)

    def content_of_file(self, progress: Progress, path: str) -> Content:
        """All bytes of a file, for a step."""
        return file_content(path, progress)

    def save_experiment(self, progress: Progress, steps: Steps, path: str, over: bool) -> str:
        """Write what the steps leave to a new file, never to the archive."""
        with self.alone(progress):
            self._with(steps, progress).save(Path(path), progress, replace=over)
            return f"The experiment was written to {visible(path)}."

    def save_experiment_patch(self, progress: Progress, steps: Steps, path: str) -> str:
        """Write what differs as a patch."""
        with self.alone(progress):
            self._with(steps, progress).save_patch(Path(path), progress, replace=True)
            return f"The patch was written to {visible(path)}."

    # ---- replays -----------------------------------------------------------------------------------------------

    def show_replay(self, progress: Progress, writes: Writes, point: Point) -> ReplayState:
        """Show the archive at a point of a replay.

        Raises OperationError where they cannot be replayed, SourceError and Cancelled: what is shown stays.
        """
        with self.alone(progress):
            # Jobs get the lock in any order: one that a later one superseded must not undo what that has shown.
            progress.advance(0)
            replay = self.replay[1] if self.replay and self.replay[0] == writes else self._made(writes, progress)
            state = replay.state(point)
            shown = self._preview_of(replay.source(state.point), progress)
            self.replay = writes, replay
            self.show(shown)
            return state

    def _made(self, writes: Writes, progress: Progress) -> Replay:
        # Imported here because opening an archive need not wait for the writers.
        from inspector.operations.create.creating_rca import rca_options
        from inspector.operations.trials.writers import (
            replay_append,
            replay_edit,
            replay_past,
            replay_repair,
            replay_segments,
        )

        if self.experiment is not None:
            raise OperationError("This is an experiment: leave it before writes are replayed.")
        archive = self._only_archive("Replay its writes", "Writes are replayed")
        source: Source = archive.source
        match writes:
            case EditWrites(edit):
                return replay_edit(source, edit, progress)
            case AppendWrites(locations, level, convention):
                return replay_append(source, locations, rca_options(level or None, convention), progress)
            case RepairWrites(accepted):
                return replay_repair(archive, progress, accepted)
            case PastWrites(number):
                return replay_past(self.name, number, source, progress)
        return replay_segments(archive)

    def crash_matrix(self, progress: Progress, writes: Writes) -> Matrix:
        """What each reader makes of a crash at each write."""
        from inspector.operations.trials.matrix import crash_matrix as matrix

        return matrix(self._shown(writes), progress)

    def save_replay(self, progress: Progress, writes: Writes, point: Point, path: str, over: bool) -> str:
        """Write the archive at a point to a new file."""
        replay = self._shown(writes)
        replay.save(point, Path(path), progress, replace=over)
        return f"The archive {replay.view.words(point)} is in {visible(path)}."

    def _shown(self, writes: Writes) -> Replay:
        if self.replay is None or self.replay[0] != writes:
            raise OperationError("These writes are not replayed any more.")
        return self.replay[1]
