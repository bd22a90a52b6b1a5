"""Experiments on what is open: steps over the archive on disk, which is never written while there are any."""

from __future__ import annotations

from pathlib import Path

from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.operations.experiment.experiment import Experiment, file_content
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.experiment_views import Content, ExperimentView, Step, Steps
from inspector.operations.protocol.views import Stage
from inspector.operations.session.changing import Changing
from inspector.sources.s3.source import TAIL_BYTES, RemoteSource


class Experimenting(Changing):
    """Shows and saves what steps leave of the archive."""

    def show_experiment(self, progress: Progress, steps: Steps | None) -> ExperimentView | None:
        """Show what steps leave of the archive, or the archive as it is on disk for None.

        Raises OperationError where they cannot be done, SourceError and Cancelled: what is shown stays.
        """
        with self.job_lock.held(progress):
            # Jobs get the lock in any order: one that a later one superseded must not undo what that has shown.
            progress.advance(0)
            if steps is None:
                self.experiment = None
                self.show(self.disk)
                return None
            experiment = self.experiment or Experiment(self._base())
            experiment.set(steps, progress)
            source = experiment.source
            source.sparing = isinstance(source.base, RemoteSource) and source.base.size > TAIL_BYTES
            shown = self.preview_of(source, progress)
            self.experiment = experiment
            self.show(shown)
            return experiment.view

    def _base(self) -> Source:
        """The archive on disk; raises OperationError where that is several or none."""
        if self.stage is not Stage.READY:
            raise OperationError("The archive is still being read. Begin the experiment after that.")
        if self.disk.location.collection is not None or not self.disk.archives:
            raise OperationError("An experiment is made on one archive. Open one of these files.")
        return self.disk.archives[0].source

    def _with(self, steps: Steps, progress: Progress) -> Experiment:
        """The experiment with exactly these steps. Raises OperationError, SourceError and Cancelled."""
        experiment = self.experiment or Experiment(self._base())
        experiment.set(steps, progress)
        return experiment

    def damage_step(self, progress: Progress, steps: Steps, name: str, seed: int) -> Step:
        """The step after these that makes a damage by name. Raises OperationError, SourceError and Cancelled."""
        with self.job_lock.held(progress):
            return self._with(steps, progress).damage(name, seed)

    def content_of_file(self, progress: Progress, path: str) -> Content:
        """All bytes of a file, for a step. Raises OperationError, SourceError and Cancelled."""
        return file_content(path, progress)

    def save_experiment(self, progress: Progress, steps: Steps, path: str, over: bool) -> str:
        """Write what the steps leave to a new file, never to the archive."""
        with self.job_lock.held(progress):
            self._with(steps, progress).save(Path(path), progress, replace=over)
            return f"The experiment was written to {visible(path)}."

    def save_experiment_patch(self, progress: Progress, steps: Steps, path: str) -> str:
        """Write what differs as a patch. Raises OperationError, SourceError and Cancelled."""
        with self.job_lock.held(progress):
            self._with(steps, progress).save_patch(Path(path), progress, replace=True)
            return f"The patch was written to {visible(path)}."
