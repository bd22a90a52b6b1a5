"""Values about experiments: the steps, each as a value and as a sentence, and the damages that make one."""

from __future__ import annotations

from msgspec import Struct

from inspector.core.names import visible
from inspector.core.numbers import hexadecimal, in_bytes
from inspector.core.span import Span, Spans

MAX_STEPS = 1_000
"""The most steps of one experiment."""
MAX_INLINE_BYTES = 1 << 20
"""The most bytes that a step holds itself; more are a fill, noise or a file."""
_MAX_SHOWN_BYTES = 8


# ---- what is put somewhere -----------------------------------------------------------------------------------------


class Inline(Struct, frozen=True):
    """These bytes."""

    data: bytes

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.data)

    def __str__(self) -> str:
        if len(self.data) <= _MAX_SHOWN_BYTES:
            return self.data.hex(" ").upper() or "nothing"
        return f"{in_bytes(len(self.data))} ({self.data[:_MAX_SHOWN_BYTES].hex(' ').upper()} …)"


class Fill(Struct, frozen=True):
    """``size`` bytes that repeat a pattern."""

    pattern: bytes
    size: int

    def __str__(self) -> str:
        return f"{in_bytes(self.size)} of {self.pattern.hex(' ').upper()}"


class Noise(Struct, frozen=True):
    """``size`` random bytes, the same for the same seed."""

    seed: int
    size: int

    def __str__(self) -> str:
        return f"{in_bytes(self.size)} of noise with seed {self.seed}"


class FileBytes(Struct, frozen=True):
    """All bytes of a file of this machine. ``sha256`` in hex says which bytes that are."""

    path: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.replace("\\", "/").rpartition("/")[2]

    def __str__(self) -> str:
        return f"the {in_bytes(self.size)} of {visible(self.name)}"


Content = Inline | Fill | Noise | FileBytes


# ---- what is done --------------------------------------------------------------------------------------------------


class Flip(Struct, frozen=True):
    """Flip one bit of the byte at ``offset``; bit 0 is the lowest."""

    offset: int
    bit: int

    def __str__(self) -> str:
        return f"Flip bit {self.bit} of the byte at {hexadecimal(self.offset)}"


class Replace(Struct, frozen=True):
    """Put ``content``, of any size, in the place of ``[start, stop)``."""

    start: int
    stop: int
    content: Content

    def __str__(self) -> str:
        place = _bytes(self.start, self.stop)
        if isinstance(self.content, Fill) and self.content == Fill(b"\0", self.stop - self.start):
            return f"Zero {place}"
        return f"Replace {place} by {self.content}"


class Insert(Struct, frozen=True):
    """Put ``content`` before the byte at ``offset``."""

    offset: int
    content: Content

    def __str__(self) -> str:
        return f"Insert {self.content} at {hexadecimal(self.offset)}"


class Delete(Struct, frozen=True):
    """Take ``[start, stop)`` out; what follows moves up."""

    start: int
    stop: int

    def __str__(self) -> str:
        return f"Delete {_bytes(self.start, self.stop)}"


class Cut(Struct, frozen=True):
    """End the file before the byte at ``offset``."""

    offset: int

    def __str__(self) -> str:
        return f"Cut off everything from {hexadecimal(self.offset)} on"


class Duplicate(Struct, frozen=True):
    """Insert a copy of ``[start, stop)`` behind it."""

    start: int
    stop: int

    def __str__(self) -> str:
        return f"Double {_bytes(self.start, self.stop)}"


class Copy(Struct, frozen=True):
    """Put a copy of ``[start, stop)`` over as many bytes from ``offset`` on."""

    start: int
    stop: int
    offset: int

    def __str__(self) -> str:
        return f"Copy {_bytes(self.start, self.stop)} over what is at {hexadecimal(self.offset)}"


class Swap(Struct, frozen=True):
    """Let two spans change places, which do not overlap and may differ in size."""

    first: Span
    second: Span

    def __str__(self) -> str:
        return f"Swap {_bytes(*self.first)} with {_bytes(*self.second)}"


Operation = Flip | Replace | Insert | Delete | Cut | Duplicate | Copy | Swap


class Step(Struct, frozen=True):
    """One change; ``damage`` is the name of the damage it stands for, if it was made by that."""

    operation: Operation
    damage: str = ""

    def __str__(self) -> str:
        return f"{self.operation}{f' ({self.damage})' if self.damage else ''}"


Steps = tuple[Step, ...]


class ExperimentView(Struct, frozen=True):
    """An experiment as it is shown. ``places`` are the bytes that each step left, where they stood then."""

    size: int
    base_size: int
    places: tuple[Spans, ...]


def _bytes(start: int, stop: int) -> str:
    if stop - start == 1:
        return f"the byte at {hexadecimal(start)}"
    return f"{in_bytes(stop - start)} at {hexadecimal(start)}"


# ---- damages -------------------------------------------------------------------------------------------------------

DAMAGES = {
    "flipped-bit": "one bit is another",
    "changed-bytes": "a block becomes noise",
    "zero-block": "a block is zeros, as a disk leaves one it has lost",
    "lost-bytes": "some bytes are missing in the middle",
    "lost-part": "a part of an upload is missing",
    "stopped-upload": "the file ends with one of its parts",
    "truncated": "the file ends somewhere in the middle",
    "trailing-text": "a line of text follows the end",
}
"""The damages by name, and what each does, as part of a sentence."""
