"""Work that ends or holds up the process that does it. Processes import this module: what tests need is not in it."""

from __future__ import annotations

import os
import signal

from inspector.core.program.progress import Progress
from inspector.core.verdict import State
from inspector.operations.audit.audit import Job, JobOutcome, examine
from inspector.operations.protocol.audit_views import Result


def end_with_a_gap(task: tuple[int, Job], progress: Progress) -> JobOutcome:
    """One archive kills its process, another needs more memory than there is."""
    job = task[1]
    if "gap" in job.target.location:
        os.kill(os.getpid(), signal.SIGKILL)
    if "plain" in job.target.location:
        raise MemoryError
    return examine(job, progress)


def hang_with_a_gap(task: tuple[int, Job], _: Progress) -> JobOutcome:
    """What does not hang is done at once, for a busy machine may take seconds for any real work."""
    job = task[1]
    if "gap" in job.target.location:
        signal.pause()
    return JobOutcome(Result(job.target.location, job.size, job.target.stamp, job.quick, State.SOUND))


def die_of_damage(task: tuple[int, Job], progress: Progress) -> JobOutcome:
    outcome = examine(task[1], progress)
    if outcome.result.state == State.DAMAGED:
        os.kill(os.getpid(), signal.SIGKILL)
    return outcome
