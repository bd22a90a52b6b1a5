"""Results of a check: for a member (Verdict), a checksum (Checksum) and the whole archive (State)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from inspector.core.span import Spans


class Verdict(StrEnum):
    """Whether bytes are those that were archived. Bytes that were not read are never verified.

    Not checkable: no digest is recorded. Doubtful: a digest over these bytes and others does not match, or is
    lost, or bytes were lost or inserted before them, so that they may be others.
    """

    NOT_CHECKED = "not checked"
    VERIFIED = "verified"
    MISMATCH = "mismatch"
    NOT_CHECKABLE = "not checkable"
    DOUBTFUL = "doubtful"


VERDICTS: tuple[Verdict, ...] = tuple(Verdict)
"""All verdicts in a fixed order: a column of verdicts holds indices into it, 0 being NOT_CHECKED."""


class State(StrEnum):
    """The state of an archive, best first."""

    SOUND = "sound"
    WARNING = "warning"
    TORN = "torn"
    DAMAGED = "damaged"
    UNREADABLE = "unreadable"

    @property
    def rank(self) -> int:
        """The position from best to worst; 0 is sound."""
        return list(State).index(self)

    @property
    def fine(self) -> bool:
        """Whether there is nothing to repair: sound, or with warnings only."""
        return self in (State.SOUND, State.WARNING)


class Checksum(NamedTuple):
    """One checksum that the archive records.

    ``name`` says what it covers (``CRC-32 of a.bin``). ``stored`` and ``computed`` are hex; ``computed`` is empty until
    it was computed. ``place`` is where the stored value lies, ``covers`` the bytes it is computed over, ``omits`` the
    bytes between them that it skips (file bytes; no spans for bytes of another file). ``copies`` are the spans where a
    wrong stored value is repeated, one span each. ``layer`` is the number of its archive where several are shown.
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
    layer: int = 0
