"""Long work that is made of several archives: one progress for all of it, which never goes back."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, MutableSequence, Sequence
from contextlib import closing
from typing import TypeVar

from inspector.core.map_ordered import map_ordered
from inspector.core.progress import Progress

Answer = TypeVar("Answer")

READING, CHECKING = "Reading", "Checking"


class Subprogress(Progress):
    """The progress of one part, which makes the bytes ``[start, stop)`` of the progress ``whole``.

    The part may have any number of stages. Those that count in bytes move the whole, as far as none did before; those
    that count other things only say what is being done.
    """

    def __init__(self, whole: Progress, start: int, stop: int) -> None:
        self._whole = whole
        self._start = start
        self._stop = stop
        self._done = 0
        super().__init__()

    @property
    def done(self) -> int:
        """How far the present stage is."""
        return self._done

    @done.setter
    def done(self, done: int) -> None:
        self._done = done
        if self.unit == "bytes" and self.total > 0:
            self._reach(self._start + (self._stop - self._start) * min(done, self.total) // self.total)

    def _reach(self, place: int) -> None:
        if place > self._whole.done:
            self._whole.done = place

    def fill(self) -> None:
        """Say that all of the part is done."""
        self._reach(self._stop)

    def begin(self, label: str, total: int, unit: str = "bytes") -> None:
        self._whole.label = label
        super().begin(label, total, unit)

    def advance(self, count: int) -> None:
        """See Progress; pausing and cancelling are asked of the whole."""
        if count:
            self.done += count
        self._whole.advance(0)

    def wait(self) -> None:
        self._whole.wait()


def shares(progress: Progress, label: str, sizes: Sequence[int]) -> Iterator[Progress]:
    """A progress for each of several parts of so many bytes, in turn; a single part has all of it to itself.

    A part is filled when the next is asked for.
    """
    if len(sizes) == 1:
        yield progress
        return
    progress.begin(label, sum(sizes))
    start = 0
    for size in sizes:
        share = Subprogress(progress, start, start + size)
        yield share
        share.fill()
        start += size


def together(
    progress: Progress,
    label: str,
    sizes: Sequence[int],
    work: Callable[[int, Progress], Answer],
    most: int,
    unit: str = "bytes",
) -> Generator[Answer]:
    """What ``work`` gives for each of several parts of so many bytes, in turn; up to ``most`` are worked on at a time.

    ``unit``: the sizes count something else. A single part has all of ``progress`` to itself. Pausing and cancelling
    are asked of that. Raises Cancelled, and what ``work`` raises.
    """
    if len(sizes) == 1 or most == 1:
        for at, part in enumerate(shares(progress, label, sizes)):
            yield work(at, part)
        return
    progress.begin(label, sum(sizes), unit)
    before = 0

    def look(running: list[Progress]) -> None:
        progress.done = max(progress.done, before + sum(each.done for each in running))
        if progress.paused:
            for each in running:
                each.pause()
        progress.advance(0)
        for each in running:
            each.resume()

    came = map_ordered(range(len(sizes)), lambda at, own: work(at, Subprogress(own, 0, sizes[at])), most, look)
    with closing(came):
        for size, answer in zip(sizes, came, strict=True):
            before += size
            progress.done = max(progress.done, before)
            progress.advance(0)
            yield answer


class Meter(Progress):
    """A progress whose ``done`` stands in a place of ``counts``, which other processes read."""

    def __init__(self, counts: MutableSequence[int], place: int) -> None:
        self._counts = counts
        self._place = place
        super().__init__()

    @property
    def done(self) -> int:
        """Bytes that were done in this process, all archives together."""
        return self._counts[self._place]

    @done.setter
    def done(self, done: int) -> None:
        self._counts[self._place] = done
