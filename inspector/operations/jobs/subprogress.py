"""Progress of work on several archives: one progress for all of it, which never goes back."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import TypeVar

from inspector.core.program.map_ordered import map_ordered
from inspector.core.program.progress import Progress

Answer = TypeVar("Answer")

READING, CHECKING = "Reading", "Checking"


class SubProgress(Progress):
    """The progress of one part, which covers the bytes ``[start, stop)`` of the progress ``whole``.

    The part may have any number of stages. Stages that count bytes advance the whole, and never move it back; stages
    that count other things only change its label.
    """

    def __init__(self, whole: Progress, start: int, stop: int) -> None:
        self._whole = whole
        self._start = start
        self._stop = stop
        self._done = 0
        super().__init__()

    @property
    def done(self) -> int:
        """How far the current stage is, in its own unit."""
        return self._done

    @done.setter
    def done(self, done: int) -> None:
        self._done = done
        if self.unit == "bytes" and self.total > 0:
            self._advance_to(self._start + (self._stop - self._start) * min(done, self.total) // self.total)

    def _advance_to(self, place: int) -> None:
        if place > self._whole.done:
            self._whole.done = place

    def fill(self) -> None:
        """Mark the whole part as done."""
        self._advance_to(self._stop)

    def begin(self, label: str, total: int, unit: str = "bytes") -> None:
        self._whole.label = label
        super().begin(label, total, unit)

    def advance(self, count: int) -> None:
        """See Progress; the whole decides about pausing and cancelling."""
        if count:
            self.done += count
        self._whole.advance(0)

    def wait(self) -> None:
        self._whole.wait()


def subprogresses(progress: Progress, label: str, sizes: Sequence[int]) -> Iterator[Progress]:
    """A progress for each of several parts of ``sizes`` bytes, in turn; a single part gets ``progress`` itself.

    A part is marked as done when the next one is requested.
    """
    if len(sizes) == 1:
        yield progress
        return
    progress.begin(label, sum(sizes))
    start = 0
    for size in sizes:
        part = SubProgress(progress, start, start + size)
        yield part
        part.fill()
        start += size


def map_with_progress(
    progress: Progress,
    label: str,
    sizes: Sequence[int],
    work: Callable[[int, Progress], Answer],
    max_threads: int,
    unit: str = "bytes",
) -> Generator[Answer]:
    """Yield ``work(at, progress)`` for each of several parts of ``sizes`` bytes, in order, using up to ``max_threads``.

    ``unit`` is what the sizes count. A single part gets ``progress`` itself, which also decides about pausing and
    cancelling. Raises Cancelled, and what ``work`` raises.
    """
    if len(sizes) == 1 or max_threads == 1:
        for at, part in enumerate(subprogresses(progress, label, sizes)):
            yield work(at, part)
        return
    progress.begin(label, sum(sizes), unit)
    before = 0

    def update(running: list[Progress]) -> None:
        progress.done = max(progress.done, before + sum(each.done for each in running))
        if progress.paused:
            for each in running:
                each.pause()
        progress.advance(0)
        for each in running:
            each.resume()

    answers = map_ordered(
        range(len(sizes)), lambda at, own: work(at, SubProgress(own, 0, sizes[at])), max_threads, update
    )
    with closing(answers):
        for size, answer in zip(sizes, answers, strict=True):
            before += size
            progress.done = max(progress.done, before)
            progress.advance(0)
            yield answer
