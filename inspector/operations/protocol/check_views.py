"""Locations to check, and the outcome of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from inspector.core.finding import Severity
from inspector.core.source import Source
from inspector.core.verdict import State
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.responses import Seen

if TYPE_CHECKING:  # loads what reads it, which the window does not need
    from inspector.sources.s3.prefix import S3Prefix


@dataclass(frozen=True, slots=True)
class CheckTarget:
    """A location to check. ``found``: it was found in a folder, so it need not be an archive.

    ``beside`` are the files that stand beside it and belong to it, as far as a folder was listed. ``seen`` is what a
    listing on S3 told of it, ``place`` what it is where that was opened to see whether it stands for others. ``why``
    says why it could not be seen what is in it, which makes it unreadable whatever comes later.
    """

    location: str
    found: bool = False
    beside: tuple[str, ...] = ()
    connection: Connection = DEFAULT
    seen: Seen | None = None
    place: Source | S3Prefix | None = field(default=None, compare=False)
    why: str = ""

    @property
    def size(self) -> int | None:
        """In bytes; None unless a listing gave it."""
        return None if self.seen is None else self.seen.head.size

    def __reduce__(self) -> tuple[Any, ...]:
        """Whatever is open stays in its process."""
        return CheckTarget, (self.location, self.found, self.beside, self.connection, self.seen, None, self.why)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome for one location; ``report`` is in the requested format, ``counts`` are findings by severity.

    ``left_out``: it was found in a folder and is not a known archive, so it does not count. ``worst`` is the message of
    the first of the worst findings, empty if nothing is wrong.
    """

    location: str
    state: State
    sentence: str
    report: str
    left_out: bool = False
    counts: tuple[tuple[Severity, int], ...] = ()
    worst: str = ""


def check_failed(location: str, sentence: str) -> Outcome:
    """The outcome for a location whose check did not finish; it has no report."""
    return Outcome(location, State.UNREADABLE, sentence, "", counts=((Severity.ERROR, 1),), worst=sentence)
