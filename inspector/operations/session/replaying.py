"""Replays of writes to what is open: the archive between two writes, which are never made meanwhile."""

from __future__ import annotations

from pathlib import Path

from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import Opened
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


class Replaying(Changing):
    """Shows the archive between two writes."""

    def show_replay(self, progress: Progress, writes: Writes | None, point: Point | None) -> ReplayState | None:
        """Show the archive at a point of a replay, the beginning for None, or as it is on disk without ``writes``.

        Raises OperationError where they cannot be replayed, SourceError and Cancelled: what is shown stays.
        """
        with self.job_lock.held(progress):
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

        archive = self._archive()
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

    def _archive(self) -> Opened:
        """The archive on disk. Raises OperationError where that is several or none, or something else is shown."""
        if self.experiment is not None:
            raise OperationError("This is an experiment: leave it before writes are replayed.")
        if self.stage is not Stage.READY:
            raise OperationError("The archive is still being read. Replay its writes after that.")
        if self.disk.location.collection is not None or not self.disk.archives:
            raise OperationError("Writes are replayed on one archive. Open one of these files.")
        return self.disk.archives[0]

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
