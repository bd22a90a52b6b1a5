"""Work that is paused waits, and what is cancelled ends, even while it is paused."""

from __future__ import annotations

import threading

import pytest

from inspector.core.program.progress import Cancelled, Progress
from tests.patience import PATIENCE


class Worker(threading.Thread):
    """Advances one step and says how that ended."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(daemon=True)
        self.progress = progress
        self.ended: str = ""

    def run(self) -> None:
        try:
            self.progress.advance(3)
            self.ended = "went on"
        except Cancelled:
            self.ended = "cancelled"


@pytest.mark.parametrize(("order", "ended"), [(Progress.resume, "went on"), (Progress.cancel, "cancelled")])
def test_paused_work_waits_until_it_is_told_what_to_do(order: object, ended: str) -> None:
    progress = Progress()
    progress.pause()
    worker = Worker(progress)
    worker.start()
    worker.join(0.05)
    assert worker.is_alive()
    assert progress.paused
    assert callable(order)
    order(progress)
    worker.join(PATIENCE)
    assert (worker.ended, progress.done, progress.paused) == (ended, 3, False)


def test_what_was_cancelled_cannot_be_paused() -> None:
    progress = Progress()
    progress.cancel()
    progress.pause()
    assert not progress.paused
    with pytest.raises(Cancelled):
        progress.begin("next", 10)


def test_the_next_stage_begins_at_nothing() -> None:
    progress = Progress("first", 4)
    progress.advance(3)
    progress.begin("second", 7, "members")
    assert (progress.label, progress.total, progress.unit, progress.done) == ("second", 7, "members", 0)


def test_work_that_was_resumed_can_be_paused_and_cancelled_again() -> None:
    progress = Progress()
    progress.pause()
    progress.resume()
    progress.advance(1)
    progress.pause()
    assert progress.paused
    progress.cancel()
    with pytest.raises(Cancelled):
        progress.advance(1)
    assert progress.done == 2
