"""Experiments and replays of what is open: the archive as steps or writes leave it, which are never made meanwhile."""

from __future__ import annotations

from pathlib import Path

from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.operations.experiment.experiment import Experiment, file_content
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.experiment_views import Content, ExperimentView, Step, Steps
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
from inspector.operations.replay.replay import Replay
from inspector.operations.session.changing import Changing
from inspector.sources.s3.source import TAIL_BYTES, RemoteSource


class Overlays(Changing):
    """Shows and saves what steps leave of the archive, or the archive between two writes."""

    # ---- experiments -------------------------------------------------------------------------------------------

    def show_experiment(self, progress: Progress, steps: Steps | None) -> ExperimentView | None:
        """Show what steps leave of the archive, or the archive as it is on disk for None.

        Raises OperationError where they cannot be done, SourceError and Cancelled: what is shown stays.
        """
        with self.alone(progress):
            # Jobs get the lock in any order: one that a later one superseded must not undo what that has shown.
            progress.advance(0)
            if steps is None:
                self.experiment = None
                self.show(self.disk)
                return None
            experiment = self._with(steps, progress)
            source = experiment.source
            source.sparing = isinstance(source.base, RemoteSource) and source.base.size > TAIL_BYTES
            shown = self.preview_of(source, progress)
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
        """The experiment with exactly these steps. Raises OperationError, SourceError and Cancelled."""
        base = self.experiment or Experiment(self._only_archive("Begin the experiment", "An experiment is made").source)
        base.set(steps, progress)
        return base

    def damage_step(self, progress: Progress, steps: Steps, name: str, seed: int) -> Step:
        """The step after these that makes a damage by name. Raises OperationError, SourceError and Cancelled."""
        with self.alone(progress):
            return self._with(steps, progress).damage(name, seed)

    def content_of_file(self, progress: Progress, path: str) -> Content:
        """All bytes of a file, for a step. Raises OperationError, SourceError and Cancelled."""
        return file_content(path, progress)

    def save_experiment(self, progress: Progress, steps: Steps, path: str, over: bool) -> str:
        """Write what the steps leave to a new file, never to the archive."""
        with self.alone(progress):
            self._with(steps, progress).save(Path(path), progress, replace=over)
            return f"The experiment was written to {visible(path)}."

    def save_experiment_patch(self, progress: Progress, steps: Steps, path: str) -> str:
        """Write what differs as a patch. Raises OperationError, SourceError and Cancelled."""
        with self.alone(progress):
            self._with(steps, progress).save_patch(Path(path), progress, replace=True)
            return f"The patch was written to {visible(path)}."

    # ---- replays -----------------------------------------------------------------------------------------------

    def show_replay(self, progress: Progress, writes: Writes | None, point: Point | None) -> ReplayState | None:
        """Show the archive at a point of a replay, the beginning for None, or as it is on disk without ``writes``.

        Raises OperationError where they cannot be replayed, SourceError and Cancelled: what is shown stays.
        """
        with self.alone(progress):
            # Jobs get the lock in any order: one that a later one superseded must not undo what that has shown.
            progress.advance(0)
            if writes is None:
                self.replay = None
                self.show(self.disk)
                return None
            known = self.replay is not None and self.replay[0] == writes
            replay = self._shown(writes) if known else self._made(writes, progress)
            state = replay.state(point or Point(0))
            shown = self.preview_of(replay.source(state.point), progress)
            self.replay = writes, replay
            self.show(shown)
            return state

    def _made(self, writes: Writes, progress: Progress) -> Replay:
        # Imported here because opening an archive need not wait for the writers.
        from inspector.operations.create.creating_rca import rca_options
        from inspector.operations.replay.writers import (
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
                return replay_append(source, locations, rca_options(level, convention), progress)
            case RepairWrites(accepted):
                return replay_repair(archive, progress, accepted)
            case PastWrites(number):
                return replay_past(self.name, number, source, progress)
        return replay_segments(archive)

    def crash_matrix(self, progress: Progress, writes: Writes) -> Matrix:
        """What each reader makes of a crash at each write. Raises OperationError, SourceError and Cancelled."""
        from inspector.operations.replay.matrix import crash_matrix as matrix

        return matrix(self._shown(writes), progress)

    def save_replay(self, progress: Progress, writes: Writes, point: Point, path: str, over: bool) -> str:
        """Write the archive at a point to a new file. Raises OperationError, SourceError and Cancelled."""
        replay = self._shown(writes)
        replay.save(point, Path(path), progress, replace=over)
        return f"The archive {replay.view.words(point)} is in {visible(path)}."

    def _shown(self, writes: Writes) -> Replay:
        found = self.replay
        if found is None or found[0] != writes:
            raise OperationError("These writes are not replayed any more.")
        return found[1]
