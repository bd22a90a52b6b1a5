"""Readers: programs and specifications that read archives, and the steps that one takes through an archive.

A ``Reader`` is a value that a format declares. Its function reads a source through a ``Recorder``, which keeps every
read and every step, and ends with an ``ReaderOutcome``.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from hashlib import blake2b
from typing import Any, NamedTuple

from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import BLOCK, Source
from inspector.core.span import Span, subtract, united

MAX_READS = 2_000_000
"""Reads after which a reader is stopped: some go round in circles for ever."""
MAX_GIVEN_BYTES = 4 << 30
"""Decoded bytes after which a reader is stopped."""
MAX_READ_BYTES = 256 << 20
"""The most bytes a reader may ask for at once: they are memory."""
MAX_MEMBERS = 2_000_000
"""Members after which a reader is stopped."""
_MAX_NAMES = 1_000
"""Names of members that an outcome has; the rest are in its digest."""
_MAX_VALUE_CHARS = 200


class ReaderKind(StrEnum):
    """How the steps of a reader are known."""

    RUN = "run"
    """The program itself runs."""
    DESCRIBED = "simulated"
    """A description is followed: what it does not say is not known."""


class ReaderLimit(Exception):  # noqa: N818 - not an error of the archive
    """A reader was stopped by a limit; the message is a sentence."""


class Rejected(Exception):  # noqa: N818 - an answer, not an error
    """The reader rejects the archive. ``message`` is its own where that is known, ``cause`` what it expected.

    ``known`` is False where it is not known what the reader does here.
    """

    def __init__(self, message: str, cause: str = "", *, known: bool = True) -> None:
        super().__init__(message)
        self.message = message
        self.cause = cause
        self.known = known


class Step(NamedTuple):
    """One step of a reader.

    ``n`` counts from 1. ``span`` are the bytes of the file it is about, None without any; ``read``: it reads them.
    ``value`` is what they mean, ``decision`` what follows from it, ``ok`` whether the check passed. ``state`` are the
    reader's variables after it. ``folded`` is how many steps this one stands for, itself not counted.
    """

    n: int
    depth: int
    action: str
    span: Span | None
    value: Any
    decision: str
    ok: bool
    read: bool = False
    state: tuple[tuple[str, str], ...] = ()
    folded: int = 0


class ReaderOutcome(NamedTuple):
    """How a reader ended.

    ``accepts`` is None if that is not known; then ``message`` says why. ``members`` are those given before it stopped,
    ``given`` their decoded bytes, ``names`` the first of them, ``digest`` a hash of all names. ``stopped_at`` is the
    step it stopped at, ``member`` the name of the member it stopped in. ``cause`` is what would have to be different.
    ``lists`` is False for readers that list no members of the archive.
    """

    accepts: bool | None
    members: int = 0
    given: int = 0
    stopped_at: int | None = None
    message: str = ""
    cause: str = ""
    member: str | None = None
    names: tuple[str, ...] = ()
    digest: str = ""
    lists: bool = True


class Reader(NamedTuple):
    """A program or a specification that reads archives of a format.

    ``about`` says what runs, or what the description is. ``present`` tells why it cannot run here, empty if it can.
    ``run`` reads the source of a recorder; it may raise Rejected, ReaderLimit, SourceError and Cancelled.
    """

    name: str
    title: str
    kind: ReaderKind
    about: str
    run: Callable[[Recorder], None]
    present: Callable[[], str] = lambda: ""


class Reads:
    """Every read of a reader: where and in which step. Three numbers a read, in the order of the reads."""

    def __init__(self) -> None:
        self.starts, self.stops, self.steps = array("q"), array("q"), array("q")
        self.total = 0

    def __len__(self) -> int:
        return len(self.starts)

    def add(self, start: int, stop: int, step: int) -> None:
        """Add the read of ``[start, stop)`` in a step. Raises ReaderLimit."""
        if len(self.starts) >= MAX_READS:
            raise ReaderLimit(f"It was stopped after {MAX_READS:,} reads.")
        self.starts.append(start)
        self.stops.append(stop)
        self.steps.append(step)
        self.total += stop - start

    def __iter__(self) -> Iterator[tuple[Span, int]]:
        """The span and the step of each read."""
        return zip(map(Span, self.starts, self.stops), self.steps, strict=True)

    def once(self) -> list[Span]:
        """The bytes that were read, sorted."""
        return united(span for span, _ in self if span.size)

    def twice(self) -> list[Span]:
        """The bytes that were read more than once, sorted."""
        again: list[Span] = []
        reach = 0
        for start, stop in sorted(zip(self.starts, self.stops, strict=True)):
            if start < min(reach, stop):
                again.append(Span(start, min(reach, stop)))
            reach = max(reach, stop)
        return united(again)

    def never(self, size: int) -> list[Span]:
        """The bytes of ``[0, size)`` that were not read, sorted."""
        return subtract([Span(0, size)], self.once()) if size else []


class Recorder:
    """What a reader reads through: it gives bytes, and passes every step to ``emit``.

    ``member`` is the name of the one member that is wanted, None for all. ``state`` holds the reader's variables.
    """

    def __init__(
        self, source: Source, emit: Callable[[Step], None], progress: Progress, member: str | None = None
    ) -> None:
        self.source = source
        self.wanted = member
        self.progress = progress
        self.state: dict[str, object] = {}
        self.reads = Reads()
        self.steps = 0
        self.depth = 0
        self.lists = True
        self.current: str | None = None
        self.note = ""
        self._emit = emit
        self._failed: int | None = None
        self.members = 0
        self._given = 0
        self._names: list[str] = []
        self._digest = blake2b(digest_size=16)

    # ---- reading -----------------------------------------------------------------------------------------------

    def read(self, start: int, length: int) -> bytes:
        """Bytes of the source, as Source.read; the read belongs to the next step. Raises ReaderLimit, Cancelled."""
        if length > MAX_READ_BYTES:
            raise ReaderLimit(
                f"It asks for {in_bytes(length)} at once; more than {in_bytes(MAX_READ_BYTES)} is refused."
            )
        data = self.source.read(start, length) if length > 0 else b""
        self.reads.add(start, start + len(data), self.steps + 1)
        self.progress.advance(len(data))
        return data

    def pass_over(self, start: int, stop: int) -> None:
        """Record a read whose bytes decide nothing, without making it. Raises ReaderLimit, Cancelled."""
        self.reads.add(start, stop, self.steps + 1)
        self.progress.advance(0)

    def pieces(self, start: int, stop: int) -> Iterator[bytes]:
        """The bytes ``[start, stop)`` in pieces, as one read of the next step. Raises ReaderLimit, Cancelled."""
        begin = start
        while start < stop and (piece := self.source.read(start, min(BLOCK, stop - start))):
            start += len(piece)
            self.progress.advance(len(piece))
            yield piece
        self.reads.add(begin, start, self.steps + 1)

    # ---- steps -------------------------------------------------------------------------------------------------

    def step(
        self,
        action: str,
        span: tuple[int, int] | None = None,
        value: Any = None,
        decision: str = "",
        *,
        ok: bool = True,
        read: bool = False,
    ) -> int:
        """Record a step and return its number."""
        self.steps += 1
        size = self.source.size
        shown = None if span is None else Span(*span).clipped(0, size)
        state = tuple((name, value_text(each)) for name, each in self.state.items())
        value = _short(value)
        self._emit(Step(self.steps, self.depth, action, shown, value, decision, ok, read, state))
        if not ok:
            self._failed = self.steps
        return self.steps

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Within the block, steps are parts of the one before."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def reject(
        self,
        action: str,
        span: tuple[int, int] | None,
        message: str,
        *,
        value: Any = None,
        cause: str = "",
        read: bool = False,
        known: bool = True,
    ) -> Rejected:
        """Record the step that fails and return what to raise."""
        self.step(action, span, value, message, ok=False, read=read)
        return Rejected(message, cause, known=known)

    def give(self, name: str, size: int) -> None:
        """Count a member that the reader lists, and its decoded bytes. Raises ReaderLimit."""
        self.members += 1
        self.add_given(size)
        shown = visible(name)
        if len(self._names) < _MAX_NAMES:
            self._names.append(shown)
        self._digest.update(name.encode("utf-8", "surrogatepass") + b"\0")
        if self.members > MAX_MEMBERS:
            raise ReaderLimit(f"It was stopped after {count(MAX_MEMBERS, 'member')}.")

    def add_given(self, size: int) -> None:
        """Count decoded bytes. Raises ReaderLimit."""
        self._given += size
        if self._given > MAX_GIVEN_BYTES:
            raise ReaderLimit(f"It was stopped after {in_bytes(MAX_GIVEN_BYTES)} of content.")

    def outcome(self, accepts: bool | None, message: str = "", cause: str = "") -> ReaderOutcome:
        """The outcome as of now."""
        return ReaderOutcome(
            accepts,
            self.members,
            self._given,
            None if accepts else self._failed,
            message or self.note,
            cause,
            None if accepts or self.current is None else visible(self.current),
            tuple(self._names),
            self._digest.hexdigest(),
            self.lists,
        )


def follow(reader: Reader, recorder: Recorder) -> ReaderOutcome:
    """Run a reader to its end. Raises SourceError and Cancelled."""
    try:
        reader.run(recorder)
    except Rejected as end:
        return recorder.outcome(False if end.known else None, end.message, end.cause)
    except ReaderLimit as end:
        recorder.step("stopped", None, None, str(end), ok=False)
        return recorder.outcome(None, str(end))
    return recorder.outcome(True)


def value_text(value: object) -> str:
    """A value that a reader has read, as text that can be printed."""
    return f"{value:,}" if isinstance(value, int) else visible(str(value))


def _short(value: Any) -> Any:
    if isinstance(value, str):
        value = visible(value)
        return value if len(value) <= _MAX_VALUE_CHARS else value[: _MAX_VALUE_CHARS - 1] + "…"
    return value
