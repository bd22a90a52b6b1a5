"""Experiments on what is open: steps over the archive on disk, which is never written while there are any."""

from __future__ import annotations

from pathlib import Path

from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.operations.experiment import recipe
from inspector.operations.experiment.experiment import Experiment, file_content
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.experiment_views import Content, ExperimentView, Step, Steps
from inspector.operations.protocol.views import Stage
from inspector.operations.session import changing
from inspector.operations.session.state import SessionState
from inspector.sources.s3.source import TAIL_BYTES, RemoteSource


def show_experiment(session: SessionState, progress: Progress, steps: Steps | None) -> ExperimentView | None:
    """Show what steps leave of the archive, or the archive as it is on disk for None.

    Raises OperationError where they cannot be done, SourceError and Cancelled: what is shown stays.
    """
    with session.job_lock.held(progress):
        # Jobs get the lock in any order: one that a later one superseded must not undo what that has shown.
        progress.advance(0)
        if steps is None:
            session.experiment = None
            session.show(session.disk)
            return None
        experiment = session.experiment or Experiment(_base(session))
        experiment.set(steps, progress)
        source = experiment.source
        source.sparing = isinstance(source.base, RemoteSource) and source.base.size > TAIL_BYTES
        shown = changing.preview_of(session, source, progress)
        session.experiment = experiment
        session.show(shown)
        return experiment.view


def _base(session: SessionState) -> Source:
    """The archive on disk; raises OperationError where that is several or none."""
    if session.stage is not Stage.READY:
        raise OperationError("The archive is still being read. Begin the experiment after that.")
    if session.disk.location.collection is not None or not session.disk.archives:
        raise OperationError("An experiment is made on one archive. Open one of these files.")
    return session.disk.archives[0].source


def _with(session: SessionState, steps: Steps, progress: Progress) -> Experiment:
    """The experiment with exactly these steps. Raises OperationError, SourceError and Cancelled."""
    experiment = session.experiment or Experiment(_base(session))
    experiment.set(steps, progress)
    return experiment


def damage_step(session: SessionState, progress: Progress, steps: Steps, name: str, seed: int) -> Step:
    """The step after these that makes a damage by name. Raises OperationError, SourceError and Cancelled."""
    with session.job_lock.held(progress):
        return _with(session, steps, progress).damage(name, seed)


def content_of_file(_: SessionState, progress: Progress, path: str) -> Content:
    """All bytes of a file, for a step. Raises OperationError, SourceError and Cancelled."""
    return file_content(path, progress)


def step_text(_: SessionState, step: Step) -> str:
    """A step as it stands in a recipe."""
    return recipe.step_text(step)


def parse_step(_: SessionState, text: str, folder: str) -> Step:
    """The step that a recipe with this text has; files lie in ``folder``. Raises OperationError."""
    return recipe.parsed_step(text, Path(folder))


def save_experiment(session: SessionState, progress: Progress, steps: Steps, path: str, over: bool) -> str:
    """Write what the steps leave to a new file, never to the archive. Raises OperationError, SourceError, Cancelled."""
    with session.job_lock.held(progress):
        _with(session, steps, progress).save(Path(path), progress, replace=over)
        return f"The experiment was written to {visible(path)}."


def save_recipe(session: SessionState, progress: Progress, steps: Steps, path: str) -> str:
    """Write the steps as a recipe. Raises OperationError, SourceError and Cancelled."""
    with session.job_lock.held(progress):
        recipe.save(_with(session, steps, progress), Path(path), progress, replace=True)
        return f"The recipe was written to {visible(path)}."


def save_experiment_patch(session: SessionState, progress: Progress, steps: Steps, path: str) -> str:
    """Write what differs as a patch. Raises OperationError, SourceError and Cancelled."""
    with session.job_lock.held(progress):
        _with(session, steps, progress).save_patch(Path(path), progress, replace=True)
        return f"The patch was written to {visible(path)}."


def open_recipe(session: SessionState, progress: Progress, path: str) -> Steps:
    """The steps of a recipe, which is for this archive. Raises OperationError, SourceError and Cancelled."""
    with session.job_lock.held(progress):
        experiment = Experiment(_base(session))
        recipe.repeat(recipe.load(Path(path)), experiment, progress)
        return experiment.steps
