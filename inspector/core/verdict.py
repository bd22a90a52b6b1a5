"""What checking says: of one member (Verdict), of one checksum (Checksum), of the whole archive (State)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from inspector.core.span import Spans


class Verdict(StrEnum):
    """Whether bytes are those that were written. What was not read is never called verified.

    Not checkable: no digest is recorded. Doubtful: a digest over these bytes and others does not fit, or is lost.
    """

    NOT_CHECKED = "not checked"
    VERIFIED = "verified"
    MISMATCH = "mismatch"
    NOT_CHECKABLE = "not checkable"
    DOUBTFUL = "doubtful"


VERDICTS: tuple[Verdict, ...] = tuple(Verdict)
"""All verdicts in a fixed order: a column of verdicts holds positions in it, 0 being NOT_CHECKED."""


class State(StrEnum):
    """What an archive is, best first."""

    SOUND = "sound"
    WARNING = "warning"
    TORN = "torn"
    DAMAGED = "damaged"
    UNREADABLE = "unreadable"

    @property
    def fine(self) -> bool:
        """Whether nothing of it needs repairing: sound, perhaps with warnings."""
        return self in (State.SOUND, State.WARNING)


@dataclass(frozen=True, slots=True)
class Checksum:
    """One checksum that the archive records.

    ``name`` says of what (``CRC-32 of a.bin``); ``stored`` and ``computed`` are hex, ``computed`` empty until it has
    been computed; ``place`` is where the stored value stands, ``covers`` the bytes it is computed over, ``omits`` the
    bytes between them that it leaves out (all in file bytes; without spans where they lie in another file). ``copies``
    are where a stored value that is wrong stands once more, each of one span.
    """

    name: str
    algorithm: str
    stored: str
    computed: str
    place: Spans
    covers: Spans
    omits: Spans
    verdict: Verdict
    note: str = ""
    member: int | None = None
    copies: Spans = ()
