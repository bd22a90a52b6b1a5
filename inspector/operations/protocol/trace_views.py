"""What a front end shows of readers: a row for each, the steps of one, and its reads."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from inspector.core.span import Spans

if TYPE_CHECKING:  # only types: the window loads what its panels need
    from inspector.core.reader import ReaderKind, ReaderOutcome


class ReaderVerdict(StrEnum):
    """What a reader makes of an archive."""

    ACCEPTS = "accepts"
    WRONG = "reads wrongly"
    REJECTS = "rejects"
    UNKNOWN = "not known"
    ABSENT = "not installed"


class NamedReader(Struct, frozen=True):
    """A reader; ``about`` says what it is."""

    name: str
    title: str
    kind: ReaderKind
    about: str


class ReaderRow(NamedReader, frozen=True):
    """What one reader makes of an archive.

    ``stopped_at`` is the step it stopped at, ``message`` its own where that is known, ``cause`` what would have to be
    different, ``member`` where it stopped. ``lists``: its members are those of the archive.
    """

    verdict: ReaderVerdict
    accepts: bool | None
    members: int
    stopped_at: int | None
    message: str
    cause: str
    member: str
    lists: bool = True


class ReaderInfo(NamedReader, frozen=True):
    """A reader that can be followed; ``why_not`` says why it cannot run here, empty if it can."""

    why_not: str


class TraceResult(NamedReader, frozen=True):
    """A reader's way through an archive, whose bytes are ``layer``.

    ``steps`` are kept, ``folded`` more were taken. ``reads`` were made, of ``total`` bytes in all. ``never`` are the
    first of the bytes not read at all, ``never_bytes`` how many there are; ``twice_bytes`` were read more than once.
    """

    outcome: ReaderOutcome
    steps: int
    folded: int
    reads: int
    total: int
    twice_bytes: int
    never: Spans
    never_bytes: int
    layer: int
