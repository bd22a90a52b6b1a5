"""Values about replays: writes, points between or in the middle of them, and what readers make of a crash there."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from inspector.core.edit import Edit
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import Span, Spans
from inspector.core.verdict import State

if TYPE_CHECKING:  # only types: the window loads what its panels need
    from inspector.operations.protocol.check_views import NamedReader

# ---- which writes are replayed -----------------------------------------------------------------------------------


class EditWrites(Struct, frozen=True):
    """A change in place, such as the pending ones of the window."""

    edit: Edit


class AppendWrites(Struct, frozen=True):
    """Appending what is at the locations to an RCA archive; level and convention as for ``append``."""

    locations: tuple[str, ...]
    level: int = 0
    convention: str = ""


class RepairWrites(Struct, frozen=True):
    """The plan of repairs, with those that need consent if their codes are accepted."""

    accepted: tuple[str, ...] = ()


class PastWrites(Struct, frozen=True):
    """What this program wrote earlier: number 0 is the last change."""

    number: int


class SegmentWrites(Struct, frozen=True):
    """How an RCA archive has grown: its segments, one after another."""


Writes = EditWrites | AppendWrites | RepairWrites | PastWrites | SegmentWrites


# ---- the writes ----------------------------------------------------------------------------------------------------


class StepKind(StrEnum):
    """What a step does to the file."""

    WRITE = "write"
    CUT = "cut"
    APPEND = "append"
    """Known by its result only: not which writes it was made of."""


class Point(NamedTuple):
    """A moment of a replay: ``done`` steps are whole, and of the next one ``part`` bytes are written."""

    done: int
    part: int = 0

    def __str__(self) -> str:
        return f"{self.done}.{self.part}" if self.part else str(self.done)


class StepView(Struct, frozen=True):
    """One step: ``size`` bytes are written at ``offset``, or cut off there. ``new`` of them stand behind the old end.

    ``what`` names the bytes by their fields, ``synced``: the writer waits for the disk before it goes on.
    """

    kind: StepKind
    offset: int
    size: int
    new: int
    what: str
    synced: bool

    @property
    def place(self) -> str:
        """``116 bytes at 41 (0x29)``."""
        return f"{in_bytes(self.size)} at {grouped(self.offset)} ({hexadecimal(self.offset)})"

    def title(self, number: int, total: int) -> str:
        """``1 of 3: TACO payload, 116 bytes at 41 (0x29)``."""
        words = f"{self.what}, {self.place}"
        if self.kind is StepKind.CUT:
            words = f"cut off {self.place.replace(' at ', ' from ')} on"
        return f"{number} of {total}: {words}"


class ReplayView(Struct, frozen=True):
    """The steps of a replay; ``title`` says what is written, ``notes`` are sentences about it."""

    title: str
    notes: tuple[str, ...]
    steps: tuple[StepView, ...]
    base_size: int

    @property
    def end(self) -> Point:
        """After the last step."""
        return Point(len(self.steps))

    @property
    def has_crashes(self) -> bool:
        """Whether it is known which writes the steps are made of."""
        return not any(step.kind is StepKind.APPEND for step in self.steps)

    def titles(self) -> list[str]:
        """A line for each step."""
        return [step.title(number, len(self.steps)) for number, step in enumerate(self.steps, 1)]

    def words(self, point: Point) -> str:
        """A point as the end of a sentence: ``after write 2 of 3``."""
        total = len(self.steps)
        what = "write" if self.has_crashes else "append"
        if point.part:
            size = self.steps[point.done].size
            return f"in {what} {point.done + 1} of {total}, after {point.part:,} of {in_bytes(size)}"
        return f"after {what} {point.done:,} of {total}" if point.done else f"before the first {what}"


class ReplayState(Struct, frozen=True):
    """The archive at a point: its size, the bytes of the step before that are written, those that differ from before.

    ``written`` are the bytes that all steps so far wrote; ``last`` those of the step that is the last, whole or not.
    """

    view: ReplayView
    point: Point
    size: int
    written: Spans
    last: Spans


def covered(step: StepView, part: int | None = None) -> Span:
    """The bytes that a step wrote, or the first ``part`` of them; empty where it cut off."""
    size = 0 if step.kind is StepKind.CUT else step.size if part is None else min(part, step.size)
    return Span(step.offset, step.offset + size)


# ---- crashes -------------------------------------------------------------------------------------------------------


class CrashState(StrEnum):
    """What a reader makes of an archive whose writer stopped at a point."""

    OLD = "old state"
    NEW = "new state"
    ALIKE = "old and new alike"
    RECOVERABLE = "torn, recoverable"
    WRONG = "wrong"
    REJECTED = "rejected"
    UNKNOWN = "not known"


CRASH_MEANINGS = {
    CrashState.OLD: "reads what was there before the first write",
    CrashState.NEW: "reads what is there after the last write",
    CrashState.ALIKE: "accepts it, and sees no difference between before and after",
    CrashState.RECOVERABLE: "rejects it, but the repair leads to the bytes from before or after, which it accepts",
    CrashState.WRONG: "accepts it, and reads neither what was there before nor what is there after",
    CrashState.REJECTED: "rejects it, and no repair leads to bytes from before or after that it accepts",
    CrashState.UNKNOWN: "may accept or reject it: that is not known",
}
"""What each means, as the predicate of a sentence about the reader."""


class RepairEnd(StrEnum):
    """Where the repair of a torn archive leads."""

    NONE = "nothing to repair"
    OLD = "to the old state"
    NEW = "to the new state"
    OTHER = "to another state"
    NO = "no repair"


class MatrixRow(Struct, frozen=True):
    """A crash at a point: the state that ``check`` finds, where its repair leads, and a cell for each reader.

    ``accept`` is the code that the repair needs consent to, empty if it needs none. ``messages`` are what the readers
    say, as far as they do.
    """

    point: Point
    words: str
    state: State
    repair: RepairEnd
    accept: str
    cells: tuple[CrashState, ...]
    messages: tuple[str, ...]

    @property
    def leads(self) -> str:
        """Where the repair leads, and what it needs to be accepted."""
        return f"{self.repair}, accepting {self.accept}" if self.accept else str(self.repair)


class Matrix(Struct, frozen=True):
    """Crash points by readers; ``absent`` are the names of readers that are not installed here."""

    readers: tuple[NamedReader, ...]
    rows: tuple[MatrixRow, ...]
    absent: tuple[str, ...]
